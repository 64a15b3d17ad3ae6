"""The search for a recipe as data."""

from __future__ import annotations

import msgspec

from py_autodoc.quantize.recipe import Recipe


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A recipe, and the file that it gives."""

    name: str
    """Method and types: ``static u8·s7``."""
    recipe: Recipe
    sqnr_db: float | None = None
    """Signal-to-noise ratio of the worst output on samples held back from the ranges, as the target computes.

    Null if nothing differs, or with ``failed``.
    """
    agreement: float | None = None
    """Least share of rows whose largest value has the same index; null without classes."""
    bytes: int | None = None
    speed: float | None = None
    """Speed as a multiple of the float model's, by CPU time here; null if unknown."""
    close: bool = False
    """Whether results are close enough to the float model's to be recommended for size or latency."""
    failed: str = ""
    """Why there is no file; empty if there is."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Recipes that were tried, and which one was taken."""

    goal: str
    """``size``, ``latency``, ``accuracy``, or ``balanced``: speed times reduction in size.

    ``weights`` if only the type of weights was open, for a processor without VNNI.
    """
    held_back: int
    """Number of samples for the scores that gave no ranges; 0 if they are the same."""
    trials: list[Trial]
    chosen: str
    """``trials[].name``."""
