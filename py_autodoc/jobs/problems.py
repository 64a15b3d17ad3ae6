"""Convert errors to ``Problem`` structs that do not reveal the folders of the server."""

from __future__ import annotations

import os
from pathlib import Path

from py_autodoc.errors import (
    AutodocError,
    CorruptModel,
    ExternalDataError,
    LimitError,
    NotAModel,
    OptionError,
    OutputError,
    PathError,
    RequirementError,
    ServiceError,
)
from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, QueueFull, UnknownJob, UnknownNode
from py_autodoc.report.schema import Problem

TYPE_PREFIX = "urn:onnx-autodoc:problem:"
MAX_TEXT = 2_000
"""Maximum characters of a message. Names in a model can have millions."""

# Most specific first: the first matching class determines the title.
_TITLES: tuple[tuple[type[AutodocError], str], ...] = (
    (UnknownJob, "Unknown analysis"),
    (UnknownNode, "Unknown node"),
    (JobNotDone, "Not ready"),
    (FileChanged, "The file changed"),
    (QueueFull, "Too busy"),
    (NotAModel, "Not an ONNX model"),
    (CorruptModel, "Damaged model"),
    (ExternalDataError, "External data not accessible"),
    (PathError, "File not found"),
    (OptionError, "Invalid option"),
    (LimitError, "Limit exceeded"),
    (OutputError, "The file cannot be written"),
    (RequirementError, "Not available here"),
    (ServiceError, "Service failed"),
)

_STATUS: dict[str, int] = {
    # The request names a file that must not, or cannot, be written.
    "output-exists": 409,
    "output-is-input": 409,
    "output-changed": 409,
    "output-is-a-folder": 409,
    "output-not-a-folder": 409,
    "output-not-empty": 409,
    "output-special": 409,
    "output-outside": 409,
    "output-folder-missing": 409,
    "output-not-writable": 409,
    "two-in-one-file": 409,
    "output-nameless": 422,
    # The model or the data cannot be used as requested.
    "session-run": 422,
    "quantizer-failed": 422,
    "extract-type": 422,
    "extract-weights": 422,
    "nothing-to-compare": 422,
    "piece-type": 422,
    "reference-outputs": 422,
    # More than the settings of the server allow.
    "task-too-long": 413,
    "pieces-too-large": 413,
    "no-space": 507,
}
"""HTTP status by code, where the class of the error, which also serves the command line, has another one."""


def status_of(error: AutodocError) -> int:
    """Return the HTTP status for an error."""
    return _STATUS.get(error.code, error.http_status)


def title_of(error: AutodocError) -> str:
    """Return the title for the kind of error."""
    for kind, title in _TITLES:
        if isinstance(error, kind):
            return title
    return "The model cannot be analysed"


def problem_of(error: AutodocError, path: str | None = None) -> Problem:
    """Return the wire form of an error; in its texts, ``path`` is reduced to the file name."""
    if isinstance(error, JobFailed):
        return error.problem
    return Problem(
        type=TYPE_PREFIX + error.code,
        title=title_of(error),
        status=status_of(error),
        detail=hide_path(error.message, path),
        code=error.code,
        hint=hide_path(error.hint, path),
    )


def internal_problem() -> Problem:
    """Return the problem for an unexpected exception, without details that could help an attacker."""
    return Problem(
        type=TYPE_PREFIX + "internal-error",
        title="Internal error",
        status=500,
        detail="The analysis failed because of an error in ONNX Autodoc.",
        code="internal-error",
        hint="Please report it. The server's log has the details.",
    )


def hide_path(text: str, path: str | None) -> str:
    """Reduce absolute forms of ``path`` to its file name, remove its folder, and truncate the text."""
    if path is None:
        return truncate(text)
    for form in {path, os.path.realpath(path)}:
        text = text.replace(form, Path(form).name)
        folder = os.path.dirname(form)
        if len(folder) > 1:
            text = text.replace(folder + os.sep, "").replace(folder, ".")
    return truncate(text)


def truncate(text: str) -> str:
    """Return at most ``MAX_TEXT`` characters."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
