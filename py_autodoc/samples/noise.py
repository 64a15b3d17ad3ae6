"""Generated values that a model can run with: valid indices, masks of ones, and noise for other inputs.

They show that a model runs, how long it takes, and where two models differ, but nothing about accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.free_memory import need
from py_autodoc.samples.specs import InputSpec, Sample, sample_bytes
from py_autodoc.units import size

MAX_GENERATED = 1 << 29
"""Maximum bytes of all generated samples: a few bytes of a model can declare inputs of any size."""
_FALLBACK_ROWS = 2
"""Rows of a table of unknown size."""
_TEXT = "text"
"""Value of text inputs."""
_SAMPLE_RATE = 16000
_LOUDNESS = 0.1
"""Standard deviation of a generated waveform, since speech rarely fills the range."""
_STATE = 0.3
"""That of a state: tanh holds most within 1. With zeros, the weights that read it would have no effect."""
_SCALES = {"waveform": _LOUDNESS, "signal": _LOUDNESS, "state": _STATE, "key/value cache": _STATE}
"""Standard deviations by role; 1 for others."""


def synthetic_samples(specs: list[InputSpec], count: int = 1, seed: int = 0) -> Iterator[Sample]:
    """Return ``count`` samples in turn; the same seed gives the same values on every machine.

    Raises: InputError: a sample, or all together, are larger than we generate, or than memory allows.
    """
    check_generated(specs, count)
    return _generated(specs, count, seed)


def most_samples(specs: Sequence[InputSpec], usual: int) -> int:
    """Return how many samples to generate if nobody asked for a number: fewer than usual of large inputs."""
    return max(1, min(usual, MAX_GENERATED // max(1, sample_bytes(specs))))


def check_generated(specs: Sequence[InputSpec], count: int) -> None:
    """Raises: InputError: ``count`` samples are too large to be generated; the message names the inputs."""
    each = sample_bytes(specs)
    # Large inputs first: they are what must become smaller.
    by_size = sorted(specs, key=lambda spec: -sample_bytes([spec]))
    named = ", ".join(spec.label for spec in by_size[:3])
    smaller = (
        "Set smaller dimensions with --bind or --input-shape, those of the file with `resize` or `rebatch`, "
        "or pass real values with --data."
    )
    if each > MAX_GENERATED:
        raise InputError(
            "inputs-too-large",
            f"Synthetic inputs would take {size(each)} (limit: {size(MAX_GENERATED)}): {named}.",
            smaller,
        )
    if each * count > MAX_GENERATED:
        raise InputError(
            "inputs-too-large",
            f"{count:,} synthetic samples of {size(each)} take more than {size(MAX_GENERATED)}: {named}.",
            "Use fewer with --samples.",
        )
    # Conversions hold the largest input twice.
    need(each * count + max((sample_bytes([spec]) for spec in specs), default=0), "Synthetic input", smaller)


def _generated(specs: list[InputSpec], count: int, seed: int) -> Iterator[Sample]:
    random = np.random.Generator(np.random.PCG64(seed))
    longest = max((side for spec in specs if spec.role == "tokens" for side in spec.shape[-1:]), default=1)
    for _ in range(count):
        yield {spec.name: _values(spec, random, longest) for spec in specs}


def _values(spec: InputSpec, random: np.random.Generator, longest: int) -> np.ndarray[Any, Any]:
    kind, shape = spec.dtype.kind, spec.shape
    if spec.dtype == object:
        return np.full(shape, _TEXT, object)
    if spec.role in ("attention mask", "mask"):
        return np.ones(shape, spec.dtype)
    if spec.role == "sample rate":
        return np.full(shape, _SAMPLE_RATE, spec.dtype)
    if spec.role == "token types":
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
    scale = _SCALES.get(spec.role, 1.0)
    values = np.asarray(random.standard_normal(shape, np.float32))
    if scale != 1.0:
        values *= np.float32(scale)
    return values.astype(spec.dtype, copy=False)


def _highest(spec: InputSpec) -> int:
    """Return the exclusive maximum of integers."""
    if spec.role == "tokens":
        return max(1, min(spec.rows or _FALLBACK_ROWS, int(np.iinfo(spec.dtype).max)))
    if spec.role in ("bytes", "image"):
        return min(256, int(np.iinfo(spec.dtype).max) + 1)
    return _FALLBACK_ROWS
