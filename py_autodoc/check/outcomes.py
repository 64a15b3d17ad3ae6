"""Results of a check: at least one outcome per rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from py_autodoc.graph.ir.model import Model
from py_autodoc.report.encode.labels import node_label, shorten_middle

FAILS = 5
"""Exit status if a model does not pass."""
MAX_NODES = 20
"""Maximum number of nodes that an outcome lists by name."""


class Status(str, Enum):
    """Result of one rule."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The rule needs an unknown figure. The model does not pass."""
    WARNING = "warning"
    """The same under the policy ``unknown = "warn"``: the model passes."""


@dataclass(frozen=True, slots=True)
class OutcomeNode:
    """A node of the model. ``id`` is that of ``layers[].id`` in the report."""

    id: int
    name: str
    op: str


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Result of one rule on one model."""

    rule: str
    """Kebab-case id, such as ``max-macs`` or ``finding/large-embedding``."""
    title: str
    """The rule with its value, such as ``MACs ≤ 1 G``."""
    status: Status
    message: str = ""
    """One sentence with the figures. Names in it come from the model."""
    hint: str = ""
    """How to fix it; may be empty."""
    nodes: tuple[OutcomeNode, ...] = ()
    """At most ``MAX_NODES``."""
    node_count: int = 0
    """The total number."""

    @property
    def passes(self) -> bool:
        """True when the model passes this rule, with a warning or without."""
        return self.status in (Status.PASSED, Status.WARNING)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a model could not be checked."""

    code: str
    message: str
    hint: str = ""
    exit_status: int = 1


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One model with its outcomes, or the fault that prevented the check."""

    file: str
    """The path as given."""
    outcomes: tuple[CheckOutcome, ...] = ()
    fault: Fault | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def passes(self) -> bool:
        """True when all rules pass."""
        return self.fault is None and all(outcome.passes for outcome in self.outcomes)

    @property
    def exit_status(self) -> int:
        """Return 0, ``FAILS``, or the status of the fault."""
        if self.fault is not None:
            return self.fault.exit_status
        return 0 if self.passes else FAILS

    def of(self, *statuses: Status) -> list[CheckOutcome]:
        """Return the outcomes with one of these statuses."""
        return [outcome for outcome in self.outcomes if outcome.status in statuses]


def nodes_of(model: Model, ids: Iterable[int]) -> tuple[OutcomeNode, ...]:
    """Return the first nodes of a list, for an outcome."""
    nodes: list[OutcomeNode] = []
    for id in ids:
        if len(nodes) == MAX_NODES:
            break
        if 0 <= id < len(model.nodes):
            node = model.nodes[id]
            nodes.append(OutcomeNode(id, node_label(node), shorten_middle(node.op_type)))
    return tuple(nodes)


def named(nodes: Sequence[OutcomeNode], count: int, max_names: int = 5) -> str:
    """Return ``a, b and 3 more``; empty without nodes."""
    names = [shorten_middle(node.name, 80) for node in nodes[:max_names]]
    more = [f"{count - len(names):,} more"] if count > len(names) else []
    return " and ".join([", ".join(names), *more]) if names else ""
