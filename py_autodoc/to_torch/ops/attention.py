"""Attention and rotary embeddings as single operators."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.registry import rule


@rule("Attention")
def attention(op: OpContext) -> None:
    """Scaled products, biases and softmax, with caches and grouped heads."""
    named: dict[str, object] = {}
    optional_inputs = ("mask", 3), ("past_key", 4), ("past_value", 5), ("lengths", 6)
    for name, index in optional_inputs:
        if op.has(index):
            named[name] = op.t(index)
    for name in ("q_num_heads", "kv_num_heads", "left_window_size", "right_window_size"):
        if name in op.node.attributes:
            named[name] = op.attr(name, 0)
    if "scale" in op.node.attributes:
        named["scale"] = fl(op.attr("scale"))
    if op.attr("softcap", 0.0):
        named["softcap"] = fl(op.attr("softcap"))
    if op.attr("softmax_precision", 0):
        named["precision"] = op.torch_dtype(op.attr("softmax_precision"))
    named["causal"] = bool(op.attr("is_causal", 0))
    named["mode"] = op.attr("qk_matmul_output_mode", 0) or None
    if op.opset < 24 and (named.get("softcap") or (named["mode"] in (1, 2) and op.has_out(3))):
        raise NotCovered("softcap and mask in the order used before opset 24")
    outputs = len(op.node.outputs)
    code = op.call("onnx_attention", op.t(0), op.t(1), op.t(2), **named)
    if outputs == 1:
        op.out(f"{code}[0]")
    else:
        op.outs(code if outputs == 4 else f"{code}[:{outputs}]")


@rule("RotaryEmbedding")
def rotary(op: OpContext) -> None:
    """Rotates pairs of features by an angle that depends on the position."""
    heads = op.attr("num_heads", 0) or None
    if op.rank(0) == 3 and heads is None:
        raise NotCovered("3-D inputs without a number of heads")
    named: dict[str, object] = {"positions": op.t(3)} if op.has(3) else {}
    named |= {"heads": heads, "size": op.attr("rotary_embedding_dim", 0) or None}
    named["interleaved"] = bool(op.attr("interleaved", 0))
    op.out(op.call("onnx_rotary", op.t(0), op.t(1), op.t(2), **named))
