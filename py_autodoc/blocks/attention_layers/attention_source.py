"""Source of Q and K: the residual stream they read, and whether it is the same one."""

from __future__ import annotations

from py_autodoc.blocks.attention_layers.qkv_operands import NORMS, AttentionOperand
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph, memoised_on_graph
from py_autodoc.blocks.dataflow.matrix_products import (
    ADDS,
    CONVS,
    LAYOUT_OPS,
    MS,
    QUANTIZED_COPY_OPS,
    Projection,
    product,
    projection,
)
from py_autodoc.blocks.layer_blocks.conv import is_depthwise
from py_autodoc.blocks.layer_blocks.normalization import normalized_from

_THROUGH = QUANTIZED_COPY_OPS | LAYOUT_OPS | NORMS | {"Pad", "Gather", "Concat"}
"""Operators allowed between a stream and the projections: data movement and normalization."""
_POOLING = _THROUGH | {"AveragePool", "MaxPool"}
"""Operators that may shorten the queries (Funnel-Transformer, Dai et al., 2020)."""
_REDUCING = _THROUGH | CONVS | {
    "AveragePool", "MaxPool", "GlobalAveragePool", "Resize", "Relu", "Gelu", "Sigmoid", "Mul", "HardSwish",
    "ReduceMean",
}  # fmt: skip
"""Operators that may shorten the keys in attention over reduced positions."""
_SUMMING = ADDS | {
    f"{MS}SkipLayerNormalization",
    f"{MS}SkipSimplifiedLayerNormalization",
    f"{MS}SkipGroupNorm",
}
_STEPS = 12
_REDUCED = 48
_MAX_FOLLOWED = 16


def attention_kind(flow: DataflowGraph, q: AttentionOperand, k: AttentionOperand, v: AttentionOperand) -> str:
    """Return ``self`` if queries and keys come from one tensor, ``cross`` if not, ``unknown`` if unclear."""
    query_source, key_source = source(q), source(k)
    if q.projection is None and k.projection is None and q.past and k.past:
        same = set(q.past) & set(k.past) or residual_sources(flow, query_source) & residual_sources(
            flow, key_source
        )
        return "self" if same else "unknown"
    if q.projection is not None and k.projection is None and k.past and not k.joins:
        return "cross"  # keys precomputed elsewhere
    query_roots, key_roots = (
        residual_sources(flow, query_source),
        residual_sources(flow, key_source) | residual_sources(flow, source(v)),
    )
    if query_roots & key_roots:
        return "self"
    if _reaches(flow, key_source, query_roots, _REDUCING) or _reaches(
        flow, query_source, key_roots, _POOLING
    ):
        return "self"
    filtered = _depthwise_inputs(flow, query_source)
    if filtered and _reaches(flow, key_source, filtered, _REDUCING):
        return "self"
    return "cross"


def source(operand: AttentionOperand) -> int:
    """Return the tensor read by the projection, or the operand itself if there is no projection."""
    return operand.projection.source if operand.projection else operand.tensor


@memoised_on_graph
def residual_sources(flow: DataflowGraph, tensor: int) -> set[int]:
    """Return the tensor, its source before normalization and moves, and both operands of one Add (positions).

    Continues once behind a projection into a bottleneck (low-rank queries and keys).
    """
    sources = {tensor}
    origin = _before_moves(flow, tensor, sources)
    narrow = _bottleneck(flow, origin)
    if narrow is not None:
        sources.add(narrow)
        origin = _before_moves(flow, narrow, sources)
    number = flow.producers[origin]
    if flow.qualified_op_types[number] in ADDS:
        for operand in flow.nodes[number].inputs:
            if operand >= 0 and not _is_stored(flow, operand):
                sources.add(operand)
                _before_moves(flow, operand, sources)
    return sources


def _bottleneck(flow: DataflowGraph, tensor: int) -> int | None:
    """Return the input of the projection (and its bias) that produces ``tensor``."""
    number = flow.producers[tensor]
    if flow.qualified_op_types[number] in ADDS and len(flow.data_inputs[number]) == 1:
        number = flow.producers[flow.data_inputs[number][0]]
    projected = projection(flow, number) if number >= 0 else None
    return projected.source if projected is not None and not _is_stored(flow, projected.source) else None


def _is_stored(flow: DataflowGraph, tensor: int) -> bool:
    """True for stored constants; a position table is not a stream."""
    return flow.model.tensors[tensor].is_constant


