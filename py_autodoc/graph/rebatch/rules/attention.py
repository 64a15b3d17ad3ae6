"""Fused attention operators and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

MS = "com.microsoft"


def _batch_first(
    trace: BatchTrace, node: StructureNode, data: Sequence[int], past: Sequence[int] = ()
) -> Layout:
    """Require the batch on axis 0 of ``data`` and, for ``past``, on axis 0 or after a key/value axis."""
    layouts = [(i, layout) for i in (*data, *past) if (layout := trace.layout(node, i)) is not None]
    if not layouts:
        raise BatchBlocked("the batch is in an input that only configures the operator")
    number, layout = layouts[0]
    layout = layout.on(layout.axis - 1) if number in past else layout
    if layout.axis:
        raise BatchBlocked(f"{node.op_type} uses axis 0 as the batch, which is on axis {layout.axis}")
    trace.confirmed = True
    for i in data:
        trace.require_layout(node, i, layout)
    for i in past:
        trace.require_layout(node, i, layout.on(1))
    return layout


def _mask(
    trace: BatchTrace, node: StructureNode, i: int, layout: Layout, ranks: Sequence[int] = (4,)
) -> None:
    """A mask is broadcast if its first dimension is 1; otherwise it must hold the batch there."""
    if not node.has(i):
        return
    shape = trace.shape(node.inputs[i])
    if trace.layout(node, i) is not None and len(shape) not in ranks:
        name = node.inputs[i]
        raise BatchBlocked(f"{name} {list(shape)} holds the batch, which is not supported", name)
    if trace.layout(node, i) is not None or (len(shape) in ranks and shape[0] != 1):
        trace.require_layout(node, i, layout)


@rule("Attention")
def attention(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: Q, K, V, mask, cache."""
    data = [i for i in (0, 1, 2, 4, 5, 6) if node.has(i)]
    only_mask = trace.layout(node, 3) if not any(trace.layout(node, i) for i in data) else None
    if only_mask is not None and (only_mask.axis or len(trace.shape(node.inputs[3])) != 4):
        raise BatchBlocked(f"{node.inputs[3]} holds the batch on axis {only_mask.axis}", node.inputs[3])
    layout = only_mask or _batch_first(trace, node, data)
    for i in data:
        trace.require_layout(node, i, layout)
    _mask(trace, node, 3, layout)
    return [layout] * len(node.outputs)


@rule("Attention", domain=MS)
def packed_attention(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: data, weights, bias, mask, cache of keys and values, attention bias, cache length."""
    trace.require_equal(node, 1, 2, 6)
    layout = _batch_first(trace, node, [0], [4] if node.has(4) else [])
    _index(trace, node, 3, layout)
    _mask(trace, node, 5, layout)
    return [layout, layout.on(1)]


@rule("QAttention", domain=MS)
def quantized_attention(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: data, weights, bias, scales, mask, zero points, cache."""
    trace.require_equal(node, 1, 2, 3, 4, 6, 7)
    layout = _batch_first(trace, node, [0], [8] if node.has(8) else [])
    _index(trace, node, 5, layout)
    return [layout, layout.on(1)]


def _index(trace: BatchTrace, node: StructureNode, i: int, data_layout: Layout) -> None:
    """A mask of any form holds the batch on its first axis, one entry per item."""
    if not node.has(i):
        return
    shape, layout = trace.shape(node.inputs[i]), trace.layout(node, i)
    if not data_layout.is_batch_only or trace.batch != 1 or not shape or shape[0] != 1:
        raise BatchBlocked(
            f"the mask {node.inputs[i]} {list(shape)} does not have one row per item", node.inputs[i]
        )
    if layout is not None and layout.key != (0, 1, 1):
        raise BatchBlocked(f"the mask {node.inputs[i]} holds the batch on axis {layout.axis}", node.inputs[i])
    trace.require_layout(node, i, data_layout)


@rule("MultiHeadAttention", "DecoderMaskedMultiHeadAttention", domain=MS)
def multi_head(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: Q, K, V, bias, padding mask, attention bias, cache; the masked operator has another order."""
    is_multi_head = node.op_type == "MultiHeadAttention"
    padding, scores, past = (4, 5, (6, 7)) if is_multi_head else (3, 4, (5, 6))
    trace.require_equal(node, *((3, 8) if is_multi_head else (7, 8, 10)))
    if node.has(9):
        raise BatchBlocked("beams share a cache", node.inputs[9])
    data = [i for i in (0, 1, 2, *past) if node.has(i)]
    layout = _batch_first(trace, node, data)
    _index(trace, node, padding, layout)
    _mask(trace, node, scores, layout)
    return [layout] * len(node.outputs)


@rule("GroupQueryAttention", "SparseAttention", domain=MS)
def grouped(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: Q, K, V, cache, lengths per item, total length, rotary tables, positions, bias."""
    if node.op_type == "SparseAttention":
        raise BatchBlocked("com.microsoft::SparseAttention has no rule and may mix items")
    trace.require_equal(node, 6, 7, 8, *range(11, len(node.inputs)))
    data = [i for i in (0, 1, 2, 3, 4) if node.has(i)]
    layout = _batch_first(trace, node, data)
    if node.has(5):
        lengths = trace.shape(node.inputs[5])
        if not lengths or lengths[0] != layout.entries_per_item * trace.batch:
            raise BatchBlocked(
                f"{node.inputs[5]} {list(lengths)} does not have one length per item", node.inputs[5]
            )
        trace.require_layout(node, 5, layout)
    if node.has(9):
        trace.require_layout(node, 9, layout)
    _mask(trace, node, 10, layout)
    return [layout] * len(node.outputs)


@rule("RotaryEmbedding")
def rotary(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: data and tables, which have one row per item if there are no positions."""
    layout = _batch_first(trace, node, [0])
    if node.has(3):
        trace.require_equal(node, 1, 2)
        trace.require_layout(node, 3, layout)
    else:
        for i in (1, 2):
            trace.require_layout(node, i, layout)
    return [layout]


@rule("RotaryEmbedding", domain=MS)
def rotary_contrib(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: data, positions (one offset for all or one row per item), tables."""
    trace.require_equal(node, 2, 3)
    layout = _batch_first(trace, node, [0])
    if len(trace.shape(node.inputs[1])) == 2:
        trace.require_layout(node, 1, layout)
    else:
        trace.require_equal(node, 1)
    return [layout]
