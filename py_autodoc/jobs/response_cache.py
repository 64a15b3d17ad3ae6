"""A small cache of encoded answers, least recently used first out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.isolated_analysis import EncodedBody


class ResponseCache:
    """Bodies by key, each good for the companions it was made with."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bodies: OrderedDict[Hashable, tuple[list[Companion], EncodedBody]] = OrderedDict()

    def get(self, key: Hashable, companions: list[Companion]) -> EncodedBody | None:
        """The body, unless the files beside the model were others when it was made."""
        found = self._bodies.get(key)
        if found is None or found[0] != companions:
            return None
        self._bodies.move_to_end(key)
        return found[1]

    def put(self, key: Hashable, companions: list[Companion], body: EncodedBody) -> None:
        """Keeps a body; drops the one that was used least recently."""
        self._bodies[key] = (companions, body)
        self._bodies.move_to_end(key)
        while len(self._bodies) > self._capacity:
            self._bodies.popitem(last=False)
