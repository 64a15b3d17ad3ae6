"""The module of a node, as far as the exporter recorded it.

Sources in order of trust: records of this package's exporter (``autodoc.scope`` and related keys on the node,
or the table in the model metadata if a tool dropped them); the metadata of torch.onnx's dynamo exporter
(``pkg.torch.onnx.name_scopes`` with ``class_hierarchy``, else ``namespace``), which also supplies the levels
of an ``autodoc.scope`` that ends in the same module; and slashes in node names as written by TorchScript
(``/encoder/layer.0/attention/MatMul``), TensorFlow (``model/conv1/Conv2D``) and others.
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
"""Maximum number of levels; deeper scopes are cut."""
CALL_KEY = "autodoc.expanded.call"
"""Node metadata from function expansion: the scope levels of the call, as JSON triples of
name, class and origin."""
NAME_KEY = "autodoc.expanded.name"
"""Node metadata from function expansion: the node's name in the function body."""

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
NO_STACK = "_empty_nn_module_stack_from_metadata_hook"
"""Placeholder module for nodes that torch inserts itself, such as one that reads a symbolic dimension."""
_NAMESPACE = "namespace"
_MAX_TEXT = 1 << 16
_MAX_FRAMES = 256


@dataclass(frozen=True, slots=True)
class ModuleScope:
    """The scope of a node; ``names``, ``classes`` and ``origins`` have one entry per level."""

    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    """``scope``, ``name`` or ``function``."""
    tag: str = ""
    cut: bool = False
    """True if levels below the 64th were dropped."""
    record: ModuleRecord | None = field(default=None, compare=False)
    """Exporter's record of the node's module, as stored in the file."""


NO_SCOPE = ModuleScope()
"""Scope of a node whose module is unknown."""
ROOT = ModuleScope(origins=())
"""Scope of a node known to be in no module, such as ``/MatMul``."""


