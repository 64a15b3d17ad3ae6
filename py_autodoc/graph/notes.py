"""Collecting diagnostics without letting one fault fill a report."""

from __future__ import annotations

from py_autodoc.graph.model import Diagnostic

_PER_CODE = 20
_SEVERITY = {
    "bad-attribute": "error",
    "cycle": "error",
    "duplicate-output": "error",
    "empty-graph": "warning",
    "external-outside": "error",
    "external-range": "error",
    "function-cycle": "error",
    "undefined-input": "error",
    "duplicate-name": "info",
    "long-name": "info",
    "unsorted": "info",
    "deep-hierarchy": "info",
    "negative-dim": "warning",
}


class Notes:
    """Diagnostics in the order they were found, at most 20 of each code.

    The last one of a code that occurred more often says how many were left out.
    """

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._count: dict[str, int] = {}

    def add(self, code: str, message: str, where: str = "", node: int = -1, tensor: int = -1) -> None:
        """Record one diagnostic."""
        seen = self._count.get(code, 0)
        self._count[code] = seen + 1
        if seen < _PER_CODE:
            severity = _SEVERITY.get(code, "warning")
            self._items.append(Diagnostic(code, severity, message, where, node, tensor))

    def done(self) -> list[Diagnostic]:
        """All diagnostics, with one line for those left out of each code."""
        more = [
            Diagnostic(code, _SEVERITY.get(code, "warning"), f"{count - _PER_CODE:,} more of the same.")
            for code, count in self._count.items()
            if count > _PER_CODE
        ]
        return self._items + more
