"""Find the quantized operations of a model: integer operators, and Q/DQ groups equivalent to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.quantize.proto_graph import ProtoGraph
from py_autodoc.quantize.reference import OPERATORS
from py_autodoc.quantize.reference.arithmetic import Array
from py_autodoc.quantize.reference.block_weights import BITS, MATMUL_NBITS
from py_autodoc.quantize.reference.saturation import FACTORS
from py_autodoc.quantize.rewrites import becomes_unsigned

_Q, _DQ = "QuantizeLinear", "DequantizeLinear"
_CLAMPS = ("Relu", "Clip")
_INTEGER = ("ConvInteger", "MatMulInteger", "DynamicQuantizeLinear")
_STEPS = 64
_COMPUTE = ("Conv", "Gemm", "MatMul", "ConvTranspose", MATMUL_NBITS)
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
    """``operator``: in the file; ``qdq``: a float operator between Q/DQ; ``integer``: returns int32;
    ``weights``: a float product with quantized weights."""
    nodes: tuple[str, ...]
    operands: tuple[QuantizedOperand | None, ...]
    attributes: dict[str, Any]
    outputs: tuple[str, ...]
    clamp: str = ""
    """``Relu`` or ``Clip`` that is realized by the output's range."""
    unsigned: frozenset[int] = frozenset()
    """Positions of s8 operands that an optimized session on x86 rewrites to u8."""


@dataclass
class QuantizedModel:
    """Operations to document, and operators that stay in float."""

    operations: list[QuantizedOperation] = field(default_factory=list)
    floats: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Node → its operator and the reason why it computes in float."""
    producers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tensor → the operator that produces it and that operator's first input."""

    def source(self, tensor: str) -> tuple[int | None, tuple[str, ...]]:
        """Return the index of the operation whose codes a tensor has, and the operators that pass them on."""
        by_output = {
            name: index for index, operation in enumerate(self.operations) for name in operation.outputs
        }
        through: list[str] = []
        for _ in range(_STEPS):
            if tensor in by_output:
                return by_output[tensor], tuple(reversed(through))
            producer = self.producers.get(tensor)
            if producer is None:
                break
            through.append(producer[0])
            tensor = producer[1]
        return None, ()


def find_operations(proto: onnx.ModelProto) -> QuantizedModel:
    """Return all quantized operations of the main graph in its order."""
    graph = _Graph(proto)
    model = QuantizedModel()
    # Names that are not UTF-8 are read as bytes and cannot be passed to a session.
    if any(not isinstance(name, str) for name in (*graph.producers, *graph.readers)):
        return model
    for node in proto.graph.node:
        operation = graph.operation(node)
        if isinstance(operation, QuantizedOperation):
            model.operations.append(operation)
        elif operation:
            model.floats[_name(node)] = (node.op_type, operation)
    model.producers = {
        name: (node.op_type, node.input[0]) for node in proto.graph.node if node.input for name in node.output
    }
    return model


def _name(node: onnx.NodeProto) -> str:
    found_ = node.name or node.output[0]
    return found_ if isinstance(found_, str) else bytes(found_).decode("utf-8", "backslashreplace")


class _Graph(ProtoGraph):
    """The main graph, from which operations are read."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        super().__init__(proto)
        self.opset = next(
            (entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), 1
        )
        self.output_quantizers: set[str] = set()
        """Outputs of Q that belong to a preceding operation."""

    def operation(self, node: onnx.NodeProto) -> QuantizedOperation | str | None:
        """Return the operation of a node, the reason why it is float, or None if it is neither."""
        if node.op_type == _Q:
            return None if node.output[0] in self.output_quantizers else self._from_node(node, "operator")
        if node.op_type == _DQ:
            return self._leaving(node)
        if node.op_type == MATMUL_NBITS:
            return self._with_block_weights(node)
        if node.op_type in OPERATORS:
            return self._from_node(node, "integer" if node.op_type in _INTEGER else "operator")
        if node.op_type not in _LISTED and node.op_type not in _COMPUTE:
            return None
        result = self._float_group(node) if node.op_type in _LISTED else "no integer form is known"
        if isinstance(result, str):
            quantized = any(self._dequantized(name) for name in node.input)
            return result if quantized or node.op_type in _COMPUTE else None
        return result

    def _from_node(self, node: onnx.NodeProto, form: str) -> QuantizedOperation:
        operands = tuple(self._operand(name) for name in node.input)
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        name = _name(node)
        return QuantizedOperation(name, node.op_type, form, (name,), operands, attributes, tuple(node.output))

    def _with_block_weights(self, node: onnx.NodeProto) -> QuantizedOperation | str:
        """Return a product with constant weights in blocks, or the reason for none."""
        if len(node.input) > 4 and node.input[4]:
            return "its weights are reordered (g_idx)"
        parts = [name for name in node.input[1:4] if name]
        if any(name not in self.constants for name in parts):
            return "its weights are computed"
        found = self._from_node(node, "weights")
        return found if int(found.attributes.get("bits", 4)) in BITS else "its weights have unusual bits"

    def _leaving(self, node: onnx.NodeProto) -> QuantizedOperation | None:
        """Return a DQ through which float operators read a computed tensor."""
        if self._operand(node.input[0]) is None or node.input[0] in self.constants:
            return None
        readers = self.readers.get(node.output[0], [])
        inside = readers and node.output[0] not in self.outputs
        if inside and all(
            reader.op_type in _LISTED
            and isinstance(self._float_group(reader, dry_run=True), QuantizedOperation)
            for reader in readers
        ):
            return None
        return self._from_node(node, "operator")

    def _operand(self, name: str) -> QuantizedOperand | None:
        if not name:
            return None
        constant = self.constants.get(name)
        return QuantizedOperand(name, None if constant is None else numpy_helper.to_array(constant))

    def _dequantized(self, name: str) -> onnx.NodeProto | None:
        node = self.producers.get(name)
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

    def _float_group(self, node: onnx.NodeProto, dry_run: bool = False) -> QuantizedOperation | str:
        """Return the integer operator equivalent to a float one between DQ and Q, or the reason for none."""
        dequantizers = [self._dequantized(name) for name in node.input if name]
        if any(item is None for item in dequantizers) or not dequantizers:
            return "it reads a float tensor"
        after = self._quantized(node)
        if isinstance(after, str):
            return after
        reader, clamp, names = after
        inputs = [self._linear(item.input) for item in dequantizers if item is not None]
        output = self._linear(reader.input)
        if output is None or any(item is None for item in inputs):
            return "a scale or zero point is computed"
        linear_inputs = [item for item in inputs if item is not None]
        if clamp and not _clamped(clamp, output):
            return f"{clamp} differs from the output's range"
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        lowered = _LOWERED[node.op_type](linear_inputs, output, attributes, self.opset)
        if isinstance(lowered, str):
            return lowered
        op_type, operands, settings = lowered
        if not dry_run:
            self.output_quantizers.add(reader.output[0])
        node_names = (*names, _name(reader))
        unsigned = frozenset(
            position
            for position, item in zip(_positions(op_type), dequantizers, strict=False)
            if item is not None
            and becomes_unsigned(item, self.constants, self.producers, self.readers, self.outputs)
        )
        return QuantizedOperation(
            names[0],
            op_type,
            "qdq",
            node_names,
            tuple(operands),
            settings,
            (reader.output[0],),
            clamp,
            unsigned,
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


def _positions(op_type: str) -> tuple[int, ...]:
    """Return the positions of a product's two operands."""
    return tuple(position for factors in FACTORS.get(op_type, ()) for position in (factors.a, factors.b))


