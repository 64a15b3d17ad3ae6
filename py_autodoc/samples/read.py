"""Read samples from ``.npz`` and ``.npy`` files and folders of them. Nothing is unpickled."""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, PathError
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.samples.specs import InputSpec, Sample, cast_to_inputs

MAX_FILE = 1 << 32
"""Maximum bytes of a file, and of the unpacked content of an archive."""
_LONGEST = 200
_UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    MemoryError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""Exceptions of NumPy and zipfile for damaged files."""


def read_samples(
    path: str | os.PathLike[str], specs: list[InputSpec], limit: int | None = None
) -> Iterator[Sample]:
    """Yield the samples of a file, or of the files of a folder by name; at most ``limit``.

    An array with the shape of the input is one sample. An array with an additional first axis holds one
    sample per row; one whose first dimension is a multiple of the input's is split. All inputs of a file have
    the same number of samples.

    Raises:
        PathError: there is nothing at the path.
        InputError: a file has no such arrays; the message names file, input and shapes.
    """
    count = 0
    for file in sample_files(path):
        for sample in samples_in(read_arrays(file), specs, file.name):
            if count == limit:
                return
            count += 1
            yield sample


def sample_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file, or the files of the folder sorted by name. Raises: PathError, InputError."""
    location = Path(path)
    try:
        location.stat()
    except (OSError, ValueError) as fault:
        name = base_name(path)[:_LONGEST]
        raise PathError("path-missing", f"{name}: no such file or folder, or it cannot be read.") from fault
    files = (
        sorted(file for file in location.iterdir() if file.suffix in (".npz", ".npy"))
        if location.is_dir()
        else [location]
    )
    if not files:
        raise InputError(
            "no-samples", f"{base_name(path)}: the folder contains no .npz file, .npy file or image."
        )
    return files


def samples_in(
    arrays: dict[str, np.ndarray[Any, Any]], specs: list[InputSpec], source: str
) -> Iterator[Sample]:
    """Yield the samples of arrays by input, as for a file. Raises: InputError, naming ``source``."""
    if len(specs) == 1 and len(arrays) == 1:
        arrays = {specs[0].name: next(iter(arrays.values()))}
    rows = {spec.name: split(arrays[spec.name], spec.shape) for spec in specs if spec.name in arrays}
    counts = {len(parts) for parts in rows.values()}
    if len(counts) > 1:
        listed = ", ".join(f"{name} {len(parts)}" for name, parts in rows.items())
        raise InputError(
            "sample-counts", f"{source}: the inputs have different numbers of samples: {listed}."
        )
    for index in range(max(counts, default=1)):
        sample = {name: parts[index] for name, parts in rows.items()}
        yield cast_to_inputs(arrays | sample, specs, source)


def split(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    """Return the samples in an array; the array itself if it is one sample, or does not fit."""
    if array.shape == shape:
        return [array]
    if array.shape[1:] == shape:
        return list(array)
    size = shape[0] if shape else 0
    if array.ndim and size and array.shape[1:] == shape[1:] and array.shape[0] % size == 0:
        return [array[start : start + size] for start in range(0, array.shape[0], size)]
    return [array]


def read_arrays(file: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a ``.npz`` or ``.npy`` file by name. Raises: InputError."""
    try:
        if file.stat().st_size > MAX_FILE:
            raise InputError("sample-too-large", f"{file.name} is larger than 4 GB.")
        if file.suffix == ".npz":
            _check_size(file)
        content = np.load(file, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return {file.stem: content}
        with content:
            return {name: content[name] for name in content.files}
    except _UNREADABLE as fault:
        raise InputError(
            "sample-unreadable", f"{file.name} cannot be read as a NumPy file: {_line(fault)}"
        ) from fault


def _check_size(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > MAX_FILE:
            raise InputError("sample-too-large", f"{file.name} contains more than 4 GB.")


def _line(fault: BaseException) -> str:
    text = str(fault).strip().splitlines()
    if text and "pickle" in text[0]:  # NumPy suggests allowing pickles, which are never loaded.
        return "it contains data other than numeric arrays."
    return (text[0][:200] if text else type(fault).__name__).rstrip(".") + "."
