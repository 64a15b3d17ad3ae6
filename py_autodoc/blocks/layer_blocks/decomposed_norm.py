"""Decomposed normalizations, matched from the square root of the variance.

The search starts at Sqrt, Pow(±0.5) or ReduceL2 and goes backward to the mean of squares and forward to the
division. It accepts the orders that torch (both exporters), tf2onnx and keras2onnx write, casts optional.
"""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    COPY_OPS,
    axes,
    input_at,
    reader_of,
    readers,
    scalar,
    weight,
)

_SPREAD = COPY_OPS | RESHAPES
"""Operators allowed between a statistic and its use."""
ROOT_OPS = frozenset({"Sqrt", "Pow", "ReduceL2"})
"""Operators where ``decomposed_norm_at`` starts."""
_MAX_STEPS = 8
_MAX_FORWARD = 12
_REDUCE = {"ReduceMean": True, "ReduceSum": False, "ReduceSumSquare": False, "ReduceL2": False,
           "GlobalAveragePool": True}  # fmt: skip
"""Reduction → whether it divides by the count."""


@dataclass(slots=True)
class DecomposedNorm:
    """A normalization built from primitive operators."""

    kind: str
    nodes: list[int]
    source: int
    output: int
    axes: list[int] | None
    epsilon: float | None = None
    scaled: bool = False
    """The division includes a scale."""
    affine: bool = False
    """Scale and shift are included."""
    confidence: float = 1.0


@dataclass(slots=True)
class _SecondMoment:
    """The mean (or sum) of the squares of ``base`` or of its deviation from its mean."""

    base: int
    values: int
    """The squared tensor: ``base``, or the difference."""
    nodes: list[int]
    mean: int
    """Node of the subtracted mean, -1 if none."""
    reduce: int
    average: bool
    epsilon: float | None
    floor: bool = False


def decomposed_norm_at(flow: DataflowGraph, number: int) -> DecomposedNorm | None:
    """Return the normalization with this node as its root; None if the node has another purpose."""
    name, node = flow.op_types[number], flow.nodes[number]
    inverse = False
    if name == "Pow":
        power = scalar(flow, node.inputs[1]) if len(node.inputs) > 1 else None
        if power not in (0.5, -0.5):
            return None
        inverse = power == -0.5
    elif name not in ROOT_OPS:
        return None
    if not flow.data_inputs[number] or flow.constants[flow.first_outputs[number]]:
        return None
    square = _length(flow, number) if name == "ReduceL2" else _power(flow, node.inputs[0])
    if square is None:
        return None
    return _divide(flow, number, square, inverse)


def _length(flow: DataflowGraph, number: int) -> _SecondMoment:
    values = input_at(flow, number, 0)
    base, mean, nodes = _centred(flow, values)
    return _SecondMoment(base, values, nodes, mean, number, False, None)


def _power(flow: DataflowGraph, tensor: int) -> _SecondMoment | None:
    """Search backward from the root: epsilon, floors and factors, then the reduction of squares."""
    nodes: list[int] = []
    epsilon, average, off = None, False, -1
    for _ in range(_MAX_STEPS):
        number = flow.producers[tensor]
        name, data = flow.op_types[number], flow.data_inputs[number] if number >= 0 else []
        if name in _REDUCE:
            return _squares(flow, number, nodes, epsilon, average or _REDUCE[name], off)
        if name == "Sub" and len(data) == 2:
            off = input_at(flow, number, 1)
            tensor = input_at(flow, number, 0)
        elif name in _SPREAD:
            tensor = input_at(flow, number, 0)
        elif len(data) == 1 and name in ("Add", "Max", "Clip", "Mul", "Div"):
            if name in ("Add", "Max"):
                epsilon = _larger(epsilon, scalar(flow, weight(flow, number)))
            elif name in ("Mul", "Div"):
                average = True
            tensor = data[0]
        else:
            return None
        nodes.append(number)
    return None


def _larger(a: float | None, b: float | None) -> float | None:
    """Return the larger bound: a floor of 0 only guards the root, epsilon keeps it above 0."""
    bounds = [value for value in (a, b) if value is not None]
    return max(bounds) if bounds else None


