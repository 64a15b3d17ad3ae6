"""Restores node tags dropped by a tool, from the table in the model's metadata.

Each node gets its tag from the first match: an output of it is in the table (if its name is in the table with
another module, a tool merged the two, and both are kept as for a node merged by an exporter); it still has
a tag; its name is in the table; an output, or its name, extends one in the table (``add_quantized``); its
``doc_string`` has a tag; it produces or reads a tensor named after a parameter (``encoder.weight_scale``);
its neighbours. Every node gets a tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx_ir as ir

from py_autodoc.graph.ir.exporter_records import ModuleRecord, ModuleTable
from py_autodoc.tags.model import CONTEXT, FUSED, PARAM, ROOT, NodeTag, Tags, walk
from py_autodoc.tags.module_inference import infer_modules
from py_autodoc.tags.naming import Namer
from py_autodoc.tags.node_tag import from_metadata, from_record, from_text
from py_autodoc.tags.paths import common

SEPARATORS = "_:/.-"
"""Separators between a name and a suffix added by a tool."""
_MAX_NAME = 512
_MAX_CUTS = 24
"""Maximum separators examined from the end of a name."""


def namer_of(table: ModuleTable) -> Namer:
    """Return the namer for a table."""
    namer = Namer({module.path: module.kind for module in table.modules}, table.aliases, table.keep)
    # The table lists only modules with nodes; its tags already resolve collisions with other modules.
    tags = {module.path: module.tag for module in table.modules if module.tag}
    if "" in tags:
        namer.tags = tags
    return namer


class _KnownModules:
    """The table indexed by names."""

    def __init__(self, table: ModuleTable) -> None:
        self.values: dict[str, ModuleRecord] = {}
        self.names: dict[str, ModuleRecord] = {}
        for node in table.nodes:
            record = table.records[node.record]
            for output in node.outputs:
                if output:
                    self.values.setdefault(output, record)
            if node.name:
                self.names.setdefault(node.name, record)

    def exact(self, node: ir.Node) -> ModuleRecord | None:
        """Look up the outputs of a node."""
        return next((self.values[v.name] for v in node.outputs if v.name in self.values), None)

    def by_prefix(self, node: ir.Node) -> ModuleRecord | None:
        """Look up the longest known prefix of an output's name, or of the node's own name."""
        outputs = [value.name for value in node.outputs if value.name]
        record = _longest(outputs, self.values)
        if record is None and node.name:
            names = [node.name]
            record = _longest(names, self.names) or _longest(names, self.values)
        if record is None and node.doc_string:  # some tools store the name of the replaced node
            record = _longest([node.doc_string], self.values)
        return record


def _longest(names: Iterable[str], records: Mapping[str, ModuleRecord]) -> ModuleRecord | None:
    best: tuple[int, ModuleRecord] | None = None
    for name in names:
        cut = _beginning(name, records)
        if cut is not None and (best is None or len(cut) > best[0]):
            best = len(cut), records[cut]
    return best[1] if best else None


def _beginning(name: str, keys: Mapping[str, object]) -> str | None:
    """Return the longest prefix of ``name``, up to a separator, that is a key."""
    name = name[:_MAX_NAME]
    cuts = [end for end in range(1, len(name)) if name[end] in SEPARATORS][-_MAX_CUTS:]
    return next((name[:end] for end in reversed(cuts) if name[:end] in keys), None)


class _Restoration:
    def __init__(self, table: ModuleTable) -> None:
        self.namer = namer_of(table)
        self.modules = _KnownModules(table)
        self.paths = {tag: path for path, tag in self.namer.tags.items()}

    def of(self, node: ir.Node) -> NodeTag | None:
        """Return the tag of a node from its own names; None if only its neighbours can determine it."""
        record = self.modules.exact(node)
        named = self.modules.names.get(node.name or "")
        if record is not None and named is not None and record.scope != named.scope:
            return self._merged(node, record, named)
        if record is not None:
            return from_record(record)
        direct = from_metadata(node)
        if direct is None and named is not None:
            direct = from_record(named)
        if direct is not None:
            return direct
        similar, text = self.modules.by_prefix(node), from_text(node, self.paths)
        if similar is not None and (text is None or text.tag == similar.tag):
            return NodeTag(
                similar.scope, similar.tag, CONTEXT, similar.scopes, dict(similar.call), similar.stack
            )
        if text is not None:
            return text
        module = self._parameter(node)
        return None if module is None else NodeTag(module, self.namer.tag(module), PARAM)

    def _merged(self, node: ir.Node, by_output: ModuleRecord, by_name: ModuleRecord) -> NodeTag:
        """Tag a node that has the name of one original and the output of another.

        The owner of its weight comes first.
        """
        owners = {self._module(value) for value in node.inputs if value is not None}
        first = by_output if by_output.scope in owners and by_name.scope not in owners else by_name
        origins = {*(by_output.scopes or (by_output.scope,)), *(by_name.scopes or (by_name.scope,))}
        tag = from_record(first)
        return NodeTag(tag.scope, tag.tag, FUSED, tuple(sorted(origins)), tag.call, tag.stack)

    def _parameter(self, node: ir.Node) -> str | None:
        """Return the module after which the inputs or outputs of a node are named."""
        tensors = [*node.outputs, *(v for v in node.inputs if v is not None and v.producer() is None)]
        modules = [path for value in tensors if (path := self._module(value)) is not None]
        return common(modules) if modules else None

    def _module(self, value: ir.Value) -> str | None:
        """Return the module after which a tensor is named: its path, followed by a dot."""
        name = (value.name or "")[:_MAX_NAME]
        for end in [end for end in range(len(name)) if name[end] == "."][-_MAX_CUTS:][::-1]:
            path = self.namer.resolve(name[:end])
            if path and path in self.namer.classes:
                return path
        return None


def restore(model: ir.Model, table: ModuleTable) -> Tags:
    """Return tags for every node of ``model``, without modifying it.

    A node without a match in the table gets its tag from its neighbours, with ``via`` stating
    so.
    """
    rules = _Restoration(table)
    order = list(walk(model))
    tags = {node: tag for node, _ in order if (tag := rules.of(node)) is not None}
    filled = infer_modules(model, order, {node: record.scope for node, record in tags.items()})
    for node, _ in order:
        if node not in tags:
            scope = filled.get(node)
            via = ROOT if scope is None else CONTEXT
            tags[node] = NodeTag(scope or "", rules.namer.tag(scope or ""), via)
    called = frozenset(module.path for module in table.modules if module.called)
    return Tags({node: tags[node] for node, _ in order}, rules.namer, table.exporter, "table", called)
