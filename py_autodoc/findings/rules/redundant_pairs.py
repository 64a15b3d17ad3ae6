"""Adjacent operators that undo or repeat each other.

What it finds:
A Transpose after a Transpose that restores the order, a Reshape right after another view of the same data,
and a Cast back to the type a lossless Cast came from. QuantizeLinear/DequantizeLinear pairs do not count:
they mark quantization. Reported from `min_pairs` of a kind on, or if the values they move reach
`min_bytes`. It is `info`; `low` when their traffic is at least `min_traffic_share` of all bytes read and
written.

Why it matters:
A Transpose and a Cast copy the whole tensor. Optimizers remove most pairs, but not across partitions of
execution providers, and a pair in the middle of a pattern keeps fusions (attention, layer normalization)
from being recognised. Reshapes are free but hide structure in the same way.

Example:
`Transpose(0,2,3,1)` → `Transpose(0,3,1,2)` between two convolutions of a model converted from TensorFlow.

Instead:
Run an optimizer before saving (`onnxslim`, the onnxscript optimizer, ONNX Runtime at level basic); in the
source, keep one layout and one precision through a block.

References:
[ONNX Runtime graph
optimizations](https://onnxruntime.ai/docs/performance/model-optimizations/graph-optimizations.html) (Cast
elimination, Transpose optimization, Reshape fusion).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, total
from py_autodoc.graph.ir.model import Node
from py_autodoc.units import size

_SECONDS = frozenset({"Transpose", "Cast", "Reshape"})
_VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten"})
_F32, _U8, _I8, _U16, _I16, _I32, _I64, _BOOL, _F16, _F64, _U32, _U64, _BF16 = (
    1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16,
)  # fmt: skip
_REPRESENTABLE: dict[int, frozenset[int]] = {
    _F16: frozenset({_F32, _F64}),
    _BF16: frozenset({_F32, _F64}),
    _F32: frozenset({_F64}),
    _BOOL: frozenset({_U8, _I8, _U16, _I16, _I32, _I64, _U32, _U64, _F16, _BF16, _F32, _F64}),
    _U8: frozenset({_U16, _I16, _I32, _I64, _U32, _U64, _F16, _BF16, _F32, _F64}),
    _I8: frozenset({_I16, _I32, _I64, _F16, _BF16, _F32, _F64}),
    _U16: frozenset({_I32, _I64, _U32, _U64, _F32, _F64}),
    _I16: frozenset({_I32, _I64, _F32, _F64}),
    _I32: frozenset({_I64, _F64}),
    _U32: frozenset({_I64, _U64, _F64}),
}
"""Element type → types that represent each of its values exactly."""
_TEXT = {
    "transpose": ("restore the order that the Transpose before them changed", "Transposes"),
    "reshape": ("reshape the result of a reshape", "Reshapes"),
    "cast": ("go back to the type that the lossless Cast before them left", "Casts"),
}


@rule(
    "redundant-pairs",
    "Redundant operator pairs",
    ("low", "info"),
    min_pairs=4,
    min_bytes=1_000_000,
    min_traffic_share=0.01,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per kind of pair."""
    limits = ctx.thresholds["redundant-pairs"]
    pairs: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _TEXT}
    for second in ctx.flow.of(_SECONDS):
        node = ctx.flow.nodes[second]
        if node.domain or not node.inputs or not ctx.flow.data_inputs[second]:
            continue
        first = ctx.flow.producers[node.inputs[0]]
        if first >= 0 and not ctx.flow.nodes[first].domain:
            kind = _kind(ctx, ctx.flow.nodes[first], node)
            if kind:
                pairs[kind].append((first, second))
    read, written = ctx.totals.read_bytes, ctx.totals.write_bytes
    complete = ctx.totals.nodes_known == ctx.totals.nodes_total and read is not None and written is not None
    traffic = (read or 0) + (written or 0) if complete else None
    for kind, node_pairs in pairs.items():
        pair_bytes = 0 if kind == "reshape" else total(_traffic(ctx, pair) for pair in node_pairs)
        if not node_pairs or (
            len(node_pairs) < limits["min_pairs"] and (pair_bytes or 0) < limits["min_bytes"]
        ):
            continue
        noun, plural_name = _TEXT[kind]
        heavy = bool(pair_bytes and traffic) and (pair_bytes or 0) >= limits["min_traffic_share"] * (
            traffic or 0
        )
        yield Finding(
            "low" if heavy else "info",
            f"{len(node_pairs):,} {plural_name} (first: {label(ctx, node_pairs[0][1])}) {noun}"
            + (f"; the pairs move {size(pair_bytes)}." if pair_bytes else "."),
            "Run a graph optimizer before saving, or keep one layout and type in the source.",
            tuple(dict.fromkeys(number for pair in node_pairs for number in pair)),
            {"kind": kind, "pairs": len(node_pairs), "moved_bytes": pair_bytes, "traffic_bytes": traffic},
        )


