"""The module a node comes from, as far as the exporter wrote it down.

In order of trust: what the exporter of this package wrote (``autodoc.scope`` and its kin on the node, or
the table in the model's metadata where a tool dropped those); the metadata of torch.onnx's dynamo
exporter (``pkg.torch.onnx.name_scopes`` with ``class_hierarchy``, else ``namespace``), which also tells the
levels of an ``autodoc.scope`` that ends in the same module; then slashes in the node's name as
TorchScript (``/encoder/layer.0/attention/MatMul``), TensorFlow (``model/conv1/Conv2D``) and others write
them.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, field, replace

import onnx

from py_autodoc.graph.ir.exporter_records import (
    CALL,
    SCOPE,
    SCOPES,
    STACK,
    TABLE,
    TAG,
    VIA,
    ModuleRecord,
    ModuleTable,
    call_numbers,
    string_items,
    unpack_table,
)
from py_autodoc.graph.ir.name_sanitizer import decode_text

MAX_DEPTH = 64
"""Levels kept; deeper scopes are cut."""
CALL_KEY = "autodoc.expanded.call"
"""Node metadata left by function expansion: the scope levels down to the call, as JSON triples of
name, class and origin."""
NAME_KEY = "autodoc.expanded.name"
"""Node metadata left by function expansion: the node's name in the function's body."""

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
NO_STACK = "_empty_nn_module_stack_from_metadata_hook"
"""Stands for a module where torch inserted a node itself, as one that reads a free size."""
_NAMESPACE = "namespace"
_MAX_TEXT = 1 << 16
_MAX_FRAMES = 256


@dataclass(frozen=True, slots=True)
class ModuleScope:
    """Where a node belongs; ``names``, ``classes`` and ``origins`` have one entry a level."""

    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    """``scope``, ``name`` or ``function``."""
    tag: str = ""
    cut: bool = False
    """Levels below the 64th were dropped."""
    record: ModuleRecord | None = field(default=None, compare=False)
    """What an exporter recorded about the node's module, as it stands in the file."""


NO_SCOPE = ModuleScope()
"""Nothing is known."""
ROOT = ModuleScope(origins=())
"""Known to be in no module, as ``/MatMul`` is."""