class ScopeReader:
    """Reads the scopes of one model; equal scopes are shared."""

    def __init__(self, model: onnx.ModelProto | None = None) -> None:
        """``model``: its metadata may hold a table of its nodes."""
        self._by_path: dict[tuple[str, str], ModuleScope] = {}
        self._by_prefix: dict[str, ModuleScope] = {}
        self._by_call: dict[tuple[str, ModuleScope], ModuleScope] = {}
        self._by_tag: dict[tuple[str, str, str], ModuleScope] = {}
        self._by_text: dict[tuple[str, ...], ModuleRecord] = {}
        table = _table(model)
        self._modules = {module.path: module for module in table.modules} if table else {}
        self._records = _by_tensor(table) if table else {}

    def of(self, node: onnx.NodeProto, name: str, output: str) -> ModuleScope:
        """Return the scope of a node; ``output`` is used if ``name`` is empty or has no scope."""
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
            result = self._tagged(scope, tag, stack, scopes, classes)
        elif scopes:
            result = self._recorded(scopes, classes)
            record = result.record
        elif namespace:
            result = self._namespace(namespace)
        else:
            result = NO_SCOPE
        if scope is None and not result.tag and not result.names:
            result = self._named(name or ("" if call else output))
            if result is NO_SCOPE and not call:
                # Optimizers rename operators but keep the names of tensors.
                result = self._named(output)
        result = self._called(call, result) if call else result
        return result if result.record is record else replace(result, record=record)

    def _record(self, scope: str, tag: str, via: str, scopes: str, call: str, stack: str) -> ModuleRecord:
        key = (scope[:_MAX_TEXT], tag[:_MAX_TEXT], via, scopes, call, stack)
        record = self._by_text.get(key)
        if record is None:
            origins = string_items(scopes)[:_MAX_FRAMES]
            frames = string_items(stack)[:_MAX_FRAMES]
            record = self._by_text[key] = ModuleRecord(*key[:3], origins, dict(call_numbers(call)), frames)
        return record

    def _tagged(self, scope: str, tag: str, stack: str, scopes: str, classes: str) -> ModuleScope:
        """Return the scope of a module given by path; its levels are the modules called on the way to it."""
        frames = string_list(scopes)[:-1] if scopes else []
        if frames and frames[-1] == scope:
            return replace(self._recorded(scopes, classes), tag=tag[:_MAX_TEXT])
        key = (scope, tag, stack)
        tagged = self._by_tag.get(key)
        if tagged is None:
            paths = list(string_items(stack)[:_MAX_FRAMES]) or self._levels(scope[:_MAX_TEXT])
            kinds = [self._modules[path].kind if path in self._modules else "" for path in paths]
            tagged = self._by_tag[key] = replace(module_scope(paths, kinds), tag=tag[:_MAX_TEXT])
        return tagged

    def _levels(self, scope: str) -> list[str]:
        """Return the levels of a path: called modules, or without a table all parents except containers."""
        parts = scope.split(".", _MAX_FRAMES)
        paths = [".".join(parts[:size]) for size in range(1, len(parts))]
        if self._modules:
            inside = [path for path in paths if path in self._modules and self._modules[path].called]
        else:
            inside = [
                path for path, component in zip(paths, parts[1:], strict=True) if not component.isdigit()
            ]
        return ["", *inside, scope] if scope else [""]

    def _recorded(self, scopes: str, classes: str) -> ModuleScope:
        key = (scopes[: scopes.rfind(",")], classes[: classes.rfind(",")])
        recorded = self._by_path.get(key)
        if recorded is None:
            paths, kinds = string_list(scopes)[:-1], string_list(classes)[:-1]
            if len(kinds) != len(paths):
                kinds = [""] * len(paths)
            recorded = NO_SCOPE if NO_STACK in paths else module_scope(paths, kinds)
            if recorded.tag:
                recorded = replace(recorded, record=ModuleRecord(paths[-1], recorded.tag, ""))
            self._by_path[key] = recorded
        return recorded

    def _namespace(self, namespace: str) -> ModuleScope:
        """Parse ``cls/encoder: cls/encoder.layer: cls/linear_4: aten.linear`` (the root has no path)."""
        cut = namespace.rfind("/")
        if cut <= 0 or len(namespace) > _MAX_TEXT:
            return NO_SCOPE
        key = (namespace[:cut], "")
        parsed = self._by_path.get(key)
        if parsed is None:
            levels = [level.rpartition(": ") for level in namespace[:cut].split("/")]
            parsed = module_scope([path for path, _, _ in levels], [kind for _, _, kind in levels])
            self._by_path[key] = parsed
        return parsed

    def _named(self, name: str) -> ModuleScope:
        """Return all components of a name except the last, which is the operator's own."""
        cut = name.split(";", 1)[0].rfind("/")
        if cut <= 0:
            return NO_SCOPE if cut else ROOT
        prefix = name[:cut]
        named = self._by_prefix.get(prefix)
        if named is None:
            parts = prefix.split("/", MAX_DEPTH * 4)
            names = tuple(component for component in parts if component)
            named = _scope(names, (), "name", "")
            self._by_prefix[prefix] = named
        return named

    def _called(self, call: str, inner: ModuleScope) -> ModuleScope:
        """Prefix a scope from a function body with the scope of the call."""
        key = (call, inner)
        prefixed = self._by_call.get(key)
        if prefixed is None:
            levels = _levels(call)
            outer = [level[0] for level in levels if level[2] != "function"]
            skip = len(outer) if inner.names[: len(outer)] == tuple(outer) else 0
            classes = inner.classes or ("",) * len(inner.names)
            inner_levels = list(zip(inner.names, classes, inner.origins, strict=True))[skip:]
            rows = levels + inner_levels
            names, kinds, origins = (tuple(row[i] for row in rows[:MAX_DEPTH]) for i in range(3))
            cut = inner.cut or len(rows) > MAX_DEPTH
            prefixed = self._by_call[key] = ModuleScope(names, kinds, origins, inner.tag, cut)
        return prefixed


def _table(model: onnx.ModelProto | None) -> ModuleTable | None:
    entries = model.metadata_props if model is not None else ()
    return next((unpack_table(decode_text(entry.value)) for entry in entries if entry.key == TABLE), None)


def _by_tensor(table: ModuleTable) -> dict[str, ModuleRecord]:
    records: dict[str, ModuleRecord] = {}
    for node in table.nodes:
        for output in node.outputs:
            records.setdefault(output, table.records[node.record])
    return records


def _levels(call: str) -> list[tuple[str, str, str]]:
    """Parse the levels of a call; empty if the metadata was not written by the expansion."""
    try:
        levels = json.loads(call) if len(call) <= _MAX_TEXT else []
        return [(str(name), str(kind), str(origin)) for name, kind, origin in levels]
    except (ValueError, TypeError, RecursionError):
        return []


def module_scope(paths: list[str], classes: list[str]) -> ModuleScope:
    """Return the scope for module paths, outermost first, each with its class.

    ``["", "encoder", "encoder.layer.0"]`` becomes ``("encoder", "layer.0")``: each level is named
    relative to its parent. The root has an empty path and no level, but a class.
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
    levels = names[:MAX_DEPTH]
    return ModuleScope(levels, classes[:MAX_DEPTH], (origin,) * len(levels), tag, len(names) > MAX_DEPTH)


def string_list(literal: str) -> list[str]:
    """Parse a Python list of strings as written by the exporter; empty for anything else."""
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
