"""Which operators ONNX Autodoc knows, and where: every aspect of ``graph.operators.aspects``, read out.

``coverage()`` has a row an operator: those that ONNX defines, and every other that some part has a rule for.
What a part knows of it is a link to a function or table; where it knows nothing, the row says what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Importing a package of rules registers them, and who answers for them.
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
    """One operator, aspect by aspect."""

    domain: str
    """``""`` for ai.onnx."""
    type: str
    links: Mapping[str, Link]
    """Aspect → where it is written down, for those that it has."""

    @property
    def missing(self) -> dict[str, str]:
        """Aspect → what holds without it, for those that it does not have."""
        return {one.id: one.without for one in ASPECTS if one.id not in self.links}


def coverage() -> list[Operator]:
    """Every operator that ONNX defines or a part of ONNX Autodoc knows, by domain and name."""
    found: dict[Key, dict[str, Link]] = {key: {} for key in defined()}
    for aspect in sorted(ASPECTS, key=lambda one: not one.rows):
        for key, link in links(aspect.id).items():
            if aspect.rows or key in found:
                found.setdefault(key, {})[aspect.id] = link
    return [Operator(*key, held) for key, held in sorted(found.items())]
