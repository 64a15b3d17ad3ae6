"""Size, time and quality of variants in pairs, for plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from py_autodoc.compare.impact import ESTIMATED, Impact, ImpactPoint
from py_autodoc.render.plots.series import PlotAxis, Scatter, ScatterPoint
from py_autodoc.units import seconds, size

NAMES = ("quality-by-latency", "quality-by-size", "latency-by-size")
"""Names of the possible plots."""
_NUMBERS = ("quality", "latency", "size")


def tradeoffs(impact: Impact, labels: Sequence[str]) -> dict[str, Scatter]:
    """Return the plots by name, for pairs of metrics that every variant has. Empty if only sizes are known.

    ``labels`` are those of the variants, in order.
    """
    metrics = [name for name in _NUMBERS if all(_value(point, name) is not None for point in impact.points)]
    plots = {}
    for up, along in combinations(metrics, 2):
        points = tuple(
            _scatter_point(impact, point, label, up, along)
            for point, label in zip(impact.points, labels, strict=True)
        )
        x, y = _axis(impact, along), _axis(impact, up)
        plots[f"{up}-by-{along}"] = Scatter(x, y, points, front(points, x, y), _criteria(impact))
    return plots


def captions(impact: Impact, labels: Sequence[str]) -> dict[str, str]:
    """Return the caption of each plot, which is also its alternative text."""
    captions = {}
    for name, plot in tradeoffs(impact, labels).items():
        best = ", ".join(point.label for point in plot.points if point.best)
        text = f"{plot.y.label} by {plot.x.label}. On the Pareto front of {plot.best}: {best}."
        if impact.latency == ESTIMATED and "latency" in name:
            text += " Times are estimates."
        captions[name] = text
    return captions


def variant_labels(names: Sequence[str], precisions: Sequence[str]) -> list[str]:
    """Return names of the variants; duplicates are extended by their precision or position."""
    name_counts, pair_counts = Counter(names), Counter(zip(names, precisions, strict=True))
    labels = []
    for position, (name, precision) in enumerate(zip(names, precisions, strict=True), 1):
        if name_counts[name] < 2:
            labels.append(name)
        elif pair_counts[name, precision] < 2:
            labels.append(f"{name} ({precision})")
        else:
            labels.append(f"{name} ({position})")
    return labels


def front(points: Sequence[ScatterPoint], x: PlotAxis, y: PlotAxis) -> tuple[int, ...]:
    """Return the indices of Pareto-optimal points in two metrics, by ``x``; equal ones once."""
    sign_x, sign_y = (1 if axis.lower_is_better else -1 for axis in (x, y))
    order = sorted(range(len(points)), key=lambda index: (sign_x * points[index].x, sign_y * points[index].y))
    front: list[int] = []
    for index in order:
        if not front or sign_y * points[index].y < sign_y * points[front[-1]].y:
            front.append(index)
    return tuple(sorted(front, key=lambda index: points[index].x))


def _scatter_point(impact: Impact, point: ImpactPoint, label: str, up: str, along: str) -> ScatterPoint:
    (third,) = set(_NUMBERS) - {up, along}
    value = _value(point, third)
    detail = "" if value is None else _value_text(impact, third, value)
    x, y = _value(point, along), _value(point, up)
    if x is None or y is None:
        raise ValueError("a variant has no number for the plot")
    return ScatterPoint(
        label,
        x,
        y,
        point.on_front,
        detail,
        x_span=point.band if along == "latency" else None,
        y_span=point.band if up == "latency" else None,
    )


def _axis(impact: Impact, name: str) -> PlotAxis:
    if name == "size":
        return PlotAxis("size", "size")
    if name == "latency":
        label = impact.latency or name
        return PlotAxis("estimated latency" if label == ESTIMATED else label, "ms")
    return PlotAxis(impact.quality or name, "", impact.lower_is_better)


def _criteria(impact: Impact) -> str:
    """Return the criteria of the front as text."""
    words = [_axis(impact, name).label for name in ("size", "latency", "quality") if _is_known(impact, name)]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _is_known(impact: Impact, name: str) -> bool:
    return name == "size" or (impact.latency if name == "latency" else impact.quality) is not None


def _value(point: ImpactPoint, name: str) -> float | None:
    return point.size if name == "size" else point.latency if name == "latency" else point.quality


def _value_text(impact: Impact, name: str, value: float) -> str:
    if name == "size":
        return size(value)
    if name == "latency":
        return seconds(value / 1000)
    return f"{impact.quality} {value:.6g}"
