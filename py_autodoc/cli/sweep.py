"""``onnx-autodoc sweep``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options, runtime_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.sweep import Sweep

INCOMPLETE = 2
"""Exit status when numbers of some points are not known, because the model cannot run there."""


@click.command("sweep", short_help="Costs and latency at many batches, sizes, precisions and devices.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--batch",
    metavar="N,N…",
    multiple=True,
    help="Items of one inference, also where the file has the batch fixed.",
)
@click.option(
    "--bind",
    metavar="NAME=N,N…",
    multiple=True,
    shell_complete=completion.symbols,
    help="Sizes of a free dimension, one or several. Repeatable.",
)
@click.option(
    "--resize",
    metavar="NAME=SHAPE,SHAPE…",
    multiple=True,
    help="Shapes (1x3x320x320) of an input whose sizes the file has fixed. Repeatable.",
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
    help="fp32, tf32, fp16, bf16, fp8 or int8 (default: as the model is stored).",
)
@runtime_option()
@click.option("--max-memory", metavar="SIZE", help="The best batch needs at most this much: 8GB.")
@click.option("--max-latency", metavar="TIME", help="The best batch takes at most this long: 10ms.")
@click.option(
    "--cloud", metavar="NAME", default="", help="What a million items cost: aws, azure, gcp, or all."
)
@click.option("--out-json", metavar="PATH", help="Write every point as JSON; - is stdout.")
@click.option("--out-csv", metavar="PATH", help="Write every point as CSV; - is stdout.")
@click.option("--pretty", is_flag=True, help="JSON with line ends and indentation, for people.")
@force
@progress_options
def command(model: str, log_level: str, pretty: bool, progress: bool | None, **options: Any) -> int:
    """Analyse MODEL at every combination of the given batches, sizes, devices and precisions.

    \b
        onnx-autodoc sweep resnet50.onnx --batch 1,4,16,64 --hardware l4 --precision fp16,int8
        onnx-autodoc sweep bert.onnx --bind sequence=128,256,512 --batch 1,8 --out-csv sweep.csv

    Every number is that of an analysis at that point. Sizes that stay free get a usual one, which each point
    names. For each device and precision the batch with the most throughput is told, and the smallest that
    reaches 90 % of it.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model cannot run at some of the points, 3 a result could
    not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.cli import axes
    from py_autodoc.sweep import Axes, SweepOptions, sweep

    bindings, fixed = axes.swept(options["bind"])
    wanted = Axes(
        batch=axes.counts(options["batch"], "--batch"),
        bindings=bindings,
        shapes=axes.shapes(options["resize"]),
        hardware=axes.texts(options["hardware"]),
        precision=axes.texts(options["precision"]),
        runtime=options["runtime"],
    )
    limits = SweepOptions(
        bindings=fixed,
        max_memory=axes.byte_size(options["max_memory"], "--max-memory"),
        max_latency=axes.milliseconds(options["max_latency"], "--max-latency"),
        provider=options["cloud"].strip().lower(),
    )
    given = {"--out-json": (options["out_json"], "sweep"), "--out-csv": (options["out_csv"], "csv")}
    outputs = targets(given, [model, *wanted.hardware], options["force"])
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        found = sweep(model, wanted, limits, lambda done, total: line.update("points", done, total))
    for option, target in outputs.items():
        written = target.write(_text(option, found, pretty))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.shown} ({written:,} bytes).")
    if not outputs:
        if sys.stdout.isatty():
            from py_autodoc.cli.sweep_table import print_sweep

            print_sweep(found)
        else:
            stdout.text(_text("--out-json", found, pretty))
    return _tell(model, found)


def _text(option: str, found: Sweep, pretty: bool) -> str:
    if option == "--out-csv":
        from py_autodoc.render.sweep_csv import sweep_csv

        return sweep_csv(found)
    return found.to_json(pretty) + "\n"


def _tell(model: str, found: Sweep) -> int:
    """Say of how many points the costs are not known, and why. Returns the exit status."""
    lost = [point for point in found.points if point.macs is None]
    if lost:
        name, total = os.path.basename(model), len(found.points)
        why = lost[0].reason or "their sizes are not known"
        stderr.error(f"{name}: {len(lost):,} of {total:,} points have no costs: {why.rstrip('.')}.")
        return INCOMPLETE
    return 0
