"""Source of the runtime functions included in generated files. It is read as text, not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

RUNTIME = Path(__file__).parent / "runtime"


@cache
def functions() -> dict[str, str]:
    """Return name → source of every runtime function, in order of definition."""
    sources: dict[str, str] = {}
    for path in sorted(RUNTIME.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                sources[node.name] = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return sources


def needed(names: Iterable[str]) -> list[str]:
    """Return the functions and the functions they call, in order of definition."""
    sources = functions()
    called: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in called:
            called.add(name)
            pending.extend(_called(name))
    return [name for name in sources if name in called]


@cache
def _called(name: str) -> frozenset[str]:
    """Return the runtime functions that one of them names."""
    sources = functions()
    tree = ast.parse(sources[name])
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) & sources.keys()
