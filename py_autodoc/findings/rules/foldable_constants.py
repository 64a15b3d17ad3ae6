"""Computations on constants that could be folded before the model is saved.

What it finds:
Nodes with only constant inputs, if there are at least `min_nodes` or their results take `min_bytes` or
more. It is `info`, and `low` from `major_bytes`. Arithmetic on shapes and scalars (results of up to 64
elements) does not count, and neither do operators that are meant to produce large results from small
inputs: DequantizeLinear, ConstantOfShape, Expand, Tile, Range, a Cast to a wider type, random numbers. A
large weight that other nodes use unchanged (a tied embedding that is transposed for the output) is not
reported, because folding would store it twice.

Why it matters:
Runtimes fold such nodes when they load the model: loading takes longer and needs memory for both the stored
and the folded weights. Converters that do not fold compute them in every run, or do not recognise the layer
because its weight is not a constant.

Example:
`Transpose` of a 16 MB weight before each of 24 `MatMul`s, left by an exporter.

Instead:
Fold before saving: `onnxslim`, the onnxscript optimizer, `polygraphy surgeon sanitize --fold-constants`, or
`optimized_model_filepath` of an ONNX Runtime session at level basic.

References:
[ONNX Runtime graph
optimizations](https://onnxruntime.ai/docs/performance/model-optimizations/graph-optimizations.html); Aho,
Lam, Sethi, Ullman, *Compilers*, section 9.4 (constant propagation).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.dependencies import RANDOM
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, total
from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.units import plural, size

_GROWS = RANDOM | {
    "DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear", "ConstantOfShape", "Expand", "Tile",
    "Range", "EyeLike", "OneHot", "Resize", "Upsample", "Identity",
}  # fmt: skip
"""Operators that are not folded: their result is larger than the stored input, or they are aliases."""
_FREE = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten"})
"""Views, which cost nothing wherever they are computed."""
_SHARED_BYTES = 65_536
_SMALL = 64
"""Results of at most this many elements are sizes, axes, indices or scalars."""


@rule(
    "foldable-constants",
    "Foldable constant computations",
    ("low", "info"),
    min_nodes=8,
    min_bytes=1_000_000,
    major_bytes=16_000_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits, model = ctx.thresholds["foldable-constants"], ctx.model
    nodes = _foldable(ctx, set())
    inside = set(nodes)
    used_as_is = {
        t
        for number in nodes
        for t in model.nodes[number].inputs
        if t >= 0
        and model.tensors[t].is_constant
        and not inside.issuperset(model.tensors[t].consumers)
        and _large(ctx, t)
    }
    if used_as_is:  # a tied weight: folding would store it twice
        nodes = _foldable(ctx, used_as_is)
        inside = set(nodes)
    counted, results = _real_work(ctx, nodes, inside)
    result_bytes = total(ctx.sizes.bytes[t] for t in results)
    if not counted or (len(counted) < limits["min_nodes"] and (result_bytes or 0) < limits["min_bytes"]):
        return
    verb = "computes" if len(counted) == 1 else "compute"
    yield Finding(
        "low" if (result_bytes or 0) >= limits["major_bytes"] else "info",
        f"{plural(len(counted), 'node')} (first: {label(ctx, counted[0])}) {verb} on constants alone; the "
        f"results take {size(result_bytes)}.",
        "Fold constants before the model is saved.",
        tuple(counted),
        {"count": len(counted), "result_bytes": result_bytes, "with_small_ones": len(nodes)},
    )


def _foldable(ctx: RuleContext, excluded: set[int]) -> list[int]:
    """Return nodes that compute only on constants, in order; constants in ``excluded`` do not count."""
    model, reads = ctx.model, ctx.flow.data_inputs
    folded: set[int] = set()
    nodes = []
    for graph in model.graphs:
        for number in graph.nodes:
            if not graph.id and reads[number]:
                continue  # depends on data
            node = model.nodes[number]
            if excluded.isdisjoint(node.inputs) and _folds(ctx, node, folded):
                folded.update(t for t in node.outputs if t >= 0)
                nodes.append(number)
    return nodes


def _real_work(ctx: RuleContext, nodes: list[int], inside: set[int]) -> tuple[list[int], list[int]]:
    """Return (nodes with real work, their results used by the rest of the model)."""
    tensors = ctx.model.tensors
    counted: list[int] = []
    worked: set[int] = set()
    for number in nodes:
        node = ctx.model.nodes[number]
        if node.op_type in _FREE:
            real = node.inputs[0] in worked
        else:
            real = not _is_small(ctx, node)
            if real:
                counted.append(number)
        if real:
            worked.update(t for t in node.outputs if t >= 0)
    leaving = [
        t for t in sorted(worked) if tensors[t].is_output or not inside.issuperset(tensors[t].consumers)
    ]
    return counted, leaving


def _folds(ctx: RuleContext, node: Node, folded: set[int]) -> bool:
    if node.domain or node.subgraphs or node.is_constant or node.op_type in _GROWS:
        return False
    inputs = [t for t in node.inputs if t >= 0]
    tensors = ctx.model.tensors
    if not inputs or not all(t in folded or tensors[t].is_constant for t in inputs):
        return False
    return node.op_type not in ("Cast", "CastLike") or not _widens(ctx, node)


def _large(ctx: RuleContext, tensor: int) -> bool:
    tensor_bytes = ctx.sizes.bytes[tensor]
    return tensor_bytes is None or tensor_bytes >= _SHARED_BYTES


def _widens(ctx: RuleContext, node: Node) -> bool:
    """True for a cast to a wider type, or if the types are unknown."""
    if not node.outputs or node.outputs[0] < 0 or node.inputs[0] < 0:
        return True
    before, after = (BITS.get(ctx.types.dtypes[t]) for t in (node.inputs[0], node.outputs[0]))
    return before is None or after is None or after > before


def _is_small(ctx: RuleContext, node: Node) -> bool:
    """True if a node produces only a few elements: sizes, indices, scalars."""
    counts = [ctx.sizes.numel[t] for t in node.outputs if t >= 0]
    return all(count is not None and count <= _SMALL for count in counts)
