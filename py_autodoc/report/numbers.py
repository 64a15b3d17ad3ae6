"""What each node costs, as the report (one execution) and the viewer (one inference) show it."""

from __future__ import annotations

import msgspec

from py_autodoc.costs.engine import NodeCost
from py_autodoc.graph.model import Node
from py_autodoc.report.analysis import Analysis

NOT_COUNTED = "this branch is not counted: the other one is selected or costs more"


class Numbers(msgspec.Struct, frozen=True):
    """MACs, FLOPs and traffic of a node; None where unknown, ``reason`` says why."""

    macs: int | None
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    reason: str


def of_execution(entry: NodeCost) -> Numbers:
    """One execution of the node."""
    cost = entry.cost
    if cost is None:
        return Numbers(None, None, None, None, entry.reason)
    return Numbers(cost.macs, cost.flops, cost.read_bytes, cost.write_bytes, entry.reason)


def of_inference(entry: NodeCost) -> Numbers:
    """All executions in one inference; an unknown number of them counts as one."""
    if not entry.counted:
        return Numbers(None, None, None, None, NOT_COUNTED)
    one, times = of_execution(entry), entry.times
    if times == 1:
        return one
    return Numbers(
        _times(one.macs, times),
        _times(one.flops, times),
        _times(one.read_bytes, times),
        _times(one.write_bytes, times),
        one.reason,
    )


def _times(number: int | None, times: int) -> int | None:
    return None if number is None else number * times


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
