"""Which attention layers a layer reads, directly or through others."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import AttentionLayer

MAX_LAYERS = 2048
"""Layers beyond are left out: the sets are bit masks of this width, one a tensor."""


def upstream_masks(flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> list[int]:
    """For each layer, a bit mask of the layers that it depends on. One pass over the graph.

    ``layers`` are those of this graph, in any order; bit i stands for ``layers[i]``.
    """
    layers = layers[:MAX_LAYERS]
    bits = {layer.anchor: 1 << i for i, layer in enumerate(layers)}
    behind: dict[int, int] = {}
    at_anchor: dict[int, int] = {}
    nodes = flow.nodes
    for number in flow.order:
        node = nodes[number]
        mask = 0
        for tensor in node.inputs:
            if tensor in behind:
                mask |= behind[tensor]
        if number in bits:
            at_anchor[number] = mask
            mask |= bits[number]
        if mask:
            for tensor in node.outputs:
                if tensor >= 0:
                    behind[tensor] = mask
    return [at_anchor.get(layer.anchor, 0) for layer in layers]


def independent_stacks(masks: Sequence[int]) -> list[list[int]]:
    """Layers in groups that do not read each other, each in the order given."""
    group = list(range(len(masks)))  # layer → representative, by union of what reads what
    for layer, mask in enumerate(masks):
        while mask:
            other = mask.bit_length() - 1
            if other < len(group):
                _join(group, layer, other)
                mask &= ~masks[other]  # what that one reads is in its group already
            mask &= ~(1 << other)
    found: dict[int, list[int]] = {}
    for layer in range(len(group)):
        found.setdefault(_head(group, layer), []).append(layer)
    return list(found.values())


def _head(group: list[int], layer: int) -> int:
    while group[layer] != layer:
        group[layer] = group[group[layer]]
        layer = group[layer]
    return layer


def _join(group: list[int], a: int, b: int) -> None:
    a, b = _head(group, a), _head(group, b)
    group[max(a, b)] = min(a, b)
