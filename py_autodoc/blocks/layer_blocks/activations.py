"""Activation functions in exported form: one operator, or a small subgraph of elementwise operators."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import COPY_OPS, input_at, reader_of, readers, scalar

SIMPLE = {
    "Relu": "Relu", "Sigmoid": "Sigmoid", "Tanh": "Tanh", "LeakyRelu": "LeakyRelu", "PRelu": "PRelu",
    "Elu": "Elu", "Selu": "Selu", "Celu": "Celu", "HardSigmoid": "HardSigmoid", "HardSwish": "HardSwish",
    "Mish": "Mish", "Gelu": "Gelu", "FastGelu": "Gelu", "BiasGelu": "Gelu", "QuickGelu": "QuickGelu",
    "Softplus": "Softplus", "Softsign": "Softsign", "ThresholdedRelu": "ThresholdedRelu", "Swish": "SiLU",
    "Silu": "SiLU", "QLinearLeakyRelu": "LeakyRelu", "QLinearSigmoid": "Sigmoid", "ScaledTanh": "Tanh",
    "QGelu": "Gelu",
}  # fmt: skip
"""Operator → name of the activation function."""
GATES = frozenset({"Sigmoid", "HardSigmoid", "QLinearSigmoid"})
_ARITHMETIC = frozenset({
    "Add", "Sub", "Mul", "Div", "Pow", "Neg", "Abs", "Exp", "Log", "Erf", "Tanh", "Sigmoid", "HardSigmoid",
    "Softplus", "Relu", "Clip", "Max", "Min", "Sum", "Reciprocal", "Sqrt", "Identity", "Cast",
    "QuantizeLinear", "DequantizeLinear",
})  # fmt: skip
_LARGEST = 16
"""Maximum nodes of a decomposed activation. Gelu by Tanh has 8, and more with quantization around each."""


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function: ``name``, its nodes and its output tensor."""

    name: str
    nodes: tuple[int, ...]
    output: int


def activation_of(flow: DataflowGraph, tensor: int) -> Activation | None:
    """Return the activation that consumes ``tensor``; None if there is none or other consumers exist."""
    if tensor < 0 or flow.model.tensors[tensor].is_output or tensor in flow.graph_outputs:
        return None
    after = flow.model.tensors[tensor].consumers
    if not after or len(after) > _LARGEST or len(flow.readers[tensor]) < len(after):
        return None
    if len(after) == 1:
        simple = _simple(flow, tensor, after[0])
        if simple is not None:
            return simple
    return _grow_group(flow, tensor)


def _simple(flow: DataflowGraph, tensor: int, number: int) -> Activation | None:
    """Match one operator, or Clip, Max or Min with constants."""
    passed: list[int] = []
    while (
        flow.op_types[number] in COPY_OPS and input_at(flow, number, 0) == tensor and len(passed) < _LARGEST
    ):
        passed.append(number)
        tensor = flow.first_outputs[number]
        number = reader_of(flow, tensor) if tensor >= 0 else -1
    name, node = flow.op_types[number], flow.nodes[number] if number >= 0 else None
    if node is None or not node.inputs or not node.outputs:
        return None
    if name in SIMPLE and node.inputs[0] == tensor:
        return Activation(SIMPLE[name], (*passed, number), node.outputs[0])
    if name == "Clip" and node.inputs[0] == tensor:
        return Activation(_clip_name(*clip_bounds(flow, number)), (*passed, number), node.outputs[0])
    if name == "Max" and len(node.inputs) == 2 and 0.0 in (scalar(flow, t) for t in node.inputs):
        return _max_with_zero(flow, (*passed, number), node.outputs[0])
    return None


def _max_with_zero(flow: DataflowGraph, nodes: tuple[int, ...], output: int) -> Activation:
    """Name Max(x, 0), or the clip that it forms with a Min after it."""
    after = reader_of(flow, output)
    if (
        flow.op_types[after] == "Min"
        and len(flow.nodes[after].inputs) == 2
        and flow.first_outputs[after] >= 0
    ):
        high = next((v for t in flow.nodes[after].inputs if (v := scalar(flow, t)) is not None), None)
        if high is not None:
            return Activation(_clip_name(0.0, high), (*nodes, after), flow.first_outputs[after])
    return Activation("Relu", nodes, output)


