"""Plots of a report as SVG and PNG, light and dark, drawn by matplotlib without pyplot.

matplotlib is imported when the first plot is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from py_autodoc.optional_packages import optional_module
from py_autodoc.report.builders.roofline import roofline
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from py_autodoc.render.plots.draw import Theme
    from py_autodoc.render.plots.series import Scatter
    from py_autodoc.sweep.schema import Sweep

NAMES = ("operators", "depth", "parameters", "shapes", "memory", "roofline")
"""Names of the plots, as used by sections."""


def files_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the file names that may be written; a plot without numbers is omitted."""
    return tuple(
        f"{name}{dark}.{kind}" for name in names for dark in ("", "-dark") for kind in ("svg", "png")
    )


FILES = files_of(NAMES)
"""Files for a report."""


def draw_themed(drawn: Mapping[str, Callable[[Theme], Figure]], png: bool) -> dict[str, tuple[str, bytes]]:
    """Draw plots: figure (``depth``, ``depth-dark``, ``depth.png`` …) → file name and data.

    Raises: RequirementError without matplotlib.
    """
    require_matplotlib()
    from py_autodoc.render.plots import draw

    files: dict[str, tuple[str, bytes]] = {}
    for name, figure_of in drawn.items():
        for theme, ending in (("light", ""), ("dark", "-dark")):
            figure = figure_of(draw.THEMES[theme])
            files[f"{name}{ending}"] = (f"{name}{ending}.svg", draw.as_svg(figure))
            if png:
                files[f"{name}{ending}.png"] = (f"{name}{ending}.png", draw.as_png(figure))
    return files


def require_matplotlib() -> None:
    """Raises: RequirementError without matplotlib, or with one that cannot be imported."""
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        optional_module(
            module, "matplotlib", "needs-matplotlib", "Plots need", "pip install 'onnx-autodoc[plots]'"
        )


def scatters(data: Mapping[str, Scatter], png: bool = True) -> dict[str, tuple[str, bytes]]:
    """Return trade-off plots of variants: figure → file name and data, as ``plots``.

    Raises: RequirementError without matplotlib.
    """
    require_matplotlib()
    from py_autodoc.render.plots.tradeoff import tradeoff

    return draw_themed({name: partial(tradeoff, scatter) for name, scatter in data.items()}, png)


def sweep_plots(result: Sweep, png: bool = True) -> dict[str, tuple[str, bytes]]:
    """Return the plots of a sweep: figure → file name and data, as ``plots``.

    Raises: RequirementError without matplotlib.
    """
    require_matplotlib()
    from py_autodoc.render.plots.sweep_lines import drawers

    return draw_themed(drawers(result), png)


def plots(report: Report, analysis: Analysis | None, png: bool = True) -> dict[str, tuple[str, bytes]]:
    """Return figure (``depth``, ``depth-dark``, ``depth.png`` …) → file name and data.

    Raises: RequirementError without matplotlib.
    """
    require_matplotlib()
    return draw_themed(_drawing_functions(report, analysis), png)


def _drawing_functions(report: Report, analysis: Analysis | None) -> dict[str, Callable[[Theme], Figure]]:
    """Return plot → function that draws it in a theme, for plots with numbers."""
    from py_autodoc.render.plots import draw, series
    from py_autodoc.units import count, size

    drawers: dict[str, Callable[[Theme], Figure]] = {}
    operators, parameters = series.operators(report), series.parameters(report)
    depth, shapes, memory = series.depth(report), series.shapes(report), series.memory(report)
    roof = None if analysis is None else roofline(analysis)
    if operators is not None:
        drawers["operators"] = partial(draw.bars, operators, label="nodes")
    if depth is not None:
        drawers["depth"] = partial(
            draw.lines, depth, label="share up to here", x_label="layer", written=draw.percent
        )
    if parameters is not None:
        drawers["parameters"] = partial(draw.bars, parameters, label="parameters")
    if shapes is not None:
        drawers["shapes"] = partial(
            draw.lines, shapes, label="size of the output", x_label="layer", written=count, log=True
        )
    if memory is not None:
        drawers["memory"] = partial(
            draw.lines, memory, label="activations alive", x_label="step", written=size
        )
    if roof is not None:
        drawers["roofline"] = partial(draw.roof, roof)
    return drawers
