"""Pairing of the units of two models: from the widest labels to the narrowest, then along edges.

Names only decide between units with equal surroundings, and only if they agree with the edges: re-exported
models number their nodes differently.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence

from py_autodoc.compare.labels import Around, Book, Labels, kinds, places, plain_labels
from py_autodoc.compare.swaps import Swaps
from py_autodoc.compare.units import ContractedGraph

_TRUST = 0.95
"""Share of edges that must join counterparts at both ends before names are trusted."""

_SHARE = 0.5
"""Share of unmatched named units that must match by name before names are trusted."""


class Pairing:
    """The units of two models and their counterparts; -1 for none."""

    def __init__(
        self,
        left: ContractedGraph,
        right: ContractedGraph,
        own: tuple[Labels, Labels],
        around: tuple[Around, Around],
    ) -> None:
        self.sides = (left, right)
        self.own = own
        self.around = around
        self.ties: list[tuple[Sequence[Hashable], Sequence[Hashable]]] = []
        """Tie breakers among equal units, most specific first, as (left, right) by unit."""
        self.to = [-1] * len(left.units)
        self.back = [-1] * len(right.units)
        self._new: deque[tuple[int, int]] = deque()
        self.cores = ([u.core for u in left.units], [u.core for u in right.units])

    def join(self, one: int, other: int) -> bool:
        """Pair two units unless one is already paired or they compute different things."""
        if self.to[one] >= 0 or self.back[other] >= 0 or self.cores[0][one] != self.cores[1][other]:
            return False
        self.to[one], self.back[other] = other, one
        self._new.append((one, other))
        return True

    def by_label(self, left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
        """Pair free units with equal, equally frequent labels: unique ones first, then along edges.

        Equal candidates are paired one at a time, those that also agree in ``ties`` first.
        """
        first: dict[Hashable, list[int]] = {}
        second: dict[Hashable, list[int]] = {}
        for found, labels, taken in ((first, left, self.to), (second, right, self.back)):
            for at, label in enumerate(labels):
                if taken[at] < 0:
                    found.setdefault(label, []).append(at)
        several = []
        for label, ones in first.items():
            others = second.get(label, ())
            if len(ones) == len(others) == 1:
                self.join(ones[0], others[0])
            elif len(ones) == len(others):
                several.append((ones, list(others)))
        self.spread()
        for ones, others in several:
            for one, other in self._tied(ones, others):
                self.join(one, other)
                self.spread()

    def _tied(self, ones: list[int], others: list[int]) -> list[tuple[int, int]]:
        """Pair equally many similar units: first by the tie breakers, then in order."""
        found = []
        left, right = ones, others
        for x, y in self.ties:
            waiting: dict[Hashable, list[int]] = {}
            for at in reversed(right):
                waiting.setdefault(y[at], []).append(at)
            rest = []
            for at in left:
                if waiting.get(x[at]):
                    found.append((at, waiting[x[at]].pop()))
                else:
                    rest.append(at)
            if not rest:
                return found
            left, right = rest, sorted(at for some in waiting.values() for at in some)
        return [*found, *zip(left, right, strict=True)]

    def spread(self) -> None:
        """Follow the edges of new pairs: operands by position, consumers if equally many are similar."""
        (a, b), (x, y) = (side.units for side in self.sides), self.own
        (out_a, out_b) = (side.readers for side in self.around)
        while self._new:
            one, other = self._new.popleft()
            for p, q in zip(a[one].ins, b[other].ins, strict=False):
                if p >= 0 and q >= 0 and x[p] == y[q]:
                    self.join(p, q)
            free: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
            for place, reader in out_a[one]:
                if self.to[reader] < 0:
                    free.setdefault((place, x[reader]), ([], []))[0].append(reader)
            if not free:
                continue
            for place, reader in out_b[other]:
                if self.back[reader] < 0 and (place, y[reader]) in free:
                    free[place, y[reader]][1].append(reader)
            for ones, others in free.values():
                if len(ones) == len(others):
                    for p, q in self._tied(ones, others) if len(ones) > 1 else zip(ones, others, strict=True):
                        self.join(p, q)

    def again(self) -> None:
        """Treat all pairs as new."""
        self._new.extend((one, other) for one, other in enumerate(self.to) if other >= 0)


def pair(
    left: ContractedGraph,
    right: ContractedGraph,
    exact: tuple[Sequence[Hashable], Sequence[Hashable]],
    names: tuple[Sequence[str], Sequence[str]],
    weights: tuple[Sequence[str], Sequence[str]],
    contents: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
) -> list[int]:
    """Map units of the left model to their counterparts, or -1. Nearly linear in units and edges.

    Per unit, ``exact`` has everything beyond operator and dimensions (attributes, shapes), ``names`` its
    name, ``weights`` the name of its weight, and ``contents`` a key of the weight's values (None: not read).
    """
    book = Book()
    own = (plain_labels(left, book), plain_labels(right, book))
    loose = (Around(left, own[0], book, kinds(left)), Around(right, own[1], book, kinds(right)))
    made = Pairing(left, right, own, loose)
    first, second = (
        [book.number((label, key)) for label, key in zip(labels, keys, strict=True)]
        for labels, keys in zip(own, exact, strict=True)
    )
    firm = (Around(left, first, book, places(left)), Around(right, second, book, places(right)))
    for some in (weights, names):
        named = tuple(list(zip(keys, n, strict=True)) for keys, n in zip((first, second), some, strict=True))
        made.ties.append((named[0], named[1]))
    made.ties.append((first, second))
    # Conversion tools keep names, but neither the order nor all shapes.
    plain = [list(zip(labels, n, strict=True)) for labels, n in zip(own, names, strict=True)]
    made.ties.append((plain[0], plain[1]))
    if contents is not None:
        _by_content(made, own, contents)
    fore, back = [s.forward() for s in firm], [s.backward() for s in firm]
    made.by_label(*(list(zip(f, b, strict=True)) for f, b in zip(fore, back, strict=True)))
    if -1 not in made.to and -1 not in made.back:
        Swaps(left, right, own, made.to).run()
        return made.to
    near = [side.near() for side in loose]
    # A weight with the same name and dimensions is the same, even next to a removed layer.
    for alike, some in ((own, weights), ((near[0][-1], near[1][-1]), names)):
        _by_name(made, alike, some)
        made.spread()
    wide, far = [s.forward() for s in loose], [s.backward() for s in loose]
    made.by_label(*(list(zip(f, b, strict=True)) for f, b in zip(wide, far, strict=True)))
    for labels in (fore, wide, back, far):
        made.by_label(*labels)
    for before, after in zip(reversed(near[0]), reversed(near[1]), strict=True):
        made.by_label(before, after)
    # Units between counterparts that compute the same, whatever their dimensions.
    cores = [[book.number(("core", u.core)) for u in side.units] for side in (left, right)]
    made.own = cores[0], cores[1]
    made.again()
    made.spread()
    Swaps(left, right, own, made.to).run()
    return made.to


def _by_content(
    made: Pairing, own: tuple[Labels, Labels], contents: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> None:
    """Pair units whose weights are equal to each other and to no others."""
    keys: list[list[Hashable]] = []
    for side in (0, 1):
        seen: dict[Hashable, int] = {}
        for key in contents[side]:
            seen[key] = seen.get(key, 0) + 1
        keys.append(
            [
                (own[side][at], key) if key is not None and seen[key] == 1 else (side, "alone", at)
                for at, key in enumerate(contents[side])
            ]
        )
    made.by_label(*keys)


def _by_name(
    made: Pairing, labels: tuple[Labels, Labels], names: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Pair units with equal names and labels, if the names agree with the edges and are numerous enough.

    A re-export that numbers only one operator type as before would also agree with itself.
    """
    known: dict[tuple[str, int], int] = {}
    for at, name in enumerate(names[1]):
        if name and made.back[at] < 0:
            key = (name, labels[1][at])
            known[key] = -1 if key in known else at
    found: dict[int, int] = {}
    for at, name in enumerate(names[0]):
        if name and made.to[at] < 0:
            other = known.get((name, labels[0][at]), -1)
            if other >= 0:
                found[at] = other
    agreed = wires = 0
    a, b = (side.units for side in made.sides)
    for one, other in found.items():
        for p, q in zip(a[one].ins, b[other].ins, strict=False):
            if p in found:
                wires += 1
                agreed += found[p] == q
    free = [sum(bool(name) and other < 0 for name, other in zip(some, taken, strict=True))
            for some, taken in ((names[0], made.to), (names[1], made.back))]  # fmt: skip
    if wires and agreed >= _TRUST * wires and len(found) >= _SHARE * min(free):
        for one, other in found.items():
            made.join(one, other)
