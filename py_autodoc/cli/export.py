"""``onnx-autodoc export``."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from py_autodoc import outputs
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, progress_options
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.errors import OptionError
from py_autodoc.outputs.marks import DATA, sealed_text
from py_autodoc.outputs.output_files import empty
from py_autodoc.render.output_target import Target, targets
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.torch.input_options import InputOptions
    from py_autodoc.torch.loaded_source import LoadedSource
    from py_autodoc.torch.quantizing import Quantize
    from py_autodoc.torch.result import ExportResult

STAGES = ("load", "export", "tag", "save", "sidecar")
KERAS = (".h5", ".hdf5", ".keras")


@dataclass(frozen=True, slots=True)
class _ExportRequest:
    """The options as given."""

    source: str
    out: str
    exporter: str | None
    opset: int | None
    input_shape: tuple[str, ...]
    input_text: str | None
    inputs: str | None
    batch_size: int | None
    sequence_length: int | None
    dynamic: tuple[str, ...]
    seed: int
    random_weights: bool
    keep: tuple[str, ...]
    sidecar: bool
    external_data: bool | None
    generation: bool
    quantize: str | None
    data: str | None
    samples: int | None
    task: str | None
    embed_metadata: bool
    embed_processor: bool
    report_json: str | None
    report_md: str | None
    jit_graph: str | None
    fx_graph: str | None
    force: bool
    progress: bool | None


@click.command(
    "export", short_help="Export a PyTorch or Keras model to ONNX, recording the module of each node."
)
@click.argument("source")
@click.argument("out", metavar="OUT.onnx", type=click.Path(path_type=str))
@click.option(
    "--exporter",
    type=click.Choice(["dynamo", "torchscript", "hf"], case_sensitive=False),
    help="dynamo: torch.onnx (default); torchscript: its older exporter; hf: the exporter in transformers. "
    "Without this option, Keras files are read directly.",
)
@click.option("--opset", metavar="N", type=click.IntRange(min=1), help="Opset version to export.")
@click.option(
    "--input-shape",
    metavar="[NAME=]1x3x224x224",
    multiple=True,
    help="Shape of an input; without a name, of the only or main input. Repeatable.",
)
@click.option("--input-text", metavar="TEXT", help="Example text for the folder's own tokenizer.")
@click.option("--inputs", metavar="FILE.npz", help="Example inputs as arrays, named as forward's arguments.")
@click.option("--batch-size", metavar="N", type=click.IntRange(min=1), help="Batch of the example inputs.")
@click.option(
    "--sequence-length", metavar="N", type=click.IntRange(min=1), help="Tokens of the example inputs."
)
@click.option(
    "--dynamic",
    metavar="batch,seq",
    multiple=True,
    help="Axes that stay symbolic: batch, seq, or NAME:AXIS=symbol. Repeatable.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), default=0, help="Random seed for the example inputs."
)
@click.option("--random-weights", is_flag=True, help="Build the model from config.json with random weights.")
@click.option(
    "--keep",
    metavar="GLOB",
    multiple=True,
    help="Classes of torch.nn shown in tags, such as 'Linear'. Repeatable.",
)
@click.option("--sidecar/--no-sidecar", default=True, help="Write OUT.onnx.json (default: yes).")
@click.option(
    "--external-data/--no-external-data",
    default=None,
    help="Store weights in a separate file (default: from 1.5 GiB).",
)
@click.option(
    "--generation", is_flag=True, help="With hf: prefill and decode with a key-value cache; OUT is a folder."
)
@click.option(
    "--quantize",
    type=click.Choice(["int8", "int7"]),
    help="Quantize in PyTorch first (torchao); int7 limits data to 7 bits, for CPUs without VNNI.",
)
@click.option("--data", metavar="PATH", help="Samples for --quantize: .npz, .npy or a folder of them.")
@click.option(
    "--samples", metavar="N", type=click.IntRange(1, 4096), help="At most N samples (default: 128)."
)
@click.option(
    "--task", metavar="NAME", help="Task of the model, such as text-classification (default: inferred)."
)
@click.option(
    "--embed-metadata/--no-embed-metadata",
    default=True,
    help="Store configuration and task in the model's metadata (default: yes).",
)
@click.option(
    "--embed-processor/--no-embed-processor",
    default=True,
    help="Also store the tokenizer and other processors (default: yes).",
)
@click.option("--report-json", metavar="PATH", help="Write the report as JSON (- for stdout).")
@click.option("--report-md", metavar="PATH", help="Write the report as Markdown (- for stdout).")
@click.option("--jit-graph", metavar="FILE", help="Write the TorchScript graph as text (- for stdout).")
@click.option("--fx-graph", metavar="FILE", help="Write the graph of torch.export as text (- for stdout).")
@force
@progress_options
def command(log_level: str, **options: object) -> int:
    """Export SOURCE to OUT.onnx. The graph is the exporter's; only metadata is added.

    \b
    SOURCE is one of
      a Hugging Face folder (or an id of the hub)
      package.module:factory   a function that returns (module, example_inputs)
      a .pt2 file of torch.export
      a .keras or .h5 file       read without Keras or torch, unless --exporter is given

    Example inputs are derived from the model's configuration unless given by options.

    \b
    Exit status: 0 success, 1 invalid input, 2 the export failed, 3 a result could not be
    written, 4 the hub could not be reached.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    return _run(_ExportRequest(**options))  # type: ignore[arg-type]


