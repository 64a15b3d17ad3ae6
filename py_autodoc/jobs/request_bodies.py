"""The bodies of requests that are being received, as part of what a server keeps in memory."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.jobs.memory_budget import Kept, MemoryBudget


class RequestBodies:
    """Counts the bytes of all bodies that are held, which together have the budget of the server.

    A ``Holder``: results are dropped for them, and they cannot be dropped themselves.
    """

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._bytes = 0
        budget.add(self)

    @property
    def bytes(self) -> int:
        """Bytes of all bodies."""
        return self._bytes

    def kept(self) -> Iterable[Kept]:
        """Return nothing: a body cannot be had again."""
        return ()

    def take(self, count: int, held: int) -> bool:
        """Count more bytes of a body of which ``held`` are counted.

        Returns: False, counting nothing, if all bodies would exceed the whole budget; one alone may.
        """
        others = self._bytes - held
        if others and self._bytes + count > max(self._budget.max_bytes, LEAST):
            return False
        self._bytes += count
        self._budget.trim()
        return True

    def give(self, count: int) -> None:
        """Count bytes no longer."""
        self._bytes -= count


LEAST = 4 << 20
"""Bytes of bodies that are accepted however small the budget is: a few requests."""
