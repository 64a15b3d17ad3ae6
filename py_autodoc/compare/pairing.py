"""Pairing of the units of two models: from the widest labels to the narrowest, then along edges.

Names only decide between units with equal surroundings, and only if they agree with the edges: re-exported
models number their nodes differently.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Sequence

from py_autodoc.compare.labels import (
    LabelNumbering,
    Labels,
    Surroundings,
    leaf_kinds,
    leaf_positions,
    operator_labels,
)
from py_autodoc.compare.meaning import COMMUTATIVE
from py_autodoc.compare.swaps import Swaps
from py_autodoc.compare.units import ContractedGraph

_MIN_AGREEMENT = 0.95
"""Share of edges that must join counterparts at both ends before names are trusted."""

_MIN_NAMED_SHARE = 0.5
"""Share of unmatched named units that must match by name before names are trusted."""


class Pairing:
    """The units of two models and their counterparts; -1 for none."""

    def __init__(
        self,
        left: ContractedGraph,
        right: ContractedGraph,
        labels: tuple[Labels, Labels],
        surroundings: tuple[Surroundings, Surroundings],
    ) -> None:
        self.sides = (left, right)
        self.labels = labels
        self.surroundings = surroundings
        self.ties: list[tuple[Sequence[Hashable], Sequence[Hashable]]] = []
        """Tie breakers among equal units, most specific first, as (left, right) by unit."""
        self.to_right = [-1] * len(left.units)
        self.to_left = [-1] * len(right.units)
        self._new: deque[tuple[int, int]] = deque()
        self.cores = ([u.core for u in left.units], [u.core for u in right.units])

    def copy(self) -> Pairing:
        """Return an independent copy of the current pairs."""
        pairing = Pairing(*self.sides, self.labels, self.surroundings)
        pairing.ties = list(self.ties)
        pairing.to_right, pairing.to_left = list(self.to_right), list(self.to_left)
        pairing._new = deque(self._new)
        return pairing

    def agreement(self, left: Labels, right: Labels) -> tuple[int, int]:
        """Count pairs with equal labels, and edges between counterparts; and how many there could be."""
        found = possible = 0
        units = self.sides[0].units, self.sides[1].units
        for left_unit, right_unit in enumerate(self.to_right):
            if right_unit < 0:
                continue
            sources = [self.to_right[s] if s >= 0 else s for s in units[0][left_unit].sources]
            others = units[1][right_unit].sources
            possible += 1 + len(sources)
            found += left[left_unit] == right[right_unit]
            if units[0][left_unit].core in COMMUTATIVE:
                found += (Counter(sources) & Counter(others)).total()
            else:
                found += sum(a == b for a, b in zip(sources, others, strict=False))
        return found, possible

    def join(self, left_unit: int, right_unit: int) -> bool:
        """Pair two units unless one is already paired or they compute different things."""
        if (
            self.to_right[left_unit] >= 0
            or self.to_left[right_unit] >= 0
            or self.cores[0][left_unit] != self.cores[1][right_unit]
        ):
            return False
        self.to_right[left_unit], self.to_left[right_unit] = right_unit, left_unit
        self._new.append((left_unit, right_unit))
        return True

    def pair_by_label(self, left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
        """Pair free units with equal, equally frequent labels: unique ones first, then along edges.

        Equal candidates are paired one at a time, those that also agree in ``ties`` first.
        """
        left_by_label: dict[Hashable, list[int]] = {}
        right_by_label: dict[Hashable, list[int]] = {}
        for units_by_label, labels, counterparts in (
            (left_by_label, left, self.to_right),
            (right_by_label, right, self.to_left),
        ):
            for unit, label in enumerate(labels):
                if counterparts[unit] < 0:
                    units_by_label.setdefault(label, []).append(unit)
        ambiguous = []
        for label, left_units in left_by_label.items():
            right_units = right_by_label.get(label, ())
            if len(left_units) == len(right_units) == 1:
                self.join(left_units[0], right_units[0])
            elif len(left_units) == len(right_units):
                ambiguous.append((left_units, list(right_units)))
        self.follow_edges()
        for left_units, right_units in ambiguous:
            for left_unit, right_unit in self._pair_by_ties(left_units, right_units):
                self.join(left_unit, right_unit)
                self.follow_edges()

    def _pair_by_ties(self, left_units: list[int], right_units: list[int]) -> list[tuple[int, int]]:
        """Pair equally many similar units: first by the tie breakers, then in order."""
        pairs = []
        unpaired_left, unpaired_right = left_units, right_units
        for left_keys, right_keys in self.ties:
            right_by_key: dict[Hashable, list[int]] = {}
            for unit in reversed(unpaired_right):
                right_by_key.setdefault(right_keys[unit], []).append(unit)
            remaining = []
            for unit in unpaired_left:
                if right_by_key.get(left_keys[unit]):
                    pairs.append((unit, right_by_key[left_keys[unit]].pop()))
                else:
                    remaining.append(unit)
            if not remaining:
                return pairs
            unpaired_left, unpaired_right = (
                remaining,
                sorted(unit for units in right_by_key.values() for unit in units),
            )
        return [*pairs, *zip(unpaired_left, unpaired_right, strict=True)]

    def follow_edges(self) -> None:
        """Follow the edges of new pairs: operands by position, consumers if equally many are similar."""
        (left, right), (left_labels, right_labels) = (side.units for side in self.sides), self.labels
        (left_readers, right_readers) = (side.readers for side in self.surroundings)
        while self._new:
            left_unit, right_unit = self._new.popleft()
            for p, q in zip(left[left_unit].sources, right[right_unit].sources, strict=False):
                if p >= 0 and q >= 0 and left_labels[p] == right_labels[q]:
                    self.join(p, q)
            free_readers: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
            for operand, reader in left_readers[left_unit]:
                if self.to_right[reader] < 0:
                    free_readers.setdefault((operand, left_labels[reader]), ([], []))[0].append(reader)
            if not free_readers:
                continue
            for operand, reader in right_readers[right_unit]:
                if self.to_left[reader] < 0 and (operand, right_labels[reader]) in free_readers:
                    free_readers[operand, right_labels[reader]][1].append(reader)
            for left_units, right_units in free_readers.values():
                if len(left_units) == len(right_units):
                    for p, q in (
                        self._pair_by_ties(left_units, right_units)
                        if len(left_units) > 1
                        else zip(left_units, right_units, strict=True)
                    ):
                        self.join(p, q)

    def requeue_all(self) -> None:
        """Treat all pairs as new."""
        self._new.extend(
            (left_unit, right_unit) for left_unit, right_unit in enumerate(self.to_right) if right_unit >= 0
        )


def pair_units(
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
    numbering = LabelNumbering()
    unit_labels = (operator_labels(left, numbering), operator_labels(right, numbering))
    loose = (
        Surroundings(left, unit_labels[0], numbering, leaf_kinds(left)),
        Surroundings(right, unit_labels[1], numbering, leaf_kinds(right)),
    )
    pairing = Pairing(left, right, unit_labels, loose)
    left_exact, right_exact = (
        [numbering.number((label, key)) for label, key in zip(labels, keys, strict=True)]
        for labels, keys in zip(unit_labels, exact, strict=True)
    )
    exact_surroundings = (
        Surroundings(left, left_exact, numbering, leaf_positions(left)),
        Surroundings(right, right_exact, numbering, leaf_positions(right)),
    )
    for unit_names in (weights, names):
        tie_keys = tuple(
            list(zip(keys, n, strict=True))
            for keys, n in zip((left_exact, right_exact), unit_names, strict=True)
        )
        pairing.ties.append((tie_keys[0], tie_keys[1]))
    pairing.ties.append((left_exact, right_exact))
    # Conversion tools keep names, but neither the order nor all shapes.
    labelled_names = [list(zip(labels, n, strict=True)) for labels, n in zip(unit_labels, names, strict=True)]
    pairing.ties.append((labelled_names[0], labelled_names[1]))
    if contents is not None:
        _by_content(pairing, unit_labels, contents)
    exact_forward, exact_backward = (
        [s.forward() for s in exact_surroundings],
        [s.backward() for s in exact_surroundings],
    )
    pairing.pair_by_label(
        *(list(zip(f, b, strict=True)) for f, b in zip(exact_forward, exact_backward, strict=True))
    )
    if -1 not in pairing.to_right and -1 not in pairing.to_left:
        Swaps(left, right, unit_labels, pairing.to_right).run()
        return pairing.to_right
    nearby = [side.neighbourhoods() for side in loose]
    loose_forward, loose_backward = [s.forward() for s in loose], [s.backward() for s in loose]
    # Units between counterparts that compute the same, whatever their dimensions.
    cores = [[numbering.number(("core", u.core)) for u in side.units] for side in (left, right)]

    def finish(pairing: Pairing, first: Sequence[tuple[Labels, Labels]]) -> None:
        for label_pair in first:
            pairing.pair_by_label(*label_pair)
        pairing.pair_by_label(
            *(list(zip(f, b, strict=True)) for f, b in zip(loose_forward, loose_backward, strict=True))
        )
        for labels in (exact_forward, loose_forward, exact_backward, loose_backward):
            pairing.pair_by_label(*labels)
        for left_labels, right_labels in zip(reversed(nearby[0]), reversed(nearby[1]), strict=True):
            pairing.pair_by_label(left_labels, right_labels)
        pairing.labels = cores[0], cores[1]
        pairing.requeue_all()
        pairing.follow_edges()
        Swaps(left, right, unit_labels, pairing.to_right).run()

    by_structure = pairing.copy()
    # A weight with the same name and dimensions is the same, even next to a removed layer.
    for label_lists, unit_names in ((unit_labels, weights), ((nearby[0][-1], nearby[1][-1]), names)):
        _by_name(pairing, label_lists, unit_names)
        pairing.follow_edges()
    named = pairing.to_right != by_structure.to_right
    finish(pairing, ())
    agreement, possible = pairing.agreement(left_exact, right_exact)
    if not named or agreement == possible:
        return pairing.to_right
    # A new export may number equal branches in another order: what reads them decides against such names.
    around = [side.neighbourhoods(by_operand=True) for side in exact_surroundings]
    finish(by_structure, [(a, b) for a, b in zip(reversed(around[0]), reversed(around[1]), strict=True)])
    if by_structure.agreement(left_exact, right_exact)[0] > agreement:
        return by_structure.to_right
    return pairing.to_right


def _by_content(
    pairing: Pairing, labels: tuple[Labels, Labels], contents: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> None:
    """Pair units whose weights are equal to each other and to no others."""
    keys: list[list[Hashable]] = []
    for side in (0, 1):
        counts: dict[Hashable, int] = {}
        for key in contents[side]:
            counts[key] = counts.get(key, 0) + 1
        keys.append(
            [
                (labels[side][unit], key) if key is not None and counts[key] == 1 else (side, "alone", unit)
                for unit, key in enumerate(contents[side])
            ]
        )
    pairing.pair_by_label(*keys)


def _by_name(
    pairing: Pairing, labels: tuple[Labels, Labels], names: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Pair units with equal names and labels, if the names agree with the edges and are numerous enough.

    A re-export that numbers only one operator type as before would also agree with itself.
    """
    right_by_key: dict[tuple[str, int], int] = {}
    for unit, name in enumerate(names[1]):
        if name and pairing.to_left[unit] < 0:
            key = (name, labels[1][unit])
            right_by_key[key] = -1 if key in right_by_key else unit
    candidates: dict[int, int] = {}
    for unit, name in enumerate(names[0]):
        if name and pairing.to_right[unit] < 0:
            right_unit = right_by_key.get((name, labels[0][unit]), -1)
            if right_unit >= 0:
                candidates[unit] = right_unit
    agreeing_edges = edges = 0
    left, right = (side.units for side in pairing.sides)
    for left_unit, right_unit in candidates.items():
        for p, q in zip(left[left_unit].sources, right[right_unit].sources, strict=False):
            if p in candidates:
                edges += 1
                agreeing_edges += candidates[p] == q
    unmatched = [
        sum(
            bool(name) and counterpart < 0 for name, counterpart in zip(unit_names, counterparts, strict=True)
        )
        for unit_names, counterparts in ((names[0], pairing.to_right), (names[1], pairing.to_left))
    ]
    if (
        edges
        and agreeing_edges >= _MIN_AGREEMENT * edges
        and len(candidates) >= _MIN_NAMED_SHARE * min(unmatched)
    ):
        for left_unit, right_unit in candidates.items():
            pairing.join(left_unit, right_unit)
