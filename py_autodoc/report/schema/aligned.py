"""The alignment of two models as the viewer reads it: columns of numbers, by node and by pair."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class AlignedChange(Wire, frozen=True, kw_only=True):
    """One change of a pair, or of an input or output."""

    kind: str
    """One of ``ComparisonColumns.kinds``."""
    what: str
    """Of it: the attribute's name, ``result``, ``weight``, ``activation`` …"""
    left: str
    """As the first model has it."""
    right: str


class AlignedBlock(Wire, frozen=True, kw_only=True):
    """A block of the first model, its counterpart, and what differs in it."""

    left: str | None
    """Path of its module; null where only the second model has it."""
    right: str | None
    pairs: int
    changed: dict[str, int]
    """Kind of change → pairs."""
    only_left: int
    """Nodes without a counterpart."""
    only_right: int
    macs_left: int
    """Known MACs of one inference."""
    macs_right: int
    first_left: int
    """First node that differs, else the first node; -1 without."""
    first_right: int


class ComparisonColumns(Wire, frozen=True, kw_only=True):
    """How the nodes of two models correspond. A node is in one pair at most."""

    verdict: str
    """``same architecture``, ``similar architecture`` or ``different architectures``."""
    score_macs: float | None
    """Twice the MACs in counterparts over those of both; null when no MACs are known."""
    score_nodes: float
    """The same by core operators."""
    core_operators: list[int]
    """Of the first and of the second model."""
    core_matched: int
    left: list[int]
    """By node of the first model: its pair, -1 without a counterpart, -2 for constants (no part in it)."""
    right: list[int]
    """The same of the second model."""
    kinds: list[str]
    """Kinds of changes in the order of their bits."""
    changes: list[int]
    """By pair: bits of its changes, 0 where nothing changed."""
    main_left: list[int]
    """By pair: the node that computes; the others of the pair serve it."""
    main_right: list[int]
    details: dict[str, list[AlignedChange]]
    """By number of a pair that changed."""
    interface: list[AlignedChange]
    """What changed of the inputs and outputs of the model, as they are declared."""
    blocks: list[AlignedBlock]
