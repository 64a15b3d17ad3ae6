"""Comparison of weight values: digests and, where these differ, the distance of the values.

Weights are read in pieces, from both files at a time; only digests and sums are kept. Quantized weights are
dequantized, per tensor or per channel, before they are compared with float ones.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from py_autodoc.compare.align import Alignment, Pair, align
from py_autodoc.compare.changes import Change, Detail
from py_autodoc.compare.units import Unit
from py_autodoc.errors import AutodocError
from py_autodoc.graph.ir.model import Model, Tensor
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import decode
from py_autodoc.graph.tensor_data.weight_array import read_array
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, chunks, content_of
from py_autodoc.graph.tensor_data.weight_view import stored_constant
from py_autodoc.report.pipeline.analysis import Analysis

_STEPS = 8
_MOST_SCALES = 1 << 20
_SCALED = {"QLinearConv": (3, 4, 5, 0), "QLinearMatMul": (3, 4, 5, -1)}
"""Operator → positions of weight, scale and zero point, and the channel axis."""
Scaling = tuple[np.ndarray, np.ndarray, int]


@dataclass(frozen=True, slots=True)
class HeldWeights:
    """A stored weight, and how to convert stored to real values."""

    tensor: Tensor
    shape: tuple[int, ...]
    turned: bool = False
    """True if its two axes are transposed."""
    scale: int = -1
    zero: int = -1
    axis: int = 0


class WeightComparison:
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

    def of(self, unit: Unit) -> HeldWeights | None:
        """Return the matrix or kernel of a unit; None if it has none that is a stored tensor."""
        node = self.model.nodes[unit.node]
        known = _SCALED.get(node.op_type)
        if known is not None and len(node.inputs) > known[2]:
            made = self._behind(node.inputs[known[0]])
            if made is None:
                return None
            return replace(made, scale=node.inputs[known[1]], zero=node.inputs[known[2]], axis=known[3])
        for tensor in node.inputs:
            if tensor >= 0 and len(self.analysis.types.shapes[tensor] or ()) > 1:
                made = self._behind(tensor)
                if made is not None:
                    turned = node.op_type == "Gemm" and bool(node.attributes.get("transB"))
                    return replace(made, turned=made.turned != turned)
        return None

    def _behind(self, tensor: int) -> HeldWeights | None:
        """Return the stored tensor before any conversions."""
        turned, scale, zero, axis = False, -1, -1, 0
        for _ in range(_STEPS):
            about = self.model.tensors[tensor]
            if about.is_constant:
                shape = about.shape
                if shape is None or not all(isinstance(n, int) for n in shape):
                    return None
                return HeldWeights(
                    about, tuple(int(n) for n in shape if isinstance(n, int)), turned, scale, zero, axis
                )
            node = self.model.nodes[about.producer] if about.producer >= 0 else None
            if node is None or not node.inputs or node.inputs[0] < 0:
                return None
            if node.op_type == "DequantizeLinear" and scale < 0 and len(node.inputs) > 1 and not turned:
                scale, zero = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else -1
                given = node.attributes.get("axis", 1)
                axis = given if isinstance(given, int) else 1
                if node.attributes.get("block_size"):
                    return None
            elif node.op_type == "Transpose" and node.attributes.get("perm") in ([1, 0], (1, 0), None):
                turned = not turned
            elif node.op_type not in ("Identity", "Cast"):
                return None
            tensor = node.inputs[0]
        return None

    def content(self, held: HeldWeights) -> TensorContent | None:
        """Return the location of the values; None if they cannot be read."""
        found = stored_constant(self.analysis.loaded, self.model, held.tensor)
        if found is None or found.indices is not None:
            return None
        try:
            return content_of(found.values, self.files)
        except UnreadableTensor:
            return None

    def digest(self, held: HeldWeights) -> str | None:
        """Return the SHA-256 of the stored bytes; None if they cannot be read."""
        known = self._digests.get(held.tensor.id, "")
        if known != "":
            return known
        made: str | None = None
        content = self.content(held)
        if content is not None:
            sha = hashlib.sha256()
            try:
                for data, _ in chunks(content):
                    sha.update(data)
                made = sha.hexdigest()
            except UnreadableTensor:
                made = None
        self._digests[held.tensor.id] = made
        return made

    def values(self, held: HeldWeights, scaling: Scaling | None) -> Iterator[Any]:
        """Yield the dequantized values in order, chunk by chunk. Raises: UnreadableTensor."""
        content = self.content(held)
        if content is None:
            raise UnreadableTensor("it cannot be decoded")
        at = 0
        for data, count in chunks(content):
            made = np.asarray(decode(data, content.dtype, count), dtype=np.float64).ravel()
            if scaling is not None:
                scale, zero, axis = scaling
                inner = math.prod(held.shape[axis + 1 :])
                place = np.arange(at, at + count) // inner % held.shape[axis] if scale.size > 1 else 0
                made = (made - (zero[place] if zero.size > 1 else zero[0])) * scale[place]
            at += count
            yield made

    def scaling(self, held: HeldWeights) -> Scaling | None:
        """Return scales and zero points by channel. Raises: UnreadableTensor if they are unknown."""
        if held.scale < 0:
            return None
        scale = self._small(held.scale)
        zero = self._small(held.zero) if held.zero >= 0 else np.zeros(1)
        axis = held.axis + len(held.shape) if held.axis < 0 else held.axis
        if not 0 <= axis < max(1, len(held.shape)):
            raise UnreadableTensor("its scales fit no axis")
        if scale.size > 1 and scale.size != held.shape[axis]:
            raise UnreadableTensor("its scales fit no axis")
        return scale, zero, axis

    def _small(self, tensor: int) -> Any:
        known = self.model.constants.get(tensor)
        if known is None:
            try:
                read = read_array(
                    self.analysis.loaded, self.model, self.source, tensor, max_bytes=8 * _MOST_SCALES
                )
            except AutodocError as fault:
                raise UnreadableTensor(f"its scales cannot be read: {fault}") from None
            known = read.array()
        return np.asarray(known, dtype=np.float64).ravel()


def align_with_weights(left: tuple[Analysis, str | bytes], right: tuple[Analysis, str | bytes]) -> Alignment:
    """Align two models using weight values: equal ones determine counterparts, others are changes.

    Each side is an analysis and the file it was made from.
    """
    sides = WeightComparison(*left), WeightComparison(*right)
    try:
        first = align(left[0], right[0])
        contents = tuple(_contents(one, first, at) for at, one in enumerate(sides))
        found = align(left[0], right[0], (contents[0], contents[1]))
        return replace(found, pairs=tuple(_compared(sides, found, pair) for pair in found.pairs))
    finally:
        for one in sides:
            one.close()


def _contents(weights: WeightComparison, found: Alignment, at: int) -> dict[int, Hashable]:
    """Return node → digest of its matrix."""
    made: dict[int, Hashable] = {}
    for unit in found.sides[at].graph.units:
        held = weights.of(unit) if unit.weight and unit.opened < 2 else None
        digest = weights.digest(held) if held is not None else None
        if held is not None and digest is not None:
            made[unit.node] = (digest, held.shape, held.turned)
    return made


def _compared(sides: tuple[WeightComparison, WeightComparison], found: Alignment, pair: Pair) -> Pair:
    details = list(pair.details)
    for one, other in pair.units:
        units = found.sides[0].graph.units[one], found.sides[1].graph.units[other]
        if any(unit.opened > 1 for unit in units) or not (units[0].weight and units[1].weight):
            continue
        held = sides[0].of(units[0]), sides[1].of(units[1])
        if held[0] is None or held[1] is None or units[0].weight != units[1].weight:
            continue
        made = _difference(sides, held[0], held[1])
        if made is not None:
            details.append(made)
    return pair if len(details) == len(pair.details) else replace(pair, details=tuple(details))


def _difference(
    sides: tuple[WeightComparison, WeightComparison], one: HeldWeights, other: HeldWeights
) -> Detail | None:
    """Return how two weights differ; None if they are equal, or it is unknown."""
    digests = sides[0].digest(one), sides[1].digest(other)
    plain = one.scale < 0 and other.scale < 0 and one.turned == other.turned
    if plain and digests[0] is not None and digests[0] == digests[1]:
        return None
    told = [("unreadable" if d is None else d[:12]) for d in digests]
    if None in digests:
        return Detail(Change.WEIGHTS, "weight cannot be read", told[0], told[1])
    if one.shape != other.shape or one.turned != other.turned:
        return Detail(Change.WEIGHTS, "weight is stored in another form", told[0], told[1])
    try:
        distance = _distance(sides, one, other)
    except UnreadableTensor as why:
        return Detail(Change.WEIGHTS, f"weight cannot be compared: {why}", told[0], told[1])
    if distance is None:
        return None
    relative, largest = distance
    finite = math.isfinite(relative) and math.isfinite(largest)
    numbers = (relative, largest) if finite else (None, None)
    return Detail(Change.WEIGHTS, "weight", told[0], told[1], *numbers)


def _distance(
    sides: tuple[WeightComparison, WeightComparison], one: HeldWeights, other: HeldWeights
) -> tuple[float, float] | None:
    """Return the relative norm of the difference and its largest value; None if all are equal."""
    parts = sides[0].values(one, sides[0].scaling(one)), sides[1].values(other, sides[1].scaling(other))
    apart = whole = largest = 0.0
    rest: list[Any] = [np.empty(0), np.empty(0)]
    while True:
        for at in (0, 1):
            if not rest[at].size:
                rest[at] = next(parts[at], np.empty(0))
        count = min(rest[0].size, rest[1].size)
        if not count:
            break
        a, b = rest[0][:count], rest[1][:count]
        with np.errstate(invalid="ignore", over="ignore"):
            difference = a - b
        difference[a == b] = 0.0
        apart += float(np.dot(difference, difference))
        whole += float(np.dot(a, a))
        largest = max(largest, float(np.max(np.abs(difference))))
        rest = [rest[0][count:], rest[1][count:]]
    if not apart and not math.isnan(apart):
        return None
    return math.sqrt(apart / whole) if whole else math.inf, largest
