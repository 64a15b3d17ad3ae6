"""The findings as lines: all of them with their nodes, or counts by severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import RiskSignal
from py_autodoc.units import plural

SEVERITIES = ("high", "medium", "low", "info")
LIST_HINT = "--findings lists them"


class FindingLine(NamedTuple):
    """One finding; ``nodes`` names its nodes, empty for findings about the model."""

    severity: str
    rule: str
    text: str
    advice: str
    nodes: str


def finding_lines(report: Report) -> Iterator[FindingLine]:
    """Yield all findings of the report, most severe first."""
    names = {layer.id: layer.name for layer in report.layers}
    for signal in report.risk_signals:
        yield FindingLine(
            signal.severity, signal.id, signal.description, signal.recommendation, _nodes(signal, names)
        )


def _nodes(signal: RiskSignal, names: dict[int, str]) -> str:
    """Return all names in the report, and the number of further nodes."""
    total = signal.evidence.get("nodes_total")
    more = total - len(signal.nodes) if isinstance(total, int) else 0
    labels = [names.get(node) or f"node {node}" for node in signal.nodes]
    return ", ".join(labels) + (f" and {more:,} more" if more > 0 and labels else "")


def finding_counts(severities: Iterable[str]) -> str:
    """Return ``1 high, 3 medium``, most severe first; empty without any."""
    counts = dict.fromkeys(SEVERITIES, 0)
    for severity in severities:
        counts[severity] = counts.get(severity, 0) + 1
    return ", ".join(f"{number:,} {severity}" for severity, number in counts.items() if number)


def findings_text(report: Report) -> Iterator[str]:
    """Yield the findings for a file or pipe: one line each, and one for its nodes."""
    yield f"{report.model.name}: {plural(len(report.risk_signals), 'finding')}"
    for line in finding_lines(report):
        yield f"{line.severity}  {line.text}  {line.advice}  [{line.rule}]"
        if line.nodes:
            yield f"  nodes: {line.nodes}"
