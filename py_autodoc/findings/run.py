"""Runs the rules over a model."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from py_autodoc.findings.registry import SEVERITIES, Evidence, Finding, Rule, RuleContext, rules
from py_autodoc.findings.thresholds import RuleOptions, settings
from py_autodoc.graph.ir.model import Diagnostic

MAX_NODES = 100
"""Nodes listed of one finding; when there are more, its evidence has their number as ``nodes_total``."""
MAX_FINDINGS = 20
"""Findings listed of one rule, the worst first."""
MAX_LOOKED_AT = 10_000
"""Findings of one rule that are looked at."""
_RANK = {severity: rank for rank, severity in enumerate(reversed(SEVERITIES))}
log = logging.getLogger(__name__)


def findings(ctx: RuleContext, chosen: RuleOptions | None = None) -> tuple[list[Finding], list[Diagnostic]]:
    """What the rules find, the worst first and then by rule; and the rules that failed.

    ``chosen`` says which rules run and at which severity (default: all, at their own); the thresholds
    are those of ``ctx``. A rule that raises costs its own findings only (diagnostic ``rule-failed``).
    """
    chosen = settings() if chosen is None else chosen
    found: list[Finding] = []
    notes: list[Diagnostic] = []
    for rule in rules().values():
        if rule.id in chosen.disabled:
            continue
        try:
            own = _of_rule(rule, ctx, chosen)
        except MemoryError:
            raise
        except Exception as fault:
            log.debug("rule %s failed", rule.id, exc_info=True)
            message = f"The rule {rule.id} failed ({type(fault).__name__}); it found nothing."
            notes.append(Diagnostic("rule-failed", "warning", message, rule.id))
            continue
        found.extend(own[:MAX_FINDINGS])
        if len(own) > MAX_FINDINGS:
            message = f"The rule {rule.id} found more than {MAX_FINDINGS} items; the others are not included."
            notes.append(Diagnostic("findings-cut", "info", message, rule.id))
    found.sort(key=lambda item: (_RANK[item.severity], item.rule))
    return found, notes


def _of_rule(rule: Rule, ctx: RuleContext, chosen: RuleOptions) -> list[Finding]:
    """The findings of one rule, the worst first. Raises: ValueError when one breaks the contract."""
    results: Iterable[Finding] = rule.check(ctx)
    own = []
    for item in islice(results, MAX_LOOKED_AT):
        if item.severity not in rule.severities:
            raise ValueError(f"severity {item.severity} was not declared")
        severity = chosen.severities.get(rule.id, item.severity)
        if _RANK[severity] > _RANK[chosen.floor]:
            continue
        nodes = tuple(dict.fromkeys(item.nodes))
        evidence: dict[str, Evidence] = dict(item.evidence)
        if len(nodes) > MAX_NODES:
            evidence["nodes_total"] = len(nodes)
        own.append(replace(item, rule=rule.id, severity=severity, nodes=nodes[:MAX_NODES], evidence=evidence))
    return sorted(own, key=lambda item: _RANK[item.severity])
