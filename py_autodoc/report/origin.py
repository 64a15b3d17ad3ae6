"""Where a report comes from: enough to show its model again, for as long as the report lives.

A report of a file remembers the path; one of a model in memory keeps its analysis, which holds the
structure and no weight. Nothing of this is written with the report.
"""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.errors import InputError
from py_autodoc.report.analysis import Analysis, Options, run
from py_autodoc.report.schema import ReportFields

_KEY = "origin"


@dataclass(frozen=True, slots=True)
class Origin:
    """``path`` is None for a model in memory, ``analysis`` is None for a file."""

    options: Options
    path: str | None = None
    analysis: Analysis | None = None


def remember(report: ReportFields, origin: Origin) -> None:
    """Keep with the report where it comes from."""
    report.__dict__[_KEY] = origin


def origin_of(report: ReportFields) -> Origin | None:
    """Where the report comes from; None for one that was read from JSON."""
    found = report.__dict__.get(_KEY)
    return found if isinstance(found, Origin) else None


def analysis_of(report: ReportFields) -> tuple[Analysis | None, str]:
    """The analysis behind a report, or None and the reason why there is none.

    A file is analysed again as it was for the report; one that has changed since is not taken.
    """
    origin = origin_of(report)
    if origin is None:
        return None, "The report was read without its model."
    if origin.path is None:
        return origin.analysis, ""
    try:
        found = run(origin.path, origin.options)
    except InputError as fault:
        return None, f"The model can no longer be read: {fault.message}"
    if found.model.file.identity != report.model.identity:
        return None, "The model has changed since the report was made."
    return found, ""
