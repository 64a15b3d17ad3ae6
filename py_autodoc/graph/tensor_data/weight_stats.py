"""Statistics and content hash of one tensor, computed from its stored bytes in chunks."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from py_autodoc.graph.tensor_data.tensor_decoding import decode

CHUNK_ELEMENTS = 1 << 18
"""Elements decoded at once: 4 MiB of the widest type, about 20 MiB with intermediate results."""


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """Statistics of a tensor. Extremes and moments cover the finite values."""

    tensor: int
    elements: int
    nan: int
    inf: int
    zero: int
    minimum: float | None
    """An exact ``int`` for integer types."""
    maximum: float | None
    mean: float | None
    """None, like the extremes and ``std``, for complex types, without finite values, and on overflow."""
    std: float | None
    """Population standard deviation."""
    digest: str
    """BLAKE2b (16 bytes, hex) of the stored bytes. Equal for equal values, type and count."""


class StatsAccumulator:
    """Accumulates statistics from the stored bytes of a tensor, in pieces of whole chunks."""

    def __init__(self, dtype: int) -> None:
        self.dtype = dtype
        self.elements = self.nan = self.inf = self.zero = 0
        self._low: float = math.inf
        self._high: float = -math.inf
        self._finite = 0
        self._mean = self._squares = 0.0
        self._real = True
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, data: bytes, elements: int) -> None:
        """Add ``elements`` elements."""
        self._hash.update(data)
        values = decode(data, self.dtype, elements)
        self.elements += elements
        self.zero += elements - int(np.count_nonzero(values))
        if values.dtype.kind == "c":
            self._real = False
            self.nan += int(np.count_nonzero(np.isnan(values)))
            self.inf += int(np.count_nonzero(np.isinf(values)))
            return
        if values.dtype.kind == "f":
            finite = np.isfinite(values)
            finite_count = int(np.count_nonzero(finite))
            if finite_count != elements:
                nan = int(np.count_nonzero(np.isnan(values)))
                self.nan += nan
                self.inf += elements - finite_count - nan
                values = values[finite]
        if values.size:
            # Integers stay integers, since floats cannot distinguish large ones.
            self._low = min(self._low, values.min().item())
            self._high = max(self._high, values.max().item())
            self._moments(values.astype(np.float64))

    def _moments(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        """Merge mean and squared deviations (Chan, Golub, LeVeque 1983, pairwise update)."""
        count = values.size
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean())
            squares = float(np.square(values - mean).sum())
        total = self._finite + count
        step = mean - self._mean
        self._squares += squares + step * step * self._finite * count / total
        self._mean += step * count / total
        self._finite = total

    def result(self, tensor: int) -> TensorFacts:
        """Return the facts of the whole tensor."""
        has_finite = self._real and self._finite > 0
        spread = math.sqrt(self._squares / self._finite) if has_finite and self._squares >= 0 else math.nan
        return TensorFacts(
            tensor,
            self.elements,
            self.nan,
            self.inf,
            self.zero,
            self._low if has_finite else None,
            self._high if has_finite else None,
            self._mean if has_finite and math.isfinite(self._mean) else None,
            spread if math.isfinite(spread) else None,
            self._hash.hexdigest(),
        )
