"""The JSON Schema of an operation reference."""

from __future__ import annotations

from typing import Any

from py_autodoc.opdocs.document import SCHEMA, Operations
from py_autodoc.report.openapi_spec.openapi import JSON_SCHEMA, components


def operations_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``operations.json``."""
    return {
        "$schema": JSON_SCHEMA,
        "$id": f"urn:onnx-autodoc:operations:{SCHEMA.rpartition('/')[2]}",
        "title": "ONNX Autodoc operation reference",
        "$ref": "#/$defs/Operations",
        "$defs": components([Operations], "#/$defs/{name}"),
    }
