"""Module paths as in PyTorch: names joined by dots, empty for the top-level module."""

from __future__ import annotations

from collections.abc import Iterable


def parent(path: str) -> str:
    """Return the parent path; the parent of the top is the top."""
    return path.rpartition(".")[0]


def below(path: str, ancestor: str) -> bool:
    """True if ``path`` is ``ancestor`` or inside it."""
    return not ancestor or path == ancestor or path.startswith(ancestor + ".")


def common(paths: Iterable[str]) -> str:
    """Return the innermost path that contains all of them; the top if there are none."""
    shared: str | None = None
    for path in paths:
        if shared is None or shared == path:
            shared = path
            continue
        while not below(path, shared):
            shared = parent(shared)
        if not shared:
            break
    return shared or ""


def self_and_ancestors(path: str) -> list[str]:
    """Return the path and its ancestors, outermost first: ``["", "a", "a.b"]``."""
    paths = [""]
    end = -1
    while path:
        end = path.find(".", end + 1)
        if end < 0:
            paths.append(path)
            break
        paths.append(path[:end])
    return paths
