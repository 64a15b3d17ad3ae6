"""Selective scans: the state-space recurrence of Mamba (arXiv:2312.00752), unrolled or as a loop.

Its decay is exp(Δ·A) with Δ = softplus(…) and a constant A.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import CONV, LINEAR, NORMS, has_weights, make_block
from py_autodoc.blocks.layer_blocks.scan_state import state_size
from py_autodoc.blocks.results import Fact, RecognisedBlock

_BETWEEN = frozenset({
    "Where", "Unsqueeze", "Squeeze", "Transpose", "Reshape", "Expand", "Cast", "Clip", "CumSum", "Identity",
    "Slice", "Pad", "Sub",
})  # fmt: skip
_READS_STATE = frozenset({"MatMul", "Einsum", "ReduceSum", "Loop", "Scan"})
"""Operators that multiply the state by C and sum over it, or hold the whole recurrence."""
_STEPS = 24
_MAX_INSIDE = 40_000
_PER_NODE = 4
"""Maximum number of visited nodes: of one scan, and of all scans per node of the graph."""


def find_selective_scans(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``state-space``, variant ``selective-scan``; fact: state, its size per channel.

    A block goes from the step size Δ to the tensor with the results of all positions; projections excluded.
    """
    blocks = []
    remaining = _PER_NODE * len(flow.order)
    for softplus in flow.named(("Softplus",)):
        decay = decay_of(flow, softplus)
        if decay < 0:
            continue
        inside = _until_joined(flow, decay, min(_MAX_INSIDE, remaining))
        remaining -= len(inside) or min(_MAX_INSIDE, remaining)
        if inside:
            nodes = _with_private_producers(flow, inside)
            facts: dict[str, Fact] = {"state": state_size(flow, decays_of(flow, softplus), inside)}
            blocks.append(
                make_block(flow, "state-space", nodes, decay, variant="selective-scan", facts=facts)
            )
    return blocks


def decay_of(flow: DataflowGraph, softplus: int) -> int:
    """Return the nearest exponential of a Softplus times a constant, or -1."""
    return next(iter(decays_of(flow, softplus, 1)), -1)


def decays_of(flow: DataflowGraph, softplus: int, most: int = _STEPS) -> list[int]:
    """Return the exponentials of a Softplus times a constant, nearest first: one, or some of its sums."""
    queue = [(softplus, False)]
    seen: set[tuple[int, bool]] = set(queue)
    decays: list[int] = []
    for _ in range(_STEPS):
        if not queue or len(decays) >= most:
            break
        number, scaled = queue.pop(0)
        for reader in flow.successors(number)[:_STEPS]:
            op = flow.qualified_op_types[reader]
            if op == "Exp" and scaled and reader not in decays:
                decays.append(reader)
            state = (reader, scaled or (op == "Mul" and bool(flow.constant_inputs[reader])))
            if state not in seen and (op in _BETWEEN or (op == "Mul" and flow.constant_inputs[reader])):
                seen.add(state)
                queue.append(state)
    return decays[:most]


def _until_joined(flow: DataflowGraph, decay: int, most: int) -> set[int]:
    """Return the decay and what follows, up to the first node behind the states that all paths lead to.

    Empty if there is none within ``most`` nodes.
    """
    pending = [(flow.position[decay], decay)]
    inside: set[int] = set()
    reached = {decay}
    reads_state = False
    while pending and len(inside) < most:
        _, number = heappop(pending)
        inside.add(number)
        reads_state = reads_state or flow.op_types[number] in _READS_STATE
        if not pending and reads_state:
            return inside
        for reader in flow.successors(number):
            if reader not in reached:
                reached.add(reader)
                heappush(pending, (flow.position[reader], reader))
    return set()


def _with_private_producers(flow: DataflowGraph, inside: set[int]) -> set[int]:
    """Add the nodes whose results are read only inside, back to layers with weights."""
    nodes = set(inside)
    pending = [(-flow.position[p], p) for n in inside for p in flow.predecessors(n) if p not in inside]
    heapify(pending)
    seen = {number for _, number in pending}
    while pending:
        _, number = heappop(pending)
        op = flow.op_types[number]
        layer = op in NORMS or op in CONV or (op in LINEAR and has_weights(flow, number))
        if number in nodes or layer or not nodes.issuperset(flow.successors(number)):
            continue
        nodes.add(number)
        for producer in flow.predecessors(number):
            if producer not in seen:
                seen.add(producer)
                heappush(pending, (-flow.position[producer], producer))
    return nodes
