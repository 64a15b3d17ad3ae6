"""A Llama-shaped decoder as an ONNX file, with cache inputs or without, and its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
SHAPE = {
    "vocab_size": 96, "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2,
}  # fmt: skip
CONFIG = {"model_type": "llama", "torch_dtype": "float32", **SHAPE}


def decoder(cached: bool = True, batch: str | int = "batch", tokens: str | int = "seq") -> onnx.ModelProto:
    """``SHAPE`` with GroupQueryAttention, by default with caches and for inputs of any size."""
    d, ff, vocabulary = SHAPE["hidden_size"], SHAPE["intermediate_size"], SHAPE["vocab_size"]
    heads, kv = SHAPE["num_attention_heads"], SHAPE["num_key_value_heads"]
    size = d // heads
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    inputs = [
        helper.make_tensor_value_info("input_ids", I64, [batch, tokens]),
        helper.make_tensor_value_info(
            "attention_mask", I64, [batch, "total_sequence_length" if cached else tokens]
        ),
    ]
    outputs = []

    def op(kind: str, ins: list[str], out: str, outs: tuple[str, ...] = (), **attrs: Any) -> str:
        domain = "com.microsoft" if kind == "GroupQueryAttention" else ""
        nodes.append(helper.make_node(kind, ins, [out, *outs], name=out, domain=domain, **attrs))
        return out

    def weight(name: str, *shape: int) -> str:
        weights.append(numpy_helper.from_array(np.zeros(shape, np.float32), name))
        return name

    weights.append(numpy_helper.from_array(np.array(1, np.int64), "one"))
    weights.append(numpy_helper.from_array(np.array([1], np.int64), "last_axis"))
    summed = op("ReduceSum", ["attention_mask", "last_axis"], "summed", keepdims=0)
    op("Cast", [op("Sub", [summed, "one"], "less")], "lengths", to=I32)
    sizes = op("Shape", ["attention_mask"], "sizes")
    op("Cast", [op("Gather", [sizes, "one"], "size")], "total", to=I32)
    x = op("Gather", [weight("table", vocabulary, d), "input_ids"], "embedded")
    for n in range(SHAPE["num_hidden_layers"]):
        h = op("LayerNormalization", [x, weight(f"norm{n}", d)], f"h{n}")
        q, k, v = (
            op("MatMul", [h, weight(f"w{name}{n}", d, width)], f"{name}{n}")
            for name, width in (("q", d), ("k", kv * size), ("v", kv * size))
        )
        shape = [batch, kv, "past", size]
        pasts = [f"past_k{n}", f"past_v{n}"] if cached else []
        inputs.extend(helper.make_tensor_value_info(name, F32, shape) for name in pasts)
        grown = (f"present_k{n}", f"present_v{n}") if cached else ()
        op(
            "GroupQueryAttention", [q, k, v, *(pasts or ["", ""]), "lengths", "total"], f"mixed{n}", grown,
            num_heads=heads, kv_num_heads=kv,
        )  # fmt: skip
        outputs.extend(helper.make_tensor_value_info(name, F32, None) for name in grown)
        out = op("MatMul", [f"mixed{n}", weight(f"wo{n}", d, d)], f"o{n}")
        x = op("Add", [x, out], f"a{n}")
        h = op("LayerNormalization", [x, weight(f"post{n}", d)], f"p{n}")
        gate = op("MatMul", [h, weight(f"gate{n}", d, ff)], f"g{n}")
        gate = op("Mul", [gate, op("Sigmoid", [gate], f"s{n}")], f"silu{n}")
        up = op("Mul", [gate, op("MatMul", [h, weight(f"up{n}", d, ff)], f"u{n}")], f"gu{n}")
        x = op("Add", [x, op("MatMul", [up, weight(f"down{n}", ff, d)], f"d{n}")], f"b{n}")
    h = op("LayerNormalization", [x, weight("last", d)], "final")
    op("MatMul", [h, weight("head", d, vocabulary)], "logits")
    outputs.insert(0, helper.make_tensor_value_info("logits", F32, [batch, tokens, vocabulary]))
    graph = helper.make_graph(nodes, "llama", inputs, outputs, weights)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def saved(folder: Path, name: str = "llama.onnx") -> str:
    """The decoder as a file."""
    path = folder / name
    onnx.save(decoder(), path)
    return str(path)
