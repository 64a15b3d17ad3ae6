"""``export``: PyTorch to ONNX with the module hierarchy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir
import torch

from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.exporter_records import TABLE, pack_table
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.outputs import filling
from py_autodoc.outputs.output_files import empty
from py_autodoc.tags import model_files
from py_autodoc.tags.export_stages import ExportProgress, StageTimer
from py_autodoc.tags.metadata_rewrite import rewrite
from py_autodoc.tags.model import walk
from py_autodoc.tags.naming import KEEP
from py_autodoc.tags.sidecar import sidecar as sidecar_of
from py_autodoc.tags.sidecar import sidecar_path, write_sidecar
from py_autodoc.tags.tag_storage import node_editor, table_of, write_tags
from py_autodoc.torch.dynamo import DynamoExport, export_dynamo
from py_autodoc.torch.embedded_metadata import EmbedOptions, collect_metadata
from py_autodoc.torch.export_errors import translate_errors
from py_autodoc.torch.hf import export_hf
from py_autodoc.torch.inputs import Dynamic, ModelInputs
from py_autodoc.torch.quantizing import Quantize, export_quantized
from py_autodoc.torch.result import ExportRequest, ExportResult
from py_autodoc.torch.scopes import describe, evaluating, executed_of
from py_autodoc.torch.torchscript import export_torchscript

EXPORTERS = ("dynamo", "torchscript", "hf")


def export(
    model: torch.nn.Module | torch.export.ExportedProgram,
    example_inputs: Any,
    path: PathLike,
    *,
    exporter: str = "dynamo",
    dynamic: Dynamic = None,
    opset: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    keep: Sequence[str] = KEEP,
    metadata: Mapping[str, str] | None = None,
    external_data: bool | None = None,
    sidecar: bool = True,
    generation: bool = False,
    processor: Any = None,
    task: str | None = None,
    embed_metadata: bool = True,
    embed_processor: bool = True,
    source_folder: PathLike | None = None,
    sources: Sequence[PathLike] = (),
    force: bool = False,
    quantize: Quantize | None = None,
    progress: ExportProgress | None = None,
    **options: Any,
) -> ExportResult:
    """Export a model and record the module of each operation.

    The graph equals the exporter's own output, node for node and byte for byte; only metadata is added. The
    model is exported in evaluation mode, and each module's mode is restored. Files appear only when complete.

    Args:
        model: a module, or a program of ``torch.export`` (exporter ``dynamo`` only).
        example_inputs: a tensor, a tuple of positional inputs, or a dict of named ones; with ``generation``,
            the inputs of ``generate``; ignored for a program.
        path: the file to write; with ``generation``, a folder that gets one file per component.
        exporter: ``dynamo`` (``torch.onnx.export``), ``torchscript`` (its older form), or ``hf`` (the
            exporter
            of transformers).
        dynamic: True for every axis; or input → axis → name of the axis; or the exporter's own format.
        opset: opset version; None uses the exporter's default.
        input_names: names of the graph's inputs.
        output_names: names of the graph's outputs.
        keep: globs of torch classes that tags include; ``autodoc.scope`` lists every module in any case.
        metadata: additional entries for the model's metadata.
        external_data: store weights in ``<name>.data`` next to the model; None does so from 1.5 GiB on.
        sidecar: write ``<name>.json`` with modules, nodes and tensors.
        generation: export the stages of a generative model (``hf``): prefill, decode with a cache, ….
        processor: tokenizer, image processor, … of a transformers model, or a list of them, whose files are
            embedded; None uses those of the folder the model was loaded from.
        task: task of a transformers model; None detects it with ``py_autodoc.hf.detect_task``.
        embed_metadata: store configuration, task and versions of a transformers model.
        embed_processor: also store the files of the processor.
        source_folder: folder of the processor's files, if it is not the folder named by the model.
        sources: files and folders that the model was read from, which are never overwritten.
        force: replace files that ONNX Autodoc did not write, also in a folder of ``generation``.
        quantize: quantize in PyTorch first (``dynamo``, with torchao); the recipe is stored in the metadata.
        progress: called with each stage and the completed share of the work.
        options: options passed to the exporter.

    Raises:
        OptionError: an option or the inputs are invalid, or the task is unknown.
        AnalysisError: ``export-forward``, ``export-failed``.
        OutputError: the result cannot be written; no partial file is left.
        InputError: the samples for ``quantize`` do not fit.
        RequirementError: ``hf`` without transformers, ``quantize`` without torchao.
    """
    clock = StageTimer(progress)
    request = ExportRequest(
        model,
        ModelInputs() if isinstance(model, torch.export.ExportedProgram) else ModelInputs.of(example_inputs),
        Path(path),
        dynamic,
        opset,
        input_names,
        output_names,
        tuple(keep),
        dict(metadata or {}),
        external_data,
        options,
        clock,
        [*sources, *([] if source_folder is None else [source_folder])],
        force,
    )
    _check(request, exporter, generation)
    if quantize is not None and exporter != "dynamo":
        raise OptionError(
            "quantize-exporter", f"{exporter} cannot export what torchao quantized.", "Use dynamo."
        )
    if generation:
        empty(Path(os.path.realpath(path)), force)
    else:
        model_files.targets(
            path, data=bool(external_data), sidecar=sidecar, inputs=request.sources, force=force
        )
    embed_options = EmbedOptions(embed_metadata, embed_processor, processor, task, source_folder)
    embedded = collect_metadata(request, embed_options)
    if embedded is not None:
        request = replace(request, metadata={**embedded.entries, **request.metadata})
    result = _exported(request, exporter, sidecar, generation, quantize)
    clock("done", 1.0)
    result.timings = clock.seconds
    result.carried = embedded
    result.warnings += embedded.warnings if embedded is not None else []
    for name, exported in (result.components or {"": result}).items():
        if fault := exported.tags.coverage.fault:
            result.warnings.append(f"{name}: {fault}" if name else fault)
    return result


def _exported(
    request: ExportRequest, exporter: str, sidecar: bool, generation: bool, quantize: Quantize | None
) -> ExportResult:
    model = request.model
    mode = evaluating(model) if isinstance(model, torch.nn.Module) else nullcontext()
    with mode:
        request.stage("export", 0.0)
        if exporter == "torchscript":
            return _torchscript(request, sidecar)
        if exporter == "hf":
            return _hf(request, sidecar, generation)
        with translate_errors(model, request.inputs):
            exported = export_dynamo(request) if quantize is None else export_quantized(request, quantize)
        return _written(exported, request, "dynamo", request.path, sidecar)


def _check(request: ExportRequest, exporter: str, generation: bool) -> None:
    if exporter not in EXPORTERS:
        hint = f"Choose one of {', '.join(EXPORTERS)}."
        raise OptionError("exporter", f"Unknown exporter {exporter}.", hint)
    if generation and exporter != "hf":
        raise OptionError("generation", "Only the exporter hf splits a model into stages.", "")
    module = isinstance(request.model, torch.nn.Module)
    if not module and not isinstance(request.model, torch.export.ExportedProgram):
        raise OptionError(
            "export-model", f"Cannot export a {type(request.model).__name__}.", "Pass a torch.nn.Module."
        )
    if not module and exporter != "dynamo":
        raise OptionError("export-program", "Only the exporter dynamo accepts torch.export programs.", "")
    if not module and request.dynamic:
        raise OptionError(
            "export-program",
            "The dynamic axes of a program are fixed.",
            "Set them when you call torch.export.",
        )
    if TABLE in request.metadata:
        raise OptionError("metadata", f"metadata: {TABLE} is written by the export itself.", "")


def _written(
    exported: DynamoExport, request: ExportRequest, exporter: str, path: Path, with_sidecar: bool
) -> ExportResult:
    """Write the tags into a model in memory, then save it. Raises: OptionError for an unsupported opset."""
    opset = exported.model.opset_imports.get("")
    if request.opset is not None and opset != request.opset:
        # The exporter only warns about it.
        raise OptionError(
            "opset",
            f"The exporter {exporter} cannot write this model with opset {request.opset}.",
            f"Use opset {opset}, or --exporter torchscript for older opsets.",
        )
    write_tags(exported.model, exported.tags)
    exported.model.metadata_props.update(request.metadata)
    request.stage("save", 0.92)
    _save(exported.model, path, request)
    return _result(exported, request, exporter, path, with_sidecar)


def _save(model: ir.Model, path: Path, request: ExportRequest) -> None:
    model_files.save(model, path, request.external_data, inputs=request.sources, force=request.force)


def _result(
    exported: DynamoExport, request: ExportRequest, exporter: str, path: Path, with_sidecar: bool
) -> ExportResult:
    request.stage("sidecar", 0.97)
    modules = describe(exported.module) if isinstance(exported.module, torch.nn.Module) else None
    executed = executed_of(exported.ran, exported.tags)
    content = sidecar_of(
        exported.model, exported.tags, modules, executed, torch=torch.__version__, file=path.name
    )
    sidecar = sidecar_path(path) if with_sidecar else None
    if sidecar is not None:
        write_sidecar(sidecar, content, force=request.force)
    return ExportResult(
        path,
        exporter,
        exported.tags,
        content,
        sidecar,
        exported.model,
        {},
        exported.warnings,
        {},
        exported.program,
    )


def _torchscript(request: ExportRequest, with_sidecar: bool) -> ExportResult:
    path = request.path
    with model_files.staging(Path(os.path.realpath(path))) as folder:
        with translate_errors(request.model, request.inputs):
            exported, written = export_torchscript(request, folder)
        request.stage("save", 0.85)
        if isinstance(written, bytes) and not request.external_data:
            _splice(written, exported, request)
        else:
            _externalise(written, exported, request)
    return _result(exported, request, "torchscript", path, with_sidecar)


def _splice(written: bytes, exported: DynamoExport, request: ExportRequest) -> None:
    """Write the exporter's bytes with tags: only nodes are parsed, weights are copied."""
    metadata = {TABLE: pack_table(table_of(exported.tags)), **request.metadata}
    checked = model_files.targets(request.path, inputs=request.sources, force=request.force)
    target = checked[0].path
    with model_files.staging(target) as folder:
        with open(folder / target.name, "xb") as file:
            rewrite(WireSource.of_bytes(written), file, node_editor(exported.tags), metadata)
        model_files.finish(folder, checked)


