"""Functions"""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.model import Diagnostic
from py_autodoc.limits import Limits


@dataclass(frozen=True, slots=True)
class Expanded:
    """TODO"""

    unexpanded_calls: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def expand_functions(proto: onnx.ModelProto, limits: Limits) -> Expanded:
    """TODO"""
    return Expanded()
