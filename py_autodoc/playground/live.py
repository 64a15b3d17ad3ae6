"""A session in which scales, zero points and precisions are inputs with defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session
from py_autodoc.playground.edits import Edits
from py_autodoc.playground.points import DataPoint, EditPoints, WeightPoint, clamp_nodes
from py_autodoc.quantize.reference.arithmetic import Array, along, dequantize, quantize
from py_autodoc.samples import Sample

WHAT = "The playground"
_P = "autodoc_"


class Live:
    """Runs a QDQ model with edits. Edited values are inputs with initializers, so the session is reused.

    Products are computed in float on values after Q and DQ; integer kernels can round and saturate
    differently.

    Args:
        path: the model, for messages.
        model: the QDQ model with its weights.
        found: the edit points.
        real: float weights by the name of the codes; missing ones are dequantized from the codes.

    Raises: ModelRefused: ONNX Runtime refuses the model.
    """

    def __init__(
        self, path: PathLike, model: onnx.ModelProto, edit_points: EditPoints, real: Mapping[str, Array]
    ) -> None:
        self.points, self._name = edit_points, base_name(path)
        self._real = dict(real)
        self._data = {name: index for index, name in enumerate(edit_points.data)}
        self._weights = {name: index for index, name in enumerate(edit_points.weights)}
        self._rounded: dict[str, tuple[float, Array]] = {}
        self.outputs = [output.name for output in model.graph.output]
        built, self._renamed = _built(model, edit_points)
        self._session = open_session(path, WHAT, proto=built)

    def run(self, sample: Sample, edits: Edits, names: Sequence[str]) -> list[Array]:
        """Return tensors for one sample: outputs, and data points before quantization."""
        inputs: dict[str, Any] = dict(sample)
        for tensor, (scale, zero) in edits.data.items():
            index, kind = self._data[tensor], self.points.data[tensor].dtype
            inputs[f"{_P}scale_{index}"] = np.array(scale, np.float32)
            inputs[f"{_P}zero_{index}"] = np.array(zero, kind)
        for tensor in edits.float_data:
            inputs[f"{_P}on_{self._data[tensor]}"] = np.array(False)
        for codes in {*edits.weights, *edits.float_weights}:
            inputs[f"{_P}weight_{self._weights[codes]}"] = self.weight(codes, edits)
        requested = [self._renamed.get(name, name) for name in names]
        return [np.asarray(value) for value in run_session(self._session, requested, inputs, self._name)]

    def weight(self, codes: str, edits: Edits) -> Array:
        """Return a weight in float32 as the model uses it."""
        if codes in edits.float_weights:
            return self.real(codes)
        factor = edits.weights.get(codes, 1.0)
        cached = self._rounded.get(codes)
        if cached is None or cached[0] != factor:
            cached = (factor, rounded(self.points.weights[codes], self.real(codes), factor))
            self._rounded[codes] = cached
        return cached[1]

    def real(self, codes: str) -> Array:
        """Return the float weight, or its dequantized codes."""
        weight = self._real.get(codes)
        return dequantized(self.points.weights[codes]) if weight is None else weight


def dequantized(point: WeightPoint) -> Array:
    """Return the dequantized codes of a weight."""
    scale, zero = (along(values, point.axis, point.values.ndim) for values in (point.scale, point.zero_point))
    return dequantize(point.values, scale, zero)


def recoded(point: WeightPoint, real: Array, factor: float) -> Array:
    """Return the codes of real weights at the file's scales times a factor."""
    scale = along(np.asarray(point.scale * np.float32(factor)), point.axis, point.values.ndim)
    zero = along(point.zero_point, point.axis, point.values.ndim)
    return quantize(real, scale, zero, point.values.dtype)


def rounded(point: WeightPoint, real: Array, factor: float) -> Array:
    """Return real weights after Q and DQ at the file's scales times a factor."""
    if factor == 1.0:
        return dequantized(point)
    scale = along(np.asarray(point.scale * np.float32(factor)), point.axis, point.values.ndim)
    zero = along(point.zero_point, point.axis, point.values.ndim)
    return dequantize(recoded(point, real, factor), scale, zero)


