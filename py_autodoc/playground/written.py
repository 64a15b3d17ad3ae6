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
    outputs = targets(out, inputs=[source], force=force)
    with staging(outputs[0].path) as stage:
        onnx.save(model, stage / outputs[0].path.name, format="protobuf")
        finish(stage, outputs)


def edited(
    model: onnx.ModelProto, edit_points: EditPoints, edits: Edits, real: Mapping[str, Array], edits_json: str
) -> onnx.ModelProto:
    """Return a copy of a QDQ model with edits; ``real``: float weights, ``edits_json``: metadata entry."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    unmark(copy)
    graph = copy.graph
    stored = {initializer.name: initializer for initializer in graph.initializer}
    scales = {name: (point.scale, point.zero_point) for name, point in edit_points.data.items()}
    scales.update(edits.data)
    by_node = {point.node: point for point in edit_points.data.values()}
    for tensor in edits.data:
        if tensor not in edits.float_data:
            _rescaled(graph, edit_points.data[tensor], *edits.data[tensor])
    for codes in {*edits.weights} - edits.float_weights:
        point, factor = edit_points.weights[codes], edits.weights[codes]
        name = graph.node[point.node].input[1]
        edited_scale = f"{codes}_scale_edited"
        scale = numpy_helper.to_array(stored[name]) * np.float32(factor)
        graph.initializer.append(numpy_helper.from_array(np.asarray(scale, np.float32), edited_scale))
        graph.node[point.node].input[1] = edited_scale
        stored[codes].CopyFrom(numpy_helper.from_array(recoded(point, real[codes], factor), codes))
    replaced: dict[str, str] = {}
    dropped: set[int] = set()
    clamped: dict[int, list[onnx.NodeProto]] = {}
    for index, data_point in by_node.items():
        as_float = data_point.tensor in edits.float_data
        source = data_point.tensor
        if data_point.clamp != (None, None) and (as_float or data_point.tensor in edits.data):
            # The range in the file realized an activation function; an edited one may not.
            source = f"{data_point.tensor}_clamped"
            clamped[index], limits = clamp_nodes(data_point.clamp, data_point.tensor, source)
            graph.initializer.extend(limits)
            graph.node[index].input[0] = source
        if as_float:
            dropped.add(index)
            replaced.update(dict.fromkeys(data_point.outputs, source))
    makers = {name: index for index, node in enumerate(graph.node) for name in node.output}
    dropped |= {makers[name] for name in replaced}
    for codes in edits.float_weights:
        point = edit_points.weights[codes]
        dropped.add(point.node)
        graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(real[codes]), f"{codes}_float"))
        replaced[point.output] = f"{codes}_float"
    _biases(graph, edit_points, edits, scales, stored)
    nodes = [
        new_node
        for index, node in enumerate(graph.node)
        for new_node in (*clamped.get(index, ()), *(() if index in dropped else (node,)))
    ]
    outputs = {output.name for output in graph.output}
    ends = [
        helper.make_node("Identity", [_end(replaced, name)], [name]) for name in replaced if name in outputs
    ]
    for node in nodes:
        for number, name in enumerate(node.input):
            node.input[number] = _end(replaced, name)
    del graph.node[:]
    graph.node.extend([*nodes, *ends])
    read = {name for node in graph.node for name in node.input} | outputs
    used = [initializer for initializer in graph.initializer if initializer.name in read]
    del graph.initializer[:]
    graph.initializer.extend(used)
    del graph.value_info[:]
    for entry in [entry for entry in copy.metadata_props if entry.key == EDITS]:
        copy.metadata_props.remove(entry)
    copy.metadata_props.add(key=EDITS, value=edits_json)
    return copy


def _end(replaced: Mapping[str, str], name: str) -> str:
    while name in replaced:
        name = replaced[name]
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
    edit_points: EditPoints,
    edits: Edits,
    scales: Mapping[str, tuple[float, int]],
    stored: Mapping[str, onnx.TensorProto],
) -> None:
    """Requantize int32 biases, whose scale must be that of their products."""
    readers = {node.input[0]: node for node in graph.node if node.op_type == "DequantizeLinear"}
    for layer in edit_points.layers.values():
        touched = layer.data in edits.data or layer.weight in edits.weights
        as_float = layer.data in edits.float_data or layer.weight in edits.float_weights
        if not layer.bias or not layer.data or not touched or as_float:
            continue
        reader = readers[layer.bias]
        old = numpy_helper.to_array(stored[reader.input[1]]).astype(np.float64)
        weight = edit_points.weights[layer.weight].scale.astype(np.float64) * edits.weights.get(
            layer.weight, 1.0
        )
        new = np.broadcast_to(
            scales[layer.data][0] * weight.reshape(-1), old.shape if old.ndim else ()
        ).copy()
        values = numpy_helper.to_array(stored[layer.bias]).astype(np.float64) * old
        codes = np.clip(np.rint(values / new), -(2**31), 2**31 - 1).astype(np.int32)
        names = f"{layer.bias}_edited", f"{layer.bias}_scale_edited"
        graph.initializer.append(numpy_helper.from_array(codes, names[0]))
        graph.initializer.append(numpy_helper.from_array(new.astype(np.float32), names[1]))
        reader.input[0], reader.input[1] = names
