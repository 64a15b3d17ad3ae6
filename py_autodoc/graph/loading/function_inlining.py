"""Local functions: replaces every call by the function's body.

Semantics follow the ONNX specification (IR.md, "Functions"): inputs and outputs by position, empty names
for missing optional ones, attribute references with the function's defaults, and separate names for each
body. Calls inside bodies and inside If, Loop and Scan graphs are also expanded, without recursion. Nothing
is expanded if the result would exceed a limit or never end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.loading.module_scopes import CALL_KEY, MAX_DEPTH, NAME_KEY, ScopeReader
from py_autodoc.graph.protobuf.file_counts import FunctionKey, body, expansion
from py_autodoc.limits import Limits

Functions = dict[FunctionKey, onnx.FunctionProto]


def function_key(message: onnx.NodeProto | onnx.FunctionProto) -> FunctionKey:
    """Return the key for a function definition or call."""
    name = message.op_type if isinstance(message, onnx.NodeProto) else message.name
    domain = message.domain
    return "" if domain == "ai.onnx" else domain, name, message.overload


def expand_functions(proto: onnx.ModelProto, limits: Limits, notes: DiagnosticCollector) -> int:
    """Expand all calls in place. Return the number of calls kept as one node (0: all expanded).

    ``proto.functions`` is empty afterwards in either case, so that later tools cannot expand them.
    Diagnostics: function-cycle, expansion-too-large, function-opset.
    """
    functions: Functions = {}
    for function in proto.functions:
        functions.setdefault(function_key(function), function)
    if not functions:
        return 0
    unexpanded = _refuse(proto, functions, limits, notes)
    if not unexpanded:
        _import_opsets(proto, functions, notes)
        _Expander(functions).run(proto.graph)
    del proto.functions[:]
    return unexpanded


def _refuse(proto: onnx.ModelProto, functions: Functions, limits: Limits, notes: DiagnosticCollector) -> int:
    """Return the number of calls that cannot be expanded: all calls of the main graph, or none."""
    bodies = {key: list(all_nodes(function.node)) for key, function in functions.items()}
    main = list(all_nodes(proto.graph.node))
    count = expansion(
        body(map(function_key, main), functions),
        {key: body(map(function_key, nodes), functions) for key, nodes in bodies.items()},
    )
    if count.nodes is None:
        said = "Functions call each other in a circle; calls are not expanded."
        notes.add("function-cycle", said, _cycle_text(count.cycle))
        return count.calls
    # Also those that nothing calls: runtimes look at all.
    calls = {key: body(map(function_key, nodes), functions) for key, nodes in bodies.items()}
    unused = expansion(body(list(functions), functions), calls)
    if unused.nodes is None:
        said = "Functions that nothing calls call each other in a circle."
        notes.add("function-cycle", said, _cycle_text(unused.cycle))
    size = expansion(
        body(map(function_key, main), functions),
        {
            key: (_own_bytes(nodes, functions), body(map(function_key, nodes), functions)[1])
            for key, nodes in bodies.items()
        },
    )
    if count.nodes > limits.expanded_nodes or (size.nodes or 0) > limits.structure_bytes:
        message = f"Expanding local functions gives {count.nodes:,} nodes; calls are not expanded."
        notes.add("expansion-too-large", message)
        return count.calls
    return 0


def _cycle_text(cycle: Iterable[FunctionKey]) -> str:
    return " → ".join("::".join(text for text in key if text) for key in cycle)


def _own_bytes(nodes: Iterable[onnx.NodeProto], functions: Functions) -> int:
    return sum(node.ByteSize() for node in nodes if function_key(node) not in functions)


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yield nodes including those of their subgraphs, without recursion."""
    pending = [iter(nodes)]
    while pending:
        for node in pending[-1]:
            yield node
            graphs = [graph for attribute in node.attribute for graph in nested(attribute)]
            if graphs:
                pending.extend(iter(graph.node) for graph in graphs)
                break
        else:
            pending.pop()


def _import_opsets(proto: onnx.ModelProto, functions: Functions, notes: DiagnosticCollector) -> None:
    """Add domains that only functions import, with a diagnostic for versions that differ from the model's."""
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    for function in functions.values():
        for entry in function.opset_import:
            version = versions.setdefault(entry.domain, entry.version)
            if version != entry.version:
                message = f"Imports {entry.domain or 'ai.onnx'} {entry.version}, the model {version}."
                notes.add("function-opset", message, function.name)
    present = {entry.domain for entry in proto.opset_import}
    for domain, version in versions.items():
        if domain not in present:
            proto.opset_import.append(onnx.OperatorSetIdProto(domain=domain, version=version))


@dataclass(frozen=True, slots=True)
class _FunctionCall:
    """A call: the prefix of its names, and its scope levels as JSON."""

    prefix: str
    path: str


