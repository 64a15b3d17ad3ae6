"""Collecting diagnostics without letting one fault fill a report."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.ir.model import Diagnostic

_PER_CODE = 20
SEVERITY: Mapping[str, str] = {
    "bad-attribute": "error",
    "cycle": "error",
    "data-size-mismatch": "warning",
    "deep-hierarchy": "info",
    "dim-overflow": "warning",
    "duplicate-name": "info",
    "duplicate-output": "error",
    "empty-graph": "warning",
    "expansion-too-large": "warning",
    "external-missing": "warning",
    "external-outside": "error",
    "external-range": "error",
    "external-self": "warning",
    "function-cycle": "error",
    "function-opset": "info",
    "long-name": "info",
    "negative-dim": "warning",
    "non-utf8-name": "warning",
    "opset-duplicate": "warning",
    "opset-missing": "warning",
    "opset-unknown": "warning",
    "undefined-input": "error",
    "unknown-dtype": "warning",
    "unsorted": "info",
    "weights-unread": "info",
    "zero-scale": "warning",
}
"""Every code about a model's structure: ``error`` where no runtime would take the model."""


class DiagnosticCollector:
    """Diagnostics in the order they were found, at most 20 of each code.

    The last one of a code that occurred more often says how many were left out.
    """

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._count: dict[str, int] = {}

    def add(self, code: str, message: str, where: str = "", node: int = -1, tensor: int = -1) -> None:
        """Record one diagnostic; its code must be in ``SEVERITY``."""
        seen = self._count.get(code, 0)
        self._count[code] = seen + 1
        if seen < _PER_CODE:
            self._items.append(Diagnostic(code, SEVERITY[code], message, where, node, tensor))

    def done(self) -> list[Diagnostic]:
        """All diagnostics, with one line for those left out of each code."""
        more = [
            Diagnostic(code, SEVERITY[code], f"{count - _PER_CODE:,} more of the same.")
            for code, count in self._count.items()
            if count > _PER_CODE
        ]
        return self._items + more
