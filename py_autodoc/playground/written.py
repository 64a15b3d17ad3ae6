"""Write the edited model: new scales and codes, float layers without Q and DQ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.outputs.marks import unmark
from py_autodoc.playground.edits import Edits
from py_autodoc.playground.live import recoded
from py_autodoc.playground.points import DataPoint, EditPoints, clamp_nodes
from py_autodoc.quantize.reference.arithmetic import Array
from py_autodoc.tags.model_files import finish, staging, targets

EDITS = "onnx_autodoc.edits"
"""Metadata key of the edits."""


def write(model: onnx.ModelProto, out: PathLike, source: PathLike, force: bool) -> None:
    """Write a model atomically. Raises: OutputError."""
    places = targets(out, inputs=[source], force=force)
    with staging(places[0].path) as stage:
        onnx.save(model, stage / places[0].path.name)
        finish(stage, places)


def edited(
    model: onnx.ModelProto, found: EditPoints, edits: Edits, real: Mapping[str, Array], noted: str
) -> onnx.ModelProto:
    """Return a copy of a QDQ model with edits; ``real``: float weights, ``noted``: metadata entry."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    unmark(copy)
    graph = copy.graph
    stored = {one.name: one for one in graph.initializer}
    scales = {name: (one.scale, one.zero_point) for name, one in found.data.items()}
    scales.update(edits.data)
    by_node = {one.node: one for one in found.data.values()}
    for tensor in edits.data:
        if tensor not in edits.float_data:
            _rescaled(graph, found.data[tensor], *edits.data[tensor])
    for codes in {*edits.weights} - edits.float_weights:
        point, factor = found.weights[codes], edits.weights[codes]
        name = graph.node[point.node].input[1]
        own = f"{codes}_scale_edited"
        scale = numpy_helper.to_array(stored[name]) * np.float32(factor)
        graph.initializer.append(numpy_helper.from_array(np.asarray(scale, np.float32), own))
        graph.node[point.node].input[1] = own
        stored[codes].CopyFrom(numpy_helper.from_array(recoded(point, real[codes], factor), codes))
    gone: dict[str, str] = {}
    dropped: set[int] = set()
    clamped: dict[int, list[onnx.NodeProto]] = {}
    for place, held in by_node.items():
        plain = held.tensor in edits.float_data
        source = held.tensor
        if held.clamp != (None, None) and (plain or held.tensor in edits.data):
            # The range in the file realized an activation function; an edited one may not.
            source = f"{held.tensor}_clamped"
            clamped[place], limits = clamp_nodes(held.clamp, held.tensor, source)
            graph.initializer.extend(limits)
            graph.node[place].input[0] = source
        if plain:
            dropped.add(place)
            gone.update(dict.fromkeys(held.outputs, source))
    makers = {name: place for place, node in enumerate(graph.node) for name in node.output}
    dropped |= {makers[name] for name in gone}
    for codes in edits.float_weights:
        point = found.weights[codes]
        dropped.add(point.node)
        graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(real[codes]), f"{codes}_float"))
        gone[point.output] = f"{codes}_float"
    _biases(graph, found, edits, scales, stored)
    nodes = [
        one
        for place, node in enumerate(graph.node)
        for one in (*clamped.get(place, ()), *(() if place in dropped else (node,)))
    ]
    outputs = {one.name for one in graph.output}
    ends = [helper.make_node("Identity", [_end(gone, name)], [name]) for name in gone if name in outputs]
    for node in nodes:
        for at, name in enumerate(node.input):
            node.input[at] = _end(gone, name)
    del graph.node[:]
    graph.node.extend([*nodes, *ends])
    read = {name for node in graph.node for name in node.input} | outputs
    kept = [one for one in graph.initializer if one.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    del graph.value_info[:]
    for entry in [one for one in copy.metadata_props if one.key == EDITS]:
        copy.metadata_props.remove(entry)
    copy.metadata_props.add(key=EDITS, value=noted)
    return copy


def _end(gone: Mapping[str, str], name: str) -> str:
    while name in gone:
        name = gone[name]
    return name


def _rescaled(graph: onnx.GraphProto, point: DataPoint, scale: float, zero: int) -> None:
    """Add a separate scale and zero point, since those in the file may be shared with other tensors."""
    names = f"{point.tensor}_scale_edited", f"{point.tensor}_zero_point_edited"
    graph.initializer.append(numpy_helper.from_array(np.array(scale, np.float32), names[0]))
    graph.initializer.append(numpy_helper.from_array(np.array(zero, point.dtype), names[1]))
    outputs = {point.codes, *point.outputs}
    for node in graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and node.output[0] in outputs:
            node.input[1], node.input[2] = names


def _biases(
    graph: onnx.GraphProto,
    found: EditPoints,
    edits: Edits,
    scales: Mapping[str, tuple[float, int]],
    stored: Mapping[str, onnx.TensorProto],
) -> None:
    """Requantize int32 biases, whose scale must be that of their products."""
    readers = {node.input[0]: node for node in graph.node if node.op_type == "DequantizeLinear"}
    for layer in found.layers.values():
        touched = layer.data in edits.data or layer.weight in edits.weights
        plain = layer.data in edits.float_data or layer.weight in edits.float_weights
        if not layer.bias or not layer.data or not touched or plain:
            continue
        reader = readers[layer.bias]
        old = numpy_helper.to_array(stored[reader.input[1]]).astype(np.float64)
        weight = found.weights[layer.weight].scale.astype(np.float64) * edits.weights.get(layer.weight, 1.0)
        new = np.broadcast_to(
            scales[layer.data][0] * weight.reshape(-1), old.shape if old.ndim else ()
        ).copy()
        values = numpy_helper.to_array(stored[layer.bias]).astype(np.float64) * old
        codes = np.clip(np.rint(values / new), -(2**31), 2**31 - 1).astype(np.int32)
        names = f"{layer.bias}_edited", f"{layer.bias}_scale_edited"
        graph.initializer.append(numpy_helper.from_array(codes, names[0]))
        graph.initializer.append(numpy_helper.from_array(new.astype(np.float32), names[1]))
        reader.input[0], reader.input[1] = names