def _before_moves(flow: DataflowGraph, tensor: int, sources: set[int]) -> int:
    normalized = normalized_from(flow)
    for _ in range(_STEPS):
        if tensor in normalized:
            tensor = normalized[tensor]
            sources.add(tensor)
            continue
        number = flow.producers[tensor]
        op = flow.qualified_op_types[number]
        if op not in QUANTIZED_COPY_OPS and op not in LAYOUT_OPS and op not in NORMS:
            break
        before = flow.nodes[number].inputs[:1]
        if not before or before[0] < 0 or _is_stored(flow, before[0]):
            break
        tensor = before[0]
        sources.add(tensor)
    return tensor


def _reaches(flow: DataflowGraph, tensor: int, goals: set[int], through: frozenset[str]) -> bool:
    """True if ``tensor`` is computed from one of ``goals`` by operators in ``through`` only."""
    queue, seen, index = [tensor], {tensor}, 0
    while index < len(queue) and index < _REDUCED:
        number = flow.producers[queue[index]]
        index += 1
        op = flow.qualified_op_types[number]
        if op not in through and not (through is _REDUCING and _is_weighted(flow, number, op)):
            continue
        for i in flow.nodes[number].inputs:
            if i in goals:
                return True
            if i >= 0 and i not in seen and not flow.constants[i]:
                seen.add(i)
                queue.append(i)
    return False


def _depthwise_inputs(flow: DataflowGraph, tensor: int) -> set[int]:
    """Return the inputs of the depthwise convolutions that arrange the queries (CvT, Wu et al., 2021)."""
    queue, seen, at = [tensor], {tensor}, 0
    inputs: set[int] = set()
    while at < len(queue) and at < _REDUCED:
        number = flow.producers[queue[at]]
        at += 1
        before = [t for t in flow.data_inputs[number] if t not in seen] if number >= 0 else []
        if number >= 0 and flow.qualified_op_types[number] in CONVS:
            inputs.update(before[:1] if is_depthwise(flow, number) else ())
        elif number >= 0 and flow.qualified_op_types[number] in _THROUGH:
            seen.update(before)
            queue += before
    return inputs


def _is_weighted(flow: DataflowGraph, number: int, op: str) -> bool:
    """True for a product with a weight, or the bias after it."""
    if number < 0:
        return False
    return projection(flow, number) is not None or (op in ADDS and len(flow.data_inputs[number]) == 1)


def hidden_size(flow: DataflowGraph, q: AttentionOperand, context: int) -> int | None:
    """Return the width of the residual stream: the input width of Q's projection, checked against the output.

    A low-rank query projection reads less than the stream; then the output projection, whose result is
    added to the stream, gives the width.
    """
    read = q.projection.width_in if q.projection else None
    written = _output_width(flow, context)
    if written is not None and written != read:
        return written
    return read


def _output_width(flow: DataflowGraph, context: int) -> int | None:
    """Return the output width of the projection after the context if a residual Add follows, else None."""
    widths = {
        output_projection.width_out
        for reader, output_projection in _projections(flow, context)
        if _is_added_back(flow, flow.nodes[reader].outputs)
    }
    return widths.pop() if len(widths) == 1 else None


def _projections(flow: DataflowGraph, tensor: int) -> list[tuple[int, Projection]]:
    """Return the first weighted products that read a tensor, past data movement and elementwise operators."""
    queue, seen, index = [tensor], {tensor}, 0
    projections: list[tuple[int, Projection]] = []
    while index < len(queue) and index < _MAX_FOLLOWED:
        for reader in flow.readers[queue[index]][:_MAX_FOLLOWED]:
            candidate = projection(flow, reader)
            if candidate is not None:
                if candidate.source == queue[index]:
                    projections.append((reader, candidate))
            elif product(flow, reader) is None:
                fresh = [t for t in flow.nodes[reader].outputs[:1] if t >= 0 and t not in seen]
                seen.update(fresh)
                queue += fresh
        index += 1
    return projections


def _is_added_back(flow: DataflowGraph, outputs: tuple[int, ...]) -> bool:
    """True if an output is added to another activation before the next product."""
    queue, index = [t for t in outputs[:1] if t >= 0], 0
    while index < len(queue) and index < _MAX_FOLLOWED:
        for reader in flow.readers[queue[index]][:_MAX_FOLLOWED]:
            if flow.qualified_op_types[reader] in _SUMMING and len(set(flow.data_inputs[reader])) == 2:
                return True
            if projection(flow, reader) is None and product(flow, reader) is None:
                queue += [t for t in flow.nodes[reader].outputs[:1] if t >= 0]
        index += 1
    return False
