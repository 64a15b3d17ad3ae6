"""``verify``: open model and reference, choose samples, compare."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from py_autodoc.compare.align import align
from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.int8_kernels.targets import checked_target
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.samples import (
    InputSpec,
    analysis_at_sizes,
    check_memory,
    choose_samples,
    input_specs,
    read_arrays,
    split,
)
from py_autodoc.samples.read import Rows
from py_autodoc.samples.stored_arrays import stored_arrays
from py_autodoc.verify.capture import CapturedTensors
from py_autodoc.verify.document import Verification
from py_autodoc.verify.half_range import half_range
from py_autodoc.verify.references import ExpectedValues, OnnxReference, Reference
from py_autodoc.verify.run import Progress, compare_with_reference

DEFAULT_SAMPLES = 16, 2
"""Maximum number of samples from data, and number of generated ones."""
PathLike = str | os.PathLike[str]
Data = PathLike | np.ndarray[Any, Any] | Mapping[str, Any] | Iterable[Mapping[str, Any]]


def verify(
    model: PathLike,
    against: Any,
    data: Data | None = None,
    *,
    tolerance: float | None = None,
    samples: int | None = None,
    seed: int = 0,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    progress: Progress | None = None,
    target: str = "",
) -> Verification:
    """Compare the values that a model computes with those of a reference, layer by layer.

    Args:
        model: an ONNX file with its weights.
        against: an ONNX file, a ``.npz`` file or a mapping of expected values by the names of the model's
            tensors (arrays named after inputs are the data), or the ``torch.nn.Module`` that was exported.
        data: values of the inputs: a ``.npz`` or ``.npy`` file, a folder of them, a mapping of arrays, an
            array for a model with one input, or an iterable of mappings. None generates noise that fits the
            inputs; it shows where models differ, but not how accurate they are.
        tolerance: accepted relative error (norm of the difference over the norm of the reference). None:
            0.001 for float32, 0.02 for float16, 0.05 for bfloat16, 0.1 for quantized models.
        samples: maximum number of samples. None: 16 from data, or 2 generated ones.
        seed: random seed for generated values.
        bindings: values of symbolic dimensions. The others are taken from the data; then the batch is 1 and
            the rest have typical values.
        input_shapes: full shapes of inputs.
        progress: called with the number of passes done and of all.
        target: ``cpu-vnni``, ``cpu-avx2``, ``cpu-arm`` or ``tensorrt``, whose integer kernels the results are
            judged for; empty takes that of the recipe in the model's metadata.

    Raises:
        InputError: a file cannot be read, the data does not fit, or the inputs do not correspond.
        OptionError: the reference, the tolerance, the target or the number of samples is invalid.
        RequirementError: ONNX Runtime is not installed.
        AnalysisError: nothing can be compared, ONNX Runtime rejects a model, or a sample fails.
    """
    return verify_with_analysis(
        model,
        against,
        data,
        tolerance=tolerance,
        samples=samples,
        seed=seed,
        bindings=bindings,
        input_shapes=input_shapes,
        progress=progress,
        target=target,
    )[0]


def verify_with_analysis(
    model: PathLike,
    against: Any,
    data: Data | None = None,
    *,
    tolerance: float | None = None,
    samples: int | None = None,
    seed: int = 0,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    progress: Progress | None = None,
    target: str = "",
) -> tuple[Verification, Analysis]:
    """Do the same as ``verify``; also return the analysis of the model, to draw it."""
    if isinstance(data, np.ndarray):
        data = {"": data}
    if tolerance is not None and not 0 <= tolerance < float("inf"):
        raise OptionError(
            "bad-tolerance",
            f"The tolerance must be a finite number that is not negative, not {tolerance}.",
            "Pass a relative error, such as 0.01.",
        )
    checked_target(target)
    expected = _expected_arrays(against)
    values = data if data is not None else against
    analysis = analysis_at_sizes(model, values if expected is not None else data, bindings, input_shapes)
    check_memory(analysis)
    captured = CapturedTensors(model, analysis)
    specs = input_specs(analysis)
    reference: Reference
    if expected is not None:
        chosen, source = choose_samples(values, specs, samples, seed, DEFAULT_SAMPLES)
        source = base_name(against) if data is None and not isinstance(against, Mapping) else source
        if not isinstance(against, Mapping):
            expected = _read_expected(Path(os.fspath(against)), expected, analysis, len(chosen))
        arrays = _split_by_sample(expected, specs, analysis, len(chosen))
        reference = ExpectedValues(_reference_name(against), arrays)
    else:
        chosen, source = choose_samples(data, specs, samples, seed, DEFAULT_SAMPLES)
        reference = _model_reference(against, analysis, specs)
    result = compare_with_reference(
        analysis, captured, reference, chosen, source, tolerance, progress, target
    )
    return replace(result, half=half_range(model, analysis, chosen)), analysis


def _expected_arrays(against: Any) -> dict[str, Any] | None:
    """Return the arrays of expected values, those of a file without values; None for a model."""
    if isinstance(against, Mapping):
        return dict(against)
    if isinstance(against, (str, os.PathLike)) and Path(os.fspath(against)).suffix.lower() in (
        ".npz",
        ".npy",
    ):
        stored = stored_arrays(Path(os.fspath(against)))
        return {name: array.stand_in for name, array in stored.items()}
    return None


def _read_expected(
    file: Path, stored: Mapping[str, Any], analysis: Analysis, count: int
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays with the values of ``count`` samples of those that are compared.

    The others, and those of other shapes than the model's tensors, stay without values: a small archive can
    unpack to more than fits into memory.
    """
    shapes = {
        tensor.name: analysis.types.shapes[tensor.id]
        for tensor in analysis.model.tensors
        if tensor.graph == 0 and tensor.kind == TensorKind.ACTIVATION
    }
    rows: dict[str, int | None] = {}
    for name, array in stored.items():
        shape = shapes.get(name)
        sizes = tuple(size for size in shape or () if isinstance(size, int))
        if name not in shapes:
            continue
        if shape is None or len(sizes) != len(shape):
            rows[name] = count if count > 1 else None
            continue
        parts = Rows(array, sizes)
        if parts.step is not None or array.shape == sizes:
            rows[name] = parts.rows(count)
    return {**stored, **read_arrays(file, rows)}


