"""Access to protobuf contents that the frozen graph omits because they are needed for one node at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.building.attributes import attribute_type
from py_autodoc.graph.ir.model import Model, SubGraph
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.load import LoadedModel

STACK_TRACE = "pkg.torch.onnx.stack_trace"
"""Metadata key for the stack trace that torch.onnx records for a node."""
OWN_PREFIX = "autodoc.expanded."
"""Prefix of node metadata added during loading."""


@dataclass(frozen=True, slots=True)
class NodeText:
    """Free text of a node, and its declared attribute types."""

    doc_string: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    attribute_types: Mapping[str, str] = field(default_factory=dict)
    """Attribute → declared type: ``int``, ``floats``, ``tensor`` …"""


def node_text(loaded: LoadedModel, model: Model, node: int) -> NodeText:
    """Return the free text and attribute types of a node."""
    proto = node_proto(loaded, model, node)
    entries = [(decode_text(entry.key), decode_text(entry.value)) for entry in proto.metadata_props]
    return NodeText(
        decode_text(proto.doc_string),
        {k: v for k, v in entries if not k.startswith(OWN_PREFIX)},
        {decode_text(a.name): _type_name(attribute_type(a)) for a in proto.attribute},
    )


def graph_protos(loaded: LoadedModel, model: Model) -> Iterator[tuple[SubGraph, onnx.GraphProto]]:
    """Yield every graph with its protobuf, outer graphs first. Linear."""
    protos: list[onnx.GraphProto] = []
    bodies: dict[int, list[onnx.GraphProto]] = {}
    for graph in model.graphs:
        if graph.parent_node < 0:
            proto = loaded.proto.graph
        else:
            parent = model.nodes[graph.parent_node]
            if parent.id not in bodies:
                bodies[parent.id] = _bodies(
                    protos[parent.graph].node[parent.id - model.graphs[parent.graph].first]
                )
            inside = parent.subgraphs[0][1]  # the subgraphs of a node have consecutive ids
            proto = bodies[parent.id][graph.id - inside]
        protos.append(proto)
        yield graph, proto


def _type_name(kind: int) -> str:
    names = onnx.AttributeProto.AttributeType
    return names.Name(kind).lower() if kind in names.values() else f"type {kind}"


def node_proto(loaded: LoadedModel, model: Model, node: int) -> onnx.NodeProto:
    """Return the protobuf of a node; nodes are numbered graph by graph in file order."""
    graph = model.graphs[model.nodes[node].graph]
    return graph_proto(loaded, model, graph.id).node[node - graph.first]


def graph_proto(loaded: LoadedModel, model: Model, graph: int) -> onnx.GraphProto:
    """Return the protobuf of a graph."""
    path: list[int] = []
    while model.graphs[graph].parent_node >= 0:
        path.append(graph)
        graph = model.nodes[model.graphs[graph].parent_node].graph
    proto = loaded.proto.graph
    for inner in reversed(path):
        parent = model.graphs[inner].parent_node
        outer = model.graphs[model.nodes[parent].graph]
        order = [number for _, number in model.nodes[parent].subgraphs]
        proto = _bodies(proto.node[parent - outer.first])[order.index(inner)]
    return proto


def _bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the subgraphs of a node in the order of ``build``: the first of each attribute name."""
    bodies: list[onnx.GraphProto] = []
    seen: set[str] = set()
    for attribute in node.attribute:
        kind, name = attribute_type(attribute), decode_text(attribute.name)
        if name not in seen and kind == onnx.AttributeProto.GRAPH:
            bodies.append(attribute.g)
        elif name not in seen and kind == onnx.AttributeProto.GRAPHS:
            bodies.extend(attribute.graphs)
        seen.add(name)
    return bodies
