"""Small graphs that runtimes fuse, made in the test."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F, INT = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Builds a model line by line; every method returns the name of what it makes."""

    def __init__(self, **inputs: list[int | str]) -> None:
        self.inputs = [helper.make_tensor_value_info(name, F, shape) for name, shape in inputs.items()]
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.count = 0

    def op(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: object):
        self.count += 1
        names = [f"{kind}_{self.count}" + ("" if not i else f"_{i}") for i in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, name=names[0], domain=domain, **attributes)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def weight(self, *shape: int, dtype: type = np.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.zeros(shape, dtype), name))
        return name

    def ints(self, *values: int) -> str:
        name = f"i{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def scalar(self, value: float, dtype: type = np.float32) -> str:
        name = f"s{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def conv(self, x: str, out: int, channels: int, size: int = 3, group: int = 1, **more: object) -> str:
        pads = [size // 2] * 4
        w = self.weight(out, channels // group, size, size)
        return self.op("Conv", x, w, group=group, pads=pads, kernel_shape=[size, size], **more)

    def batch_norm(self, x: str, channels: int) -> str:
        four = [self.weight(channels) for _ in range(4)]
        return self.op("BatchNormalization", x, *four)

    def linear(self, x: str, rows: int, columns: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(rows, columns)), self.weight(columns))

    def heads(self, x: str, heads: int, size: int, *perm: int) -> str:
        split = self.op("Reshape", x, self.ints(0, 0, heads, size))
        return self.op("Transpose", split, perm=list(perm))

    def attention(self, x: str, hidden: int, heads: int, mask: str = "") -> str:
        """Written out: three products, scores, scale, mask, Softmax, context, merged heads, one product."""
        size = hidden // heads
        q = self.heads(self.linear(x, hidden, hidden), heads, size, 0, 2, 1, 3)
        k = self.heads(self.linear(x, hidden, hidden), heads, size, 0, 2, 3, 1)
        v = self.heads(self.linear(x, hidden, hidden), heads, size, 0, 2, 1, 3)
        scores = self.op("Div", self.op("MatMul", q, k), self.scalar(size**0.5))
        if mask:
            scores = self.op("Add", scores, mask)
        context = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        merged = self.op("Reshape", self.op("Transpose", context, perm=[0, 2, 1, 3]), self.ints(0, 0, hidden))
        return self.linear(merged, hidden, hidden)

    def gelu(self, x: str) -> str:
        """Written out with Erf."""
        erf = self.op("Erf", self.op("Div", x, self.scalar(2**0.5)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.scalar(1.0))), self.scalar(0.5))

    def layer_norm(self, x: str, size: int) -> str:
        """Written out."""
        axes = self.ints(-1)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.scalar(2.0)), axes)
        deviation = self.op("Sqrt", self.op("Add", variance, self.scalar(1e-5)))
        scaled = self.op("Mul", self.op("Div", centred, deviation), self.weight(size))
        return self.op("Add", scaled, self.weight(size))

    def quantized(self, x: str) -> str:
        scale, zero = self.scalar(0.1), self.scalar(0, np.int8)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, scale, zero), scale, zero)

    def model(self, *outputs: str) -> onnx.ModelProto:
        results = [helper.make_empty_tensor_value_info(name) for name in outputs or (self._last(),)]
        graph = helper.make_graph(self.nodes, "main", self.inputs, results, initializer=self.weights)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def _last(self) -> str:
        return self.nodes[-1].output[0]


def transformer(batch: int | str = 2, length: int | str = 48) -> onnx.ModelProto:
    """One layer of an encoder, everything written out."""
    g = Graph(x=[batch, length, 64])
    y = g.layer_norm(g.op("Add", g.attention("x", 64, 4), "x"), 64)
    inner = g.gelu(g.linear(y, 64, 256))
    g.layer_norm(g.op("Add", g.linear(inner, 256, 64), y), 64)
    return g.model()


def convnet(batch: int | str = 4) -> onnx.ModelProto:
    """Convolutions of every kind, a residual, a gate by channel, a head."""
    g = Graph(x=[batch, 3, 32, 32])
    stem = g.op("Relu", g.batch_norm(g.conv("x", 64, 3), 64))
    block = g.op("Relu", g.batch_norm(g.conv(stem, 64, 64), 64))
    joined = g.op("Relu", g.op("Add", g.batch_norm(g.conv(block, 64, 64), 64), stem))
    deep = g.op("Relu", g.conv(joined, 64, 64, group=64))
    grouped = g.conv(deep, 96, 64, group=4)
    gate = g.op("Sigmoid", g.conv(g.op("GlobalAveragePool", grouped), 96, 96, 1))
    g.op("Gemm", g.op("Flatten", g.op("GlobalAveragePool", g.op("Mul", grouped, gate))), g.weight(96, 10))
    return g.model()
