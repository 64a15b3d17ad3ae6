"""Read samples from ``.npz`` and ``.npy`` files and folders of them. Nothing is unpickled."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from py_autodoc.errors import InputError, PathError
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.samples.specs import InputSpec, Sample, cast_to_inputs, check_inputs
from py_autodoc.samples.stored_arrays import Array, read_arrays, stored_arrays

log = logging.getLogger("py_autodoc.samples")
_LONGEST = 200
MAX_FILES = 100_000
"""Maximum number of files in a folder of samples."""


class Rows(Sequence[Array]):
    """The samples in an array, as views that are made when they are asked for.

    An array with the shape of the input is one sample. An array with an additional first axis holds one
    sample per row; one whose first dimension is a multiple of the input's is split. Any other array is one
    sample, which does not fit.
    """

    def __init__(self, array: Array, shape: tuple[int, ...]) -> None:
        size = shape[0] if shape else 0
        self._array = array
        self.step: int | None = None
        """Rows of the array per sample; 0 if a row is a sample, None if all of it is one."""
        if array.shape == shape:
            return
        if array.shape[1:] == shape and array.ndim > len(shape):
            self.step = 0
        elif array.ndim and size and array.shape[1:] == shape[1:] and array.shape[0] % size == 0:
            self.step = size

    def __len__(self) -> int:
        return 1 if self.step is None else len(self._array) // (self.step or 1)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...
    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        if self.step is None:
            return self._array
        start = index * self.step
        return self._array[index] if self.step == 0 else self._array[start : start + self.step]

    def rows(self, samples: int | None) -> int | None:
        """Return the first rows of the array that hold so many samples; None for all."""
        return None if samples is None or self.step is None else samples * (self.step or 1)


def read_samples(
    path: str | os.PathLike[str], specs: list[InputSpec], limit: int | None = None
) -> Iterator[Sample]:
    """Yield the samples of a file, or of the files of a folder by name; at most ``limit``.

    ``Rows`` says how an array is divided into samples. All inputs of a file have the same number of samples.
    Types and shapes are checked before values are read, and only the rows of the samples are read.

    Raises:
        PathError: there is nothing at the path.
        InputError: a file has no such arrays; the message names file, input and shapes.
    """
    left = limit
    for number, file in enumerate(sample_files(path)):
        if left == 0:
            return
        count, rows = layout(file, specs, left)
        if not number:
            tell_renamed(file, rows, specs)
        left = None if left is None else left - min(left, count)
        yield from samples_in(read_arrays(file, rows), specs, base_name(file))


def layout(
    file: Path, specs: Sequence[InputSpec], limit: int | None, others: Sequence[str] = ()
) -> tuple[int, dict[str, int | None]]:
    """Return the number of samples in a file, and the rows of its arrays that hold the first ``limit``.

    Args:
        file: a NumPy file, of which only the headers are read.
        specs: the inputs.
        limit: maximum number of samples; None for all.
        others: arrays that are not inputs, whose rows are divided among the samples.

    Raises: PathError, InputError: types or shapes do not fit the inputs.
    """
    stored = stored_arrays(file)
    arrays = {name: array.stand_in for name, array in stored.items() if name not in others}
    parts, count = divided(arrays, specs, base_name(file))
    check_inputs(
        arrays | {name: part[0] for name, part in parts.items() if len(part)}, specs, base_name(file)
    )
    only = next(iter(arrays)) if len(specs) == 1 and len(arrays) == 1 else None
    rows = {only if only is not None else name: part.rows(limit) for name, part in parts.items()}
    for name in others:
        if name in stored:
            shape = stored[name].shape
            if shape and count and shape[0] % count:
                raise InputError("label-counts", f"{base_name(file)}: {shape[0]} labels for {count} samples.")
            per_sample = shape[0] // count if shape and count else 0
            rows[name] = None if limit is None or not per_sample else limit * per_sample
    return count, rows


def tell_renamed(file: Path, rows: Mapping[str, int | None], specs: Sequence[InputSpec]) -> None:
    """Log if the only array of an archive is taken as the only input, whose name is another.

    Args:
        file: the first file of the data; a ``.npy`` has no name of an array.
        rows: the arrays that are read, as from ``layout``.
        specs: the inputs.
    """
    if file.suffix != ".npy" and len(specs) == 1 and rows and specs[0].name not in rows:
        taken, name = next(iter(rows))[:_LONGEST], specs[0].name[:_LONGEST]
        log.warning("%s: %s is taken as %s, the only input.", base_name(file), taken, name)


def sample_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file, or the files of the folder sorted by name. Raises: PathError, InputError."""
    location = Path(path)
    try:
        location.stat()
        if not location.is_dir():
            return [location]
        files = sorted(file for file in location.iterdir() if file.suffix in (".npz", ".npy"))
    except (OSError, ValueError) as fault:
        name = base_name(path)[:_LONGEST]
        raise PathError("path-missing", f"{name}: no such file or folder, or it cannot be read.") from fault
    if not files:
        raise InputError(
            "no-samples", f"{base_name(path)}: the folder contains no .npz file, .npy file or image."
        )
    if len(files) > MAX_FILES:
        raise InputError(
            "samples-too-large", f"{base_name(path)}: the folder contains more than {MAX_FILES:,} files."
        )
    return files


def divided(
    arrays: Mapping[str, Array], specs: Sequence[InputSpec], source: str
) -> tuple[dict[str, Rows], int]:
    """Return the samples by input, and their number. Raises: InputError: the numbers differ."""
    if len(specs) == 1 and len(arrays) == 1:
        arrays = {specs[0].name: next(iter(arrays.values()))}
    parts = {spec.name: Rows(arrays[spec.name], spec.shape) for spec in specs if spec.name in arrays}
    counts = {len(part) for part in parts.values()}
    if len(counts) > 1:
        listed = ", ".join(f"{name} {len(part)}" for name, part in parts.items())
        raise InputError(
            "sample-counts", f"{source}: the inputs have different numbers of samples: {listed}."
        )
    return parts, max(counts, default=1)


def samples_in(arrays: Mapping[str, Array], specs: Sequence[InputSpec], source: str) -> Iterator[Sample]:
    """Yield the samples of arrays by input, as for a file. Raises: InputError, naming ``source``."""
    parts, count = divided(arrays, specs, source)
    for index in range(count):
        sample = {name: part[index] for name, part in parts.items()}
        yield cast_to_inputs({**arrays, **sample}, list(specs), source)


def split(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Sequence[np.ndarray[Any, Any]]:
    """Return the samples in an array; the array itself if it is one sample, or does not fit."""
    return Rows(array, shape)
