"""Runs with several models: file selection, and one table row or JSON line per model."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from py_autodoc.cli.findings_lines import finding_counts
from py_autodoc.errors import PathError
from py_autodoc.metrics import shown, total_of
from py_autodoc.render.csv import Cell, csv_text
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.total_texts import CANNOT_RUN, strip

SUFFIX = ".onnx"
_NAME = 48
"""Maximum width of the name column."""
_COLUMNS = (
    # Wide enough for the placeholder shown for models that cannot run.
    *(
        (metric.head, len(CANNOT_RUN) if total_of(metric.id).runs else 8)
        for metric in shown("strip")
        if not total_of(metric.id).optional
    ),
    ("Coverage", 11),
)
_ONNX = "ai.onnx"
SEVERITIES = ("high", "medium", "low", "info")
_STRIP = tuple(total_of(metric.id).field for metric in shown("strip"))
_TOTALS = tuple(dict.fromkeys((*_STRIP, *(total_of(metric.id).field for metric in shown("totals")))))
CSV_COLUMNS = (
    "file", "status", "family", "nodes", *_STRIP, "coverage", "macs_coverage", "findings", "error", "name",
    "task", "ir_version", "opset", "producer", "file_bytes", "external_bytes", "sha256", "edges",
    *_TOTALS[len(_STRIP) :], "is_quantized", "precision", "attention_layers", "kv_cache_bytes_per_token",
    "runnable", *SEVERITIES,
)  # fmt: skip
DEVICE_COLUMNS = (
    "device", "device_name", "device_precision", "runtime", "batch_size", "estimated_latency_ms",
    "latency_low_ms", "latency_high_ms", "label", "theoretical_latency_ms", "compute_utilization_estimate",
    "bottleneck", "kernels", "unknown_kernels", "vram_required_bytes", "vram_bytes", "fits_in_vram",
    "usd_per_hour", "price_source", "usd_per_million_inferences", "latency_reason",
)  # fmt: skip
"""Further columns with a device."""


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
        cells = [total.text for total in strip(outcome.report, optional=False)]
        findings = finding_counts(signal.severity for signal in outcome.report.risk_signals)
        return self._line(outcome.file, cells, findings)

    def _name(self, file: str) -> str:
        return shorten(printable(file), self._width).ljust(self._width)

    def _line(self, name: str, cells: Sequence[str], last: str) -> str:
        numbers = (cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
        return "  ".join([self._name(name), *numbers, last]).rstrip()


def table_csv(outcomes: Iterable[ModelOutcome]) -> str:
    """Return one row per file, with exact numbers and empty unknown cells; with a device, its columns too."""
    listed = list(outcomes)
    timed = any(one.report is not None and one.report.hardware_estimates is not None for one in listed)
    columns = (*CSV_COLUMNS, *(DEVICE_COLUMNS if timed else ()))
    rows = [_row(one, timed) for one in listed]
    return csv_text([columns, *([row.get(column) for column in columns] for row in rows)])


def _row(outcome: ModelOutcome, timed: bool) -> dict[str, Cell]:
    report = outcome.report
    row: dict[str, Cell] = {"file": outcome.file, "status": outcome.status, "error": outcome.message or None}
    if report is None:
        return row
    numbers, cover, model, identity = report.metrics, report.coverage, report.model, report.identity
    attention = numbers.attention
    severities = Counter(signal.severity for signal in report.risk_signals)
    row |= {
        "family": None if report.architecture is None else report.architecture.family,
        "nodes": report.graph.num_nodes,
        "coverage": cover.nodes,
        "macs_coverage": cover.macs,
        "findings": finding_counts(signal.severity for signal in report.risk_signals),
        "name": model.name,
        "task": None if identity is None else identity.task_id,
        "ir_version": model.onnx_ir_version,
        "opset": " ".join(
            str(entry.version) if entry.domain == _ONNX else f"{entry.domain}:{entry.version}"
            for entry in model.opset_imports
        ),
        "producer": f"{model.producer_name} {model.producer_version}".strip() or None,
        "file_bytes": model.file_bytes,
        "external_bytes": model.external_bytes,
        "sha256": model.sha256,
        "edges": report.graph.num_edges,
        "is_quantized": _yes_no(numbers.is_quantized),
        "precision": None if identity is None else identity.precision,
        "attention_layers": 0 if attention is None else attention.num_layers,
        "kv_cache_bytes_per_token": None if attention is None else attention.kv_cache_bytes_per_token,
        "runnable": report.runnable.verdict,
        **{severity: severities[severity] for severity in SEVERITIES},
    }
    row |= {field: getattr(numbers, field) for field in _TOTALS}
    estimates = report.hardware_estimates
    if timed and estimates is not None:
        renamed = {"device_precision": "precision", "latency_reason": "reason"}
        values = {column: getattr(estimates, renamed.get(column, column)) for column in DEVICE_COLUMNS}
        row |= {name: _yes_no(value) if isinstance(value, bool) else value for name, value in values.items()}
    return row


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"
