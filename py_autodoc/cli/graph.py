"""``onnx-autodoc graph``: the graph as a file for other programs."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from py_autodoc import metrics
from py_autodoc.cli import stderr
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, hardware, progress_options, sizes
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.verdict import report_verdict
from py_autodoc.errors import OptionError
from py_autodoc.render.output_target import STDOUT, targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.render.viewer_attachments import AttachmentFile
    from py_autodoc.report.pipeline.analysis import Analysis

_PARTIAL = ("numbers are missing", "See `analyze` for its diagnostics.")
"""Exit status if a stage of the analysis failed."""
ENDINGS = {
    ".svg": "svg",
    ".png": "png",
    ".html": "html",
    ".htm": "html",
    ".dot": "dot",
    ".gv": "dot",
    ".netron.json": "netron",
    ".model-explorer.json": "model-explorer",
}
FORMATS = tuple(dict.fromkeys(ENDINGS.values()))
_PICTURES = ("svg", "png")
OVERLAYS = ("auto", "none", *metrics.ids("heatmap"))
"""As in ``render.svg``, which is imported on use."""


DIRECTIONS = ("auto", "right", "down", "wrapped")
"""As in ``render.svg``."""
_FLATTEST = 20.0


def _aspect(context: click.Context, parameter: click.Parameter, text: str) -> float:
    """Parse ``W:H`` or a single number as an aspect ratio."""
    width, _, height = text.partition(":")
    try:
        ratio = float(width) / float(height or "1")
    except (ValueError, ZeroDivisionError):
        ratio = math.nan
    if not 1 / _FLATTEST <= ratio <= _FLATTEST:
        raise click.BadParameter(
            f"{text!r:.40} is not an aspect ratio. Pass one such as 16:10.", context, parameter
        )
    return ratio


@dataclass(frozen=True, slots=True)
class _GraphRequest:
    """The options as given."""

    model: str
    out: str
    format: str | None
    depth: int | None
    overlay: str
    theme: str
    direction: str
    aspect: float
    scale: float
    bind: tuple[str, ...]
    input_shape: tuple[str, ...]
    batch_size: int | None
    resize: tuple[str, ...]
    assume: bool
    hardware: str
    precision: str
    runtime: str
    force: bool
    progress: bool | None


@click.command("graph", short_help="Write the graph as SVG, PNG, HTML, DOT or data for other viewers.")
@click.argument("model", type=click.Path(path_type=str))
@click.option("--out", metavar="PATH", required=True, help="Output file (- for stdout, with --format).")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="Default: by the extension of PATH (.svg, .png, .html, .dot, .netron.json, .model-explorer.json).",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(0, 64),
    help="Levels of modules to expand (SVG, PNG, DOT). Default: about 40 boxes in images, all in DOT.",
)
@click.option(
    "--overlay",
    type=click.Choice(OVERLAYS),
    default="auto",
    show_default=True,
    help="Heatmap of the image; metric in Model Explorer data (auto: MACs).",
)
@click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    default="light",
    show_default=True,
    help="Colour theme of the image.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="auto",
    show_default=True,
    help="Left to right, top to bottom, left to right in rows like text; auto: one row or several.",
)
@click.option(
    "--aspect",
    metavar="W:H",
    callback=_aspect,
    default="16:10",
    show_default=True,
    help="Target aspect ratio of an image in rows.",
)
@click.option(
    "--scale",
    metavar="X",
    type=click.FloatRange(0.1, 16),
    default=1.0,
    show_default=True,
    help="PNG pixels per SVG unit.",
)
@sizes("image")
@hardware
@force
@progress_options
def command(log_level: str, **options: object) -> int:
    """Write the graph of MODEL for other programs; the format depends on the extension of --out.

    \b
    svg             a standalone image, no browser needed
    png             the same as a bitmap (needs resvg: pip install 'onnx-autodoc[pictures]')
    html            one file with the viewer and the model, works offline
    dot             for Graphviz
    netron          costs in a file to drop on Netron while it shows the model
    model-explorer  node data for Model Explorer

    \b
    Exit status: 0 success, 1 invalid input or a missing program, 2 the model cannot run with these dimensions
    or part of the analysis failed (the file is still written), 3 the file could not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    return _run(_GraphRequest(**options))  # type: ignore[arg-type]


def _run(request: _GraphRequest) -> int:
    chosen = _format(request)
    if request.overlay == "latency" and not request.hardware:
        raise OptionError("hardware-missing", "The latency overlay needs a device.", "Add --hardware ID.")
    requested = {"--out": (request.out, chosen)}
    target = targets(requested, [request.model, request.hardware], request.force)["--out"]
    _need(chosen)
    analysis = _analyze(request)
    if chosen == "model-explorer":
        _metric(analysis, request)
    sized = bool(
        request.bind
        or request.input_shape
        or request.batch_size is not None
        or request.resize
        or request.assume
    )
    status = report_verdict(request.model, analysis, sized, _PARTIAL)
    if request.overlay == "latency" and chosen in _PICTURES:
        _note_missing_times(analysis)
    document = _WRITERS[chosen](analysis, request)
    written = target.write(document if isinstance(document, (str, bytes)) else document.text)
    if not isinstance(document, (str, bytes)):
        _note_unnamed_nodes(document)
    if not target.to_stdout and sys.stderr.isatty():
        stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    return status


