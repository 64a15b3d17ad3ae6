"""The points of a sweep as lines: latency, throughput and memory by the first varied size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from py_autodoc import units
from py_autodoc.render.plots.series import PlotLines
from py_autodoc.sweep.schema import Sweep, SweepPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from py_autodoc.render.plots.draw import Theme

NAMES = ("sweep-latency", "sweep-throughput", "sweep-memory")
"""Names of the possible plots."""
_DEVICES = ("hardware", "precision", "devices")
MAX_LINES = 24
"""Maximum number of lines in a plot; those of further settings are omitted."""
_VALUES: Mapping[str, Callable[[SweepPoint], float | None]] = {
    "sweep-latency": lambda point: None if point.latency_ms is None else point.latency_ms / 1e3,
    "sweep-throughput": lambda point: point.throughput,
    "sweep-memory": lambda point: point.memory_bytes,
}
_LABELS: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "sweep-latency": ("estimated latency", units.seconds),
    "sweep-throughput": ("items per second", units.count),
    "sweep-memory": ("memory needed", units.size),
}


def sweep_lines(result: Sweep) -> tuple[str, dict[str, PlotLines]]:
    """Return the name of the varied size, and the lines of each plot that has numbers at two sizes."""
    along = next((name for name in result.axes if name not in _DEVICES), "")
    if not along:
        return "", {}
    positions = sorted({place for point in result.points if (place := _place(point, along)) is not None})
    if len(positions) < 2:
        return along, {}
    plots = {}
    for name, value in _VALUES.items():
        lines: dict[str, dict[int, float]] = {}
        for point in result.points:
            place, number = _place(point, along), value(point)
            if place is not None and number is not None:
                lines.setdefault(_setting(result, point, along), {})[place] = number
        drawn = {
            setting: tuple(numbers.get(place, float("nan")) for place in positions)
            for setting, numbers in list(lines.items())[:MAX_LINES]
        }
        if drawn:
            plots[name] = PlotLines(tuple(positions), drawn)
    return along, plots


def drawers(result: Sweep) -> dict[str, Callable[[Theme], Figure]]:
    """Return plot → function that draws it in a theme, for plots with numbers."""
    from py_autodoc.render.plots import draw

    along, plots = sweep_lines(result)
    varies_shape = any(along in point.input_shapes for point in result.points)
    x_label = f"elements of {along}" if varies_shape else along
    return {
        name: partial(draw.lines, lines, label=_LABELS[name][0], x_label=x_label, written=_LABELS[name][1])
        for name, lines in plots.items()
    }


def _place(point: SweepPoint, along: str) -> int | None:
    """Return the position of a point on the horizontal axis; a shape is its number of elements."""
    if along in point.input_shapes:
        count = 1
        for size in point.input_shapes[along]:
            count *= size
        return count
    return point.bindings.get(along, point.batch if along == "batch" else None)


def _setting(result: Sweep, point: SweepPoint, along: str) -> str:
    """Return what else was chosen for a point, which names its line."""
    parts = [point.hardware or "", point.precision or ""]
    parts.append(f"{point.devices} devices" if point.devices > 1 else "")
    for name in result.axes:
        if name == along or name in _DEVICES:
            continue
        shape = point.input_shapes.get(name)
        size = "×".join(map(str, shape)) if shape else point.bindings.get(name, point.batch)
        parts.append(f"{name} {size}")
    return " ".join(part for part in parts if part) or result.model
