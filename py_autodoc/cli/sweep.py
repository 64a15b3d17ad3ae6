"""``onnx-autodoc sweep``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options, risk_option, runtime_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.cli.assets import Assets
    from py_autodoc.sweep import Sweep

INCOMPLETE = 2
"""Exit status if the model cannot run at some points, so that their numbers are unknown."""


@click.command(
    "sweep", short_help="Compute costs and latency for batches, dimensions, precisions and devices."
)
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--batch",
    metavar="N,N…",
    multiple=True,
    help="Batch sizes, even if the file has a fixed one.",
)
@click.option(
    "--bind",
    metavar="NAME=N,N…",
    multiple=True,
    shell_complete=completion.symbols,
    help="Values for a symbolic dimension. Repeatable.",
)
@click.option(
    "--resize",
    metavar="NAME=SHAPE,SHAPE…",
    multiple=True,
    help="Shapes (1x3x320x320) of an input with fixed dimensions. Repeatable.",
)
@click.option(
    "--input-resolution",
    metavar="HxW,HxW…",
    multiple=True,
    help="Heights and widths of the image input: 224x224,384x384.",
)
@click.option(
    "--hardware",
    metavar="ID|FILE,…",
    multiple=True,
    shell_complete=completion.devices,
    help="Devices to estimate latency and memory for.",
)
@click.option(
    "--precision",
    metavar="P,P…",
    multiple=True,
    shell_complete=completion.precisions,
    help="fp32, tf32, fp16, bf16, fp8 or int8 (default: the stored precision).",
)
@runtime_option()
@click.option("--max-memory", metavar="SIZE", help="Maximum memory for the best batch: 8GB.")
@click.option("--max-latency", metavar="TIME", help="Maximum latency for the best batch: 10ms.")
@risk_option()
@click.option(
    "--cloud", metavar="NAME", default="", help="Add prices per million items: aws, azure, gcp, or all."
)
@click.option(
    "--devices",
    metavar="N,N…",
    multiple=True,
    help="Devices with a copy of the model each: their throughput is the sum.",
)
@click.option(
    "--assets-dir",
    metavar="DIR",
    help="Draw latency, throughput and memory by the first varied size into this folder (SVG, PNG).",
)
@click.option("--out-json", metavar="PATH", help="Write every point as JSON (- for stdout).")
@click.option("--out-csv", metavar="PATH", help="Write every point as CSV (- for stdout).")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@force
@progress_options
def command(model: str, log_level: str, pretty: bool, progress: bool | None, **options: Any) -> int:
    """Analyse MODEL at every combination of the given batches, dimensions, devices and precisions.

    \b
        onnx-autodoc sweep resnet50.onnx --batch 1,4,16,64 --hardware l4 --precision fp16,int8
        onnx-autodoc sweep bert.onnx --bind sequence=128,256,512 --batch 1,8 --out-csv sweep.csv

    All numbers are from an analysis at that point. Other symbolic dimensions get a typical value, listed with
    each point. For each device and precision, the batch with the highest throughput is reported, and the
    smallest that reaches 90 % of it.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model cannot run at some of the points, 3 a result could
    not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.cli import axes
    from py_autodoc.sweep import Axes, SweepOptions, sweep

    bindings, fixed = axes.swept(options["bind"])
    grid = Axes(
        batch=axes.counts(options["batch"], "--batch"),
        bindings=bindings,
        shapes=axes.shapes(options["resize"]),
        resolutions=axes.resolutions(options["input_resolution"], "--input-resolution"),
        hardware=axes.texts(options["hardware"]),
        precision=axes.texts(options["precision"]),
        runtime=options["runtime"],
        devices=axes.counts(options["devices"], "--devices"),
    )
    limits = SweepOptions(
        bindings=fixed,
        max_memory=axes.byte_size(options["max_memory"], "--max-memory"),
        max_latency=axes.milliseconds(options["max_latency"], "--max-latency"),
        risk=options["risk"],
        provider=options["cloud"].strip().lower(),
    )
    requested = {"--out-json": (options["out_json"], "sweep"), "--out-csv": (options["out_csv"], "csv")}
    outputs = targets(requested, [model, *grid.hardware], options["force"])
    folder = _charts_folder(options["assets_dir"], [model, *grid.hardware], options["force"])
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        result = sweep(model, grid, limits, lambda done, total: line.update("points", done, total))
    for option, target in outputs.items():
        written = target.write(_text(option, result, pretty))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if folder is not None:
        _draw(result, folder)
    if not outputs and (folder is None or sys.stdout.isatty()):
        if sys.stdout.isatty():
            from py_autodoc.cli.sweep_table import print_sweep

            print_sweep(result)
        else:
            stdout.json_text(_text("--out-json", result, pretty))
    return _exit_status(model, result)


def _charts_folder(path: str | None, inputs: list[str], force: bool) -> Assets | None:
    """Return the folder for the plots. Raises: OutputError, RequirementError."""
    if path is None:
        return None
    from py_autodoc.cli.assets import assets
    from py_autodoc.render.plots import files_of, require_matplotlib
    from py_autodoc.render.plots.sweep_lines import NAMES

    require_matplotlib()
    return assets(path, files_of(NAMES), inputs, force)


def _draw(result: Sweep, folder: Assets) -> None:
    from py_autodoc.render.plots import sweep_plots

    files = sweep_plots(result)
    if not files:
        stderr.warning("No plots: nothing with a number was varied. Pass --batch, --bind or --resize.")
    for name, size in folder.write(files):
        if sys.stderr.isatty():
            stderr.note(f"Wrote {printable(name)} ({size:,} bytes).")


def _text(option: str, result: Sweep, pretty: bool) -> str:
    if option == "--out-csv":
        from py_autodoc.render.sweep_csv import sweep_csv

        return sweep_csv(result)
    return result.to_json(pretty) + "\n"


def _exit_status(model: str, result: Sweep) -> int:
    """Report how many points have unknown costs, and why. Return the exit status."""
    lost = [point for point in result.points if point.macs is None]
    if lost:
        name, total = os.path.basename(model), len(result.points)
        why = lost[0].reason or "their dimensions are unknown"
        stderr.error(f"{name}: {len(lost):,} of {total:,} points have no costs: {why.rstrip('.')}.")
        return INCOMPLETE
    return 0
