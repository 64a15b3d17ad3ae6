"""Identity of a model in words: plain data by tensor id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from py_autodoc.graph.ir.model import Shape

FILE, STRUCTURE, LIKELY, UNKNOWN = "file", "structure", "likely", "unknown"
"""How a fact is known: the file states it; the structure has only this common reading; the structure
suggests it; no evidence."""
SURE, PROBABLE, WEAK = 0.9, 0.6, 0.3
"""Strength of a reading; readings below ``SURE`` are shown as likely."""


class RuleReading(NamedTuple):
    """The result of one rule."""

    strength: float
    """Between 0 and 1, as ``SURE``, ``PROBABLE`` and ``WEAK``."""
    why: tuple[str, ...]
    output: str = ""
    """Content of the first outputs, such as ``class scores``; empty if the rule does not determine it."""
    outputs: Mapping[int, str] = {}
    """Output tensor → its content, where the rule tells outputs apart."""


@dataclass(frozen=True, slots=True)
class ModelPort:
    """An input or output of the main graph."""

    tensor: int
    name: str
    dtype: int
    shape: Shape | None
    role: str
    """``image``, ``tokens``, ``attention mask`` …; empty if unknown."""
    sure: bool = True
    """False if the role is only likely."""
    channels: int | None = None
    """Channels of an image or signal."""
    size: tuple[int | str | None, ...] = ()
    """Height and width of an image; length of a signal."""
    rows: int | None = None
    """Rows of the table that tokens index."""

    @property
    def rank(self) -> int:
        """Number of axes; -1 if unknown."""
        return -1 if self.shape is None else len(self.shape)


@dataclass(frozen=True, slots=True)
class MetadataTask:
    """A fact in words, and how it is known."""

    id: str
    """Stable name, such as ``image-classification``, or ``unknown``."""
    text: str
    known: str
    """``file``, ``structure``, ``likely`` or ``unknown``."""
    why: tuple[str, ...] = ()


NOTHING = MetadataTask(UNKNOWN, UNKNOWN, UNKNOWN)


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """A model in words."""

    task: MetadataTask = NOTHING
    family: MetadataTask = NOTHING
    inputs: tuple[ModelPort, ...] = ()
    """Most informative first: data before masks, states and caches."""
    outputs: tuple[ModelPort, ...] = ()
    roles: Mapping[int, str] = field(default_factory=dict)
