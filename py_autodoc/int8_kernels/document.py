"""The kernels of a measurement as data."""

from __future__ import annotations

import msgspec


class IntegerKernels(msgspec.Struct, frozen=True, kw_only=True):
    """The integer kernels that a model ran on, and those of the target that it is judged for."""

    here: str
    """This machine's: ``exact``, or ``pairs`` if sums of pairs of u8 and s8 products saturate at 16 bits."""
    target: str
    """``cpu-vnni``, ``cpu-avx2``, ``cpu-arm`` or ``tensorrt``; empty if no target is known."""
    target_computes: str
    """``exact`` or ``pairs``; without a target, ``exact``."""
    saturating_operators: int | None
    """Operators that ``pairs`` kernels may saturate, in the graph as it runs; null if it is unknown."""
    differs: bool
    """Results differ between this machine and the target."""
    not_measured: str
    """Why there are no results as the target computes; empty if there are, or if they do not differ."""