@dataclass(frozen=True)
class _Linear:
    tensor: QuantizedOperand
    scale: QuantizedOperand
    zero: QuantizedOperand | None

    def with_params(self) -> list[QuantizedOperand | None]:
        return [self.tensor, *self.params()]

    def params(self) -> list[QuantizedOperand | None]:
        return [self.scale, self.zero or QuantizedOperand("", np.zeros((), self.dtype()))]

    def dtype(self) -> Any:
        if self.zero is not None and self.zero.value is not None:
            return self.zero.value.dtype
        return np.uint8 if self.tensor.value is None else self.tensor.value.dtype

    def per_tensor(self) -> bool:
        return self.scale.value is not None and self.scale.value.size == 1


def _clamped(clamp: str, output: _Linear) -> bool:
    """True if the minimum code represents the real 0, so that saturation acts as Relu."""
    dtype = np.dtype(output.dtype())
    if clamp != "Relu" or dtype.kind not in "iu":
        return False
    stored = None if output.zero is None else output.zero.value
    zero = 0 if stored is None or not stored.size else int(stored.reshape(-1)[0])
    return zero == int(np.iinfo(dtype).min)


Lowered = tuple[str, list["QuantizedOperand | None"], dict[str, Any]]
Lowering = Callable[[list[_Linear], _Linear, dict[str, Any], int], "Lowered | str"]
_BY_CHANNEL = "a data tensor has a scale for each channel"


def _all_per_tensor(tensors: Iterator[_Linear]) -> bool:
    return all(item.per_tensor() for item in tensors)


def _conv(inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _all_per_tensor(iter((inputs[0], output))):
        return _BY_CHANNEL
    if inputs[1].tensor.value is None:
        return "its weights are computed"
    bias = [inputs[2].tensor] if len(inputs) > 2 else []
    return (
        "QLinearConv",
        [*inputs[0].with_params(), *inputs[1].with_params(), *output.params(), *bias],
        attributes,
    )


def _gemm(inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _all_per_tensor(iter((inputs[0], output))):
        return _BY_CHANNEL
    if attributes.get("beta", 1.0) != 1.0:
        return "beta is not 1"
    passed_on = {name: value for name, value in attributes.items() if name in ("alpha", "transA", "transB")}
    bias = inputs[2].tensor if len(inputs) > 2 else None
    return "QGemm", [*inputs[0].with_params(), *inputs[1].with_params(), bias, *output.params()], passed_on


def _matmul(inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _all_per_tensor(iter((inputs[0], output))):
        return _BY_CHANNEL
    return "QLinearMatMul", [*inputs[0].with_params(), *inputs[1].with_params(), *output.params()], {}


def _binary(op_type: str) -> Lowering:
    def lower(
        inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int
    ) -> Lowered | str:
        if len(inputs) != 2 or not _all_per_tensor(iter((*inputs, output))):
            return _BY_CHANNEL
        return op_type, [*inputs[0].with_params(), *inputs[1].with_params(), *output.params()], {}

    return lower


def _unary(op_type: str) -> Lowering:
    def lower(
        inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int
    ) -> Lowered | str:
        if len(inputs) != 1 or not _all_per_tensor(iter((*inputs, output))):
            return _BY_CHANNEL
        more = {"opset": opset} if op_type == "QLinearSoftmax" else {}
        return op_type, [*inputs[0].with_params(), *output.params()], {**attributes, **more}

    return lower


def _concat(inputs: list[_Linear], output: _Linear, attributes: dict[str, Any], opset: int) -> Lowered | str:
    if not _all_per_tensor(iter((*inputs, output))):
        return _BY_CHANNEL
    parts = [operand for tensor in inputs for operand in tensor.with_params()]
    return "QLinearConcat", [*output.params(), *parts], {"axis": attributes["axis"]}


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
