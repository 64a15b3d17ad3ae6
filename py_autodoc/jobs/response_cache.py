"""A least-recently-used cache of encoded responses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.isolated_analysis import EncodedBody


class ResponseCache:
    """Bodies by key. A body is valid for the companions that it was computed with."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bodies: OrderedDict[Hashable, tuple[list[Companion], EncodedBody]] = OrderedDict()

    def get(self, key: Hashable, companions: list[Companion]) -> EncodedBody | None:
        """Return the body; None if there is none, or if it was computed with other companions."""
        found = self._bodies.get(key)
        if found is None or found[0] != companions:
            return None
        self._bodies.move_to_end(key)
        return found[1]

    def put(self, key: Hashable, companions: list[Companion], body: EncodedBody) -> None:
        """Store a body and remove the least recently used ones beyond the capacity."""
        self._bodies[key] = (companions, body)
        self._bodies.move_to_end(key)
        while len(self._bodies) > self._capacity:
            self._bodies.popitem(last=False)
