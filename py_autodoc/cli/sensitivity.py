"""``onnx-autodoc sensitivity``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.axes import byte_size
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, preprocessing, progress_options, seed_option
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.run_limits import run_limits
from py_autodoc.cli.sample_data import samples_at
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable


@click.command("sensitivity", short_help="Measure the effect of quantizing each layer on its own.")
@click.argument("model", type=click.Path(path_type=str))
@click.option(
    "--data",
    metavar="PATH",
    shell_complete=completion.files,
    help="Values of the inputs: .npz, .npy, or a folder of them or of images (default: synthetic).",
)
@preprocessing
@click.option(
    "--samples", metavar="N", type=click.IntRange(min=1, max=4096), help="At most N samples (default: 64)."
)
@seed_option()
@click.option(
    "--activations",
    type=click.Choice(["u8", "s8"]),
    default="u8",
    show_default=True,
    help="Type of activations.",
)
@click.option(
    "--weights",
    type=click.Choice(["s8", "s7", "s4"]),
    default="s8",
    show_default=True,
    help="Type of weights.",
)
@click.option("--per-channel/--per-tensor", default=True, show_default=True, help="Scales of weights.")
@click.option("--output", metavar="NAME", help="Output to compare (default: the first float output).")
@click.option(
    "--auto",
    metavar="TARGET",
    help="Find the fewest float layers that reach a target: 'agreement>=0.99', 'sqnr>=30', 'kl<=0.01'.",
)
@click.option(
    "--budget", metavar="SECONDS", type=float, help="Stop measuring further layers after this time."
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory limit of a session; above it, layers are measured in groups (default: 3GiB).",
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension. Repeatable.",
)
@click.option("--input-shape", metavar="NAME=1x3x224x224", multiple=True, help="Shape of an input.")
@click.option(
    "--hardware",
    metavar="ID|FILE",
    default="",
    shell_complete=completion.devices,
    help="Device for the estimated latency of mixtures.",
)
@click.option("--all", "every", is_flag=True, help="List every layer.")
@click.option("--out-json", metavar="PATH", help="Write the result as JSON (- for stdout).")
@click.option("--out-html", metavar="PATH", help="Write a page with the model, coloured by the errors.")
@click.option(
    "--out-md", metavar="PATH", help="Write the report of the model, with recommendations, as Markdown."
)
@click.option("--out-pdf", metavar="PATH", help="Write the same as PDF; needs onnx-autodoc[pdf].")
@click.option(
    "--measure",
    is_flag=True,
    help="Also write mixtures to files and measure their latency here, alternating with the float model.",
)
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@run_limits
@force
@progress_options
def command(model: str, log_level: str, progress: bool | None, pretty: bool, **options: Any) -> int:
    """Measure how sensitive each layer of MODEL is to quantization, and which to keep in float.

    \b
        onnx-autodoc sensitivity model.onnx --data samples.npz
        onnx-autodoc sensitivity model.onnx --data samples.npz --auto 'agreement>=0.99' --hardware l4

    Layers are quantized one at a time (input and weight) while all others stay in float, in one session with
    a switch per layer. Products are computed in float, so the scores do not depend on this CPU's integer
    kernels.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model fails on a sample, 3 the result could not be written,
    5 the target was not reached.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.cli.documents import requested_documents
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.mixtures import with_checked_choice, with_written
    from py_autodoc.report.document.build_report import build_report
    from py_autodoc.sensitivity.advice import with_advice
    from py_autodoc.sensitivity.api import sensitivity_with_analysis
    from py_autodoc.sensitivity.lines import sensitivity_lines
    from py_autodoc.sensitivity.measure import MEMORY

    requested = {
        "--out-json": (options["out_json"], "sensitivity"),
        "--out-html": (options["out_html"], "html"),
        "--out-md": (options["out_md"], "markdown"),
        "--out-pdf": (options["out_pdf"], "pdf"),
    }
    inputs = [
        path for path in (model, options["data"], options["hardware"], options["preprocessing"]) if path
    ]
    outputs = targets(requested, inputs, options["force"])
    documents = requested_documents(outputs, None, None, False, inputs, options["force"])
    if options["data"] is None:
        stderr.warning(
            "the inputs are synthetic; real ones may rank the layers differently. Pass them with --data."
        )
    data = samples_at(options["data"], options["preprocessing"])
    bindings, input_shapes = parse_bindings(options["bind"]), parse_input_shapes(options["input_shape"])
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        line.update("loading", 0, 0)
        result, analysis = sensitivity_with_analysis(
            model,
            data,
            samples=options["samples"],
            seed=options["seed"],
            activations=options["activations"],
            weights=options["weights"],
            per_channel=options["per_channel"],
            output=options["output"],
            auto=options["auto"],
            budget=options["budget"],
            bindings=bindings,
            input_shapes=input_shapes,
            hardware=options["hardware"],
            memory=byte_size(options["memory"], "--memory") or MEMORY,
            progress=lambda done, total: line.update("layers", done, total),
        )
        line.update("the written file", 0, 0)
        result = with_written(model, result, data, bindings=bindings, input_shapes=input_shapes)
        result = with_checked_choice(model, result, data, bindings=bindings, input_shapes=input_shapes)
        if options["measure"]:
            from py_autodoc.mixtures import measure_mixtures

            result = measure_mixtures(
                model,
                result,
                data,
                bindings=bindings,
                input_shapes=input_shapes,
                progress=line.update,
            )
    analysis = with_advice(analysis, result)
    for path, size in documents.write(analysis, build_report(analysis)) if documents else ():
        if sys.stderr.isatty():
            stderr.note(f"Wrote {path} ({size:,} bytes).")
    for option, target in outputs.items():
        if option == "--out-json":
            written = target.write(result.to_json(pretty))
        else:
            from py_autodoc.render.html import html_page

            written = target.write(html_page(analysis, numbers=result.heat()))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not any(target.to_stdout for target in outputs.values()):
        stdout.lines(printable(line) for line in sensitivity_lines(result, options["every"]))
    return 5 if result.choice is not None and not result.choice.reached else 0
