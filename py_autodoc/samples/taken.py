"""Samples of whatever is given, or made up."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.probe import base_name
from py_autodoc.samples.made import made_samples
from py_autodoc.samples.read import read_samples, samples_in
from py_autodoc.samples.specs import InputSpec, Sample, matched

MOST = 4096
"""Samples at once."""


def taken(
    data: Any, specs: Sequence[InputSpec], count: int | None, seed: int, usual: tuple[int, int]
) -> tuple[list[Sample], str]:
    """The samples, and where they are from in words.

    Args:
        data: a ``.npz`` or ``.npy`` file or a folder of them, a mapping of arrays, an array for a model with
            one input, an iterable of mappings; None: made up.
        specs: the inputs.
        count: how many at most; None: ``usual``.
        seed: of made-up values.
        usual: how many are taken of data, and made up.

    Raises: InputError, OptionError.
    """
    if count is not None and not 1 <= count <= MOST:
        raise OptionError("bad-samples", f"1 to {MOST:,} samples can be used.")
    listed, most = list(specs), count or usual[0]
    if data is None:
        return list(made_samples(listed, count or usual[1], seed)), f"made up (seed {seed})"
    said = "given"
    if isinstance(data, (str, os.PathLike)):
        found, said = list(read_samples(data, listed, most)), base_name(data)
    elif isinstance(data, (np.ndarray, Mapping)):
        arrays = {"": data} if isinstance(data, np.ndarray) else data
        held = {name: np.asarray(one) for name, one in arrays.items()}
        found = list(islice(samples_in(held, listed, "The data"), most))
    elif isinstance(data, Iterable):
        found = [matched(one, listed, "The data") for one in islice(data, most)]
    else:
        raise OptionError(
            "bad-data", f"A {type(data).__name__} is no data.", "Give a file, a mapping or arrays."
        )
    if not found:
        raise InputError("no-samples", "The data holds no sample.")
    return found, said
