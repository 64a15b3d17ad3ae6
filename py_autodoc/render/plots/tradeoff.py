"""Variants of a model by two of size, time and quality: all labelled, with the Pareto front marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from py_autodoc.render.plots.draw import HEIGHT, LABEL, Theme, figure_in, formatter, legend
from py_autodoc.render.plots.series import PlotAxis, Scatter, ScatterPoint
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.units import size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_LOG_RATIO = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_MARK = 8.0
"""Diameter of a mark in points."""
_DISTANCES = (7.0, 15.0, 26.0, 40.0, 58.0)
"""Distances between a mark and its label in points, tried in order."""
_MAX_UNLINKED_DISTANCE = 10.0
"""Distance in points up to which a label needs no leader line."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Directions for labels, in order of preference."""


class Box(NamedTuple):
    """Left, bottom, right and top in pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    def intersection_area(self, other: Box) -> float:
        """Return the area of the intersection."""
        wide = min(self.x1, other.x1) - max(self.x0, other.x0)
        high = min(self.y1, other.y1) - max(self.y0, other.y0)
        return wide * high if wide > 0 and high > 0 else 0.0

    def outside(self, frame: Box) -> float:
        """Return the area outside a frame."""
        return (self.x1 - self.x0) * (self.y1 - self.y0) - self.intersection_area(frame)


def tradeoff(scatter: Scatter, theme: Theme) -> Figure:
    """Draw the variants as marks, filled for the best by all criteria, and the front as steps."""
    figure, axes = figure_in(theme, HEIGHT + 0.6)
    _axis(axes, scatter.x, [point.x for point in scatter.points], along=True)
    _axis(axes, scatter.y, [point.y for point in scatter.points], along=False)
    front = [scatter.points[index] for index in scatter.front]
    if len(front) > 1:
        axes.plot(
            [point.x for point in front],
            [point.y for point in front],
            color=theme.lines[0],
            linewidth=1.2,
            linestyle="--",
            drawstyle="steps-post",
            alpha=0.8,
            label="front of these two",
            zorder=2,
        )
    for best, label in ((True, f"on the front of {scatter.best}"), (False, "not on it")):
        points = [point for point in scatter.points if point.best is best]
        if not points:
            continue
        for (x, y), (to_x, to_y) in (line for point in points for line in _spans(point)):
            axes.plot([x, to_x], [y, to_y], color=theme.faint, linewidth=1.0, alpha=0.7, zorder=1)
        axes.scatter(
            [point.x for point in points],
            [point.y for point in points],
            s=_MARK**2,
            label=label,
            zorder=3,
            marker="o" if best else "s",
            linewidths=1.4,
            facecolors=theme.lines[0] if best else theme.ground,
            edgecolors=theme.lines[0] if best else theme.lines[1],
        )
    axes.margins(0.14, 0.2)
    axes.grid(color=theme.grid, linewidth=0.8)
    legend(axes, theme)
    _label(figure, axes, theme, scatter)
    return figure


def _axis(axes: Axes, axis: PlotAxis, values: Sequence[float], along: bool) -> None:
    plot_axis = axes.xaxis if along else axes.yaxis
    better = "less is better" if axis.lower_is_better else "more is better"
    label = shorten(printable(axis.label), LABEL)
    plot_axis.set_label_text(f"{label} ({better})", parse_math=False)
    if min(values) > 0 and max(values) / min(values) > _LOG_RATIO:
        from matplotlib.ticker import LogLocator

        (axes.set_xscale if along else axes.set_yscale)("log")
        is_narrow = max(values) / min(values) < _LOG_RATIO * _LOG_RATIO
        plot_axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if is_narrow else (1.0,)))
    plot_axis.set_major_formatter(formatter(lambda value: format_value(value, axis)))
    plot_axis.set_minor_formatter(formatter(lambda _: ""))


def format_value(value: float | None, axis: PlotAxis) -> str:
    """Format a number of an axis."""
    if value is None:
        return ""
    if axis.unit == "size":
        return size(value) if value >= 0 else ""
    if axis.unit == "ms":
        return f"{value:.6g} ms" if value < 1000 else f"{value / 1000:.6g} s"
    return f"{value:.6g}".replace("-", "−")


def _spans(point: ScatterPoint) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the end points of the likely ranges."""
    if point.x_span is not None:
        yield (point.x_span[0], point.y), (point.x_span[1], point.y)
    if point.y_span is not None:
        yield (point.x, point.y_span[0]), (point.x, point.y_span[1])


