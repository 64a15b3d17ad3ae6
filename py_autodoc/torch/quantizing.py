"""Post-training quantization in PyTorch (PT2E of torchao), exported with module tags.

The module is traced, observers process the samples, and a quantizer of torchao decides where the exported
graph has QuantizeLinear and DequantizeLinear. The FX mode of ``torch.ao.quantization`` is not supported: it
has no export to ONNX and is deprecated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version as version_of
from typing import Any

import numpy as np
import onnx_ir as ir
import torch

from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.samples import InputSpec, Sample, choose_samples
from py_autodoc.tags.model import CONTEXT, NodeTag, Tags
from py_autodoc.tags.paths import common
from py_autodoc.torch.dynamo import DynamoExport, export_dynamo, quiet
from py_autodoc.torch.inputs import ModelInputs, as_dims, dynamic_shapes
from py_autodoc.torch.result import ExportRequest
from py_autodoc.version import version

RECIPE = "onnx_autodoc.quantization"
"""Metadata key of the recipe, as in ``quantize``."""
SAMPLES = 128
OPSET = 21
"""First opset whose QuantizeLinear supports everything that quantizers use."""
FLOOR = 2.0**-12
"""Smallest scale of torchao's observers."""
_TALKERS = ("torchao", "torch", "torch.utils._pytree")
_TOOL = "torchao.quantization.pt2e"
_DEQUANTIZE = "DequantizeLinear"
_QDQ = ("QuantizeLinear", _DEQUANTIZE)


@dataclass(frozen=True, slots=True)
class Quantize:
    """Settings of the quantization before the export."""

    data: Any
    """Samples of the inputs, named like the arguments of ``forward``.

    A ``.npz`` or ``.npy`` file, a folder of them, a mapping of arrays, or an iterable of mappings, such as a
    ``DataLoader`` that yields dicts.
    """
    samples: int | None = None
    """Maximum number of samples used; None uses 128."""
    quantizer: Any = None
    """Quantizer of torchao; None: ``X86InductorQuantizer``: u8 activations, s8 weights per channel."""
    narrow: bool = False
    """With the default quantizer, use 7 bits for data, so that sums do not saturate on CPUs without VNNI."""


def export_quantized(request: ExportRequest, options: Quantize) -> DynamoExport:
    """Quantize a module and export it in memory with tags.

    Raises:
        OptionError: the model is not a module, or an input is not a tensor.
        InputError: the samples do not fit.
        RequirementError: torchao is missing.
        Exception: any exception of torch.
    """
    module, inputs = request.model, request.inputs
    if not isinstance(module, torch.nn.Module):
        raise OptionError("quantize-program", "Only a module can be quantized.", "Pass a torch.nn.Module.")
    prepare, convert, quantizer = _tools(options)
    named = inputs.by_name(module)
    samples, source = choose_samples(options.data, _specs(named), options.samples, 0, (SAMPLES, 0))
    batches = list(_batches(samples, named))
    shapes = as_dims(dynamic_shapes(module, inputs, request.input_names, request.dynamic))
    with torch.no_grad(), quiet(*_TALKERS):
        traced = torch.export.export(module, inputs.args, inputs.kwargs, dynamic_shapes=shapes).module()
        observed = prepare(traced, quantizer)
        for number, batch in enumerate(batches):
            call = _call(inputs, list(named), batch)
            observed(*call.args, **call.kwargs)
            request.stage("calibrate", 0.5 * (number + 1) / len(batches))
        converted = convert(observed)
        program = torch.export.export(converted, inputs.args, inputs.kwargs, dynamic_shapes=shapes)
    opset = request.opset or OPSET
    exported = export_dynamo(
        replace(request, model=program, inputs=ModelInputs(), dynamic=None, opset=opset), module
    )
    exported.model.metadata_props[RECIPE] = _recipe_json(quantizer, options, source, len(samples))
    _tag_quantizers(exported.model, exported.tags)
    exported.warnings += _floors(exported.model)
    return exported


def _tools(options: Quantize) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
    """Return ``prepare_pt2e``, ``convert_pt2e`` and the quantizer. Raises: RequirementError."""
    try:
        with quiet(*_TALKERS):
            steps = import_module(f"{_TOOL}.quantize_pt2e")
            if options.quantizer is not None:
                return steps.prepare_pt2e, steps.convert_pt2e, options.quantizer
            x86 = import_module(f"{_TOOL}.quantizer.x86_inductor_quantizer")
    except ModuleNotFoundError as fault:
        if (fault.name or "").partition(".")[0] != "torchao":
            raise
        raise RequirementError(
            "torchao-missing", "Quantizing in PyTorch needs torchao.", 'pip install "onnx-autodoc[pt2e]"'
        ) from None
    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config(reduce_range=options.narrow))
    return steps.prepare_pt2e, steps.convert_pt2e, quantizer


