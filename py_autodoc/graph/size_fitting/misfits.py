"""Checks whether inferred types show that a model cannot run, or that it may fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from py_autodoc.graph.ir.diagnostic_causes import contradicts_sizes
from py_autodoc.graph.ir.model import Diagnostic, Model, Node, TensorKind, TypeTable
from py_autodoc.graph.shapes.infer import SymbolicTypes
from py_autodoc.graph.shapes.shape_context import numeric

_MADE_EMPTY = frozenset({"ConstantOfShape", "Range", "NonZero", "Constant", "NonMaxSuppression", "Compress"})
_COUNTING = frozenset({"CumSum", "Range"})
_CARRYING = frozenset(
    {"Add", "Sub", "Mul", "Cast", "Where", "Identity", "Unsqueeze", "Squeeze", "Clip", "Expand"}
)
_MAX_STEPS = 16
"""Tensors searched upstream of the positions of a lookup."""
_FLOATS = frozenset({1, 10, 11, 16})


@dataclass(frozen=True, slots=True)
class MisfitReport:
    """Problems found, as node ids.

    ``hard``: the model cannot run; ``doubts``: a branch that may be taken cannot run, a tensor becomes empty,
    or a stored position table is too short. ``message`` is about the first hard problem.
    """

    hard: tuple[int, ...] = ()
    doubts: tuple[int, ...] = ()
    message: str = ""


class Misfits:
    """Checks types of one model, ignoring contradictions that do not depend on dimensions."""

    def __init__(self, model: Model, symbolic: SymbolicTypes | None) -> None:
        self.model = model
        always = symbolic.types.diagnostics if symbolic is not None else ()
        self.always = {d.node for d in always if contradicts_sizes(d)}
        self.counted = [
            counted for node in model.nodes if node.op_type == "Gather" and (counted := self._counted(node))
        ]

    def of(self, types: TypeTable) -> MisfitReport:
        """Return the problems for the dimensions of the inferred types."""
        faults: dict[int, list[int]] = {}
        doubts: list[int] = []
        first: dict[int, Diagnostic] = {}
        nodes = self.model.nodes
        for d in types.diagnostics:
            if contradicts_sizes(d) and d.node not in self.always:
                first.setdefault(d.node, d)
                native = d.severity == "info" and not nodes[d.node].graph
                (doubts if native else faults.setdefault(nodes[d.node].graph, [])).append(d.node)
        self._move_to_owner(faults, doubts, types)
        hard = sorted(faults.get(0, ()))
        doubts += self._empty_results(types) + self._out_of_range(types)
        message = first[hard[0]].message if hard else ""
        return MisfitReport(tuple(hard), tuple(dict.fromkeys(doubts)), message)

    def _move_to_owner(self, faults: dict[int, list[int]], doubts: list[int], types: TypeTable) -> None:
        """Move problems of a subgraph to its owner, unless another branch may be taken."""
        graphs, nodes = self.model.graphs, self.model.nodes
        while inner := [g for g in faults if g]:
            deepest = max(inner, key=self._depth)
            failing = faults.pop(deepest)
            parent = nodes[graphs[deepest].parent_node]
            above = faults.setdefault(parent.graph, [])
            if parent.op_type != "If":
                above += failing
                continue
            chosen = self._chosen(parent, types.values)
            alternative = next((g for _, g in parent.subgraphs if g != deepest), -1)
            if chosen >= 0:
                above += failing if chosen == deepest else []
            elif alternative in faults:
                above += failing + faults.pop(alternative)
            else:
                doubts += failing

    def _depth(self, graph: int) -> int:
        depth = 0
        while graph:
            graph, depth = self.model.nodes[self.model.graphs[graph].parent_node].graph, depth + 1
        return depth

    def _chosen(self, node: Node, values: Mapping[int, object]) -> int:
        """Return the branch that a known condition selects, -1 if unknown."""
        value = values.get(node.inputs[0]) if node.inputs else None
        if value is None or not numeric(value) or value.size != 1:  # type: ignore[attr-defined]
            return -1
        name = "then_branch" if bool(value.reshape(-1)[0]) else "else_branch"  # type: ignore[attr-defined]
        return next((graph for attribute, graph in node.subgraphs if attribute == name), -1)

    def _empty_results(self, types: TypeTable) -> list[int]:
        """Return nodes of the main graph that produce an empty tensor from a non-empty one."""
        shapes, dtypes, tensors = types.shapes, types.dtypes, self.model.tensors
        empty = {i for i, s in enumerate(shapes) if s is not None and 0 in s and dtypes[i] in _FLOATS}
        nodes = []
        for t in empty:
            node = tensors[t].producer
            if node < 0 or self.model.nodes[node].op_type in _MADE_EMPTY or self.model.nodes[node].graph:
                continue
            inputs = [i for i in self.model.nodes[node].inputs if i >= 0]
            has_data = any(tensors[i].kind in (TensorKind.ACTIVATION, TensorKind.INPUT) for i in inputs)
            if has_data and not any(i in empty for i in inputs):
                nodes.append(node)
        return sorted(nodes)

    def _counted(self, node: Node) -> tuple[int, int, int] | None:
        """Return (node, rows, tensor) of a lookup in a stored table by positions counted along a tensor."""
        tensors, nodes = self.model.tensors, self.model.nodes
        table = tensors[node.inputs[0]] if len(node.inputs) > 1 and node.inputs[0] >= 0 else None
        if table is None or not table.is_constant or not table.shape or node.attributes.get("axis", 0):
            return None
        rows, front = table.shape[0], [node.inputs[1]]
        for _ in range(_MAX_STEPS):
            t = front.pop() if front else -1
            if t < 0 or not isinstance(rows, int):
                return None
            producer = tensors[t].producer
            if producer < 0:
                continue
            if nodes[producer].op_type in _COUNTING:
                return node.id, rows, t
            if nodes[producer].op_type in _CARRYING:
                front += [i for i in nodes[producer].inputs if i >= 0]
        return None

    def _out_of_range(self, types: TypeTable) -> list[int]:
        """Return lookups of positions beyond the end of a table."""
        nodes = []
        for node, rows, t in self.counted:
            shape = types.shapes[t]
            if shape and isinstance(shape[-1], int) and shape[-1] > rows:
                nodes.append(node)
        return nodes
