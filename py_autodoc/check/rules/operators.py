"""Rules on forbidden and allowed operators."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from py_autodoc.check.outcomes import CheckOutcome, Status, nodes_of
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.model import Node
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.units import plural

_NAME = re.compile(r"[^\s,&|()<>=~!\"]{1,200}")


def operator_rules(forbid: Sequence[str], allow: Sequence[str]) -> list[Rule]:
    """Return rules on the operators of the whole model. Raises: OptionError."""
    return [rule(None, "") for rule in operator_tests(forbid, allow)]


class OperatorTest:
    """``forbid-op`` or ``allow-op``; call it to get a rule for some nodes, or for all (None)."""

    def __init__(self, name: str, patterns: tuple[str, ...]) -> None:
        self.name = name
        self.patterns = patterns

    def __call__(self, nodes: Collection[int] | None, nodes_text: str) -> Rule:
        """Return the rule. ``nodes_text`` names the nodes, empty for the model."""

        def check(subject: CheckSubject) -> list[CheckOutcome]:
            return self.outcomes(subject, nodes, nodes_text)

        return check

    def outcomes(
        self, subject: CheckSubject, nodes: Collection[int] | None, nodes_text: str
    ) -> list[CheckOutcome]:
        """Return an outcome per forbidden operator that occurs, else one that passed."""
        model = subject.analysis.model
        nodes_by_operator: dict[str, list[int]] = {}
        for node in model.nodes:
            if (nodes is None or node.id in nodes) and self.hits(node):
                nodes_by_operator.setdefault(_full(node), []).append(node.id)
        listed = ", ".join(map(shorten_middle, self.patterns))
        if not nodes_by_operator:
            word = "No forbidden operator" if self.name == "forbid-op" else "All operators are allowed"
            return [
                CheckOutcome(
                    self.name, f"{self.name}: {listed}{nodes_text}", Status.PASSED, f"{word}{nodes_text}."
                )
            ]
        outcomes = []
        for op, ids in sorted(nodes_by_operator.items(), key=lambda item: (-len(item[1]), item[0])):
            reason = "is forbidden" if self.name == "forbid-op" else "is not among the allowed operators"
            message = (
                f"{shorten_middle(op)} {reason}; the model has {plural(len(ids), 'such node')}{nodes_text}."
            )
            outcomes.append(
                CheckOutcome(
                    self.name,
                    f"{self.name}: {shorten_middle(op)}{nodes_text}",
                    Status.FAILED,
                    message,
                    nodes=nodes_of(model, ids),
                    node_count=len(ids),
                )
            )
        return outcomes

    def hits(self, node: Node) -> bool:
        """Return whether a node violates the rule."""
        if self.name == "allow-op" and node.is_constant:
            return False
        named = any(matches(pattern, node.domain, node.op_type) for pattern in self.patterns)
        return named == (self.name == "forbid-op")


def operator_tests(forbid: Sequence[str], allow: Sequence[str]) -> list[OperatorTest]:
    """Return the tests for patterns. Raises: OptionError."""
    tests = (("forbid-op", forbid), ("allow-op", allow))
    return [OperatorTest(name, checked_patterns(patterns, name)) for name, patterns in tests if patterns]


def checked_patterns(texts: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the operators in lists such as ``Loop,com.microsoft::*``. Raises: OptionError."""
    patterns = tuple(dict.fromkeys(pattern.strip() for text in texts for pattern in text.split(",")))
    for pattern in patterns:
        if not _NAME.fullmatch(pattern):
            raise OptionError(
                "bad-operator",
                f"--{name}: {pattern[:60]!r} is not the name of an operator.",
                "Pass names such as Loop, com.microsoft::* or '*'.",
            )
    return patterns


def matches(pattern: str, domain: str, op: str) -> bool:
    """Match an operator: ``Conv`` and ``*Norm*`` mean ai.onnx, ``*`` alone and ``*::Conv`` any domain."""
    if pattern == "*":
        return True
    pattern_domain, separator, name = pattern.rpartition("::")
    if separator and pattern_domain == "ai.onnx":
        pattern_domain = ""
    return _like(pattern_domain, domain) and _like(name, op)


def _like(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern with ``*``, in linear time."""
    first, *middle = pattern.split("*")
    if not middle:
        return text == pattern
    last, index = middle.pop(), len(first)
    if not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        position = text.find(piece, index)
        if position < 0:
            return False
        index = position + len(piece)
    return index + len(last) <= len(text)


def _full(node: Node) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type
