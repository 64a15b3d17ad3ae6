"""How much memory is free for this process, asked before something large is read, made or run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from py_autodoc.errors import LimitError
from py_autodoc.units import size

_CGROUPS = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60
"""The first version of cgroups has a huge number for no limit."""
_EXHAUSTED = re.compile(r"bad_alloc|bad allocation|Failed to allocate memory|out of memory", re.IGNORECASE)
_allowed: int | None = -1
"""Bytes that work may need: those that are free (-1), any number (None), or so many."""


@contextmanager
def allowing(count: int | None) -> Iterator[None]:
    """Let work need ``count`` bytes, or any number (None), whatever is free, in the ``with`` block."""
    global _allowed
    before, _allowed = _allowed, count
    try:
        yield
    finally:
        _allowed = before


def available_bytes() -> int | None:
    """Return the bytes that this process can still use; None if the system does not say.

    The least of what the system has without swapping, what the limits of its control groups (a container)
    leave, and what its own limit of address space leaves.
    """
    found = [value for value in (_system(), _control_groups(), _own_limit()) if value is not None]
    return max(0, min(found)) if found else None


def need(count: int, what: str, hint: str = "") -> None:
    """Refuse work that needs more memory than there is.

    Args:
        count: bytes that the work takes.
        what: the work, as the subject of the sentence.
        hint: the way out.

    Raises: LimitError.
    """
    if _allowed is None:
        return
    free = available_bytes() if _allowed < 0 else _allowed
    if free is not None and count > free:
        which = "free" if _allowed < 0 else "allowed"
        raise LimitError(
            "memory_bytes",
            count,
            free,
            f"{what} takes {shown(count)} of memory; {size(free)} is {which}.",
            hint,
        )


def shown(count: int) -> str:
    """Return bytes as text; declared sizes can exceed what any machine has."""
    return size(count) if count < _UNLIMITED else "more than an exabyte"


def exhausted(what: str) -> LimitError:
    """Return the error for work that ran out of memory, although it did not seem to need so much."""
    return LimitError(
        "memory_bytes",
        0,
        0,
        f"{what} needs more memory than there is, or than its limit allows.",
        "Use fewer samples or smaller dimensions; the command line has --memory-limit.",
    )


def is_exhaustion(fault: BaseException) -> bool:
    """True if an exception of a library says that memory ran out."""
    return isinstance(fault, MemoryError) or _EXHAUSTED.search(str(fault)[:2000]) is not None


def _system() -> int | None:
    with suppress(OSError, ValueError, IndexError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return None


def _control_groups() -> int | None:
    """Return the least that the limits of our groups and of those above them leave."""
    least: int | None = None
    with suppress(OSError, ValueError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if not controllers:
                names = _CGROUPS, "memory.max", "memory.current", "inactive_file"
            elif "memory" in controllers.split(","):
                names = (
                    _CGROUPS / "memory",
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_inactive_file",
                )
            else:
                continue
            root, limit, used, cache = names
            # In a container, the path is often that of the host, and the limit is at the root.
            group = Path(os.path.normpath(f"{root}/{path}"))
            for folder in (group, *group.parents):
                if folder == root or root in folder.parents:
                    left = _left(folder, limit, used, cache)
                    least = left if least is None or (left is not None and left < least) else least
    return least


def _left(folder: Path, limit: str, used: str, cache: str) -> int | None:
    with suppress(OSError, ValueError):
        most = int((folder / limit).read_text("ascii"))
        if most < _UNLIMITED:
            return most - int((folder / used).read_text("ascii")) + _cached(folder, cache)
    return None


def _cached(folder: Path, key: str) -> int:
    """Return the bytes of files that the kernel drops first."""
    with suppress(OSError, ValueError), open(folder / "memory.stat", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


def _own_limit() -> int | None:
    if sys.platform != "linux":
        return None
    import resource

    left = []
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        pages = file.read().split()
        for which, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
            limit, _ = resource.getrlimit(which)
            if limit != resource.RLIM_INFINITY:
                left.append(limit - int(used) * resource.getpagesize())
    return min(left, default=None)