def _run(request: _ExportRequest) -> int:
    outputs = _targets(request)
    if request.exporter is None and request.source.lower().endswith(KERAS):
        from py_autodoc.cli.export_keras import run

        return run(asdict(request), outputs)
    return _traced(replace(request, exporter=request.exporter or "dynamo"), outputs)


def _traced(request: _ExportRequest, outputs: dict[str, Target]) -> int:
    """Export by tracing the model in torch."""
    input_options = _input_options(request)
    from py_autodoc.torch.sources import need_torch

    need_torch()
    from py_autodoc.cli.export_output import exported

    with ProgressLine(printable(os.path.basename(request.source)), request.progress) as progress:
        progress.update(STAGES[0], 0, len(STAGES))
        start = time.perf_counter()
        loaded, named, axes = _loaded(request.source, input_options)
        seconds = {"load": time.perf_counter() - start}

        def stage(name: str, share: float, /) -> None:
            if name in STAGES:
                progress.update(name, STAGES.index(name), len(STAGES))

        options: dict[str, Any] = {
            "exporter": request.exporter,
            "opset": request.opset,
            "dynamic": axes,
            "external_data": request.external_data,
            "sidecar": request.sidecar,
            "progress": stage,
            "task": request.task,
            "embed_metadata": request.embed_metadata,
            "embed_processor": request.embed_processor,
            "source_folder": loaded.folder,
            "sources": _sources(request),
            "force": request.force,
            "quantize": _quantize(request),
        }
        if request.keep:
            options["keep"] = _kept_keys(request.keep)
        if request.exporter != "hf" and loaded.output_names:
            options["output_names"] = loaded.output_names
        if request.generation:  # generate() runs in the library and takes only the prompt
            named = {name: value for name, value in named.items() if not name.startswith("decoder_")}
            loaded.example = named
        result = exported(loaded, request.out, request.generation, options)
    from py_autodoc.torch.report import report_of

    report = report_of(result, loaded.facts, named, axes, loaded.warnings, seconds)
    return _finish(result, loaded, report, outputs)


