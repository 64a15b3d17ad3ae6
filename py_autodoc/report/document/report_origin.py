"""Where a report comes from: enough to show its model again, for as long as the report lives.

A report of a file remembers the path, one that is read from JSON the path that it is given; one of a
model in memory keeps its analysis, which holds the structure and no weight. Nothing of this is written
with the report.
"""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.errors import InputError
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.schema import ReportFields

_KEY = "origin"
CODE = "model-not-at-hand"
"""Code of the fault when a report cannot be shown with its model."""


@dataclass(frozen=True, slots=True)
class Origin:
    """``path`` is None for a model in memory, ``analysis`` is None for a file."""

    options: Options
    path: str | None = None
    analysis: Analysis | None = None


def attach_origin(report: ReportFields, origin: Origin) -> None:
    """Keep with the report where it comes from."""
    report.__dict__[_KEY] = origin


def origin_of(report: ReportFields) -> Origin | None:
    """Where the report comes from; None for one that was read from JSON."""
    found = report.__dict__.get(_KEY)
    return found if isinstance(found, Origin) else None


def analysis_of(report: ReportFields) -> Analysis:
    """The analysis behind a report. A file is analysed again, as it was for the report.

    Raises: InputError when the report does not know its model, the file cannot be read, or is another now.
    """
    origin = origin_of(report)
    if origin is None:
        hint = 'Read it with its model: Report.from_json(text, model="model.onnx").'
        raise InputError(CODE, "The report was read without its model.", hint)
    if origin.analysis is not None:
        return origin.analysis
    try:
        found = run_analysis(origin.path or "", origin.options)
    except InputError as fault:
        message = f"The model of the report cannot be read: {fault.message}"
        raise InputError(CODE, message, "Pass the model.") from None
    if found.model.file.identity != report.model.identity:
        message = "The model is not the one that the report was made of."
        raise InputError(CODE, message, "Pass the model, or create the report again.")
    return found
