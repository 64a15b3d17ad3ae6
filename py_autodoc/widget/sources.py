"""What a widget can be made of, and how each is analysed under other sizes."""

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
    """A model in some form."""

    @property
    def path(self) -> str:
        """Path of the file, which no result may replace; empty when there is none."""

    @property
    def model(self) -> Any:
        """What the user gave, as ``analyze`` takes it; None when that cannot be read again."""

    @property
    def fixed(self) -> bool:
        """True when it cannot be analysed under other sizes."""

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """The model under these sizes. Raises: InputError."""


class ModelSource:
    """A path, bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``."""

    fixed = False

    def __init__(self, model: Any, shapes: Mapping[str, Sequence[int]]) -> None:
        self.model = model
        self._shapes = shapes
        self.path = os.fsdecode(model) if isinstance(model, (str, os.PathLike)) else ""

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Analyse. Raises: InputError."""
        return AnalysedSubject(run_analysis(self.model, _options(dims, self._shapes)))


class ModuleSource:
    """A module of PyTorch: exported once, written to a file for each analysis and removed again."""

    path, model, fixed = "", None, False

    def __init__(self, exported: ExportedModule, shapes: Mapping[str, Sequence[int]]) -> None:
        self._exported = exported
        self._shapes = shapes

    def subject(self, dims: Mapping[str, int]) -> AnalysedSubject:
        """Analyse. Raises: InputError."""
        with self._exported.file() as path:
            return AnalysedSubject(run_analysis(path, _options(dims, self._shapes)))


class ReportSource:
    """A report, with the model that it remembers. Raises: InputError where there is none, or another now."""

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
        """The report, or its file under other sizes. Raises: InputError."""
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
        if not self._batch.isdisjoint(dims):  # the sizes that are asked for now are those that count
            options = replace(options, batch_size=None)
        options = replace(options, bindings={**options.bindings, **dims})
        return AnalysedSubject(run_analysis(self._origin.path, options))


def source_of(
    model: Any, inputs: Any, dynamic_shapes: Any, input_shapes: Mapping[str, Sequence[int]] | None
) -> WidgetSource:
    """The source of whatever a widget was given. Raises: InputError, RequirementError."""
    shapes = dict(input_shapes or {})
    if is_module(model):
        if inputs is None:
            raise OptionError(
                "inputs-missing",
                "A module is exported by running it once.",
                "Pass some: Autodoc(module, x).",
            )
        return ModuleSource(export_module(model, inputs, dynamic_shapes), shapes)
    if inputs is not None or dynamic_shapes is not None:
        raise OptionError(
            "inputs-not-wanted",
            f"Example inputs belong to a module; this is a {type(model).__name__}.",
            "Leave them out.",
        )
    if isinstance(model, Report):
        if shapes:
            raise OptionError("report-is-fixed", "A report has its shapes.", "Pass the model instead.")
        return ReportSource(model)
    if model is None:
        raise InputError("not-a-source", "No model was passed.", "Pass a path, bytes, a model or a report.")
    return ModelSource(model, shapes)


def _options(dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> Options:
    return Options(bindings=dict(dims), input_shapes=shapes, assume=True)


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
