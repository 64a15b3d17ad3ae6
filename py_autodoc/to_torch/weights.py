"""Weights of the generated file, one tensor at a time: safetensors, or .npz for numpy.

Tensors that are only copied are never held in memory as a whole; tensors that a layer needs in another layout
are, one at a time.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from py_autodoc.errors import OptionError
from py_autodoc.graph.protobuf.tensor_protos import element_count
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.outputs.marks import COMMENT, WRITER
from py_autodoc.to_torch.dtypes import BITS_ONLY, NUMPY, SAFETENSORS, TORCH, WIDE
from py_autodoc.to_torch.module import ModuleWeight
from py_autodoc.to_torch.source import ModelFile

SUFFIXES = {"safetensors": ".safetensors", "npz": ".npz"}
_MAX_BYTES = 1 << 40


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of the weights file."""

    name: str
    weight: ModuleWeight

    @property
    def size(self) -> int:
        """Size in bytes."""
        return (element_count(self.weight.shape) or 0) * np.dtype(NUMPY[self.weight.dtype]).itemsize


def plan(weights: Iterable[tuple[str, ModuleWeight]]) -> tuple[list[StoredTensor], dict[str, str]]:
    """Return (stored tensors, tied name → name it is stored under); equal weights are stored once."""
    stored: list[StoredTensor] = []
    tied: dict[str, str] = {}
    first: dict[tuple[object, ...], str] = {}
    for name, weight in weights:
        key = (weight.tensor, weight.key, weight.shape)
        if weight.tensor >= 0 and key in first:
            tied[name] = first[key]
            continue
        first[key] = name
        stored.append(StoredTensor(name, weight))
    return stored, tied


def bits_only(stored: Iterable[StoredTensor]) -> dict[str, str]:
    """Return the tensors of an .npz file stored as raw bits → their torch type."""
    return {tensor.name: TORCH[tensor.weight.dtype] for tensor in stored if tensor.weight.dtype in BITS_ONLY}


def write(source: ModelFile, stored: list[StoredTensor], path: Path, kind: str) -> None:
    """Write the weights.

    Raises: OptionError: the format does not support a type. ExternalDataError: a weight cannot be read.
    OSError: the file cannot be written.
    """
    if kind == "safetensors":
        _nameable(source, stored)
    with source.files() as files:
        if kind == "safetensors":
            _safetensors(source, files, stored, path)
        else:
            _npz(source, files, stored, path)


def _nameable(source: ModelFile, stored: list[StoredTensor]) -> None:
    """Raise an OptionError if the format does not support a type."""
    odd = next((tensor for tensor in stored if tensor.weight.dtype not in SAFETENSORS), None)
    if odd is not None:
        raise OptionError(
            "weights-type",
            f"{source.name}: {odd.name} is {TORCH[odd.weight.dtype]}, which safetensors cannot hold.",
            "Use --weights npz.",
        )


def _safetensors(source: ModelFile, files: TensorFiles, stored: list[StoredTensor], path: Path) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt", **WRITER}}
    offset = 0
    # Tensors with larger elements go first, so that every tensor is aligned.
    order = sorted(stored, key=lambda tensor: -np.dtype(NUMPY[tensor.weight.dtype]).itemsize)
    for tensor in order:
        kind = SAFETENSORS[tensor.weight.dtype]
        header[tensor.name] = {
            "dtype": kind,
            "shape": tensor.weight.shape,
            "data_offsets": [offset, offset + tensor.size],
        }
        offset += tensor.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for tensor in order:
            _copy(source, files, tensor, out)


def _npz(source: ModelFile, files: TensorFiles, stored: list[StoredTensor], path: Path) -> None:
    with zipfile.ZipFile(path, "x", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.comment = COMMENT
        for tensor in stored:
            entry = zipfile.ZipInfo(f"{tensor.name}.npy")
            with archive.open(entry, "w", force_zip64=True) as out:
                head = io.BytesIO()
                facts = {
                    "descr": NUMPY[tensor.weight.dtype],
                    "fortran_order": False,
                    "shape": tensor.weight.shape,
                }
                np.lib.format.write_array_header_1_0(head, facts)
                out.write(head.getvalue())
                _copy(source, files, tensor, out)


def _copy(source: ModelFile, files: TensorFiles, tensor: StoredTensor, out: IO[bytes]) -> None:
    """Write the bytes of one tensor; their number must match the header."""
    weight, written = tensor.weight, 0
    for chunk in _chunks(source, files, weight):
        written += len(chunk)
        out.write(chunk)
    if written != tensor.size:
        raise source.unread(
            weight.tensor, UnreadableTensor(f"it needs {tensor.size:,} bytes, {written:,} are there")
        )


def _chunks(source: ModelFile, files: TensorFiles, weight: ModuleWeight) -> Iterator[bytes]:
    unchanged = weight.transform is None and weight.dtype not in WIDE and weight.tensor >= 0
    if unchanged and source.has_file(weight.tensor):
        try:
            yield from source.content(weight.tensor, files).pieces()
        except UnreadableTensor as why:
            raise source.unread(weight.tensor, why) from None
        return
    array = None
    if weight.tensor >= 0:
        array = source.read(weight.tensor, files)
        if weight.dtype in BITS_ONLY:
            array = _bits(source, files, weight)
    if weight.transform is not None:
        array = weight.transform(array)
    yield np.ascontiguousarray(np.asarray(array).astype(NUMPY[weight.dtype], copy=False)).tobytes()


def _bits(
    source: ModelFile, files: TensorFiles, weight: ModuleWeight
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    """Return the stored bits of types without a numpy equivalent, so that transforms can reorder them."""
    data = b"".join(source.content(weight.tensor, files).pieces())
    array = np.frombuffer(data, NUMPY[weight.dtype])
    return array.reshape(source.dims(weight.tensor) or ())
