"""What is said of a model in words. Plain data, by tensor id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from py_autodoc.graph.ir.model import Shape

FILE, STRUCTURE, LIKELY, UNKNOWN = "file", "structure", "likely", "unknown"
"""How a fact is known: the file names it; the structure admits no other usual reading; it suggests one;
nothing says it."""
SURE, PROBABLE, WEAK = 0.9, 0.6, 0.3
"""Strength of a reading: what is below ``SURE`` is said to be likely only."""


class RuleReading(NamedTuple):
    """What one rule takes the model for."""

    strength: float
    """Between 0 and 1, as ``SURE``, ``PROBABLE`` and ``WEAK``."""
    why: tuple[str, ...]
    output: str = ""
    """What the first outputs are, as ``class scores``; empty where the rule does not tell."""


@dataclass(frozen=True, slots=True)
class ModelPort:
    """An input or output of the main graph."""

    tensor: int
    name: str
    dtype: int
    shape: Shape | None
    role: str
    """``image``, ``tokens``, ``attention mask`` …; empty where nothing says it."""
    sure: bool = True
    """False for a role that is only likely."""
    channels: int | None = None
    """Of an image, or a signal."""
    size: tuple[int | str | None, ...] = ()
    """Height and width of an image; length of a signal."""
    rows: int | None = None
    """Of the table that tokens are looked up in."""

    @property
    def rank(self) -> int:
        """Number of axes; -1 when unknown."""
        return -1 if self.shape is None else len(self.shape)


@dataclass(frozen=True, slots=True)
class MetadataTask:
    """A fact in words and how it is known."""

    id: str
    """Stable name, as ``image-classification``; ``unknown``."""
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
    """Those that say most first: data before masks, states and caches."""
    outputs: tuple[ModelPort, ...] = ()
    roles: Mapping[int, str] = field(default_factory=dict)
