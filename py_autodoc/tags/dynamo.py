"""Node metadata of torch.onnx's dynamo exporter, read without torch.

``pkg.torch.onnx.name_scopes`` lists the modules being called and, last, the name of the FX node;
``class_hierarchy`` their classes; ``fx_node`` the FX node itself with its arguments, including the
placeholders of parameters, which the graph's ``graph_signature`` maps to full names. Missing are modules
without nodes, the call number of a module, and aliases of a module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx_ir as ir

from py_autodoc.graph.loading.module_scopes import NO_STACK, string_list
from py_autodoc.tags.assign import Frame
from py_autodoc.tags.model import walk
from py_autodoc.tags.paths import parent

NAME_SCOPES = "pkg.torch.onnx.name_scopes"
CLASSES = "pkg.torch.onnx.class_hierarchy"
FX_NODE = "pkg.torch.onnx.fx_node"
RULE = "pkg.onnxscript.rewriter.rule_name"
SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
ORIGINAL = "pkg.torch.onnx.original_node_name"
KIND = "pkg.torch.export.graph_signature.InputSpec.kind"

_OWNED = frozenset({"PARAMETER", "BUFFER"})
_LINE = re.compile(r"^(\S+): (\w+) target='([^'\n]*)'", re.MULTILINE)
_SPEC = re.compile(
    r"InputSpec\(kind=<InputKind\.(\w+): \d+>, arg=TensorArgument\(name='([^']*)'\), target='([^']*)'"
)
_ARGUMENT = re.compile(r"%(\w+)")
_MAX_TEXT = 1 << 16


def parameters_of(model: ir.Model) -> dict[str, str]:
    """Return FX placeholder → full name of the parameter or buffer, as far as the file states it."""
    text = model.graph.metadata_props.get(SIGNATURE, "")
    parameters = {name: target for name, kind, target in _LINE.findall(text) if kind in _OWNED}
    parameters.update({name: target for kind, name, target in _SPEC.findall(text) if kind in _OWNED})
    for value in model.graph.initializers.values():
        original = value.metadata_props.get(ORIGINAL)
        if original and value.name and value.metadata_props.get(KIND) in _OWNED:
            parameters.setdefault(original, value.name)
    return parameters


def classes_of(model: ir.Model) -> dict[str, str]:
    """Return path → class of the modules that were called on the path to a node."""
    classes: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for node, _ in walk(model):
        texts = node.metadata_props.get(NAME_SCOPES, ""), node.metadata_props.get(CLASSES, "")
        # The last item is the node's own; the others are equal for all nodes of a module.
        key = (texts[0].rpartition(",")[0], texts[1].rpartition(",")[0])
        if not key[0] or key in seen or NO_STACK in key[0]:
            continue
        seen.add(key)
        paths, kinds = (string_list(text)[:-1] for text in texts)
        if len(paths) == len(kinds):
            for path, kind in zip(paths, kinds, strict=True):
                classes.setdefault(path, kind)
    return classes


class DynamoEvidence:
    """Evidence from the metadata of a file."""

    exact = True

    def __init__(self, model: ir.Model, parameters: dict[str, str]) -> None:
        """Prepare.

        Args:
            model: as created by the exporter or read from a file.
            parameters: FX placeholder → full name of its parameter or buffer.
        """
        self._parameters = parameters
        self._names = frozenset(parameters.values())
        self._modules = {parent(name) for name in self._names} - {""}

    def scopes(self, node: ir.Node) -> list[str]:
        """Return the modules being called and, last, the FX node; empty if not recorded."""
        text = node.metadata_props.get(NAME_SCOPES, "")
        return [name for name in string_list(text) if name != NO_STACK] if text else []

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the modules being called. A single entry is only the FX node: its modules were lost."""
        scopes = self.scopes(node)
        return [Frame(path) for path in scopes[:-1]] if len(scopes) > 1 else None

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Not recorded in files."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Return parameters and buffers among the arguments of the FX node."""
        text = node.metadata_props.get(FX_NODE, "")
        if not text or len(text) > _MAX_TEXT:
            return ()
        parameters = self._parameters
        return [parameters[name] for name in dict.fromkeys(_ARGUMENT.findall(text)) if name in parameters]

    def owning_module(self, name: str) -> str | None:
        """Return the module of a parameter, or of a tensor that a rewrite named after one."""
        if name in self._names:
            return parent(name)
        return parent(name) if parent(name) in self._modules else None

    def rewritten(self, node: ir.Node) -> bool:
        """True if a rewrite rule created the node."""
        return RULE in node.metadata_props
