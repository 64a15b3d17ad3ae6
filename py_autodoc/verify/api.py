"""``verify``: opens model and reference, takes or makes samples, compares."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc.compare.align import align
from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.report.pipeline.analysis import Analysis, Options
from py_autodoc.report.pipeline.analysis import run_analysis as analysed
from py_autodoc.samples import InputSpec, analysis_at_sizes, input_specs, read_arrays, split
from py_autodoc.samples import choose_samples as samples_of
from py_autodoc.verify.capture import CapturedTensors
from py_autodoc.verify.document import Verification
from py_autodoc.verify.references import ExpectedValues, OnnxReference, Reference
from py_autodoc.verify.run import Progress, verified

TAKEN, MADE = 16, 2
"""Samples: at most taken of data, and made up."""
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
) -> Verification:
    """Compare the values that a model computes with those of a reference, layer by layer.

    Args:
        model: an ONNX file with its weights.
        against: an ONNX file, a ``.npz`` file or a mapping of expected values by the names of the model's
            tensors (arrays named after inputs are the data), or the ``torch.nn.Module`` that was exported.
        data: values of the inputs: a ``.npz`` or ``.npy`` file, a folder of them, a mapping of arrays, an
            array for a model with one input, or an iterable of mappings. None: noise that fits the inputs.
            It shows where models differ, but not how accurate they are.
        tolerance: relative error (norm of the difference over the norm of the reference) that is accepted.
            None: 0.001 for float32, 0.02 for float16, 0.05 for bfloat16, 0.1 for quantized models.
        samples: number of samples; None: 16 of the data, 2 generated ones.
        seed: random seed for generated values.
        bindings: values of symbolic dimensions. Others are taken from the data, the batch is 1, and the rest
            gets a typical value.
        input_shapes: full shapes of inputs.
        progress: called with the number of passes done, and of all.

    Raises:
        InputError: a file cannot be read, data does not fit, inputs do not correspond.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: ONNX Runtime rejects a model.
    """
    return verify_analysed(
        model, against, data, tolerance=tolerance, samples=samples, seed=seed, bindings=bindings,
        input_shapes=input_shapes, progress=progress,
    )[0]  # fmt: skip


def verify_analysed(
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
) -> tuple[Verification, Analysis]:
    """As ``verify``, with the analysis of the model, to draw it."""
    if isinstance(data, np.ndarray):
        data = {"": data}
    if tolerance is not None and not 0 <= tolerance < float("inf"):
        raise OptionError(
            "bad-tolerance", "The tolerance is a relative error from 0 on.", "For example 0.01."
        )
    expected = _expected(against)
    held = data if data is not None else expected
    analysis = analysis_at_sizes(model, held, bindings, input_shapes)
    captured = CapturedTensors(model, analysis)
    specs = input_specs(analysis)
    reference: Reference
    if expected is not None:
        taken, said = samples_of(held, specs, samples, seed, (TAKEN, MADE))
        said = base_name(against) if data is None and not isinstance(against, Mapping) else said
        reference = ExpectedValues(_name(against), _per_sample(expected, specs, analysis, len(taken)))
    else:
        taken, said = samples_of(data, specs, samples, seed, (TAKEN, MADE))
        reference = _reference(against, analysis, specs)
    return verified(analysis, captured, reference, taken, said, tolerance, progress), analysis


def _expected(against: Any) -> dict[str, Any] | None:
    """Arrays of expected values; None where the reference is a model."""
    if isinstance(against, Mapping):
        return dict(against)
    if isinstance(against, (str, os.PathLike)) and Path(os.fspath(against)).suffix.lower() in (
        ".npz",
        ".npy",
    ):
        return read_arrays(Path(os.fspath(against)))
    return None


def _reference(against: Any, analysis: Analysis, specs: Sequence[InputSpec]) -> Reference:
    if isinstance(against, (str, os.PathLike)):
        other = _like(against, specs)
        return OnnxReference(CapturedTensors(against, other), other, align(other, analysis))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(against, torch.nn.Module):
        from py_autodoc.verify.module import ModuleReference

        return ModuleReference(against, specs)
    raise OptionError(
        "bad-reference", f"A {type(against).__name__} is not something to verify against.",
        "Pass an ONNX file, a .npz file, a mapping of arrays or a torch.nn.Module.",
    )  # fmt: skip


def _like(against: PathLike, specs: Sequence[InputSpec]) -> Analysis:
    """The reference with inputs of the model's sizes: by name, else by place."""
    found = analysed(os.fspath(against), Options(brief=True))
    inputs = [found.model.tensors[number] for number in found.model.graphs[0].inputs]
    names = [one.name for one in inputs if one.kind == TensorKind.INPUT]
    by_name = {one.name: one.shape for one in specs}
    if all(name in by_name for name in names):
        shapes = {name: by_name[name] for name in names}
    elif len(names) == len(specs):
        shapes = {name: one.shape for name, one in zip(names, specs, strict=True)}
    else:
        shapes = {}
    ranks = {one.name: len(one.shape or ()) for one in inputs}
    fitting = {name: shape for name, shape in shapes.items() if ranks[name] == len(shape)}
    return analysed(os.fspath(against), Options(input_shapes=fitting, assume=True))


def _name(against: Any) -> str:
    return "the expected values" if isinstance(against, Mapping) else base_name(against)


def _per_sample(
    arrays: dict[str, Any], specs: Sequence[InputSpec], analysis: Analysis, count: int
) -> dict[str, list[np.ndarray[Any, Any]]]:
    """Expected arrays by sample. Raises: InputError: an array has fewer values than there are samples."""
    inputs = {one.name for one in specs}
    tensors = {t.name: t.id for t in analysis.model.tensors if t.graph == 0}
    found = {}
    for name, given in arrays.items():
        if name in inputs:
            continue
        array = np.asarray(given)
        shape = analysis.types.shapes[tensors[name]] if name in tensors else None
        rows = [array]
        if shape is not None and all(isinstance(size, int) for size in shape):
            rows = split(array, tuple(size for size in shape if isinstance(size, int)))
        elif count > 1:
            rows = list(array)
        if len(rows) < count:
            raise InputError(
                "expected-counts", f"{name[:80]} has expected values for {len(rows)} of {count} samples.",
                "Pass as many as samples, in the same order.",
            )  # fmt: skip
        found[name] = rows
    return found
