"""The files that a run reads, so that none of them is overwritten.

Files are identified by device and inode: a link, a hard link and, on case-insensitive file systems, another
spelling of the name are the same file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property

from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike, base_name

Id = tuple[int, int]
_originals: dict[str, str] = {}
"""Temporary file → the input that it was made from."""


def stands_for(path: str, original: str) -> None:
    """Protect an input whose content was written to another file that a command reads in its place."""
    _originals[path] = original


def original(path: PathLike) -> str | None:
    """Return the input that a temporary file stands for, or None for a file of its own."""
    return _originals.get(os.fsdecode(path))


class ReadFiles:
    """The files behind some paths. Folders include their content, models their external data.

    Models are examined on demand, and all of their data count, however many files they are; with ``examined``
    false, they are not read.
    """

    def __init__(self, paths: Iterable[PathLike] = (), examined: bool = True) -> None:
        self._examined = examined
        given = [os.fspath(path) for path in paths if os.fspath(path)]
        self._paths = [*given, *(_originals[path] for path in given if path in _originals)]

    def same(self, status: os.stat_result) -> str | None:
        """Return what an input is (``m.onnx``, ``weights.bin, the data of m.onnx``), or None for other files.

        Models are only examined for external data here: a file that does not exist cannot be part of it.
        """
        key = (status.st_dev, status.st_ino)
        return self._named_files.get(key) or self._data.get(key)

    def inside(self, status: os.stat_result) -> bool:
        """Return whether it is an input only by being in an input folder, which may also contain results."""
        return (status.st_dev, status.st_ino) in self._inside

    @cached_property
    def _named_files(self) -> dict[Id, str]:
        names = {key: os.path.basename(os.path.normpath(path)) for path in self._paths if (key := _id(path))}
        return {**self._inside, **names}

    @cached_property
    def _inside(self) -> dict[Id, str]:
        names: dict[Id, str] = {}
        for path in self._paths:
            name = os.path.basename(os.path.normpath(path))
            for file in _files(path) if os.path.isdir(path) else ():
                if key := _id(file):
                    names.setdefault(key, f"{os.path.basename(file)} of {name}")
        return names

    @cached_property
    def _data(self) -> dict[Id, str]:
        names: dict[Id, str] = {}
        for path in self._paths:
            if self._examined and os.path.isfile(path):
                for file in data_files(path):
                    if (key := _id(file)) is not None:
                        names.setdefault(key, f"{os.path.basename(file)}, the data of {base_name(path)}")
        return names


def _files(path: str) -> Iterator[str]:
    """Yield the content of a folder, except for files exported into it, which are not inputs."""
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return (file for file in paths if ".onnx" not in os.path.basename(file))


def data_files(path: str) -> list[str]:
    """Return the paths of a model's external data; empty if the file is not a model."""
    from py_autodoc.graph.loading.first_pass import external_tensors
    from py_autodoc.graph.loading.load import parse_structure
    from py_autodoc.graph.protobuf.probe import regular_file
    from py_autodoc.graph.protobuf.protobuf_wire import WireSource
    from py_autodoc.graph.protobuf.tensor_protos import external_entries

    try:
        with regular_file(path) as (fd, status):
            proto = parse_structure(WireSource(status.st_size, fd), base_name(path))
        tensors = external_tensors(proto)
    except AutodocError:
        # It is not a readable model; the command that reads it reports that.
        return []
    locations = {external_entries(tensor).get("location", "") for tensor in tensors}
    folder = os.path.dirname(os.path.abspath(path))
    return [
        os.path.join(folder, location) for location in sorted(locations) if location and "\0" not in location
    ]


def _id(path: str) -> Id | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
