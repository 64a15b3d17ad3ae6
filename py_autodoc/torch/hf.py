"""The exporter of transformers: dynamic axes, named outputs, prefill and decode."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.torch.control_flow_modules import recording
from py_autodoc.torch.dynamo import DynamoExport, quiet, tagged
from py_autodoc.torch.generating import cache_length, fixed_axes, name_axes, shapes_of, some, stage_axes
from py_autodoc.torch.input_options import BATCH, SEQUENCE
from py_autodoc.torch.inputs import dynamic_shapes
from py_autodoc.torch.older_opsets import convert, exported_opset
from py_autodoc.torch.result import ExportRequest
from py_autodoc.torch.scopes import watching


def export_hf(request: ExportRequest, generation: bool) -> tuple[Any, dict[str, DynamoExport]]:
    """Export and tag in memory.

    Args:
        request: ``options`` are fields of transformers' ``OnnxConfig``.
        generation: split a generative model into its stages; the inputs are those of ``generate``.

    Returns:
        The ``ExportedModel`` of transformers, and the tags of each of its components.

    Raises:
        RequirementError: transformers has no such exporter.
        OptionError: inputs without names, or a model that is not a transformers model.
    """
    exporter_class, config = _requirements(request, generation)
    prompt = _prompt(request) if generation else {}
    exports: list[DynamoExport] = []

    class Tagging(exporter_class):  # type: ignore[misc,valid-type]
        """Tags every program directly after the export, while its FX nodes exist."""

        def export_program(self, model: Any, sample_inputs: Any, config: Any) -> Any:
            stage = _stage(model, sample_inputs) if generation else {}
            axes = stage_axes(stage, prompt)
            if some(axes) and not config.dynamic:
                config = dataclasses.replace(config, dynamic_shapes=shapes_of(axes))
            with watching(model) as ran, recording(model) as branches:
                program, metadata = super().export_program(model, sample_inputs, config)
            convert(program, request.opset)
            name_axes(program, axes, stage)
            export = tagged(program, model, None, request.keep, set(ran), None, branches)
            export.tags.exporter = "hf"
            export.warnings += _fixed(program, axes, stage)
            exports.append(export)
            return program, metadata

    Tagging.__name__ = exporter_class.__name__  # the name in its messages
    with quiet():
        exporter = Tagging()
        export = exporter.export_for_generation if generation else exporter.export
        exported = export(request.model, request.inputs.kwargs, config)
    request.stage("tag", 0.9)
    components = dict(zip(exported.components, exports, strict=True))
    for name, export in components.items():
        # A quantizer or a fusion creates another model, whose nodes have no tags.
        program = exported.components[name].program
        if program is not export.model or any(node.graph is None for node in export.tags.records):
            retagged = tagged(program, export.module, None, request.keep, export.ran, None)
            retagged.tags.exporter = "hf"
            retagged.warnings += [line for line in export.warnings if line not in retagged.warnings]
            components[name] = retagged
    return exported, components


def _prompt(request: ExportRequest) -> Mapping[str, Mapping[int, Any]]:
    """Return the axes requested for the inputs of ``generate``. Raises: OptionError."""
    if request.dynamic is True:
        tensors = {name: value for name, value in request.inputs.kwargs.items() if hasattr(value, "dim")}
        return {
            name: {0: BATCH, **({1: SEQUENCE} if value.dim() == 2 else {})}
            for name, value in tensors.items()
            if value.dim()
        }
    if not request.dynamic:
        return {}
    # Names and axes are validated as for an export in one piece.
    dynamic_shapes(request.model, request.inputs, None, request.dynamic)
    if not isinstance(request.dynamic, Mapping):
        raise OptionError("dynamic-form", "dynamic: with generation, a mapping of input → axis → name.")
    return request.dynamic


def _stage(model: Any, sample_inputs: Any) -> dict[str, Any]:
    """Return the inputs of a stage as they will be traced."""
    from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model
    from transformers.exporters.utils import prepare_for_export

    register_cache_pytrees_for_model(model)
    return dict(prepare_for_export(model, dict(sample_inputs))[1])


def _fixed(program: Any, axes: Mapping[str, Any], stage: dict[str, Any]) -> list[str]:
    """Return messages about axes that stay fixed."""
    if not stage:
        return []
    length = cache_length(stage)
    if not some(axes):
        what = "" if length is None else f", the cache to {length} tokens"
        return [f"Batch and sequence are fixed{what}. Add --dynamic batch,seq to make them dynamic."]
    return [
        f"{symbol} is fixed to {size}: the model computes with it as a number."
        for symbol, size in fixed_axes(program, axes, stage).items()
    ]


def _requirements(request: ExportRequest, generation: bool) -> tuple[Any, Any]:
    try:
        from transformers import PreTrainedModel

        exporters = import_module("transformers.exporters")
        exporter, config = exporters.OnnxExporter, exporters.OnnxConfig
    except (ImportError, AttributeError):
        raise RequirementError(
            "transformers-missing",
            "The exporter hf needs transformers with its own ONNX exporter (5.20 or newer).",
            'pip install "onnx-autodoc[export]"',
        ) from None
    if not isinstance(request.model, PreTrainedModel):
        raise OptionError(
            "hf-model",
            f"The exporter hf takes models of transformers, not a {type(request.model).__name__}.",
            "Use dynamo.",
        )
    if request.inputs.args:
        raise OptionError("hf-inputs", "The exporter hf takes named inputs.", "Pass a dict.")
    if request.input_names or request.output_names:
        raise OptionError("hf-names", "The exporter hf names inputs and outputs itself.", "Use dynamo.")
    options: dict[str, Any] = {"opset_version": exported_opset(request.opset), **request.options}
    if request.dynamic is True:
        options["dynamic"] = True
    elif request.dynamic and not generation:
        options["dynamic_shapes"] = dynamic_shapes(request.model, request.inputs, None, request.dynamic)
    return exporter, config(**options)