def _targets(request: _ExportRequest) -> dict[str, Target]:
    """Check all outputs together; return the files written next to the model."""
    reports = {
        "--report-json": (request.report_json, "export-report"),
        "--report-md": (request.report_md, "markdown"),
        "--jit-graph": (request.jit_graph, "text"),
        "--fx-graph": (request.fx_graph, "text"),
    }
    if request.generation:
        empty(Path(os.path.realpath(request.out)), request.force)
        return targets(reports, _sources(request), request.force)
    model_files = [outputs.OutputRequest(request.out, "onnx")]
    if request.external_data:
        model_files.append(outputs.OutputRequest(f"{os.path.realpath(request.out)}{DATA}", "data"))
    if request.sidecar:
        model_files.append(outputs.OutputRequest(f"{request.out}.json", "sidecar"))
    return targets(reports, _sources(request), request.force, model_files)


def _sources(request: _ExportRequest) -> list[str]:
    """Return the files and folders read, including the file of ``package.module:factory``."""
    name = request.source.partition(":")[0]
    module = f"{name.replace('.', os.sep)}.py"
    candidates = [request.source, module, request.inputs or "", request.data or ""]
    return [path for path in map(os.path.expanduser, candidates) if path and os.path.exists(path)]


def _input_options(request: _ExportRequest) -> InputOptions:
    from py_autodoc.torch.input_options import InputOptions, parse_dynamic, parse_shapes

    values = (request.input_shape, request.input_text, request.batch_size, request.sequence_length)
    if request.inputs is not None and any(values):
        raise OptionError(
            "two-inputs", "--inputs cannot be combined with other input options.", "Remove the other options."
        )
    if (request.quantize is None) != (request.data is None):
        raise OptionError(
            "quantize-data", "--quantize and --data must be used together.", "Pass real inputs."
        )
    if request.generation and request.exporter != "hf":
        raise OptionError("generation", "--generation needs --exporter hf.", "")
    if request.generation and request.external_data is not None:
        raise OptionError("generation", "With --generation, weights are always in separate files.", "")
    return InputOptions(
        parse_shapes(request.input_shape),
        request.input_text,
        Path(request.inputs) if request.inputs is not None else None,
        request.batch_size,
        request.sequence_length,
        parse_dynamic(request.dynamic),
        request.seed,
        request.random_weights,
        request.exporter == "hf",
    )


def _quantize(request: _ExportRequest) -> Quantize | None:
    if request.quantize is None:
        return None
    from py_autodoc.torch.quantizing import Quantize

    return Quantize(request.data, request.samples, narrow=request.quantize == "int7")


def _kept_keys(extra: tuple[str, ...]) -> tuple[str, ...]:
    from py_autodoc.tags import KEEP

    return (*KEEP, *extra)


def _loaded(
    source: str, input_options: InputOptions
) -> tuple[LoadedSource, dict[str, Any], dict[str, dict[int, str]] | None]:
    """Return the model, its inputs by name, and its dynamic axes."""
    from py_autodoc.torch.adjust_inputs import adjust_inputs
    from py_autodoc.torch.input_options import dynamic_axes_of
    from py_autodoc.torch.inputs import ModelInputs
    from py_autodoc.torch.sources import load_source

    loaded = load_source(source, input_options)
    if loaded.facts["kind"] in ("factory", "keras"):
        loaded.example = adjust_inputs(loaded.model, loaded.example, input_options)
    named = ModelInputs.of(loaded.example).by_name(loaded.model)
    return loaded, named, dynamic_axes_of(input_options.dynamic, named)


def _finish(
    result: ExportResult, loaded: LoadedSource, report: dict[str, Any], outputs: dict[str, Target]
) -> int:
    from py_autodoc.cli.export_output import delivered
    from py_autodoc.torch import graph_dumps
    from py_autodoc.torch.report import markdown

    makers = {
        "--report-json": lambda: json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "--report-md": lambda: sealed_text(markdown(report), "markdown"),
        "--jit-graph": lambda: sealed_text(graph_dumps.jit_graph(loaded.model, loaded.example), "text"),
        "--fx-graph": lambda: sealed_text(
            graph_dumps.fx_graph(loaded.model, loaded.example, result.exported), "text"
        ),
    }
    return delivered(report, loaded.notes, outputs, makers)
