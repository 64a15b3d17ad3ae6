"""Decoder steps with a cache, written as exporters and runtimes write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from costs.harness import MS, model_with

F32, F16 = TensorProto.FLOAT, TensorProto.FLOAT16
Node = onnx.NodeProto


class Maker:
    """Collects nodes, weights, inputs and outputs of one graph."""

    def __init__(self, dtype: int = F32) -> None:
        self.dtype = dtype
        self.nodes: list[Node] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def op(
        self, op: str, ins: Sequence[str], outs: str | Sequence[str], domain: str = "", **attrs: Any
    ) -> None:
        names = [outs] if isinstance(outs, str) else list(outs)
        self.nodes.append(
            helper.make_node(op, list(ins), names, name=f"n{len(self.nodes)}", domain=domain, **attrs)
        )

    def feed(self, name: str, shape: Sequence[Any], dtype: int = 0) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype or self.dtype, list(shape)))
        return name

    def give(self, name: str, shape: Sequence[Any] | None = None, dtype: int = 0) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, dtype or self.dtype, shape))

    def weight(self, name: str, *shape: int) -> str:
        kind = np.float16 if self.dtype == F16 else np.float32
        self.weights.append(numpy_helper.from_array(np.zeros(shape, kind), name))
        return name

    def ints(self, name: str, *values: int) -> str:
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def scalar(self, name: str, value: int) -> str:
        self.weights.append(numpy_helper.from_array(np.array(value, np.int64), name))
        return name

    def model(self, opset: int = 24) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        return model_with(graph, opset)


def heads(m: Maker, x: str, out: str, n: int, d: int, transposed: str = "BNSH") -> str:
    """x (B, S, D) projected and split into ``n`` heads of ``d``."""
    m.op("MatMul", [x, m.weight(f"w_{out}", 8, n * d)], f"{out}_flat")
    m.op("Reshape", [f"{out}_flat", m.ints(f"shape_{out}", 0, 0, n, d)], f"{out}_split")
    if transposed == "BNSH":
        m.op("Transpose", [f"{out}_split"], out, perm=[0, 2, 1, 3])
    else:
        m.op("Identity", [f"{out}_split"], out)
    return out


def attend(
    m: Maker, q: str, k: str, v: str, tag: str, repeat: int = 1, perm: Sequence[int] = (0, 1, 3, 2)
) -> str:
    """softmax(q·kᵀ·scale)·v over (B, N, S, H), key heads repeated as Llama's exporters write it."""
    if repeat > 1:
        for side, name in (("k", k), ("v", v)):
            m.op("Unsqueeze", [name, m.ints(f"two_{side}{tag}", 2)], f"u{side}{tag}")
            m.op("Expand", [f"u{side}{tag}", m.ints(f"rep_{side}{tag}", 1, 1, repeat, 1, 1)], f"e{side}{tag}")
            m.op("Reshape", [f"e{side}{tag}", m.ints(f"join_{side}{tag}", 0, -1, 16, 4)], f"r{side}{tag}")
        k, v = f"rk{tag}", f"rv{tag}"
    m.op("Transpose", [k], f"kt{tag}", perm=list(perm))
    m.op("MatMul", [q, f"kt{tag}"], f"qk{tag}")
    m.op("Mul", [f"qk{tag}", m.weight(f"scale{tag}")], f"scaled{tag}")
    m.op("Softmax", [f"scaled{tag}"], f"p{tag}", axis=-1)
    m.op("MatMul", [f"p{tag}", v], f"ctx{tag}")
    return f"ctx{tag}"


def concat_layer(m: Maker, tag: str, q: int, kv: int, d: int, past: Any = "past") -> None:
    """One layer whose past inputs grow along axis 2; also asks their shape, as exporters do."""
    shape = ["batch", kv, past, d]
    m.feed(f"pk{tag}", shape)
    m.feed(f"pv{tag}", shape)
    m.op("Shape", [f"pk{tag}"], f"length{tag}")
    heads(m, "x", f"q{tag}", q, d)
    heads(m, "x", f"k{tag}", kv, d)
    heads(m, "x", f"v{tag}", kv, d)
    m.op("Concat", [f"pk{tag}", f"k{tag}"], f"present_k{tag}", axis=2)
    m.op("Concat", [f"pv{tag}", f"v{tag}"], f"present_v{tag}", axis=-2)
    attend(m, f"q{tag}", f"present_k{tag}", f"present_v{tag}", tag, q // kv)
    m.give(f"present_k{tag}")
    m.give(f"present_v{tag}")
    m.give(f"ctx{tag}")


def concat_decoder(
    layers: int, q: int, kv: int, d: int, dtype: int = F32, past: Any = "past"
) -> onnx.ModelProto:
    m = Maker(dtype)
    m.feed("x", ["batch", 1, 8])
    for layer in range(layers):
        concat_layer(m, str(layer), q, kv, d, past)
    return m.model()


def fused_decoder(op: str, past: Sequence[int], domain: str = MS, **attrs: Any) -> onnx.ModelProto:
    """Two layers of a fused operator: 4 heads over 2 kv heads of 16, fp16."""
    m = Maker(F16)
    m.feed("x", ["batch", 1, 64])
    for layer in "ab":
        ins = [""] * (max(past) + 1)
        ins[:3] = ["x", "x", "x"]
        outs = [f"y{layer}", f"present_k{layer}"]
        if len(past) == 2:
            for side, place in zip("kv", past, strict=True):
                ins[place] = m.feed(f"p{side}{layer}", ["batch", 2, "past", 16])
            outs.append(f"present_v{layer}")
        else:
            ins[1] = m.weight(f"w{layer}", 64, 96)
            ins[past[0]] = m.feed(f"p{layer}", [2, "batch", 2, "past", 16])
        if "Group" in op:
            ins += [m.feed(f"lengths{layer}", ["batch"], TensorProto.INT32), f"lengths{layer}"]
        m.op(op, ins, outs, domain, **attrs)
        for out in outs:
            m.give(out)
    return m.model()
