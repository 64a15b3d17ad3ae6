"""Registry of the rules, each in its own file, and the context they read.

A rule is a function ``check(ctx) -> Iterable[Finding]`` registered under its id with ``@rule``. The
module's docstring is the rule's documentation (Markdown, its first line a one-sentence summary). It has
the sections ``What it finds``, ``Why it matters``, ``Example``, ``Instead`` and ``References``, each
heading on its own line followed by a colon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph, DataflowGraphs
from py_autodoc.blocks.results import Structure
from py_autodoc.costs.engine import NodeCost, Totals
from py_autodoc.costs.liveness import PeakMemory
from py_autodoc.costs.params import ParamTable
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Diagnostic, Model, TypeTable
from py_autodoc.graph.tensor_data.weight_stats import TensorFacts

SEVERITIES = ("info", "low", "medium", "high")
Number = int | float
Evidence = int | float | str | bool | None | list[str] | list[int]
RESERVED = frozenset({"enabled", "severity"})
"""Names that a threshold cannot have, since threshold files use them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A possible problem. The registry fills in ``rule``."""

    severity: str
    """``info``, ``low``, ``medium`` or ``high``."""
    message: str
    """One sentence with the numbers, without full paths."""
    recommendation: str
    nodes: tuple[int, ...] = ()
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """Named numbers, with the unit in the name (``weight_bytes``, ``macs``)."""
    rule: str = ""


@dataclass(frozen=True)
class RuleContext:
    """Everything that rules may read. Nothing here reads a file."""

    model: Model
    types: TypeTable
    sizes: TensorSizes
    costs: list[NodeCost]
    totals: Totals
    params: ParamTable
    peak: PeakMemory | None
    structure: Structure
    thresholds: Mapping[str, Mapping[str, Number]]
    """Rule id → threshold name → value; complete."""
    diagnostics: tuple[Diagnostic, ...] = ()
    weights: tuple[TensorFacts, ...] | None = None
    """None if weights were not read."""
    flows: DataflowGraphs | None = None
    """Dataflow graphs of the model, if other stages have built them."""
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Results shared between rules; see ``findings/weighted_layers.py``."""

    @cached_property
    def flow(self) -> DataflowGraph:
        """Dataflow of the main graph."""
        return (self.flows or DataflowGraphs(self.model, self.types)).of(0)

    @cached_property
    def kinds(self) -> dict[tuple[str, str], list[int]]:
        """(domain, operator) → its nodes in all graphs, including Constant nodes, by id."""
        flow, nodes = self.flow, self.model.nodes
        nodes_by_kind: dict[tuple[str, str], list[int]] = {}
        for numbers in flow.by_name.values():
            node = nodes[numbers[0]]
            nodes_by_kind[node.domain, node.op_type] = numbers.copy()
        for number in range(len(nodes)) if len(flow.order) < len(nodes) else ():
            if number not in flow.position:
                nodes_by_kind.setdefault((nodes[number].domain, nodes[number].op_type), []).append(number)
        for numbers in nodes_by_kind.values():
            numbers.sort()
        return nodes_by_kind

    def nodes_of(self, chosen: Callable[[tuple[str, str]], bool]) -> list[int]:
        """Return the nodes of all graphs whose (domain, operator) is accepted by ``chosen``, by id."""
        return sorted(n for kind, numbers in self.kinds.items() if chosen(kind) for n in numbers)


Check = Callable[[RuleContext], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """A registered rule. ``severities``: those it may report, most severe first; ``thresholds``: defaults."""

    id: str
    title: str
    severities: tuple[str, ...]
    check: Check
    thresholds: Mapping[str, Number]
    module: ModuleType


_RULES: dict[str, Rule] = {}


def rule(id: str, title: str, severities: Sequence[str], **thresholds: Number) -> Callable[[Check], Check]:
    """Register ``check`` under an id (kebab-case), with default thresholds.

    The type of a default is the type of the threshold: an int accepts only integers.

    Raises: ValueError for a duplicate id, an unknown severity or a reserved threshold name.
    """

    def add(check: Check) -> Check:
        if id in _RULES:
            raise ValueError(f"two rules are called {id}")
        if not severities or not set(severities) <= set(SEVERITIES) or RESERVED & thresholds.keys():
            raise ValueError(f"{id}: an unknown severity or a reserved name")
        worst_first = tuple(sorted(set(severities), key=SEVERITIES.index, reverse=True))
        _RULES[id] = Rule(id, title, worst_first, check, thresholds, import_module(check.__module__))
        return check

    return add


def rules() -> Mapping[str, Rule]:
    """Return every rule by id, sorted. Imports ``findings/rules`` on first use."""
    _import_rules()
    return dict(sorted(_RULES.items()))


@cache
def _import_rules() -> None:
    """Import the module of every rule. Listing the folder each time would cost more than most rules."""
    package = import_module("py_autodoc.findings.rules")
    for entry in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{entry.name}")
