"""Correct equal branches that were paired crosswise: swap counterparts if more edges then agree.

Two branches with the same operators and dimensions look alike. Pairing one unit at a time may mix them up;
the edges between the units reveal it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Sequence

from py_autodoc.compare.labels import readers
from py_autodoc.compare.meaning import COMMUTATIVE
from py_autodoc.compare.units import ContractedGraph

_MOST_SWAPS = 1_000
"""Maximum number of swaps that follow from one edge."""
_MOST_TRIES = 2_000
"""Maximum number of swaps tried in total."""


class Swaps:
    """Improves the pairing ``to`` of ``left`` and ``right``; units with equal ``own`` may be swapped."""

    def __init__(
        self,
        left: ContractedGraph,
        right: ContractedGraph,
        own: tuple[Sequence[Hashable], Sequence[Hashable]],
        to: list[int],
    ) -> None:
        self._units = left.units, right.units
        self._own = own[0]
        self._to = to
        self._back = [-1] * len(right.units)
        for one, other in enumerate(to):
            if other >= 0:
                self._back[other] = one
        self._readers = readers(left)
        self._left = _MOST_TRIES

    def run(self) -> None:
        """Swap counterparts in ``to`` until no edge leads to a swap with more agreement."""
        for unit in range(len(self._to)):
            for place in range(len(self._units[0][unit].ins)):
                for by_reader in (False, True):
                    if self._left > 0 and self._crossed(unit, place) is not None:
                        self._try(unit, place, by_reader)

    def _crossed(self, unit: int, place: int) -> tuple[int, int] | None:
        """Return (source, unit read by the counterpart instead) for an edge that disagrees, else None."""
        match = self._to[unit]
        if match < 0:
            return None
        here, there = self._units[0][unit].ins, self._units[1][match].ins
        if place >= len(here) or place >= len(there) or len(here) != len(there):
            return None
        source, read = here[place], there[place]
        if source < 0 or read < 0 or self._to[source] in (-1, read) or self._back[read] < 0:
            return None
        if self._units[0][unit].core in COMMUTATIVE and read in [self._to[s] for s in here if s >= 0]:
            return None
        return source, self._back[read]

    def _try(self, unit: int, place: int, by_reader: bool) -> None:
        """Try the swap of sources, or consumers, that an edge suggests, with all consequences.

        It is kept if more edges agree.
        """
        swapped: set[int] = set()
        done: list[tuple[int, int]] = []
        waiting = deque([(unit, place)])
        while waiting and len(done) < _MOST_SWAPS:
            reader, at = waiting.popleft()
            crossed = self._crossed(reader, at)
            if crossed is None:
                continue
            by_source = not swapped & set(crossed) and (done or not by_reader)
            pair = crossed if by_source else self._other_reader(reader, at, *crossed)
            if pair is None or swapped & set(pair) or self._own[pair[0]] != self._own[pair[1]]:
                continue
            self._swap(*pair)
            swapped.update(pair)
            done.append(pair)
            for one in pair:
                waiting.extend((one, p) for p in range(len(self._units[0][one].ins)))
                waiting.extend((r, p) for p, r in self._readers[one])
        self._left -= max(1, len(done))
        touched = swapped | {r for one in swapped for _, r in self._readers[one]}
        after = self._agreement(touched)
        for one, other in reversed(done):
            self._swap(one, other)
        if after > self._agreement(touched):
            for one, other in done:
                self._swap(one, other)

    def _agreement(self, units: Iterable[int]) -> int:
        return sum(self._agreeing(one) for one in units)

    def _other_reader(self, unit: int, place: int, source: int, other: int) -> tuple[int, int] | None:
        """Return the unit and the one that reads ``other`` while its counterpart reads that of ``source``."""
        there, to = self._units[1], self._to
        alike = [
            one
            for at, one in self._readers[other]
            if at == place
            and to[one] >= 0
            and self._own[one] == self._own[unit]
            and there[to[one]].ins[place : place + 1] == [to[source]]
        ]
        return (unit, alike[0]) if len(alike) == 1 else None

    def _swap(self, one: int, other: int) -> None:
        to, back = self._to, self._back
        to[one], to[other] = to[other], to[one]
        back[to[one]], back[to[other]] = one, other

    def _agreeing(self, unit: int) -> int:
        """Count the operands that come from counterparts."""
        to = self._to
        if to[unit] < 0:
            return 0
        here, there = self._units[0][unit].ins, self._units[1][to[unit]].ins
        mapped = [to[s] if s >= 0 else s for s in here]
        if self._units[0][unit].core in COMMUTATIVE:
            return (Counter(mapped) & Counter(there)).total()
        return sum(a == b for a, b in zip(mapped, there, strict=False))
