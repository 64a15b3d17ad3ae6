"""Errors as ``Problem`` values, without a trace of where the server keeps its files."""

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
    PathError,
    RequirementError,
    ServiceError,
)
from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, QueueFull, UnknownJob, UnknownNode
from py_autodoc.report.schema import Problem

TYPE_PREFIX = "urn:onnx-autodoc:problem:"
MAX_TEXT = 2_000
"""Characters of a message that are worth showing; names in a model may have millions."""

# Most specific first: the first class that fits names the problem.
_TITLES: tuple[tuple[type[AutodocError], str], ...] = (
    (UnknownJob, "Unknown analysis"),
    (UnknownNode, "Unknown node"),
    (JobNotDone, "Not ready"),
    (FileChanged, "The file changed"),
    (QueueFull, "Too busy"),
    (NotAModel, "Not an ONNX model"),
    (CorruptModel, "Damaged model"),
    (ExternalDataError, "External data out of reach"),
    (PathError, "File not found"),
    (OptionError, "Invalid option"),
    (LimitError, "Over a limit"),
    (RequirementError, "Not available here"),
    (ServiceError, "Service failed"),
)


def title_of(error: AutodocError) -> str:
    """Short name of the kind of problem."""
    for kind, title in _TITLES:
        if isinstance(error, kind):
            return title
    return "The model cannot be analysed"


def problem_of(error: AutodocError, path: str | None = None) -> Problem:
    """The wire form of ``error``; where ``path`` occurs in the texts, only its base name is left."""
    if isinstance(error, JobFailed):
        return error.problem
    return Problem(
        type=TYPE_PREFIX + error.code,
        title=title_of(error),
        status=error.http_status,
        detail=without_path(error.message, path),
        code=error.code,
        hint=without_path(error.hint, path),
    )


def unexpected() -> Problem:
    """What a client is told of a fault of ours: nothing that helps an attacker."""
    return Problem(
        type=TYPE_PREFIX + "internal-error",
        title="Internal error",
        status=500,
        detail="The analysis failed because of a fault in ONNX Autodoc.",
        code="internal-error",
        hint="The server's log has the details; please report it.",
    )


def without_path(text: str, path: str | None) -> str:
    """``text`` with absolute forms of ``path`` and of its folder reduced to what the user knows."""
    if path is None:
        return clipped(text)
    for form in {path, os.path.realpath(path)}:
        text = text.replace(form, Path(form).name)
        folder = os.path.dirname(form)
        if len(folder) > 1:
            text = text.replace(folder + os.sep, "").replace(folder, ".")
    return clipped(text)


def clipped(text: str) -> str:
    """``text`` in a length for people."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
