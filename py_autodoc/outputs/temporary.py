"""Temporary files and folders that can be told from those of a run that was killed.

They are named ``.autodoc-<process>-<random>.tmp``. Whoever makes one holds a lock on it for as long as it
is needed; the kernel releases it when the process ends, however it ends, also in another container. What
nobody holds any more is removed by the next run that writes into the same folder.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows has none: there, age alone decides
    fcntl = None

_NAME = re.compile(r"\.autodoc-\d+-[0-9a-f]{16}\.tmp")
_YOUNG_S = 60.0
"""What is younger may just have been made by a run that has not locked it yet."""
_OLD_S = 24 * 3600.0
"""Where locks tell nothing, what was not written to for so long is nobody's."""
_MOST = 100_000
"""Entries of a folder that are looked at."""
_swept: dict[str, float] = {}


def name() -> str:
    """A new name for something temporary."""
    return f".autodoc-{os.getpid()}-{secrets.token_hex(8)}.tmp"


@contextmanager
def file(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file in ``folder``, open and locked; it is removed afterwards where it is still there.

    Raises: OSError: the folder cannot be written.
    """
    sweep(folder)
    path = folder / name()
    with open(path, "xb") as made:
        _lock(made.fileno())
        try:
            yield made, path
        finally:
            made.close()  # Windows removes no open file
            path.unlink(missing_ok=True)


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """A new folder in ``parent`` that only this user can read; it is removed with all in it afterwards.

    Raises: OSError: the parent cannot be written.
    """
    sweep(parent)
    path = parent / name()
    path.mkdir(0o700)
    held = _held(path)
    try:
        yield path
    finally:
        if held is not None:
            os.close(held)
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder where the system keeps temporary files, away from any result. Raises: OSError."""
    with folder(Path(tempfile.gettempdir())) as path:
        yield path


def sweep(where: Path) -> None:
    """Remove what killed runs left in a folder; at most once a minute in a process. Never fails."""
    key, now = os.path.realpath(where), time.monotonic()
    if now - _swept.get(key, -_YOUNG_S) < _YOUNG_S:
        return
    _swept[key] = now
    with suppress(OSError), os.scandir(key) as entries:
        for _, entry in zip(range(_MOST), entries, strict=False):
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    """Remove what nobody holds. A link is removed itself, whatever it leads to."""
    status = entry.stat(follow_symlinks=False)
    age = time.time() - status.st_mtime
    if age < _YOUNG_S or (age < _OLD_S and _in_use(entry)):
        return
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.unlink(entry.path)


def _in_use(entry: os.DirEntry[str]) -> bool:
    """Whether a process holds it; True where nobody can tell."""
    held = _held(Path(entry.path))
    if held is None:
        return True
    os.close(held)
    return False


def _held(path: Path) -> int | None:
    """A descriptor with the lock on a file or folder; None where it cannot be had."""
    if fcntl is None:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if _lock(fd):
        return fd
    os.close(fd)
    return None


def _lock(fd: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
