"""Figures of a model that were read from its report instead of computed from its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from py_autodoc.report.schema.estimates import HardwareEstimates


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """What a report states. Its graph has no values of constants and no bodies of control flow."""

    source: str
    """Name of the report's file."""
    metrics: Mapping[str, int | float | None]
    """By the names that comparisons use; None if unknown."""
    lower_bounds: Mapping[str, int | float | None]
    """Known part of those that are only partly known."""
    precision_breakdown: dict[str, int] | None
    estimates: HardwareEstimates | None
    unseen: tuple[str, ...] = field(default=())
    """What the report cannot show."""
