"""Which residual stream feeds an attention, and whether Q and K read the same one."""

from __future__ import annotations

from py_autodoc.blocks.flow import Flow, remembered
from py_autodoc.blocks.norm import normalized_from
from py_autodoc.blocks.operands import NORMS, Operand
from py_autodoc.blocks.products import ADDS, CONVS, MOVING, MS, PASSING, Projection, product, projection

_THROUGH = PASSING | MOVING | NORMS | {"Pad", "Gather", "Concat"}
"""What may lie between a stream and the projections: moves and normalizations."""
_REDUCING = _THROUGH | CONVS | {
    "AveragePool", "MaxPool", "GlobalAveragePool", "Resize", "Relu", "Gelu", "Sigmoid", "Mul", "HardSwish",
    "ReduceMean",
}  # fmt: skip
"""What may shorten the keys of an attention over reduced positions."""
_SUMMING = ADDS | {
    f"{MS}SkipLayerNormalization",
    f"{MS}SkipSimplifiedLayerNormalization",
    f"{MS}SkipGroupNorm",
}
_STEPS = 12
_REDUCED = 48
_AHEAD = 16


def kind(flow: Flow, q: Operand, k: Operand, v: Operand) -> str:
    """``self`` when queries and keys come from one tensor, ``cross`` when they do not, else ``unknown``."""
    asks, gives = source(q), source(k)
    if q.projection is None and k.projection is None and q.past and k.past:
        same = set(q.past) & set(k.past) or roots(flow, asks) & roots(flow, gives)
        return "self" if same else "unknown"
    if q.projection is not None and k.projection is None and k.past and not k.joins:
        return "cross"  # keys computed elsewhere, once
    mine, theirs = roots(flow, asks), roots(flow, gives) | roots(flow, source(v))
    if mine & theirs:
        return "self"
    if _reaches(flow, gives, mine, _REDUCING) or _reaches(flow, asks, theirs, _THROUGH):
        return "self"
    return "cross"


def source(operand: Operand) -> int:
    """The tensor that the projection reads, or the operand itself when nothing projects it."""
    return operand.projection.source if operand.projection else operand.tensor


@remembered
def roots(flow: Flow, tensor: int) -> set[int]:
    """The tensor, what it is a normalization or a move of, and the two sides of one Add (positions).

    Behind a projection into a bottleneck (low-rank queries and keys) the walk goes on once.
    """
    found = {tensor}
    behind = _strip(flow, tensor, found)
    narrow = _bottleneck(flow, behind)
    if narrow is not None:
        found.add(narrow)
        behind = _strip(flow, narrow, found)
    number = flow.makers[behind]
    if flow.names[number] in ADDS:
        for side in flow.nodes[number].inputs:
            if side >= 0 and not _plain(flow, side):
                found.add(side)
                _strip(flow, side, found)
    return found


def _bottleneck(flow: Flow, tensor: int) -> int | None:
    """What a projection (and its bias) that makes ``tensor`` reads."""
    number = flow.makers[tensor]
    if flow.names[number] in ADDS and len(flow.reads[number]) == 1:
        number = flow.makers[flow.reads[number][0]]
    made = projection(flow, number) if number >= 0 else None
    return made.source if made is not None and not _plain(flow, made.source) else None


def _plain(flow: Flow, tensor: int) -> bool:
    """True for stored constants: a position table is not a stream."""
    return flow.model.tensors[tensor].is_constant


def _strip(flow: Flow, tensor: int, found: set[int]) -> int:
    normalized = normalized_from(flow)
    for _ in range(_STEPS):
        if tensor in normalized:
            tensor = normalized[tensor]
            found.add(tensor)
            continue
        number = flow.makers[tensor]
        op = flow.names[number]
        if op not in PASSING and op not in MOVING and op not in NORMS:
            break
        before = flow.nodes[number].inputs[:1]
        if not before or before[0] < 0 or _plain(flow, before[0]):
            break
        tensor = before[0]
        found.add(tensor)
    return tensor


def _reaches(flow: Flow, tensor: int, goals: set[int], through: frozenset[str]) -> bool:
    """True when ``tensor`` is computed from one of ``goals`` by the operators in ``through`` alone."""
    queue, seen, at = [tensor], {tensor}, 0
    while at < len(queue) and at < _REDUCED:
        number = flow.makers[queue[at]]
        at += 1
        op = flow.names[number]
        if op not in through and not (through is _REDUCING and _weighted(flow, number, op)):
            continue
        for i in flow.nodes[number].inputs:
            if i in goals:
                return True
            if i >= 0 and i not in seen and not flow.constants[i]:
                seen.add(i)
                queue.append(i)
    return False


def _weighted(flow: Flow, number: int, op: str) -> bool:
    """A product with a weight, or the bias after it."""
    if number < 0:
        return False
    return projection(flow, number) is not None or (op in ADDS and len(flow.reads[number]) == 1)


def hidden_size(flow: Flow, q: Operand, context: int) -> int | None:
    """Width of the residual stream: what Q's projection reads, corrected by what is added back.

    A low-rank query projection reads less than the stream; then the output projection, whose result is
    added to the stream, tells.
    """
    read = q.projection.width_in if q.projection else None
    written = _written(flow, context)
    if written is not None and written != read:
        return written
    return read


def _written(flow: Flow, context: int) -> int | None:
    """Output width of the projection after the context, when a residual Add follows; None when unclear."""
    widths = {
        found.width_out
        for reader, found in _projections(flow, context)
        if _added_back(flow, flow.nodes[reader].outputs)
    }
    return widths.pop() if len(widths) == 1 else None


def _projections(flow: Flow, tensor: int) -> list[tuple[int, Projection]]:
    """The first products with a weight that read a tensor, moves and elementwise work in between."""
    queue, seen, at = [tensor], {tensor}, 0
    found: list[tuple[int, Projection]] = []
    while at < len(queue) and at < _AHEAD:
        for reader in flow.readers[queue[at]][:_AHEAD]:
            made = projection(flow, reader)
            if made is not None:
                if made.source == queue[at]:
                    found.append((reader, made))
            elif product(flow, reader) is None:
                fresh = [t for t in flow.nodes[reader].outputs[:1] if t >= 0 and t not in seen]
                seen.update(fresh)
                queue += fresh
        at += 1
    return found


def _added_back(flow: Flow, outputs: tuple[int, ...]) -> bool:
    """True when an output is added to another activation before the next product."""
    queue, at = [t for t in outputs[:1] if t >= 0], 0
    while at < len(queue) and at < _AHEAD:
        for reader in flow.readers[queue[at]][:_AHEAD]:
            if flow.names[reader] in _SUMMING and len(set(flow.reads[reader])) == 2:
                return True
            if projection(flow, reader) is None and product(flow, reader) is None:
                queue += [t for t in flow.nodes[reader].outputs[:1] if t >= 0]
        at += 1
    return False
