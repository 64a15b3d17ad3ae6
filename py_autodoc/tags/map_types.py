"""Types with maps, such as ``sequence(map(int64, float))`` of classifiers, which onnx_ir does not have.

They are taken out of a protobuf while onnx_ir reads it, and kept beside the values that have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import onnx
import onnx_ir as ir

TYPE = "py_autodoc.type"
"""Key of the type of a value in its ``meta``: a ``TypeProto``, if onnx_ir has no such type."""


@contextmanager
def without_map_types(proto: onnx.ModelProto) -> Iterator[dict[str, onnx.TypeProto]]:
    """Take the types with maps out of a model inside the block; yield them by the name of the value."""
    taken: list[tuple[onnx.ValueInfoProto, onnx.TypeProto]] = []
    for value in _values(proto):
        if _has_map(value.type):
            kept = onnx.TypeProto()
            kept.CopyFrom(value.type)
            taken.append((value, kept))
    for value, _ in taken:
        value.ClearField("type")
    try:
        yield {str(value.name): kept for value, kept in taken}
    finally:
        for value, kept in taken:
            value.type.CopyFrom(kept)


def keep_types(model: ir.Model, types: Mapping[str, onnx.TypeProto]) -> None:
    """Note the types in the ``meta`` of the values that have these names."""
    if not types:
        return
    for graph in model.graphs():
        outputs = [value for node in graph for value in node.outputs]
        for value in (*graph.inputs, *graph.outputs, *outputs):
            if value.name in types:
                value.meta[TYPE] = types[value.name]


def declare_types(proto: onnx.ModelProto, types: Mapping[str, onnx.TypeProto]) -> None:
    """Declare the types of the values that have these names and no type."""
    if not types:
        return
    for value in _values(proto):
        if value.name in types and not value.HasField("type"):
            value.type.CopyFrom(types[value.name])


def _values(proto: onnx.ModelProto) -> Iterator[onnx.ValueInfoProto]:
    for function in proto.functions:
        yield from function.value_info
    pending = [proto.graph]
    while pending:
        graph = pending.pop()
        yield from (*graph.input, *graph.output, *graph.value_info)
        for node in graph.node:
            for attribute in node.attribute:
                pending += [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs


def _has_map(proto: onnx.TypeProto) -> bool:
    for _ in range(64):
        which = proto.WhichOneof("value")
        if which not in ("sequence_type", "optional_type"):
            return bool(which == "map_type")
        proto = getattr(proto, which).elem_type
    return False
