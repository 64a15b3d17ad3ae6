"""Sources of a widget's model, and their analysis with other dimensions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from py_autodoc.errors import InputError, OptionError
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.report_origin import analysis_of, origin_of
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.pipeline.dim_bindings import batch_names
from py_autodoc.widget.analysed_subject import AnalysedSubject
from py_autodoc.widget.torch_module import ExportedModule, export_module, is_module


class WidgetSource(Protocol):
    """The source of a model."""

    @property
    def path(self) -> str:
        """Path of the file, which no result may replace; empty if there is none."""

    @property
    def model(self) -> Any:
        """The user's argument in a form that ``analyze`` accepts; None if it cannot be read again."""

    @property
    def fixed(self) -> bool:
        """True if it cannot be analysed with other dimensions."""

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Return the model with these dimensions. Raises: InputError."""


class ModelSource:
    """A path, bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``."""

    fixed = False

    def __init__(self, model: Any, shapes: Mapping[str, Sequence[int]]) -> None:
        self.model = model
        self._shapes = shapes
        self.path = os.fsdecode(model) if isinstance(model, (str, os.PathLike)) else ""

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Analyse the model. Raises: InputError."""
        return AnalysedSubject(run_analysis(self.model, _options(dims, self._shapes)))


class ModuleSource:
    """A PyTorch module, exported once and written to a temporary file for each analysis."""

    path, model, fixed = "", None, False

    def __init__(self, exported: ExportedModule, shapes: Mapping[str, Sequence[int]]) -> None:
        self._exported = exported
        self._shapes = shapes

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Analyse the model. Raises: InputError."""
        with self._exported.file() as path:
            return AnalysedSubject(run_analysis(path, _options(dims, self._shapes)))


class ReportSource:
    """A report and the model it refers to. Raises: InputError if the model is missing or changed."""

    path = ""

    def __init__(self, report: Report) -> None:
        self.model = report
        analysis = analysis_of(report)
        origin = origin_of(report)
        self._origin = origin if origin is not None and origin.path else None
        self._subject = AnalysedSubject(analysis, report)
        self.fixed = self._origin is None
        self._batch = batch_names(analysis.model)

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Return the report, or analyse its file with other dimensions. Raises: InputError."""
        sizes = self._subject.sizes
        other = {name: size for name, size in dims.items() if sizes.get(name) != size}
        if not other:
            return self._subject
        if self._origin is None or self._origin.path is None:
            raise OptionError(
                "report-is-fixed",
                f"This report was made with {_named(sizes) or 'fixed sizes'}, not with {_named(other)}.",
                "Pass the model instead of its report.",
            )
        options = self._origin.options
        if not self._batch.isdisjoint(dims):  # Dimensions requested now take precedence.
            options = replace(options, batch_size=None)
        options = replace(options, bindings={**options.bindings, **dims})
        return AnalysedSubject(run_analysis(self._origin.path, options))


def source_of(
    model: Any, inputs: Any, dynamic_shapes: Any, input_shapes: Mapping[str, Sequence[int]] | None
) -> WidgetSource:
    """Return the source for a widget's arguments. Raises: InputError, RequirementError."""
    shapes = dict(input_shapes or {})
    if is_module(model):
        if inputs is None:
            raise OptionError(
                "inputs-missing",
                "A module is exported by running it once.",
                "Pass example inputs: Autodoc(module, x).",
            )
        return ModuleSource(export_module(model, inputs, dynamic_shapes), shapes)
    if inputs is not None or dynamic_shapes is not None:
        raise OptionError(
            "inputs-not-wanted",
            f"Example inputs belong to a module; this is a {type(model).__name__}.",
            "Omit them.",
        )
    if isinstance(model, Report):
        if shapes:
            raise OptionError("report-is-fixed", "A report has fixed shapes.", "Pass the model instead.")
        return ReportSource(model)
    if model is None:
        raise InputError("not-a-source", "No model was passed.", "Pass a path, bytes, a model or a report.")
    return ModelSource(model, shapes)


def _options(dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> Options:
    return Options(bindings=dict(dims), input_shapes=shapes, assume=True)


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
