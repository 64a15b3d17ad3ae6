"""CPU time of the float and the quantized model, which other programs on the machine hardly change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session
from py_autodoc.samples import Sample

SLOWER, FASTER = 0.95, 1.05
"""Ratios of speed between which two models count as equally fast."""
_RUNS, _LEAST = 40, 3
_SECONDS = 1.5
"""CPU time after which no further run starts, for both models together."""
_QUANTILE = 0.2


class CpuTime(msgspec.Struct, frozen=True, kw_only=True):
    """CPU time of one run in one thread, in milliseconds: the lower fifth of some runs in turn."""

    float_ms: float
    quantized_ms: float

    @property
    def speed(self) -> float:
        """Speed as a multiple of the float model's."""
        return self.float_ms / self.quantized_ms


def cpu_time(model: PathLike, quantized: Path, samples: Sequence[Sample]) -> CpuTime | None:
    """Run both models in turn. None: one of them does not run, or the clock is too coarse."""
    try:
        sessions = [open_session(path, "Quantization", threads=1) for path in (model, quantized)]
        names = [[value.name for value in session.get_inputs()] for session in sessions]
        measured: list[list[float]] = [[], []]
        for run in range(_RUNS + 1):
            sample = samples[run % len(samples)]
            for session, inputs, times in zip(sessions, names, measured, strict=True):
                times.append(_seconds(session, {name: sample[name] for name in inputs}, base_name(model)))
            if run >= _LEAST and sum(map(sum, measured)) > _SECONDS:
                break
    except (AutodocError, KeyError):
        return None
    before, after = (float(np.quantile(times[1:], _QUANTILE)) * 1e3 for times in measured)
    return CpuTime(float_ms=before, quantized_ms=after) if before > 0 and after > 0 else None


def _seconds(session: Any, sample: Sample, name: str) -> float:
    begin = time.thread_time()
    run_session(session, None, sample, name)
    return time.thread_time() - begin
