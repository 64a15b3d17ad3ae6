"""Comparison of weight values: digests and, where these differ, the distance of the values.

Weights are read in pieces, from both files at a time; only digests and sums are kept. Quantized weights are
dequantized, per tensor or per channel, before they are compared with float ones.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from py_autodoc.compare.align import Alignment, Pair, align
from py_autodoc.compare.changes import Change, Detail
from py_autodoc.compare.run_difference import ROUNDING
from py_autodoc.compare.settings import input_name
from py_autodoc.compare.units import Unit
from py_autodoc.costs.tensor_sizes import FLOAT_TYPES
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
    """Factors of the normalization after it, as a conversion would fold them in."""


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
        scale = self._read_scales(weight.scale)
        zero = self._read_scales(weight.zero) if weight.zero >= 0 else np.zeros(1)
        axis = weight.axis + len(weight.shape) if weight.axis < 0 else weight.axis
        if not 0 <= axis < max(1, len(weight.shape)):
            raise UnreadableTensor("its scales fit no axis")
        if scale.size > 1 and scale.size != weight.shape[axis]:
            raise UnreadableTensor("its scales fit no axis")
        return scale, zero, axis

    def _read_scales(self, tensor: int) -> Any:
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


def align_with_weights(left: tuple[Analysis, str | bytes], right: tuple[Analysis, str | bytes]) -> Alignment:
    """Align two models using weight values: equal ones determine counterparts, others are changes.

    Each side is an analysis and the file it was made from.
    """
    models = ModelWeights(*left), ModelWeights(*right)
    try:
        by_structure = align(left[0], right[0])
        contents = tuple(_contents(weights, by_structure, side) for side, weights in enumerate(models))
        alignment = align(left[0], right[0], (contents[0], contents[1]))
        pairs = tuple(_with_weight_changes(models, alignment, pair) for pair in alignment.pairs)
        return replace(alignment, pairs=pairs, weights_read=True)
    finally:
        for weights in models:
            weights.close()


def _contents(weights: ModelWeights, alignment: Alignment, side: int) -> dict[int, Hashable]:
    """Return node → digest of its matrix."""
    digests: dict[int, Hashable] = {}
    for unit in alignment.sides[side].graph.units:
        weight = weights.of(unit) if unit.weight and unit.decomposed_into < 2 else None
        digest = weights.digest(weight) if weight is not None else None
        if weight is not None and digest is not None:
            digests[unit.node] = (digest, weight.shape, weight.transposed)
    return digests


def _with_weight_changes(models: tuple[ModelWeights, ModelWeights], alignment: Alignment, pair: Pair) -> Pair:
    details = list(pair.details)
    for left_unit, right_unit in pair.units:
        units = alignment.sides[0].graph.units[left_unit], alignment.sides[1].graph.units[right_unit]
        details += _other_constants(models, units)
        if any(unit.decomposed_into > 1 for unit in units) or not (units[0].weight and units[1].weight):
            continue
        weights = models[0].of(units[0]), models[1].of(units[1])
        if weights[0] is None or weights[1] is None or units[0].weight != units[1].weight:
            continue
        first, second = (_folded(side, unit, w) for side, unit, w in zip(models, units, weights, strict=True))
        if (first is None) is not (second is None):
            details += _folded_difference(models, units, (weights[0], weights[1]), (first, second))
            continue
        detail = _difference(models, weights[0], weights[1])
        if detail is not None:
            details.append(detail)
    return pair if len(details) == len(pair.details) else replace(pair, details=tuple(details))


class _Folded(NamedTuple):
    """A normalization after a convolution: the factors of its weight, and its bias with it."""

    scaling: Scaling
    bias: np.ndarray


def _folded(side: ModelWeights, unit: Unit, weight: StoredWeight | None) -> _Folded | None:
    """Return what folding the normalization of a unit into its convolution gives; None without one."""
    nodes = [side.model.nodes[number] for number in unit.nodes[: unit.work]]
    if len(nodes) < 2 or nodes[0].op_type != "Conv" or nodes[1].op_type != "BatchNormalization":
        return None
    if weight is None or weight.scale >= 0 or len(nodes[1].inputs) < 5:
        return None
    try:
        gamma, beta, mean, variance = (side._read_scales(tensor) for tensor in nodes[1].inputs[1:5])
        bias = _bias(side, unit)
    except UnreadableTensor:
        return None
    if gamma.size != weight.shape[0] or not gamma.size == beta.size == mean.size == variance.size:
        return None
    epsilon = nodes[1].attributes.get("epsilon", 1e-5)
    if bias.size not in (1, gamma.size) or not isinstance(epsilon, (int, float)):
        return None
    factor = gamma / np.sqrt(variance + epsilon)
    return _Folded((factor, np.zeros(1), 0), beta + (bias - mean) * factor)


def _bias(side: ModelWeights, unit: Unit) -> np.ndarray:
    """Return the bias of a convolution, or zeros. Raises: UnreadableTensor."""
    node = side.model.nodes[unit.node]
    given = len(node.inputs) > 2 and node.inputs[2] >= 0
    return side._read_scales(node.inputs[2]) if given else np.zeros(1)


def _folded_difference(
    models: tuple[ModelWeights, ModelWeights],
    units: tuple[Unit, Unit],
    weights: tuple[StoredWeight, StoredWeight],
    folded: tuple[_Folded | None, _Folded | None],
) -> Iterator[Detail]:
    """Yield how a convolution with a folded normalization differs from one with its own, beyond rounding."""
    compared = [
        w if f is None else replace(w, folded=f.scaling) for w, f in zip(weights, folded, strict=True)
    ]
    detail = _difference(models, compared[0], compared[1])
    if detail is not None and (detail.distance is None or detail.distance > ROUNDING):
        yield detail
    try:
        left, right = (
            _bias(side, unit) if f is None else f.bias
            for side, unit, f in zip(models, units, folded, strict=True)
        )
    except UnreadableTensor as fault:
        yield Detail(Change.WEIGHTS, f"bias cannot be compared: {fault}", "–", "–")
        return
    if left.size != right.size and 1 not in (left.size, right.size):
        yield Detail(Change.WEIGHTS, "bias has another size", str(left.size), str(right.size))
        return
    norm = float(np.linalg.norm(left))
    distance = float(np.linalg.norm(left - right)) / norm if norm else float(np.linalg.norm(right))
    if distance > ROUNDING:
        largest = float(np.abs(left - right).max())
        yield Detail(Change.WEIGHTS, "bias", "folded", "folded", distance, largest)


def _other_constants(models: tuple[ModelWeights, ModelWeights], units: tuple[Unit, Unit]) -> Iterator[Detail]:
    """Yield how biases, normalizations and other float constants differ, if the nodes are the same."""
    sides = [
        [weights.model.nodes[node] for node in unit.nodes]
        for weights, unit in zip(models, units, strict=True)
    ]
    if [node.op_type for node in sides[0]] != [node.op_type for node in sides[1]]:
        return
    compared = {weight.tensor.id for weight in (models[0].of(units[0]),) if weight is not None}
    for left, right in zip(*sides, strict=True):
        for position, tensors in enumerate(zip(left.inputs, right.inputs, strict=False)):
            if tensors[0] in compared or min(tensors) < 0:
                continue
            constants = [
                _constant(weights.model.tensors[t]) for weights, t in zip(models, tensors, strict=True)
            ]
            if constants[0] is None or constants[1] is None or constants[0].shape != constants[1].shape:
                continue
            detail = _difference(models, constants[0], constants[1])
            if detail is not None:
                yield detail._replace(what=f"{left.op_type} {input_name(left, position)}")


def _constant(tensor: Tensor) -> StoredWeight | None:
    """Return a stored float tensor with fixed dimensions, as it is stored."""
    shape = tensor.shape
    if not tensor.is_constant or tensor.dtype not in FLOAT_TYPES or shape is None:
        return None
    sizes = tuple(size for size in shape if isinstance(size, int))
    return StoredWeight(tensor, sizes) if len(sizes) == len(shape) else None


def _difference(
    models: tuple[ModelWeights, ModelWeights], left: StoredWeight, right: StoredWeight
) -> Detail | None:
    """Return how two weights differ; None if they are equal, or it is unknown."""
    digests = models[0].digest(left), models[1].digest(right)
    same_encoding = left.scale < 0 and right.scale < 0 and left.transposed == right.transposed
    same_encoding = same_encoding and left.folded is None and right.folded is None
    if same_encoding and digests[0] is not None and digests[0] == digests[1]:
        return None
    digest_texts = [("unreadable" if d is None else d[:12]) for d in digests]
    if None in digests:
        return Detail(Change.WEIGHTS, "weight cannot be read", digest_texts[0], digest_texts[1])
    if left.shape != right.shape or left.transposed != right.transposed:
        return Detail(Change.WEIGHTS, "weight is stored in another form", digest_texts[0], digest_texts[1])
    try:
        distance = _distance(models, left, right)
    except UnreadableTensor as fault:
        return Detail(Change.WEIGHTS, f"weight cannot be compared: {fault}", digest_texts[0], digest_texts[1])
    if distance is None:
        return None
    relative, largest = distance
    finite = math.isfinite(relative) and math.isfinite(largest)
    numbers = (relative, largest) if finite else (None, None)
    return Detail(Change.WEIGHTS, "weight", digest_texts[0], digest_texts[1], *numbers)


def _distance(
    models: tuple[ModelWeights, ModelWeights], left: StoredWeight, right: StoredWeight
) -> tuple[float, float] | None:
    """Return the relative norm of the difference and its largest value; None if all are equal."""
    streams = (
        models[0].values(left, models[0].scaling(left)),
        models[1].values(right, models[1].scaling(right)),
    )
    squared_difference = squared_norm = largest = 0.0
    buffers: list[Any] = [np.empty(0), np.empty(0)]
    while True:
        for side in (0, 1):
            if not buffers[side].size:
                buffers[side] = next(streams[side], np.empty(0))
        count = min(buffers[0].size, buffers[1].size)
        if not count:
            break
        a, b = buffers[0][:count], buffers[1][:count]
        with np.errstate(invalid="ignore", over="ignore"):
            difference = a - b
        difference[a == b] = 0.0
        squared_difference += float(np.dot(difference, difference))
        squared_norm += float(np.dot(a, a))
        largest = max(largest, float(np.max(np.abs(difference))))
        buffers = [buffers[0][count:], buffers[1][count:]]
    if not squared_difference and not math.isnan(squared_difference):
        return None
    return math.sqrt(squared_difference / squared_norm) if squared_norm else math.inf, largest
