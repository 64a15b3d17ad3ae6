"""The two file formats: ``.h5`` with all content, and ``.keras``, a zip file of JSON and HDF5."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from py_autodoc import temporary
from py_autodoc.bounded import TooMuch, parse_json
from py_autodoc.errors import LimitError
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.keras import hdf_reader
from py_autodoc.keras.conversion_errors import broken, reading, too_large
from py_autodoc.keras.hdf_reader import RawGroup
from py_autodoc.keras.safe_hdf5 import RATIO, most_weights
from py_autodoc.limits import DESCRIPTION

LEGACY, ZIPPED = "h5", "keras"
MAX_CONFIG = 1 << 26
"""Maximum bytes of the model's configuration."""
MAX_MEMBERS = 10_000
_HDF5 = b"\x89HDF\r\n\x1a\n"
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Archive:
    """An open Keras file."""

    name: str
    form: str
    """``h5`` or ``keras``."""
    version: str
    """Version of Keras that wrote it; empty if unknown."""
    config: dict[str, Any]
    """Configuration of the model."""
    size: int
    """Size of the file in bytes."""
    weights: RawGroup
    """For ``h5``, the group with one group per layer; for ``keras``, the root of ``model.weights.h5``."""


@contextmanager
def opened(path: PathLike) -> Iterator[Archive]:
    """Open a file for the ``with`` block.

    Raises:
        PathError: there is no such regular file.
        InputError: the file is damaged, or is not a complete model.
        LimitError: the file, or its unpacked content, exceeds a limit.
        RequirementError: h5py is missing.
    """
    name = base_name(path)
    hdf_reader.need_h5py()
    with regular_file(path) as (fd, status), os.fdopen(os.dup(fd), "rb") as file:
        head = file.read(len(_HDF5))
        file.seek(0)
        if head == _HDF5:
            with hdf_reader.opened(file, name, status.st_size) as top:
                yield _legacy(top, name, status.st_size)
        elif head[:4] == b"PK\x03\x04":
            with _zipped(file, name, status.st_size) as archive:
                yield archive
        else:
            raise broken(name, "is neither HDF5 nor a .keras archive.", "Save the model with Keras.")


def _legacy(top: RawGroup, name: str, size: int) -> Archive:
    config = top.attribute("model_config")
    if config is None:
        only = top.attribute("layer_names") is not None or top.group("layers") is not None
        problem = "contains only weights" if only else "is HDF5, but has no model_config of Keras"
        raise broken(name, f"{problem}.", "Save the whole model: model.save(path).")
    weights = top.group("model_weights")
    if weights is None:
        raise broken(name, "has no model_weights.", "Save the whole model: model.save(path).")
    version = top.attribute("keras_version") or weights.attribute("keras_version") or ""
    return Archive(name, LEGACY, version, _parsed(config, name), size, weights)


@contextmanager
def _zipped(file: IO[bytes], name: str, size: int) -> Iterator[Archive]:
    with reading(name):
        archive = zipfile.ZipFile(file)
        members = {info.filename: info for info in archive.infolist()}
    if len(members) > MAX_MEMBERS:
        raise too_large(name, "nodes", len(members), MAX_MEMBERS, "files in the archive")
    if "config.json" not in members:
        raise broken(name, "is an archive without config.json.", "Save the model with Keras.")
    if "model.weights.h5" not in members:
        more = " Weights in several files are not read." if "model.weights.json" in members else ""
        raise broken(name, f"is an archive without model.weights.h5.{more}", "Save the model with Keras.")
    config = _parsed(_text(archive, members["config.json"], name), name)
    version = ""
    if "metadata.json" in members:
        version = str(_parsed(_text(archive, members["metadata.json"], name), name).get("keras_version", ""))
    info = members["model.weights.h5"]
    with temporary.nameless() as unpacked:
        for chunk in _chunks(archive, info, name, most_weights(size)):
            unpacked.write(chunk)
        unpacked.seek(0)
        with hdf_reader.opened(unpacked, name, info.file_size) as weights:
            yield Archive(name, ZIPPED, version, config, size, weights)


def _text(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> str:
    return b"".join(_chunks(archive, info, name, MAX_CONFIG)).decode("utf-8", "backslashreplace")


def _chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limit: int) -> Iterator[bytes]:
    """Yield a member in chunks, at most as many bytes as it declares and at most ``limit``."""
    if info.file_size > limit:
        raise too_large(name, "structure_bytes", info.file_size, limit, f"bytes of {info.filename}")
    if info.file_size > RATIO * max(info.compress_size, 1):
        raise broken(name, f"{info.filename} unpacks to more than it can have been packed from.")
    read_bytes = 0
    with reading(name), archive.open(info) as member:
        while chunk := member.read(_CHUNK_BYTES):
            read_bytes += len(chunk)
            if read_bytes > info.file_size:
                raise broken(name, f"{info.filename} is longer than the archive says.")
            yield chunk


def _parsed(content: str, name: str) -> dict[str, Any]:
    if len(content) > MAX_CONFIG:
        raise too_large(name, "structure_bytes", len(content), MAX_CONFIG, "characters of its description")
    try:
        parsed = parse_json(content, DESCRIPTION)
    except TooMuch as fault:
        message = f"{name}: its description {fault}."
        raise LimitError("description", len(content), DESCRIPTION.values, message) from None
    except ValueError as fault:
        raise broken(name, f"its description is not JSON: {fault}.") from fault
    if not isinstance(parsed, dict):
        raise broken(name, "its description is not a JSON object.")
    return parsed
