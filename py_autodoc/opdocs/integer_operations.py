"""Find the quantized operations of a model: integer operators, and Q/DQ groups equivalent to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.quantize.reference import OPERATORS
from py_autodoc.quantize.reference.arithmetic import Array

_Q, _DQ = "QuantizeLinear", "DequantizeLinear"
_CLAMPS = ("Relu", "Clip")
_STEPS = 64
_COMPUTE = ("Conv", "Gemm", "MatMul", "ConvTranspose", "MatMulNBits")
_LISTED = frozenset({"Conv", "Gemm", "MatMul", "Add", "Mul", "AveragePool", "GlobalAveragePool", "Sigmoid",
                     "LeakyRelu", "Concat", "Softmax"})  # fmt: skip


@dataclass(frozen=True)
class QuantizedOperand:
    """An input of an operation: a computed tensor or a constant."""

    tensor: str
    value: Array | None = None


@dataclass(frozen=True)
class QuantizedOperation:
    """An integer operation as the reference computes it."""

    name: str
    op_type: str
    """Operator of the reference."""
    form: str
    """``operator``: in the file; ``qdq``: a float operator between Q/DQ; ``integer``: returns int32."""
    nodes: tuple[str, ...]
    operands: tuple[QuantizedOperand | None, ...]
    attributes: dict[str, Any]
    outputs: tuple[str, ...]
    clamp: str = ""
    """``Relu`` or ``Clip`` that is realized by the output's range."""


@dataclass
class QuantizedModel:
    """Operations to document, and operators that stay in float."""

    operations: list[QuantizedOperation] = field(default_factory=list)
    floats: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Node → its operator and the reason why it computes in float."""
    makers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tensor → the operator that produces it and that operator's first input."""

    def source(self, tensor: str) -> tuple[int | None, tuple[str, ...]]:
        """Return the index of the operation whose codes a tensor has, and the operators that pass them on."""
        given = {name: at for at, one in enumerate(self.operations) for name in one.outputs}
        through: list[str] = []
        for _ in range(_STEPS):
            if tensor in given:
                return given[tensor], tuple(reversed(through))
            made = self.makers.get(tensor)
            if made is None:
                break
            through.append(made[0])
            tensor = made[1]
        return None, ()


def found(proto: onnx.ModelProto) -> QuantizedModel:
    """Return all quantized operations of the main graph in its order."""
    graph = _Graph(proto)
    done = QuantizedModel()
    # Names that are not UTF-8 are read as bytes and cannot be passed to a session.
    if any(not isinstance(name, str) for name in (*graph.made, *graph.readers)):
        return done
    for node in proto.graph.node:
        made = graph.operation(node)
        if isinstance(made, QuantizedOperation):
            done.operations.append(made)
        elif made:
            done.floats[_name(node)] = (node.op_type, made)
    done.makers = {
        name: (node.op_type, node.input[0]) for node in proto.graph.node if node.input for name in node.output
    }
    return done


def _name(node: onnx.NodeProto) -> str:
    found_ = node.name or node.output[0]
    return found_ if isinstance(found_, str) else bytes(found_).decode("utf-8", "backslashreplace")


