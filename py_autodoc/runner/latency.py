"""Time runs of several sessions in turn, and summarise the times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

Clock = Callable[[], float]
Progress = Callable[[int, int], None]


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Latency of one run in milliseconds."""

    runs: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    """With fewer than 100 runs, close to the slowest."""
    mean_ms: float
    min_ms: float
    max_ms: float
    throughput_per_s: float
    """Items per second: the batch size divided by the median."""


def latency(seconds: Sequence[float], batch: int) -> Latency:
    """Return the statistics of some runs with ``batch`` items each."""
    ms = 1e3 * np.asarray(seconds, np.float64)
    p50, p90, p99 = (float(value) for value in np.percentile(ms, (50, 90, 99)))
    return Latency(
        runs=len(ms),
        p50_ms=p50,
        p90_ms=p90,
        p99_ms=p99,
        mean_ms=float(ms.mean()),
        min_ms=float(ms.min()),
        max_ms=float(ms.max()),
        throughput_per_s=1e3 * batch / p50 if p50 else float("inf"),
    )


def time_in_turn(
    runs: Sequence[Callable[[int], object]],
    count: int,
    warmup: int,
    clock: Clock = time.perf_counter,
    progress: Progress | None = None,
) -> list[list[float]]:
    """Return the seconds of ``count`` runs of each function, in turn, so that other load affects all of them.

    Each is called with the number of the run. ``warmup`` runs of each come first and are not timed.
    """
    for run in runs:
        for index in range(warmup):
            run(index)
    times: list[list[float]] = [[] for _ in runs]
    for index in range(count):
        for run, seconds in zip(runs, times, strict=True):
            began = clock()
            run(index)
            seconds.append(clock() - began)
        if progress is not None:
            progress(index + 1, count)
    return times
