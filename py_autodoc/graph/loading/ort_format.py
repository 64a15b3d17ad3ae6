"""Models in the ORT format of ONNX Runtime, as the ONNX models that they hold.

Slots and numbers are those of the schema, onnxruntime/core/flatbuffers/schema/ort.fbs. Types, attributes and
weights are ONNX's. What only a session needs (kernels, edges, runtime optimizations) is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import onnx
from onnx import AttributeProto

from py_autodoc.errors import CorruptModel, InputError, LimitError
from py_autodoc.graph.protobuf.flatbuffers import FlatBufferFault, FlatTable, root
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file

_MARK = b"ORTM"
MAX_BYTES = (1 << 31) - 1
"""Maximum bytes of a FlatBuffers file, whose references are 32 bits."""
_MAX_DEPTH = 100
"""Maximum nesting of subgraphs and of types."""
_NO_VERSION = (1 << 63) - 1
"""Version of a model that has none."""
_TENSOR, _SEQUENCE, _MAP = 1, 2, 3
"""Kinds of a type."""


def ort_model(path: PathLike) -> bytes | None:
    """Return a model in the ORT format as a serialized protobuf; None if the file is none.

    Raises:
        PathError: it is not a regular file.
        LimitError: it is larger than ``MAX_BYTES``.
        CorruptModel: it is damaged.
        InputError: its weights are in another file.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        if os.read(fd, 8)[4:] != _MARK:
            return None
        if status.st_size > MAX_BYTES:
            text = f"{name}: {status.st_size:,} bytes, the limit of the ORT format is {MAX_BYTES:,}."
            raise LimitError("file_bytes", status.st_size, MAX_BYTES, text)
        with os.fdopen(os.dup(fd), "rb") as file:
            file.seek(0)
            data = file.read(MAX_BYTES + 1)
    try:
        session = root(data)
        model = session.table(6)
        if model is None:
            raise FlatBufferFault("it has no model")
        serialized: bytes = _model(model, session.text(4)).SerializeToString()
        return serialized
    except FlatBufferFault as fault:
        hint = "The file is damaged. Use the .onnx file it was made from."
        raise CorruptModel(f"{name}: not a valid ORT-format model: {fault}.", hint) from None
    except _ExternalWeights:
        raise InputError(
            "ort-external-weights",
            f"{name} is an ORT-format model with its weights in another file.",
            "Use the .onnx file it was made from.",
        ) from None


class _ExternalWeights(Exception):
    """A weight is in a file that the model does not name."""


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _model(table: FlatTable, runtime: bytes) -> onnx.ModelProto:
    model = onnx.ModelProto()
    model.ir_version = table.integer(4, "<q")
    model.producer_name, model.producer_version = _text(table.text(8)), _text(table.text(10))
    version = table.integer(14, "<q")
    model.domain, model.model_version = _text(table.text(12)), 0 if version == _NO_VERSION else version
    model.doc_string = _text(table.text(16))
    for entry in table.tables(22):
        model.metadata_props.add(key=_text(entry.text(4)), value=_text(entry.text(6)))
    if runtime:
        model.metadata_props.add(key="ort_format_version", value=_text(runtime))
    graph = table.table(18)
    if graph is None:
        raise FlatBufferFault("it has no graph")
    _graph(graph, model.graph, 0)
    model.graph.name, model.graph.doc_string = "main", _text(table.text(20))
    used = {"", *_domains(model.graph)}
    for entry in table.tables(6):  # all that the session knew
        domain = _text(entry.text(4))
        if domain.removeprefix("ai.onnx") in used or domain in used:
            model.opset_import.add(domain=domain, version=entry.integer(6, "<q"))
    return model


