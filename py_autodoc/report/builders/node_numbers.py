"""Costs of each node: per execution in wire fields, per inference in totals and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from py_autodoc import metrics
from py_autodoc.costs.engine import NodeCost, in_inference
from py_autodoc.graph.ir.model import Node
from py_autodoc.metrics import Metric, derived
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis

if TYPE_CHECKING:
    from py_autodoc.report.schema import Layer, NodeColumns

NOT_COUNTED = "this branch is not counted: the other one is selected or costs more"


class NodeNumbers(msgspec.Struct, frozen=True):
    """MACs, FLOPs and traffic of a node; None where unknown, ``reason`` says why."""

    macs: int | None
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    reason: str


def per_execution(entry: NodeCost) -> NodeNumbers:
    """Return the costs of one execution of the node."""
    cost = entry.cost
    if cost is None:
        return NodeNumbers(None, None, None, None, entry.reason)
    return NodeNumbers(cost.macs, cost.flops, cost.read_bytes, cost.write_bytes, entry.reason)


def why_null(analysis: Analysis, node: int, reason: str) -> str:
    """Return why a number of a node is None: ``reason`` from its costs, else the one from its parameters."""
    return reason or shorten_middle(analysis.params.reasons.get(node, ""))


def per_inference(entry: NodeCost) -> NodeNumbers:
    """Return the costs of all executions in one inference; loops of unknown length count one iteration."""
    if not entry.counted:
        return NodeNumbers(None, None, None, None, NOT_COUNTED)
    numbers, runs = per_execution(entry), entry.runs
    if runs == 1:
        return numbers
    return NodeNumbers(
        in_inference(numbers.macs, runs),
        in_inference(numbers.flops, runs),
        in_inference(numbers.read_bytes, runs),
        in_inference(numbers.write_bytes, runs),
        numbers.reason,
    )


COSTS = metrics.stored("execution")
"""Metrics stored per execution; the others do not depend on how often a node runs."""


def layer_in_inference(layer: Layer, cost: str) -> int | None:
    """Return one of ``COSTS`` of a layer for one inference; None if unknown, 0 if not in the totals."""
    return in_inference(getattr(layer, cost), layer.runs)


def layer_number(layer: Layer, metric: Metric) -> float | None:
    """Return a metric of a layer for one inference from its wire fields; None if unknown."""

    def value(name: str) -> int | None:
        number: int | None = layer_in_inference(layer, name) if name in COSTS else getattr(layer, name)
        return number

    return derived(metric, value) if metric.over else value(metric.id)


def column_in_inference(nodes: NodeColumns, cost: str) -> list[int | None]:
    """Return one of ``COSTS`` of every node for one inference; None if unknown or not counted."""
    values: list[int | None] = list(getattr(nodes, cost))
    for node, runs in nodes.runs.items():
        values[int(node)] = in_inference(values[int(node)], runs)
    for number in nodes.uncounted:
        values[number] = None
    return values


def activation_bytes(analysis: Analysis, node: Node) -> int | None:
    """Return the bytes of the node's outputs; None if the size of one is unknown."""
    total = 0
    for tensor in node.outputs:
        if tensor >= 0:
            size = analysis.sizes.bytes[tensor]
            if size is None:
                return None
            total += size
    return total
