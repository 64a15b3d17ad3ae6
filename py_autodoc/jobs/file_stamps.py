"""Content identity at the price of a stat: which file, in which state."""

from __future__ import annotations

import os

import msgspec


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """Equal stamps mean that the content was not touched."""

    device: int
    inode: int
    bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, info: os.stat_result) -> Stamp:
        """The stamp of a stat result."""
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


class Companion(msgspec.Struct, frozen=True, array_like=True):
    """A file beside the model that a result depends on; ``stamp`` is None when it was missing."""

    name: str
    stamp: Stamp | None


def stamp_of(path: str) -> Stamp | None:
    """State of the file, None when it cannot be had."""
    try:
        return Stamp.of(os.stat(path))
    except (OSError, ValueError):
        return None


def stamp_beside(folder: str, name: str) -> Stamp | None:
    """State of a file named by the model; names that lead out of ``folder`` are not looked at."""
    path = os.path.normpath(os.path.join(folder, name))
    return stamp_of(path) if path.startswith(os.path.join(folder, "")) else None


def unchanged(path: str, stamp: Stamp, companions: list[Companion]) -> bool:
    """True when the model and the files beside it are as they were."""
    folder = os.path.dirname(path)
    return stamp_of(path) == stamp and all(
        stamp_beside(folder, companion.name) == companion.stamp for companion in companions
    )