class ScopeReader:
    """Reads scopes of one model; equal ones are shared."""

    def __init__(self, model: onnx.ModelProto | None = None) -> None:
        """``model``: whose metadata may hold a table of its nodes."""
        self._by_path: dict[tuple[str, str], ModuleScope] = {}
        self._by_prefix: dict[str, ModuleScope] = {}
        self._by_call: dict[tuple[str, ModuleScope], ModuleScope] = {}
        self._by_tag: dict[tuple[str, str, str], ModuleScope] = {}
        self._by_text: dict[tuple[str, ...], ModuleRecord] = {}
        table = _table(model)
        self._modules = {module.path: module for module in table.modules} if table else {}
        self._records = _by_tensor(table) if table else {}

    def of(self, node: onnx.NodeProto, name: str, output: str) -> ModuleScope:
        """The scope of one node; ``output`` stands in for a name that is empty or says nothing."""
        scopes = classes = namespace = call = stack = tag = via = all_scopes = calls = ""
        scope: str | None = None
        for entry in node.metadata_props:
            key = entry.key
            if key == _SCOPES:
                scopes = decode_text(entry.value)
            elif key == _CLASSES:
                classes = decode_text(entry.value)
            elif key == _NAMESPACE:
                namespace = decode_text(entry.value)
            elif key == CALL_KEY:
                call = decode_text(entry.value)
            elif key == NAME_KEY:
                name = decode_text(entry.value)
            elif key == SCOPE:
                scope = decode_text(entry.value)
            elif key == TAG:
                tag = decode_text(entry.value)
            elif key == STACK:
                stack = decode_text(entry.value)
            elif key == VIA:
                via = decode_text(entry.value)
            elif key == SCOPES:
                all_scopes = decode_text(entry.value)
            elif key == CALL:
                calls = decode_text(entry.value)
        record = self._records.get(output) if scope is None and not scopes and output else None
        if record is not None:
            scope, tag, stack = record.scope, record.tag, json.dumps(record.stack)
        elif scope is not None:
            record = self._record(scope, tag, via, all_scopes, calls, stack)
        if scope is not None:
            found = self._tagged(scope, tag, stack, scopes, classes)
        elif scopes:
            found = self._recorded(scopes, classes)
            record = found.record
        elif namespace:
            found = self._namespace(namespace)
        else:
            found = NO_SCOPE
        if scope is None and not found.tag and not found.names:
            found = self._named(name or ("" if call else output))
            if found is NO_SCOPE and not call:
                # Optimizers name their operators anew, and keep the names of tensors.
                found = self._named(output)
        found = self._called(call, found) if call else found
        return found if found.record is record else replace(found, record=record)

    def _record(self, scope: str, tag: str, via: str, scopes: str, call: str, stack: str) -> ModuleRecord:
        key = (scope[:_MAX_TEXT], tag[:_MAX_TEXT], via, scopes, call, stack)
        known = self._by_text.get(key)
        if known is None:
            origins = string_items(scopes)[:_MAX_FRAMES]
            frames = string_items(stack)[:_MAX_FRAMES]
            known = self._by_text[key] = ModuleRecord(*key[:3], origins, dict(call_numbers(call)), frames)
        return known

    def _tagged(self, scope: str, tag: str, stack: str, scopes: str, classes: str) -> ModuleScope:
        """A module named by its path: its levels are the modules that were called on the way."""
        frames = string_list(scopes)[:-1] if scopes else []
        if frames and frames[-1] == scope:
            return replace(self._recorded(scopes, classes), tag=tag[:_MAX_TEXT])
        key = (scope, tag, stack)
        known = self._by_tag.get(key)
        if known is None:
            paths = list(string_items(stack)[:_MAX_FRAMES]) or self._levels(scope[:_MAX_TEXT])
            kinds = [self._modules[path].kind if path in self._modules else "" for path in paths]
            known = self._by_tag[key] = replace(module_scope(paths, kinds), tag=tag[:_MAX_TEXT])
        return known

    def _levels(self, scope: str) -> list[str]:
        """The paths above a module that are levels: called ones, or without a table all but containers."""
        parts = scope.split(".", _MAX_FRAMES)
        paths = [".".join(parts[:size]) for size in range(1, len(parts))]
        if self._modules:
            inside = [path for path in paths if path in self._modules and self._modules[path].called]
        else:
            inside = [path for path, part in zip(paths, parts[1:], strict=True) if not part.isdigit()]
        return ["", *inside, scope] if scope else [""]

    def _recorded(self, scopes: str, classes: str) -> ModuleScope:
        key = (scopes[: scopes.rfind(",")], classes[: classes.rfind(",")])
        known = self._by_path.get(key)
        if known is None:
            paths, kinds = string_list(scopes)[:-1], string_list(classes)[:-1]
            if len(kinds) != len(paths):
                kinds = [""] * len(paths)
            known = NO_SCOPE if NO_STACK in paths else module_scope(paths, kinds)
            if known.tag:
                known = replace(known, record=ModuleRecord(paths[-1], known.tag, ""))
            self._by_path[key] = known
        return known

    def _namespace(self, namespace: str) -> ModuleScope:
        """``cls/encoder: cls/encoder.layer: cls/linear_4: aten.linear`` (root without a path)."""
        cut = namespace.rfind("/")
        if cut <= 0 or len(namespace) > _MAX_TEXT:
            return NO_SCOPE
        key = (namespace[:cut], "")
        known = self._by_path.get(key)
        if known is None:
            levels = [part.rpartition(": ") for part in namespace[:cut].split("/")]
            known = module_scope([path for path, _, _ in levels], [kind for _, _, kind in levels])
            self._by_path[key] = known
        return known

    def _named(self, name: str) -> ModuleScope:
        """All components of a name but the last, which is the operator's own."""
        cut = name.split(";", 1)[0].rfind("/")
        if cut <= 0:
            return NO_SCOPE if cut else ROOT
        prefix = name[:cut]
        known = self._by_prefix.get(prefix)
        if known is None:
            parts = prefix.split("/", MAX_DEPTH * 4)
            names = tuple(part for part in parts if part)
            known = _scope(names, (), "name", "")
            self._by_prefix[prefix] = known
        return known

    def _called(self, call: str, inner: ModuleScope) -> ModuleScope:
        """Put a scope found in a function's body under the scope of the call."""
        key = (call, inner)
        known = self._by_call.get(key)
        if known is None:
            levels = _levels(call)
            outer = [level[0] for level in levels if level[2] != "function"]
            skip = len(outer) if inner.names[: len(outer)] == tuple(outer) else 0
            classes = inner.classes or ("",) * len(inner.names)
            rest = list(zip(inner.names, classes, inner.origins, strict=True))[skip:]
            rows = levels + rest
            names, kinds, origins = (tuple(row[i] for row in rows[:MAX_DEPTH]) for i in range(3))
            cut = inner.cut or len(rows) > MAX_DEPTH
            known = self._by_call[key] = ModuleScope(names, kinds, origins, inner.tag, cut)
        return known


