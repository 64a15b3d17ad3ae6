"""Costs of every node and of the whole model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from py_autodoc.costs import rules
from py_autodoc.costs.control_flow import graph_runs
from py_autodoc.costs.registry import BYTES_UNKNOWN, Cost, NodeView, UnknownSize, may_carry_macs, rule_for
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Diagnostic, Model, Node, TypeTable
from py_autodoc.graph.operators.compiled_parts import compiled_for, is_compiled
from py_autodoc.units import count

__all__ = [
    "CostTable",
    "NodeCost",
    "OpTotal",
    "Totals",
    "cost_table",
    "in_inference",
    "node_costs",
    "rules",
    "totals",
]

LOOPING = "the number of loop iterations is unknown; it is counted once"
"""Reason for an unknown cost per inference if the cost per execution is known."""
MAX_NUMBER = (1 << 127) - 1
"""Larger numbers are not real costs; only a malicious file reaches them."""


class NodeCost(msgspec.Struct, frozen=True, gc=False):
    """Cost of one execution of a node, and its number of executions.

    ``cost`` is None if MACs or FLOPs are unknown; bytes of ``None`` inside a cost are unknown.
    ``reason`` explains a missing number. ``repeat`` is None if the number of executions is
    unknown; ``times`` then counts each loop of unknown length as one iteration. ``counted`` is False in a
    branch of an If that the totals exclude.
    """

    cost: Cost | None
    reason: str = ""
    repeat: int | None = 1
    times: int = 1
    counted: bool = True

    @property
    def runs(self) -> int:
        """Executions per inference as counted in the totals: ``times``, 0 if not counted."""
        return self.times if self.counted else 0


@dataclass(frozen=True, slots=True)
class CostTable:
    """``nodes[i]`` is the cost of node ``i``; ``diagnostics`` list what is unknown."""

    nodes: list[NodeCost]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(slots=True)
class OpTotal:
    """Totals of one operator type: ``count`` nodes; MACs and FLOPs include repeats."""

    count: int = 0
    macs: int = 0
    flops: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the counted nodes, with their coverage. Constant nodes are excluded.

    A sum is None if none of its values is known, or if it exceeds ``MAX_NUMBER``.
    """

    macs: int | None
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    nodes_known: int
    nodes_total: int
    mac_nodes_known: int
    mac_nodes_total: int
    """Nodes that carry MACs or have no rule, so that they might."""
    by_op: dict[tuple[str, str], OpTotal] = field(default_factory=dict)
    """(domain, operator) → totals."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Reason for unknown costs → number of nodes."""
    unknown_ops: dict[str, int] = field(default_factory=dict)
    """Operators without a rule, ``domain::Op`` → nodes."""
    data_flops: int | None = 0
    """FLOPs that the data may add to ``flops`` at most; None without sums."""
    data_ops: dict[str, int] = field(default_factory=dict)
    """Operators whose work depends on the data, ``domain::Op`` → nodes."""

    @property
    def node_share(self) -> float:
        """Share of nodes with known costs, 1 for a model without nodes."""
        return self.nodes_known / self.nodes_total if self.nodes_total else 1.0

    @property
    def mac_share(self) -> float | None:
        """Share of MAC-carrying nodes with known MACs, None if there are none."""
        return self.mac_nodes_known / self.mac_nodes_total if self.mac_nodes_total else None


def in_inference(per_run: int | None, runs: int) -> int | None:
    """Multiply the cost of one execution by the number of runs; the only place that does so.

    None if the cost of one execution is unknown, even for a node that never runs.
    """
    return None if per_run is None else per_run * runs


def node_costs(model: Model, types: TypeTable) -> list[NodeCost]:
    """Return the cost of every node, indexed by node id. See ``cost_table`` for the diagnostics."""
    return cost_table(model, types).nodes


