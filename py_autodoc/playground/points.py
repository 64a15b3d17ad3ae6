"""Edit points of a QDQ model: data between a Q and its DQs, and stored weights before a DQ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.quantize.reference.arithmetic import Array, limits

_Q, _DQ = "QuantizeLinear", "DequantizeLinear"
_BIAS = np.dtype(np.int32)


Clamp = tuple[float | None, float | None]
"""Minimum and maximum output of an activation function."""


@dataclass(frozen=True)
class DataPoint:
    """A computed tensor with one scale and zero point."""

    tensor: str
    """The float tensor that is quantized."""
    codes: str
    """The output of the Q."""
    node: int
    """Index of the Q."""
    scale: float
    zero_point: int
    dtype: np.dtype[np.generic]
    outputs: tuple[str, ...]
    """Outputs of the DQs that read the codes."""
    clamp: Clamp = (None, None)
    """Activation realized by the range: quantizers remove a Relu or Clip if the range does the same."""


@dataclass(frozen=True)
class WeightPoint:
    """Stored codes with one scale, or one per channel."""

    codes: str
    output: str
    """The output of the DQ."""
    node: int
    """Index of the DQ."""
    values: Array
    scale: Array
    zero_point: Array
    axis: int


@dataclass(frozen=True)
class EditableLayer:
    """A node with a quantized weight."""

    name: str
    op_type: str
    node: int
    weight: str
    """Codes of a ``WeightPoint``."""
    data: str
    """Tensor of a ``DataPoint``; empty if its input is float."""
    bias: str
    """Initializer of int32 codes; empty if it has none."""


@dataclass(frozen=True)
class EditPoints:
    """Edit points by name, in the order of the file."""

    data: dict[str, DataPoint]
    weights: dict[str, WeightPoint]
    layers: dict[str, EditableLayer]


def points(model: onnx.ModelProto, clamps: Mapping[str, Clamp] | None = None) -> EditPoints:
    """Return all edit points of the main graph; scales that the model computes cannot be edited.

    ``clamps`` are those of the float model; None if it is unknown: a range that begins at 0 then counts as a
    Relu.
    """
    stored = {initializer.name: initializer for initializer in model.graph.initializer}
    readers: dict[str, list[tuple[int, onnx.NodeProto]]] = {}
    for index, node in enumerate(model.graph.node):
        for name in node.input:
            readers.setdefault(name, []).append((index, node))
    data: dict[str, DataPoint] = {}
    weights: dict[str, WeightPoint] = {}
    for index, node in enumerate(model.graph.node):
        if node.op_type == _Q and node.input[0] not in stored:
            point = _data(index, node, stored, readers.get(node.output[0], []))
            if point is not None:
                least, _ = limits(point.dtype)
                guess: Clamp = (0.0 if point.zero_point == least else None, None)
                clamp = guess if clamps is None else clamps.get(point.tensor, (None, None))
                data[point.tensor] = replace(point, clamp=clamp)
        elif node.op_type == _DQ and node.input[0] in stored:
            weight = _weight(index, node, stored)
            if weight is not None:
                weights[weight.codes] = weight
    by_output = {point.output: point for point in weights.values()}
    by_copy = {name: point.tensor for point in data.values() for name in point.outputs}
    biases = {
        node.output[0]: node.input[0]
        for node in model.graph.node
        if node.op_type == _DQ
        and node.input[0] in stored
        and stored[node.input[0]].data_type == onnx.TensorProto.INT32
    }
    layers: dict[str, EditableLayer] = {}
    for index, node in enumerate(model.graph.node):
        quantized_inputs = [by_output[name] for name in node.input if name in by_output]
        if node.op_type in (_Q, _DQ) or not quantized_inputs:
            continue
        bias = next((biases[name] for name in node.input[2:] if name in biases), "")
        name = node.name or node.output[0]
        layers[name] = EditableLayer(
            name, node.op_type, index, quantized_inputs[0].codes, by_copy.get(node.input[0], ""), bias
        )
    return EditPoints(data, weights, layers)


def _data(
    index: int,
    node: onnx.NodeProto,
    stored: dict[str, onnx.TensorProto],
    readers: list[tuple[int, onnx.NodeProto]],
) -> DataPoint | None:
    scale = stored.get(node.input[1])
    zero = stored.get(node.input[2]) if len(node.input) > 2 else None
    if scale is None or zero is None or not readers or any(reader.op_type != _DQ for _, reader in readers):
        return None
    scales, zeros = numpy_helper.to_array(scale), numpy_helper.to_array(zero)
    if scales.size != 1 or scales.dtype != np.float32 or zeros.dtype.kind not in "iu":
        return None
    outputs = tuple(reader.output[0] for _, reader in readers)
    return DataPoint(
        node.input[0], node.output[0], index, float(scales.item()), int(zeros.item()), zeros.dtype, outputs
    )


def _weight(index: int, node: onnx.NodeProto, stored: dict[str, onnx.TensorProto]) -> WeightPoint | None:
    if any(name not in stored for name in node.input[1:] if name):
        return None
    values, scale = (numpy_helper.to_array(stored[name]) for name in node.input[:2])
    if values.dtype == _BIAS or values.dtype.kind not in "iu" or scale.dtype != np.float32 or scale.ndim > 1:
        return None
    zero = (
        numpy_helper.to_array(stored[node.input[2]])
        if len(node.input) > 2 and node.input[2]
        else np.zeros_like(scale, values.dtype)
    )
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    if any(attribute.name == "block_size" and attribute.i for attribute in node.attribute):
        return None
    return WeightPoint(node.input[0], node.output[0], index, values, scale, zero, axis % max(values.ndim, 1))


def clamps_in(model: onnx.ModelProto) -> dict[str, Clamp]:
    """Return the limits of Relu, and of Clip with stored limits, by output tensor."""
    stored = {initializer.name: initializer for initializer in model.graph.initializer}
    stored.update(
        (node.output[0], attribute.t)
        for node in model.graph.node
        if node.op_type == "Constant"
        for attribute in node.attribute
        if attribute.name == "value"
    )
    clamps: dict[str, Clamp] = {}
    for node in model.graph.node:
        if node.op_type == "Relu":
            clamps[node.output[0]] = (0.0, None)
        elif node.op_type == "Clip":
            limits = {attribute.name: attribute.f for attribute in node.attribute}
            for position, name in ((1, "min"), (2, "max")):
                limit = stored.get(node.input[position]) if len(node.input) > position else None
                if limit is not None:
                    limits[name] = float(numpy_helper.to_array(limit).reshape(-1)[0])
            clamps[node.output[0]] = (limits.get("min"), limits.get("max"))
    return clamps


def clamp_nodes(
    clamp: Clamp, tensor: str, output: str
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """Return a Relu, or Max and Min with their limits, from one tensor to another."""
    low, high = clamp
    if low == 0 and high is None:
        return [helper.make_node("Relu", [tensor], [output])], []
    nodes: list[onnx.NodeProto] = []
    stored: list[onnx.TensorProto] = []
    for op_type, value in (("Max", low), ("Min", high)):
        if value is None:
            continue
        stored.append(numpy_helper.from_array(np.array(value, np.float32), f"{output}_{op_type.lower()}"))
        result = output if op_type == "Min" or high is None else f"{output}_low"
        nodes.append(helper.make_node(op_type, [tensor, stored[-1].name], [result]))
        tensor = result
    return nodes, stored
