"""``onnx-autodoc analyze``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from py_autodoc.cli import stderr
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, hardware, sizes, talk
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.verdict import tell_if_impossible
from py_autodoc.render.output import Target, targets, to_stdout
from py_autodoc.render.text import printable

if TYPE_CHECKING:
    from py_autodoc.report.analysis import Analysis
    from py_autodoc.report.schema import Report

PARTIAL = 2
"""Exit status when a stage failed and the report says so."""


@dataclass(frozen=True, slots=True)
class _Request:
    """The options as given."""

    model: str
    out_json: str | None
    out_csv: str | None
    out_html: str | None
    bind: tuple[str, ...]
    input_shape: tuple[str, ...]
    batch_size: int | None
    assume: bool
    max_layers: int | None
    thresholds: str | None
    read_weights: bool
    hardware: str
    precision: str
    force: bool
    progress: bool | None


@dataclass(frozen=True)
class _Result:
    """What was found; the report is made when something needs it, which a page does not."""

    analysis: Analysis
    max_layers: int | None

    @cached_property
    def report(self) -> Report:
        """The report as asked for."""
        from py_autodoc.report.build import build_report

        return build_report(self.analysis, self.max_layers)


@click.command("analyze", short_help="What a model is and what it costs.")
@click.argument("model", type=click.Path(path_type=str))
@click.option("--out-json", metavar="PATH", help="Write the report as JSON; - is stdout.")
@click.option("--out-csv", metavar="PATH", help="Write the table of layers as CSV; - is stdout.")
@click.option(
    "--out-html", metavar="PATH", help="Write one HTML file that shows the model offline; - is stdout."
)
@sizes("report")
@click.option(
    "--max-layers",
    metavar="N",
    type=click.IntRange(min=0),
    help="List only the N layers with the most FLOPs; totals stay complete.",
)
@click.option(
    "--thresholds",
    metavar="FILE",
    help="TOML or JSON file that changes the rules' thresholds and severities, or disables rules.",
)
@click.option(
    "--read-weights",
    is_flag=True,
    help="Read every weight, for the rules about their values (NaN, all zero, duplicates).",
)
@hardware
@force
@talk
def command(log_level: str, **options: object) -> int:
    """Read the structure of MODEL (never its weights, unless asked to) and say what it is and what it costs.

    Without an output option: a summary on a terminal, the JSON report when stdout is not one.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model cannot run with these sizes or part of the
    analysis failed (the report is partial), 3 a result could not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    return _run(_Request(**options))  # type: ignore[arg-type]


def _run(request: _Request) -> int:
    outputs = _targets(request)
    result = _Result(_analyze(request), request.max_layers)
    sized = bool(request.bind or request.input_shape or request.batch_size is not None or request.assume)
    status = tell_if_impossible(request.model, result.analysis, sized)
    if outputs:
        _write(result, outputs)
    elif sys.stdout.isatty():
        from py_autodoc.cli.summary import print_summary

        print_summary(result.report)
    else:
        to_stdout(result.report.to_json(2) + "\n", json=True)
    if result.analysis.partial:
        stderr.error("Part of the analysis failed; the report is partial.", "See its diagnostics.")
        return PARTIAL
    return status


def _targets(request: _Request) -> dict[str, Target]:
    """Outputs by option, checked."""
    return targets(
        {
            "--out-json": (request.out_json, "report"),
            "--out-csv": (request.out_csv, "csv"),
            "--out-html": (request.out_html, "html"),
        },
        [request.model, request.thresholds or "", request.hardware],
        request.force,
    )


def _analyze(request: _Request) -> Analysis:
    from py_autodoc.findings.thresholds import settings
    from py_autodoc.graph.dims import parse_bindings, parse_input_shapes
    from py_autodoc.report.analysis import Options, run

    options = Options(
        bindings=parse_bindings(request.bind),
        input_shapes=parse_input_shapes(request.input_shape),
        batch_size=request.batch_size,
        assume=request.assume,
        thresholds=settings(request.thresholds),
        read_weights=request.read_weights,
        hardware=request.hardware,
        precision=request.precision,
    )
    with ProgressLine(printable(os.path.basename(request.model)), request.progress) as progress:
        return run(request.model, options, progress.update)


def _write(result: _Result, outputs: dict[str, Target]) -> None:
    for option, target in outputs.items():
        written = target.write(_text(option.removeprefix("--out-"), result))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.shown} ({written:,} bytes).")


def _text(kind: str, result: _Result) -> str:
    """What goes into the output of a kind."""
    if kind == "json":
        return result.report.to_json(2) + "\n"
    if kind == "csv":
        from py_autodoc.render.csv import layers_csv

        return layers_csv(result.report)
    from py_autodoc.render.html import html_page

    return html_page(result.analysis)
