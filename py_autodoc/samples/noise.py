"""Generated values that a model can run with: valid indices, masks of ones, and noise for other inputs.

They show that a model runs, how long it takes, and where two models differ, but nothing about accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.samples.specs import MAX_BYTES, InputSpec, Sample

_FALLBACK_ROWS = 2
"""Rows of a table of unknown size."""
_SAMPLE_RATE = 16000
_LOUDNESS = 0.1
"""Standard deviation of a generated waveform, since speech rarely fills the range."""


def synthetic_samples(specs: list[InputSpec], count: int = 1, seed: int = 0) -> Iterator[Sample]:
    """Yield ``count`` samples; the same seed gives the same values on every machine.

    Raises: InputError: the samples are too large in total.
    """
    size = sum(prod(spec.shape) * spec.dtype.itemsize for spec in specs)
    if size * count > MAX_BYTES:
        raise InputError(
            "inputs-too-large",
            f"{count:,} samples of {size:,} bytes take more than 2 GB.",
            "Use fewer samples.",
        )
    random = np.random.Generator(np.random.PCG64(seed))
    longest = max((size for spec in specs if spec.role == "tokens" for size in spec.shape[-1:]), default=1)
    for _ in range(count):
        yield {spec.name: _values(spec, random, longest) for spec in specs}


def _values(spec: InputSpec, random: np.random.Generator, longest: int) -> np.ndarray[Any, Any]:
    kind, shape = spec.dtype.kind, spec.shape
    if spec.role in ("attention mask", "mask"):
        return np.ones(shape, spec.dtype)
    if spec.role == "sample rate":
        return np.full(shape, _SAMPLE_RATE, spec.dtype)
    if spec.role in ("state", "key/value cache", "token types"):
        return np.zeros(shape, spec.dtype)
    if spec.role == "positions":
        along = np.arange(shape[-1]) if shape else np.zeros(())
        return np.broadcast_to(along % (spec.rows or max(1, longest)), shape).astype(spec.dtype)
    if spec.role == "lengths":
        return np.full(shape, longest, spec.dtype)
    if kind == "b":
        return np.ones(shape, spec.dtype)
    if kind in "iu":
        return np.asarray(random.integers(0, _highest(spec), shape), spec.dtype)
    scale = _LOUDNESS if spec.role in ("waveform", "signal") else 1.0
    return np.asarray(scale * random.standard_normal(shape, np.float32), spec.dtype)


def _highest(spec: InputSpec) -> int:
    """Return the exclusive maximum of integers."""
    if spec.role == "tokens":
        return max(1, min(spec.rows or _FALLBACK_ROWS, int(np.iinfo(spec.dtype).max)))
    if spec.role in ("bytes", "image"):
        return min(256, int(np.iinfo(spec.dtype).max) + 1)
    return _FALLBACK_ROWS
