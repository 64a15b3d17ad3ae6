"""Difference between results and those of the float model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from py_autodoc.sensitivity.layers import Array

_SUM_TOLERANCE = 1e-3
"""Tolerance for sums of probabilities."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Score:
    """Figures over all samples."""

    sqnr_db: float | None
    """Signal-to-noise ratio in decibels; None if nothing differs, or values are not finite."""
    relative_error: float
    """Infinite if values are NaN or infinite."""
    kl: float | None
    """Mean Kullback-Leibler divergence of class probabilities, float model to quantized, in nats.

    None if the output does not hold class scores.
    """
    agreement: float | None
    """Share of rows whose largest score has the same index."""


class FloatResults:
    """Results of the float model for all samples.

    Args:
        results: one per sample.
        classes: whether the last axis holds class scores.
    """

    def __init__(self, results: Sequence[Array], classes: bool) -> None:
        self._results = [np.asarray(result, np.float64) for result in results]
        self.classes = classes and all(result.ndim > 0 and result.shape[-1] > 1 for result in self._results)
        self._signal = sum(float((result * result).sum()) for result in self._results)
        self._probable = self.classes and all(map(_probabilities, self._results))
        self._probabilities = [self._shares(result) for result in self._results] if self.classes else []

    def score(self, results: Sequence[Array]) -> Score:
        """Return the score of other results for the same samples."""
        results_given = [np.asarray(result, np.float64) for result in results]
        noise = sum(float(((a - b) ** 2).sum()) for a, b in zip(self._results, results_given, strict=True))
        if not (np.isfinite(noise) and np.isfinite(self._signal)):
            return Score(None, math.inf, math.inf if self.classes else None, None)
        relative = float(np.sqrt(noise / self._signal)) if self._signal else float(noise > 0)
        kl = agreement = None
        if self.classes:
            pairs = [(a, self._shares(b)) for a, b in zip(self._probabilities, results_given, strict=True)]
            rows = sum(a.shape[0] for a, _ in pairs)
            total = sum(float((a * (np.log(a + _TINY) - np.log(b + _TINY))).sum()) for a, b in pairs)
            kl = max(0.0, total / rows)
            same = sum(int((a.argmax(1) == b.argmax(1)).sum()) for a, b in pairs)
            agreement = same / rows
        return Score(-20 * float(np.log10(relative)) if relative else None, relative, kl, agreement)

    def _shares(self, result: Array) -> Array:
        """Return rows of probabilities."""
        rows = result.reshape(-1, result.shape[-1])
        if self._probable:
            return np.clip(rows, 0, None)
        shifted = np.exp(rows - rows.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _probabilities(result: Array) -> bool:
    sums = result.sum(axis=-1)
    return bool((result >= -_SUM_TOLERANCE).all() and np.abs(sums - 1).max(initial=0.0) < _SUM_TOLERANCE)
