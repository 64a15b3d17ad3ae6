"""Module paths as PyTorch writes them: names joined by dots, the empty path at the top."""

from __future__ import annotations

from collections.abc import Iterable


def parent(path: str) -> str:
    """The path one level up; that of the top is the top."""
    return path.rpartition(".")[0]


def below(path: str, ancestor: str) -> bool:
    """True when ``path`` is ``ancestor`` or lies in it."""
    return not ancestor or path == ancestor or path.startswith(ancestor + ".")


def common(paths: Iterable[str]) -> str:
    """The innermost path that holds all of them; the top for none."""
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
    """The path and everything above it, outermost first: ``["", "a", "a.b"]``."""
    found = [""]
    at = -1
    while path:
        at = path.find(".", at + 1)
        if at < 0:
            found.append(path)
            break
        found.append(path[:at])
    return found
