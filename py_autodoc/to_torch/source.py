"""Model data for the writer: graph, types and small constants. Weights are read only when copied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import ExternalDataError, InputError
from py_autodoc.graph.building import structure_checks
from py_autodoc.graph.building.build import build
from py_autodoc.graph.building.node_protos import graph_protos
from py_autodoc.graph.ir.model import ConstTensor, Node
from py_autodoc.graph.loading.external_data import location_hint
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.graph.protobuf.tensor_protos import element_count
from py_autodoc.graph.shapes import infer
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import decode
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, chunks, content_of
from py_autodoc.limits import Limits

_T = onnx.TensorProto
MAX_READ = 1024
"""Maximum elements of a constant whose values may determine how an operator is converted."""


class ModelFile:
    """A model file. The constructor raises the same errors as ``py_autodoc.analyze``."""

    def __init__(self, path: PathLike, limits: Limits) -> None:
        self.path = os.fspath(path)
        self.loaded = load(path, limits)
        self.model = build(self.loaded)
        if self.model.unexpanded_calls:
            raise InputError(
                "functions-not-expanded",
                f"{self.name}: the local functions are too large to expand, or recursive.",
                "Inline them first (onnx.inliner).",
            )
        self.types = infer(self.loaded, self.model, {}, {})
        self._protos: dict[int, onnx.TensorProto] = dict(self._tensors())
        self._arrays: dict[int, Any] = {}

    @property
    def name(self) -> str:
        """Base name of the file."""
        return self.loaded.facts.name

    def files(self) -> TensorFiles:
        """Return the reader of the weights; use it as a context manager."""
        return TensorFiles(self.path, self.loaded.facts.bytes)

    def is_constant(self, tensor: int) -> bool:
        """True for initializers and outputs of Constant nodes."""
        return self.model.tensors[tensor].is_constant

    def dtype(self, tensor: int) -> int:
        """Return the element type, 0 if unknown."""
        proto = self._protos.get(tensor)
        return proto.data_type if proto is not None else self.types.dtypes[tensor]

    def rank(self, tensor: int) -> int | None:
        """Return the rank; None if unknown."""
        if tensor in self._protos:
            return len(self._protos[tensor].dims)
        shape = self.types.shapes[tensor]
        return None if shape is None else len(shape)

    def dims(self, tensor: int) -> tuple[int, ...] | None:
        """Return the shape of a constant; None if it is not dense."""
        proto = self._protos.get(tensor)
        if proto is not None:
            return tuple(proto.dims)
        array = self.array(tensor)
        return None if array is None else tuple(array.shape)

    def array(self, tensor: int) -> Any:
        """Return the values of a small constant; None if it is large, not a constant or unreadable."""
        if not self.is_constant(tensor):
            return None
        if tensor not in self._arrays:
            self._arrays[tensor] = self._small(tensor)
        return self._arrays[tensor]

    def _small(self, tensor: int) -> Any:
        constant = self.model.constants.get(tensor)
        if constant is not None and constant.dtype != object:
            return constant
        proto = self._protos.get(tensor)
        if proto is None or proto.data_type == _T.STRING:
            return None
        count = element_count(tuple(proto.dims))
        if count is None or count > MAX_READ:
            return None
        try:
            with self.files() as files:
                return self.read(tensor, files)
        except ExternalDataError:
            return None

    def read(self, tensor: int, files: TensorFiles) -> Any:
        """Return all values of a constant as stored; types without a numpy equivalent are widened.

        Raises: ExternalDataError: the values cannot be read.
        """
        proto = self._protos.get(tensor)
        if proto is None:
            return self.array(tensor)
        content = self.content(tensor, files)
        try:
            parts = [decode(data, content.dtype, count) for data, count in chunks(content)]
        except UnreadableTensor as why:
            raise self.unread(tensor, why) from None
        array = parts[0] if len(parts) == 1 else np.concatenate(parts)
        array = array.astype(bool) if content.dtype == _T.BOOL else array
        return array.reshape(tuple(proto.dims))

    def content(self, tensor: int, files: TensorFiles) -> TensorContent:
        """Return the location of a constant's bytes. Raises: ExternalDataError."""
        try:
            return content_of(self._protos[tensor], files)
        except UnreadableTensor as why:
            raise self.unread(tensor, why) from None

    def has_file(self, tensor: int) -> bool:
        """True for a constant whose bytes are stored unchanged in a file."""
        return tensor in self._protos

    def unread(self, tensor: int, why: UnreadableTensor) -> ExternalDataError:
        """Return the error that names the unreadable weight."""
        label = self.model.tensors[tensor].name[:200]
        hint = why.hint or location_hint(why.code, "")
        return ExternalDataError(why.code, f"{self.name}: {label or 'a constant'}: {why}.", hint)

    def _tensors(self) -> Iterator[tuple[int, onnx.TensorProto]]:
        for graph, proto in graph_protos(self.loaded, self.model):
            for number, tensor_proto in zip(graph.initializers, proto.initializer, strict=False):
                yield number, tensor_proto
            first = min(graph.nodes, default=0)
            for number in graph.nodes:
                node = self.model.nodes[number]
                if node.is_constant and node.outputs and node.outputs[0] >= 0:
                    for attribute in proto.node[number - first].attribute:
                        if attribute.name == "value" and attribute.HasField("t"):
                            yield node.outputs[0], attribute.t
                            break


def plain_attribute(node: Node) -> Any:
    """Return the value_float(s) or value_int(s) of a Constant node as an array; None for others."""
    for name, value in node.attributes.items():
        constant = (
            None if isinstance(value, ConstTensor) else structure_checks.attribute_constant(name, value)
        )
        if constant is not None and constant[0] != _T.STRING:
            return constant[1]
    return None
