"""Plots with matplotlib's Figure and the Agg canvas, without global state, so that threads can draw."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py_autodoc.render.plots.series import Bars, PlotLines
from py_autodoc.render.png import add_program_name
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.builders.roofline import Roofline
from py_autodoc.units import count, share, size
from py_autodoc.version import NAME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 8.0, 4.0
"""Size of a plot in inches; bar plots grow in height."""
DPI = 110
LABEL = 42
"""Maximum number of characters of a label."""
_FONTS = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "sans-serif"]
_LOCK = threading.Lock()
"""Guards matplotlib's global settings."""
MAX_VECTOR_POINTS = 200
"""Number of points from which lines have no markers and points are drawn as pixels."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a plot; line colours also differ in lightness."""

    ground: str
    ink: str
    faint: str
    grid: str
    lines: tuple[str, ...]


THEMES = {
    "light": Theme("#ffffff", "#1f2328", "#59636e", "#e3e8ed", ("#1f6fb4", "#c4540a", "#3d7a3a", "#6a4a93")),
    "dark": Theme("#151a21", "#e6edf3", "#9aa4af", "#2c343e", ("#6cb4f5", "#f2a057", "#8fd08a", "#c3a1ee")),
}


def bars(data: Bars, theme: Theme, label: str) -> Figure:
    """Draw horizontal bars, largest on top, each with its number."""
    labels = [shorten(printable(text), LABEL) for text in data.labels]
    values = list(data.values)
    figure, axes = figure_in(theme, max(2.0, 0.9 + 0.26 * len(values)))
    positions = range(len(values))
    axes.barh(list(positions), values, color=theme.lines[0], height=0.7)
    # Names could be parsed as formulas.
    axes.set_yticks(list(positions), labels, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12, y=0.01)
    for position, value in enumerate(values):
        axes.annotate(
            count(value),
            (value, position),
            (4, 0),
            textcoords="offset points",
            va="center",
            color=theme.faint,
            size=8,
        )
    axes.grid(axis="x", color=theme.grid, linewidth=0.8)
    axes.xaxis.set_major_formatter(formatter(count))
    # A bar for all others would dwarf the rest.
    remainder = (
        f"; {data.omitted_count:,} others have {count(data.omitted_sum)} together"
        if data.omitted_count
        else ""
    )
    axes.set_xlabel(label + remainder)
    return figure


def lines(
    data: PlotLines,
    theme: Theme,
    label: str,
    x_label: str,
    written: Callable[[float | None], str],
    log: bool = False,
) -> Figure:
    """Draw lines with a legend above the plot."""
    figure, axes = figure_in(theme, HEIGHT)
    rasterized = len(data.x) > MAX_VECTOR_POINTS
    for index, (name, values) in enumerate(data.lines.items()):
        axes.plot(
            data.x,
            list(values),
            color=theme.lines[index % len(theme.lines)],
            label=name,
            linewidth=1.0 if rasterized else 1.6,
            linestyle=("-", "--", ":", "-.")[index % 4],
            drawstyle="steps-post" if log else "default",
            rasterized=rasterized,
        )
    if log:
        axes.set_yscale("log", base=2)
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(formatter(written))
    axes.xaxis.set_major_formatter(formatter(lambda value: f"{value:,.0f}" if value is not None else ""))
    axes.grid(color=theme.grid, linewidth=0.8)
    axes.margins(x=0.01)
    axes.set_xlabel(x_label)
    axes.set_ylabel(label)
    legend(axes, theme)
    return figure


def roof(roofline: Roofline, theme: Theme) -> Figure:
    """Draw kernels by FLOPs per byte and FLOP/s under the device's roofline, both axes logarithmic."""
    figure, axes = figure_in(theme, HEIGHT + 0.6)
    ridge = roofline.peak / roofline.bandwidth
    intensities = [point.flops / point.bytes for point in roofline.points]
    left, right = min(*intensities, ridge) / 2, max(*intensities, ridge) * 4
    axes.plot(
        [left, ridge, right],
        [left * roofline.bandwidth, roofline.peak, roofline.peak],
        color=theme.ink,
        linewidth=1.4,
    )
    marks = {"compute": "o", "memory": "s", "overhead": "^"}
    named = {"compute": "bound by compute", "memory": "bound by bandwidth", "overhead": "bound by overhead"}
    for index, (bound, mark) in enumerate(marks.items()):
        points = [point for point in roofline.points if point.bound == bound]
        if points:
            axes.scatter(
                [point.flops / point.bytes for point in points],
                [point.flops / point.seconds for point in points],
                marker=mark,
                s=18,
                color=theme.lines[index],
                label=f"{named[bound]} ({len(points):,})",
                alpha=0.75,
                linewidths=0,
                rasterized=len(points) > MAX_VECTOR_POINTS,
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.xaxis.set_major_formatter(formatter(count))
    axes.yaxis.set_major_formatter(formatter(lambda value: count(value, "FLOP/s")))
    axes.grid(color=theme.grid, linewidth=0.8)
    axes.set_xlabel("FLOPs per byte")
    axes.set_title(
        f"{printable(roofline.device)}, {roofline.precision}: {count(roofline.peak, 'FLOP/s')}, "
        f"{size(roofline.bandwidth)}/s",
        size=9,
        color=theme.faint,
        loc="left",
        parse_math=False,
    )
    legend(axes, theme, "lower right")
    return figure


def percent(value: float | None) -> str:
    """Format a share for an axis."""
    return share(value, 1.0)


def figure_in(theme: Theme, height: float) -> tuple[Figure, Axes]:
    """Return an empty plot in a theme, ``height`` inches high."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Made
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    figure = Made(figsize=(WIDTH, height), dpi=DPI, facecolor=theme.ground, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_facecolor(theme.ground)
    axes.set_axisbelow(True)
    axes.tick_params(colors=theme.ink, labelsize=8, length=0, which="both")
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(theme.faint)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_color(theme.faint)
        axis.label.set_fontsize(9)
    return figure, axes


def legend(axes: Axes, theme: Theme, location: str = "") -> None:
    """Add a legend above the plot, or at a position in it."""
    placement: dict[str, Any] = (
        {"loc": location} if location else {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4}
    )
    axes.legend(frameon=False, fontsize=8, labelcolor=theme.ink, **placement)


def formatter(written: Callable[[float | None], str]) -> Any:
    """Return a formatter for the numbers of an axis."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: written(value))


def as_svg(figure: Figure) -> bytes:
    """Return reproducible SVG with text as text."""
    import matplotlib as mpl

    file = io.BytesIO()
    settings = {"svg.hashsalt": NAME, "svg.fonttype": "none", "font.family": _FONTS}
    with _LOCK, mpl.rc_context(settings):  # type: ignore[arg-type]
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Title": NAME})
    return file.getvalue()


def as_png(figure: Figure) -> bytes:
    """Return PNG, reproducible for one version of matplotlib."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return add_program_name(file.getvalue())
