"""Scopes from the node names of the TorchScript exporter, where its trace cannot be watched.

A name is the chain of called modules, each by the last part of its path that is not a number
(``/encoder/layer.0/attention/MatMul``), with a counter where it was called before. Parts are followed
down the module tree as long as exactly one module fits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx_ir as ir

from py_autodoc.tags.assign import Frame
from py_autodoc.tags.naming import Namer
from py_autodoc.tags.paths import parent, self_and_ancestors

_COUNTER = re.compile(r"_\d+$")


class NameEvidence:
    """Evidence in names; never exact."""

    exact = False

    def __init__(self, namer: Namer, tensors: frozenset[str]) -> None:
        self._tensors = tensors
        self._inside: dict[tuple[str, str], list[str]] = {}
        for path in namer.classes:
            for above in self_and_ancestors(path)[:-1]:
                self._inside.setdefault((above, part_of(path)), []).append(path)

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """The modules whose parts the node's name spells, as far as they are unambiguous."""
        parts = (node.name or "").split("/")[1:-1]
        at, found = "", [Frame("")]
        if (node.name or "").startswith("/") and not parts:
            return found  # the model's own code
        for part in parts:
            fits = self._inside.get((at, part)) or self._inside.get((at, _COUNTER.sub("", part))) or []
            shortest = min((path.count(".") for path in fits), default=0)
            nearest = [path for path in fits if path.count(".") == shortest]
            if len(nearest) != 1:
                break
            at = nearest[0]
            found.append(Frame(at))
        return found if len(found) > 1 else None

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Names do not tell."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """What an alias of a shared initializer is named after, else the parameters the node reads."""
        made = [value.name for value in node.outputs if value.name in self._tensors]
        read = [v.name for v in node.inputs if v is not None and v.name in self._tensors]
        return [name for name in made or read if name]

    def owner(self, name: str) -> str | None:
        """The module of a parameter."""
        return parent(name) if name in self._tensors else None

    def rewritten(self, node: ir.Node) -> bool:
        """Names do not tell."""
        return False


def part_of(path: str) -> str:
    """How the exporter calls a module: its path from the last part on that is not a number."""
    parts = path.split(".")
    for start in range(len(parts) - 1, -1, -1):
        if not parts[start].isnumeric():
            return ".".join(parts[start:])
    return path
