"""The model in words: what it does, of which kind, from what to what, how big, stored how."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class IdentityValue(Wire, frozen=True, kw_only=True):
    """An input or output with what it is for."""

    name: str
    """Name."""
    role: str
    """``image``, ``tokens``, ``attention mask``, ``class scores`` …; empty where nothing says it."""
    likely: bool = False
    """True for a role that is only likely."""
    shown: bool
    """Whether the line shows its shape; others stand beside it, as masks and states."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Null: rank unknown."""


class IdentityEvidence(Wire, frozen=True, kw_only=True):
    """One reason for one of the facts."""

    about: str
    """``task``, ``family`` or ``precision``."""
    text: str
    """The reason."""


class IdentityKnown(Wire, frozen=True, kw_only=True):
    """How each fact is known.

    ``file``: the file names it. ``structure``: the graph admits no other usual reading. ``likely``: the
    graph suggests it, and the text says *probably*. ``unknown``: nothing tells.
    """

    task: str
    """Of the task."""
    family: str
    """Of the family; a make in brackets is always the file's."""
    precision: str
    """Of the precision: it is read from the stored types."""


class Identity(Wire, frozen=True, kw_only=True):
    """The model in words. ``unknown`` where nothing tells; what is only likely is said so."""

    text: str
    """One line: task · family · inputs → outputs · parameters · precision."""
    task: str
    """``image classification`` …, ``unknown``."""
    task_id: str
    """Its stable name: ``image-classification`` …, a task of the file's own wording, or ``unknown``."""
    family: str
    """``CNN/transformer hybrid (MobileViT)`` …, ``unknown``."""
    inputs: list[IdentityValue]
    """Those that say most first; at most 64."""
    outputs: list[IdentityValue]
    """Results before states and caches; at most 64."""
    parameters: int | None
    """Parameters, as ``metrics.total_params``."""
    precision: str
    """``float32, not quantized``, ``int8 weights and uint8 data (QDQ)`` …, ``unknown``."""
    known: IdentityKnown
    """How the facts are known."""
    evidence: list[IdentityEvidence]
    """The reasons, fact by fact."""
