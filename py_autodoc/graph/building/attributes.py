"""Node attributes as plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import onnx

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.protobuf.tensor_protos import const_sparse, const_tensor, declared_type

_A = onnx.AttributeProto
NO_ATTRIBUTES: Mapping[str, Any] = {}
"""Shared by all nodes without attributes."""
OpenGraph = Callable[[str, onnx.GraphProto], int]
"""(attribute name, subgraph) → id of the new graph."""

_VALUE_GETTERS: dict[int, Callable[[Any], Any]] = {
    _A.FLOAT: lambda a: a.f,
    _A.INT: lambda a: a.i,
    _A.STRING: lambda a: decode_text(a.s),
    _A.TENSOR: lambda a: const_tensor(a.t),
    _A.SPARSE_TENSOR: lambda a: const_sparse(a.sparse_tensor),
    _A.TYPE_PROTO: lambda a: type_text(a.tp),
    _A.FLOATS: lambda a: list(a.floats),
    _A.INTS: lambda a: list(a.ints),
    _A.STRINGS: lambda a: [decode_text(s) for s in a.strings],
    _A.TENSORS: lambda a: [const_tensor(t) for t in a.tensors],
    _A.SPARSE_TENSORS: lambda a: [const_sparse(t) for t in a.sparse_tensors],
    _A.TYPE_PROTOS: lambda a: [type_text(t) for t in a.type_protos],
}
_SINGLE = (("f", _A.FLOAT), ("i", _A.INT), ("s", _A.STRING), ("t", _A.TENSOR), ("g", _A.GRAPH))
_LISTS = (
    ("floats", _A.FLOATS),
    ("ints", _A.INTS),
    ("strings", _A.STRINGS),
    ("tensors", _A.TENSORS),
    ("graphs", _A.GRAPHS),
)


def attribute_type(attribute: onnx.AttributeProto) -> int:
    """Return the AttributeType, inferred from the fields that are set if the file omits it; 0 if unknown."""
    if attribute.type:
        return int(attribute.type)
    for field, kind in _SINGLE:
        if attribute.HasField(field):
            return int(kind)
    for field, kind in _LISTS:
        if len(getattr(attribute, field)):
            return int(kind)
    return 0


def decode(attribute: onnx.AttributeProto, kind: int, name: str, open_graph: OpenGraph) -> Any:
    """Return the value of an attribute; a graph becomes the id that ``open_graph`` returns."""
    getter = _VALUE_GETTERS.get(kind)
    if getter is not None:
        return getter(attribute)
    if kind == _A.GRAPH:
        return open_graph(name, attribute.g)
    if kind == _A.GRAPHS:
        return [open_graph(name, graph) for graph in attribute.graphs]
    return None


class AttributeReader:
    """Reads the attributes of all nodes and checks their types against the operator schemas."""

    def __init__(self, opsets: Mapping[str, int], notes: DiagnosticCollector) -> None:
        self._opsets = opsets
        self._notes = notes
        self._types: dict[tuple[str, str], Mapping[str, int]] = {}

    def read(
        self, node: onnx.NodeProto, number: int, label: str, domain: str, op_type: str, open_graph: OpenGraph
    ) -> Mapping[str, Any]:
        """Return the attributes by name, keeping the first duplicate. Adds ``bad-attribute`` diagnostics."""
        if not len(node.attribute):
            return NO_ATTRIBUTES
        values: dict[str, Any] = {}
        expected_types: Mapping[str, int] | None = None
        for attribute in node.attribute:
            name = decode_text(attribute.name)
            kind = attribute_type(attribute)
            if expected_types is None:
                expected_types = self._types.get((domain, op_type)) or self._schema(domain, op_type)
            if expected_types.get(name, kind) != kind:
                message = f"{name[:80]} is {_kind_name(kind)}, must be {_kind_name(expected_types[name])}."
                self._notes.add("bad-attribute", message, label, number)
            if name in values:
                self._notes.add("bad-attribute", f"{name[:80]} is given twice.", label, number)
            else:
                values[name] = decode(attribute, kind, name, open_graph)
        return values

    def _schema(self, domain: str, op_type: str) -> Mapping[str, int]:
        types: dict[str, int] = {}
        opset = self._opsets.get(domain, 0)
        if opset > 0 and onnx.defs.has(op_type, domain):
            try:
                schema = onnx.defs.get_schema(op_type, min(opset, 1 << 30), domain)
                types = {name: int(attribute.type) for name, attribute in schema.attributes.items()}
            except onnx.defs.SchemaError:  # the operator was added after the model's opset
                types = {}
        return self._types.setdefault((domain, op_type), types)


def _kind_name(kind: int) -> str:
    names = onnx.AttributeProto.AttributeType
    return str(names.Name(kind)) if kind in names.values() else f"type {kind}"


def type_text(proto: onnx.TypeProto) -> str:
    """Return a type as text, such as ``sequence(float[batch,3])``."""
    container, dtype, shape = declared_type(proto)
    names = onnx.TensorProto.DataType
    element = names.Name(dtype).lower() if dtype in names.values() else str(dtype)
    dims = "" if shape is None else "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"
    if "(" in container:  # a map
        return container
    return f"{element}{dims}" if container == "tensor" else f"{container}({element}{dims})"
