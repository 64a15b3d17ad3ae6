"""``convert``: a Keras file to an ONNX model whose nodes are tagged with their layers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.exporter_records import TABLE
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.keras import layers
from py_autodoc.keras.archive import Archive, opened
from py_autodoc.keras.assemble import EXPORTER, assemble, module_infos, output_names
from py_autodoc.keras.builder import Builder
from py_autodoc.keras.config import parse
from py_autodoc.keras.conversion_errors import broken, unsupported
from py_autodoc.keras.model_runner import ModelRunner
from py_autodoc.keras.result import ConvertResult
from py_autodoc.keras.spec import ModelSpec, refs
from py_autodoc.keras.unsupported_layers import find_unsupported, rounded
from py_autodoc.keras.weights import ModelWeights, find
from py_autodoc.tags import model_files, sidecar_path, write_sidecar, write_tags
from py_autodoc.tags.export_stages import ExportProgress, StageTimer
from py_autodoc.tags.sidecar import sidecar as sidecar_of

OPSET, OLDEST, NEWEST = 20, 18, 23
"""Default opset version, and the range that can be requested."""
_ = layers  # registers the converters


def convert(
    path: PathLike,
    out: PathLike,
    *,
    opset: int | None = None,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    metadata: Mapping[str, str] | None = None,
    external_data: bool | None = None,
    sidecar: bool = True,
    progress: ExportProgress | None = None,
    force: bool = False,
) -> ConvertResult:
    """Convert a ``.h5`` or ``.keras`` file; neither Keras nor TensorFlow is needed.

    No code in the file is executed. Inputs and outputs have the shapes and names of Keras (channels last,
    where the model has them last); dynamic dimensions stay dynamic. BatchNormalization is not folded into
    other layers.

    Args:
        path: a complete model saved by Keras 2 or 3, sequential or functional.
        out: the ONNX file to write.
        opset: opset version, 18 to 23; None uses 20.
        input_shapes: input → shape, to fix dynamic dimensions; the empty name stands for the only input.
        metadata: additional entries for the model's metadata.
        external_data: store weights in ``<name>.data`` next to the model; None does so from 1.5 GiB on.
        sidecar: write ``<name>.json`` with layers, nodes and tensors.
        progress: called with each stage and the completed share of the work.
        force: replace files that ONNX Autodoc did not write.

    Raises:
        PathError: there is no such file.
        InputError: ``keras-file``: the file is damaged or not a complete model; ``keras-unsupported``: the
            layers that cannot be converted, all in one line.
        LimitError: the file, or its unpacked content, exceeds a limit.
        OptionError: an option is invalid.
        OutputError: the result cannot be written; no partial file is left.
        RequirementError: h5py is missing.
    """
    options = _checked(opset, input_shapes, metadata)
    model_files.targets(out, data=bool(external_data), sidecar=sidecar, inputs=[path], force=force)
    clock = StageTimer(progress)
    clock("load", 0.0)
    with opened(path) as archive:
        model, weights = _read(archive)
        clock("export", 0.3)
        builder = Builder(options)
        runner = ModelRunner(builder, weights, archive.name, _major(archive), input_shapes or {})
        names = output_names(refs(model.outputs), {ref.layer for ref in refs(model.inputs)})
        builder.reserve(names)
        outputs = runner.top(model)
        if runner.shapes:
            raise OptionError(
                "bad-input-shape",
                f"{archive.name} has no input {next(iter(runner.shapes))!r}.",
                _inputs(runner),
            )
        source = _source(archive, model, weights)
    clock("tag", 0.6)
    model_proto, tags = assemble(runner, outputs, names, model.name)
    write_tags(model_proto, tags)
    model_proto.metadata_props.update({"keras.version": source["keras"], **(metadata or {})})
    clock("save", 0.8)
    target = Path(out)
    model_files.save(model_proto, target, external_data, inputs=[path], force=force)
    clock("sidecar", 0.95)
    content = sidecar_of(
        model_proto, tags, module_infos(runner), tags.called | {*runner.modules}, file=target.name
    )
    sidecar_file = sidecar_path(target) if sidecar else None
    if sidecar_file is not None:
        write_sidecar(sidecar_file, content, force=force)
    clock("done", 1.0)
    return ConvertResult(
        target,
        EXPORTER,
        tags,
        content,
        sidecar_file,
        model_proto,
        clock.seconds,
        _warnings(model),
        source=source,
    )


def _checked(
    opset: int | None, shapes: Mapping[str, tuple[int, ...]] | None, metadata: Mapping[str, str] | None
) -> int:
    if opset is not None and not OLDEST <= opset <= NEWEST:
        raise OptionError(
            "opset",
            f"Keras models cannot be converted to opset {opset}.",
            f"Choose an opset from {OLDEST} to {NEWEST}.",
        )
    if metadata and TABLE in metadata:
        raise OptionError("metadata", f"metadata: {TABLE} is written by the conversion itself.", "")
    if shapes and "" in shapes and len(shapes) > 1:
        raise OptionError(
            "bad-input-shape", "A shape without a name requires a single input.", "Add input names."
        )
    return opset or OPSET


def _read(archive: Archive) -> tuple[ModelSpec, ModelWeights]:
    if _major(archive) < 2:
        raise broken(
            archive.name,
            f"was written by Keras {archive.version}, whose layers had other settings.",
            "Load it in Keras 2 and save it again.",
        )
    model = parse(archive.config, archive.name)
    problems = find_unsupported(model)
    if problems:
        raise unsupported(archive.name, problems)
    return model, find(archive, model)


def _major(archive: Archive) -> int:
    """Return the major version, 2 or 3; without a declared version, 2 for the older format."""
    number = re.match(r"\d+", archive.version)
    return int(number[0]) if number else 2 if archive.form == "h5" else 3


def _source(archive: Archive, model: ModelSpec, weights: ModelWeights) -> dict[str, Any]:
    return {
        "kind": "keras",
        "name": archive.name,
        "format": archive.form,
        "keras": archive.version,
        "class": model.kind,
        "parameters": weights.parameters,
        "weight_types": weights.kinds,
    }


def _inputs(runner: ModelRunner) -> str:
    return f"It has {', '.join(str(value.name) for value in runner.inputs[:8])}."


def _warnings(model: ModelSpec) -> list[str]:
    kinds = sorted(rounded(model))
    if not kinds:
        return []
    return [f"Some layers compute in {', '.join(kinds)} in Keras; the ONNX model computes in float32."]
