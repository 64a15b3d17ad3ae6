"""Small integer constants in external files: shapes, axes and indices, without which shapes stay unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import onnx

from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.tensor_protos import MAX_VALUES, element_count, storage_of
from py_autodoc.graph.tensor_data.tensor_bytes import ByteRange, TensorFiles, UnreadableTensor

_WIDTHS = {onnx.TensorProto.INT32: 4, onnx.TensorProto.INT64: 8}
MAX_CONSTANTS = 20_000
"""Maximum constants read of one model."""


def with_small_constants(loaded: LoadedModel, source: str | bytes) -> LoadedModel:
    """Return the model with the values of its small integer constants in external files.

    ``source`` is the path or the bytes that ``loaded`` was created from. Constants that cannot be read stay
    unknown; the loader has already said what is wrong with their file.
    """
    if not isinstance(source, str) or not loaded.facts.external_files:
        return loaded
    values: dict[tuple[str, int, int], bytes] = {}
    with TensorFiles(source, loaded.facts.bytes) as files:
        for tensor in _tensors(loaded.proto.graph):
            region = _region(tensor)
            if region is None or region in values:
                continue
            if len(values) == MAX_CONSTANTS:
                break
            try:
                values[region] = b"".join(files.pieces(ByteRange(*region)))
            except UnreadableTensor:
                continue
    return replace(loaded, external_values=values) if values else loaded


def _region(tensor: onnx.TensorProto) -> tuple[str, int, int] | None:
    """Return (location, offset, bytes) of a small integer tensor in an external file, else None."""
    width = _WIDTHS.get(tensor.data_type)
    if width is None or tensor.data_location != onnx.TensorProto.EXTERNAL:
        return None
    count = element_count(tuple(tensor.dims))
    storage = storage_of(tensor, tuple(tensor.dims))
    if count is None or not 0 < count <= MAX_VALUES or not storage.location:
        return None
    return storage.location, storage.offset or 0, count * width


def _tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    pending = [graph]
    while pending:
        graph = pending.pop()
        yield from graph.initializer
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                pending.extend(nested(attribute))
