"""Differences between two tensors, accumulated over samples in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_MAX_SQNR_DB = 200.0
"""SQNR is clipped here: beyond it two tensors are equal for all purposes."""


@dataclass(slots=True)
class Distance:
    """Running sums over all values of one tensor and all samples.

    NaN and infinity are equal where both sides have them. All other values that are not finite are counted in
    ``incomparable``. Neither enters the sums. Texts are equal or not, and are counted apart.
    """

    count: int = 0
    """Number of values, including those that are not finite."""
    texts: int = 0
    """Number of texts among the values."""
    equal_texts: int = 0
    reference_energy: float = 0.0
    """Sum of squares of the reference."""
    model_energy: float = 0.0
    """Sum of squares of the model."""
    dot_product: float = 0.0
    noise_energy: float = 0.0
    """Sum of squares of the difference."""
    largest: float = 0.0
    """Largest absolute difference."""
    incomparable: int = 0
    """Values that are NaN or infinite on one side only, or differ in that. Different shapes count as one."""
    exact: bool = True
    """All values are equal."""

    def add(self, reference: Array, model: Array) -> None:
        """Add the values of one sample. Both arrays must have the same number of elements.

        An array of objects may hold texts and numbers; both sides must have texts at the same places.
        """
        if is_text(reference) or is_text(model):
            numbers = self._add_texts(reference, model)
            if numbers is None:
                self.add_mismatch()
                return
            reference, model = numbers
        a, b = reference.astype(np.float64).reshape(-1), model.astype(np.float64).reshape(-1)
        self.count += a.size
        if not a.size:
            return
        finite = np.isfinite(a) & np.isfinite(b)
        if not finite.all():
            rest = ~finite
            same = (a[rest] == b[rest]) | (np.isnan(a[rest]) & np.isnan(b[rest]))
            self.incomparable += int(np.count_nonzero(~same))
            a, b = a[finite], b[finite]
        difference = b - a
        self.reference_energy += float(a @ a)
        self.model_energy += float(b @ b)
        self.dot_product += float(a @ b)
        self.noise_energy += float(difference @ difference)
        if difference.size:
            self.largest = max(self.largest, float(np.abs(difference).max()))
        self.exact = self.exact and self.largest == 0.0 and self.incomparable == 0

    def _add_texts(self, reference: Array, model: Array) -> tuple[Array, Array] | None:
        """Add the texts of one sample and return the numbers; None if texts are where the other has none."""
        a, b = (list(array.reshape(-1)) for array in (reference, model))
        pairs = list(zip(a, b, strict=True))
        texts = [(x, y) for x, y in pairs if isinstance(x, (str, bytes)) and isinstance(y, (str, bytes))]
        numbers = [(x, y) for x, y in pairs if not isinstance(x, (str, bytes, type(None)))]
        numbers = [(x, y) for x, y in numbers if not isinstance(y, (str, bytes, type(None)))]
        if len(texts) + len(numbers) < len(pairs):
            return None
        equal = sum(_text(x) == _text(y) for x, y in texts)
        self.count += len(texts)
        self.texts += len(texts)
        self.equal_texts += equal
        self.exact = self.exact and equal == len(texts)
        return np.array([x for x, _ in numbers], np.float64), np.array([y for _, y in numbers], np.float64)

    def add_mismatch(self) -> None:
        """Count a sample whose shapes or types differ, so that its values cannot be compared."""
        self.incomparable += 1
        self.exact = False
        self.count += 1

    @property
    def relative(self) -> float | None:
        """Norm of the difference over the norm of the reference; None without values.

        Infinite if values cannot be compared, or if the reference is all zero and the model is not. The error
        of texts is the share that differs; of texts and numbers together, the larger error.
        """
        if not self.count:
            return None
        if self.incomparable:
            return math.inf
        different = 1 - self.equal_texts / self.texts if self.texts else 0.0
        return max(different, self._relative_of_numbers)

    @property
    def _relative_of_numbers(self) -> float:
        if self.noise_energy == 0.0:
            return 0.0
        return math.sqrt(self.noise_energy / self.reference_energy) if self.reference_energy else math.inf

    @property
    def sqnr_db(self) -> float | None:
        """Signal-to-quantization-noise ratio in decibels, at most 200; None without a difference.

        ``-20 log10(relative)``; None also if the relative error is infinite.
        """
        relative = math.inf if self.incomparable else self._relative_of_numbers
        if not relative or math.isinf(relative):
            return None
        return min(_MAX_SQNR_DB, -20 * math.log10(relative))

    @property
    def cosine(self) -> float | None:
        """Cosine similarity; None if a side is all zero or values cannot be compared."""
        norm = math.sqrt(self.reference_energy) * math.sqrt(self.model_energy)
        return None if self.incomparable or not norm else max(-1.0, min(1.0, self.dot_product / norm))


@dataclass(slots=True)
class Agreement:
    """Top-1 agreement: how often the largest value of the last axis has the same index on both sides."""

    rows: int = 0
    same: int = 0

    def add(self, reference: Array, model: Array) -> None:
        """Add one sample of shape ``(..., classes)``. Arrays with less than two classes are ignored."""
        if reference.ndim == 0 or reference.shape[-1] < 2 or reference.size == 0:
            return
        a, b = (array.reshape(-1, reference.shape[-1]).argmax(axis=1) for array in (reference, model))
        self.rows += a.size
        self.same += int(np.count_nonzero(a == b))

    @property
    def share(self) -> float | None:
        """Share of rows from 0 to 1; None without classes."""
        return self.same / self.rows if self.rows else None


def add_values(
    expected: Array, actual: Array, distance: Distance, agreement: Agreement | None = None
) -> None:
    """Add an output of one sample; other shapes and kinds of values count as a mismatch."""
    numeric = all(array.dtype.kind in "biufV" or is_text(array) for array in (expected, actual))
    if expected.shape != actual.shape or not numeric:
        distance.add_mismatch()
        return
    distance.add(expected, actual)
    if agreement is not None and expected.dtype.kind == "f":
        agreement.add(expected, actual)


def is_text(array: Array) -> bool:
    """True if an array can hold texts: of ONNX Runtime (objects), or of NumPy."""
    return array.dtype.kind in "OSU"


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
