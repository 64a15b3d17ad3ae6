"""Gains and losses of model variants: size, time, quality, precision by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.changes import Change
from py_autodoc.compare.evaluation import Evaluation, lower_is_better
from py_autodoc.compare.measures import precision
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.pipeline.analysis import Analysis

Evaluations = Sequence[Evaluation | None]
ESTIMATED = "estimated_latency_ms"


@dataclass(frozen=True, slots=True)
class ImpactPoint:
    """One variant. Sizes in bytes, times in milliseconds; None if unknown."""

    size: int
    latency: float | None
    quality: float | None
    on_front: bool = False
    """True if no other variant is at least as good in everything and better in something."""
    band: tuple[float, float] | None = None
    """Likely range of an estimated time."""


@dataclass(frozen=True, slots=True)
class Impact:
    """All variants."""

    quality: str | None
    """The compared metric: the primary one of the first evaluation, if every variant has it."""
    lower_is_better: bool
    latency: str | None
    """The compared time: measured if every variant has it, else estimated."""
    points: tuple[ImpactPoint, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        """The metrics that define the Pareto front."""
        return ("size", *(one for one in (self.latency, self.quality) if one is not None))

    def speedup(self, at: int) -> float | None:
        """Return the time of the first variant over that of another."""
        first, own = self.points[0].latency, self.points[at].latency
        return None if first is None or not own else first / own


@dataclass(frozen=True, slots=True)
class LayerPrecision:
    """A layer in both models. ``left`` and ``right`` are its nodes."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    core: str
    before: str
    after: str
    bytes_before: int | None
    """Bytes of its weights."""
    bytes_after: int | None


def impact(analyses: Sequence[Analysis], evaluations: Evaluations = ()) -> Impact:
    """Return the variants with those on the Pareto front marked."""
    known = [*evaluations, *[None] * (len(analyses) - len(evaluations))]
    primary = next((one.primary for one in known if one is not None and one.primary), None)
    quality = primary if primary and all(_quality(one, primary) is not None for one in known) else None
    latency, times, bands = _times(analyses, known)
    fewer = quality is not None and lower_is_better(quality)
    points = [
        ImpactPoint(
            one.model.file.bytes + one.model.file.external_bytes,
            times[at],
            _quality(known[at], quality) if quality else None,
            band=bands[at],
        )
        for at, one in enumerate(analyses)
    ]
    front = [not any(_beats(other, one, fewer) for other in points) for one in points]
    marked = tuple(replace(one, on_front=best) for one, best in zip(points, front, strict=True))
    return Impact(quality, fewer, latency, marked)


def _quality(one: Evaluation | None, name: str) -> float | None:
    return None if one is None else one.metrics.get(name)


def _times(
    analyses: Sequence[Analysis], known: Evaluations
) -> tuple[str | None, list[float | None], list[tuple[float, float] | None]]:
    """Return (name, milliseconds of each, likely ranges); measured and estimated times are not mixed."""
    unknown: list[tuple[float, float] | None] = [None] * len(analyses)
    names = [name for one in known if one is not None for name in one.perf if name.startswith("latency_ms")]
    for name in sorted(set(names), key=lambda name: (name != "latency_ms_p50", names.index(name))):
        found = [None if one is None else one.perf.get(name) for one in known]
        if all(value is not None and value > 0 for value in found):
            return name, found, unknown
    made: list[float | None] = []
    bands = list(unknown)
    for at, one in enumerate(analyses):
        estimate = hardware_estimates(one)
        if estimate is None or estimate.unknown_kernels or estimate.estimated_latency_ms is None:
            return None, [None] * len(analyses), unknown
        made.append(estimate.estimated_latency_ms)
        if estimate.latency_low_ms is not None and estimate.latency_high_ms is not None:
            bands[at] = (estimate.latency_low_ms, estimate.latency_high_ms)
    return (ESTIMATED, made, bands) if made else (None, [], [])


def _beats(other: ImpactPoint, one: ImpactPoint, fewer: bool) -> bool:
    sign = -1 if fewer else 1
    pairs = [(-other.size, -one.size)]
    if other.latency is not None and one.latency is not None:
        pairs.append((-other.latency, -one.latency))  # type: ignore[arg-type]
    if other.quality is not None and one.quality is not None:
        pairs.append((sign * other.quality, sign * one.quality))  # type: ignore[arg-type]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def evaluation_rows(evaluations: Evaluations) -> Iterator[tuple[str, list[float | None], bool]]:
    """Yield (name, value per model, whether it is a quality metric) for all metrics in the evaluations."""
    for quality in (True, False):
        names: dict[str, None] = {}
        for one in evaluations:
            names |= dict.fromkeys(() if one is None else one.metrics if quality else one.perf)
        for name in names:
            parts = [{} if one is None else one.metrics if quality else one.perf for one in evaluations]
            yield name, [part.get(name) for part in parts], quality


def layer_precisions(found: Alignment) -> list[LayerPrecision]:
    """Return the layers whose precision differs, largest weights first."""
    made = []
    bytes_of = [side.analysis.params.node_bytes for side in found.sides]
    for pair in found.pairs:
        change = next((one for one in pair.details if one.kind is Change.PRECISION), None)
        if change is None:
            continue
        sizes = [
            _sum([bytes_of[at][node] for node in nodes]) for at, nodes in enumerate((pair.left, pair.right))
        ]
        made.append(LayerPrecision(pair.left, pair.right, pair.core, change.left, change.right, *sizes))
    return sorted(made, key=lambda one: -(one.bytes_before or 0))


def _sum(sizes: Sequence[int | None]) -> int | None:
    return None if any(one is None for one in sizes) else sum(one or 0 for one in sizes)


def precisions(analyses: Sequence[Analysis]) -> list[str]:
    """Return a short name of each model's precision."""
    return [precision(one)[0] for one in analyses]
