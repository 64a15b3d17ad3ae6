"""Attention layers written out, operator by operator, as exporters write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, I32, U8, I8 = (
    TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.UINT8, TensorProto.INT8,
)  # fmt: skip
WIDTH, HEADS = 64, 4
SIZE = WIDTH // HEADS


class Builder:
    """A model of attention layers that are written out, operator by operator."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.count = 0
        self.out = ""

    def op(self, kind: str, *ins: str, domain: str = "", outs: tuple[str, ...] = (), **attrs: Any) -> str:
        self.count += 1
        out = f"{kind}{self.count}"
        self.nodes.append(helper.make_node(kind, list(ins), [out, *outs], name=out, domain=domain, **attrs))
        return out

    def fixed(self, value: Any, dtype: Any = np.int64) -> str:
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), f"c{self.count}"))
        return f"c{self.count}"

    def table(self, *shape: int) -> str:
        return self.fixed(np.random.default_rng(self.count).normal(size=shape), np.float32)

    def given(self, name: str, shape: list[Any], dtype: int = I64) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def attention(self, x: str, mask: str = "", rotate: Any = None) -> str:
        q, k, v = (self.op("MatMul", x, self.table(WIDTH, WIDTH)) for _ in range(3))
        q, k, v = (
            self.op("Transpose", self.op("Reshape", t, self.fixed([0, 0, HEADS, SIZE])), perm=[0, 2, 1, 3])
            for t in (q, k, v)
        )
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.fixed(SIZE**-0.5, np.float32))
        if mask:
            scores = self.op("Add", scores, mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        mixed = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.fixed([0, 0, WIDTH]))
        return self.op("Add", x, self.op("MatMul", mixed, self.table(WIDTH, WIDTH)))

    def model(self, out: str) -> bytes:
        outputs = [helper.make_tensor_value_info(out, F32, None)]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.weights)
        sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=9).SerializeToString()
