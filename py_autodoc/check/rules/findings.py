"""Rule on findings of a given severity and above."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from py_autodoc.check.outcomes import CheckOutcome, Status, nodes_of
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.findings.registry import SEVERITIES, Finding
from py_autodoc.findings.thresholds import find_rule
from py_autodoc.report.encode.labels import shorten_middle


def finding_rule(severity: str, ignore: Sequence[str]) -> Rule:
    """Return the rule for ``fail-on``. Raises: OptionError for an unknown rule."""
    ignored = frozenset(find_rule(id).id for id in ignore)

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        return finding_outcomes(subject, severity, ignored, None, "")

    return check


def finding_outcomes(
    subject: CheckSubject,
    severity: str,
    ignored: Collection[str],
    nodes: Collection[int] | None,
    nodes_text: str,
) -> list[CheckOutcome]:
    """Return an outcome per finding, or one that passed. With ``nodes``, only findings about these count."""
    title = (
        f"No finding of severity {severity}{' or worse' if severity != SEVERITIES[-1] else ''}{nodes_text}"
    )
    outcomes = []
    for finding in subject.analysis.findings:
        if SEVERITIES.index(finding.severity) < SEVERITIES.index(severity) or finding.rule in ignored:
            continue
        if nodes is None or any(node in nodes for node in finding.nodes):
            outcomes.append(_outcome(subject, finding, title))
    for note in subject.analysis.diagnostics:
        if note.code == "rule-failed" and note.where not in ignored:
            outcomes.append(CheckOutcome("fail-on", title, Status.UNKNOWN, note.message))
    return outcomes or [CheckOutcome("fail-on", title, Status.PASSED, f"{title}.")]


def _outcome(subject: CheckSubject, finding: Finding, title: str) -> CheckOutcome:
    return CheckOutcome(
        f"finding/{finding.rule}",
        title,
        Status.FAILED,
        f"{finding.severity}: {shorten_middle(finding.message, 1000)}",
        shorten_middle(finding.recommendation, 1000),
        nodes_of(subject.analysis.model, finding.nodes),
        len(finding.nodes),
    )
