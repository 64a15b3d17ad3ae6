"""``onnx-autodoc quantize``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, preprocessing, progress_options
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.run_limits import run_limits
from py_autodoc.cli.sample_data import samples_at
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import printable

_FIELDS = ("method", "format", "calibration", "activations", "weights", "per_channel", "target", "block_size")


@click.command("quantize", short_help="Write a quantized model and compare it with the original.")
@click.argument("model", type=click.Path(path_type=str))
@click.argument("out", metavar="OUT.onnx", type=click.Path(path_type=str))
@click.option(
    "--method",
    metavar="NAME",
    help="static, dynamic, int8-weights, int4-weights, fp16, auto (tries them), or the name of a plugin.",
)
@click.option(
    "--for",
    "goal",
    type=click.Choice(["balanced", "size", "latency", "accuracy"]),
    help="What auto chooses by (default: balanced, speed times reduction in size).",
)
@click.option(
    "--data",
    metavar="PATH",
    shell_complete=completion.files,
    help="Representative inputs: .npz, .npy, or a folder of them or of images.",
)
@preprocessing
@click.option(
    "--samples", metavar="N", type=click.IntRange(1, 4096), help="At most N samples (default: 128)."
)
@click.option(
    "--random-data",
    is_flag=True,
    help="Calibrate with synthetic values, whose ranges will not fit real data.",
)
@click.option("--format", metavar="F", help="qdq or qoperator (default: qdq).")
@click.option("--calibration", metavar="C", help="minmax, percentile or entropy (default: minmax).")
@click.option("--activations", metavar="T", help="u8, s8 or u16 (default: depends on the target).")
@click.option("--weights", metavar="T", help="s8, u8 or s7 (default: depends on the target).")
@click.option(
    "--per-channel/--per-tensor", default=None, help="Scales of weights (default: depends on the method)."
)
@click.option(
    "--target", metavar="T", help="cpu-vnni, cpu-avx2, cpu-arm or tensorrt (default: this machine)."
)
@click.option(
    "--block-size",
    metavar="N",
    type=int,
    help="Weights per scale, for int8-weights and int4-weights (default: 32).",
)
@click.option(
    "--ops",
    metavar="TYPE,…|all",
    multiple=True,
    help="Types of operators to quantize (default: Conv, MatMul, Gemm and what is fused with them).",
)
@click.option(
    "--exclude", metavar="NODE|TAG|QUERY", multiple=True, help="Keep these nodes in float. Repeatable."
)
@click.option(
    "--allow-saturation", is_flag=True, help="Accept s8 weights even if kernels saturate their sums."
)
@click.option(
    "--no-tags", is_flag=True, help="Leave out the module of each node; small files get much smaller."
)
@click.option(
    "--recipe", metavar="FILE", shell_complete=completion.files, help="Read these options from TOML or JSON."
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension. Repeatable.",
)
@click.option("--input-shape", metavar="NAME=1x3x224x224", multiple=True, help="Shape of an input.")
@click.option("--out-json", metavar="PATH", help="Write a summary of the result as JSON (- for stdout).")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@run_limits
@force
@progress_options
def command(model: str, out: str, log_level: str, progress: bool | None, pretty: bool, **options: Any) -> int:
    """Quantize MODEL, in float32, to OUT.onnx with ONNX Runtime's tools, and compare both.

    \b
        onnx-autodoc quantize model.onnx model_int8.onnx --data samples.npz
        onnx-autodoc quantize bert.onnx bert_int4.onnx --method int4-weights
        onnx-autodoc quantize model.onnx out.onnx --data samples.npz --exclude 'op=Gemm' --target tensorrt

    Tags are kept, the recipe is stored in the metadata, and MODEL is not changed. Combinations that are known
    to fail are rejected with the reason.

    \b
    Exit status: 0 success, 1 invalid input or a rejected recipe, 2 a tool failed, 3 the result could not be
    written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    import msgspec

    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.outputs import check_output
    from py_autodoc.quantize import Recipe, quantize
    from py_autodoc.quantize.lines import quantization_lines
    from py_autodoc.quantize.recipe import read_recipe

    read = (model, options["data"], options["recipe"], options["preprocessing"])
    inputs = [path for path in read if path]
    check_output(out, "onnx", inputs, options["force"])
    outputs = targets({"--out-json": (options["out_json"], "quantization")}, [*inputs, out], options["force"])
    recipe = read_recipe(options["recipe"]) if options["recipe"] else Recipe()
    settings = {name: options[name] for name in _FIELDS if options[name] is not None}
    if options["ops"]:
        settings["ops"] = [op.strip() for text in options["ops"] for op in text.split(",") if op.strip()]
    if options["exclude"]:
        settings["exclude"] = [*recipe.exclude, *options["exclude"]]
    if options["allow_saturation"]:
        settings["allow_saturation"] = True
    if options["goal"] and "method" not in settings:
        settings["method"] = "auto"
    if options["random_data"] and options["data"] is None:
        stderr.warning("the ranges are from synthetic values and will not fit real data.")
    with ProgressLine(printable(os.path.basename(model)), progress) as line:
        quantized = quantize(
            model,
            out,
            samples_at(options["data"], options["preprocessing"]),
            msgspec.structs.replace(recipe, **settings),
            samples=options["samples"],
            random_data=options["random_data"],
            bindings=parse_bindings(options["bind"]),
            input_shapes=parse_input_shapes(options["input_shape"]),
            force=options["force"],
            tags=not options["no_tags"],
            goal=options["goal"] or "",
            progress=line.update,
        )
    for target in outputs.values():
        written = target.write(quantized.to_json(pretty))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    if not any(target.to_stdout for target in outputs.values()):
        stdout.lines(printable(text) for text in quantization_lines(quantized))
    return 0
