"""A least-recently-used cache of encoded responses."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial

from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.memory_budget import Kept


@dataclass(slots=True)
class _Entry:
    companions: list[Companion]
    body: EncodedBody
    used_at: float


class ResponseCache:
    """Bodies by key. A body is valid for the companions that it was computed with."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    @property
    def bytes(self) -> int:
        """Bytes of all bodies."""
        return sum(entry.body.size for entry in self._entries.values())

    def kept(self) -> Iterator[Kept]:
        """Yield the bodies."""
        for key, entry in self._entries.items():
            yield Kept(entry.used_at, entry.body.size, partial(self._entries.pop, key, None))

    def get(self, key: Hashable, companions: list[Companion]) -> EncodedBody | None:
        """Return the body; None if there is none, or if it was computed with other companions."""
        found = self._entries.get(key)
        if found is None or found.companions != companions:
            return None
        found.used_at = time.monotonic()
        self._entries.move_to_end(key)
        return found.body

    def put(self, key: Hashable, companions: list[Companion], body: EncodedBody) -> None:
        """Store a body and remove the least recently used ones beyond the capacity."""
        self._entries[key] = _Entry(companions, body, time.monotonic())
        self._entries.move_to_end(key)
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
