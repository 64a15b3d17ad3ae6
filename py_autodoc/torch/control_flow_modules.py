"""Modules in the branches of ``torch.cond`` and the bodies of loops, as torch's compiler saw them.

``torch.export`` has such a function compiled, and then traces the code that the compiler generated. The
trace forgets the modules: its nodes only say which line of which generated code they come from. The
compiler's graph does know, by identity, which call of which module each line is. So the compiler's
graphs are looked at while they are made, and only numbers and names are kept of them.

The method of the compiler that is watched is private to torch. Where it is missing nothing is recorded,
and modules in branches are worked out from parameters and surroundings.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch

from py_autodoc.torch.scopes import named

_COMPILER = "torch._dynamo.output_graph"
_HANDED_OVER = "call_user_compiler"
_LINE = re.compile(r'File "(<eval_with_key>[^"\n]*)", line (\d+)')
_LOCK = threading.Lock()
"""The watched method is global: one export at a time puts it back right."""

Calls = dict[str, str]
"""Key of a module's call → the module's path, outermost first."""


class Branches:
    """The modules behind each line of generated code of one export."""

    def __init__(self, module: torch.nn.Module | None) -> None:
        """``module``: what is exported; None records nothing."""
        modules = named(module)[0] if module is not None else {}
        self._paths = {str(id(one)): path for path, one in modules.items()}
        self._lines: dict[str, dict[int, Calls]] = {}

    def calls(self, node: torch.fx.Node) -> Calls | None:
        """Modules being called inside the branch when an FX node in it was made; None when not recorded."""
        places = _LINE.findall(node.meta.get("stack_trace") or "")
        if not places:
            return None
        file, line = places[-1]  # the innermost code
        return self._lines.get(file, {}).get(int(line))

    def look(self, compiled: torch.fx.GraphModule) -> None:
        """Note the modules of a graph that the compiler made, and of the graphs in it."""
        for graph in compiled.modules():
            if isinstance(graph, torch.fx.GraphModule):
                self._look(graph)

    def _look(self, graph: torch.fx.GraphModule) -> None:
        lines = getattr(graph, "_lineno_map", None) or {}
        first = getattr(graph, "_prologue_start", None)
        file = getattr(getattr(type(graph).forward, "__code__", None), "co_filename", "")
        if not lines or first is None or not _LINE.match(f'File "{file}", line 0'):
            return
        nodes = list(graph.graph.nodes)
        found = self._lines.setdefault(file, {})
        for line, number in lines.items():
            if number is not None and number < len(nodes):
                calls = self._calls(nodes[number])
                if calls is not None:
                    found[line + first] = calls

    def _calls(self, node: torch.fx.Node) -> Calls | None:
        """None for a node in a module that is not one of the model."""
        found: Calls = {}
        for key, (name, _) in (node.meta.get("nn_module_stack") or {}).items():
            path = self._paths.get(str(key).partition("@")[0])
            if path is None:
                return None
            found[f"{key} {name}"] = path  # calls are counted by name: a module may have two
        return found


@contextmanager
def recording(module: torch.nn.Module | None) -> Iterator[Branches]:
    """Watch the exports of ``module`` in the block."""
    found = Branches(module)
    owner = _watched()
    if module is None or owner is None:
        yield found
        return
    with _LOCK:
        original = getattr(owner, _HANDED_OVER)
        compiled: list[torch.fx.GraphModule] = []

        def hand_over(self: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(graph, torch.fx.GraphModule):
                compiled.append(graph)  # its code is generated when it first runs
            return original(self, graph, *args, **kwargs)

        setattr(owner, _HANDED_OVER, hand_over)
        try:
            yield found
        finally:
            setattr(owner, _HANDED_OVER, original)
        for graph in compiled:
            found.look(graph)


def _watched() -> Any:
    """The compiler's class whose method gets each finished graph; None where this torch has none."""
    try:
        owner = getattr(import_module(_COMPILER), "OutputGraph", None)
    except ImportError:
        return None
    return owner if callable(getattr(owner, _HANDED_OVER, None)) else None
