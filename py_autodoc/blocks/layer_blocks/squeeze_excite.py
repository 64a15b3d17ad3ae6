"""Squeeze-and-excitation: a tensor scaled by a gate computed from its own spatial mean.

Source: Hu et al., Squeeze-and-Excitation Networks, 2018. With one layer instead of two, it is the
efficient channel attention of Wang et al., 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    CONV,
    COPY_OPS,
    axes,
    dim,
    input_at,
    is_linear,
    make_block,
    scalar,
)
from py_autodoc.blocks.layer_blocks.activations import GATES, SIMPLE, clip_bounds
from py_autodoc.blocks.results import Fact, RecognisedBlock

_MAX_STEPS = 40
_THROUGH = COPY_OPS | RESHAPES
_POOLS = frozenset({"GlobalAveragePool", "GlobalMaxPool", "QLinearGlobalAveragePool"})


def find_squeeze_excites(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``squeeze-excite``; variant ``eca`` with one layer, else empty.

    Facts: channels, reduced (channels between the layers), gate. ``inputs[0]`` is the gated tensor.
    """
    if find_squeeze_excites not in flow.memo:
        flow.memo[find_squeeze_excites] = _find(flow)
    blocks: list[RecognisedBlock] = flow.memo[find_squeeze_excites]
    return blocks.copy()


def _find(flow: DataflowGraph) -> list[RecognisedBlock]:
    blocks = []
    for number in flow.of(("Mul", "QLinearMul")):
        data = flow.data_inputs[number]
        if len(data) != 2:
            continue
        for gate, source in (data, data[::-1]):
            block_found = _squeeze(flow, number, gate, source)
            if block_found is not None:
                blocks.append(block_found)
                break
    return blocks


@dataclass(slots=True)
class _GatePath:
    """The path from the gate back to the pooled tensor."""

    nodes: list[int] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    gate: str = ""


def _squeeze(flow: DataflowGraph, number: int, gate: int, source: int) -> RecognisedBlock | None:
    walk = _GatePath()
    base = flow.back(source, COPY_OPS)
    tensor = gate
    for _ in range(_MAX_STEPS):
        producer = flow.producers[tensor]
        if producer < 0:
            return None
        if _pools(flow, producer):
            pooled = input_at(flow, producer, 0)
            if flow.back(pooled, COPY_OPS) != base or not walk.layers or not walk.gate:
                return None
            return _squeeze_excite_block(
                flow, number, [producer, *flow.chain_back(pooled, COPY_OPS)], walk, source
            )
        before = _step(flow, producer, walk)
        if before < 0:
            return None
        tensor = before
    return None


def _step(flow: DataflowGraph, producer: int, walk: _GatePath) -> int:
    """Add a node to the path and return the tensor before it; -1 if the node does not belong to it."""
    name, data = flow.op_types[producer], flow.data_inputs[producer]
    if not data:
        return -1
    if name in CONV or is_linear(flow, producer):
        if not walk.gate or len(walk.layers) == 2 or len(data) != 1:
            return -1
        walk.layers.append(producer)
        walk.nodes.append(producer)
        return data[0]
    if name == "Mul" and len(data) == 2:
        return _swish(flow, producer, data, walk)
    if len(data) != 1:
        return -1
    if not walk.layers and not walk.gate:
        walk.gate = _gate(flow, producer)
    elif (
        name not in SIMPLE
        and name != "Clip"
        and name not in _THROUGH
        and name not in ("Add", "BatchNormalization")
    ):
        return -1
    if not walk.gate and name not in _THROUGH and name not in ("Div", "Mul"):
        return -1
    walk.nodes.append(producer)
    return data[0]


def _gate(flow: DataflowGraph, producer: int) -> str:
    """Return the name of the gate: an operator, or the clip of a hard sigmoid."""
    name = flow.op_types[producer]
    if name in GATES:
        return "HardSigmoid" if name == "HardSigmoid" else "Sigmoid"
    if name == "Clip":
        before = flow.producers[input_at(flow, producer, 0)]
        shift = (
            [scalar(flow, t) for t in flow.constant_inputs[before]] if flow.op_types[before] == "Add" else []
        )
        low, high = clip_bounds(flow, producer)
        if low == 0 and (high, 3.0 in shift) in ((6.0, True), (1.0, True)):
            return "HardSigmoid"
    return ""


def _swish(flow: DataflowGraph, producer: int, data: tuple[int, int], walk: _GatePath) -> int:
    """Match x·sigmoid(x) between the layers."""
    if not walk.layers:
        return -1
    for inner, product_output in (data, data[::-1]):
        gate = flow.producers[inner]
        if flow.op_types[gate] in GATES and flow.back(input_at(flow, gate, 0)) == flow.back(product_output):
            walk.nodes += [producer, gate]
            return product_output
    return -1


def _pools(flow: DataflowGraph, producer: int) -> bool:
    """True for a mean or maximum over all spatial axes."""
    name, node = flow.op_types[producer], flow.nodes[producer]
    if name in _POOLS:
        return True
    shape = flow.shapes[node.inputs[0]] if node.inputs else None
    if shape is None or len(shape) < 3:
        return False
    if name in ("ReduceMean", "ReduceMax"):
        rank, pooled_axes = len(shape), axes(flow, producer)
        return pooled_axes in (list(range(2, rank)), list(range(1, rank - 1)))
    if name == "AveragePool":
        pooled_shape = flow.shapes[flow.first_outputs[producer]]
        return pooled_shape is not None and all(size == 1 for size in pooled_shape[2:])
    return False


def _squeeze_excite_block(
    flow: DataflowGraph, number: int, pool: list[int], walk: _GatePath, source: int
) -> RecognisedBlock:
    first = walk.layers[-1]
    reduced = dim(flow, flow.first_outputs[first], 1) if len(walk.layers) == 2 else None
    facts: dict[str, Fact] = {
        "channels": dim(flow, source, 1),
        "reduced": reduced,
        "gate": walk.gate,
    }
    nodes = [number, *pool, *walk.nodes]
    block = make_block(
        flow, "squeeze-excite", nodes, number, variant="eca" if len(walk.layers) == 1 else "", facts=facts
    )
    # The gated tensor comes first.
    order = sorted(block.inputs, key=lambda t: t != source)
    return RecognisedBlock(
        block.kind,
        block.nodes,
        block.anchor,
        block.variant,
        block.how,
        block.confidence,
        tuple(order),
        block.outputs,
        block.facts,
    )
