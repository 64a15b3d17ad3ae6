"""What all wire structs have in common."""

from __future__ import annotations

import msgspec

SCHEMA_VERSION = "1.1"
"""1.1: ``Layer.runs``; the payload has costs of one execution and ``runs``, where 1.0 had those of one
inference."""

DimValue = int | str | None
"""A known size, a symbol, or unknown."""


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the wire structs."""
