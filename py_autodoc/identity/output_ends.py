"""Ends of outputs: the last operator with weights, or the normalization, before each result."""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import CONV, COPY_OR_LAYOUT_OPS, NORMS, RECURRENT, is_linear
from py_autodoc.graph.ir.model import Dim, Shape

_BOUNDED = {
    "Sigmoid": "Sigmoid", "QLinearSigmoid": "Sigmoid", "HardSigmoid": "Sigmoid", "Softmax": "Softmax",
    "QLinearSoftmax": "Softmax", "LogSoftmax": "Softmax", "Tanh": "Tanh", "Relu": "Relu", "Clip": "Clip",
    "Exp": "Exp", "ArgMax": "ArgMax", "Softplus": "Softplus",
}  # fmt: skip
_FOLLOWED = COPY_OR_LAYOUT_OPS | frozenset({
    "Slice", "Gather", "TopK", "Resize", "Upsample", "Pad", "ReduceMax", "ReduceMean", "DepthToSpace",
    "Split", "GlobalAveragePool", "QLinearGlobalAveragePool", "AveragePool", "Sqrt", "Neg", "Abs", "Pow",
    "GatherND",
})  # fmt: skip
_SCALED = frozenset({"Add", "Sub", "Mul", "Div", "BatchNormalization", "Where", "QLinearAdd", "QLinearMul"})
_STEPS = 40


@dataclass(slots=True)
class OutputEnd:
    """The last part of the path to an output."""

    tensor: int
    shape: Shape | None
    node: int = -1
    """The last operator with weights, normalization or join; -1 if an input is reached."""
    kind: str = ""
    """``conv``, ``linear``, ``norm``, ``recurrent``, ``unit`` (divided by its length), ``join`` (two
    computed tensors), ``other``."""
    op: str = ""
    activation: str = ""
    """The last activation, such as ``Softmax``; empty if none."""
    passed: list[str] = field(default_factory=list)
    """Operators after it, last first."""
    joined: tuple[int, ...] = ()
    """Inputs of a join."""

    @property
    def width(self) -> int | None:
        """Size of the last axis."""
        return self.at(-1)

    def at(self, axis: int) -> int | None:
        """Return the size of an axis if it is a number."""
        if self.shape is None or not -len(self.shape) <= axis < len(self.shape):
            return None
        size: Dim = self.shape[axis]
        return size if isinstance(size, int) else None

    @property
    def rank(self) -> int:
        """Number of axes; -1 if unknown."""
        return -1 if self.shape is None else len(self.shape)

    @property
    def resized(self) -> bool:
        """True if its map was enlarged."""
        return bool({"Resize", "Upsample", "DepthToSpace"}.intersection(self.passed))


def end_of(flow: DataflowGraph, tensor: int, normalizing: frozenset[int]) -> OutputEnd:
    """Search backward from a tensor. ``normalizing``: nodes of decomposed normalizations."""
    end = OutputEnd(tensor, flow.shapes[tensor])
    for _ in range(_STEPS):
        number = flow.producers[tensor]
        if number < 0:
            return end
        name, data = flow.op_types[number], flow.data_inputs[number]
        if name in CONV:
            return _stop(end, number, "conv", name)
        if is_linear(flow, number):
            return _stop(end, number, "linear", name)
        if name in NORMS and name != "BatchNormalization":
            return _stop(end, number, "unit" if name == "LpNormalization" else "norm", name)
        if name == "Div" and len(data) == 2 and _length(flow, data[1]):
            return _stop(end, number, "unit", name)
        if number in normalizing:
            return _stop(end, number, "norm", name)
        if name in RECURRENT:
            return _stop(end, number, "recurrent", name)
        if name in _BOUNDED:
            end.activation = end.activation or _BOUNDED[name]
        elif name in _SCALED:
            data = _wide(flow, data)
            if len(data) > 1:
                end.joined = data
                return _stop(end, number, "join", name)
        elif name not in _FOLLOWED:
            end.joined = data
            return _stop(end, number, "other", name)
        end.passed.append(name)
        if not data:
            return end
        tensor = data[0]
    return end


def _wide(flow: DataflowGraph, data: tuple[int, ...]) -> tuple[int, ...]:
    """Return the operands of arithmetic that are results, without scalars and scales of lower rank."""
    shapes = {t: flow.shapes[t] for t in data}
    max_rank = max((len(shape) for shape in shapes.values() if shape is not None), default=0)
    return tuple(
        t
        for t, shape in shapes.items()
        if shape is None or (any(d != 1 for d in shape) and (len(shape) == max_rank or len(shape) > 1))
    )


def _stop(end: OutputEnd, node: int, kind: str, op: str) -> OutputEnd:
    end.node, end.kind, end.op = node, kind, op
    return end


def _length(flow: DataflowGraph, tensor: int) -> bool:
    """True for the length of a vector, however computed."""
    for _ in range(8):
        number = flow.producers[tensor]
        name = flow.op_types[number]
        if name == "ReduceL2":
            return True
        if name in (
            "Clip",
            "Max",
            "Add",
            "Expand",
            "Sqrt",
            "Pow",
            "Cast",
            "Identity",
            "Reshape",
            "Unsqueeze",
        ):
            data = flow.data_inputs[number]
            if not data:
                return False
            tensor = data[0]
            continue
        return name in ("ReduceSum", "ReduceSumSquare")
    return False
