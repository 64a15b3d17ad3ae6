"""Temporary files and folders that can be told from those of a run that was killed.

They are named ``.autodoc-<process>-<random>.tmp``. Whoever makes one holds a lock on it for as long as it
is needed; the kernel releases it when the process ends, however it ends, also in another container. What
nobody holds any more is removed by the next run that writes into the same folder.
"""

from __future__ import annotations

import errno
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
_OLD_S = 24 * 3600.0
"""Where locks tell nothing, what was not written to for so long is nobody's."""
_AGAIN_S = 60.0
"""How often a process looks into one folder."""
_TRIES = 16
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
    for _ in range(_TRIES):
        path = folder / name()
        with open(path, "xb") as made:
            if not _ours(made.fileno(), path):
                continue
            try:
                yield made, path
            finally:
                made.close()  # Windows removes no open file
                path.unlink(missing_ok=True)
            return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """A new folder in ``parent`` that only this user can read; it is removed with all in it afterwards.

    Raises: OSError: the parent cannot be written.
    """
    sweep(parent)
    for _ in range(_TRIES):
        path = parent / name()
        path.mkdir(0o700)
        held = _opened(path)
        try:
            if held is not None and not _ours(held, path):
                continue
            try:
                yield path
            finally:
                shutil.rmtree(path, ignore_errors=True)
            return
        finally:
            if held is not None:
                os.close(held)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(parent))


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder where the system keeps temporary files, away from any result. Raises: OSError."""
    with folder(Path(tempfile.gettempdir())) as path:
        yield path


def sweep(where: Path) -> None:
    """Remove what killed runs left in a folder; now and then. Never fails."""
    key, now = os.path.realpath(where), time.monotonic()
    if now - _swept.get(key, -_AGAIN_S) < _AGAIN_S:
        return
    _swept[key] = now
    with suppress(OSError), os.scandir(key) as entries:
        for _, entry in zip(range(_MOST), entries, strict=False):
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    """Remove what nobody holds. A link is removed itself, whatever it leads to."""
    held = _opened(Path(entry.path))
    try:
        free = None if held is None else _lock(held)
        if free is None:  # nobody can tell
            free = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_S
        if free and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        elif free:
            os.unlink(entry.path)
    finally:
        if held is not None:
            os.close(held)


def _ours(fd: int, path: Path) -> bool:
    """Lock what was just made. False when another run saw it unlocked, and removes it."""
    if _lock(fd) is False:
        return False
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _opened(path: Path) -> int | None:
    """A descriptor to lock; None where there can be none."""
    if fcntl is None:
        return None
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None


def _lock(fd: int) -> bool | None:
    """Whether the lock was free, and is ours now; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
