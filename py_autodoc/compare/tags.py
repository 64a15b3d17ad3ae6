"""Module differences between two tagged models: tags, and the number of nodes of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from py_autodoc.tags import TagCoverage, Tags


@dataclass(frozen=True, slots=True)
class TagChange:
    """A tag whose nodes differ in number or operator type."""

    tag: str
    a: int | None
    """Nodes in the first model; None if it does not have the tag."""
    b: int | None
    operators: dict[str, int]
    """Operator type → nodes in the second model minus those in the first, if not 0."""


@dataclass(frozen=True, slots=True)
class TagComparison:
    """Distribution of nodes over tags, and structure of the tags, of two models."""

    a: TagCoverage
    b: TagCoverage
    same: int
    """Tags with the same number of nodes of each operator type."""
    changed: tuple[TagChange, ...]
    only_a: tuple[TagChange, ...]
    only_b: tuple[TagChange, ...]

    @property
    def equal(self) -> bool:
        """True if both have the same tags with the same operators."""
        return not (self.changed or self.only_a or self.only_b)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "equal": self.equal}


def compare_tags(a: Tags, b: Tags) -> TagComparison:
    """Compare two models by their tags, in linear time."""
    first, second = _operators(a), _operators(b)
    changes: dict[str, list[TagChange]] = {"changed": [], "only_a": [], "only_b": []}
    same = 0
    for tag in dict.fromkeys((*first, *second)):
        left, right = first.get(tag), second.get(tag)
        if left == right:
            same += 1
            continue
        kind = "only_b" if left is None else "only_a" if right is None else "changed"
        changes[kind].append(_change(tag, left, right))
    return TagComparison(
        a.coverage,
        b.coverage,
        same,
        tuple(changes["changed"]),
        tuple(changes["only_a"]),
        tuple(changes["only_b"]),
    )


def _operators(tags: Tags) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for node, record in tags.records.items():
        counts.setdefault(record.tag, Counter())[node.op_type] += 1
    return counts


def _change(tag: str, left: Counter[str] | None, right: Counter[str] | None) -> TagChange:
    delta = Counter(right or {})
    delta.subtract(left or {})
    return TagChange(
        tag,
        None if left is None else left.total(),
        None if right is None else right.total(),
        {operator: count for operator, count in sorted(delta.items()) if count},
    )