def _built(model: onnx.ModelProto, edit_points: EditPoints) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Return the graph with inputs for all edits, and names of tensors that differ in it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    del graph.value_info[:]
    quantizers = {point.node: (index, point) for index, point in enumerate(edit_points.data.values())}
    weights = {point.node: (index, point) for index, point in enumerate(edit_points.weights.values())}
    merged = {name: f"{_P}data_{index}" for index, point in quantizers.values() for name in point.outputs}
    renamed = {point.output: f"{_P}weight_{index}" for index, point in weights.values()} | merged
    outputs = {value.name for value in graph.output}
    nodes = list(graph.node)
    del graph.node[:]
    for number, node in enumerate(nodes):
        if number in quantizers:
            index, point = quantizers[number]
            tensor = renamed.get(point.tensor, point.tensor)
            if point.clamp != (None, None):
                before, tensor = tensor, f"{_P}clamped_{index}"
                clamp, stored = clamp_nodes(point.clamp, before, tensor)
                graph.node.extend(clamp)
                graph.initializer.extend(stored)
            graph.node.append(_if(index, point, tensor))
            _default(graph, f"{_P}scale_{index}", np.array(point.scale, np.float32))
            _default(graph, f"{_P}zero_{index}", np.array(point.zero_point, point.dtype))
            _default(graph, f"{_P}on_{index}", np.array(True))
        elif number in weights:
            index, weight = weights[number]
            _default(graph, f"{_P}weight_{index}", dequantized(weight))
        elif node.op_type == "DequantizeLinear" and node.output[0] in merged:
            if node.output[0] in outputs:
                graph.node.append(helper.make_node("Identity", [merged[node.output[0]]], [node.output[0]]))
        else:
            for index, name in enumerate(node.input):
                node.input[index] = renamed.get(name, name)
            graph.node.append(node)
    used = (
        {name for node in graph.node for name in node.input} | {value.name for value in graph.input} | outputs
    )
    used |= {
        name
        for node in graph.node
        for attribute in node.attribute
        for inner in attribute.g.node
        for name in inner.input
    }
    initializers = [initializer for initializer in graph.initializer if initializer.name in used]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    exposed = set(outputs)
    watched = dict(renamed)
    for index, point in enumerate(edit_points.data.values()):
        if point.clamp != (None, None):
            watched[point.tensor] = f"{_P}clamped_{index}"
        name = watched.get(point.tensor, point.tensor)
        if name not in exposed and name not in {value.name for value in model.graph.input}:
            graph.output.append(onnx.ValueInfoProto(name=name))
            exposed.add(name)
    return copy, {name: new for name, new in watched.items() if name not in outputs}


def _default(graph: onnx.GraphProto, name: str, value: Array) -> None:
    """Add an initializer that is also an input."""
    graph.initializer.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    graph.input.append(helper.make_tensor_value_info(name, kind, value.shape))


def _if(index: int, point: DataPoint, tensor: str) -> onnx.NodeProto:
    """Return a node that applies Q and DQ if the input says so, else passes the tensor on."""
    scale, zero = f"{_P}scale_{index}", f"{_P}zero_{index}"
    quantized = [
        helper.make_node("QuantizeLinear", [tensor, scale, zero], [f"{_P}codes_{index}"]),
        helper.make_node("DequantizeLinear", [f"{_P}codes_{index}", scale, zero], [f"{_P}then_{index}"]),
    ]
    unchanged = [helper.make_node("Identity", [tensor], [f"{_P}else_{index}"])]
    return helper.make_node(
        "If",
        [f"{_P}on_{index}"],
        [f"{_P}data_{index}"],
        name=f"{_P}if_{index}",
        then_branch=_branch(quantized, f"{_P}then_{index}"),
        else_branch=_branch(unchanged, f"{_P}else_{index}"),
    )


def _branch(nodes: list[onnx.NodeProto], output: str) -> onnx.GraphProto:
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, f"{output}_branch", [], [result])
