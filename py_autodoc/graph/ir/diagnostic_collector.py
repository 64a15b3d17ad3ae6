"""Collects diagnostics with a limit per code, so that one defect cannot fill a report."""

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
    "duplicate-initializer": "warning",
    "duplicate-name": "info",
    "duplicate-output": "error",
    "empty-graph": "warning",
    "expansion-too-large": "warning",
    "external-hidden": "error",
    "external-missing": "warning",
    "external-outside": "error",
    "external-range": "error",
    "external-self": "warning",
    "function-cycle": "error",
    "function-opset": "info",
    "ir-unknown": "error",
    "long-name": "info",
    "negative-dim": "warning",
    "no-outputs": "error",
    "non-utf8-name": "warning",
    "operand-type": "error",
    "opset-duplicate": "warning",
    "opset-missing": "warning",
    "opset-unknown": "error",
    "shadowed-name": "error",
    "undefined-input": "error",
    "undefined-operator": "warning",
    "unknown-dtype": "warning",
    "unsorted": "info",
    "weights-unread": "info",
    "wrong-signature": "error",
    "zero-divisor": "error",
    "zero-scale": "warning",
}
"""Severity of each structure diagnostic: ``error`` if no runtime would accept the model."""


class DiagnosticCollector:
    """Diagnostics in the order they were found, at most 20 per code.

    The last diagnostic of a code that occurred more often states how many were omitted.
    """

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._count: dict[str, int] = {}

    def add(self, code: str, message: str, where: str = "", node: int = -1, tensor: int = -1) -> None:
        """Add a diagnostic; its code must be in ``SEVERITY``."""
        count = self._count.get(code, 0)
        self._count[code] = count + 1
        if count < _PER_CODE:
            self._items.append(Diagnostic(code, SEVERITY[code], message, where, node, tensor))

    def diagnostics(self) -> list[Diagnostic]:
        """Return all diagnostics, with one line per code for those omitted."""
        more = [
            Diagnostic(code, SEVERITY[code], f"{count - _PER_CODE:,} more of the same.")
            for code, count in self._count.items()
            if count > _PER_CODE
        ]
        return self._items + more
