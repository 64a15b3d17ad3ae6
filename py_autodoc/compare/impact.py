"""Gains and losses of model variants: size, time, quality, precision by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.changes import Change
from py_autodoc.compare.evaluation import Evaluation, lower_is_better
from py_autodoc.compare.measures import estimates as stored_or_estimated
from py_autodoc.compare.measures import precision
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
        return ("size", *(metric for metric in (self.latency, self.quality) if metric is not None))

    def speedup(self, index: int) -> float | None:
        """Return the time of the first variant over that of another."""
        first, latency = self.points[0].latency, self.points[index].latency
        return None if first is None or not latency else first / latency


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
    by_model = [*evaluations, *[None] * (len(analyses) - len(evaluations))]
    quality = next((e.primary for e in by_model if e is not None and e.primary), None)
    if quality and any(_quality(evaluation, quality) is None for evaluation in by_model):
        quality = None
    latency, times, bands = _times(analyses, by_model)
    lower_better = quality is not None and lower_is_better(quality)
    points = [
        ImpactPoint(
            analysis.model.file.bytes + analysis.model.file.external_bytes,
            times[index],
            _quality(by_model[index], quality) if quality else None,
            band=bands[index],
        )
        for index, analysis in enumerate(analyses)
    ]
    front = [not any(_dominates(other, point, lower_better) for other in points) for point in points]
    marked = tuple(replace(point, on_front=best) for point, best in zip(points, front, strict=True))
    return Impact(quality, lower_better, latency, marked)


def _quality(evaluation: Evaluation | None, name: str) -> float | None:
    return None if evaluation is None else evaluation.metrics.get(name)


def _times(
    analyses: Sequence[Analysis], evaluations: Evaluations
) -> tuple[str | None, list[float | None], list[tuple[float, float] | None]]:
    """Return (name, milliseconds of each, likely ranges); measured and estimated times are not mixed."""
    unknown: list[tuple[float, float] | None] = [None] * len(analyses)
    names = [
        name
        for evaluation in evaluations
        if evaluation is not None
        for name in evaluation.perf
        if name.startswith("latency_ms")
    ]
    for name in sorted(set(names), key=lambda name: (name != "latency_ms_p50", names.index(name))):
        measured = [None if evaluation is None else evaluation.perf.get(name) for evaluation in evaluations]
        if all(value is not None and value > 0 for value in measured):
            return name, measured, unknown
    estimates: list[float | None] = []
    bands = list(unknown)
    for index, analysis in enumerate(analyses):
        estimate = stored_or_estimated(analysis)
        if estimate is None or estimate.unknown_kernels or estimate.estimated_latency_ms is None:
            return None, [None] * len(analyses), unknown
        estimates.append(estimate.estimated_latency_ms)
        if estimate.latency_low_ms is not None and estimate.latency_high_ms is not None:
            bands[index] = (estimate.latency_low_ms, estimate.latency_high_ms)
    return (ESTIMATED, estimates, bands) if estimates else (None, [], [])


def _dominates(other: ImpactPoint, point: ImpactPoint, lower_better: bool) -> bool:
    sign = -1 if lower_better else 1
    pairs = [(-other.size, -point.size)]
    if other.latency is not None and point.latency is not None:
        pairs.append((-other.latency, -point.latency))  # type: ignore[arg-type]
    if other.quality is not None and point.quality is not None:
        pairs.append((sign * other.quality, sign * point.quality))  # type: ignore[arg-type]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def evaluation_rows(evaluations: Evaluations) -> Iterator[tuple[str, list[float | None], bool]]:
    """Yield (name, value per model, whether it is a quality metric) for all metrics in the evaluations."""
    for quality in (True, False):
        names: dict[str, None] = {}
        for evaluation in evaluations:
            names |= dict.fromkeys(
                () if evaluation is None else evaluation.metrics if quality else evaluation.perf
            )
        for name in names:
            metrics = [
                {} if evaluation is None else evaluation.metrics if quality else evaluation.perf
                for evaluation in evaluations
            ]
            yield name, [values.get(name) for values in metrics], quality


def layer_precisions(alignment: Alignment) -> list[LayerPrecision]:
    """Return the layers whose precision differs, largest weights first."""
    layers = []
    bytes_of = [side.analysis.params.node_bytes for side in alignment.sides]
    for pair in alignment.pairs:
        change = next((detail for detail in pair.details if detail.kind is Change.PRECISION), None)
        if change is None:
            continue
        sizes = [
            _sum([bytes_of[side][node] for node in nodes])
            for side, nodes in enumerate((pair.left, pair.right))
        ]
        layers.append(LayerPrecision(pair.left, pair.right, pair.core, change.left, change.right, *sizes))
    return sorted(layers, key=lambda layer: -(layer.bytes_before or 0))


def _sum(sizes: Sequence[int | None]) -> int | None:
    return None if any(size is None for size in sizes) else sum(size or 0 for size in sizes)


def precisions(analyses: Sequence[Analysis]) -> list[str]:
    """Return a short name of each model's precision."""
    return [precision(analysis)[0] for analysis in analyses]
