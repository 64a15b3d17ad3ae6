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

    Raises: AnalysisError: ONNX Runtime rejects the model.
    """

    def __init__(
        self, path: PathLike, model: onnx.ModelProto, found: EditPoints, real: Mapping[str, Array]
    ) -> None:
        self.points, self._name = found, base_name(path)
        self._real = dict(real)
        self._places = {name: at for at, name in enumerate(found.data)}
        self._weights = {name: at for at, name in enumerate(found.weights)}
        self._rounded: dict[str, tuple[float, Array]] = {}
        self.outputs = [one.name for one in model.graph.output]
        built, self._renamed = _built(model, found)
        self._session = open_session(path, WHAT, proto=built)

    def run(self, sample: Sample, edits: Edits, names: Sequence[str]) -> list[Array]:
        """Return tensors for one sample: outputs, and data points before quantization."""
        feeds: dict[str, Any] = dict(sample)
        for tensor, (scale, zero) in edits.data.items():
            at, kind = self._places[tensor], self.points.data[tensor].dtype
            feeds[f"{_P}scale_{at}"] = np.array(scale, np.float32)
            feeds[f"{_P}zero_{at}"] = np.array(zero, kind)
        for tensor in edits.float_data:
            feeds[f"{_P}on_{self._places[tensor]}"] = np.array(False)
        for codes in {*edits.weights, *edits.float_weights}:
            feeds[f"{_P}weight_{self._weights[codes]}"] = self.weight(codes, edits)
        wanted = [self._renamed.get(name, name) for name in names]
        return [np.asarray(one) for one in run_session(self._session, wanted, feeds, self._name)]

    def weight(self, codes: str, edits: Edits) -> Array:
        """Return a weight in float32 as the model uses it."""
        if codes in edits.float_weights:
            return self.real(codes)
        factor = edits.weights.get(codes, 1.0)
        known = self._rounded.get(codes)
        if known is None or known[0] != factor:
            known = (factor, rounded(self.points.weights[codes], self.real(codes), factor))
            self._rounded[codes] = known
        return known[1]

    def real(self, codes: str) -> Array:
        """Return the float weight, or its dequantized codes."""
        found = self._real.get(codes)
        return stands_for(self.points.weights[codes]) if found is None else found


def stands_for(one: WeightPoint) -> Array:
    """Return the dequantized codes of a weight."""
    scale, zero = (along(part, one.axis, one.values.ndim) for part in (one.scale, one.zero_point))
    return dequantize(one.values, scale, zero)


def recoded(one: WeightPoint, real: Array, factor: float) -> Array:
    """Return the codes of real weights at the file's scales times a factor."""
    scale = along(np.asarray(one.scale * np.float32(factor)), one.axis, one.values.ndim)
    zero = along(one.zero_point, one.axis, one.values.ndim)
    return quantize(real, scale, zero, one.values.dtype)


def rounded(one: WeightPoint, real: Array, factor: float) -> Array:
    """Return real weights after Q and DQ at the file's scales times a factor."""
    if factor == 1.0:
        return stands_for(one)
    scale = along(np.asarray(one.scale * np.float32(factor)), one.axis, one.values.ndim)
    zero = along(one.zero_point, one.axis, one.values.ndim)
    return dequantize(recoded(one, real, factor), scale, zero)


def _built(model: onnx.ModelProto, found: EditPoints) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Return the graph with inputs for all edits, and names of tensors that differ in it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    del graph.value_info[:]
    quantizers = {one.node: (at, one) for at, one in enumerate(found.data.values())}
    weights = {one.node: (at, one) for at, one in enumerate(found.weights.values())}
    merged = {name: f"{_P}data_{at}" for at, one in quantizers.values() for name in one.outputs}
    renamed = {one.output: f"{_P}weight_{at}" for at, one in weights.values()} | merged
    outputs = {one.name for one in graph.output}
    nodes = list(graph.node)
    del graph.node[:]
    for place, node in enumerate(nodes):
        if place in quantizers:
            at, point = quantizers[place]
            tensor = renamed.get(point.tensor, point.tensor)
            if point.clamp != (None, None):
                before, tensor = tensor, f"{_P}clamped_{at}"
                made, stored = clamp_nodes(point.clamp, before, tensor)
                graph.node.extend(made)
                graph.initializer.extend(stored)
            graph.node.append(_if(at, point, tensor))
            _default(graph, f"{_P}scale_{at}", np.array(point.scale, np.float32))
            _default(graph, f"{_P}zero_{at}", np.array(point.zero_point, point.dtype))
            _default(graph, f"{_P}on_{at}", np.array(True))
        elif place in weights:
            at, weight = weights[place]
            _default(graph, f"{_P}weight_{at}", stands_for(weight))
        elif node.op_type == "DequantizeLinear" and node.output[0] in merged:
            if node.output[0] in outputs:
                graph.node.append(helper.make_node("Identity", [merged[node.output[0]]], [node.output[0]]))
        else:
            for at, name in enumerate(node.input):
                node.input[at] = renamed.get(name, name)
            graph.node.append(node)
    kept = {name for node in graph.node for name in node.input} | {one.name for one in graph.input} | outputs
    kept |= {
        name for node in graph.node for one in node.attribute for inner in one.g.node for name in inner.input
    }
    held = [one for one in graph.initializer if one.name in kept]
    del graph.initializer[:]
    graph.initializer.extend(held)
    have = set(outputs)
    watched = dict(renamed)
    for at, point in enumerate(found.data.values()):
        if point.clamp != (None, None):
            watched[point.tensor] = f"{_P}clamped_{at}"
        name = watched.get(point.tensor, point.tensor)
        if name not in have and name not in {one.name for one in model.graph.input}:
            graph.output.append(onnx.ValueInfoProto(name=name))
            have.add(name)
    return copy, {name: new for name, new in watched.items() if name not in outputs}


def _default(graph: onnx.GraphProto, name: str, value: Array) -> None:
    """Add an initializer that is also an input."""
    graph.initializer.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    graph.input.append(helper.make_tensor_value_info(name, kind, value.shape))


def _if(at: int, point: DataPoint, tensor: str) -> onnx.NodeProto:
    """Return a node that applies Q and DQ if the input says so, else passes the tensor on."""
    scale, zero = f"{_P}scale_{at}", f"{_P}zero_{at}"
    around = [
        helper.make_node("QuantizeLinear", [tensor, scale, zero], [f"{_P}codes_{at}"]),
        helper.make_node("DequantizeLinear", [f"{_P}codes_{at}", scale, zero], [f"{_P}then_{at}"]),
    ]
    plain = [helper.make_node("Identity", [tensor], [f"{_P}else_{at}"])]
    return helper.make_node(
        "If", [f"{_P}on_{at}"], [f"{_P}data_{at}"], name=f"{_P}if_{at}",
        then_branch=_branch(around, f"{_P}then_{at}"), else_branch=_branch(plain, f"{_P}else_{at}"),
    )  # fmt: skip


def _branch(nodes: list[onnx.NodeProto], output: str) -> onnx.GraphProto:
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, f"{output}_branch", [], [result])
