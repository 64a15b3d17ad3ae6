"""Number of layers between the inputs of the main graph and its tensors."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.findings.registry import Number, RuleContext
from py_autodoc.findings.weighted_layers import weighted
from py_autodoc.graph.ir.model import TensorKind

_NO_DATA = frozenset({"Shape", "Size"})
"""Operators whose result describes a tensor and does not depend on its values."""


@dataclass(frozen=True, slots=True)
class Depth:
    """Number of weighted layers on paths from inputs to outputs, depthwise convolutions excluded."""

    shortest: int
    """Layers on the shortest path."""
    longest: int
    path: tuple[int, ...]
    """Layers of the shortest path, in order."""


def depth(ctx: RuleContext, minimum: Number = 0) -> Depth | None:
    """Return the depth of the main graph; None if no path leads from an input to an output.

    The output with the longest shortest path decides. None also if that path has fewer than ``minimum``
    layers, which is cheaper to determine. Linear in the size of the graph.
    """
    counted = {number for number in weighted(ctx) if not is_depthwise(ctx, number)}
    if minimum and (len(counted) < minimum or _shortest_length(ctx, counted) < minimum):
        return None
    return _depth(ctx, counted)


def _shortest_length(ctx: RuleContext, counted: set[int]) -> int:
    """Return the layers on the shortest path to the most distant output; -1 if there is none."""
    flow, nodes = ctx.flow, ctx.model.nodes
    reads, names = flow.data_inputs, flow.qualified_op_types
    distances = [-1] * (len(ctx.model.tensors) + 1)
    for tensor in ctx.model.graphs[0].inputs:
        if ctx.model.tensors[tensor].kind == TensorKind.INPUT:
            distances[tensor] = 0
    for number in flow.order:
        nearest = -1
        for tensor in reads[number]:
            distance = distances[tensor]
            if distance >= 0 and (nearest < 0 or distance < nearest):
                nearest = distance
        if nearest < 0 or names[number] in _NO_DATA:
            continue
        if number in counted:
            nearest += 1
        for tensor in nodes[number].outputs:
            if tensor >= 0 and distances[tensor] < 0:
                distances[tensor] = nearest
    return max((distances[t] for t in ctx.model.graphs[0].outputs), default=-1)


def _depth(ctx: RuleContext, counted: set[int]) -> Depth | None:
    flow = ctx.flow
    shortest: dict[int, int] = {}
    longest: dict[int, int] = {}
    arrived_from: dict[int, tuple[int, int]] = {}
    """Tensor → (producer, input on the shortest path)."""
    for tensor in ctx.model.graphs[0].inputs:
        if ctx.model.tensors[tensor].kind == TensorKind.INPUT:
            shortest[tensor] = longest[tensor] = 0
    for number in flow.order:
        node = flow.nodes[number]
        if node.op_type in _NO_DATA and not node.domain:
            continue
        reached = [t for t in flow.data_inputs[number] if t in shortest]
        if not reached:
            continue
        step = 1 if number in counted else 0
        best = min(reached, key=lambda t: shortest[t])
        longest_path = max(longest[t] for t in reached) + step
        for tensor in node.outputs:
            if tensor >= 0 and tensor not in shortest:  # produced twice only in an invalid graph
                shortest[tensor] = shortest[best] + step
                longest[tensor] = longest_path
                arrived_from[tensor] = (number, best)
    ends = [t for t in ctx.model.graphs[0].outputs if t in shortest]
    if not ends:
        return None
    end = max(ends, key=lambda t: shortest[t])
    path: list[int] = []
    tensor = end
    while tensor in arrived_from:
        number, tensor = arrived_from[tensor]
        if number in counted:
            path.append(number)
    return Depth(shortest[end], max(longest[t] for t in ends), tuple(reversed(path)))


def is_depthwise(ctx: RuleContext, number: int) -> bool:
    """True for a convolution with more than one group and one input channel per group."""
    node = ctx.model.nodes[number]
    if "Conv" not in node.op_type:
        return False
    group = node.attributes.get("group", 1)
    if not isinstance(group, int) or group < 2:
        return False
    first = ctx.flow.shapes[node.inputs[0]] if node.inputs else None
    return first is None or len(first) < 2 or not isinstance(first[1], int) or first[1] == group