def cost_table(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> CostTable:
    """Return the cost of every node, and the diagnostics. Never raises on content."""
    run = CostRun(model, types, sizes or TensorSizes(model, types))
    shared: dict[tuple[Cost | None, str], tuple[Cost | None, str]] = {}
    # Layers repeat, so equal costs share one object.
    rows = [shared.setdefault(entry, entry) for entry in map(run.cost_of, model.nodes)]
    if len(model.graphs) == 1:
        entries = {entry: NodeCost(*entry) for entry in shared}
        return CostTable([entries[entry] for entry in rows], tuple(run.notes()))

    def weight(node: int) -> tuple[int, int, int]:
        cost = rows[node][0]
        if cost is None:
            return (0, 0, 0)
        return (cost.flops, cost.macs, (cost.read_bytes or 0) + (cost.write_bytes or 0))

    runs, diagnostics = graph_runs(model, types, weight)
    table = []
    for node, (cost, why) in zip(model.nodes, rows, strict=True):
        r = runs[node.graph]
        table.append(NodeCost(cost, why, r.times if r.exact else None, r.times, r.counted))
    return CostTable(table, (*run.notes(), *diagnostics))


class CostRun:
    """Applies the rules and records failures."""

    def __init__(self, model: Model, types: TypeTable, sizes: TensorSizes) -> None:
        self.model = model
        self.types = types
        self.sizes = sizes
        self.unknown: dict[str, list[int]] = {}
        self.failed: dict[tuple[str, str], int] = {}

    def cost_of(self, node: Node) -> tuple[Cost | None, str]:
        """Return (cost, reason) of a node."""
        rule = rule_for(node.domain, node.op_type)
        if rule is None:
            self.unknown.setdefault(op_name(node), []).append(node.id)
            if is_compiled(node):
                return None, f"compiled for {compiled_for(node)}; its operators are not in the graph"
            return None, f"no cost rule for {op_name(node)}"
        error = self.types.contradiction
        if error is not None and node.id in error.reached:
            return None, error.reason
        try:
            cost = rule(self.view(node))
        except UnknownSize as error:
            return None, str(error)
        except (ArithmeticError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
            self.failed.setdefault((op_name(node), f"{type(error).__name__}: {error}"), node.id)
            return None, f"the inputs or attributes do not fit {node.op_type}"
        return self._filled(node, cost)

    def view(self, node: Node) -> NodeView:
        """Return the view of a node for its rule."""
        return NodeView(self.model, self.types, node, self.sizes)

    def real(self, cost: Cost, read: int, write: int) -> bool:
        """False for numbers that no real model reaches."""
        return 0 <= cost.macs <= cost.flops <= MAX_NUMBER and max(read, write) <= MAX_NUMBER

    def _filled(self, node: Node, cost: Cost) -> tuple[Cost | None, str]:
        """Return the cost with its bytes; rejected if a number is negative or exceeds ``MAX_NUMBER``."""
        read, write = cost.read_bytes, cost.write_bytes
        if read is None:
            read = self.traffic(node.inputs)
        if write is None:
            write = self.traffic(node.outputs)
        if not self.real(cost, read, write):
            return None, "the number is too large to be a real cost"
        blind_read, blind_write = _is_unknown(read), _is_unknown(write)
        known_read, known_write = None if blind_read else read, None if blind_write else write
        why = self.unsized(node, blind_read) if blind_read or blind_write else ""
        if isinstance(cost.data_flops, int) and cost.data_flops:
            why += ("; " if why else "") + f"the data may add {count(cost.data_flops)} FLOPs at most"
        return Cost(cost.macs, cost.flops, known_read, known_write, cost.data_flops), why

    def traffic(self, tensors: Sequence[int]) -> int:
        """Return the bytes of the tensors, each counted once; ``BYTES_UNKNOWN`` if one is unknown."""
        table = self.sizes.bytes
        total = 0
        for tensor in tensors if len(tensors) < 2 else dict.fromkeys(tensors):
            if tensor < 0:
                continue
            size = table[tensor]
            if size is None:
                return BYTES_UNKNOWN
            total += size
        return total

    def unsized(self, node: Node, reading: bool) -> str:
        """Return the reason for unknown traffic: the first tensor without a size."""
        for role, tensors in (("input", node.inputs), ("output", node.outputs)):
            for index, tensor in enumerate(tensors):
                if tensor < 0 or self.sizes.bytes[tensor] is not None:
                    continue
                if self.sizes.numel[tensor] is not None:
                    kind = "text" if self.types.dtypes[tensor] == 8 else "of unknown element type"
                    return f"bytes: {role} {index} is {kind}"
                container = self.model.tensors[tensor].container
                if container not in ("tensor", "sparse"):
                    return f"bytes: {role} {index} is a {container}"
                return f"bytes: the shape of {role} {index} is unknown"
        return f"bytes: the {'inputs' if reading else 'outputs'} used depend on the data"

    def notes(self) -> list[Diagnostic]:
        """Return one diagnostic per unknown operator and distinct failure."""
        messages = []
        for name, nodes in self.unknown.items():
            count_text = f"{len(nodes)} nodes" if len(nodes) > 1 else "1 node"
            first = self.model.nodes[nodes[0]]
            what = "is not an operator we know"
            if is_compiled(first):
                what = f"holds operators and weights compiled for {compiled_for(first)}"
            message = f"{name} {what}; the cost of {count_text} is unknown."
            messages.append(Diagnostic("unknown-op", "warning", message, first.name or name, node=first.id))
        for (name, error), number in self.failed.items():
            message = f"The inputs or attributes do not fit the operator {name} ({error[:120]})."
            label = self.model.nodes[number].name or name
            messages.append(Diagnostic("cost-rule-failed", "warning", message, label, node=number))
        return messages


def _is_unknown(traffic: int) -> bool:
    """True for the marker of unknown traffic; a symbolic size is not one."""
    return isinstance(traffic, int) and traffic == BYTES_UNKNOWN


def op_name(node: Node) -> str:
    """``Conv``, or ``com.microsoft::FusedConv`` outside ai.onnx."""
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def totals(model: Model, costs: Sequence[NodeCost], runnable: bool = True) -> Totals:
    """Sum over the nodes that run. Coverage includes every node of all graphs except Constants.

    A model that is not ``runnable`` has no sums: a partial sum up to the contradiction is meaningless.
    """
    sums = {name: _CostSum() for name in ("macs", "flops", "read", "write", "data")}
    data_ops: Counter[str] = Counter()
    by_op: dict[tuple[str, str], OpTotal] = {}
    reasons: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    known_nodes = total = mac_known = mac_total = 0
    for node, entry in zip(model.nodes, costs, strict=True):
        if node.is_constant:
            continue
        total += 1
        key = (node.domain, node.op_type)
        op = by_op.get(key)
        if op is None:
            op = by_op[key] = OpTotal()
        op.count += 1
        mac = may_carry_macs(*key)
        mac_total += mac
        cost = entry.cost
        if cost is None:
            reasons[entry.reason] += 1
            if rule_for(*key) is None:
                unknown[op_name(node)] += 1
            continue
        if entry.counted and entry.repeat is None:
            reasons[LOOPING] += 1
        else:
            known_nodes += 1
            mac_known += mac
        if not entry.counted:
            continue
        macs, flops = in_inference(cost.macs, entry.runs), in_inference(cost.flops, entry.runs)
        op.macs += macs or 0
        op.flops += flops or 0
        sums["macs"].add(macs)
        sums["flops"].add(flops)
        sums["read"].add(in_inference(cost.read_bytes, entry.runs))
        sums["write"].add(in_inference(cost.write_bytes, entry.runs))
        if cost.data_flops:
            sums["data"].add(in_inference(cost.data_flops, entry.runs))
            data_ops[op_name(node)] += 1
    for op in by_op.values():
        op.macs, op.flops = min(op.macs, MAX_NUMBER), min(op.flops, MAX_NUMBER)
    nodes = {**dict.fromkeys(sums, total), "data": 0}
    result = {name: s.result(nodes[name]) if runnable else None for name, s in sums.items()}
    return Totals(
        result["macs"],
        result["flops"],
        result["read"],
        result["write"],
        known_nodes,
        total,
        mac_known,
        mac_total,
        by_op,
        dict(reasons),
        dict(unknown),
        result["data"],
        dict(data_ops),
    )


class _CostSum:
    """A sum that records whether anything was added."""

    __slots__ = ("parts", "value")

    def __init__(self) -> None:
        self.value = 0
        self.parts = 0

    def add(self, number: int | None) -> None:
        if number is not None:
            self.value += number
            self.parts += 1

    def result(self, nodes: int) -> int | None:
        """Return the sum; None if there are nodes but none is known, or if it exceeds ``MAX_NUMBER``."""
        if (nodes and not self.parts) or self.value > MAX_NUMBER:
            return None
        return self.value
