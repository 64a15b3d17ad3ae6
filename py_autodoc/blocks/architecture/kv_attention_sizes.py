"""Recognised attention as the estimate of the KV cache needs it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from py_autodoc.blocks.architecture.context_length import context_limits
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import AttentionLayer, Structure
from py_autodoc.costs.kv_cache import AttentionSize
from py_autodoc.graph.ir.model import Model, TypeTable

_PRODUCTS = frozenset({"MatMul", "Einsum"})


def attention_sizes(model: Model, types: TypeTable, layers: Iterable[AttentionLayer]) -> list[AttentionSize]:
    """Heads, sizes and element type of each layer, in the order given."""
    return [
        AttentionSize(
            kv_heads=layer.kv_heads,
            head_dim=layer.head_dim,
            value_dim=layer.value_dim,
            causal=layer.causal,
            kind=layer.kind,
            dtype=value_type(model, types, layer),
            confidence=layer.confidence,
        )
        for layer in layers
    ]


def value_type(model: Model, types: TypeTable, layer: AttentionLayer) -> int:
    """Element type of the values: that of the product behind the Softmax, which may itself be wider.

    0 when it is unknown.
    """
    inside = set(layer.nodes)
    stack, seen = [layer.anchor], {layer.anchor}
    while stack:
        node = model.nodes[stack.pop()]
        outputs = [t for t in node.outputs if t >= 0]
        if not outputs:
            continue
        if layer.variant == "fused" or node.op_type in _PRODUCTS:
            return types.dtypes[outputs[0]]
        readers = [n for t in outputs for n in model.tensors[t].consumers if n in inside and n not in seen]
        seen.update(readers)
        stack.extend(readers)
    return 0


def longest_context(flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> int | None:
    """Positions that the tables of the main graph allow its causal self-attention, where they agree.

    The length of a cache is left aside: it may be bound by the caller.
    """
    own = [
        replace(layer, past=())
        for layer in layers
        if layer.causal is not False and layer.kind == "self" and layer.anchor in flow.position
    ]
    if not own:
        return None
    limits = {context.positions for context in context_limits(flow, own).values()}
    return limits.pop() if len(limits) == 1 else None


def decoder_confidence(found: Structure) -> float:
    """How sure the verdict is that the network is a decoder, between 0 and 1."""
    return found.verdict.confidence if found.verdict.family == "transformer-decoder" else 0.0
