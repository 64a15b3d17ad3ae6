"""Registry of the conversion rules of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.to_torch.code import NotCovered

if TYPE_CHECKING:
    from py_autodoc.graph.ir.model import Node
    from py_autodoc.to_torch.op import OpContext

Rule = Callable[["OpContext"], None]
"""Converts one node; raises NotCovered with the reason if it cannot do so exactly."""
_RULES: dict[tuple[str, str], Rule] = {}
_FAMILIES = (
    "elementwise", "activations", "shapes", "slicing", "indexing", "reducing", "linear", "convolution",
    "pooling", "normalization", "resizing", "recurrent", "quantized", "contrib", "control", "sequences",
    "creation", "attention",
)  # fmt: skip


def rule(*names: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operators of a domain."""

    def register(function: Rule) -> Rule:
        for name in names:
            _RULES[domain, name] = function
        return function

    return register


@cache
def rules() -> dict[tuple[str, str], Rule]:
    """Return (domain, operator) → rule."""
    for family in _FAMILIES:
        import_module(f"py_autodoc.to_torch.ops.{family}")
    return _RULES


@answers("torch")
def _links() -> Mapping[Key, Link]:
    return {key: link_to(rule) for key, rule in rules().items()}


def rule_of(node: Node) -> Rule:
    """Return the rule for a node. Raises: NotCovered if there is none."""
    rule = rules().get((node.domain, node.op_type))
    if rule is None:
        raise NotCovered("no rule for this operator")
    return rule