def _squares(
    flow: DataflowGraph, number: int, nodes: list[int], epsilon: float | None, average: bool, off: int
) -> _SecondMoment | None:
    """Find the tensor that the reduction squares: Pow(d, 2), d·d, or the reduction itself squares."""
    tensor = input_at(flow, number, 0)
    nodes = [*nodes, number]
    if flow.op_types[number] not in ("ReduceSumSquare", "ReduceL2"):
        nodes += flow.chain_back(tensor, COPY_OPS)
        square = flow.producers[flow.back(tensor, COPY_OPS)]
        squared = _squared(flow, square)
        if squared < 0:
            return None
        nodes.append(square)
        tensor = squared
    base, mean, more = _centred(flow, tensor)
    nodes += more
    if off >= 0:
        # The mean of squares minus the square of the mean.
        mean_square = flow.producers[flow.back(off, _SPREAD)]
        root = _squared(flow, mean_square)
        origin = flow.producers[flow.back(root, _SPREAD)] if root >= 0 else -1
        mean, more = _mean(flow, origin, base)
        if mean < 0:
            return None
        nodes += [mean_square, *more]
    return _SecondMoment(base, tensor, nodes, mean, number, average, epsilon)


def _squared(flow: DataflowGraph, number: int) -> int:
    """Return d of Pow(d, 2) or d·d; -1 for other nodes."""
    name, node = flow.op_types[number], flow.nodes[number] if number >= 0 else None
    if node is None:
        return -1
    if name == "Pow" and len(node.inputs) > 1 and scalar(flow, node.inputs[1]) == 2.0:
        return node.inputs[0]
    if name == "Mul" and flow.back(input_at(flow, number, 0), COPY_OPS) == flow.back(
        input_at(flow, number, 1), COPY_OPS
    ):
        return input_at(flow, number, 0)
    return -1


def _centred(flow: DataflowGraph, tensor: int) -> tuple[int, int, list[int]]:
    """Return (x, mean node, nodes) if ``tensor`` is x minus its mean; else (``tensor``, -1, passed)."""
    passed = flow.chain_back(tensor, COPY_OPS)
    source = flow.back(tensor, COPY_OPS)
    number = flow.producers[source]
    if flow.op_types[number] == "Sub" and len(flow.data_inputs[number]) == 2:
        x = flow.back(input_at(flow, number, 0), COPY_OPS)
        origin = flow.producers[flow.back(input_at(flow, number, 1), _SPREAD)]
        mean, more = _mean(flow, origin, x)
        if mean >= 0:
            spread = list(flow.chain_back(input_at(flow, number, 1), _SPREAD))
            return x, mean, [*passed, number, *spread, *more]
    return source, -1, []


def _mean(flow: DataflowGraph, number: int, x: int) -> tuple[int, list[int]]:
    """Return (reduction, nodes) if ``number`` ends a mean of ``x``: ReduceMean, or ReduceSum · constant."""
    nodes: list[int] = []
    if flow.op_types[number] in ("Mul", "Div") and len(flow.data_inputs[number]) == 1:
        nodes.append(number)
        number = flow.producers[flow.data_inputs[number][0]]
        if flow.op_types[number] != "ReduceSum":
            return -1, []
    elif flow.op_types[number] not in ("ReduceMean", "GlobalAveragePool"):
        return -1, []
    if flow.back(input_at(flow, number, 0), COPY_OPS) != x:
        return -1, []
    return number, [*nodes, number]


def _divide(flow: DataflowGraph, root: int, square: _SecondMoment, inverse: bool) -> DecomposedNorm | None:
    """Search forward from the root to the node that divides the values by it."""
    tensor, nodes, scaled, floor = flow.first_outputs[root], [root, *square.nodes], False, False
    epsilon = square.epsilon
    for _ in range(_MAX_FORWARD):
        step = _use(flow, tensor, square, inverse)
        if step is not None:
            return _finish(flow, step, nodes, square, scaled, epsilon)
        number = reader_of(flow, tensor)
        name = flow.op_types[number]
        if number < 0 or flow.first_outputs[number] < 0:
            return None
        if name in _SPREAD and input_at(flow, number, 0) == tensor:
            nodes.append(number)
            tensor = flow.first_outputs[number]
            continue
        if len(flow.data_inputs[number]) != 1:
            return None
        if name == "Reciprocal" or (name == "Div" and scalar(flow, input_at(flow, number, 0)) == 1.0):
            inverse = not inverse
        elif name in ("Add", "Max", "Clip") and not floor:
            floor = True
            if name != "Clip":
                epsilon = _larger(epsilon, scalar(flow, weight(flow, number)))
        elif name == "Mul" and inverse:
            scaled = True
        else:
            return None
        nodes.append(number)
        tensor = flow.first_outputs[number]
    return None


