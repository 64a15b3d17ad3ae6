"""Selects points of a sweep: the batch with the highest throughput, and the smallest one close to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from py_autodoc import units
from py_autodoc.hardware.risk import TYPICAL, judged
from py_autodoc.sweep.schema import SweepChoice, SweepPoint

KNEE = 0.9
"""Share of the best throughput from which a larger batch is not worth its latency."""


class PointChoice(NamedTuple):
    """Index of a point, or why there is none."""

    point: int | None
    reason: str


def latency_text(point: SweepPoint) -> str:
    """Return ``6.26 ms (3.13 to 12.5 ms)``: the estimate with its likely range."""
    low, high = point.latency_low_ms, point.latency_high_ms
    text = units.seconds(None if point.latency_ms is None else point.latency_ms / 1e3)
    return text if low is None or high is None else f"{text} ({units.seconds_range(low / 1e3, high / 1e3)})"


def best(
    points: Sequence[SweepPoint],
    max_memory: int | None = None,
    max_latency: float | None = None,
    risk: str = TYPICAL,
) -> PointChoice:
    """Return the point with the highest throughput within ``max_memory`` (bytes) and ``max_latency`` (ms).

    Ties go to the lower latency. Points that do not fit their device are excluded.
    """
    timed = [index for index, point in enumerate(points) if point.throughput is not None]
    if not timed:
        return PointChoice(None, "no point has a throughput")
    within = [index for index in timed if _within(points[index], max_memory, max_latency, risk)]
    if not within:
        return PointChoice(None, _nearest(points, timed, max_memory, max_latency, risk))
    return PointChoice(
        max(within, key=lambda index: (points[index].throughput or 0, -(points[index].latency_ms or 0))), ""
    )


def knee(
    points: Sequence[SweepPoint],
    max_memory: int | None = None,
    max_latency: float | None = None,
    risk: str = TYPICAL,
) -> PointChoice:
    """Return the smallest batch within the limits that reaches ``KNEE`` of the best throughput."""
    top, reason = best(points, max_memory, max_latency, risk)
    if top is None:
        return PointChoice(None, reason)
    best_throughput = points[top].throughput or 0
    enough = [
        index
        for index, point in enumerate(points)
        if (point.throughput or 0) >= KNEE * best_throughput and _within(point, max_memory, max_latency, risk)
    ]
    return PointChoice(
        min(enough, key=lambda index: (points[index].batch or 0, points[index].latency_ms or 0)), ""
    )


def choices(
    points: Sequence[SweepPoint], max_memory: int | None, max_latency: float | None, risk: str = TYPICAL
) -> list[SweepChoice]:
    """Return the choices per device and precision, comparing batches with otherwise equal dimensions."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    for index, point in enumerate(points):
        if point.hardware is not None:
            groups.setdefault((point.hardware, point.precision or "", point.devices), []).append(index)
    sweep_choices = []
    for (hardware, precision, _), members in groups.items():
        inside = [points[index] for index in members]
        for question, rule in (("throughput", best), ("knee", knee)):
            choice = rule(inside, max_memory, max_latency, risk)
            sweep_choices.append(
                SweepChoice(
                    question=question,
                    hardware=hardware,
                    precision=precision or None,
                    point=None if choice.point is None else members[choice.point],
                    reason=choice.reason,
                )
            )
    return sweep_choices


def _within(point: SweepPoint, max_memory: int | None, max_latency: float | None, risk: str) -> bool:
    if point.fits is False:
        return False
    if max_memory is not None and (point.memory_bytes is None or point.memory_bytes > max_memory):
        return False
    latency = judged(point.latency_ms, point.latency_high_ms, risk)
    return max_latency is None or (latency is not None and latency <= max_latency)


def _nearest(
    points: Sequence[SweepPoint],
    timed: Sequence[int],
    max_memory: int | None,
    max_latency: float | None,
    risk: str,
) -> str:
    """Return what the point closest to the limits needs."""
    fitting = [index for index in timed if _within(points[index], max_memory, None, risk)]
    if fitting and max_latency is not None:
        least = min(fitting, key=lambda index: points[index].latency_ms or 0)
        low, high = points[least].latency_low_ms, points[least].latency_high_ms
        text = f"the lowest latency is {points[least].latency_ms:.3g} ms"
        return text if low == high or low is None else f"{text} (likely {low:.3g} to {high:.3g} ms)"
    sizes = [size for index in timed if (size := points[index].memory_bytes) is not None]
    return f"the least memory needed is {min(sizes):,} bytes" if sizes else "the required memory is unknown"
