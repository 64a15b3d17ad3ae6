"""Temporary files and folders that can be distinguished from those of killed runs.

They are named ``.autodoc-<process>-<random>.tmp``, and their creator holds a lock on them while they are
needed. The kernel releases it whenever the process ends, also in another container. The next run that writes
to the same folder removes unlocked ones.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, cast

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows has none: there, age alone decides
    fcntl = None

_NAME = re.compile(r"\.autodoc-\d+-[0-9a-f]{16}\.tmp")
_MAX_AGE_S = 24 * 3600.0
"""Without locks, files not written to for this long are considered abandoned."""
_MIN_INTERVAL_S = 60.0
"""Minimum interval between two checks of a folder by one process."""
_MAX_TRIES = 16
_MAX_ENTRIES = 100_000
"""Maximum number of folder entries examined."""
_swept: dict[str, float] = {}
VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Environment variables of the system's temporary folder."""
_system: list[str] = []
"""The system's temporary folder, while libraries use another one."""


def name() -> str:
    """Return a new name for a temporary file or folder."""
    return f".autodoc-{os.getpid()}-{secrets.token_hex(8)}.tmp"


@contextmanager
def file(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a new, open and locked file in ``folder``; it is removed afterwards if still there.

    Raises: OSError: the folder cannot be written.
    """
    sweep(folder)
    for _ in range(_MAX_TRIES):
        path = folder / name()
        with open(path, "xb") as handle:
            if not _ours(handle.fileno(), path):
                continue
            try:
                yield handle, path
            finally:
                handle.close()  # Windows removes no open file
                path.unlink(missing_ok=True)
            return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


def written(path: Path, data: bytes) -> None:
    """Replace a file of our own, such as a cache, in one step. Raises: OSError."""
    with file(path.parent) as (handle, temporary):
        handle.write(data)
        handle.close()
        os.replace(temporary, path)


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder in ``parent`` readable only by this user; it is removed afterwards.

    Raises: OSError: the parent is not writable.
    """
    sweep(parent)
    for _ in range(_MAX_TRIES):
        path = parent / name()
        path.mkdir(0o700)
        descriptor = _open(path)
        try:
            if descriptor is not None and not _ours(descriptor, path):
                continue
            try:
                yield path
            finally:
                shutil.rmtree(path, ignore_errors=True)
            return
        finally:
            if descriptor is not None:
                os.close(descriptor)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(parent))


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder in the system's temporary folder, apart from any results. Raises: OSError."""
    with folder(Path(_system_folder())) as path:
        yield path


@contextmanager
def same_name(path: str, content: bytes, beside: Sequence[str] = ()) -> Iterator[Path]:
    """Yield a temporary file with the name of another and this content.

    ``beside`` are names of files next to that file which are linked, if they exist and links are allowed.
    """
    with scratch() as place:
        made = place / os.path.basename(path)
        made.write_bytes(content)
        for sibling in beside:
            source = Path(path).resolve().with_name(sibling)
            if source.is_file():
                with suppress(OSError):
                    (place / sibling).symlink_to(source)
        yield made


def use_for_libraries(path: str) -> None:
    """Let libraries, and processes started from now on, write their temporary files into a folder."""
    tempfile.tempdir = path
    os.environ.update(dict.fromkeys(VARIABLES, path))


@contextmanager
def libraries_in_scratch() -> Iterator[None]:
    """Let libraries write their temporary files into a scratch folder, which is removed also after a kill.

    Only for a process of ours: every thread uses it. If no folder can be written, nothing changes.
    """
    with ExitStack() as stack:
        try:
            path = stack.enter_context(scratch())
        except OSError:
            yield
            return
        before = {name: os.environ.get(name) for name in VARIABLES}, tempfile.tempdir
        _system.append(tempfile.gettempdir())
        try:
            use_for_libraries(str(path))
            yield
        finally:
            _system.pop()
            variables, tempfile.tempdir = before
            for name, value in variables.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _system_folder() -> str:
    return _system[0] if _system else tempfile.gettempdir()


def sweep_scratch() -> None:
    """Remove what killed runs left in the system's temporary folder. Never fails."""
    with suppress(OSError):
        sweep(Path(_system_folder()), now=True)


@contextmanager
def nameless() -> Iterator[BinaryIO]:
    """Yield an open file without a name: nothing of it stays however this process ends. Raises: OSError."""
    with tempfile.TemporaryFile() as unnamed:
        yield cast("BinaryIO", unnamed)


def sweep(parent: Path, now: bool = False) -> None:
    """Remove what killed runs left in a folder: occasionally, or ``now``. Never fails."""
    key, time_s = os.path.realpath(parent), time.monotonic()
    if not now and time_s - _swept.get(key, -_MIN_INTERVAL_S) < _MIN_INTERVAL_S:
        return
    _swept[key] = time_s
    with suppress(OSError), os.scandir(key) as entries:
        for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False):
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    """Remove an entry that is not locked. Links are removed themselves, not their targets."""
    descriptor = _open(Path(entry.path))
    try:
        is_unlocked = None if descriptor is None else _lock(descriptor)
        if is_unlocked is None:  # locks are not supported
            is_unlocked = time.time() - entry.stat(follow_symlinks=False).st_mtime > _MAX_AGE_S
        if is_unlocked and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        elif is_unlocked:
            os.unlink(entry.path)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _ours(fd: int, path: Path) -> bool:
    """Lock a new entry. Return False if another run saw it unlocked and is removing it."""
    if _lock(fd) is False:
        return False
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _open(path: Path) -> int | None:
    """Return a descriptor for locking; None if that is not possible."""
    if fcntl is None:
        return None
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None


def _lock(fd: int) -> bool | None:
    """Return whether the lock was acquired; None if locks are not supported."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
