"""Definitions shared by all wire structs."""

from __future__ import annotations

import msgspec

SCHEMA_VERSION = "1.1"
"""1.1: ``Layer.runs``; costs in the payload are per execution, with ``runs``. In 1.0 they were per
inference."""

DimValue = int | str | None
"""A number, a symbol, or None for unknown."""


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the wire structs."""
