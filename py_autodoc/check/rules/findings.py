"""Findings that a model may not have: those of a severity and worse."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from py_autodoc.check.outcomes import Outcome, Status, nodes_of
from py_autodoc.check.subject import Rule, Subject
from py_autodoc.findings.registry import SEVERITIES, Finding
from py_autodoc.findings.thresholds import find_rule
from py_autodoc.report.labels import cut


def finding_rule(severity: str, ignore: Sequence[str]) -> Rule:
    """The rule of ``fail-on``. Raises: OptionError for an unknown rule."""
    ignored = frozenset(find_rule(id).id for id in ignore)

    def check(subject: Subject) -> list[Outcome]:
        return finding_outcomes(subject, severity, ignored, None, "")

    return check


def finding_outcomes(
    subject: Subject, severity: str, ignored: Collection[str], nodes: Collection[int] | None, of: str
) -> list[Outcome]:
    """An outcome per finding, or one that passed. With ``nodes`` only findings about these count."""
    title = f"No finding of severity {severity}{' or worse' if severity != SEVERITIES[-1] else ''}{of}"
    found = []
    for one in subject.analysis.findings:
        if SEVERITIES.index(one.severity) < SEVERITIES.index(severity) or one.rule in ignored:
            continue
        if nodes is None or any(node in nodes for node in one.nodes):
            found.append(_outcome(subject, one, title))
    for note in subject.analysis.diagnostics:
        if note.code == "rule-failed" and note.where not in ignored:
            found.append(Outcome("fail-on", title, Status.UNKNOWN, note.message))
    return found or [Outcome("fail-on", title, Status.PASSED, f"{title}.")]


def _outcome(subject: Subject, one: Finding, title: str) -> Outcome:
    return Outcome(
        f"finding/{one.rule}", title, Status.FAILED, f"{one.severity}: {cut(one.message, 1000)}",
        cut(one.recommendation, 1000), nodes_of(subject.analysis.model, one.nodes), len(one.nodes),
    )  # fmt: skip