def _clip_name(low: float | None, high: float | None) -> str:
    if low == 0 and high == 6:
        return "ReLU6"
    if low == 0 and high is None:
        return "Relu"
    return "HardTanh" if low == -1 and high == 1 else "Clip"


def clip_bounds(flow: DataflowGraph, number: int) -> tuple[float | None, float | None]:
    """Return (min, max) of a Clip, None for each bound that is absent or unknown."""
    node = flow.nodes[number]
    bounds: list[float | None] = []
    for index, attribute in ((1, "min"), (2, "max")):
        bound = node.attributes.get(attribute)
        if isinstance(bound, (int, float)):
            # Opset 6 uses the limits of float32 for absent bounds.
            bounds.append(float(bound) if abs(bound) < 3e38 else None)
        else:
            tensor = node.inputs[index] if len(node.inputs) > index else -1
            bounds.append(scalar(flow, tensor))
    return bounds[0], bounds[1]


def _grow_group(flow: DataflowGraph, start: int) -> Activation | None:
    """Grow a group of elementwise nodes from ``start`` until only one tensor leaves it and it has a name."""
    first = readers(flow, start)
    if not any(
        flow.op_types[r] in _ARITHMETIC and all(t == start for t in flow.data_inputs[r]) for r in first
    ):
        return None
    inside: dict[int, None] = {start: None}
    nodes: list[int] = []
    pending = [(flow.position[r], r) for r in first]
    while pending and len(nodes) < _LARGEST:
        pending.sort()
        next_index = next(
            (index for index, (_, n) in enumerate(pending) if _reads_group_only(flow, n, inside)), -1
        )
        if next_index < 0:
            return None
        number = pending.pop(next_index)[1]
        if flow.op_types[number] not in _ARITHMETIC:
            return None
        output = flow.first_outputs[number]
        if output < 0:
            return None
        nodes.append(number)
        inside[output] = None
        members = set(nodes)
        waiting = {n for _, n in pending}
        pending += [(flow.position[r], r) for r in readers(flow, output) if r not in members | waiting]
        if _is_closed(flow, inside, members, output):
            name = _function_name(flow, nodes, start)
            if name:
                return _include_factor(flow, name, nodes, output)
    return None


def _reads_group_only(flow: DataflowGraph, number: int, inside: dict[int, None]) -> bool:
    """True if all data inputs of the node are inside the group."""
    return all(t in inside for t in flow.data_inputs[number])


def _is_closed(flow: DataflowGraph, inside: dict[int, None], nodes: set[int], last: int) -> bool:
    """True if all outputs except ``last`` are used only within the group."""
    tensors = flow.model.tensors
    return all(
        t == last
        or (
            not tensors[t].is_output
            and t not in flow.graph_outputs
            and bool(tensors[t].consumers)
            and all(reader in nodes for reader in tensors[t].consumers)
        )
        for t in inside
    )


