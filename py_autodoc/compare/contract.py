"""The JSON Schema of a comparison."""

from __future__ import annotations

from typing import Any

from py_autodoc.compare.document import SCHEMA, Comparison
from py_autodoc.report.openapi_spec.openapi import JSON_SCHEMA, components


def comparison_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``compare --out-json``."""
    return {
        "$schema": JSON_SCHEMA,
        "$id": f"urn:onnx-autodoc:comparison:{SCHEMA.rpartition('/')[2]}",
        "title": "ONNX Autodoc comparison",
        "$ref": "#/$defs/Comparison",
        "$defs": components([Comparison], "#/$defs/{name}"),
    }
