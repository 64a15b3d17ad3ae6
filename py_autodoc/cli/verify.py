"""``onnx-autodoc verify``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, preprocessing, progress_options, seed_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.run_limits import run_limits
from py_autodoc.cli.sample_data import samples_at
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.report.pipeline.analysis import Analysis
    from py_autodoc.verify import Verification

DIVERGES = 5
_SCALE = 2.0
"""PNG pixels per unit of the SVG."""


@click.command("verify", short_help="Find where the values of two models diverge.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--against",
    metavar="REFERENCE",
    required=True,
    shell_complete=completion.files,
    help="An ONNX file, or a .npz file of expected values named after the model's tensors.",
)
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
@click.option(
    "--tolerance",
    metavar="X",
    type=float,
    help="Accepted relative error (default: 0.001 for float32, 0.02 for float16, 0.05 for bfloat16, "
    "0.1 for quantized models).",
)
@click.option(
    "--target",
    metavar="T",
    default="",
    help="Also as this target computes: cpu-vnni, cpu-avx2, cpu-arm or tensorrt (default: the recipe's).",
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension. Repeatable.",
)
@click.option(
    "--input-shape",
    metavar="NAME=1x3x224x224",
    multiple=True,
    help="Full shape of an input. Repeatable.",
)
@click.option("--all", "every", is_flag=True, help="List every layer.")
@click.option("--out-json", metavar="PATH", help="Write the result as JSON (- for stdout).")
@click.option("--out-html", metavar="PATH", help="Write a page with the model, coloured by its errors.")
@click.option("--out-svg", metavar="PATH", help="Draw the model, coloured by its errors, as SVG.")
@click.option("--out-png", metavar="PATH", help="The same as PNG; needs onnx-autodoc[pictures].")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@run_limits
@force
@progress_options
def command(model: str, log_level: str, progress: bool | None, pretty: bool, **options: Any) -> int:
    """Compare the values computed by MODEL with those of a reference, layer by layer.

    \b
        onnx-autodoc verify model_int8.onnx --against model.onnx --data samples.npz
        onnx-autodoc verify exported.onnx --against expected.npz

    Both run on the same inputs. They are aligned by structure, so that a quantized, converted or fused
    variant is compared with its original tensor by tensor, and the first diverging layer is named. In Python,
    the reference can be a PyTorch module: py_autodoc.verify.verify(model, module).

    \b
    Exit status: 0 the outputs agree, 1 invalid input, 2 a model fails on a sample, 3 the result could not be
    written, 5 an output exceeds the tolerance, or none was compared.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.verify.api import verify_with_analysis
    from py_autodoc.verify.document import AGREES

    kinds = {"json": "verification", "html": "html", "svg": "svg", "png": "png"}
    requested = {f"--out-{name}": (options[f"out_{name}"], kind) for name, kind in kinds.items()}
    inputs = [model, options["against"], *filter(None, [options["data"], options["preprocessing"]])]
    outputs = targets(requested, inputs, options["force"])
    if "--out-png" in outputs:
        from py_autodoc.render.png import resvg

        resvg()
    if options["data"] is None and not options["against"].lower().endswith((".npz", ".npy")):
        stderr.warning(
            "the inputs are synthetic: the result shows where the models differ, not their accuracy. "
            "Pass real ones with --data."
        )
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        line.update("loading", 0, 0)
        result, analysis = verify_with_analysis(
            model,
            options["against"],
            samples_at(options["data"], options["preprocessing"]),
            tolerance=options["tolerance"],
            samples=options["samples"],
            seed=options["seed"],
            bindings=parse_bindings(options["bind"]),
            input_shapes=parse_input_shapes(options["input_shape"]),
            target=options["target"],
            progress=lambda done, total: line.update("passes", done, total),
        )
    for option, target in outputs.items():
        written = target.write(_document(option, result, analysis, pretty))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not any(target.to_stdout for target in outputs.values()):
        _print(result, options["every"])
    return 0 if result.verdict == AGREES else DIVERGES


def _document(option: str, result: Verification, analysis: Analysis, pretty: bool) -> str | bytes:
    if option == "--out-json":
        return result.to_json(pretty)
    if option == "--out-html":
        from py_autodoc.render.html import html_page

        return html_page(analysis, numbers=result.heat())
    from py_autodoc.render.svg import svg_picture
    from py_autodoc.report.viewer_payload.build_payload import build_payload

    svg = svg_picture(build_payload(analysis), overlay="user", numbers=result.heat())
    if option == "--out-svg":
        return svg
    from py_autodoc.render.png import png_picture

    return png_picture(svg, _SCALE)


def _print(result: Verification, all_tensors: bool) -> None:
    from py_autodoc.verify.lines import verification_lines

    stdout.lines(printable(line) for line in verification_lines(result, all_tensors))
