"""Scopes from node names of the TorchScript exporter, used when its trace cannot be recorded.

A name is the chain of called modules, each by the last non-numeric part of its path
(``/encoder/layer.0/attention/MatMul``), with a counter for repeated calls. The parts are matched against the
module tree as long as exactly one module fits.
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
    """Evidence from names; never exact."""

    exact = False

    def __init__(self, namer: Namer, tensors: frozenset[str]) -> None:
        self._tensors = tensors
        self._inside: dict[tuple[str, str], list[str]] = {}
        for path in namer.classes:
            for above in self_and_ancestors(path)[:-1]:
                self._inside.setdefault((above, part_of(path)), []).append(path)

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the modules that the node's name spells out, as far as they are unambiguous."""
        parts = (node.name or "").split("/")[1:-1]
        current, frames = "", [Frame("")]
        if (node.name or "").startswith("/") and not parts:
            return frames  # code of the top-level module
        for fragment in parts:
            fits = (
                self._inside.get((current, fragment))
                or self._inside.get((current, _COUNTER.sub("", fragment)))
                or []
            )
            shortest = min((path.count(".") for path in fits), default=0)
            nearest = [path for path in fits if path.count(".") == shortest]
            if len(nearest) != 1:
                break
            current = nearest[0]
            frames.append(Frame(current))
        return frames if len(frames) > 1 else None

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Return None, since names do not contain this."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Return the parameter an alias of a shared initializer is named after, else those the node reads."""
        outputs = [value.name for value in node.outputs if value.name in self._tensors]
        read = [v.name for v in node.inputs if v is not None and v.name in self._tensors]
        return [name for name in outputs or read if name]

    def owning_module(self, name: str) -> str | None:
        """Return the module of a parameter."""
        return parent(name) if name in self._tensors else None

    def rewritten(self, node: ir.Node) -> bool:
        """Return False, since names do not contain this."""
        return False


def part_of(path: str) -> str:
    """Return the exporter's name of a module: its path from the last non-numeric part on."""
    parts = path.split(".")
    for start in range(len(parts) - 1, -1, -1):
        if not parts[start].isnumeric():
            return ".".join(parts[start:])
    return path
