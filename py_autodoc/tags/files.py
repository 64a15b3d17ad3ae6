"""Models and their tags in files: read without weights, written in one step.

A result takes its place only when it is complete. Large weights go into a second file beside the
model, inside its folder.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import onnx
import onnx_ir as ir

from py_autodoc.errors import InputError, OutputError
from py_autodoc.graph.load import parse_structure
from py_autodoc.graph.probe import PathLike, base_name, regular_file
from py_autodoc.graph.wire import Source
from py_autodoc.limits import LIBRARY, Limits

LARGE = 1536 << 20
"""Bytes of weights from which a model is written with external data, well below protobuf's 2 GiB."""


def structure(path: PathLike, limits: Limits = LIBRARY) -> ir.Model:
    """A model's graph without its weights: large tensors are references to the file.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: as ``py_autodoc.analyze``.
        InputError: the graph makes no sense, as where two nodes make one tensor.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        proto = parse_structure(Source(status.st_size, fd), name, limits)
    return to_ir(proto, name)


def to_ir(proto: onnx.ModelProto, name: str = "The model") -> ir.Model:
    """The graph of a protobuf. Raises: InputError where it makes no sense."""
    try:
        return ir.from_proto(proto)
    except Exception as fault:
        line = str(fault.__cause__ or fault).strip().partition("\n")[0]
        raise InputError(
            "graph-inconsistent", f"{name}: its graph makes no sense: {line}", "`analyze` tells more."
        ) from fault


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` when the block ends well, and is gone when not.

    Raises:
        OutputError: the folder is missing or cannot be written, or there is no space.
    """
    target = checked(path)
    temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        with _told(target):
            with open(temporary, "xb") as file:
                yield file
            take_place(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def staging(path: PathLike) -> Iterator[Path]:
    """A folder beside ``path`` for files that belong together; it is gone after the block.

    Raises:
        OutputError: as ``replacing``.
    """
    target = checked(path)
    with _told(target):
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:60]}.", suffix=".tmp", dir=target.parent))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def checked(path: PathLike) -> Path:
    """Where a result goes, links followed. Raises: OutputError, before any work is done."""
    target = Path(os.path.realpath(path))
    name = base_name(path)
    if target.is_dir():
        raise OutputError("output-is-a-folder", f"{name or '.'}: is a folder.", "Give a file name.")
    if not target.parent.is_dir():
        raise OutputError("output-folder-missing", f"{name}: its folder does not exist.", "Create it first.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError("output-not-writable", f"{name}: its folder is not writable.")
    return target


def take_place(temporary: Path, target: Path) -> None:
    """Put a finished file in the place of another, with the permissions of that one."""
    with suppress(FileNotFoundError):
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(temporary, target)


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise OutputError(
            "output-failed", f"Could not write {target.name}: {fault.strerror or fault}."
        ) from fault


def weight_bytes(model: ir.Model) -> int:
    """Bytes of all initializers, those in bodies included."""
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    return sum(int(tensor.nbytes) for tensor in tensors if tensor is not None)


def save(model: ir.Model, path: PathLike, external_data: bool | None = None) -> list[Path]:
    """Write a model in one step; the files written.

    Args:
        model: what to write; it stays as it is.
        path: the model's file.
        external_data: weights in ``<name>.data`` beside it; None: from 1.5 GiB of weights on.

    Raises:
        OutputError: it cannot be written; nothing is left behind and no older file is lost.
    """
    if external_data is None:
        external_data = weight_bytes(model) > LARGE
    target = checked(path)
    with staging(target) as folder:
        written = folder / target.name
        location = f"{target.name}.data" if external_data else None
        ir.save(model, written, external_data=location)
        names = [location] if location and (folder / location).exists() else []
        for name in [*names, target.name]:
            take_place(folder / name, target.with_name(name))
    return [target, *(target.with_name(name) for name in names)]


def rewritten(path: PathLike, out: PathLike, write: Callable[[Source, BinaryIO], None]) -> None:
    """Write ``out`` from ``path`` by ``write``; both may be the same file.

    Raises:
        PathError, OutputError: as ``structure`` and ``replacing``.
        InputError: the model has weights in files of another folder than ``out``'s.
    """
    with regular_file(path) as (fd, status), replacing(out) as file:
        write(Source(status.st_size, fd), file)


def check_external(model: ir.Model, path: PathLike, out: PathLike) -> None:
    """A copy in another folder would lose weights that are in files beside the model.

    Raises:
        InputError: that is so here.
    """
    if os.path.realpath(os.path.dirname(os.path.abspath(path))) == os.path.dirname(os.path.realpath(out)):
        return
    own = base_name(path)
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    if any(isinstance(tensor, ir.ExternalTensor) and tensor.location != own for tensor in tensors):
        raise InputError(
            "external-data-elsewhere",
            f"{own}: its weights are in files beside it, which a copy in another folder would not find.",
            "Write the result into the model's own folder.",
        )