def _function_name(flow: DataflowGraph, nodes: list[int], start: int) -> str:
    """Return the function that the group computes, from its operators; empty if unknown."""
    kinds = {flow.op_types[n] for n in nodes} - COPY_OPS
    if not kinds & {"Mul", "Max", "Sub", "Add", "Sum", "Div", "Min"} or not _is_self_product(
        flow, nodes, start
    ):
        return _piecewise(flow, kinds, nodes)
    if "Erf" in kinds and kinds <= {"Erf", "Mul", "Div", "Add"}:
        return "Gelu"
    if "Tanh" in kinds:
        if kinds & {"Softplus", "Exp", "Log"}:
            return "Mish" if kinds <= {"Tanh", "Softplus", "Exp", "Log", "Add", "Mul"} else ""
        polynomial = sum(flow.op_types[n] == "Mul" for n in nodes) >= 3 or "Pow" in kinds
        return "Gelu" if polynomial and kinds <= {"Tanh", "Mul", "Pow", "Add", "Div"} else ""
    if "Sigmoid" in kinds and kinds <= {"Sigmoid", "Mul"}:
        return "QuickGelu" if _scaled(flow, nodes, 1.702) else "SiLU"
    if "HardSigmoid" in kinds and kinds <= {"HardSigmoid", "Mul"}:
        return "HardSwish"
    if kinds <= {"Add", "Clip", "Min", "Max", "Relu", "Mul", "Div"} and kinds & {"Clip", "Min", "Relu"}:
        return "HardSwish" if "Add" in kinds and _has_add(flow, nodes, 3.0) else ""
    if "Exp" in kinds and kinds <= {"Exp", "Neg", "Add", "Div", "Mul", "Reciprocal"}:
        return "SiLU"
    return ""


def _is_self_product(flow: DataflowGraph, nodes: list[int], start: int) -> bool:
    """True if the group multiplies ``start``, or a multiple of it, by something computed from it."""
    multiples = {start}
    for number in nodes:
        data, name = flow.data_inputs[number], flow.op_types[number]
        if name in COPY_OPS and data and data[0] in multiples:
            multiples.add(flow.first_outputs[number])
        elif name in ("Mul", "Div"):
            if len(data) == 1 and data[0] in multiples:
                multiples.add(flow.first_outputs[number])
            elif len(data) == 2 and (data[0] in multiples) != (data[1] in multiples):
                return True
    return False


def _piecewise(flow: DataflowGraph, kinds: set[str], nodes: list[int]) -> str:
    """Match LeakyRelu as Max(x, a·x), PRelu as relu(x) - a·relu(-x), and the hard sigmoid as a clip."""
    if kinds == {"Max", "Mul"} and len(flow.data_inputs[nodes[-1]]) == 2:
        return "LeakyRelu"
    if "Relu" in kinds and "Neg" in kinds and kinds <= {"Relu", "Neg", "Mul", "Add", "Sub"}:
        return "PRelu" if flow.op_types[nodes[-1]] in ("Add", "Sub") else ""
    if kinds == {"Add", "Clip", "Div"} or kinds == {"Add", "Clip", "Mul"}:
        is_sequence = all(len(flow.data_inputs[n]) == 1 for n in nodes) and flow.op_types[nodes[0]] == "Add"
        return "HardSigmoid" if is_sequence and _has_add(flow, nodes, 3.0) else ""
    return ""


def _scaled(flow: DataflowGraph, nodes: list[int], by: float) -> bool:
    return any(
        flow.op_types[n] == "Mul" and (v := scalar(flow, t)) is not None and abs(v - by) < 1e-2
        for n in nodes
        for t in flow.constant_inputs[n]
    )


def _has_add(flow: DataflowGraph, nodes: list[int], value: float) -> bool:
    """True for an Add of this constant, or of a constant whose value is in another file."""
    for number in nodes:
        if flow.op_types[number] == "Add":
            for tensor in flow.constant_inputs[number]:
                addend = scalar(flow, tensor)
                if addend == value:
                    return True
    return False


def _include_factor(flow: DataflowGraph, name: str, nodes: list[int], output: int) -> Activation:
    """Include the constant factor that some exporters apply last: ½ for Gelu, ⅙ for HardSwish."""
    factors = {"Gelu": (0.5, 2.0), "HardSwish": (1 / 6, 6.0)}.get(name)
    if factors:
        number = reader_of(flow, output)
        if flow.op_types[number] in ("Mul", "Div"):
            values = [scalar(flow, t) for t in flow.constant_inputs[number]]
            expected = factors[0] if flow.op_types[number] == "Mul" else factors[1]
            if (
                any(v is not None and abs(v - expected) < 1e-3 for v in values)
                and flow.first_outputs[number] >= 0
            ):
                return Activation(name, (*nodes, number), flow.first_outputs[number])
    return Activation(name, tuple(nodes), output)
