"""Models of transformers through its own exporter: dynamic axes, named outputs, prefill and decode."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.torch.branches import recording
from py_autodoc.torch.dynamo import Exported, quiet, tagged
from py_autodoc.torch.inputs import dynamic_shapes
from py_autodoc.torch.result import Request
from py_autodoc.torch.scopes import watching


def export_hf(request: Request, generation: bool) -> tuple[Any, dict[str, Exported]]:
    """Export and tag in memory.

    Args:
        request: ``options`` are fields of transformers' ``OnnxConfig``.
        generation: split a generative model into its stages; the inputs are those of ``generate``.

    Returns:
        transformers' ``ExportedModel`` and, for each of its components, the tags.

    Raises:
        RequirementError: transformers has no such exporter.
        OptionError: inputs without names, or a model that is not of transformers.
    """
    exporter_class, config = _requirements(request)
    found: list[Exported] = []

    class Tagging(exporter_class):  # type: ignore[misc,valid-type]
        """Tags every program right after it is made, while its FX nodes are there."""

        def export_program(self, model: Any, sample_inputs: Any, config: Any) -> Any:
            with watching(model) as ran, recording(model) as branches:
                program, metadata = super().export_program(model, sample_inputs, config)
            done = tagged(program, model, None, request.keep, set(ran), None, branches)
            done.tags.exporter = "hf"
            found.append(done)
            return program, metadata

    Tagging.__name__ = exporter_class.__name__  # what its messages call it
    with quiet():
        exporter = Tagging()
        export = exporter.export_for_generation if generation else exporter.export
        exported = export(request.model, request.inputs.kwargs, config)
    request.stage("tag", 0.9)
    components = dict(zip(exported.components, found, strict=True))
    for name, done in components.items():
        # A quantizer or a fusion makes another model, whose nodes are not those that were tagged.
        program = exported.components[name].program
        if program is not done.model or any(node.graph is None for node in done.tags.records):
            again = tagged(program, done.module, None, request.keep, done.ran, None)
            again.tags.exporter = "hf"
            components[name] = again
    return exported, components


def _requirements(request: Request) -> tuple[Any, Any]:
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
        raise OptionError("hf-inputs", "The exporter hf takes named inputs.", "Give a dict.")
    if request.input_names or request.output_names:
        raise OptionError("hf-names", "The exporter hf names inputs and outputs itself.", "Use dynamo.")
    options: dict[str, Any] = {"opset_version": request.opset, **request.options}
    if request.dynamic is True:
        options["dynamic"] = True
    elif request.dynamic:
        options["dynamic_shapes"] = dynamic_shapes(request.model, request.inputs, None, request.dynamic)
    return exporter, config(**options)
