"""Attention layers: fused operators, and softmax(Q·Kᵀ)·V in the forms that exporters write."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from py_autodoc.blocks.attention_layers import attention_source
from py_autodoc.blocks.attention_layers.attention_mask import classify_mask, mask_tensors
from py_autodoc.blocks.attention_layers.attention_window import attention_window
from py_autodoc.blocks.attention_layers.fused_attention import FUSED, fused_attention_at
from py_autodoc.blocks.attention_layers.qkv_operands import (
    AttentionOperand,
    kept_heads,
    repeat_factor,
    split_heads,
    trace_operand,
)
from py_autodoc.blocks.attention_layers.softmax_attention import (
    SOFTMAXES,
    SoftmaxAttention,
    softmax_attention_at,
)
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import dim, is_stored_weight, size
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.graph.ir.model import Dim

_ANCHORS = SOFTMAXES.union(FUSED)


def find_attention(flow: DataflowGraph) -> list[AttentionLayer]:
    """Return every attention layer of a graph, ordered by the position of its anchor.

    A Softmax counts only between two products of activations, which excludes the Softmax of classifiers,
    routers and channel gates. Linear in the graph: only a bounded neighbourhood of each Softmax is searched.
    """
    layers: list[AttentionLayer] = []
    for number in flow.named(_ANCHORS):
        if flow.qualified_op_types[number] in SOFTMAXES:
            core = softmax_attention_at(flow, number)
            layer = _unfused(flow, core) if core is not None else None
        else:
            layer = fused_attention_at(flow, number)
        if layer is not None:
            layers.append(replace(layer, window=attention_window(flow, layer)))
    return layers


def _unfused(flow: DataflowGraph, core: SoftmaxAttention) -> AttentionLayer | None:
    context = flow.first_outputs[core.values.node]
    if context < 0:
        return None
    q, k, v = trace_operand(flow, core.q), trace_operand(flow, core.k), trace_operand(flow, core.v)
    if is_stored_weight(flow, core.q) and not _separate_projections(k, v):
        return None  # fixed keys: a classifier or a codebook
    if (is_stored_weight(flow, core.q) or is_stored_weight(flow, core.k)) and _has_resized_axis(flow, core):
        return None  # weights computed by a dense layer, as in a dynamic convolution
    head = size(flow, core.q, core.q_sum) or size(flow, core.k, core.k_sum)
    heads = _heads(flow, core, q, head)
    scores = flow.nodes[core.softmax].inputs[0]
    queries, keys = dim(flow, scores, core.query_axis), _keys(flow, core)
    mask = classify_mask(flow, core.added, heads, queries)
    kind = attention_source.attention_kind(flow, q, k, v)
    nodes = {*core.nodes, *q.nodes, *k.nodes, *v.nodes}
    return AttentionLayer(
        nodes=tuple(sorted(nodes)),
        anchor=core.softmax,
        variant="unfused",
        kind=kind,
        causal=mask.causal,
        heads=heads,
        kv_heads=_kv_heads(flow, core, k, v, head, heads),
        head_dim=head,
        value_dim=size(flow, core.v, core.v_free),
        hidden_size=attention_source.hidden_size(flow, q, context),
        queries=queries,
        keys=keys,
        mask=mask.mask,
        masks=mask_tensors(flow, core.added),
        rotary=q.rotary,
        relative_bias=mask.relative_bias,
        past=_past(q, k, v),
        confidence=1.0 if q.projection and k.projection and v.projection else 0.8,
    )


def _keys(flow: DataflowGraph, core: SoftmaxAttention) -> Dim:
    """Return the number of keys: with scores of a sink beside theirs, there are fewer values than columns."""
    scores = flow.nodes[core.softmax].inputs[0]
    keys = dim(flow, scores, core.key_axis)
    if not any(flow.qualified_op_types[number] == "Concat" for number in core.nodes):
        return keys
    values = core.values
    valued = {values.a: values.a_sum, values.b: values.b_sum}.get(core.v)
    known = None if valued is None else dim(flow, core.v, valued)
    return keys if known is None else known


def _has_resized_axis(flow: DataflowGraph, core: SoftmaxAttention) -> bool:
    """True if the axis of the Softmax has a different size from either side of the product."""
    scores = core.scores
    keys = dim(flow, flow.nodes[core.softmax].inputs[0], core.key_axis)
    free = (dim(flow, scores.a, scores.a_free), dim(flow, scores.b, scores.b_free))
    return keys is not None and None not in free and keys not in free


def _separate_projections(k: AttentionOperand, v: AttentionOperand) -> bool:
    return k.projection is not None and v.projection is not None


def _heads(flow: DataflowGraph, core: SoftmaxAttention, q: AttentionOperand, head: int | None) -> int | None:
    """Return heads from the split of the projection, or from the shape of the scores if no split is found."""
    head_axis = _head_axis(flow, flow.nodes[core.softmax].inputs[0])
    split = split_heads(flow, q, head, head_axis) if head else None
    if split is not None:
        remaining_heads = kept_heads(flow, q, head) if head and split != head_axis else None
        # A product that also yields keys and values is split into more than the query heads.
        return (
            remaining_heads
            if remaining_heads is not None
            and remaining_heads < split
            and (head_axis or 0) % remaining_heads == 0
            else split
        )
    shape = flow.shapes[flow.nodes[core.softmax].inputs[0]]
    if shape is not None and len(shape) == 2:
        return 1
    return head_axis


def _head_axis(flow: DataflowGraph, scores: int) -> int | None:
    """Return heads of (B, H, S, T) or (B, KV, G, S, T) scores; None for ranks that merge batch and heads."""
    shape = flow.shapes[scores]
    if shape is None or len(shape) not in (4, 5):
        return None
    total = 1
    for d in shape[1:-2]:
        if not isinstance(d, int) or d < 1:
            return None
        total *= d
    return total


def _kv_heads(
    flow: DataflowGraph,
    core: SoftmaxAttention,
    k: AttentionOperand,
    v: AttentionOperand,
    head: int | None,
    heads: int | None,
) -> int | None:
    """Return the key heads before repetition; None if they do not divide the query heads."""
    if heads is None:
        return None
    # Keys may include positions repeated over all heads; the values then are not repeated.
    factor = min(repeat_factor(flow, k), repeat_factor(flow, v))
    if factor > 1:
        return heads // factor if heads % factor == 0 else None
    remaining_heads = kept_heads(flow, k, head) if head else None
    if (
        remaining_heads is not None
        and heads % remaining_heads == 0
        and _head_axis(flow, core.k) in (None, remaining_heads)
    ):
        return remaining_heads
    split = split_heads(flow, k, head, heads) if head else None
    if split is not None:
        return split if heads % split == 0 else None
    shape = flow.shapes[core.k]
    if shape is not None and len(shape) == 5 and shape[2] == 1 and isinstance(shape[1], int):
        return shape[1] if heads % shape[1] == 0 else None
    cached = _cached(flow, k)
    if cached is not None and heads % cached == 0:
        return cached
    if _head_axis(flow, core.k) == heads or heads == 1:
        return heads
    query_batch, key_batch = _batch(flow, core, core.q), _batch(flow, core, core.k)
    return heads if query_batch is not None and query_batch == key_batch else None


def _batch(flow: DataflowGraph, core: SoftmaxAttention, operand: int) -> int | None:
    """Return the number of matrices (heads times batch) in an operand of Q·Kᵀ, wherever its axes are."""
    scores = core.scores
    first = operand == scores.a
    shape, rows = flow.shapes[operand], dim(flow, operand, scores.a_free if first else scores.b_free)
    summed = dim(flow, operand, scores.a_sum if first else scores.b_sum)
    if shape is None or not isinstance(rows, int) or not isinstance(summed, int):
        return None
    sizes = [d for d in shape if isinstance(d, int)]
    return prod(sizes) // (rows * summed) if len(sizes) == len(shape) and rows * summed else None


def _cached(flow: DataflowGraph, k: AttentionOperand) -> int | None:
    """Return the heads of a (B, KV, P, d) graph input that holds keys."""
    for tensor in k.past:
        shape = flow.shapes[tensor]
        if shape is not None and len(shape) == 4 and isinstance(shape[1], int) and shape[1] > 0:
            return shape[1]
    return None


def _past(q: AttentionOperand, k: AttentionOperand, v: AttentionOperand) -> tuple[int, ...]:
    """Return graph inputs joined to new keys and values, or replacing them if only Q is projected."""
    cached = [
        tensor
        for operand in (k, v)
        if operand.joins or (operand.projection is None and q.projection is not None)
        for tensor in operand.past
    ]
    return tuple(dict.fromkeys(cached))
