"""Runs with several models: file selection, and one table row or JSON line per model."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from py_autodoc.cli.findings_lines import finding_counts
from py_autodoc.errors import PathError
from py_autodoc.metrics import shown, total_of
from py_autodoc.render.csv import csv_text
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.total_texts import CANNOT_RUN, strip

SUFFIX = ".onnx"
_NAME = 48
"""Maximum width of the name column."""
_COLUMNS = (
    # Wide enough for the placeholder shown for models that cannot run.
    *((metric.head, len(CANNOT_RUN) if total_of(metric.id).runs else 8) for metric in shown("strip")),
    ("Coverage", 11),
)
CSV_COLUMNS = (
    "file",
    "status",
    "family",
    "nodes",
    *(total_of(metric.id).field for metric in shown("strip")),
    "coverage",
    "macs_coverage",
    "findings",
    "error",
)


class ModelOutcome(NamedTuple):
    """The outcome for one file: a report or an error; ``status`` is its own exit status."""

    file: str
    status: int
    report: Report | None = None
    code: str = ""
    message: str = ""


def model_files(paths: Sequence[str]) -> list[str]:
    """Return the given files and all ``.onnx`` files in folders, recursively: sorted and distinct.

    Symbolic links to folders are not followed. Raises: PathError for a folder without any.
    """
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.isdir(path):
            files[path] = None
            continue
        inside = sorted(_below(path))
        if not inside:
            name = os.path.basename(os.path.normpath(path)) or path
            what = f"{name}: this folder contains no {SUFFIX} file."
            raise PathError("no-models", what, "Pass a file name.")
        files.update(dict.fromkeys(inside))
    return list(files)


def expanded(paths: Sequence[str]) -> list[str]:
    """Expand patterns (``models/**/*.onnx``) to the matching files: sorted and distinct.

    An existing path is used as is, whatever characters it contains.

    Raises: PathError for a pattern without a match.
    """
    paths_found: dict[str, None] = {}
    for path in paths:
        if os.path.lexists(path) or not glob.has_magic(path):
            paths_found[path] = None
            continue
        inside = sorted(glob.iglob(path, recursive=True))
        if not inside:
            raise PathError("no-models", f"{path}: no file matches this pattern.", "Check the pattern.")
        paths_found.update(dict.fromkeys(inside))
    return list(paths_found)


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(parent, name) for name in names if name.lower().endswith(SUFFIX))


def json_line(outcome: ModelOutcome) -> str:
    """Return ``{"file", "status", "error", "report"}`` on one line; either error or report is null."""
    error = None if outcome.report is not None else {"code": outcome.code, "message": outcome.message}
    line = {"file": outcome.file, "status": outcome.status, "error": error, "report": outcome.report}
    return msgspec.json.encode(line).decode() + "\n"


class OutcomeLines:
    """The table on a terminal, written line by line as results become available."""

    def __init__(self, files: Iterable[str]) -> None:
        self._width = min(_NAME, max((len(printable(file)) for file in files), default=0))

    def head(self) -> str:
        """Return the header."""
        return self._line("Model", [title for title, _ in _COLUMNS], "Findings")

    def of(self, outcome: ModelOutcome) -> str:
        """Return the line of one file."""
        if outcome.report is None:
            return f"{self._name(outcome.file)}  {printable(outcome.message)}"
        cells = [total.text for total in strip(outcome.report)]
        findings = finding_counts(signal.severity for signal in outcome.report.risk_signals)
        return self._line(outcome.file, cells, findings)

    def _name(self, file: str) -> str:
        return shorten(printable(file), self._width).ljust(self._width)

    def _line(self, name: str, cells: Sequence[str], last: str) -> str:
        numbers = (cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
        return "  ".join([self._name(name), *numbers, last]).rstrip()


def table_csv(outcomes: Iterable[ModelOutcome]) -> str:
    """Return one row per file, with exact numbers and empty unknown cells."""
    return csv_text([CSV_COLUMNS, *(_row(outcome) for outcome in outcomes)])


def _row(outcome: ModelOutcome) -> list[int | float | str | None]:
    report = outcome.report
    if report is None:
        return [outcome.file, outcome.status, *[None] * (len(CSV_COLUMNS) - 3), outcome.message]
    numbers, cover = report.metrics, report.coverage
    return [
        outcome.file,
        outcome.status,
        None if report.architecture is None else report.architecture.family,
        report.graph.num_nodes,
        *(getattr(numbers, total_of(metric.id).field) for metric in shown("strip")),
        cover.nodes,
        cover.macs,
        finding_counts(signal.severity for signal in report.risk_signals),
        None,
    ]
