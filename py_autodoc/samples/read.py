"""Samples from files: ``.npz``, ``.npy`` and folders of them. Nothing is unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, PathError
from py_autodoc.samples.specs import InputSpec, Sample, matched

MAX_FILE = 1 << 32
"""Bytes of a file, and of what an archive holds."""


def read_samples(path: str | Path, specs: list[InputSpec], limit: int | None = None) -> Iterator[Sample]:
    """The samples of a file or of the files of a folder, in the order of their names; at most ``limit``.

    An array of the input's own sizes is one sample. One with an axis more in front holds a sample in each
    row; one whose first axis is a multiple of the input's is cut into samples. All inputs of a file have the
    same number of samples.

    Raises:
        PathError: there is nothing at the path.
        InputError: a file holds no such arrays; its line names file, input and sizes.
    """
    at = Path(path)
    if not at.exists():
        raise PathError("not-found", f"{path}: no such file or folder.")
    files = sorted(one for one in at.iterdir() if one.suffix in (".npz", ".npy")) if at.is_dir() else [at]
    if not files:
        raise InputError("no-samples", f"{path}: the folder holds no .npz and no .npy file.")
    given = 0
    for file in files:
        for sample in _of_file(file, specs):
            if given == limit:
                return
            given += 1
            yield sample


def _of_file(file: Path, specs: list[InputSpec]) -> Iterator[Sample]:
    arrays = _arrays(file)
    if len(specs) == 1 and len(arrays) == 1:
        arrays = {specs[0].name: next(iter(arrays.values()))}
    split = {one.name: _split(arrays[one.name], one) for one in specs if one.name in arrays}
    counts = {len(parts) for parts in split.values()}
    if len(counts) > 1:
        shown = ", ".join(f"{name} {len(parts)}" for name, parts in split.items())
        raise InputError(
            "sample-counts", f"{file.name}: the inputs have different numbers of samples: {shown}."
        )
    for at in range(max(counts, default=1)):
        given = {name: parts[at] for name, parts in split.items()}
        yield matched(given if given else arrays, specs, file.name)


def _split(array: np.ndarray[Any, Any], spec: InputSpec) -> list[np.ndarray[Any, Any]]:
    """The samples in an array; itself where it is one, or where it fits in no way."""
    if array.shape == spec.shape:
        return [array]
    if array.shape[1:] == spec.shape:
        return list(array)
    size = spec.shape[0] if spec.shape else 0
    if array.ndim and size and array.shape[1:] == spec.shape[1:] and array.shape[0] % size == 0:
        return [array[at : at + size] for at in range(0, array.shape[0], size)]
    return [array]


def _arrays(file: Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        if file.stat().st_size > MAX_FILE:
            raise InputError("sample-too-large", f"{file.name} is larger than 4 GB.")
        if file.suffix == ".npz":
            _bounded(file)
        held = np.load(file, allow_pickle=False)
        if isinstance(held, np.ndarray):
            return {file.stem: held}
        with held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError, MemoryError, SyntaxError) as fault:
        raise InputError(
            "sample-unreadable", f"{file.name} is not a NumPy file that can be read: {_line(fault)}"
        ) from fault


def _bounded(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        if sum(one.file_size for one in archive.infolist()) > MAX_FILE:
            raise InputError("sample-too-large", f"{file.name} holds more than 4 GB.")


def _line(fault: BaseException) -> str:
    text = str(fault).strip().splitlines()
    return (text[0][:200] if text else type(fault).__name__).rstrip(".") + "."
