"""Attention sizes and types for the KV cache estimate."""

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
    """Return heads, sizes and element type of each layer, in the given order."""
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
    """Return the element type of V, taken from the product after the Softmax; the Softmax may be wider.

    0 if unknown.
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
    """Return the maximum positions of the causal self-attention in the main graph, if its tables agree.

    Ignores the length of caches, because the caller may set it.
    """
    self_attention = [
        replace(layer, past=())
        for layer in layers
        if layer.causal is not False and layer.kind == "self" and layer.anchor in flow.position
    ]
    if not self_attention:
        return None
    limits = {context.positions for context in context_limits(flow, self_attention).values()}
    return limits.pop() if len(limits) == 1 else None


def decoder_confidence(structure: Structure) -> float:
    """Return the confidence, 0 to 1, that the network is a decoder."""
    return structure.verdict.confidence if structure.verdict.family == "transformer-decoder" else 0.0
