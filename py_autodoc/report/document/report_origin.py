"""The origin of a report: enough to show its model again while the report exists.

A report of a file keeps the path, one read from JSON the path passed with it; one of a model in memory keeps
its analysis, which holds the structure but no weights. None of this is written with the report.
"""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.errors import InputError
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.schema import ReportFields

_KEY = "origin"
CODE = "model-not-at-hand"
"""Error code if a report cannot be shown with its model."""


@dataclass(frozen=True, slots=True)
class Origin:
    """``path`` is None for a model in memory, ``analysis`` is None for a file."""

    options: Options
    path: str | None = None
    analysis: Analysis | None = None


def attach_origin(report: ReportFields, origin: Origin) -> None:
    """Store the origin with the report."""
    report.__dict__[_KEY] = origin


def origin_of(report: ReportFields) -> Origin | None:
    """Return the origin of the report; None if it was read from JSON without a path."""
    origin = report.__dict__.get(_KEY)
    return origin if isinstance(origin, Origin) else None


def analysis_of(report: ReportFields) -> Analysis:
    """Return the analysis of a report's model. A file is analysed again with the report's options.

    Raises: InputError if the model is unknown, the file cannot be read, or it has changed.
    """
    origin = origin_of(report)
    if origin is None:
        hint = 'Read it with its model: Report.from_json(text, model="model.onnx").'
        raise InputError(CODE, "The report was read without its model.", hint)
    if origin.analysis is not None:
        return origin.analysis
    try:
        analysis = run_analysis(origin.path or "", origin.options)
    except InputError as fault:
        message = f"The model of the report cannot be read: {fault.message}"
        raise InputError(CODE, message, "Pass the model.") from None
    if analysis.model.file.identity != report.model.identity:
        message = "The model is not the one that the report was made of."
        raise InputError(CODE, message, "Pass the model, or create the report again.")
    return analysis
