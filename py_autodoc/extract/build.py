"""The sub-model as a protobuf, with the weights it needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

import onnx
import onnx_ir as ir

from py_autodoc.errors import AnalysisError, ExternalDataError
from py_autodoc.extract.sub_model_parts import SubModelParts
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.external_data import location_hint
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, content_of
from py_autodoc.tags.map_types import TYPE
from py_autodoc.tags.tag_storage import nested_nodes

EXTRACTED = "autodoc.extracted"
"""Metadata of a sub-model: its source model, the selection, and whether it is convex."""
EXPANDED = "autodoc.expanded."
"""Metadata left on nodes by expanding functions; not part of the file."""
_T = onnx.TensorProto
_ALIGN = 64

Types = Mapping[str, onnx.TypeProto]
"""Types that the file does not declare, by value name."""


def sub_model(
    source: onnx.ModelProto,
    parts: SubModelParts,
    nodes: Mapping[ir.Node, onnx.NodeProto],
    types: Types,
    name: str,
) -> onnx.ModelProto:
    """Build the sub-model; its weights remain references to the source file.

    Args:
        source: the model's structure.
        parts: the parts to include.
        nodes: the protobuf of every node of ``source``.
        types: types of external inputs that the file does not declare.
        name: name of the source file, for metadata and errors.

    Raises:
        AnalysisError: the type of an input is unknown.
    """
    selection = parts.selection
    model = onnx.ModelProto()
    for field in ("ir_version", "producer_name", "producer_version", "domain", "model_version"):
        setattr(model, field, getattr(source, field))
    model.opset_import.extend(source.opset_import)
    model.functions.extend(source.functions)
    model.metadata_props.extend(
        # A part of a model has no task, even if the whole model has one.
        entry
        for entry in source.metadata_props
        if not decode_text(entry.key).startswith(("autodoc.", "hf_"))
    )
    record = {"from": name, "target": selection.target, "call": selection.call, "convex": parts.convex}
    model.metadata_props.add(key=EXTRACTED, value=json.dumps(record, ensure_ascii=False))
    graph = model.graph
    graph.name = re.sub(r"[^A-Za-z0-9_.]+", "_", selection.target).strip("_") or "model"
    graph.node.extend(nodes[node] for node in parts.nodes)
    for node in graph.node:
        for inner in nested_nodes(node):
            entries = [
                entry for entry in inner.metadata_props if not decode_text(entry.key).startswith(EXPANDED)
            ]
            del inner.metadata_props[:]
            inner.metadata_props.extend(entries)
    graph.input.extend(_value(value, types, name) for value in parts.external_inputs)
    graph.output.extend(_value(value, types, name) for value in parts.outputs)
    graph.value_info.extend(_declared(value) for value in parts.internal if value.type is not None)
    _weights(source, parts, graph, name)
    return model


def _weights(source: onnx.ModelProto, parts: SubModelParts, graph: onnx.GraphProto, name: str) -> None:
    missing = {value.name for value in parts.initializers}
    for owner in _graphs(source):
        for tensor in owner.initializer:
            if tensor.name in missing:
                graph.initializer.append(tensor)
                missing.discard(tensor.name)
        for sparse in owner.sparse_initializer:
            if sparse.values.name in missing:
                graph.sparse_initializer.append(sparse)
                missing.discard(sparse.values.name)
    if missing:
        raise AnalysisError(
            "extract-weights", f"{name}: {min(map(str, missing))}: the value is not in the file."
        )


def _graphs(source: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    yield source.graph
    for top in source.graph.node:
        for node in nested_nodes(top):
            for attribute in node.attribute:
                yield from nested(attribute)


def _declared(value: ir.Value) -> onnx.ValueInfoProto:
    info: onnx.ValueInfoProto = ir.to_proto(value)
    del info.metadata_props[:]
    if TYPE in value.meta:
        info.type.CopyFrom(value.meta[TYPE])
    return info


def _value(value: ir.Value, types: Types, name: str) -> onnx.ValueInfoProto:
    label = str(value.name)
    if (value.type is not None or TYPE in value.meta) and label not in types:
        return _declared(value)
    if label not in types:
        raise AnalysisError(
            "extract-type",
            f"{name}: the type of {label} is unknown, so it cannot be an input or output.",
            "Run onnx.shape_inference on the model and try again.",
        )
    return onnx.ValueInfoProto(name=label, type=types[label])


def is_tensor(value: ir.Value) -> bool:
    """Return True for a tensor, False for sequences and the like."""
    return isinstance(value.type, ir.TensorType)


def tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield all tensors in a graph and its subgraphs: initializers, sparse ones, attributes."""
    pending = [graph]
    while pending:
        current = pending.pop()
        yield from current.initializer
        for sparse in current.sparse_initializer:
            yield from (sparse.values, sparse.indices)
        for node in current.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                    yield from (sparse.values, sparse.indices)
                pending.extend(nested(attribute))


def external_tensors(
    graph: onnx.GraphProto, files: TensorFiles, name: str
) -> list[tuple[onnx.TensorProto, TensorContent]]:
    """Return tensors with data elsewhere, and the location of the data.

    Raises: ExternalDataError: they cannot be read.
    """
    tensors = []
    for tensor in tensors_of(graph):
        if tensor.data_location == _T.EXTERNAL:
            try:
                tensors.append((tensor, content_of(tensor, files)))
            except UnreadableTensor as reason:
                raise unreadable_tensor_error(name, tensor, reason) from None
    return tensors


def inline(
    tensors: list[tuple[onnx.TensorProto, TensorContent]], name: str, check: Callable[[], None] | None = None
) -> None:
    """Put the bytes into the tensors. Raises: ExternalDataError, and what ``check`` raises between pieces."""
    for tensor, content in tensors:
        pieces = []
        try:
            for piece in content.pieces():
                if check is not None:
                    check()
                pieces.append(piece)
            data = b"".join(pieces)
        except UnreadableTensor as reason:
            raise unreadable_tensor_error(name, tensor, reason) from None
        clear_external_data(tensor)
        tensor.raw_data = data


def write_external(
    tensors: list[tuple[onnx.TensorProto, TensorContent]], out: BinaryIO, location: str, name: str
) -> None:
    """Write the bytes to ``out`` and refer to it as ``location``. Raises: ExternalDataError, OSError."""
    offset = 0
    for tensor, content in tensors:
        padding = -offset % _ALIGN
        out.write(b"\0" * padding)
        offset += padding
        start = offset
        try:
            for piece in content.pieces():
                out.write(piece)
                offset += len(piece)
        except UnreadableTensor as reason:
            raise unreadable_tensor_error(name, tensor, reason) from None
        clear_external_data(tensor)
        tensor.data_location = _T.EXTERNAL
        for key, value in (("location", location), ("offset", str(start)), ("length", str(offset - start))):
            tensor.external_data.add(key=key, value=value)


def clear_external_data(tensor: onnx.TensorProto) -> None:
    """Remove a tensor's reference to external data."""
    del tensor.external_data[:]
    tensor.ClearField("data_location")


def unreadable_tensor_error(
    name: str, tensor: onnx.TensorProto, reason: UnreadableTensor
) -> ExternalDataError:
    """Return an error with the tensor that cannot be read, and the reason."""
    hint = reason.hint or location_hint(reason.code, "")
    return ExternalDataError(reason.code, f"{name}: {tensor.name or 'a constant'}: {reason}.", hint)
