"""A model with all sizes chosen, so that it can be run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from py_autodoc.report.analysis import Analysis, Options, run
from py_autodoc.samples.read import read_arrays, sample_files
from py_autodoc.samples.specs import sizes_in


def sized(
    model: str | os.PathLike[str] | bytes,
    data: Any = None,
    bindings: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    hardware: str = "",
) -> Analysis:
    """The analysis at sizes as given, else as the data has them, else usual ones; the batch is 1.

    ``data`` is a file, a folder or a mapping of arrays; anything else tells of no sizes. ``hardware`` is the
    device that the analysis is asked about.

    Raises: InputError: model or data cannot be read.
    """
    arrays: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        arrays = data
    elif isinstance(data, (str, os.PathLike)):
        arrays = read_arrays(sample_files(data)[0])
    known = sizes_in(arrays, run(os.fspath(model), Options(brief=True))) if arrays else {}
    chosen = {**known, **(bindings or {})}
    return run(
        os.fspath(model), Options(bindings=chosen, input_shapes=shapes or {}, assume=True, hardware=hardware)
    )