class _Expander:
    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.defined = {key: _defined(function.node) for key, function in functions.items()}
        self.scopes = ScopeReader()
        self.calls: dict[str, int] = {}

    def run(self, graph: onnx.GraphProto) -> None:
        pending = [graph]
        while pending:
            graph = pending.pop()
            if any(function_key(node) in self.functions for node in graph.node):
                nodes = list(self._expanded(list(graph.node)))
                del graph.node[:]
                graph.node.extend(nodes)
            for node in graph.node:
                for attribute in node.attribute:
                    pending.extend(nested(attribute))

    def _expanded(self, nodes: list[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
        stack = [iter(nodes)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
            elif function_key(node) in self.functions:
                stack.append(iter(self._body(node)))
            else:
                yield node

    def _body(self, call: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Return the function's nodes for one call, with names and attributes of the call."""
        key = function_key(call)
        function = self.functions[key]
        context = self._call(call, function)
        names = {"": ""}
        for index, name in enumerate(function.input):
            names[name] = call.input[index] if index < len(call.input) else ""
        aliases: list[onnx.NodeProto] = []
        for name, outer in zip(function.output, call.output, strict=False):
            if not outer:
                continue
            if name in names or name not in self.defined[key]:  # an input passed on, or a second output
                source = names.get(name, context.prefix + name)
                aliases.append(onnx.NodeProto(op_type="Identity", input=[source], output=[outer]))
            else:
                names[name] = outer
        attributes = {attribute.name: attribute for attribute in function.attribute_proto}
        attributes.update({attribute.name: attribute for attribute in call.attribute})
        nodes = [self._instance(node, names, context, attributes) for node in function.node]
        for alias in aliases:
            alias.metadata_props.add(key=CALL_KEY, value=context.path)
        return nodes + aliases

    def _call(self, call: onnx.NodeProto, function: onnx.FunctionProto) -> _FunctionCall:
        """Name a call after its node, or after its function and a number. Names are unique."""
        base = call.name or function.name
        number = self.calls[base] = self.calls.get(base, -1) + 1
        label = base if call.name and not number else f"{base}_{number}"
        scope = self.scopes.of(call, call.name, call.output[0] if call.output else "")
        level = label.rpartition("/")[2] or label
        classes = scope.classes or ("",) * len(scope.names)
        levels = [*zip(scope.names, classes, scope.origins, strict=True), (level, function.name, "function")]
        return _FunctionCall(f"{label}/", json.dumps(levels[: MAX_DEPTH + 1]))

    def _instance(
        self,
        template: onnx.NodeProto,
        names: dict[str, str],
        context: _FunctionCall,
        attributes: dict[str, onnx.AttributeProto],
    ) -> onnx.NodeProto:
        node = onnx.NodeProto()
        node.CopyFrom(template)
        template_name = node.name
        _rename(node, names, context.prefix)
        if template_name:
            node.name = context.prefix + template_name
            node.metadata_props.add(key=NAME_KEY, value=template_name)
        node.metadata_props.add(key=CALL_KEY, value=context.path)
        _bind(node, attributes)
        pending = [(graph, names) for attribute in node.attribute for graph in nested(attribute)]
        while pending:
            graph, outer = pending.pop()
            inner_names = {**outer, **{name: context.prefix + name for name in _local(graph) if name}}
            _rename_graph(graph, inner_names, context.prefix)
            for inner in graph.node:
                _rename(inner, inner_names, context.prefix)
                if inner.name:
                    inner.name = context.prefix + inner.name
                _bind(inner, attributes)
                pending += ((g, inner_names) for attribute in inner.attribute for g in nested(attribute))
        return node


def _defined(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.output}


def _local(graph: onnx.GraphProto) -> set[str]:
    """Return the names that a subgraph defines."""
    names = _defined(graph.node)
    names.update(info.name for info in graph.input)
    names.update(tensor.name for tensor in graph.initializer)
    names.update(sparse.values.name for sparse in graph.sparse_initializer)
    return names


def _rename(node: onnx.NodeProto, names: dict[str, str], prefix: str) -> None:
    for field in (node.input, node.output):
        for index, name in enumerate(field):
            new = names.get(name)
            field[index] = prefix + name if new is None else new


def _rename_graph(graph: onnx.GraphProto, names: dict[str, str], prefix: str) -> None:
    for infos in (graph.input, graph.output, graph.value_info, graph.initializer):
        for info in infos:
            info.name = names.get(info.name, prefix + info.name)
    for sparse in graph.sparse_initializer:
        sparse.values.name = names.get(sparse.values.name, prefix + sparse.values.name)


def _bind(node: onnx.NodeProto, attributes: dict[str, onnx.AttributeProto]) -> None:
    """Replace references to the function's attributes by their values, or drop them."""
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return
    bound = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            value = attributes.get(attribute.ref_attr_name)
            if value is None:
                continue
            copy = onnx.AttributeProto()
            copy.CopyFrom(value)
            copy.name = attribute.name
            bound.append(copy)
        else:
            bound.append(attribute)
    del node.attribute[:]
    node.attribute.extend(bound)