def _label(figure: Figure, axes: Axes, theme: Theme, scatter: Scatter) -> None:
    """Label each mark, avoiding other marks, steps and labels as far as there is space."""
    points = scatter.points
    figure.draw_without_rendering()  # places the axes
    bounds = axes.get_window_extent()
    frame = Box(bounds.x0, bounds.y0, bounds.x1, bounds.y1)
    scale = figure.dpi / 72
    centres = [
        (float(x), float(y)) for x, y in axes.transData.transform([(point.x, point.y) for point in points])
    ]
    half = (_MARK / 2 + 1) * scale
    occupied = [Box(x - half, y - half, x + half, y + half) for x, y in centres]
    occupied += _steps([centres[index] for index in scatter.front], scale)
    for ends in (line for point in points for line in _spans(point)):
        (x, y), (to_x, to_y) = axes.transData.transform(ends)
        occupied.append(Box(x - scale, y - scale, to_x + scale, to_y + scale))
    for point, (x, y) in zip(points, centres, strict=True):
        text = _text(axes, theme, point)
        extent = text.get_window_extent()
        chosen = min(
            _label_positions(x, y, extent.width, extent.height, scale),
            # The first position without overlap, as they are in order of preference.
            key=lambda candidate: (
                sum(map(candidate[0].intersection_area, occupied)) + 4 * candidate[0].outside(frame)
            ),
        )
        box, distance = chosen
        occupied.append(box)
        text.set_position(((box.x0 - x) / scale, (box.y0 - y) / scale))
        if distance > _MAX_UNLINKED_DISTANCE:
            _leader_line(axes, theme, (x, y), box)


def _steps(front: Sequence[tuple[float, float]], half: float) -> Iterator[Box]:
    """Yield the boxes covered by the line of the front, ``half`` of its width on each side."""
    for (x, y), (to_x, to_y) in pairwise(front):
        yield Box(x, y - half, to_x, y + half)
        yield Box(to_x - half, min(y, to_y), to_x + half, max(y, to_y))


def _label_positions(
    x: float, y: float, wide: float, high: float, scale: float
) -> Iterator[tuple[Box, float]]:
    """Yield label positions around a mark with their distance in points, nearest first."""
    for distance in _DISTANCES:
        gap = distance * scale
        for horizontal, vertical in _DIRECTIONS:
            left = x + gap if horizontal > 0 else x - gap - wide if horizontal < 0 else x - wide / 2
            low = y + gap if vertical > 0 else y - gap - high if vertical < 0 else y - high / 2
            yield Box(left, low, left + wide, low + high), distance


def _text(axes: Axes, theme: Theme, point: ScatterPoint) -> Annotation:
    lines = [shorten(printable(text), LABEL) for text in (point.label, point.detail) if text]
    annotation = axes.annotate(
        "\n".join(lines),
        (point.x, point.y),
        (0, 0),
        textcoords="offset points",
        size=8,
        color=theme.ink,
        ha="left",
        va="bottom",
        linespacing=1.15,
        zorder=4,
        parse_math=False,
    )
    annotation.set_in_layout(False)
    return annotation


def _leader_line(axes: Axes, theme: Theme, mark: tuple[float, float], box: Box) -> None:
    """Draw a thin leader line from a mark to the nearest point of its label."""
    nearest = (min(max(mark[0], box.x0), box.x1), min(max(mark[1], box.y0), box.y1))
    ends = axes.transData.inverted().transform([mark, nearest])
    (line,) = axes.plot(ends[:, 0], ends[:, 1], color=theme.faint, linewidth=0.7, zorder=1)
    line.set_in_layout(False)
    line.set_label("_lead")
