"""How far values lie from what they should be, summed over samples without keeping them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_QUIETEST = 200.0
"""Decibels of SQNR beyond which two tensors are called equal."""


@dataclass(slots=True)
class Distance:
    """Sums over all values of one tensor in all samples seen.

    Not-a-number and infinity count as equal where both have the same there; elsewhere ``broken`` counts them,
    and they are in no sum.
    """

    count: int = 0
    signal: float = 0.0
    """Sum of squares of the reference."""
    other: float = 0.0
    """The same of the model."""
    product: float = 0.0
    noise: float = 0.0
    """Sum of squares of the difference."""
    largest: float = 0.0
    """Difference of two values."""
    broken: int = 0
    """Values that are finite on one side only."""
    exact: bool = True
    """No value differs."""

    def add(self, reference: Array, model: Array) -> None:
        """One sample; both of one size."""
        a, b = reference.astype(np.float64).reshape(-1), model.astype(np.float64).reshape(-1)
        self.count += a.size
        finite = np.isfinite(a) & np.isfinite(b)
        if not finite.all():
            odd = ~finite
            same = (a[odd] == b[odd]) | (np.isnan(a[odd]) & np.isnan(b[odd]))
            self.broken += int(np.count_nonzero(~same))
            a, b = a[finite], b[finite]
        difference = b - a
        self.signal += float(a @ a)
        self.other += float(b @ b)
        self.product += float(a @ b)
        self.noise += float(difference @ difference)
        if difference.size:
            self.largest = max(self.largest, float(np.abs(difference).max()))
        self.exact = self.exact and self.largest == 0.0 and self.broken == 0

    @property
    def relative(self) -> float | None:
        """Norm of the difference over the norm of the reference; None where nothing was seen.

        Infinity where values are broken, or where the reference is all zero and the model is not.
        """
        if not self.count:
            return None
        if self.broken:
            return math.inf
        if self.noise == 0.0:
            return 0.0
        return math.sqrt(self.noise / self.signal) if self.signal else math.inf

    @property
    def sqnr_db(self) -> float | None:
        """Signal to noise in decibels, at most 200; None where there is no noise, or no measure of it."""
        relative = self.relative
        if not relative or math.isinf(relative):
            return None
        return min(_QUIETEST, -20 * math.log10(relative))

    @property
    def cosine(self) -> float | None:
        """Of the angle between both; None where one is all zero or broken."""
        norm = math.sqrt(self.signal) * math.sqrt(self.other)
        return None if self.broken or not norm else max(-1.0, min(1.0, self.product / norm))


@dataclass(slots=True)
class Agreement:
    """Of class scores: how often both have the largest in the same place."""

    rows: int = 0
    same: int = 0

    def add(self, reference: Array, model: Array) -> None:
        """One sample; the last axis is that of the classes."""
        if reference.ndim == 0 or reference.shape[-1] < 2 or reference.size == 0:
            return
        a, b = (one.reshape(-1, reference.shape[-1]).argmax(axis=1) for one in (reference, model))
        self.rows += a.size
        self.same += int(np.count_nonzero(a == b))

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where there are no classes."""
        return self.same / self.rows if self.rows else None
