"""Documentation of a rule, from the docstring of its module."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from py_autodoc.findings.registry import Number, Rule

SECTIONS = ("What it finds", "Why it matters", "Example", "Instead", "References")


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """User documentation of a rule. Texts are Markdown."""

    id: str
    title: str
    severities: tuple[str, ...]
    """Severities it may report, most severe first."""
    summary: str
    """One sentence."""
    sections: Mapping[str, str]
    """By heading, in the order of ``SECTIONS``."""
    thresholds: Mapping[str, Number]
    """Name → default."""


def document(rule: Rule) -> RuleDoc:
    """Return the documentation of a rule.

    Raises: ValueError if its docstring lacks a section or has them in another order.
    """
    lines = (inspect.getdoc(rule.module) or "").splitlines()
    starts = [
        (number, line[:-1]) for number, line in enumerate(lines) if line[:-1] in SECTIONS and line[-1] == ":"
    ]
    if tuple(name for _, name in starts) != SECTIONS:
        raise ValueError(
            f"the docstring of {rule.module.__name__} has not the sections {', '.join(SECTIONS)}"
        )
    ends = [number for number, _ in starts[1:]] + [len(lines)]
    sections = {
        name: "\n".join(lines[start + 1 : end]).strip()
        for (start, name), end in zip(starts, ends, strict=True)
    }
    summary = " ".join(line.strip() for line in lines[: starts[0][0]]).strip()
    return RuleDoc(rule.id, rule.title, rule.severities, summary, sections, dict(rule.thresholds))
