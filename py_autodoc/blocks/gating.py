"""Squeeze-and-excitation: a tensor scaled by a gate computed from its own spatial mean.

Source: Hu et al., Squeeze-and-Excitation Networks, 2018; with one layer instead of two it is the
efficient channel attention of Wang et al., 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.activations import GATES, SIMPLE, clip_bounds
from py_autodoc.blocks.flow import RESHAPES, Flow
from py_autodoc.blocks.model import Fact, Found
from py_autodoc.blocks.ops import CONV, PASS, arg, axes, block, dim, is_linear, scalar

_MAX_STEPS = 40
_THROUGH = PASS | RESHAPES
_POOLS = frozenset({"GlobalAveragePool", "GlobalMaxPool", "QLinearGlobalAveragePool"})


def find_squeeze_excites(flow: Flow) -> list[Found]:
    """Blocks of kind ``squeeze-excite``; variant ``eca`` with one layer, else empty.

    Facts: channels, reduced (channels between the layers), gate. ``inputs[0]`` is the gated tensor.
    """
    if find_squeeze_excites not in flow.memo:
        flow.memo[find_squeeze_excites] = _find(flow)
    found: list[Found] = flow.memo[find_squeeze_excites]
    return found.copy()


def _find(flow: Flow) -> list[Found]:
    found = []
    for number in flow.of(("Mul", "QLinearMul")):
        data = flow.reads[number]
        if len(data) != 2:
            continue
        for gate, source in (data, data[::-1]):
            block_found = _squeeze(flow, number, gate, source)
            if block_found is not None:
                found.append(block_found)
                break
    return found


@dataclass(slots=True)
class _Walk:
    """The way back from the gate to the pooled tensor."""

    nodes: list[int] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    gate: str = ""


def _squeeze(flow: Flow, number: int, gate: int, source: int) -> Found | None:
    walk = _Walk()
    base = flow.back(source, PASS)
    tensor = gate
    for _ in range(_MAX_STEPS):
        maker = flow.makers[tensor]
        if maker < 0:
            return None
        if _pools(flow, maker):
            pooled = arg(flow, maker, 0)
            if flow.back(pooled, PASS) != base or not walk.layers or not walk.gate:
                return None
            return _made(flow, number, [maker, *flow.chain_back(pooled, PASS)], walk, source)
        before = _step(flow, maker, walk)
        if before < 0:
            return None
        tensor = before
    return None


def _step(flow: Flow, maker: int, walk: _Walk) -> int:
    """Take one node into the walk; the tensor before it, -1 when the node does not belong there."""
    name, data = flow.bare[maker], flow.reads[maker]
    if not data:
        return -1
    if name in CONV or is_linear(flow, maker):
        if not walk.gate or len(walk.layers) == 2 or len(data) != 1:
            return -1
        walk.layers.append(maker)
        walk.nodes.append(maker)
        return data[0]
    if name == "Mul" and len(data) == 2:
        return _swish(flow, maker, data, walk)
    if len(data) != 1:
        return -1
    if not walk.layers and not walk.gate:
        walk.gate = _gate(flow, maker)
    elif (
        name not in SIMPLE
        and name != "Clip"
        and name not in _THROUGH
        and name not in ("Add", "BatchNormalization")
    ):
        return -1
    if not walk.gate and name not in _THROUGH and name not in ("Div", "Mul"):
        return -1
    walk.nodes.append(maker)
    return data[0]


def _gate(flow: Flow, maker: int) -> str:
    """Name of the gate that ends here: an operator, or the clip of a hard sigmoid."""
    name = flow.bare[maker]
    if name in GATES:
        return "HardSigmoid" if name == "HardSigmoid" else "Sigmoid"
    if name == "Clip":
        before = flow.makers[arg(flow, maker, 0)]
        shift = [scalar(flow, t) for t in flow.weighs[before]] if flow.bare[before] == "Add" else []
        low, high = clip_bounds(flow, maker)
        if low == 0 and (high, 3.0 in shift) in ((6.0, True), (1.0, True)):
            return "HardSigmoid"
    return ""


def _swish(flow: Flow, maker: int, data: tuple[int, int], walk: _Walk) -> int:
    """x·sigmoid(x) between the layers."""
    if not walk.layers:
        return -1
    for inner, whole in (data, data[::-1]):
        gate = flow.makers[inner]
        if flow.bare[gate] in GATES and flow.back(arg(flow, gate, 0)) == flow.back(whole):
            walk.nodes += [maker, gate]
            return whole
    return -1


def _pools(flow: Flow, maker: int) -> bool:
    """A mean or maximum over all of space."""
    name, node = flow.bare[maker], flow.nodes[maker]
    if name in _POOLS:
        return True
    shape = flow.shapes[node.inputs[0]] if node.inputs else None
    if shape is None or len(shape) < 3:
        return False
    if name in ("ReduceMean", "ReduceMax"):
        rank, over = len(shape), axes(flow, maker)
        return over in (list(range(2, rank)), list(range(1, rank - 1)))
    if name == "AveragePool":
        made = flow.shapes[flow.firsts[maker]]
        return made is not None and all(size == 1 for size in made[2:])
    return False


def _made(flow: Flow, number: int, pool: list[int], walk: _Walk, source: int) -> Found:
    first = walk.layers[-1]
    reduced = dim(flow, flow.firsts[first], 1) if len(walk.layers) == 2 else None
    facts: dict[str, Fact] = {
        "channels": dim(flow, source, 1),
        "reduced": reduced,
        "gate": walk.gate,
    }
    nodes = [number, *pool, *walk.nodes]
    made = block(
        flow, "squeeze-excite", nodes, number, variant="eca" if len(walk.layers) == 1 else "", facts=facts
    )
    # The gated tensor first, whatever else enters.
    order = sorted(made.inputs, key=lambda t: t != source)
    return Found(
        made.kind, made.nodes, made.anchor, made.variant, made.how, made.confidence, tuple(order),
        made.outputs, made.facts,
    )  # fmt: skip
