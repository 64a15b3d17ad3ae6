"""Rules for nodes that match a query.

Nodes whose match depends on something unknown may or may not belong to them: they make sums and bans unknown,
unless these fail without them.
"""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.check.amounts import amount
from py_autodoc.check.figures import CheckedFigure, unknown_costs
from py_autodoc.check.outcomes import CheckOutcome, Status, nodes_of
from py_autodoc.check.policy import PolicyWhere
from py_autodoc.check.rules.findings import finding_outcomes
from py_autodoc.check.rules.limits import limit_outcome
from py_autodoc.check.rules.operators import OperatorTest, operator_tests
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.errors import OptionError
from py_autodoc.report.node_query.query_parser import parse
from py_autodoc.units import plural

_COLUMNS = {"params": "params", "macs": "macs", "flops": "flops", "weights": "weight_bytes"}


@dataclass(frozen=True, slots=True)
class _ChosenNodes:
    """Nodes that match, and nodes that may match."""

    sure: frozenset[int]
    open: frozenset[int]


def where_rules(policy: PolicyWhere, ignore: tuple[str, ...]) -> list[Rule]:
    """Return the rules of one query.

    Raises: OptionError: the query is invalid or empty, or there are no rules for its nodes.
    """
    if parse(policy.query) is None:
        raise OptionError("query-no-term", "--where: the query is empty.", "Pass a query such as 'op=Conv'.")
    limits = {name: amount(value, f"--max-{name}") for name in _COLUMNS if (value := _amount(policy, name))}
    tests = operator_tests(policy.forbid, policy.allow)
    if not limits and not tests and policy.fail_on is None:
        raise OptionError(
            "where-without-rule",
            "--where selects nodes, but no rule applies to nodes.",
            "Add --forbid-op '*' to forbid these nodes, or --fail-on, --max-macs and the like.",
        )
    nodes_text = f" where {policy.query[:80].strip()}"

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        chosen = _ChosenNodes(
            frozenset(subject.matcher.find(policy.query)), frozenset(subject.matcher.undecided(policy.query))
        )
        outcomes = [
            limit_outcome(f"max-{n}", n, limit, _sum(subject, n, chosen), nodes_text)
            for n, limit in limits.items()
        ]
        for test in tests:
            outcomes += _operators(subject, test, chosen, nodes_text)
        if policy.fail_on is not None:
            all_nodes = chosen.sure | chosen.open  # a finding that may be about these nodes counts
            outcomes += finding_outcomes(subject, policy.fail_on, ignore, all_nodes, nodes_text)
        return outcomes

    return [check]


def _amount(policy: PolicyWhere, name: str) -> str | int | float | None:
    value: str | int | float | None = getattr(policy, name)
    return str(value) if value is not None else None


def _sum(subject: CheckSubject, figure: str, chosen: _ChosenNodes) -> CheckedFigure:
    """Return the total of a figure over the nodes."""
    column, nodes = subject.matcher.nodes.column(_COLUMNS[figure]), subject.analysis.model.nodes
    # A control-flow node has the sum of its subgraphs, whose nodes are matched individually.
    bodies = {node.id for node in nodes if node.subgraphs} if figure in ("macs", "flops") else set()
    values = [column[node] for node in chosen.sure - bodies]
    least = sum(value for value in values if value is not None)
    unknown = sum(value is None for value in values)
    # Nodes whose value is certainly 0 do not affect the sum.
    undecided = sum(column[node] != 0 for node in chosen.open - bodies)
    if subject.analysis.contradiction is not None:
        return CheckedFigure(None, reason=unknown_costs(subject.analysis))
    if not unknown and not undecided:
        return CheckedFigure(least)
    reasons = [f"{plural(unknown, 'node')} of unknown cost"] if unknown else []
    reasons += [f"the query is undecided for {plural(undecided, 'node')}"] if undecided else []
    more = unknown_costs(subject.analysis)
    return CheckedFigure(None, least, f"{' and '.join(reasons)} ({more})" if more else " and ".join(reasons))


def _operators(
    subject: CheckSubject, test: OperatorTest, chosen: _ChosenNodes, nodes_text: str
) -> list[CheckOutcome]:
    outcomes = test.outcomes(subject, chosen.sure, nodes_text)
    if any(outcome.status is Status.FAILED for outcome in outcomes):
        return outcomes
    nodes = subject.analysis.model.nodes
    undecided = [node for node in sorted(chosen.open) if test.hits(nodes[node])]
    if not undecided:
        return outcomes
    message = (
        f"The query is undecided for {plural(len(undecided), 'node')} of forbidden operators{nodes_text}."
    )
    return [
        CheckOutcome(
            test.name,
            outcomes[0].title,
            Status.UNKNOWN,
            message,
            "Set the dimensions with --bind or --batch-size.",
            nodes_of(subject.analysis.model, undecided),
            len(undecided),
        )
    ]