class _Graph:
    """Producers and readers of tensors, and the constants."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        graph = proto.graph
        self.constants = {one.name: one for one in graph.initializer}
        self.constants.update(
            (node.output[0], attribute.t)
            for node in graph.node
            if node.op_type == "Constant"
            for attribute in node.attribute
            if attribute.name == "value"
        )
        self.made = {name: node for node in graph.node for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.outputs = {one.name for one in graph.output}
        self.opset = next((one.version for one in proto.opset_import if one.domain in ("", "ai.onnx")), 1)
        self.taken: set[str] = set()
        """Outputs of Q that belong to a preceding operation."""

    def operation(self, node: onnx.NodeProto) -> QuantizedOperation | str | None:
        """Return the operation of a node, the reason why it is float, or None if it is neither."""
        if node.op_type == _Q:
            return None if node.output[0] in self.taken else self._plain(node, "operator")
        if node.op_type == _DQ:
            return self._leaving(node)
        if node.op_type in OPERATORS:
            integer = node.op_type.endswith("Integer") or node.op_type.startswith("Dynamic")
            return self._plain(node, "integer" if integer else "operator")
        if node.op_type not in _LISTED and node.op_type not in _COMPUTE:
            return None
        made = self._group(node) if node.op_type in _LISTED else "no integer form is known"
        if isinstance(made, str):
            quantized = any(self._dequantized(name) for name in node.input)
            return made if quantized or node.op_type in _COMPUTE else None
        return made

    def _plain(self, node: onnx.NodeProto, form: str) -> QuantizedOperation:
        operands = tuple(self._operand(name) for name in node.input)
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        name = _name(node)
        return QuantizedOperation(name, node.op_type, form, (name,), operands, attributes, tuple(node.output))

    def _leaving(self, node: onnx.NodeProto) -> QuantizedOperation | None:
        """Return a DQ through which float operators read a computed tensor."""
        if self._operand(node.input[0]) is None or node.input[0] in self.constants:
            return None
        readers = self.readers.get(node.output[0], [])
        inside = readers and node.output[0] not in self.outputs
        if inside and all(
            one.op_type in _LISTED and isinstance(self._group(one, ask=True), QuantizedOperation)
            for one in readers
        ):
            return None
        return self._plain(node, "operator")

    def _operand(self, name: str) -> QuantizedOperand | None:
        if not name:
            return None
        held = self.constants.get(name)
        return QuantizedOperand(name, None if held is None else numpy_helper.to_array(held))

    def _dequantized(self, name: str) -> onnx.NodeProto | None:
        node = self.made.get(name)
        return node if node is not None and node.op_type == _DQ else None

    def _quantized(self, node: onnx.NodeProto) -> tuple[onnx.NodeProto, str, list[str]] | str:
        """Return the Q that reads an operator, possibly through a clamp realized by its range."""
        out, clamp, names = node.output[0], "", [_name(node)]
        for _ in range(2):
            readers = self.readers.get(out, [])
            if out in self.outputs or len(readers) != 1:
                return "its result is read in float"
            reader = readers[0]
            if reader.op_type == _Q:
                return reader, clamp, names
            if reader.op_type not in _CLAMPS or clamp:
                return f"its result is read by {reader.op_type} in float"
            out, clamp = reader.output[0], reader.op_type
            names.append(_name(reader))
        return "its result is read in float"

    def _group(self, node: onnx.NodeProto, ask: bool = False) -> QuantizedOperation | str:
        """Return the integer operator equivalent to a float one between DQ and Q, or the reason for none."""
        reads = [self._dequantized(name) for name in node.input if name]
        if any(one is None for one in reads) or not reads:
            return "it reads a float tensor"
        after = self._quantized(node)
        if isinstance(after, str):
            return after
        reader, clamp, names = after
        sides = [self._linear(one.input) for one in reads if one is not None]
        made = self._linear(reader.input)
        if made is None or any(one is None for one in sides):
            return "a scale or zero point is computed"
        given = [one for one in sides if one is not None]
        if clamp and not _clamped(clamp, made):
            return f"{clamp} differs from the output's range"
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        lowered = _LOWERED[node.op_type](given, made, attributes, self.opset)
        if isinstance(lowered, str):
            return lowered
        op_type, operands, settings = lowered
        if not ask:
            self.taken.add(reader.output[0])
        whole = (*names, _name(reader))
        return QuantizedOperation(
            names[0], op_type, "qdq", whole, tuple(operands), settings, (reader.output[0],), clamp
        )

    def _linear(self, names: Any) -> _Linear | None:
        """Return the input of a Q or DQ: a tensor with constant scale and zero point."""
        tensor, scale = self._operand(names[0]), self._operand(names[1])
        zero = self._operand(names[2]) if len(names) > 2 and names[2] else None
        if (
            tensor is None
            or scale is None
            or scale.value is None
            or (zero is not None and zero.value is None)
        ):
            return None
        return _Linear(tensor, scale, zero)


@dataclass(frozen=True)
class _Linear:
    tensor: QuantizedOperand
    scale: QuantizedOperand
    zero: QuantizedOperand | None

    def three(self) -> list[QuantizedOperand | None]:
        return [self.tensor, *self.two()]

    def two(self) -> list[QuantizedOperand | None]:
        return [self.scale, self.zero or QuantizedOperand("", np.zeros((), self.dtype()))]

    def dtype(self) -> Any:
        if self.zero is not None and self.zero.value is not None:
            return self.zero.value.dtype
        return np.uint8 if self.tensor.value is None else self.tensor.value.dtype

    def single(self) -> bool:
        return self.scale.value is not None and self.scale.value.size == 1


def _clamped(clamp: str, made: _Linear) -> bool:
    """True if the minimum code represents the real 0, so that saturation acts as Relu."""
    zero = 0 if made.zero is None or made.zero.value is None else int(made.zero.value.reshape(-1)[0])
    return clamp == "Relu" and zero == int(np.iinfo(made.dtype()).min)


Lowered = tuple[str, list["QuantizedOperand | None"], dict[str, Any]]
Lowering = Callable[[list[_Linear], _Linear, dict[str, Any], int], "Lowered | str"]
_BY_CHANNEL = "a data tensor has a scale for each channel"


def _whole(sides: Iterator[_Linear]) -> bool:
    return all(one.single() for one in sides)


def _conv(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _whole(iter((sides[0], made))):
        return _BY_CHANNEL
    if sides[1].tensor.value is None:
        return "its weights are computed"
    bias = [sides[2].tensor] if len(sides) > 2 else []
    return "QLinearConv", [*sides[0].three(), *sides[1].three(), *made.two(), *bias], attributes


def _gemm(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _whole(iter((sides[0], made))):
        return _BY_CHANNEL
    if attributes.get("beta", 1.0) != 1.0:
        return "beta is not 1"
    kept = {name: value for name, value in attributes.items() if name in ("alpha", "transA", "transB")}
    bias = sides[2].tensor if len(sides) > 2 else None
    return "QGemm", [*sides[0].three(), *sides[1].three(), bias, *made.two()], kept


def _matmul(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _whole(iter((sides[0], made))):
        return _BY_CHANNEL
    return "QLinearMatMul", [*sides[0].three(), *sides[1].three(), *made.two()], {}


def _binary(op_type: str) -> Lowering:
    def lower(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
        if len(sides) != 2 or not _whole(iter((*sides, made))):
            return _BY_CHANNEL
        return op_type, [*sides[0].three(), *sides[1].three(), *made.two()], {}

    return lower


def _unary(op_type: str) -> Lowering:
    def lower(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
        if len(sides) != 1 or not _whole(iter((*sides, made))):
            return _BY_CHANNEL
        more = {"opset": opset} if op_type == "QLinearSoftmax" else {}
        return op_type, [*sides[0].three(), *made.two()], {**attributes, **more}

    return lower


def _concat(sides: list[_Linear], made: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _whole(iter((*sides, made))):
        return _BY_CHANNEL
    parts = [one for side in sides for one in side.three()]
    return "QLinearConcat", [*made.two(), *parts], {"axis": attributes["axis"]}


_LOWERED: dict[str, Lowering] = {
    "Conv": _conv,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Add": _binary("QLinearAdd"),
    "Mul": _binary("QLinearMul"),
    "AveragePool": _unary("QLinearAveragePool"),
    "GlobalAveragePool": _unary("QLinearGlobalAveragePool"),
    "Sigmoid": _unary("QLinearSigmoid"),
    "LeakyRelu": _unary("QLinearLeakyRelu"),
    "Softmax": _unary("QLinearSoftmax"),
    "Concat": _concat,
}
