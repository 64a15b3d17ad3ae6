"""Models on disk during quantization: large models have their weights in a second file.

A protobuf is limited to 2 GiB, so such weights are stored next to the model. The tools get paths and never
load the model as one message.
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

_SPACE_FACTOR = 3
"""Temporary space of a large model as a multiple of its weights: prepared, for ranges, quantized."""
_MIN_EXTERNAL_BYTES = 1024
"""Minimum bytes of a tensor that is moved to the second file."""


def too_large(model: onnx.ModelProto) -> bool:
    """True if a model in memory needs a second file for its weights."""
    return weight_bytes(model.graph) > model_files.LARGE


def is_large(path: Path) -> bool:
    """True if ``store`` put the weights of this file into a second one."""
    return path.with_name(f"{path.name}{DATA}").exists()


def store(model: onnx.ModelProto, path: Path) -> None:
    """Write a model.

    Weights of more than ``model_files.LARGE`` bytes are moved from memory to ``<name>.data``.

    Raises: OSError.
    """
    if not too_large(model):
        onnx.save(model, path, format="protobuf")
        return
    onnx.save(
        model,
        path,
        format="protobuf",
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=f"{path.name}{DATA}",
        size_threshold=_MIN_EXTERNAL_BYTES,
    )


def check_space(model: onnx.ModelProto, folder: Path) -> None:
    """Raise an OutputError if temporary files of a large model do not fit."""
    needed, free = _SPACE_FACTOR * weight_bytes(model.graph), shutil.disk_usage(folder).free
    if too_large(model) and needed > free:
        raise OutputError(
            "no-space",
            f"Temporary files need about {size(needed)}, but only {size(free)} are free in {folder.parent}.",
            "Set TMPDIR to a folder on a larger disk.",
        )
