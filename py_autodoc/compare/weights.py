"""Comparison of weight values: digests and, where these differ, the distance of the values.

Weights are read in pieces, from both files at a time; only digests and sums are kept. Quantized weights are
dequantized, per tensor or per channel, before they are compared with float ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from py_autodoc.compare.align import Alignment, Pair, align
from py_autodoc.compare.changes import Change, Detail
from py_autodoc.compare.folding import chain, folded
from py_autodoc.compare.run_difference import ROUNDING
from py_autodoc.compare.settings import input_name
from py_autodoc.compare.stored_weights import ModelWeights, StoredWeight
from py_autodoc.compare.units import Unit
from py_autodoc.costs.tensor_sizes import FLOAT_TYPES
from py_autodoc.graph.ir.model import Tensor
from py_autodoc.graph.tensor_data.tensor_bytes import UnreadableTensor
from py_autodoc.report.pipeline.analysis import Analysis

_MAX_TURNED = 1 << 25
"""Largest matrix that is transposed in memory, in elements: 256 MiB of float64."""


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
        first, second = (chain(side, unit) for side, unit in zip(models, units, strict=True))
        if [node.op_type for node in first] != [node.op_type for node in second]:
            details += _folded_difference(models, units, (weights[0], weights[1]))
            continue
        detail = _difference(models, weights[0], weights[1])
        if detail is not None:
            details.append(detail)
    return pair if len(details) == len(pair.details) else replace(pair, details=tuple(details))


def _folded_difference(
    models: tuple[ModelWeights, ModelWeights],
    units: tuple[Unit, Unit],
    weights: tuple[StoredWeight, StoredWeight],
) -> Iterator[Detail]:
    """Yield how products differ, beyond rounding, that have other constants after them folded in."""
    try:
        products = [
            folded(side, unit, weight) for side, unit, weight in zip(models, units, weights, strict=True)
        ]
    except UnreadableTensor as fault:
        yield Detail(Change.WEIGHTS, f"weight cannot be compared: {fault}", "–", "–")
        return
    compared = [
        w if p is None else replace(w, folded=p.scaling) for w, p in zip(weights, products, strict=True)
    ]
    detail = _difference(models, compared[0], compared[1])
    if detail is not None and (detail.distance is None or detail.distance > ROUNDING):
        yield detail
    if products[0] is None or products[1] is None:
        return
    left, right = np.broadcast_arrays(products[0].bias, products[1].bias)
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
    is_turned = left.transposed != right.transposed
    if left.matrix != right.matrix or (is_turned and math.prod(left.shape) > _MAX_TURNED):
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
    streams = [side.values(w, side.scaling(w)) for side, w in zip(models, (left, right), strict=True)]
    if left.transposed != right.transposed:
        turned = int(right.transposed)
        stored = (left, right)[turned]
        whole = np.concatenate([np.empty(0), *streams[turned]])
        streams[turned] = iter([whole.reshape(stored.shape).T.ravel()])
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
