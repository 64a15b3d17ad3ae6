"""A progress line on stderr, removed when the work is done."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from py_autodoc.cli import stderr
from py_autodoc.units import share, size

QUIET_S = 0.4
"""On a terminal, nothing is shown for shorter work."""
STEP_S = 0.1
"""Minimum interval between two lines of one phase."""
BYTES = frozenset({"weights", "hash"})
"""Phases that report bytes; the others count what is done in them, or phases."""


class ProgressLine:
    """A context manager whose ``update`` is the pipeline's progress callback.

    ``wanted`` None: only on a terminal. If stderr is not a terminal, each phase is printed on its own line.
    """

    def __init__(self, name: str, enabled: bool | None) -> None:
        self._terminal = sys.stderr.isatty()
        self._on = self._terminal if enabled is None else enabled
        self._delayed = enabled is None
        self._name = name
        self._start = time.monotonic()
        self._phase = ""
        self._next = 0.0
        self._drawn = False

    def __enter__(self) -> ProgressLine:
        return self

    def update(self, phase: str, done: int, total: int) -> None:
        """Report that phase ``done`` of ``total`` begins, or for ``BYTES`` the bytes read."""
        if not self._on:
            return
        time_s = time.monotonic()
        if phase == self._phase and (not self._terminal or time_s < self._next):
            return
        self._phase, self._next = phase, time_s + STEP_S
        if phase in BYTES:
            text = f"{self._name}: {phase} ({size(done)} of {size(total)}, {share(done, total)})"
        else:
            count = f" ({min(done + 1, total):,}/{total:,})" if total else ""
            text = f"{self._name}: {phase}{count}"
        if not self._terminal:
            stderr.note(text)
        elif not self._delayed or time.monotonic() - self._start > QUIET_S:
            stderr.write_raw(f"\r\x1b[2K{text}")
            self._drawn = True

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            stderr.write_raw("\r\x1b[2K")
