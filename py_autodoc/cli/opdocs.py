"""``onnx-autodoc opdocs``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, preprocessing, progress_options, seed_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.run_limits import run_limits
from py_autodoc.cli.sample_data import samples_at
from py_autodoc.render.terminal_text import printable


@click.command("opdocs", short_help="Document every quantized operation: formulas, C, test vectors.")
@click.argument("model", type=click.Path(path_type=str))
@click.option("--out", metavar="DIR", required=True, help="A new or an empty folder.")
@click.option(
    "--data",
    metavar="PATH",
    shell_complete=completion.files,
    help="Values of the inputs: .npz, .npy, or a folder of them or of images (default: synthetic).",
)
@preprocessing
@click.option(
    "--samples", metavar="N", type=click.IntRange(min=1, max=4096), help="At most N samples (default: 16)."
)
@seed_option()
@click.option("--no-vectors", is_flag=True, help="Write no test vectors.")
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension. Repeatable.",
)
@click.option("--input-shape", metavar="NAME=1x3x224x224", multiple=True, help="Shape of an input.")
@run_limits
@force
@progress_options
def command(model: str, out: str, log_level: str, progress: bool | None, **options: Any) -> int:
    """Write the operation reference of MODEL, a quantized model, into a folder.

    \b
        onnx-autodoc opdocs model_int8.onnx --out reference --data samples.npz

    The reference lists for every quantized operation: formula, scales, zero points and ranges, multiplier and
    shift, accumulator width, differences between fixed-point roundings, C code that gives the same integers,
    and test vectors. The numbers are checked against ONNX Runtime.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model fails in ONNX Runtime, 3 the folder could not be
    written, 5 an output of the reference differs from ONNX Runtime.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.opdocs import opdocs
    from py_autodoc.opdocs.tables import summary

    if options["data"] is None and sys.stderr.isatty():
        stderr.note("Values are synthetic; pass real ones with --data to see their ranges.")
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        reference = opdocs(
            model,
            out,
            samples_at(options["data"], options["preprocessing"]),
            samples=options["samples"],
            seed=options["seed"],
            vectors=not options["no_vectors"],
            bindings=parse_bindings(options["bind"]),
            input_shapes=parse_input_shapes(options["input_shape"]),
            force=options["force"],
            progress=line.update,
        )
    stdout.lines(printable(text) for text in summary(reference)[:-1])
    if sys.stderr.isatty():
        stderr.note(f"Wrote {printable(out)}.")
    compared = [
        operation.against_runtime
        for operation in reference.operations
        if operation.against_runtime is not None
    ]
    return 5 if any(comparison.differing for comparison in compared) else 0
