"""Dependencies between attention layers, direct or through other layers."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.results import AttentionLayer

MAX_LAYERS = 2048
"""Layers beyond this limit are ignored: each tensor has a bit mask of this width."""


def upstream_masks(flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> list[int]:
    """Return, for each layer, a bit mask of the layers it depends on, in one pass over the graph.

    ``layers`` are the layers of this graph in any order; bit i is ``layers[i]``.
    """
    layers = layers[:MAX_LAYERS]
    bits = {layer.anchor: 1 << i for i, layer in enumerate(layers)}
    mask_of_tensor: dict[int, int] = {}
    at_anchor: dict[int, int] = {}
    nodes = flow.nodes
    for number in flow.order:
        node = nodes[number]
        mask = 0
        for tensor in node.inputs:
            if tensor in mask_of_tensor:
                mask |= mask_of_tensor[tensor]
        if number in bits:
            at_anchor[number] = mask
            mask |= bits[number]
        if mask:
            for tensor in node.outputs:
                if tensor >= 0:
                    mask_of_tensor[tensor] = mask
    return [at_anchor.get(layer.anchor, 0) for layer in layers]


def independent_stacks(masks: Sequence[int]) -> list[list[int]]:
    """Group layers that do not depend on each other; each group keeps the given order."""
    group = list(range(len(masks)))  # layer → representative, a union-find over the dependencies
    for layer, mask in enumerate(masks):
        while mask:
            dependency = mask.bit_length() - 1
            if dependency < len(group):
                _join(group, layer, dependency)
                mask &= ~masks[dependency]  # its dependencies are already in its group
            mask &= ~(1 << dependency)
    stacks: dict[int, list[int]] = {}
    for layer in range(len(group)):
        stacks.setdefault(_head(group, layer), []).append(layer)
    return list(stacks.values())


def _head(group: list[int], layer: int) -> int:
    while group[layer] != layer:
        group[layer] = group[group[layer]]
        layer = group[layer]
    return layer


def _join(group: list[int], a: int, b: int) -> None:
    a, b = _head(group, a), _head(group, b)
    group[max(a, b)] = min(a, b)
