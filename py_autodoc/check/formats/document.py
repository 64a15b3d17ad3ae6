"""The result as JSON: every outcome, including those that passed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from py_autodoc.check.formats.names import plain, relative
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Fault
from py_autodoc.check.run import worst
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


def document(found: Sequence[CheckResult], pretty: bool = False) -> str:
    """Return the document as text."""
    made = CheckDocument(
        schema=SCHEMA,
        generator=generator(),
        passes=all(one.passes for one in found),
        status=worst(found),
        models=[
            CheckedModel(
                file=relative(one.file),
                passes=one.passes,
                status=one.exit_status,
                error=None if one.fault is None else _fault(one.fault),
                outcomes=list(map(_outcome, one.outcomes)),
            )
            for one in found
        ],
    )
    data = msgspec.json.encode(made)
    return (msgspec.json.format(data, indent=2) if pretty else data).decode() + "\n"


def _fault(one: Fault) -> CheckFault:
    return CheckFault(code=one.code, message=plain(one.message), hint=plain(one.hint))


def _outcome(one: CheckOutcome) -> CheckedOutcome:
    return CheckedOutcome(
        rule=one.rule,
        title=plain(one.title),
        status=one.status.value,
        message=plain(one.message),
        hint=plain(one.hint),
        nodes=[CheckedNode(id=node.id, name=plain(node.name), op=plain(node.op)) for node in one.nodes],
        node_count=one.node_count,
    )