def _externalise(written: Path | bytes, exported: DynamoExport, request: ExportRequest) -> None:
    """Store the weights in one file next to the model, if requested or above protobuf's size limit."""
    if isinstance(written, bytes):
        model = model_files.to_ir(onnx.ModelProto.FromString(written))
    else:
        model = ir.load(written)
    records = dict(zip((node for node, _ in walk(model)), exported.tags.records.values(), strict=True))
    exported.model, exported.tags.records = model, records
    write_tags(model, exported.tags)
    model.metadata_props.update(request.metadata)
    _save(model, request.path, request)


def _hf(request: ExportRequest, with_sidecar: bool, generation: bool) -> ExportResult:
    with translate_errors(request.model if not generation else None, request.inputs):
        exported, components = export_hf(request, generation)
    if not generation:
        (component,) = components.values()
        component.program = exported
        return _written(component, request, "hf", request.path, with_sidecar)
    for component in components.values():
        write_tags(component.model, component.tags)
        component.model.metadata_props.update(request.metadata)
    request.stage("save", 0.92)
    folder = Path(os.path.realpath(request.path))
    with filling(folder, request.sources, request.force) as staged:
        exported.save_pretrained(staged)
        results = {
            name: _result(component, request, "hf", staged / f"{name}.onnx", with_sidecar)
            for name, component in components.items()
        }
    for result in results.values():
        result.path = folder / result.path.name
        result.sidecar_path = result.sidecar_path and folder / result.sidecar_path.name
    first = next(iter(results.values()))
    warned = [f"{name}: {line}" for name, result in results.items() for line in result.warnings]
    return ExportResult(
        request.path, "hf", first.tags, first.sidecar, None, first.model, {}, warned, results, exported
    )