def _batch(named: dict[str, Any]) -> int:
    """Return the first dimension that all inputs share; 1 if they share none."""
    sizes = {value.shape[0] if value.dim() else 0 for value in named.values()}
    return sizes.pop() or 1 if len(sizes) == 1 else 1


def _specs(named: dict[str, Any]) -> list[InputSpec]:
    """Return the specification of one sample of the inputs. Raises: OptionError."""
    for name, value in named.items():
        if not isinstance(value, torch.Tensor) or value.dtype == torch.bfloat16:
            kind = str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__
            raise OptionError("quantize-input", f"The input {name} is {kind}.", "Samples are NumPy arrays.")
    many = _batch(named) > 1
    return [
        InputSpec(
            name,
            np.dtype(str(value.dtype).removeprefix("torch.")),
            (1, *value.shape[1:]) if many else tuple(value.shape),
        )
        for name, value in named.items()
    ]


def _batches(samples: Sequence[Sample], named: dict[str, Any]) -> Iterator[Sample]:
    """Yield samples in batches of the example's size; the last batch is filled from the beginning."""
    size = _batch(named)
    for start in range(0, len(samples), size):
        rows = [samples[number % len(samples)] for number in range(start, start + size)]
        yield {name: np.concatenate([row[name] for row in rows]) for name in named} if size > 1 else rows[0]


def _call(inputs: ModelInputs, names: Sequence[str], sample: Sample) -> ModelInputs:
    """Return a sample in the form of the example inputs: by position or by name."""
    values = [torch.from_numpy(np.array(sample[name])) for name in names]
    placed = len(inputs.args)
    return ModelInputs(tuple(values[:placed]), dict(zip(inputs.kwargs, values[placed:], strict=True)))


def _recipe_json(quantizer: Any, options: Quantize, source: str, count: int) -> str:
    """Return the recipe and its settings for the metadata."""
    content = {
        "recipe": {"method": "pt2e", "quantizer": type(quantizer).__name__, "narrow": options.narrow},
        "versions": {"torch": torch.__version__, "torchao": version_of("torchao"), "onnx-autodoc": version()},
        "data": source,
        "samples": count,
    }
    return json.dumps(content, sort_keys=True)


def _tag_quantizers(model: ir.Model, tags: Tags) -> None:
    """Tag QuantizeLinear and DequantizeLinear with the module that reads them, or produced their input.

    The producing module is used at a model output. The quantizer inserted these nodes into the traced graph,
    where they belong to no module. The model is called once there, though torch counts tracing as another
    call.
    """
    nodes = list(model.graph)
    scope_of: dict[ir.Node, str] = {}
    for node in reversed(nodes):
        if node.op_type in _QDQ and not tags.records[node].scope:
            readers = [reader for value in node.outputs for reader, _ in value.uses()]
            scope_of[node] = common(scope_of.get(reader, tags.records[reader].scope) for reader in readers)
    for node in nodes:
        if node not in scope_of:
            tag = tags.records[node]
            tags.records[node] = replace(
                tag, call={path: number for path, number in tag.call.items() if path}
            )
            continue
        producer = node.inputs[0].producer() if node.inputs and node.inputs[0] is not None else None
        if not scope_of[node] and producer is not None:
            scope_of[node] = scope_of.get(producer, tags.records[producer].scope)
        tags.records[node] = NodeTag(scope_of[node], tags.namer.tag(scope_of[node]), CONTEXT)


def _floors(model: ir.Model) -> Iterable[str]:
    """Yield a warning if weights have the observers' minimum scale, since few of their codes are used."""
    channels = low = 0
    for node in model.graph:
        if node.op_type != _DEQUANTIZE or len(node.inputs) < 2:
            continue
        weight, scale = node.inputs[0], node.inputs[1]
        if weight is None or scale is None or weight.const_value is None or scale.const_value is None:
            continue
        values = scale.const_value.numpy().astype(np.float64).reshape(-1)
        channels += values.size
        low += int((values <= FLOOR * (1 + 1e-6)).sum())
    if low:
        yield (
            f"{low} of {channels} scales of weights are the smallest that torchao gives (2^-12): few of "
            "their codes are used. Scale the inputs to 0..1 instead of 0..255."
        )
