"""Analyse a model with all dimensions chosen, so that it can be run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.free_memory import need, shown
from py_autodoc.graph.ir.file_faults import refusal
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.loading.external_data import location_hint
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.samples.images import images_in
from py_autodoc.samples.items import as_arrays
from py_autodoc.samples.read import sample_files
from py_autodoc.samples.specs import sizes_in
from py_autodoc.samples.stored_arrays import stored_arrays
from py_autodoc.units import size


def analysis_at_sizes(
    model: str | os.PathLike[str] | bytes,
    data: Any = None,
    bindings: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    hardware: str = "",
) -> Analysis:
    """Return the analysis at the given dimensions, else those of the data, else typical ones; the batch is 1.

    ``data`` is as for ``choose_samples``; an iterable that can be read only once gives no dimensions.
    ``hardware`` is the device of the analysis.

    Raises: InputError: model or data cannot be read, or no runtime accepts the file.
    """
    data_sizes: dict[str, int] = {}
    if data is not None:
        brief = run_analysis(os.fspath(model), Options(brief=True))
        data_sizes = sizes_in(_arrays(data, brief), brief)
    chosen = {**data_sizes, **(bindings or {})}
    analysis = run_analysis(
        os.fspath(model), Options(bindings=chosen, input_shapes=shapes or {}, assume=True, hardware=hardware)
    )
    fault = refusal(analysis.model, analysis.diagnostics)
    if fault is not None:
        file, code, where = analysis.model.file, fault.diagnostic.code, fault.diagnostic.where
        hint = "No runtime accepts such a file: export the model again."
        if code.startswith("external-"):
            hint = location_hint(code, where if where in file.external_files else "")
        raise InputError(code, f"{file.name}: {shorten_middle(fault.text, 300)}.", hint)
    return analysis


def check_memory(analysis: Analysis) -> None:
    """Refuse to run a model that needs more memory than is free: its weights and the peak of its activations.

    Raises: LimitError, with both figures.
    """
    peak = (analysis.peak.inplace or analysis.peak.simple or 0) if analysis.peak is not None else 0
    file = analysis.model.file
    weights = max(file.bytes + file.external_bytes, analysis.params.weight_bytes or 0)
    need(
        weights + peak,
        f"{file.name}: running it ({size(weights)} of weights, {shown(peak)} of activations at the peak)",
        "Use smaller dimensions (--bind, --input-shape), or force it with --memory-limit none.",
    )


def _arrays(data: Any, analysis: Analysis) -> Mapping[str, Any]:
    """Return arrays by input with the shapes of a sample."""
    images = images_in(data)
    if images is not None:
        for number in analysis.model.graphs[0].inputs:
            tensor = analysis.model.tensors[number]
            if tensor.kind == TensorKind.INPUT:
                return images.sizes(tensor.name, analysis.types.shapes[number] or (), analysis.model.metadata)
        return {}
    if isinstance(data, Mapping):
        return data
    if isinstance(data, (str, os.PathLike)):
        stored = stored_arrays(sample_files(data)[0])
        return {name: array.stand_in for name, array in stored.items()}
    if isinstance(data, Iterable) and not isinstance(data, (np.ndarray, Iterator)):
        names = [
            analysis.model.tensors[number].name
            for number in analysis.model.graphs[0].inputs
            if analysis.model.tensors[number].kind == TensorKind.INPUT
        ]
        for item in data:
            return as_arrays(item, names)
    return {}
