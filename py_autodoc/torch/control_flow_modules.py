"""Modules in branches of ``torch.cond`` and in loops, as torch's compiler recorded them.

``torch.export`` compiles such a function and then traces the generated code. The trace loses the modules: its
nodes only refer to lines of generated code. The compiler's graph has, for each line, the call of the module,
by identity. The compiler's graphs are therefore read when they are created; only numbers and names are kept.

The compiler method that is replaced is private to torch. If it is missing, nothing is recorded, and modules
in branches are inferred from parameters and neighbouring nodes.
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
"""Held during an export, because the replaced method is global."""

Calls = dict[str, str]
"""Key of a module call → path of the module, outermost first."""


class Branches:
    """Modules of each line of generated code in one export."""

    def __init__(self, module: torch.nn.Module | None) -> None:
        """Record the modules of ``module``, which is exported; None records nothing."""
        modules = named(module)[0] if module is not None else {}
        self._paths = {str(id(module)): path for path, module in modules.items()}
        self._lines: dict[str, dict[int, Calls]] = {}

    def calls(self, node: torch.fx.Node) -> Calls | None:
        """Return the module calls inside a branch that contain an FX node; None if they were not recorded."""
        locations = _LINE.findall(node.meta.get("stack_trace") or "")
        if not locations:
            return None
        file, line = locations[-1]  # the innermost code
        return self._lines.get(file, {}).get(int(line))

    def look(self, compiled: torch.fx.GraphModule) -> None:
        """Record the modules of a compiler graph and of the graphs in it."""
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
        calls_by_line = self._lines.setdefault(file, {})
        for line, number in lines.items():
            if number is not None and number < len(nodes):
                calls = self._calls(nodes[number])
                if calls is not None:
                    calls_by_line[line + first] = calls

    def _calls(self, node: torch.fx.Node) -> Calls | None:
        """Return None for a node in a module that is not part of the model."""
        calls: Calls = {}
        for key, (name, _) in (node.meta.get("nn_module_stack") or {}).items():
            path = self._paths.get(str(key).partition("@")[0])
            if path is None:
                return None
            calls[f"{key} {name}"] = path  # Calls are counted by name, since a module may have two.
        return calls


@contextmanager
def recording(module: torch.nn.Module | None) -> Iterator[Branches]:
    """Record the modules of exports of ``module`` in the ``with`` block."""
    branches = Branches(module)
    output_graph = _output_graph_class()
    if module is None or output_graph is None:
        yield branches
        return
    with _LOCK:
        original = getattr(output_graph, _HANDED_OVER)
        compiled: list[torch.fx.GraphModule] = []

        def hand_over(self: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(graph, torch.fx.GraphModule):
                compiled.append(graph)  # Its code is generated on the first run.
            return original(self, graph, *args, **kwargs)

        setattr(output_graph, _HANDED_OVER, hand_over)
        try:
            yield branches
        finally:
            setattr(output_graph, _HANDED_OVER, original)
        for graph in compiled:
            branches.look(graph)


def _output_graph_class() -> Any:
    """Return the compiler class whose method receives each finished graph; None if this torch has none."""
    try:
        output_graph = getattr(import_module(_COMPILER), "OutputGraph", None)
    except ImportError:
        return None
    return output_graph if callable(getattr(output_graph, _HANDED_OVER, None)) else None
