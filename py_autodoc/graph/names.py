"""Names from a model as safe, bounded text."""

from __future__ import annotations

import onnx

from py_autodoc.graph.model import Diagnostic


def text(value: str | bytes) -> str:
    """A protobuf string as ``str``: protobuf hands out bytes where it is not valid UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def sanitize(proto: onnx.ModelProto) -> list[Diagnostic]:
    """TODO"""
    return []
