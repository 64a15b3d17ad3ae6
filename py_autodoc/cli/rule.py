"""``onnx-autodoc rule``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from py_autodoc.cli import stdout
from py_autodoc.cli.completion import rules

if TYPE_CHECKING:
    from py_autodoc.findings.docs import RuleDoc


@click.command("rule", short_help="Explain a rule, or list all rules.")
@click.argument("rule_id", metavar="[ID]", required=False, shell_complete=rules)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(rule_id: str | None, as_json: bool) -> None:
    """Explain the rule ID: what it finds, why it matters, what to do, and its thresholds.

    Without ID, list the rules with the severities they may report.
    """
    from py_autodoc.findings.docs import document
    from py_autodoc.findings.registry import rules as known
    from py_autodoc.findings.thresholds import find_rule

    if rule_id is None:
        docs = [document(rule) for rule in known().values()]
        _print([asdict(doc) for doc in docs] if as_json else _list(docs))
    else:
        doc = document(find_rule(rule_id))
        _print(asdict(doc) if as_json else _page(doc))


def _print(value: object) -> None:
    if isinstance(value, str):
        stdout.text(f"{value}\n")
    else:
        stdout.as_json(value)


def _list(docs: list[RuleDoc]) -> str:
    ids = max(len(doc.id) for doc in docs)
    levels = max(len(_levels(doc)) for doc in docs)
    return "\n".join(f"{doc.id:{ids}}  {_levels(doc):{levels}}  {doc.title}" for doc in docs)


def _levels(doc: RuleDoc) -> str:
    return ", ".join(doc.severities)


def _page(doc: RuleDoc) -> str:
    parts = [f"{doc.id}: {doc.title} ({_levels(doc)})", doc.summary]
    parts += [f"{name}\n{_indented(text)}" for name, text in doc.sections.items()]
    if doc.thresholds:
        rows = "\n".join(f"{name} = {value}" for name, value in doc.thresholds.items())
        parts.append(f"Thresholds\n{_indented(rows)}")
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())
