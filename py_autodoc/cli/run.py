"""``onnx-autodoc run``."""

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
from py_autodoc.errors import OptionError
from py_autodoc.render.output_target import Target, targets
from py_autodoc.render.terminal_text import printable
from py_autodoc.units import plural

if TYPE_CHECKING:
    from py_autodoc.report.pipeline.analysis import Analysis
    from py_autodoc.runner.profile import NodeTimes
    from py_autodoc.runner.text_loader import TextLoader

_PROFILED, _PROFILE_WARMUP = 20, 3
_KINDS = {"--out-json": "run", "--out-layers": "node-times", "--out-html": "html", "--out-plot": "plot"}
_FILES = ("data", "tokenizer", "profile", "layer_info", "hardware", "preprocessing")


@click.command("run", short_help="Measure latency, memory and results on this machine, also per layer.")
@click.argument("models", metavar="MODEL…", type=click.Path(path_type=str), nargs=-1, required=True)
@click.option(
    "--data",
    metavar="PATH",
    shell_complete=completion.files,
    help="Values of the inputs: .npz, .npy or a folder of them, a folder of images, or text in a .txt or "
    ".jsonl (default: synthetic).",
)
@preprocessing
@click.option(
    "--tokenizer",
    metavar="FILE",
    shell_complete=completion.files,
    help="tokenizer.json for text (default: the one next to the first model).",
)
@click.option(
    "--text-field", metavar="NAME", help="Field of a .jsonl that contains the text (default: text)."
)
@click.option("--samples", metavar="N", type=click.IntRange(1, 4096), help="At most N samples (default: 64).")
@seed_option()
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=100,
    show_default=True,
    help="Timed runs per model.",
)
@click.option(
    "--warmup",
    metavar="N",
    type=click.IntRange(0, 10_000),
    default=10,
    show_default=True,
    help="Runs per model before timing.",
)
@click.option(
    "--providers", metavar="NAME,…", default="", help="ONNX Runtime's execution providers (default: the CPU)."
)
@click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(0, 1024),
    default=0,
    help="Threads per operator, at most one per core (default: ONNX Runtime's choice).",
)
@click.option(
    "--metrics",
    metavar="NAME",
    multiple=True,
    help="Metrics of the results: topk, or the name of a plugin. Repeatable.",
)
@click.option(
    "--bind",
    metavar="NAME=N",
    multiple=True,
    shell_complete=completion.symbols,
    help="Value for a symbolic dimension. Repeatable.",
)
@click.option(
    "--input-shape", metavar="NAME=1x3x224x224", multiple=True, help="Shape of an input. Repeatable."
)
@click.option("--layers", is_flag=True, help="Also measure the time of each layer of the first model.")
@click.option(
    "--profile",
    metavar="FILE",
    shell_complete=completion.files,
    help="Read the times of layers from a profile instead of running: ONNX Runtime, trtexec, or a table of "
    "name and ms.",
)
@click.option(
    "--layer-info",
    metavar="FILE",
    shell_complete=completion.files,
    help="With a profile of trtexec: the file that --exportLayerInfo wrote for the same engine. Maps its "
    "layers to nodes.",
)
@click.option("--all", "every", is_flag=True, help="List every layer.")
@click.option("--out-json", metavar="PATH", help="Write the runs as JSON (- for stdout).")
@click.option("--out-layers", metavar="PATH", help="Write the times of layers as JSON (- for stdout).")
@click.option(
    "--out-html",
    metavar="PATH",
    help="Write a page with the first model, coloured by the times of its layers.",
)
@click.option(
    "--hardware",
    metavar="ID|FILE",
    default="",
    shell_complete=completion.devices,
    help="Compare the times of layers with the estimates for this device.",
)
@click.option(
    "--out-plot",
    metavar="PATH",
    help="Plot estimated against measured time per layer, as SVG or PNG (with --hardware).",
)
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@run_limits
@force
@progress_options
def command(
    models: tuple[str, ...], log_level: str, progress: bool | None, pretty: bool, **options: Any
) -> int:
    """Run MODEL in ONNX Runtime on this machine; several models alternate.

    \b
        onnx-autodoc run model.onnx
        onnx-autodoc run model.onnx model_int8.onnx --data samples.npz --metrics topk
        onnx-autodoc run bert.onnx --data texts.jsonl --tokenizer tokenizer.json
        onnx-autodoc run model.onnx --layers --out-html times.html
        onnx-autodoc run model.onnx --profile trt_profile.json --out-html times.html

    The models alternate, one inference each, so that their ratios are fair even on a busy machine. Memory is
    measured in a fresh process. Results are compared with those of the first model.

    \b
    Exit status: 0 success, 1 invalid input, 2 a model fails on its input, 3 a result could not be written.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    from py_autodoc.runner.texts import is_texts

    set_level(log_level)
    inputs = [*models, *(path for path in (options[key] for key in _FILES) if path)]
    requested = {
        option: (options[option.strip("-").replace("-", "_")], kind) for option, kind in _KINDS.items()
    }
    outputs = targets(requested, inputs, options["force"])
    if options["profile"] and (len(models) > 1 or "--out-json" in outputs):
        raise OptionError(
            "profile-alone",
            "--profile takes one model and does not run it.",
            "Pass one model, without --out-json.",
        )
    if (options["tokenizer"] or options["text_field"]) and not is_texts(options["data"]):
        raise OptionError(
            "tokenizer-without-text",
            "--tokenizer and --text-field are for text.",
            "Pass text with --data: a .txt file with one text per line, or a .jsonl file.",
        )
    if options["layer_info"] and not options["profile"]:
        raise OptionError(
            "layer-info-alone",
            "--layer-info describes the layers of a profile.",
            "Pass the profile with --profile; trtexec --exportProfile writes it.",
        )
    if "--out-plot" in outputs and not options["hardware"]:
        raise OptionError(
            "plot-needs-hardware",
            "--out-plot compares times with an estimate.",
            "Choose a device with --hardware.",
        )
    options["threads"] = _threads(options["threads"])
    needs_layers = options["layers"] or options["profile"] or options["hardware"]
    needs_layers = needs_layers or outputs.keys() & {"--out-layers", "--out-html"}
    quiet = any(target.to_stdout for target in outputs.values())
    if not options["profile"]:
        _run(models, options, outputs, pretty, progress, quiet)
    if needs_layers:
        _layers(models[0], options, outputs, pretty, progress, quiet)
    return 0


def _threads(requested: int) -> int:
    from py_autodoc.ort import usable_threads

    threads = usable_threads(requested)
    if threads < requested:
        stderr.warning(
            f"--threads {requested}: this process has {plural(threads, 'core')}, so it uses as many threads."
        )
    return threads


def _run(
    models: tuple[str, ...],
    options: dict[str, Any],
    outputs: dict[str, Target],
    pretty: bool,
    progress: bool | None,
    quiet: bool,
) -> None:
    from py_autodoc.runner.compare import compare_precisions
    from py_autodoc.runner.lines import run_lines
    from py_autodoc.runner.metrics import calculator
    from py_autodoc.runner.text_loader import TextLoader

    data = _data(models[0], options)
    for note in data.notes if isinstance(data, TextLoader) else ():
        stderr.warning(note)
    names = _names(models)
    with ProgressLine(printable(os.path.basename(models[0])), progress) as line:
        line.update("loading", 0, 0)
        comparison = compare_precisions(
            dict(zip(names, models, strict=True)),
            data,
            [calculator(metric) for metric in options["metrics"]],
            runs=options["runs"],
            warmup=options["warmup"],
            samples=options["samples"],
            seed=options["seed"],
            progress=lambda done, total: line.update("runs", done, total),
            **_session(options),
        )
    if options["data"] is None:  # not before a refusal, where there is no result
        stderr.warning(
            "the inputs are synthetic, so results do not show accuracy. Pass real ones with --data."
        )
    if "--out-json" in outputs:
        _write(outputs["--out-json"], comparison.to_json(pretty))
    if not quiet:
        stdout.lines(printable(line) for line in run_lines(comparison))


def _layers(
    model: str,
    options: dict[str, Any],
    outputs: dict[str, Target],
    pretty: bool,
    progress: bool | None,
    quiet: bool,
) -> None:
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.runner.lines import node_lines
    from py_autodoc.runner.loaders import DataLoader
    from py_autodoc.runner.profile import measure_nodes, read_profile
    from py_autodoc.samples import analysis_at_sizes

    data = _data(model, options)
    bindings, shapes = parse_bindings(options["bind"]), parse_input_shapes(options["input_shape"])
    source = data.sizes() if isinstance(data, DataLoader) else data
    analysis = analysis_at_sizes(model, source, bindings, shapes, options["hardware"])
    times: NodeTimes
    if options["profile"]:
        times = read_profile(options["profile"], analysis, options["layer_info"])
    else:
        from py_autodoc.runner.session import InferenceRunner

        runner = InferenceRunner(model, data=data, **_session(options))
        samples, _, _ = runner.samples(data, options["samples"], options["seed"])
        with ProgressLine(printable(os.path.basename(model)), progress) as line:
            times = measure_nodes(
                model,
                analysis,
                samples,
                min(_PROFILED, options["runs"]),
                _PROFILE_WARMUP,
                options["threads"],
                progress=lambda done, total: line.update("layers", done, total),
            )
    if "--out-layers" in outputs:
        _write(outputs["--out-layers"], times.to_json(pretty))
    if "--out-html" in outputs:
        from py_autodoc.render.html import html_page

        _write(outputs["--out-html"], html_page(analysis, numbers=times.heat()))
    if not quiet:
        if not options["profile"]:
            stdout.lines([""])
        stdout.lines(printable(line) for line in node_lines(times, options["every"]))
    if options["hardware"]:
        _print_estimate(times, analysis, outputs.get("--out-plot"), quiet)


def _print_estimate(times: NodeTimes, analysis: Analysis, plot: Target | None, quiet: bool) -> None:
    """Print the times next to the estimate."""
    from py_autodoc.runner.estimated import compare_with_estimate, estimate_lines

    comparison = compare_with_estimate(times, analysis)
    if not quiet:
        stdout.lines([""])
        stdout.lines(printable(line) for line in estimate_lines(comparison))
    if plot is None:
        return
    from py_autodoc.render.plots.estimates import Mark, encode_figure, estimate_plot

    marks = [Mark(node.name, node.op, node.measured_ms, node.estimated_ms) for node in comparison.nodes]
    if not any(mark.measured > 0 and mark.estimated > 0 for mark in marks):
        raise OptionError("nothing-to-plot", "No layer has a measured time and an estimate.")
    data = encode_figure(estimate_plot(marks, comparison.device), plot.display_name)
    written = plot.write(data)
    if not plot.to_stdout and sys.stderr.isatty():
        stderr.note(f"Wrote {plot.display_name} ({written:,} bytes).")


def _session(options: dict[str, Any]) -> dict[str, Any]:
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes

    return {
        "providers": [provider.strip() for provider in options["providers"].split(",") if provider.strip()],
        "threads": options["threads"],
        "bindings": parse_bindings(options["bind"]),
        "input_shapes": parse_input_shapes(options["input_shape"]),
    }


def _data(model: str, options: dict[str, Any]) -> Any:
    """Return the given data: a path, a loader for text, or images with their preprocessing."""
    from py_autodoc.runner.texts import is_texts

    data = options["data"]
    if is_texts(data):
        return _texts(model, options)
    return samples_at(data, options["preprocessing"])


def _texts(model: str, options: dict[str, Any]) -> TextLoader:
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.runner.session import SAMPLES
    from py_autodoc.runner.text_loader import text_loader
    from py_autodoc.runner.texts import FIELD

    return text_loader(
        model,
        options["data"],
        options["tokenizer"],
        field=options["text_field"] or FIELD,
        samples=options["samples"] or SAMPLES,
        bindings=parse_bindings(options["bind"]),
        input_shapes=parse_input_shapes(options["input_shape"]),
    )


def _names(models: tuple[str, ...]) -> list[str]:
    """Return the file names, made unique."""
    names: list[str] = []
    for path in models:
        name, count = os.path.basename(path), 2
        while name in names:
            name, count = f"{os.path.basename(path)} ({count})", count + 1
        names.append(name)
    return names


def _write(target: Target, text: str) -> None:
    written = target.write(text)
    if not target.to_stdout and sys.stderr.isatty():
        stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
