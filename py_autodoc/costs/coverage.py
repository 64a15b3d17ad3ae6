"""Reasons for unknown costs: the nodes whose outputs have unknown sizes, most affected nodes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from py_autodoc.costs.engine import NodeCost, op_name
from py_autodoc.costs.registry import carries_macs
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Diagnostic, Model, TensorKind, TypeTable
from py_autodoc.graph.symbolic_dims.dim_arithmetic import symbols_of
from py_autodoc.units import plural

CODE = "partial-coverage"
MAX_REASONS = 3
"""Number of reasons in a diagnostic."""
_MAX_STEPS = 10_000


@dataclass(slots=True)
class Gap:
    """Nodes whose costs are unknown for one reason."""

    reason: str
    node: int
    """The first node that causes it, -1 for an input of the model."""
    roots: set[int] = field(default_factory=set)
    """All nodes that cause it."""
    nodes: int = 0
    macs: int = 0
    """Number of these nodes with MACs."""


def gaps(model: Model, types: TypeTable, costs: Sequence[NodeCost], sizes: TensorSizes) -> list[Gap]:
    """Return the reasons for unknown costs, most nodes with MACs first. Linear in the graph."""
    search = _GapSearch(model, types, costs, sizes)
    by_reason: dict[str, Gap] = {}
    for node, entry in zip(model.nodes, costs, strict=True):
        if entry.cost is not None or node.is_constant:
            continue
        root, reason = search.root(node.id)
        gap = by_reason.setdefault(reason, Gap(reason, root))
        gap.roots.add(root)
        gap.nodes += 1
        gap.macs += carries_macs(node.domain, node.op_type)
    return sorted(by_reason.values(), key=lambda gap: (-gap.macs, -gap.nodes, gap.node, gap.reason))


def uncovered(
    model: Model, types: TypeTable, costs: Sequence[NodeCost], sizes: TensorSizes
) -> list[Diagnostic]:
    """Return one diagnostic with the most frequent reasons if some costs are unknown, else none."""
    unknown = sum(
        entry.cost is None and (node.op_type != "Constant" or bool(node.domain))
        for node, entry in zip(model.nodes, costs, strict=True)
    )
    if not unknown:
        return []
    all_gaps = gaps(model, types, costs, sizes)
    macs = sum(gap.macs for gap in all_gaps)
    parts = [f"{plural(gap.nodes, 'node')}: {_describe(model, gap)}" for gap in all_gaps[:MAX_REASONS]]
    remaining = sum(gap.nodes for gap in all_gaps[MAX_REASONS:])
    if remaining:
        parts.append(f"{plural(remaining, 'node')}: other reasons")
    macs_text = f", {macs:,} of them with MACs" if macs else ""
    message = f"The costs of {plural(unknown, 'node')} are unknown{macs_text}. {'; '.join(parts)}."
    first = next((gap.node for gap in all_gaps if gap.node >= 0), -1)
    free = all(gap.node < 0 for gap in all_gaps)  # dimensions that the caller can set
    label = "" if first < 0 else model.nodes[first].name or op_name(model.nodes[first])
    return [Diagnostic(CODE, "info" if free else "warning", message, label, node=first)]


def _describe(model: Model, gap: Gap) -> str:
    """Return the reason with the node, or with the number of nodes."""
    if gap.node < 0:
        return gap.reason
    node = model.nodes[gap.node]
    name = f" “{node.name[:60]}”" if node.name else ""
    count_text = f", the first of {len(gap.roots):,}" if len(gap.roots) > 1 else ""
    return f"{op_name(node)}{name}{count_text}: {gap.reason}"


def _free(model: Model, types: TypeTable) -> frozenset[str]:
    """Return the symbols in the shapes of the inputs."""
    shapes = (types.shapes[t] or () for t in model.graphs[0].inputs)
    return frozenset(name for shape in shapes for d in shape if isinstance(d, str) for name in symbols_of(d))


class _GapSearch:
    """Searches from a node without a cost for the cause of its unknown sizes."""

    def __init__(self, model: Model, types: TypeTable, costs: Sequence[NodeCost], sizes: TensorSizes) -> None:
        self.model = model
        self.types = types
        self.free = _free(model, types)
        self.costs = costs
        self.sizes = sizes
        self.causes: dict[int, tuple[int, str]] = {}

    def root(self, start: int) -> tuple[int, str]:
        """Return (node, reason); the node is -1 for an input of the model."""
        path: list[int] = []
        seen: set[int] = set()
        number = start
        cause = (start, self.costs[start].reason)
        for _ in range(_MAX_STEPS):
            if number in self.causes:
                cause = self.causes[number]
                break
            path.append(number)
            seen.add(number)
            tensor = next((t for t in self.model.nodes[number].inputs if self._is_unsized(t)), -1)
            if tensor < 0:
                cause = self._own_reason(number)
                break
            producer = self.model.tensors[tensor].producer
            while producer < 0 and (outer := self._outside(tensor)) >= 0 and outer != tensor:
                tensor, producer = outer, self.model.tensors[outer].producer
            if producer < 0 or producer in seen:
                cause = self._input_reason(tensor, number)
                break
            number = producer
        for passed in path:
            self.causes[passed] = cause
        return cause

    def _is_unsized(self, tensor: int) -> bool:
        return tensor >= 0 and self.sizes.bytes[tensor] is None

    def _own_reason(self, number: int) -> tuple[int, str]:
        """Return the reason for a node whose inputs are known."""
        node, entry = self.model.nodes[number], self.costs[number]
        unsized = [t for t in node.outputs if self._is_unsized(t)]
        if unsized and all(self._is_expressed(t) for t in unsized):
            return -1, self._sizes_are_free()
        if entry.cost is None and not unsized:
            return number, entry.reason
        return number, f"output sizes of {op_name(node)} that the graph does not give"

    def _is_expressed(self, tensor: int) -> bool:
        """True for a shape expressed in the symbols of the inputs."""
        shape = self.types.shapes[tensor]
        if shape is None or not self.free:
            return False
        return all(
            isinstance(d, int) or (d is not None and self.free.issuperset(symbols_of(d))) for d in shape
        )

    def _sizes_are_free(self) -> str:
        names = sorted(self.free)
        more = f" and {len(names) - MAX_REASONS} more" if len(names) > MAX_REASONS else ""
        names_text = ", ".join(name[:40] for name in names[:MAX_REASONS])
        return f"dimensions have no value ({names_text}{more})" if names else "input shapes are unknown"

    def _outside(self, tensor: int) -> int:
        """Return the outer tensor for a subgraph input if it has no size either; -1 if none."""
        graph = self.model.graphs[self.model.tensors[tensor].graph]
        if graph.parent_node < 0:
            return -1
        return next((t for t in self.model.nodes[graph.parent_node].inputs if self._is_unsized(t)), -1)

    def _input_reason(self, tensor: int, number: int) -> tuple[int, str]:
        """Return the reason for a size without a producer: of an input, or of a value carried by a loop."""
        info = self.model.tensors[tensor]
        if info.kind == TensorKind.INPUT and info.graph == 0:
            return -1, self._sizes_are_free()
        return number, "sizes that change from one iteration to the next"
