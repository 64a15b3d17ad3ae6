"""Recurrent layers: recurrent operators, and loops whose state passes through weights.

Sources: Hochreiter & Schmidhuber 1997 (LSTM), Cho et al. 2014 (GRU).
"""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import CONV, LINEAR, RECURRENT, make_block
from py_autodoc.blocks.results import Fact, RecognisedBlock

_GATES = frozenset({"Sigmoid", "Tanh", "HardSigmoid", "Relu"})
_LOOPS = frozenset({"Loop", "Scan"})
_MAX_NODES = 2000


def find_recurrent(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``recurrent``; the variant is the cell: LSTM, GRU, RNN, or ``cell`` in a loop.

    Facts: hidden, directions, layout of a loop (``Loop`` or ``Scan``).
    """
    blocks = []
    for number in flow.of(RECURRENT | _LOOPS):
        name = flow.op_types[number]
        if name in RECURRENT:
            blocks.append(_operator(flow, number, name))
        else:
            cell = _loop(flow, number, name)
            if cell is not None:
                blocks.append(cell)
    return blocks


def _operator(flow: DataflowGraph, number: int, name: str) -> RecognisedBlock:
    node = flow.nodes[number]
    hidden = node.attributes.get("hidden_size")
    direction = node.attributes.get("direction", "forward")
    facts: dict[str, Fact] = {
        "hidden": hidden if isinstance(hidden, int) else None,
        "directions": 2 if direction == "bidirectional" else 1,
        "loop": None,
    }
    variant = "LSTM" if "LSTM" in name else name
    return make_block(flow, "recurrent", [number], number, variant=variant, facts=facts)


def _loop(flow: DataflowGraph, number: int, name: str) -> RecognisedBlock | None:
    """Match a loop that recomputes one of its states with weights and an activation."""
    node, model = flow.nodes[number], flow.model
    bodies = [graph for attribute, graph in node.subgraphs if attribute == "body"]
    if len(bodies) != 1:
        return None
    body = model.graphs[bodies[0]]
    if name == "Loop":
        states, results = list(body.inputs[2:]), list(body.outputs[1:])
    else:
        scans = node.attributes.get("num_scan_inputs", 0)
        state_count = len(body.inputs) - scans if isinstance(scans, int) else 0
        states, results = list(body.inputs[: max(0, state_count)]), list(body.outputs)
    inner = DataflowGraph(model, flow.types, body.id)
    for state, result in zip(states, results, strict=False):
        kinds = _between(inner, state, result)
        if kinds & (CONV | LINEAR) and kinds & _GATES:
            shape = flow.types.shapes[state]
            last = shape[-1] if shape else None
            facts: dict[str, Fact] = {
                "hidden": last if isinstance(last, int) else None,
                "directions": 1,
                "loop": name,
            }
            variant = "cell"
            return make_block(
                flow, "recurrent", [number], number, variant=variant, confidence=0.8, facts=facts
            )
    return None


def _between(flow: DataflowGraph, state: int, result: int) -> set[str]:
    """Return the operators on paths from a state to its next value; empty if there is no path."""
    if state < 0 or result < 0:
        return set()
    forward = {state}
    reached: dict[int, None] = {}
    for number in flow.order[:_MAX_NODES]:
        node = flow.nodes[number]
        if any(t in forward for t in node.inputs):
            forward.update(t for t in node.outputs if t >= 0)
            reached[number] = None
    if result not in forward:
        return set()
    needed, kinds = {result}, set()
    for number in reversed(reached):
        node = flow.nodes[number]
        if any(t in needed for t in node.outputs):
            kinds.add(flow.op_types[number])
            needed.update(t for t in node.inputs if t in forward)
    return kinds
