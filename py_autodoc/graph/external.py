"""External"""

from __future__ import annotations

import onnx

from py_autodoc.graph.model import Diagnostic


def external_facts(proto: onnx.ModelProto, path: str | None) -> tuple[tuple[str, ...], int, list[Diagnostic]]:
    """TODO"""
    return (), 0, []
