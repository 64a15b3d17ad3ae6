"""Writes the nodes of a model, grouped into modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from py_autodoc.graph.ir.model import Node
from py_autodoc.to_torch.classes import Classes
from py_autodoc.to_torch.code import CodeValue, NotCovered, Statement, sequence, token
from py_autodoc.to_torch.dtypes import TORCH, WIDE, onnx_type
from py_autodoc.to_torch.finish_module import finish
from py_autodoc.to_torch.identifiers import identifier, unique
from py_autodoc.to_torch.module import Member, ModuleInstance, SourceScope
from py_autodoc.to_torch.module_groups import ModuleGroup, grouped, ordered
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule_of
from py_autodoc.to_torch.source import ModelFile
from py_autodoc.to_torch.value_writer import ValueWriter, received

_MALFORMED = (TypeError, ValueError, IndexError, KeyError, AttributeError)
MAX_NESTING = 12
"""Levels of nested subgraphs; Python allows 20 statically nested blocks."""


@dataclass(slots=True)
class RefusedOperator:
    """An operator that cannot be converted."""

    op_type: str
    domain: str
    nodes: list[str] = field(default_factory=list)
    reasons: dict[str, None] = field(default_factory=dict)


class Writer(ValueWriter):
    """Writes the modules of one model."""

    def __init__(self, source: ModelFile) -> None:
        super().__init__(source)
        self.refused: dict[tuple[str, str], RefusedOperator] = {}
        self.classes = Classes()
        self.inputs: dict[int, str] = {}
        """Graph input → argument of the root."""
        self._depth = 0

    def run(self) -> ModuleInstance:
        """Write the whole model; ``refused`` lists operators that could not be converted."""
        skip = frozenset(node.id for node in self.model.nodes if node.is_constant)
        for number_ in skip:
            self.fold_constant(self.model.nodes[number_])
        root = grouped(self.model, self.reads, skip)
        return self._group(root, "Model", None)[0]

    # modules

    def _group(
        self, group: ModuleGroup, name: str, parent: SourceScope | None
    ) -> tuple[ModuleInstance, list[int], dict[int, CodeValue]]:
        """Write a module and return it, the tensors it reads and the values it returns."""
        root = parent is None
        scope = SourceScope(ModuleInstance(name), root, parent)
        if root:
            self._open(scope)
        for item in ordered(group, self.model, self.reads):
            if isinstance(item, int):
                self.node(scope, self.model.nodes[item], ())
            elif self._is_layer(item):
                for number in sorted(item.nodes):
                    self.node(scope, self.model.nodes[number], _path(item))
            else:
                self._child(scope, item)
        returned = self._results(scope, group)
        code = []
        for tensor in returned:
            value = self.value(scope, tensor) if not root else self._result(scope, tensor)
            code.append(self._safe(scope, value) if root else self._handed(scope, value))
        handed = {tensor: scope.values[tensor] for tensor in returned if not root}
        names = [self.inputs[tensor] for tensor in self.model.graphs[0].inputs] if root else []
        instance = finish(scope, code, names, self.classes)
        return instance, scope.imported, handed

    def _open(self, scope: SourceScope) -> None:
        """Make the inputs of the model the arguments of the root."""
        used: set[str] = set()
        for tensor in self.model.graphs[0].inputs:
            stored = self.model.tensors[tensor]
            name = unique(identifier(stored.name, "input"), used)
            used.add(name)
            self.inputs[tensor] = name
            variable = scope.tokens.new(name)
            scope.arguments.append(variable)
            self._check_outside(tensor, "(input)")
            kind = "list" if stored.container == "sequence" else "tensor"
            scope.values[tensor] = CodeValue(kind, token(variable))

    def _is_layer(self, group: ModuleGroup) -> bool:
        """True for a module of one operator, or of a product and its bias."""
        nodes = sorted(group.nodes)
        if group.inner or len(nodes) > 2 or any(self.model.nodes[n].subgraphs for n in nodes):
            return False
        return len(nodes) == 1 or self.bias_of(self.model.nodes[nodes[0]]) == nodes[1]

    def _child(self, scope: SourceScope, group: ModuleGroup) -> None:
        """Write a module inside another, and its call."""
        path = _path(group)
        instance, inputs, returned = self._group(group, group.kind or _last_word(path), scope)
        if not returned:
            return
        arguments = [self._handed(scope, self.value(scope, tensor)) for tensor in inputs]
        member = scope.member(Member("child", path, "", child=instance))
        outputs = [scope.tokens.new(path[-1] if not path[-1].isdigit() else path[0]) for _ in returned]
        for (tensor, value), variable in zip(returned.items(), outputs, strict=True):
            scope.values[tensor] = received(value, token(variable))
        targets = ", ".join(map(token, outputs))
        stmt = Statement([(0, f"{targets} = {member}({', '.join(arguments)})")], tuple(outputs))
        tokens = [a[1:-1] for a in arguments if a[0] == "\x01" and a[1:-1].isdigit()]
        if len(outputs) == 1 and len(tokens) == len(arguments):
            stmt.call = (int(member[1:-1]), tuple(map(int, tokens)))
        scope.stmts.append(stmt)

    def _results(self, scope: SourceScope, group: ModuleGroup) -> list[int]:
        """Return the tensors that a module returns: read outside and not known as constants."""
        if scope.root:
            return list(self.model.graphs[0].outputs)
        inside = set(group.all_nodes())
        results = []
        for number_ in sorted(inside):
            for tensor in self.model.nodes[number_].outputs:
                if tensor < 0:
                    continue
                outside = any(reader not in inside for reader in self.readers.get(tensor, ()))
                if outside or self.model.tensors[tensor].is_output:
                    value = scope.values.get(tensor)
                    if value is not None and (value.fixed or value.kind == "constant"):
                        self.folded[tensor] = value
                    elif value is not None:
                        results.append(tensor)
        return results

    def _check_outside(self, tensor: int, purpose: str) -> None:
        """Refuse an input or output whose type torch does not have."""
        dtype = self.source.dtype(tensor)
        if dtype and (dtype not in TORCH or dtype in WIDE):
            self._refuse(purpose, "", self.model.tensors[tensor].name, f"element type {onnx_type(dtype)}")

    def _result(self, scope: SourceScope, tensor: int) -> CodeValue:
        self._check_outside(tensor, "(output)")
        try:
            return self.value(scope, tensor)
        except NotCovered as why:
            self._refuse("(output)", "", self.model.tensors[tensor].name, str(why))
            return CodeValue("tensor", "None")

    def _handed(self, scope: SourceScope, value: CodeValue) -> str:
        """Return code for a value as an argument or a result."""
        if value.kind != "host":
            return self._safe(scope, value)
        return str(value.items[0]) if value.scalar else sequence(value.items)

    def _safe(self, scope: SourceScope, value: CodeValue) -> str:
        try:
            return self.tensor(scope, value)
        except NotCovered as why:
            self._refuse("(constant)", "", "", str(why))
            return "None"

    # nodes

    def node(self, scope: SourceScope, node: Node, path: tuple[str, ...]) -> None:
        """Write one node."""
        if node.id in self.fused:
            return
        op = OpContext(self, scope, node, path)
        try:
            rule = rule_of(node)
            self._check_types(node)
            rule(op)
            missing = [t for t in node.outputs if t >= 0 and t not in scope.values]
            if missing:
                raise NotCovered(f"output {node.outputs.index(missing[0])}")
        except NotCovered as why:
            self._give_up(scope, node, str(why))
        except _MALFORMED as error:
            self._give_up(scope, node, f"invalid attributes or inputs ({type(error).__name__})")

    def _check_types(self, node: Node) -> None:
        """Raise NotCovered if torch does not have an element type of the node."""
        for tensor in (*node.inputs, *node.outputs):
            dtype = self.source.dtype(tensor) if tensor >= 0 else 0
            if dtype and dtype not in TORCH:
                raise NotCovered(f"element type {onnx_type(dtype)}")

    def _give_up(self, scope: SourceScope, node: Node, why: str) -> None:
        label = node.name or next((self.model.tensors[t].name for t in node.outputs if t >= 0), "")
        self._refuse(node.op_type, node.domain, label, why)
        for tensor in node.outputs:
            if tensor >= 0:
                scope.values[tensor] = CodeValue("tensor", scope.assign("None", "unknown"))

    def _refuse(self, op_type: str, domain: str, label: str, why: str) -> None:
        refusal = self.refused.setdefault((domain, op_type), RefusedOperator(op_type, domain))
        refusal.nodes.append(label)
        refusal.reasons.setdefault(why)

    def body(
        self, scope: SourceScope, graph: int, values: Mapping[int, CodeValue]
    ) -> tuple[list[Statement], list[CodeValue]]:
        """Write the subgraph of a control-flow node and return its statements and results.

        Raises: NotCovered: a result is not known, or subgraphs are nested too deeply.
        """
        if self._depth >= MAX_NESTING:
            raise NotCovered("subgraphs nested too deeply")
        body = self.model.graphs[graph]
        scope.values.update(values)
        outside, scope.stmts = scope.stmts, []
        self._depth += 1
        try:
            for number_ in body.nodes:
                node = self.model.nodes[number_]
                if node.op_type != "Constant" or node.domain:
                    self.node(scope, node, ())
            results = [self.value(scope, tensor) for tensor in body.outputs]
            return scope.stmts, results
        finally:
            self._depth -= 1
            scope.stmts = outside


def _path(group: ModuleGroup) -> tuple[str, ...]:
    path = tuple(component for level in group.parts for component in level.split(".") if component)
    return path[-6:] or ("block",)


def _last_word(path: tuple[str, ...]) -> str:
    return next((component for component in reversed(path) if not component.isdigit()), "Block")
