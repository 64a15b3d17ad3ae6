"""Stored weights: where their values lie in a file, and how to read them in pieces.

Quantized weights are dequantized, per tensor or per channel, as they are read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from py_autodoc.compare.units import Unit
from py_autodoc.errors import AutodocError
from py_autodoc.graph.ir.model import Model, Tensor
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import decode
from py_autodoc.graph.tensor_data.weight_array import read_array
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, chunks, content_of
from py_autodoc.graph.tensor_data.weight_view import stored_constant
from py_autodoc.report.pipeline.analysis import Analysis

_MAX_CONVERSIONS = 8
_MAX_SCALES = 1 << 20
_SCALED = {"QLinearConv": (3, 4, 5, 0), "QLinearMatMul": (3, 4, 5, -1)}
"""Operator → positions of weight, scale and zero point, and the channel axis."""
Scaling = tuple[np.ndarray, np.ndarray, int]


@dataclass(frozen=True, slots=True)
class StoredWeight:
    """A stored weight, and how to convert stored to real values."""

    tensor: Tensor
    shape: tuple[int, ...]
    transposed: bool = False
    """True if its two axes are transposed."""
    scale: int = -1
    zero: int = -1
    axis: int = 0
    folded: Scaling | None = None
    """Factors of the constants after its product, as a conversion would fold them in."""

    @property
    def matrix(self) -> tuple[int, ...]:
        """Its dimensions as the product reads them."""
        return self.shape[::-1] if self.transposed else self.shape


class ModelWeights:
    """The weights of one model, read on demand. Must be closed."""

    def __init__(self, analysis: Analysis, source: str | bytes) -> None:
        self.analysis = analysis
        self.source = source
        self.model: Model = analysis.model
        self.files = TensorFiles(source, analysis.loaded.facts.bytes)
        self._digests: dict[int, str | None] = {}

    def close(self) -> None:
        """Close the files."""
        self.files.__exit__()

    def of(self, unit: Unit) -> StoredWeight | None:
        """Return the matrix or kernel of a unit; None if it has none that is a stored tensor."""
        node = self.model.nodes[unit.node]
        inputs = _SCALED.get(node.op_type)
        if inputs is not None and len(node.inputs) > inputs[2]:
            weight = self._stored_weight(node.inputs[inputs[0]])
            if weight is None:
                return None
            return replace(weight, scale=node.inputs[inputs[1]], zero=node.inputs[inputs[2]], axis=inputs[3])
        for tensor in node.inputs:
            if tensor >= 0 and len(self.analysis.types.shapes[tensor] or ()) > 1:
                weight = self._stored_weight(tensor)
                if weight is not None:
                    transposed = node.op_type == "Gemm" and bool(node.attributes.get("transB"))
                    return replace(weight, transposed=weight.transposed != transposed)
        return None

    def _stored_weight(self, tensor: int) -> StoredWeight | None:
        """Return the stored tensor before any conversions."""
        transposed, scale, zero, axis = False, -1, -1, 0
        for _ in range(_MAX_CONVERSIONS):
            info = self.model.tensors[tensor]
            if info.is_constant:
                shape = info.shape
                if shape is None or not all(isinstance(n, int) for n in shape):
                    return None
                return StoredWeight(
                    info, tuple(int(n) for n in shape if isinstance(n, int)), transposed, scale, zero, axis
                )
            node = self.model.nodes[info.producer] if info.producer >= 0 else None
            if node is None or not node.inputs or node.inputs[0] < 0:
                return None
            if node.op_type == "DequantizeLinear" and scale < 0 and len(node.inputs) > 1 and not transposed:
                scale, zero = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else -1
                axis_attribute = node.attributes.get("axis", 1)
                axis = axis_attribute if isinstance(axis_attribute, int) else 1
                if node.attributes.get("block_size"):
                    return None
            elif node.op_type == "Transpose" and node.attributes.get("perm") in ([1, 0], (1, 0), None):
                transposed = not transposed
            elif node.op_type not in ("Identity", "Cast"):
                return None
            tensor = node.inputs[0]
        return None

    def content(self, weight: StoredWeight) -> TensorContent | None:
        """Return the location of the values; None if they cannot be read."""
        constant = stored_constant(self.analysis.loaded, self.model, weight.tensor)
        if constant is None or constant.indices is not None:
            return None
        try:
            return content_of(constant.values, self.files)
        except UnreadableTensor:
            return None

    def digest(self, weight: StoredWeight) -> str | None:
        """Return the SHA-256 of the stored bytes; None if they cannot be read."""
        cached = self._digests.get(weight.tensor.id, "")
        if cached != "":
            return cached
        digest: str | None = None
        content = self.content(weight)
        if content is not None:
            sha = hashlib.sha256()
            try:
                for data, _ in chunks(content):
                    sha.update(data)
                digest = sha.hexdigest()
            except UnreadableTensor:
                digest = None
        self._digests[weight.tensor.id] = digest
        return digest

    def values(self, weight: StoredWeight, scaling: Scaling | None) -> Iterator[Any]:
        """Yield the dequantized values in order, chunk by chunk. Raises: UnreadableTensor."""
        content = self.content(weight)
        if content is None:
            raise UnreadableTensor("it cannot be decoded")
        offset = 0
        for data, count in chunks(content):
            values = np.asarray(decode(data, content.dtype, count), dtype=np.float64).ravel()
            if scaling is not None:
                scale, zero, axis = scaling
                inner = math.prod(weight.shape[axis + 1 :])
                indices = np.arange(offset, offset + count)
                channel = indices // inner % weight.shape[axis] if scale.size > 1 else 0
                values = (values - (zero[channel] if zero.size > 1 else zero[0])) * scale[channel]
            offset += count
            yield values

    def scaling(self, weight: StoredWeight) -> Scaling | None:
        """Return scales and zero points by channel. Raises: UnreadableTensor if they are unknown."""
        if weight.scale < 0:
            return weight.folded
        scale = self.read_vector(weight.scale)
        zero = self.read_vector(weight.zero) if weight.zero >= 0 else np.zeros(1)
        axis = weight.axis + len(weight.shape) if weight.axis < 0 else weight.axis
        if not 0 <= axis < max(1, len(weight.shape)):
            raise UnreadableTensor("its scales fit no axis")
        if scale.size > 1 and scale.size != weight.shape[axis]:
            raise UnreadableTensor("its scales fit no axis")
        if weight.folded is None:
            return scale, zero, axis
        factor, _, channels = weight.folded
        if channels != axis and scale.size > 1 and factor.size > 1:
            raise UnreadableTensor("its scales are those of another axis than the factors of its channels")
        if factor.size > 1:
            axis, zero = channels, zero if scale.size > 1 or zero.size == 1 else zero[:1]
        return scale * factor, zero, axis

    def read_vector(self, tensor: int) -> Any:
        """Return the values of a small constant as float64. Raises: UnreadableTensor."""
        values = self.model.constants.get(tensor)
        if values is None:
            try:
                stored = read_array(
                    self.analysis.loaded, self.model, self.source, tensor, max_bytes=8 * _MAX_SCALES
                )
            except AutodocError as fault:
                raise UnreadableTensor(f"its scales cannot be read: {fault}") from None
            values = stored.array()
        return np.asarray(values, dtype=np.float64).ravel()
