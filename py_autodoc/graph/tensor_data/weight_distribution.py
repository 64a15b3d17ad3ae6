"""Distribution of the values in one tensor: histogram, quantiles and number of distinct values.

Exact, without sampling. Types of at most 16 bits are counted by code in a single read; wider types are read
again once their extremes are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.tensor_data.tensor_decoding import Array, code_values, codes_of
from py_autodoc.graph.tensor_data.weight_stats import TensorFacts

BINS = 64
MAX_DISTINCT = 1024
"""Maximum distinct values counted for types wider than 16 bits."""
MAX_BUFFERED_BYTES = 64 << 20
"""Maximum bytes of wide types kept in memory for quantiles; larger tensors have none."""
PROBABILITIES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts[i]`` finite values are in [``edges[i]``, ``edges[i + 1]``).

    The last bin includes its upper edge, except for ``integers``, whose bins end before an integer.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    integers: bool


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of the finite values. All None for complex numbers and without finite values."""

    histogram: Histogram | None = None
    quantiles: tuple[float, ...] | None = None
    """At ``PROBABILITIES``: the smallest value v for which at least this share is ≤ v (Hyndman and Fan 1996,
    definition 1), which is always one of the values. None for more than ``MAX_BUFFERED_BYTES`` of a wide
    type."""
    distinct: int | None = None
    """Number of distinct values, 0 and -0 counted once; None for over ``MAX_DISTINCT`` of a wide type."""


class CodeCounter:
    """Counts the codes of a type of at most 16 bits."""

    def __init__(self, dtype: int) -> None:
        self._dtype = dtype
        self._counts = np.zeros(1 << BITS[dtype], np.int64)

    def add(self, data: bytes, elements: int) -> None:
        """Add ``elements`` elements from their stored bytes."""
        codes = codes_of(data, self._dtype, elements)
        self._counts += np.bincount(codes, minlength=self._counts.size)

    def result(self) -> Distribution:
        """Return the distribution of all added elements."""
        values = code_values(self._dtype)
        present = (self._counts > 0) & (np.isfinite(values) if values.dtype.kind == "f" else True)
        values, counts = values[present], self._counts[present]
        if not values.size:
            return Distribution()
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        bins = _Bins(values[0].item(), values[-1].item(), values.dtype.kind != "f")
        bins.add(values, counts)
        reached = np.cumsum(counts)
        positions = np.searchsorted(
            reached, [_rank(p, int(reached[-1])) for p in PROBABILITIES], side="right"
        )
        quantiles = tuple(values[position].item() for position in positions)
        return Distribution(bins.result(), quantiles, int(np.unique(values).size))


class ValueCounter:
    """Counts decoded numbers of a wider type, whose extremes are known from a first read."""

    def __init__(self, facts: TensorFacts, kind: str, item_bytes: int) -> None:
        low, high = facts.minimum, facts.maximum
        self._bins = None if low is None or high is None else _Bins(low, high, kind != "f")
        self._unread = facts.elements - facts.nan - facts.inf
        self._chunks: list[Array] | None = [] if facts.elements * item_bytes <= MAX_BUFFERED_BYTES else None
        self._distinct: Array | None = None
        self._too_many_distinct = False

    def add(self, values: Array) -> bool:
        """Add numbers; return False if they differ from those of the first read."""
        if self._bins is None or not values.size:
            return True
        if values.dtype.kind == "f":
            values = values[np.isfinite(values)]
        if values.size and not self._bins.spans(values.min().item(), values.max().item()):
            return False
        self._bins.add(values)
        self._unread -= values.size
        if self._chunks is not None:
            self._chunks.append(values)
        if not self._too_many_distinct:
            distinct = np.unique(values)
            self._distinct = distinct if self._distinct is None else np.union1d(self._distinct, distinct)
            self._too_many_distinct = self._distinct.size > MAX_DISTINCT
        return True

    def result(self) -> Distribution | None:
        """Return the distribution of all added numbers; None if it differs from the first read."""
        if self._bins is None:
            return Distribution()
        if self._unread:
            return None
        distinct = None if self._too_many_distinct or self._distinct is None else int(self._distinct.size)
        return Distribution(self._bins.result(), self._quantiles(), distinct)

    def _quantiles(self) -> tuple[float, ...] | None:
        if self._chunks is None:
            return None
        values = np.concatenate(self._chunks)
        self._chunks = None
        ranks = [_rank(p, values.size) for p in PROBABILITIES]
        values.partition(sorted(set(ranks)))
        return tuple(values[rank].item() for rank in ranks)


def _rank(probability: float, count: int) -> int:
    """Return the rank (from 0) of a quantile, tolerating rounding just below an integer."""
    return max(0, math.ceil(probability * count - 1e-9) - 1)


class _Bins:
    """Equal bins from the smallest to the largest value; integers get bins of integer width."""

    def __init__(self, low: float, high: float, integers: bool) -> None:
        self._low, self._high = low, high
        self._integers = integers
        self._scale = 1.0
        if integers:
            self._width = (int(high) - int(low)) // BINS + 1
            count = (int(high) - int(low)) // self._width + 1
            self._edges: tuple[float, ...] = tuple(int(low) + i * self._width for i in range(count + 1))
        else:
            # The range between the largest floats overflows a float.
            self._scale = 1.0 if math.isfinite(high - low) else 0.5
            edges = np.linspace(low * self._scale, high * self._scale, BINS + 1)
            span = float(edges[-1] - edges[0])
            distinct_edges = span > 0 and math.isfinite(BINS / span) and bool(np.all(np.diff(edges) > 0))
            self._edges = tuple((edges / self._scale).tolist()) if distinct_edges else (low, high)
        self._counts = np.zeros(len(self._edges) - 1, np.int64)

    def spans(self, low: float, high: float) -> bool:
        """True if both values lie between the extremes."""
        return self._low <= low and high <= self._high

    def add(self, values: Array, counts: Array | None = None) -> None:
        """Add finite values, weighted by ``counts``."""
        if self._integers:
            bin_numbers = self._offsets(values) // np.uint64(self._width)
            weights: Any = None if counts is None else counts.astype(np.float64)
            added = np.bincount(bin_numbers.astype(np.intp), weights, self._counts.size)
        elif self._counts.size == 1:
            added = np.array([values.size if counts is None else counts.sum()])
        else:
            scaled = values.astype(np.float64) * self._scale
            span = (self._low * self._scale, self._high * self._scale)
            added, _ = np.histogram(scaled, self._counts.size, span, weights=counts)
        self._counts += added.astype(np.int64)

    def _offsets(self, values: Array) -> Array:
        """Return exact distances from the smallest value, as unsigned arithmetic wraps around."""
        wide_values: Array = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64).view(
            np.uint64
        )
        offsets: Array = wide_values - np.uint64(int(self._low) % (1 << 64))
        return offsets

    def result(self) -> Histogram:
        """Return the histogram of all added values."""
        return Histogram(self._edges, tuple(self._counts.tolist()), self._integers)
