"""Writes a model while copying its weights piece by piece, so that memory use stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import onnx

from py_autodoc.errors import ExternalDataError
from py_autodoc.extract.build import clear_external_data, external_tensors, inline, unreadable_tensor_error
from py_autodoc.graph.protobuf.protobuf_wire import encode_header
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, content_of

_GRAPH, _INITIALIZER, _RAW = 7, 5, 9


def write_model(proto: onnx.ModelProto, files: TensorFiles, out: BinaryIO, name: str) -> int:
    """Write ``proto`` as one file, reading weights of the main graph from ``files`` on the fly.

    Written parts are removed from ``proto``. Weights in subgraphs and attributes are read at once. Returns
    the bytes of weights. Raises: ExternalDataError: weights cannot be read; OSError.
    """
    initializers = list(proto.graph.initializer)
    entries = [_InitializerEntry(tensor, files, name) for tensor in initializers]
    del proto.graph.initializer[:]
    inner = external_tensors(proto.graph, files, name)
    inline(inner, name)
    graph = proto.graph.SerializeToString()
    proto.ClearField("graph")
    out.write(proto.SerializeToString())
    out.write(encode_header(_GRAPH, len(graph) + sum(entry.size for entry in entries)))
    out.write(graph)
    for entry in entries:
        for piece in entry.pieces():
            out.write(piece)
    return sum(c.size for _, c in inner) + sum(entry.content.size for entry in entries if entry.content)


class _InitializerEntry:
    """One initializer as an entry of a serialized graph."""

    def __init__(self, tensor: onnx.TensorProto, files: TensorFiles, name: str) -> None:
        self.tensor, self.name = tensor, name
        self.content: TensorContent | None = None
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            try:
                self.content = content_of(tensor, files)
            except UnreadableTensor as reason:
                raise unreadable_tensor_error(name, tensor, reason) from None
        self.head = b""
        body = tensor
        if self.content is not None:
            body = onnx.TensorProto()
            body.CopyFrom(tensor)
            clear_external_data(body)
        serialized = body.SerializeToString()
        raw = encode_header(_RAW, self.content.size) if self.content is not None else b""
        length = len(serialized) + len(raw) + (self.content.size if self.content is not None else 0)
        self.head = encode_header(_INITIALIZER, length) + serialized + raw
        self.size = len(encode_header(_INITIALIZER, length)) + length

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the entry. Raises: ExternalDataError."""
        yield self.head
        if self.content is None:
            return
        remaining = self.content.size
        try:
            for piece in self.content.pieces():
                remaining -= len(piece)
                if remaining < 0:
                    break
                yield piece
        except UnreadableTensor as reason:
            raise unreadable_tensor_error(self.name, self.tensor, reason) from None
        if remaining:
            raise ExternalDataError(
                "weights-damaged",
                f"{self.name}: {self.tensor.name}: its data does not have the size that its shape requires.",
                "The file is damaged.",
            )
