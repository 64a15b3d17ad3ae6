"""Number of executions of each graph in one inference.

If runs one branch: the one selected by a constant condition, otherwise the costlier one. Loop runs its body
as often as a constant trip count says, if the condition stays true; Scan runs it once per slice of its
inputs. Otherwise the body counts once ("per iteration"), with a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from py_autodoc import units
from py_autodoc.graph.ir.model import Diagnostic, Dim, Model, Node, TensorKind, TypeTable

UNBOUNDED_TRIPS = (1 << 31) - 1
"""Trip counts of at least this mean "until the condition fails" (exporters write INT32_MAX, INT64_MAX)."""

_COPIES = ("Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Flatten")
_MAX_CHAIN = 64
_MAX_OPEN = 20
"""Maximum number of diagnostics on branches."""


@dataclass(frozen=True, slots=True)
class ExecutionCount:
    """Executions of a graph: ``times`` counts a loop of unknown length as one iteration (``exact`` False)."""

    times: int = 1
    exact: bool = True
    counted: bool = True
    """False for a branch that the totals exclude."""


@dataclass(frozen=True, slots=True)
class Trips:
    """Iterations of a subgraph per execution of its node; ``count`` is None if unknown."""

    count: int | None
    code: str = ""
    message: str = ""


Weight = tuple[int, int, int]
"""(FLOPs, MACs, bytes), used to compare branches."""


def graph_runs(
    model: Model, types: TypeTable, weight_of: Callable[[int], Weight], facts: TripFacts | None = None
) -> tuple[list[ExecutionCount], list[Diagnostic]]:
    """Return the executions of every graph; ``weight_of(node)`` is the known cost of one execution of a node.

    Graph 0 runs once. A subgraph has a larger id than its parent graph.
    """
    facts = facts or TripFacts(model, types)
    runs = [ExecutionCount()] * len(model.graphs)
    if len(model.graphs) == 1:
        return runs, []
    trips: dict[int, Trips] = {}
    diagnostics: list[Diagnostic] = []
    for graph in model.graphs[1:]:
        node = model.nodes[graph.parent_node]
        trips[graph.id] = trip_facts = facts.trips(node, graph.id)
        if trip_facts.code:
            label = node.name or f"{node.op_type} {node.id}"
            diagnostics.append(
                Diagnostic(trip_facts.code, "warning", trip_facts.message, label, node=node.id)
            )
    branch_runs, totals = _branches(model, facts, trips, weight_of)
    diagnostics += _open_branches(model, facts, branch_runs, totals)
    for graph in model.graphs[1:]:
        node = model.nodes[graph.parent_node]
        outer, trip = runs[node.graph], trips[graph.id]
        times = outer.times * (1 if trip.count is None else trip.count)
        exact = outer.exact and trip.count is not None
        if _is_unbounded(times):
            times, exact = outer.times, False
            message = "Nested loops repeat this body too often; it counts once a pass of the outer loop."
            diagnostics.append(Diagnostic("unbounded-loop", "warning", message, graph.name, node=node.id))
        counted = outer.counted and branch_runs.get(node.id, graph.id) == graph.id
        runs[graph.id] = ExecutionCount(times, exact, counted)
    return runs, diagnostics


def _branches(
    model: Model, facts: TripFacts, trips: dict[int, Trips], weight_of: Callable[[int], Weight]
) -> tuple[dict[int, int], dict[int, Weight]]:
    """Return If node → graph of the counted branch, and graph → its sums; subgraphs before their parents."""
    total: dict[int, Weight] = {}
    branch_runs: dict[int, int] = {}
    for graph in reversed(model.graphs[1:]):
        flops = macs = traffic = 0
        for number in graph.nodes:
            a, b, c = weight_of(number)
            flops, macs, traffic = flops + a, macs + b, traffic + c
            node = model.nodes[number]
            if not node.subgraphs:
                continue
            if node.op_type == "If" and not node.domain:
                branch = branch_runs[number] = facts.branch(node, total)
                bodies = [] if branch < 0 else [branch]
            else:
                bodies = [body for _, body in node.subgraphs]
            for body in bodies:
                count = trips[body].count
                a, b, c = (x * (1 if count is None else count) for x in total[body])
                flops, macs, traffic = flops + a, macs + b, traffic + c
        total[graph.id] = (flops, macs, traffic)
    for number in model.graphs[0].nodes:
        node = model.nodes[number]
        if node.subgraphs and node.op_type == "If" and not node.domain:
            branch_runs[number] = facts.branch(node, total)
    return branch_runs, total


def _open_branches(
    model: Model, facts: TripFacts, branch_runs: dict[int, int], totals: dict[int, Weight]
) -> list[Diagnostic]:
    """Return a diagnostic per If that is decided at run time between branches of different cost."""
    found = []
    for number, counted in branch_runs.items():
        node = model.nodes[number]
        others = [body for _, body in node.subgraphs if body != counted]
        if counted < 0 or len(others) != 1:
            continue
        condition = facts.value(node.inputs[0]) if node.inputs else None
        if condition is not None:
            continue
        (flops, macs, _), (least_flops, least_macs, _) = totals[counted], totals[others[0]]
        if (flops, macs) == (least_flops, least_macs):
            continue
        if not all(isinstance(figure, int) for figure in (flops, macs, least_flops, least_macs)):
            continue  # expressions in symbols, which have no figure
        unit, most, least = "MACs", macs, least_macs
        if macs <= least_macs:
            unit, most, least = "FLOPs", flops, least_flops
        message = (
            f"Which branch runs is known at run time only; the costlier one counts, with {units.count(most)} "
            f"{unit}; the other has {units.count(least)}."
        )
        label = node.name or f"{node.op_type} {node.id}"
        found.append(Diagnostic("branch-unknown", "info", message, label, node=number))
    return found[:_MAX_OPEN]


class TripFacts:
    """Conditions and trip counts known from constants and shapes."""

    def __init__(self, model: Model, types: TypeTable) -> None:
        self.model = model
        self.types = types

    def value(self, tensor: int) -> Any | None:
        """Return the value of a known one-element tensor, through copies; None if unknown."""
        for _ in range(_MAX_CHAIN):
            if tensor < 0:
                return None
            array = self.types.values.get(tensor)
            if array is None:
                array = self.model.constants.get(tensor)
            if array is not None:
                return self.element(array, 0) if getattr(array, "size", 0) == 1 else None
            tensor = self._source(tensor)
        return None

    def element(self, array: Any, i: int) -> Any:
        """Return an element of a known value."""
        return array.reshape(-1)[i]

    def number(self, tensor: int) -> int | None:
        """Return the single integer of a known tensor."""
        value = self.value(tensor)
        return None if value is None else int(value)

    def size(self, dim: Dim) -> int | None:
        """Return a dimension as a number; None if unknown."""
        return dim if isinstance(dim, int) and dim >= 0 else None

    def _source(self, tensor: int) -> int:
        """Return the source of a copying operator, -1 if the producer computes."""
        producer = self.model.tensors[tensor].producer
        if producer < 0:
            return -1
        node = self.model.nodes[producer]
        return node.inputs[0] if node.op_type in _COPIES and not node.domain and node.inputs else -1

    def branch(self, node: Node, total: dict[int, Weight]) -> int:
        """Return the counted branch: the selected one, else the costlier; then_branch if equal."""
        bodies = dict(node.subgraphs)
        condition = self.value(node.inputs[0]) if node.inputs else None
        if condition is not None and len(bodies) == 2:
            selected = bodies.get("then_branch" if bool(condition) else "else_branch")
            if selected is not None:
                return selected
        order = sorted(bodies, key=lambda name: (name != "then_branch", name))
        return max((bodies[name] for name in order), key=lambda g: total.get(g, (0, 0, 0)), default=-1)

    def trips(self, node: Node, body: int) -> Trips:
        """Return the iterations of ``body`` in one execution of ``node``."""
        if node.domain == "" and node.op_type == "If":
            return Trips(1)
        if node.domain == "" and node.op_type == "Loop":
            return self._loop(node, body)
        if node.domain == "" and node.op_type == "Scan":
            return self._scan(node)
        if node.op_type == "FlexAttention":
            return Trips(1)
        if node.op_type == "SequenceMap":
            return Trips(
                None,
                "loop-trip-unknown",
                "The length of the sequence is unknown; its subgraph is counted once.",
            )
        message = f"The number of iterations of {node.op_type} is unknown; its subgraph is counted once."
        return Trips(None, "loop-trip-unknown", message)

    def _loop(self, node: Node, body: int) -> Trips:
        inputs = (*node.inputs, -1, -1)
        start = True if inputs[1] < 0 else self.value(inputs[1])
        if start is not None and not bool(start):
            return Trips(0)
        limit = self.number(inputs[0])
        if limit is not None and limit <= 0:
            return Trips(0)
        if limit is not None and _is_unbounded(limit + 1):
            message = (
                f"The trip count {limit} is not a real bound; the subgraph is counted once (per iteration)."
            )
            return Trips(None, "unbounded-loop", message)
        if limit is not None and start is not None and self._stays_true(body):
            return Trips(limit)
        why = "its trip count is not a constant" if limit is None else "a condition may end it early"
        return Trips(None, "loop-trip-unknown", f"Loop: {why}; the subgraph is counted once (per iteration).")

    def _stays_true(self, body: int) -> bool:
        """True if the condition output of the body is constant true or its own condition input."""
        graph = self.model.graphs[body]
        if not graph.outputs:
            return False
        tensor = graph.outputs[0]
        value = self.value(tensor)
        if value is not None:
            return bool(value)
        condition = graph.inputs[1] if len(graph.inputs) > 1 else -1
        for _ in range(_MAX_CHAIN):
            if tensor < 0:
                return False
            if tensor == condition and self.model.tensors[tensor].kind == TensorKind.OUTER:
                return True
            tensor = self._source(tensor)
        return False

    def _scan(self, node: Node) -> Trips:
        message = "Scan: its length is unknown; the subgraph is counted once (per iteration)."
        unknown = Trips(None, "loop-trip-unknown", message)
        slices = node.attributes.get("num_scan_inputs")
        if not isinstance(slices, int) or not 0 < slices <= len(node.inputs):
            return unknown
        shape = self.types.shapes[node.inputs[-slices]] if node.inputs[-slices] >= 0 else None
        if shape is None:
            return unknown
        if 0 < node.opset < 9:  # opset 8: (batch, sequence, …), each sequence runs separately
            sizes = list(shape[:2])
        else:
            axes = node.attributes.get("scan_input_axes") or [0]
            axis = axes[0] if isinstance(axes, list) and isinstance(axes[0], int) else 0
            if not -len(shape) <= axis < len(shape):
                return unknown
            sizes = [shape[axis]]
        count = 1
        for dim in sizes:
            size = self.size(dim)
            if size is None:
                return unknown
            count *= size
        return Trips(count)


def _is_unbounded(times: int) -> bool:
    """True for a count that means "until the condition fails"; symbols are real counts."""
    return isinstance(times, int) and times > UNBOUNDED_TRIPS
