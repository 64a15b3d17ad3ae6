"""What each node costs: on the wire of one execution with its runs, in sums and tables of one inference."""

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
    """One execution of the node."""
    cost = entry.cost
    if cost is None:
        return NodeNumbers(None, None, None, None, entry.reason)
    return NodeNumbers(cost.macs, cost.flops, cost.read_bytes, cost.write_bytes, entry.reason)


def why_null(analysis: Analysis, node: int, reason: str) -> str:
    """Why a number of a node is None: the ``reason`` of its costs, else that of its parameters."""
    return reason or shorten_middle(analysis.params.reasons.get(node, ""))


def per_inference(entry: NodeCost) -> NodeNumbers:
    """All executions in one inference; each loop of unknown length as one iteration."""
    if not entry.counted:
        return NodeNumbers(None, None, None, None, NOT_COUNTED)
    one, runs = per_execution(entry), entry.runs
    if runs == 1:
        return one
    return NodeNumbers(
        in_inference(one.macs, runs),
        in_inference(one.flops, runs),
        in_inference(one.read_bytes, runs),
        in_inference(one.write_bytes, runs),
        one.reason,
    )


COSTS = metrics.stored("execution")
"""What the wire has of one execution; other numbers do not depend on how often a node runs."""


def layer_in_inference(layer: Layer, cost: str) -> int | None:
    """One of ``COSTS`` of a layer in one inference; None where unknown, 0 where the totals leave it out."""
    return in_inference(getattr(layer, cost), layer.runs)


def layer_number(layer: Layer, metric: Metric) -> float | None:
    """A metric of a layer in one inference, from what the wire has of it; None where unknown."""

    def own(name: str) -> int | None:
        found: int | None = layer_in_inference(layer, name) if name in COSTS else getattr(layer, name)
        return found

    return derived(metric, own) if metric.over else own(metric.id)


def column_in_inference(nodes: NodeColumns, cost: str) -> list[int | None]:
    """One of ``COSTS`` of every node in one inference; None where unknown or left out."""
    found: list[int | None] = list(getattr(nodes, cost))
    for node, runs in nodes.runs.items():
        found[int(node)] = in_inference(found[int(node)], runs)
    for number in nodes.uncounted:
        found[number] = None
    return found


def activation_bytes(analysis: Analysis, node: Node) -> int | None:
    """Bytes of the node's outputs; None when one has no known size."""
    total = 0
    for tensor in node.outputs:
        if tensor >= 0:
            size = analysis.sizes.bytes[tensor]
            if size is None:
                return None
            total += size
    return total
