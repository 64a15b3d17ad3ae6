"""SHA-256 of a model file and its external data files, read in pieces and cached.

``FileFacts.identity`` covers only the structure and does not change with the weights; these hashes
distinguish any two files. Hashes are cached per user in ``onnx-autodoc/sha256.json`` of the cache folder, by
device, inode, size and both times of the file, so a replaced or modified file is read again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from py_autodoc import temporary
from py_autodoc.errors import InputError, PathError
from py_autodoc.graph.loading.external_data import Folders

Progress = Callable[[int, int], None]
"""Called with (bytes done, total bytes). An exception it raises aborts the reading."""
PIECE = 4 << 20
MAX_CACHED = 4096
"""Maximum number of cached hashes; the newest are kept."""
SETTLED_NS = 2_000_000_000
"""A file modified more recently may change again without a new timestamp, so its hash is not cached."""


class Hashes(msgspec.Struct, frozen=True):
    """``model`` is hexadecimal; ``external`` is by location, None for missing or irregular files."""

    model: str
    external: dict[str, str | None]


def hashes(path: str, external: Sequence[str] = (), progress: Progress | None = None) -> Hashes:
    """Return the SHA-256 of a model file and of its external data, given by location.

    Raises:
        PathError: a file cannot be read.
        InputError: a file changed while it was read.
    """
    folders, cache = Folders(path), _Cache()
    real_paths = {location: _regular(folders.resolve(location)) for location in external}
    files = list(dict.fromkeys([os.path.realpath(path), *(real for real in real_paths.values() if real)]))
    meter = _HashProgress(sum(os.stat(file).st_size for file in files), progress)
    digests = {file: _of_file(file, cache, meter) for file in files}
    cache.save()
    return Hashes(
        digests[files[0]], {name: digests[real] if real else None for name, real in real_paths.items()}
    )


def of_bytes(data: bytes) -> str:
    """Return the SHA-256 of a model in memory, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _regular(path: str | None) -> str | None:
    """Return the path if it is a regular file, else None."""
    try:
        return path if path is not None and stat.S_ISREG(os.stat(path).st_mode) else None
    except OSError:
        return None


class _HashProgress:
    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self.add(0)

    def add(self, count: int) -> None:
        """Add the bytes just read."""
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


def _of_file(path: str, cache: _Cache, meter: _HashProgress) -> str:
    name = os.path.basename(path)
    try:
        with open(path, "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            key = _key(before)
            remembered = cache.get(key)
            if remembered is not None:
                meter.add(before.st_size)
                return remembered
            digest, unread = hashlib.sha256(), before.st_size
            while unread >= 0 and (piece := file.read(PIECE)):  # a file that keeps growing would never end
                digest.update(piece)
                unread -= len(piece)
                meter.add(len(piece))
            after = os.fstat(file.fileno())
    except OSError as fault:
        raise PathError("unreadable", f"{name}: {fault.strerror or fault}.") from None
    if _key(after) != key:
        raise InputError("file-changed", f"{name}: the file changed while it was read.", "Try again.")
    cache.put(key, digest.hexdigest(), before)
    return digest.hexdigest()


def _key(status: os.stat_result) -> str:
    """Return a key that changes with the content of the file."""
    parts = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return ":".join(map(str, parts))


class _Cache:
    """The cached hashes. Failing to store them is not an error."""

    def __init__(self) -> None:
        self._file = _folder() / "sha256.json"
        self._digests: dict[str, str] = {}
        self._new = False
        with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            if self._file.stat().st_size < 1 << 20:
                self._digests = msgspec.json.decode(self._file.read_bytes(), type=dict[str, str])

    def get(self, key: str) -> str | None:
        """Return the cached hash for a file state."""
        digest = self._digests.get(key)
        return digest if digest is not None and len(digest) == hashlib.sha256().digest_size * 2 else None

    def put(self, key: str, digest: str, status: os.stat_result) -> None:
        """Cache a hash, unless the file may still be written to."""
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS:
            self._digests.pop(key, None)
            self._digests[key] = digest
            self._new = True

    def save(self) -> None:
        """Store the newest hashes atomically."""
        if not self._new:
            return
        newest = dict(list(self._digests.items())[-MAX_CACHED:])
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.written(self._file, msgspec.json.encode(newest))


def _folder() -> Path:
    """Return the user's cache folder for this program."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    return Path(base or os.path.expanduser("~/.cache")) / "onnx-autodoc"