def _table(model: onnx.ModelProto | None) -> ModuleTable | None:
    entries = model.metadata_props if model is not None else ()
    return next((unpack_table(decode_text(entry.value)) for entry in entries if entry.key == TABLE), None)


def _by_tensor(table: ModuleTable) -> dict[str, ModuleRecord]:
    found: dict[str, ModuleRecord] = {}
    for node in table.nodes:
        for output in node.outputs:
            found.setdefault(output, table.records[node.record])
    return found


def _levels(call: str) -> list[tuple[str, str, str]]:
    """The levels of a call; empty when the metadata was not written by the expansion."""
    try:
        levels = json.loads(call) if len(call) <= _MAX_TEXT else []
        return [(str(name), str(kind), str(origin)) for name, kind, origin in levels]
    except (ValueError, TypeError, RecursionError):
        return []


def module_scope(paths: list[str], classes: list[str]) -> ModuleScope:
    """The scope of module paths from the outermost in, each with its class.

    ``["", "encoder", "encoder.layer.0"]`` becomes ``("encoder", "layer.0")``: a level is named by
    what it adds to the one around it. The root, whose path is empty, has no level but a class.
    """
    names: list[str] = []
    kinds: list[str] = []
    tag: list[str] = []
    outer = ""
    for path, kind in zip(paths, classes, strict=True):
        short = kind.rpartition(".")[2]
        inside = outer and path.startswith(outer + ".")
        name = path[len(outer) + 1 :] if inside else path
        if path:
            names.append(name)
            kinds.append(short)
            outer = path
        if short and not kind.startswith("torch.nn."):
            last = name.rpartition(".")[2]
            tag.append(f"{short}.{last}" if last.isdigit() else short)
    return _scope(tuple(names), tuple(kinds), "scope", "/" + "/".join(tag) if tag else "")


def _scope(names: tuple[str, ...], classes: tuple[str, ...], origin: str, tag: str) -> ModuleScope:
    kept = names[:MAX_DEPTH]
    return ModuleScope(kept, classes[:MAX_DEPTH], (origin,) * len(kept), tag, len(names) > MAX_DEPTH)


def string_list(literal: str) -> list[str]:
    """A Python list of strings as the exporter writes it; empty when it is anything else."""
    if len(literal) > _MAX_TEXT or literal[:2] not in ("['", '["') or literal[-1:] != "]":
        return []
    if literal[-2:] == "']" and "\\" not in literal and '"' not in literal:
        parts = literal[2:-2].split("', '")
        if literal.count("'") == 2 * len(parts):
            return parts
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(item) for item in value] if isinstance(value, list) else []