def _use(flow: DataflowGraph, tensor: int, square: _SecondMoment, inverse: bool) -> list[int] | None:
    """Return the nodes that apply ``tensor`` to the values; the last is the only product or quotient."""
    for number in readers(flow, tensor):
        name, node = flow.op_types[number], flow.nodes[number]
        if name == "Div" and not inverse and input_at(flow, number, 1) == tensor:
            values = node.inputs[0]
        elif name == "Mul" and inverse and len(flow.data_inputs[number]) == 2:
            values = node.inputs[0] if node.inputs[1] == tensor else node.inputs[1]
        else:
            continue
        passed = flow.chain_back(values, COPY_OPS)
        source = flow.back(values, COPY_OPS)
        if source == flow.back(square.values, COPY_OPS):
            return [*passed, number]
        base, mean, nodes = _centred(flow, values)
        if base == square.base and (mean >= 0) == (square.mean >= 0):
            return [*passed, *nodes, number]
        if source == square.base and square.mean >= 0:
            shift = _shift(flow, number, tensor, square)
            if shift is not None:
                return [*passed, *shift]
    return None


def _shift(flow: DataflowGraph, product: int, factor: int, square: _SecondMoment) -> list[int] | None:
    """Match x·f + (b - mean·f), as written by tf2onnx; None if the shift does not follow."""
    total = reader_of(flow, flow.first_outputs[product])
    if flow.op_types[total] != "Add" or len(flow.data_inputs[total]) != 2:
        return None
    for tensor in flow.data_inputs[total]:
        minus = flow.producers[tensor]
        if flow.op_types[minus] != "Sub" or len(flow.data_inputs[minus]) != 1:
            continue
        times = flow.producers[flow.data_inputs[minus][0]]
        if flow.op_types[times] != "Mul" or factor not in flow.nodes[times].inputs:
            continue
        if any(
            _mean(flow, flow.producers[flow.back(t, _SPREAD)], square.base)[0] >= 0
            for t in flow.data_inputs[times]
        ):
            return [product, times, minus, total]
    return None


def _finish(
    flow: DataflowGraph,
    step: list[int],
    nodes: list[int],
    square: _SecondMoment,
    scaled: bool,
    epsilon: float | None,
) -> DecomposedNorm:
    last = step[-1]
    reduced_axes = axes(flow, square.reduce)
    if flow.op_types[square.reduce] == "GlobalAveragePool":
        shape = flow.shapes[flow.nodes[square.reduce].inputs[0]]
        reduced_axes = list(range(2, len(shape))) if shape else None
    rank = len(flow.shapes[square.base] or ())
    kind = _kind(square, reduced_axes, rank)
    return DecomposedNorm(
        kind=kind,
        nodes=[*nodes, *step],
        source=square.base,
        output=flow.first_outputs[last],
        axes=reduced_axes,
        epsilon=epsilon,
        scaled=scaled,
        affine=flow.op_types[last] == "Add",
        confidence=1.0 if reduced_axes is not None else 0.8,
    )


def _kind(square: _SecondMoment, reduced_axes: list[int] | None, rank: int) -> str:
    """Return the kind of normalization, from the subtracted mean and the reduced axes."""
    if square.mean < 0:
        return "RMSNormalization" if square.average else "LpNormalization"
    if reduced_axes is None or not rank:
        return "LayerNormalization"
    if 0 in reduced_axes and len(reduced_axes) == rank:
        return "MeanVarianceNormalization"
    if 0 in reduced_axes:
        return "BatchNormalization"
    if rank > 3 and reduced_axes == list(range(2, rank)):
        return "InstanceNormalization"
    return "LayerNormalization"
