"""Variants of a model by two of size, time and quality: all labelled, with the Pareto front marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from py_autodoc.render.plots.draw import HEIGHT, LABEL, Theme, figure_in, formatter, legend
from py_autodoc.render.plots.series import PlotAxis, Scatter, Spot
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.units import size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_WIDE = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_MARK = 8.0
"""Diameter of a mark in points."""
_DISTANCES = (7.0, 15.0, 26.0, 40.0, 58.0)
"""Distances between a mark and its label in points, tried in order."""
_NEAR = 10.0
"""Distance in points up to which a label needs no leader line."""
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Directions for labels, in order of preference."""


class Box(NamedTuple):
    """Left, bottom, right and top in pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    def shared(self, other: Box) -> float:
        """Return the area of the intersection."""
        wide = min(self.x1, other.x1) - max(self.x0, other.x0)
        high = min(self.y1, other.y1) - max(self.y0, other.y0)
        return wide * high if wide > 0 and high > 0 else 0.0

    def outside(self, frame: Box) -> float:
        """Return the area outside a frame."""
        return (self.x1 - self.x0) * (self.y1 - self.y0) - self.shared(frame)


def tradeoff(found: Scatter, theme: Theme) -> Figure:
    """Draw the variants as marks, filled for the best by all criteria, and the front as steps."""
    figure, axes = figure_in(theme, HEIGHT + 0.6)
    _axis(axes, found.x, [spot.x for spot in found.spots], along=True)
    _axis(axes, found.y, [spot.y for spot in found.spots], along=False)
    front = [found.spots[at] for at in found.front]
    if len(front) > 1:
        axes.plot(
            [spot.x for spot in front], [spot.y for spot in front], color=theme.lines[0], linewidth=1.2,
            linestyle="--", drawstyle="steps-post", alpha=0.8, label="front of these two", zorder=2,
        )  # fmt: skip
    for best, words in ((True, f"on the front of {found.best}"), (False, "not on it")):
        spots = [spot for spot in found.spots if spot.best is best]
        if not spots:
            continue
        for (x, y), (to_x, to_y) in (line for spot in spots for line in _spans(spot)):
            axes.plot([x, to_x], [y, to_y], color=theme.faint, linewidth=1.0, alpha=0.7, zorder=1)
        axes.scatter(
            [spot.x for spot in spots], [spot.y for spot in spots], s=_MARK**2, label=words, zorder=3,
            marker="o" if best else "s", linewidths=1.4,
            facecolors=theme.lines[0] if best else theme.ground,
            edgecolors=theme.lines[0] if best else theme.lines[1],
        )  # fmt: skip
    axes.margins(0.14, 0.2)
    axes.grid(color=theme.grid, linewidth=0.8)
    legend(axes, theme)
    _label(figure, axes, theme, found)
    return figure


def _axis(axes: Axes, axis: PlotAxis, values: Sequence[float], along: bool) -> None:
    one = axes.xaxis if along else axes.yaxis
    better = "less is better" if axis.lower_is_better else "more is better"
    label = shorten(printable(axis.label), LABEL)
    one.set_label_text(f"{label} ({better})", parse_math=False)
    if min(values) > 0 and max(values) / min(values) > _WIDE:
        from matplotlib.ticker import LogLocator

        (axes.set_xscale if along else axes.set_yscale)("log")
        few = max(values) / min(values) < _WIDE * _WIDE
        one.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    one.set_major_formatter(formatter(lambda value: written(value, axis)))
    one.set_minor_formatter(formatter(lambda _: ""))


def written(value: float | None, axis: PlotAxis) -> str:
    """Format a number of an axis."""
    if value is None:
        return ""
    if axis.unit == "size":
        return size(value) if value >= 0 else ""
    if axis.unit == "ms":
        return f"{value:.6g} ms" if value < 1000 else f"{value / 1000:.6g} s"
    return f"{value:.6g}".replace("-", "−")


def _spans(spot: Spot) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the end points of the likely ranges."""
    if spot.x_span is not None:
        yield (spot.x_span[0], spot.y), (spot.x_span[1], spot.y)
    if spot.y_span is not None:
        yield (spot.x, spot.y_span[0]), (spot.x, spot.y_span[1])


def _label(figure: Figure, axes: Axes, theme: Theme, found: Scatter) -> None:
    """Label each mark, avoiding other marks, steps and labels as far as there is space."""
    spots = found.spots
    figure.draw_without_rendering()  # places the axes
    bounds = axes.get_window_extent()
    frame = Box(bounds.x0, bounds.y0, bounds.x1, bounds.y1)
    scale = figure.dpi / 72
    at = [(float(x), float(y)) for x, y in axes.transData.transform([(one.x, one.y) for one in spots])]
    half = (_MARK / 2 + 1) * scale
    taken = [Box(x - half, y - half, x + half, y + half) for x, y in at]
    taken += _steps([at[one] for one in found.front], scale)
    for ends in (line for spot in spots for line in _spans(spot)):
        (x, y), (to_x, to_y) = axes.transData.transform(ends)
        taken.append(Box(x - scale, y - scale, to_x + scale, to_y + scale))
    for spot, (x, y) in zip(spots, at, strict=True):
        text = _text(axes, theme, spot)
        extent = text.get_window_extent()
        chosen = min(
            _places(x, y, extent.width, extent.height, scale),
            # The first position without overlap, as they are in order of preference.
            key=lambda place: sum(map(place[0].shared, taken)) + 4 * place[0].outside(frame),
        )
        box, distance = chosen
        taken.append(box)
        text.set_position(((box.x0 - x) / scale, (box.y0 - y) / scale))
        if distance > _NEAR:
            _lead(axes, theme, (x, y), box)


def _steps(front: Sequence[tuple[float, float]], half: float) -> Iterator[Box]:
    """Yield the boxes covered by the line of the front, ``half`` of its width on each side."""
    for (x, y), (to_x, to_y) in pairwise(front):
        yield Box(x, y - half, to_x, y + half)
        yield Box(to_x - half, min(y, to_y), to_x + half, max(y, to_y))


def _places(x: float, y: float, wide: float, high: float, scale: float) -> Iterator[tuple[Box, float]]:
    """Yield label positions around a mark with their distance in points, nearest first."""
    for distance in _DISTANCES:
        gap = distance * scale
        for right, up in _SIDES:
            left = x + gap if right > 0 else x - gap - wide if right < 0 else x - wide / 2
            low = y + gap if up > 0 else y - gap - high if up < 0 else y - high / 2
            yield Box(left, low, left + wide, low + high), distance


def _text(axes: Axes, theme: Theme, spot: Spot) -> Annotation:
    lines = [shorten(printable(text), LABEL) for text in (spot.label, spot.detail) if text]
    made = axes.annotate(
        "\n".join(lines), (spot.x, spot.y), (0, 0), textcoords="offset points", size=8, color=theme.ink,
        ha="left", va="bottom", linespacing=1.15, zorder=4, parse_math=False,
    )  # fmt: skip
    made.set_in_layout(False)
    return made


def _lead(axes: Axes, theme: Theme, mark: tuple[float, float], box: Box) -> None:
    """Draw a thin leader line from a mark to the nearest point of its label."""
    near = (min(max(mark[0], box.x0), box.x1), min(max(mark[1], box.y0), box.y1))
    ends = axes.transData.inverted().transform([mark, near])
    (line,) = axes.plot(ends[:, 0], ends[:, 1], color=theme.faint, linewidth=0.7, zorder=1)
    line.set_in_layout(False)
    line.set_label("_lead")
