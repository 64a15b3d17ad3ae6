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

_MAX_SWAPS = 1_000
"""Maximum number of swaps that follow from one edge."""
_MAX_TRIES = 2_000
"""Maximum number of swaps tried in total."""


class Swaps:
    """Improves ``to_right``, the counterparts of left units; units with equal ``labels`` may be swapped."""

    def __init__(
        self,
        left: ContractedGraph,
        right: ContractedGraph,
        labels: tuple[Sequence[Hashable], Sequence[Hashable]],
        to_right: list[int],
    ) -> None:
        self._units = left.units, right.units
        self._labels = labels[0]
        self._to_right = to_right
        self._to_left = [-1] * len(right.units)
        for left_unit, right_unit in enumerate(to_right):
            if right_unit >= 0:
                self._to_left[right_unit] = left_unit
        self._readers = readers(left)
        self._tries_left = _MAX_TRIES

    def run(self) -> None:
        """Swap counterparts in ``to_right`` until no edge leads to a swap with more agreement."""
        for unit in range(len(self._to_right)):
            for operand in range(len(self._units[0][unit].sources)):
                for by_reader in (False, True):
                    if self._tries_left > 0 and self._crossed_sources(unit, operand) is not None:
                        self._try_swap(unit, operand, by_reader)

    def _crossed_sources(self, unit: int, operand: int) -> tuple[int, int] | None:
        """Return (source, unit read by the counterpart instead) for an edge that disagrees, else None."""
        match = self._to_right[unit]
        if match < 0:
            return None
        left_sources, right_sources = self._units[0][unit].sources, self._units[1][match].sources
        if (
            operand >= len(left_sources)
            or operand >= len(right_sources)
            or len(left_sources) != len(right_sources)
        ):
            return None
        source, right_source = left_sources[operand], right_sources[operand]
        if (
            source < 0
            or right_source < 0
            or self._to_right[source] in (-1, right_source)
            or self._to_left[right_source] < 0
        ):
            return None
        if self._units[0][unit].core in COMMUTATIVE and right_source in [
            self._to_right[s] for s in left_sources if s >= 0
        ]:
            return None
        return source, self._to_left[right_source]

    def _try_swap(self, unit: int, operand: int, by_reader: bool) -> None:
        """Try the swap of sources, or consumers, that an edge suggests, with all consequences.

        It is kept if more edges agree.
        """
        swapped: set[int] = set()
        swaps: list[tuple[int, int]] = []
        pending = deque([(unit, operand)])
        while pending and len(swaps) < _MAX_SWAPS:
            reader, position = pending.popleft()
            sources = self._crossed_sources(reader, position)
            if sources is None:
                continue
            by_source = not swapped & set(sources) and (swaps or not by_reader)
            pair = sources if by_source else self._other_reader(reader, position, *sources)
            if pair is None or swapped & set(pair) or self._labels[pair[0]] != self._labels[pair[1]]:
                continue
            self._swap(*pair)
            swapped.update(pair)
            swaps.append(pair)
            for swapped_unit in pair:
                pending.extend((swapped_unit, p) for p in range(len(self._units[0][swapped_unit].sources)))
                pending.extend((r, p) for p, r in self._readers[swapped_unit])
        self._tries_left -= max(1, len(swaps))
        touched = swapped | {r for unit in swapped for _, r in self._readers[unit]}
        agreeing = self._agreeing_edges(touched)
        for first, second in reversed(swaps):
            self._swap(first, second)
        if agreeing > self._agreeing_edges(touched):
            for first, second in swaps:
                self._swap(first, second)

    def _agreeing_edges(self, units: Iterable[int]) -> int:
        return sum(self._agreeing_operands(unit) for unit in units)

    def _other_reader(
        self, unit: int, operand: int, source: int, other_source: int
    ) -> tuple[int, int] | None:
        """Return the unit and the reader of ``other_source`` whose counterpart reads that of ``source``."""
        right_units, to_right = self._units[1], self._to_right
        candidates = [
            reader
            for position, reader in self._readers[other_source]
            if position == operand
            and to_right[reader] >= 0
            and self._labels[reader] == self._labels[unit]
            and right_units[to_right[reader]].sources[operand : operand + 1] == [to_right[source]]
        ]
        return (unit, candidates[0]) if len(candidates) == 1 else None

    def _swap(self, first: int, second: int) -> None:
        to_right, to_left = self._to_right, self._to_left
        to_right[first], to_right[second] = to_right[second], to_right[first]
        to_left[to_right[first]], to_left[to_right[second]] = first, second

    def _agreeing_operands(self, unit: int) -> int:
        """Count the operands that come from counterparts."""
        to_right = self._to_right
        if to_right[unit] < 0:
            return 0
        left_sources, right_sources = self._units[0][unit].sources, self._units[1][to_right[unit]].sources
        mapped = [to_right[s] if s >= 0 else s for s in left_sources]
        if self._units[0][unit].core in COMMUTATIVE:
            return (Counter(mapped) & Counter(right_sources)).total()
        return sum(a == b for a, b in zip(mapped, right_sources, strict=False))
