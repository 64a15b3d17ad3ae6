"""Models on disk while they are quantized: large ones have their weights in a second file.

A protobuf holds less than 2 GiB, so such weights go beside the model, and the tools get paths and never the
model as one message.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx

from py_autodoc.errors import OutputError
from py_autodoc.ort import weight_bytes
from py_autodoc.outputs.marks import DATA
from py_autodoc.tags import model_files
from py_autodoc.units import size

_ROOM = 3
"""Times its weights that a large model takes in temporary files: prepared, for ranges, quantized."""
_SMALLEST = 1024
"""Bytes of a tensor that is worth its place in the second file."""


def too_large(model: onnx.ModelProto) -> bool:
    """Whether a model in memory needs a second file for its weights."""
    return weight_bytes(model.graph) > model_files.LARGE


def is_large(path: Path) -> bool:
    """Whether ``store`` has put the weights of this file beside it."""
    return path.with_name(f"{path.name}{DATA}").exists()


def store(model: onnx.ModelProto, path: Path) -> None:
    """Write a model.

    Weights of more than ``model_files.LARGE`` bytes go into ``<name>.data`` and out of memory.

    Raises: OSError.
    """
    if not too_large(model):
        onnx.save(model, path)
        return
    onnx.save(
        model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=f"{path.name}{DATA}",
        size_threshold=_SMALLEST,
    )  # fmt: skip


def check_room(model: onnx.ModelProto, folder: Path) -> None:
    """Raises: OutputError: temporary files of a large model would not fit."""
    needed, free = _ROOM * weight_bytes(model.graph), shutil.disk_usage(folder).free
    if too_large(model) and needed > free:
        raise OutputError(
            "no-space",
            f"Temporary files take about {size(needed)}, and {size(free)} are free in {folder.parent}.",
            "Set TMPDIR to a larger disk.",
        )  # fmt: skip
