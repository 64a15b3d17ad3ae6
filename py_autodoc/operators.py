"""Operator coverage: what ONNX Autodoc knows about each operator (``graph.operators.aspects``).

``coverage()`` has a row for each operator that ONNX defines or that has any rule. Known aspects link to a
function or table; for others the row states the consequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Importing these packages registers their rules.
from py_autodoc.costs import rules as _costs  # noqa: F401
from py_autodoc.graph import shapes as _shapes  # noqa: F401
from py_autodoc.graph.building.operator_docs import defined
from py_autodoc.graph.operators.aspects import ASPECTS, Aspect, Key, Link, links
from py_autodoc.graph.rebatch import rules as _rebatch  # noqa: F401
from py_autodoc.graph.resize import rules as _resize  # noqa: F401
from py_autodoc.hardware import fusion_roles as _kernels  # noqa: F401
from py_autodoc.quantize.reference import operators as _integers  # noqa: F401
from py_autodoc.report.encode import categories as _categories  # noqa: F401
from py_autodoc.report.viewer_payload import node_settings as _settings  # noqa: F401
from py_autodoc.to_torch import registry as _torch  # noqa: F401

__all__ = ["ASPECTS", "Aspect", "Key", "Link", "Operator", "coverage"]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator with its aspects."""

    domain: str
    """``""`` for ai.onnx."""
    type: str
    links: Mapping[str, Link]
    """Aspect → its implementation, for known ones."""

    @property
    def missing(self) -> dict[str, str]:
        """Aspect → the consequence, for missing ones."""
        return {one.id: one.without for one in ASPECTS if one.id not in self.links}


def coverage() -> list[Operator]:
    """Return all operators that ONNX defines or that have any rule, by domain and name."""
    found: dict[Key, dict[str, Link]] = {key: {} for key in defined()}
    for aspect in sorted(ASPECTS, key=lambda one: not one.rows):
        for key, link in links(aspect.id).items():
            if aspect.rows or key in found:
                found.setdefault(key, {})[aspect.id] = link
    return [Operator(*key, held) for key, held in sorted(found.items())]
