"""The result as JSON: every outcome, including those that passed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from py_autodoc.check.formats.names import relative, utf8_text
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Fault
from py_autodoc.check.run import highest_status
from py_autodoc.report.builders.shared_parts import generator
from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.check/1.0"


class CheckedNode(Wire, frozen=True, kw_only=True):
    """A node that an outcome refers to."""

    id: int
    """Id as in ``layers[].id`` of the report."""
    name: str
    op: str


class CheckedOutcome(Wire, frozen=True, kw_only=True):
    """The result of one rule on one model."""

    rule: str
    title: str
    status: str
    """passed, failed, unknown (fails as well) or warning."""
    message: str
    hint: str
    nodes: list[CheckedNode]
    """The first 20."""
    node_count: int


class CheckFault(Wire, frozen=True, kw_only=True):
    """Why a model could not be checked."""

    code: str
    message: str
    hint: str


class CheckedModel(Wire, frozen=True, kw_only=True):
    """One model."""

    file: str
    """Path relative to the current folder, else the base name."""
    passes: bool
    status: int
    """Exit status of this model alone."""
    error: CheckFault | None
    outcomes: list[CheckedOutcome]


class CheckDocument(Wire, frozen=True, kw_only=True):
    """The result of ``check``."""

    schema: str
    generator: Generator
    passes: bool
    status: int
    """Exit status of the run."""
    models: list[CheckedModel]


def document(results: Sequence[CheckResult], pretty: bool = False) -> str:
    """Return the document as text."""
    content = CheckDocument(
        schema=SCHEMA,
        generator=generator(),
        passes=all(result.passes for result in results),
        status=highest_status(results),
        models=[
            CheckedModel(
                file=relative(result.file),
                passes=result.passes,
                status=result.exit_status,
                error=None if result.fault is None else _fault(result.fault),
                outcomes=list(map(_outcome, result.outcomes)),
            )
            for result in results
        ],
    )
    data = msgspec.json.encode(content)
    return (msgspec.json.format(data, indent=2) if pretty else data).decode() + "\n"


def _fault(fault: Fault) -> CheckFault:
    return CheckFault(code=fault.code, message=utf8_text(fault.message), hint=utf8_text(fault.hint))


def _outcome(outcome: CheckOutcome) -> CheckedOutcome:
    return CheckedOutcome(
        rule=outcome.rule,
        title=utf8_text(outcome.title),
        status=outcome.status.value,
        message=utf8_text(outcome.message),
        hint=utf8_text(outcome.hint),
        nodes=[
            CheckedNode(id=node.id, name=utf8_text(node.name), op=utf8_text(node.op))
            for node in outcome.nodes
        ],
        node_count=outcome.node_count,
    )
