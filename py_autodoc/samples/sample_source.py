"""Choose samples: from any supported data, or generated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.samples.images import image_input, images_in
from py_autodoc.samples.items import as_arrays
from py_autodoc.samples.noise import most_samples, synthetic_samples
from py_autodoc.samples.read import read_samples, samples_in
from py_autodoc.samples.specs import InputSpec, Sample
from py_autodoc.units import size

SYNTHETIC = "synthetic"
"""Start of the description of generated samples."""
MOST = 4096
"""Maximum number of samples."""
MAX_BYTES = 4 << 30
"""Maximum bytes of all samples together, which are held in memory."""


def choose_samples(
    data: Any, specs: Sequence[InputSpec], count: int | None, seed: int, usual: tuple[int, int]
) -> tuple[list[Sample], str]:
    """Return the samples and a description of their source.

    Args:
        data: a ``.npz`` or ``.npy`` file or a folder of them, a folder of images (``Images`` sets their
            preprocessing), a mapping of arrays, an array for a model with one input, or an iterable, such as
            a PyTorch ``DataLoader``, of samples or batches as mappings, tuples (inputs in the model's order,
            then other items) or arrays; None generates values.
        specs: the inputs.
        count: maximum number of samples; None uses ``usual``.
        seed: random seed for generated values.
        usual: default number of samples from data, and of generated ones.

    Raises: InputError, OptionError.
    """
    if count is not None and not 1 <= count <= MOST:
        raise OptionError("bad-samples", f"The number of samples must be from 1 to {MOST:,}.")
    listed, most = list(specs), count or usual[0]
    if data is None:
        number = count or most_samples(listed, usual[1])
        return list(synthetic_samples(listed, number, seed)), f"{SYNTHETIC} (seed {seed})"
    source, images = "given", images_in(data)
    if images is not None:
        spec = image_input(listed)
        source = f"images of {base_name(images.path)}, {images.preprocessing_for(spec).source}"
        samples = _listed(images.samples(spec, most))
    elif isinstance(data, (str, os.PathLike)):
        samples, source = _listed(read_samples(data, listed, most)), base_name(data)
    elif isinstance(data, (np.ndarray, Mapping)):
        arrays = {"": data} if isinstance(data, np.ndarray) else data
        named = {name: np.asarray(array) for name, array in arrays.items()}
        samples = _listed(islice(samples_in(named, listed, "The data"), most))
    elif isinstance(data, Iterable):
        names = [spec.name for spec in listed]
        rows = (samples_in(dict(as_arrays(item, names)), listed, "The data") for item in data)
        samples = _listed(islice(chain.from_iterable(rows), most))
    else:
        raise OptionError(
            "bad-data",
            f"An object of type {type(data).__name__} cannot be used as data.",
            "Pass a file, a folder, a mapping, an array or an iterable of these.",
        )
    if not samples:
        raise InputError("no-samples", "The data contains no sample.")
    return samples, source


def _listed(samples: Iterable[Sample]) -> list[Sample]:
    """Return all samples if they fit into memory. Raises: InputError."""
    kept_samples: list[Sample] = []
    total = 0
    for sample in samples:
        total += sum(value.nbytes for value in sample.values())
        if total > MAX_BYTES:
            raise InputError(
                "samples-too-large",
                f"{len(kept_samples) + 1:,} samples take more than {size(MAX_BYTES)}.",
                "Use fewer with --samples.",
            )
        kept_samples.append(sample)
    return kept_samples
