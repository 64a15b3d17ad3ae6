"""Runs the rules on a model."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from py_autodoc.findings.registry import SEVERITIES, Evidence, Finding, Rule, RuleContext, rules
from py_autodoc.findings.thresholds import RuleOptions, settings
from py_autodoc.graph.ir.model import Diagnostic

MAX_NODES = 100
"""Maximum nodes listed per finding; if there are more, its evidence has the number as ``nodes_total``."""
MAX_FINDINGS = 20
"""Maximum findings listed per rule, most severe first."""
MAX_CHECKED = 10_000
"""Maximum findings examined per rule."""
_RANK = {severity: rank for rank, severity in enumerate(reversed(SEVERITIES))}
log = logging.getLogger(__name__)


def findings(ctx: RuleContext, chosen: RuleOptions | None = None) -> tuple[list[Finding], list[Diagnostic]]:
    """Return the findings, most severe first and then by rule, and diagnostics for rules that failed.

    ``chosen`` selects the rules and overrides their severities (default: all, unchanged); thresholds are
    those of ``ctx``. A rule that raises loses only its own findings (diagnostic ``rule-failed``).
    """
    chosen = settings() if chosen is None else chosen
    collected: list[Finding] = []
    notes: list[Diagnostic] = []
    for rule in rules().values():
        if rule.id in chosen.disabled:
            continue
        try:
            rule_findings = _of_rule(rule, ctx, chosen)
        except MemoryError:
            raise
        except Exception as error:
            log.debug("rule %s failed", rule.id, exc_info=True)
            message = f"The rule {rule.id} failed ({type(error).__name__}); it found nothing."
            notes.append(Diagnostic("rule-failed", "warning", message, rule.id))
            continue
        collected.extend(rule_findings[:MAX_FINDINGS])
        if len(rule_findings) > MAX_FINDINGS:
            message = f"The rule {rule.id} found more than {MAX_FINDINGS} items; the others are not included."
            notes.append(Diagnostic("findings-cut", "info", message, rule.id))
    collected.sort(key=lambda item: (_RANK[item.severity], item.rule))
    return collected, notes


def _of_rule(rule: Rule, ctx: RuleContext, chosen: RuleOptions) -> list[Finding]:
    """Return the findings of one rule, most severe first. Raises: ValueError if one is invalid."""
    results: Iterable[Finding] = rule.check(ctx)
    accepted = []
    for item in islice(results, MAX_CHECKED):
        if item.severity not in rule.severities:
            raise ValueError(f"severity {item.severity} was not declared")
        severity = chosen.severities.get(rule.id, item.severity)
        if _RANK[severity] > _RANK[chosen.floor]:
            continue
        nodes = tuple(dict.fromkeys(item.nodes))
        evidence: dict[str, Evidence] = dict(item.evidence)
        if len(nodes) > MAX_NODES:
            evidence["nodes_total"] = len(nodes)
        accepted.append(
            replace(item, rule=rule.id, severity=severity, nodes=nodes[:MAX_NODES], evidence=evidence)
        )
    return sorted(accepted, key=lambda item: _RANK[item.severity])
