"""Estimated against measured latency: one mark per layer, on the diagonal if both agree."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

from py_autodoc.render.plots.draw import HEIGHT, LABEL, THEMES, as_png, as_svg, figure_in, formatter, legend
from py_autodoc.render.terminal_text import printable, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_LABELS = 5
"""Number of labelled layers: those with the largest ratio between the two numbers."""
_KINDS = 4
_MIN_LABEL_DISTANCE = 0.15
"""Minimum logarithmic distance at which two labels do not overlap."""


class Mark(NamedTuple):
    """Estimated and measured time of a layer, in milliseconds."""

    label: str
    kind: str
    measured: float
    estimated: float


def estimate_plot(marks: Sequence[Mark], device: str, theme: str = "light") -> Figure:
    """Plot estimates against measurements on equal logarithmic axes, with a band of a factor of two.

    Layers without two positive numbers are omitted. Raises: ValueError if none remains.
    """
    plotted = [mark for mark in marks if mark.measured > 0 and mark.estimated > 0]
    if not plotted:
        raise ValueError("no layer has both numbers")
    colors = THEMES[theme]
    figure, axes = figure_in(colors, HEIGHT + 1.6)
    values = [mark.measured for mark in plotted] + [mark.estimated for mark in plotted]
    low, high = min(values) / 2, max(values) * 2
    ends = [low, high]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.fill_between(
        ends,
        [low / 2, high / 2],
        [low * 2, high * 2],
        color=colors.grid,
        alpha=0.6,
        label="within a factor of two",
    )
    axes.plot(ends, ends, color=colors.faint, linewidth=1.0, label="equal")
    counts: dict[str, float] = {}
    for mark in plotted:
        counts[mark.kind] = counts.get(mark.kind, 0.0) + mark.measured
    kinds = sorted(counts, key=lambda kind: -counts[kind])[: _KINDS - 1]
    for index, kind in enumerate([*kinds, ""]):
        of_kind = [mark for mark in plotted if (mark.kind == kind if kind else mark.kind not in kinds)]
        if of_kind:
            axes.scatter(
                [mark.measured for mark in of_kind],
                [mark.estimated for mark in of_kind],
                s=26,
                alpha=0.8,
                color=colors.lines[index % len(colors.lines)],
                linewidths=0,
                label=printable(kind) or "others",
            )
    for mark in _marks_to_label(plotted):
        axes.annotate(
            shorten(printable(mark.label), LABEL),
            (mark.measured, mark.estimated),
            (5, 3),
            size=7,
            color=colors.ink,
            textcoords="offset points",
            parse_math=False,
        )
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_xlabel("Measured", parse_math=False)
    axes.set_ylabel(shorten(f"Estimated on {printable(device)}", LABEL), parse_math=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(formatter(lambda value: "" if value is None else f"{value:g} ms"))
        axis.set_minor_formatter(formatter(lambda _: ""))
    axes.grid(color=colors.grid, linewidth=0.8)
    legend(axes, colors)
    return figure


def _marks_to_label(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks to label: the farthest from the diagonal, none next to another labelled one."""
    named: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: -abs(mark.measured - mark.estimated)):
        distances = (
            max(abs(log(mark.measured / other.measured)), abs(log(mark.estimated / other.estimated)))
            for other in named
        )
        if len(named) < _MAX_LABELS and all(distance > _MIN_LABEL_DISTANCE for distance in distances):
            named.append(mark)
    return named


def encode_figure(figure: Figure, name: str) -> bytes:
    """Return SVG, or PNG if the file name ends in ``.png``."""
    return as_png(figure) if name.lower().endswith(".png") else as_svg(figure)