def _domains(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield the domain of each node, also in subgraphs."""
    for node in graph.node:
        yield node.domain
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _domains(subgraph)


def _graph(table: FlatTable, graph: onnx.GraphProto, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise FlatBufferFault(f"it has more than {_MAX_DEPTH} levels of subgraphs")
    for entry in table.tables(4):
        _tensor(entry, graph.initializer.add())
    for entry in table.tables(18):
        _sparse_tensor(entry, graph.sparse_initializer.add())
    for entry in sorted(table.tables(8), key=lambda node: node.integer(12, "<I")):
        _node(entry, graph.node.add(), depth)
    values = {_text(entry.text(4)): entry for entry in table.tables(6)}
    inputs, outputs = ([_text(text) for text in table.texts(slot)] for slot in (14, 16))
    for ports, names in ((graph.input, inputs), (graph.output, outputs)):
        for name in names:
            _value(values.get(name), name, ports.add())
    produced = {name for node in graph.node for name in node.output} - {"", *outputs}
    for name in sorted(produced & values.keys()):
        _value(values[name], name, graph.value_info.add())


def _node(table: FlatTable, node: onnx.NodeProto, depth: int) -> None:
    node.name, node.doc_string = _text(table.text(4)), _text(table.text(6))
    node.domain, node.op_type = _text(table.text(8)), _text(table.text(14))
    node.input.extend(map(_text, table.texts(20)))
    node.output.extend(map(_text, table.texts(22)))
    for entry in table.tables(24):
        _attribute(entry, node.attribute.add(), depth)


def _attribute(table: FlatTable, attribute: AttributeProto, depth: int) -> None:
    attribute.name, attribute.doc_string = _text(table.text(4)), _text(table.text(6))
    kind = table.integer(8)
    if kind not in AttributeProto.AttributeType.values():
        raise FlatBufferFault(f"an attribute has the unknown type {kind}")
    attribute.type = kind
    read = _ATTRIBUTES.get(kind)
    if read is not None:
        read(table, attribute)
    elif kind == AttributeProto.GRAPH and (graph := table.table(18)) is not None:
        _graph(graph, attribute.g, depth + 1)
        attribute.g.name = attribute.name  # required in ONNX; the format has none
    elif kind == AttributeProto.GRAPHS:
        for graph in table.tables(28):
            _graph(graph, attribute.graphs.add(name=attribute.name), depth + 1)


def _one_tensor(table: FlatTable, attribute: AttributeProto) -> None:
    entry = table.table(16)
    if entry is not None:
        _tensor(entry, attribute.t)


def _tensors(table: FlatTable, attribute: AttributeProto) -> None:
    for entry in table.tables(26):
        _tensor(entry, attribute.tensors.add())


_ATTRIBUTES: dict[int, Callable[[FlatTable, AttributeProto], Any]] = {
    AttributeProto.FLOAT: lambda t, a: setattr(a, "f", t.number(10, "<f")),
    AttributeProto.INT: lambda t, a: setattr(a, "i", t.integer(12, "<q")),
    AttributeProto.STRING: lambda t, a: setattr(a, "s", t.text(14)),
    AttributeProto.TENSOR: _one_tensor,
    AttributeProto.FLOATS: lambda t, a: a.floats.extend(t.numbers(20, "f")),
    AttributeProto.INTS: lambda t, a: a.ints.extend(t.numbers(22, "q")),
    AttributeProto.STRINGS: lambda t, a: a.strings.extend(t.texts(24)),
    AttributeProto.TENSORS: _tensors,
}
"""Type of an attribute without subgraphs → what reads its value."""


def _tensor(table: FlatTable, tensor: onnx.TensorProto) -> None:
    tensor.name, tensor.doc_string = _text(table.text(4)), _text(table.text(6))
    tensor.dims.extend(int(size) for size in table.numbers(8, "q"))
    tensor.data_type = table.integer(10)
    if table.integer(16, "<q", -1) >= 0:
        raise _ExternalWeights
    if tensor.data_type == onnx.TensorProto.STRING:
        tensor.string_data.extend(table.texts(14))
    else:
        tensor.raw_data = table.raw(12)


def _sparse_tensor(table: FlatTable, sparse: onnx.SparseTensorProto) -> None:
    for slot, tensor in ((4, sparse.values), (6, sparse.indices)):
        entry = table.table(slot)
        if entry is not None:
            _tensor(entry, tensor)
    sparse.dims.extend(int(size) for size in table.numbers(8, "q"))


def _value(table: FlatTable | None, name: str, value: onnx.ValueInfoProto) -> None:
    value.name = name
    if table is None:
        return
    value.doc_string = _text(table.text(6))
    kind = table.table(8)
    if kind is not None:
        _type(kind, value.type, 0)


def _type(table: FlatTable, proto: onnx.TypeProto, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise FlatBufferFault(f"it has a type of more than {_MAX_DEPTH} levels")
    proto.denotation = _text(table.text(4))
    kind, entry = table.integer(6, "<B"), table.table(8)
    if entry is None:
        return
    if kind == _TENSOR:
        proto.tensor_type.elem_type = entry.integer(4)
        shape = entry.table(6)
        if shape is not None:
            _shape(shape, proto.tensor_type.shape)
    elif kind == _SEQUENCE and (element := entry.table(4)) is not None:
        _type(element, proto.sequence_type.elem_type, depth + 1)
    elif kind == _MAP:
        proto.map_type.key_type = entry.integer(4)
        value = entry.table(6)
        if value is not None:
            _type(value, proto.map_type.value_type, depth + 1)


_VALUE, _PARAM = 1, 2
"""Kinds of a dimension: its size, or its name."""


def _shape(table: FlatTable, shape: onnx.TensorShapeProto) -> None:
    shape.SetInParent()
    for entry in table.tables(4):
        dim = shape.dim.add(denotation=_text(entry.text(6)))
        value = entry.table(4)
        kind = value.integer(4, "<b") if value is not None else 0
        if value is not None and kind == _VALUE:
            dim.dim_value = value.integer(6, "<q")
        elif value is not None and kind == _PARAM:
            dim.dim_param = _text(value.text(8))