def _kind(ctx: RuleContext, first: Node, second: Node) -> str:
    """Return the kind of a pair in which ``second`` reads ``first``; empty if none."""
    if first.op_type == second.op_type == "Transpose":
        return "transpose" if _restores(ctx, first, second) else ""
    if first.op_type == second.op_type == "Cast":
        return "cast" if _is_inverse_pair(ctx, first, second) else ""
    if second.op_type == "Reshape" and first.op_type in _VIEWS:
        return "reshape" if _replaces(ctx, first, second) else ""
    return ""


def _restores(ctx: RuleContext, first: Node, second: Node) -> bool:
    shape = ctx.flow.shapes[first.inputs[0]] if first.inputs else None
    before, after = first.attributes.get("perm"), second.attributes.get("perm")
    if before is None and after is None:
        return True  # both reverse all axes
    if shape is not None:
        before = list(range(len(shape)))[::-1] if before is None else before
        after = list(range(len(shape)))[::-1] if after is None else after
    if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(after):
        return False
    if sorted(before) != list(range(len(before))) or sorted(after) != list(range(len(after))):
        return False
    return before != list(range(len(before))) and all(
        before[a] == position for position, a in enumerate(after)
    )


def _is_inverse_pair(ctx: RuleContext, first: Node, second: Node) -> bool:
    if not first.inputs or first.inputs[0] < 0 or not second.outputs or second.outputs[0] < 0:
        return False
    dtypes = ctx.types.dtypes
    start, middle, end = dtypes[first.inputs[0]], dtypes[second.inputs[0]], dtypes[second.outputs[0]]
    return start == end and middle in _REPRESENTABLE.get(start, ())


def _replaces(ctx: RuleContext, first: Node, second: Node) -> bool:
    """True if the Reshape could read the input of the first view, which has no other consumer.

    A 0 in its shape copies a dimension of its input, so such a Reshape depends on the view before it.
    """
    if ctx.flow.sole_consumers[second.inputs[0]] != second.id or len(second.inputs) < 2:
        return False
    shape = ctx.flow.value(second.inputs[1]) if ctx.flow.constants[second.inputs[1]] else None
    if shape is None or getattr(shape, "dtype", None) is None or shape.dtype.kind not in "iu":
        return False
    return bool(second.attributes.get("allowzero") == 1 or (shape != 0).all())


def _traffic(ctx: RuleContext, pair: tuple[int, int]) -> int | None:
    """Return the bytes that the pair moves in vain; None if unknown."""
    first, second = (ctx.flow.nodes[number] for number in pair)
    sizes = ctx.sizes.bytes

    moving = [second]
    if ctx.flow.sole_consumers[second.inputs[0]] == second.id:
        moving.append(first)
    return total(sizes[t] for node in moving for t in (node.inputs[0], *node.outputs[:1]) if t >= 0)
