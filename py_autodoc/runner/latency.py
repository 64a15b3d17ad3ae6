"""Time runs of several sessions in turn, and summarise the times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

Clock = Callable[[], float]
LOW = 0.2
"""Quantile of times that are compared: other load on the machine lengthens most runs, but rarely all."""
Progress = Callable[[int, int], None]


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Latency of one run in milliseconds."""

    runs: int
    low_ms: float
    """A fifth of the runs are faster."""
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
    low, p50, p90, p99 = (float(value) for value in np.quantile(ms, (LOW, 0.5, 0.9, 0.99)))
    return Latency(
        runs=len(ms),
        low_ms=low,
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
    return clocked_in_turn(runs, count, warmup, (clock,), progress)[0]


def clocked_in_turn(
    runs: Sequence[Callable[[int], object]],
    count: int,
    warmup: int,
    clocks: Sequence[Clock],
    progress: Progress | None = None,
) -> list[list[list[float]]]:
    """Return for each clock what ``time_in_turn`` does."""
    for run in runs:
        for index in range(warmup):
            run(index)
    times: list[list[list[float]]] = [[[] for _ in runs] for _ in clocks]
    for index in range(count):
        for number, run in enumerate(runs):
            began = [clock() for clock in clocks]
            run(index)
            for clock, begin, measured in zip(clocks, began, times, strict=True):
                measured[number].append(clock() - begin)
        if progress is not None:
            progress(index + 1, count)
    return times
