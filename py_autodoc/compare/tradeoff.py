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


def tradeoffs(found: Impact, labels: Sequence[str]) -> dict[str, Scatter]:
    """Return the plots by name, for pairs of metrics that every variant has. Empty if only sizes are known.

    ``labels`` are those of the variants, in order.
    """
    known = [name for name in _NUMBERS if all(_value(point, name) is not None for point in found.points)]
    made = {}
    for up, along in combinations(known, 2):
        points = tuple(
            _scatter_point(found, point, label, up, along)
            for point, label in zip(found.points, labels, strict=True)
        )
        x, y = _axis(found, along), _axis(found, up)
        made[f"{up}-by-{along}"] = Scatter(x, y, points, front(points, x, y), _listed(found))
    return made


def captions(found: Impact, labels: Sequence[str]) -> dict[str, str]:
    """Return the caption of each plot, which is also its alternative text."""
    made = {}
    for name, one in tradeoffs(found, labels).items():
        best = ", ".join(point.label for point in one.points if point.best)
        text = f"{one.y.label} by {one.x.label}. On the Pareto front of {one.best}: {best}."
        if found.latency == ESTIMATED and "latency" in name:
            text += " Times are estimates."
        made[name] = text
    return made


def labelled(names: Sequence[str], precisions: Sequence[str]) -> list[str]:
    """Return names of the variants; duplicates are extended by their precision or position."""
    same, pairs = Counter(names), Counter(zip(names, precisions, strict=True))
    made = []
    for at, (name, precision) in enumerate(zip(names, precisions, strict=True), 1):
        if same[name] < 2:
            made.append(name)
        elif pairs[name, precision] < 2:
            made.append(f"{name} ({precision})")
        else:
            made.append(f"{name} ({at})")
    return made


def front(points: Sequence[ScatterPoint], x: PlotAxis, y: PlotAxis) -> tuple[int, ...]:
    """Return the indices of Pareto-optimal points in two metrics, by ``x``; equal ones once."""
    sign_x, sign_y = (1 if one.lower_is_better else -1 for one in (x, y))
    order = sorted(range(len(points)), key=lambda at: (sign_x * points[at].x, sign_y * points[at].y))
    kept: list[int] = []
    for at in order:
        if not kept or sign_y * points[at].y < sign_y * points[kept[-1]].y:
            kept.append(at)
    return tuple(sorted(kept, key=lambda at: points[at].x))


def _scatter_point(found: Impact, point: ImpactPoint, label: str, up: str, along: str) -> ScatterPoint:
    (third,) = set(_NUMBERS) - {up, along}
    value = _value(point, third)
    detail = "" if value is None else _written(found, third, value)
    x, y = _value(point, along), _value(point, up)
    if x is None or y is None:
        raise ValueError("a variant has no number for the plot")
    return ScatterPoint(
        label, x, y, point.on_front, detail,
        x_span=point.band if along == "latency" else None,
        y_span=point.band if up == "latency" else None,
    )  # fmt: skip


def _axis(found: Impact, name: str) -> PlotAxis:
    if name == "size":
        return PlotAxis("size", "size")
    if name == "latency":
        label = found.latency or name
        return PlotAxis("estimated latency" if label == ESTIMATED else label, "ms")
    return PlotAxis(found.quality or name, "", found.lower_is_better)


def _listed(found: Impact) -> str:
    """Return the criteria of the front as text."""
    words = [_axis(found, name).label for name in ("size", "latency", "quality") if _has(found, name)]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _has(found: Impact, name: str) -> bool:
    return name == "size" or (found.latency if name == "latency" else found.quality) is not None


def _value(point: ImpactPoint, name: str) -> float | None:
    return point.size if name == "size" else point.latency if name == "latency" else point.quality


def _written(found: Impact, name: str, value: float) -> str:
    if name == "size":
        return size(value)
    if name == "latency":
        return seconds(value / 1000)
    return f"{found.quality} {value:.6g}"
