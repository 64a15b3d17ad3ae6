"""One limit for everything that a server keeps in memory for its clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Kept:
    """A result that can be dropped, because it can be computed again."""

    used_at: float
    """Time of the last use, by ``time.monotonic``."""
    bytes: int
    drop: Callable[[], object]


class Holder(Protocol):
    """Keeps results."""

    @property
    def bytes(self) -> int:
        """Bytes of all that it keeps, whether it can be dropped or not."""

    def kept(self) -> Iterable[Kept]:
        """Return what can be dropped."""


class MemoryBudget:
    """Drops the least recently used results of all holders beyond a limit.

    The most recently used one is kept even if it alone exceeds the limit: otherwise it could never be read.

    Args:
        max_bytes: maximum bytes of all holders together.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._holders: list[Holder] = []

    def add(self, holder: Holder) -> None:
        """Count what ``holder`` keeps."""
        self._holders.append(holder)

    @property
    def bytes(self) -> int:
        """Bytes of all holders."""
        return sum(holder.bytes for holder in self._holders)

    def trim(self) -> None:
        """Drop results until the rest fits, or only the most recently used one is left."""
        excess = self.bytes - self.max_bytes
        if excess <= 0:
            return
        kept = sorted((one for holder in self._holders for one in holder.kept()), key=lambda one: one.used_at)
        for one in kept[:-1]:
            if excess <= 0:
                return
            one.drop()
            excess -= one.bytes
