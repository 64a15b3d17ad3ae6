"""Why nothing of a model was quantized: its products are where the tools do not look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

_PRODUCTS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose"})
_WHERE = {"If": "a branch", "Loop": "a loop", "Scan": "a loop"}
_OTHERS = {
    onnx.TensorProto.DOUBLE: "float64",
    onnx.TensorProto.FLOAT16: "float16",
    onnx.TensorProto.BFLOAT16: "bfloat16",
}
_METHODS = "Use static for convolutions; the other methods quantize only matrix products."


def nothing_quantized(model: onnx.ModelProto, method: str) -> tuple[str, str]:
    """Return why ``method`` quantized nothing of a model, without its name, and a hint."""
    for op_type, place, _ in out_of_reach(model):
        inline = "Inline the functions first (onnx.inliner)."
        hint = inline if place.startswith("the function") else "Products of branches and loops stay in float."
        return f"nothing is quantized: its {op_type} is inside {place}, where {method} does not look", hint
    types = {one.name: _OTHERS.get(one.data_type, "") for one in model.graph.initializer}
    for node in model.graph.node:
        kind = next(filter(None, (types.get(read) for read in node.input)), "")
        if node.op_type in _PRODUCTS and kind:
            return f"nothing is quantized: {method} quantizes float32, and its products are in {kind}", (
                "Export the model in float32, or convert it to float32, and quantize that."
            )
    hint = "Its products are of other operators, or their weights are no constants."
    return f"it has no operators that {method} quantizes", hint if method == "static" else _METHODS


def out_of_reach(model: onnx.ModelProto) -> Iterator[tuple[str, str, str]]:
    """Yield float products outside the main graph, as (operator, place, name of the node or its output)."""
    for function in model.functions:
        for node in function.node:
            if node.op_type in _PRODUCTS:
                yield node.op_type, f"the function {function.name}", _name(node)
    yield from _inside(model.graph.node)


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(iter(node.output), "")


def _inside(nodes: Iterable[onnx.NodeProto], place: str = "") -> Iterator[tuple[str, str, str]]:
    pending = [(node, place) for node in nodes]
    while pending:
        node, around = pending.pop()
        if around and node.op_type in _PRODUCTS:
            yield node.op_type, around, _name(node)
        inner = _WHERE.get(node.op_type, around or "a subgraph")
        pending += [(one, inner) for attribute in node.attribute for one in attribute.g.node]
