"""Detect changed files by their metadata, without reading them."""

from __future__ import annotations

import os

import msgspec


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """State of a file. Equal stamps mean that its content has not changed."""

    device: int
    inode: int
    bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, info: os.stat_result) -> Stamp:
        """Return the stamp for the result of ``os.stat``."""
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


class Companion(msgspec.Struct, frozen=True, array_like=True):
    """A further file that a result depends on: external data, or a threshold file."""

    name: str
    """Path relative to the folder of the model; absolute for a threshold file."""
    stamp: Stamp | None
    """None if the file was missing."""


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of a file; None if it is missing or inaccessible."""
    try:
        return Stamp.of(os.stat(path))
    except (OSError, ValueError):
        return None


def companion_stamp(folder: str, name: str) -> Stamp | None:
    """Return the stamp of a file that a model in ``folder`` names; None if it is outside this folder."""
    path = os.path.normpath(os.path.join(folder, name))
    return stamp_of(path) if path.startswith(os.path.join(folder, "")) else None


def unchanged(path: str, stamp: Stamp, companions: list[Companion]) -> bool:
    """Return whether the model and all companions still have these stamps."""
    folder = os.path.dirname(path)
    return stamp_of(path) == stamp and all(
        companion_stamp(folder, companion.name) == companion.stamp for companion in companions
    )
