"""The model in words: task, family, inputs and outputs, size and precision."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class IdentityValue(Wire, frozen=True, kw_only=True):
    """An input or output with its role."""

    name: str
    """Name."""
    role: str
    """``image``, ``tokens``, ``attention mask``, ``class scores`` …; empty if unknown."""
    likely: bool = False
    """True for a role that is only likely."""
    shown: bool
    """Whether the line shows its shape. Others, such as masks and states, are not shown."""
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

    ``file``: stated in the file. ``structure``: the graph allows no other common interpretation. ``likely``:
    the graph suggests it, and the text says *probably*. ``unknown``: there is no evidence.
    """

    task: str
    """How the task is known."""
    family: str
    """How the family is known. An architecture name in brackets always comes from the file."""
    precision: str
    """How the precision is known; it is read from the stored types."""


class Identity(Wire, frozen=True, kw_only=True):
    """The model in words. Facts without evidence are ``unknown``; likely ones are marked as such."""

    text: str
    """One line: task · family · inputs → outputs · parameters · precision."""
    task: str
    """``image classification`` …, ``unknown``."""
    task_id: str
    """Stable name of the task: ``image-classification`` …, the wording of the file, or ``unknown``."""
    family: str
    """``CNN/transformer hybrid (MobileViT)`` …, ``unknown``."""
    inputs: list[IdentityValue]
    """The most informative first; at most 64."""
    outputs: list[IdentityValue]
    """Results before states and caches; at most 64."""
    parameters: int | None
    """Parameters, as ``metrics.total_params``."""
    precision: str
    """``float32, not quantized``, ``int8 weights and uint8 activations (QDQ)`` …, ``unknown``."""
    known: IdentityKnown
    """How the facts are known."""
    evidence: list[IdentityEvidence]
    """The reasons, fact by fact."""
