"""First pass over a parsed model: repairs names and finds every subgraph and external tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.name_sanitizer import NameSanitizer
from py_autodoc.graph.protobuf.tensor_protos import external_entries, payload_reference

_A = onnx.AttributeProto
_EXTERNAL = onnx.TensorProto.EXTERNAL
_EXTERNAL_BYTES = 24
"""Minimum bytes of an attribute with an external tensor: its location and the headers around it."""
_SIMPLE = frozenset({_A.FLOAT, _A.INT, _A.STRING, _A.FLOATS, _A.INTS, _A.STRINGS})


@dataclass(slots=True)
class FirstPass:
    """Results of the pass."""

    graphs: list[onnx.GraphProto] = field(default_factory=list)
    """The main graph and all subgraphs, outer ones first."""
    external: list[onnx.TensorProto] = field(default_factory=list)
    """Tensors stored in other files."""
    misdeclared: list[onnx.GraphProto] = field(default_factory=list)
    """Graphs in attributes of another type, which some readers look into."""
    shortened: dict[str, str] = field(default_factory=dict)
    """Long names by what they became."""


def external_tensors(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """Return all tensors of a protobuf that are stored in other files. Repairs its names."""
    return collect_and_sanitize(proto, DiagnosticCollector()).external


def collect_and_sanitize(proto: onnx.ModelProto, notes: DiagnosticCollector) -> FirstPass:
    """Walk the whole model once and repair the names in ``proto`` in place."""
    facts = FirstPass()
    names = NameSanitizer(notes)
    pending = [proto.graph]
    while pending:
        graph = pending.pop()
        facts.graphs.append(graph)
        pending.extend(reversed(_graph(graph, names, facts)))
    for function in proto.functions:
        names.function(function)
        for default in function.attribute_proto:
            pending.extend(nested(default))
            _external(_tensors(default), facts)
        pending.extend(_nodes(function.node, names, facts))
    for training in proto.training_info:
        pending += (training.initialization, training.algorithm)
    while pending or facts.misdeclared:  # repaired, but not part of the main graph
        graph = pending.pop() if pending else facts.misdeclared.pop()
        pending.extend(_graph(graph, names, facts))
    facts.shortened = names.shortened
    return facts


def _graph(graph: onnx.GraphProto, names: NameSanitizer, facts: FirstPass) -> list[onnx.GraphProto]:
    names.messages(graph.input)
    names.messages(graph.output)
    names.messages(graph.value_info)
    names.messages(graph.initializer)
    for sparse in graph.sparse_initializer:
        names.message(sparse.values)
        _external((sparse.values, sparse.indices), facts)
    _external(graph.initializer, facts)
    return _nodes(graph.node, names, facts)


def _nodes(nodes: Iterable[onnx.NodeProto], names: NameSanitizer, facts: FirstPass) -> list[onnx.GraphProto]:
    bodies: list[onnx.GraphProto] = []
    for node in nodes:
        names.node(node)
        for attribute in node.attribute:
            names.message(attribute)
            if attribute.type not in _SIMPLE:
                bodies.extend(nested(attribute))
                _external(_tensors(attribute), facts)
            elif attribute.ByteSize() >= _EXTERNAL_BYTES:
                facts.misdeclared.extend(nested(attribute))
                _external(_tensors(attribute), facts)
    return bodies


def nested(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    """Return the graphs in an attribute, whatever its declared type."""
    graphs = list(attribute.graphs)
    if attribute.HasField("g"):
        graphs.append(attribute.g)
    return graphs


def _tensors(attribute: onnx.AttributeProto) -> list[onnx.TensorProto]:
    tensors = list(attribute.tensors)
    if attribute.HasField("t"):
        tensors.append(attribute.t)
    sparse = list(attribute.sparse_tensors)
    if attribute.HasField("sparse_tensor"):
        sparse.append(attribute.sparse_tensor)
    for item in sparse:
        tensors += (item.values, item.indices)
    return tensors


def _external(tensors: Iterable[onnx.TensorProto], facts: FirstPass) -> None:
    for tensor in tensors:
        if tensor.data_location == _EXTERNAL and not payload_reference(external_entries(tensor))[0]:
            facts.external.append(tensor)
