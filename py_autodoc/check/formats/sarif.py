"""The result as SARIF 2.1.0 for code scanning: one result per failed rule, and per unchecked model.

Code scanning shows results only, so a model that could not be checked is a result, not a notification.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from py_autodoc.check.formats.names import relative, sentence, uri
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Fault, OutcomeNode, Status
from py_autodoc.render.terminal_text import printable
from py_autodoc.version import NAME, version

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Status.FAILED: "error", Status.UNKNOWN: "error", Status.WARNING: "warning"}
_UNCHECKED = "unchecked"
_ABOUT = {
    "max-params": "The model has more parameters than allowed.",
    "max-macs": "The model needs more MACs per inference than allowed.",
    "max-flops": "The model needs more FLOPs per inference than allowed.",
    "max-peak-memory": "Live activations need more memory than allowed.",
    "max-weights": "The weights are larger than allowed.",
    "max-size": "The file is larger than allowed.",
    "max-latency": "The estimated latency is longer than allowed.",
    "forbid-op": "The model uses a forbidden operator.",
    "allow-op": "The model uses an operator that is not allowed.",
    "fail-on": "A rule could not look for findings.",
    "require": "A requirement is not met.",
    "baseline": "The model is worse than its baseline.",
    "runnable": "The model cannot run.",
    "analysis": "The analysis of the model is incomplete.",
    _UNCHECKED: "The model could not be checked.",
}


def sarif(results: Sequence[CheckResult]) -> str:
    """Return the document as indented JSON."""
    entries = [
        _result(checked, outcome)
        for checked in results
        for outcome in checked.outcomes
        if outcome.status in _LEVELS
    ]
    entries += [_fault(checked, checked.fault) for checked in results if checked.fault is not None]
    rules = list(dict.fromkeys(entry["ruleId"] for entry in entries))
    for entry in entries:
        entry["ruleIndex"] = rules.index(entry["ruleId"])
    failures = [checked.fault for checked in results if checked.fault and checked.fault.exit_status > 1]
    run = {
        "tool": {"driver": {"name": NAME, "version": version(), "rules": list(map(_rule, rules))}},
        "invocations": [{"executionSuccessful": not failures}],
        "artifacts": [{"location": _location(checked.file)} for checked in _one_per_file(results)],
        "columnKind": "unicodeCodePoints",
        "results": entries,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(id: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": id, "shortDescription": {"text": _about(id)}}
    if id.startswith("finding/"):
        rule["help"] = {"text": f"For details, run: {NAME} rule {id.removeprefix('finding/')}"}
    return rule


def _about(id: str) -> str:
    if id.startswith("finding/"):
        from py_autodoc.findings.registry import rules

        rule = rules().get(id.removeprefix("finding/"))
        return _message(rule.title if rule else id)
    return _ABOUT[id]


def _result(checked: CheckResult, outcome: CheckOutcome) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _location(checked.file), "region": {"startLine": 1}}
    }
    if outcome.nodes:
        location["logicalLocations"] = list(map(_logical, outcome.nodes))
    return {
        "ruleId": outcome.rule,
        "level": _LEVELS[outcome.status],
        "kind": "fail",
        "message": {"text": _message(sentence(outcome))},
        "locations": [location],
        "partialFingerprints": {"autodocCheck/v1": _fingerprint(checked, outcome)},
    }


def _logical(node: OutcomeNode) -> dict[str, str]:
    name = printable(node.name)
    return {"name": name, "fullyQualifiedName": f"node {node.id}: {name}", "kind": "element"}


def _location(file: str) -> dict[str, str]:
    return {"uri": uri(file)}


def _fault(checked: CheckResult, fault: Fault) -> dict[str, Any]:
    text = f"{fault.message} {fault.hint}".strip()
    outcome = CheckOutcome(_UNCHECKED, fault.code, Status.FAILED, printable(text))
    return _result(checked, outcome)


def _message(text: str) -> str:
    """Escape text for SARIF, in which braces are placeholders and ``[a](b)`` is a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _fingerprint(checked: CheckResult, outcome: CheckOutcome) -> str:
    """Return a fingerprint that is stable while a rule fails on the same file, whatever the figures."""
    key = "\0".join((relative(checked.file), outcome.rule, outcome.title))
    return hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _one_per_file(results: Sequence[CheckResult]) -> list[CheckResult]:
    return list({uri(checked.file): checked for checked in results}.values())
