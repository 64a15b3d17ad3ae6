"""The alignment of two models for the viewer: columns of numbers, by node and by pair."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class AlignedChange(Wire, frozen=True, kw_only=True):
    """One change of a pair, or of an input or output."""

    kind: str
    """One of ``ComparisonColumns.kinds``."""
    what: str
    """Its subject: the attribute's name, ``result``, ``weight``, ``activation`` …"""
    left: str
    """Value in the first model."""
    right: str


class AlignedBlock(Wire, frozen=True, kw_only=True):
    """A block of the first model, its counterpart, and the differences."""

    left: str | None
    """Path of its module; null if only the second model has it."""
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
    """How the nodes of two models correspond. A node is in at most one pair."""

    verdict: str
    """``same architecture``, ``similar architecture`` or ``different architectures``."""
    score_macs: float | None
    """Twice the MACs of matched nodes over the MACs of both models; null when no MACs are known."""
    score_nodes: float
    """The same, counting core operators instead of MACs."""
    core_operators: list[int]
    """Core operators of the first and the second model."""
    core_matched: int
    left: list[int]
    """By node of the first model: its pair, -1 without a counterpart, -2 for constants (not matched)."""
    right: list[int]
    """The same for the second model."""
    kinds: list[str]
    """Kinds of changes in the order of their bits."""
    changes: list[int]
    """By pair: bits of its changes, 0 if nothing changed."""
    main_left: list[int]
    """By pair: the node that computes; the other nodes of the pair only serve it."""
    main_right: list[int]
    details: dict[str, list[AlignedChange]]
    """Changes by pair number; only pairs that changed."""
    interface: list[AlignedChange]
    """Changes of the model's declared inputs and outputs, and statements of the files that differ."""
    blocks: list[AlignedBlock]