def _model_reference(against: Any, analysis: Analysis, specs: Sequence[InputSpec]) -> Reference:
    """Return the reference for an ONNX file or a PyTorch module. Raises: OptionError: it is neither."""
    if isinstance(against, (str, os.PathLike)):
        other = _analyse_reference(against, specs)
        return OnnxReference(CapturedTensors(against, other), other, align(other, analysis))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(against, torch.nn.Module):
        from py_autodoc.verify.module import ModuleReference

        return ModuleReference(against, specs)
    raise OptionError(
        "bad-reference",
        f"An object of type {type(against).__name__} cannot be used as a reference.",
        "Pass an ONNX file, a .npz file, a mapping of arrays or a torch.nn.Module.",
    )


def _analyse_reference(against: PathLike, specs: Sequence[InputSpec]) -> Analysis:
    """Analyse the reference with the input shapes of the model: by name, else by position."""
    brief = run_analysis(os.fspath(against), Options(brief=True))
    inputs = [brief.model.tensors[number] for number in brief.model.graphs[0].inputs]
    names = [tensor.name for tensor in inputs if tensor.kind == TensorKind.INPUT]
    by_name = {spec.name: spec.shape for spec in specs}
    if all(name in by_name for name in names):
        shapes = {name: by_name[name] for name in names}
    elif len(names) == len(specs):
        shapes = {name: spec.shape for name, spec in zip(names, specs, strict=True)}
    else:
        shapes = {}
    ranks = {tensor.name: len(tensor.shape or ()) for tensor in inputs}
    fitting = {name: shape for name, shape in shapes.items() if ranks[name] == len(shape)}
    return run_analysis(os.fspath(against), Options(input_shapes=fitting, assume=True))


def _reference_name(against: Any) -> str:
    return "the expected values" if isinstance(against, Mapping) else base_name(against)


def _split_by_sample(
    arrays: dict[str, Any], specs: Sequence[InputSpec], analysis: Analysis, count: int
) -> dict[str, list[np.ndarray[Any, Any]]]:
    """Split each array of expected values into one array per sample; inputs are ignored.

    Raises: InputError: an array has values for less than ``count`` samples.
    """
    inputs = {spec.name for spec in specs}
    ids = {tensor.name: tensor.id for tensor in analysis.model.tensors if tensor.graph == 0}
    by_sample = {}
    for name, value in arrays.items():
        if name in inputs:
            continue
        array = np.asarray(value)
        shape = analysis.types.shapes[ids[name]] if name in ids else None
        rows: Any = [array]
        if shape is not None and all(isinstance(size, int) for size in shape):
            rows = split(array, tuple(size for size in shape if isinstance(size, int)))
        elif count > 1:
            rows = array if array.ndim else [array]
        if len(rows) < count:
            raise InputError(
                "expected-counts",
                f"{name[:80]} has expected values for {len(rows)} of {count} samples.",
                "Pass one value per sample, in the order of the samples.",
            )
        by_sample[name] = rows
    return by_sample