def _note_missing_times(analysis: Analysis) -> None:
    """Explain why an image lacks the requested latency colours."""
    from py_autodoc.report.builders.hardware_section import hardware_estimates

    estimates = hardware_estimates(analysis)
    if estimates is not None and estimates.reason:
        none = estimates.estimated_latency_ms is None
        stderr.note(f"{'No times' if none else 'Not all times'} in the image: {estimates.reason}.")


def _format(request: _GraphRequest) -> str:
    if request.format:
        return request.format
    if request.out == STDOUT:
        raise OptionError("format-missing", "--out - needs --format.", f"Choose one of {', '.join(FORMATS)}.")
    name = os.path.basename(request.out).lower()
    for ending, format in ENDINGS.items():
        if name.endswith(ending):
            return format
    raise OptionError(
        "format-unknown",
        f"Cannot tell the format from the extension of {printable(name)}.",
        f"Use {', '.join(ENDINGS)}, or --format.",
    )


def _analyze(request: _GraphRequest) -> Analysis:
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.report.pipeline.analysis import Options, run_analysis

    options = Options(
        bindings=parse_bindings(request.bind),
        input_shapes=parse_input_shapes(request.input_shape),
        batch_size=request.batch_size,
        resize=parse_input_shapes(request.resize),
        assume=request.assume,
        hardware=request.hardware,
        precision=request.precision,
        runtime=request.runtime,
    )
    with ProgressLine(printable(os.path.basename(request.model)), request.progress) as progress:
        return run_analysis(request.model, options, progress.update)


def _svg(analysis: Analysis, request: _GraphRequest) -> str:
    from py_autodoc.render.svg import svg_picture
    from py_autodoc.report.viewer_payload.build_payload import build_payload

    return svg_picture(
        build_payload(analysis),
        theme=request.theme,
        overlay=request.overlay,
        depth=request.depth,
        direction=request.direction,
        aspect=request.aspect,
    )


def _png(analysis: Analysis, request: _GraphRequest) -> bytes:
    from py_autodoc.render.png import png_picture

    return png_picture(_svg(analysis, request), request.scale)


def _html(analysis: Analysis, request: _GraphRequest) -> str:
    from py_autodoc.render.html import html_page

    return html_page(analysis, direction=request.direction)


def _dot(analysis: Analysis, request: _GraphRequest) -> str:
    from py_autodoc.render.dot import dot
    from py_autodoc.report.viewer_payload.build_payload import build_payload

    return dot(build_payload(analysis), request.depth, direction=request.direction)


def _netron(analysis: Analysis, request: _GraphRequest) -> AttachmentFile:
    from py_autodoc.render.viewer_attachments import netron_attachment

    return netron_attachment(analysis)


def _model_explorer(analysis: Analysis, request: _GraphRequest) -> AttachmentFile:
    from py_autodoc.render.viewer_attachments import model_explorer_data

    return model_explorer_data(analysis, _metric(analysis, request))


def _metric(analysis: Analysis, request: _GraphRequest) -> str:
    """Return the metric to write. Raises: OptionError if it is unknown."""
    from py_autodoc.render.viewer_attachments import available_metrics

    metric = "macs" if request.overlay == "auto" else request.overlay
    available = available_metrics(analysis)
    if metric not in available:
        raise OptionError(
            "no-such-number",
            f"Model Explorer data has no {metric}.",
            f"Choose one of {', '.join(available)}.",
        )
    return metric


def _note_unnamed_nodes(attachment: AttachmentFile) -> None:
    """Report nodes that the file cannot refer to."""
    missing = attachment.nodes - attachment.named
    if missing:
        stderr.note(
            f"{missing:,} of {attachment.nodes:,} nodes have no unique name in the file and are not included."
        )


def _need(chosen: str) -> None:
    """Check for missing programs before the analysis. Raises: RequirementError."""
    if chosen in ("svg", "png"):
        from py_autodoc.render.engine import require_engine

        require_engine()
    if chosen == "png":
        from py_autodoc.render.png import resvg

        resvg()


_WRITERS: dict[str, Callable[[Analysis, _GraphRequest], str | bytes | AttachmentFile]] = {
    "svg": _svg,
    "png": _png,
    "html": _html,
    "dot": _dot,
    "netron": _netron,
    "model-explorer": _model_explorer,
}
