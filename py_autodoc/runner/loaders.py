"""Data for runs: inputs with labels."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.samples import (
    Images,
    InputSpec,
    Preprocessing,
    Sample,
    image_input,
    layout,
    read_arrays,
    read_image,
    sample_files,
    samples_in,
    stored_arrays,
    tell_renamed,
)

_LABELS = ("labels", "label", "targets", "target", "y")
"""Names of arrays with labels, unless an input has the name."""


class DataLoader(ABC):
    """Samples, each with its label or None. Subclass it for other data."""

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """Yield (inputs by name, label)."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of samples."""

    @property
    def source(self) -> str:
        """Source of the samples, for messages."""
        return type(self).__name__

    def sizes(self) -> Mapping[str, Any]:
        """Arrays by input whose shapes give the symbolic dimensions; empty unless overridden."""
        return {}


class ArrayLoader(DataLoader):
    """Arrays by input: a mapping, a ``.npz`` or ``.npy`` file, or a folder of them.

    Args:
        data: the arrays, or their path.
        specs: the inputs of the model.
        labels: name of the array with labels; None uses one called ``labels``, ``targets`` or ``y``.
        most: maximum number of samples to read; None reads all.

    Raises: PathError, InputError: there are no suitable arrays.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | Mapping[str, Any],
        specs: Sequence[InputSpec],
        labels: str | None = None,
        most: int | None = None,
    ) -> None:
        self._samples: list[tuple[Sample, Any]] = []
        if isinstance(data, Mapping):
            self._add(
                {name: np.asarray(array) for name, array in data.items()}, list(specs), labels, "The data"
            )
        else:
            names = self._label_names(specs, labels)
            for number, file in enumerate(sample_files(data)):
                left = None if most is None else most - len(self._samples)
                if left == 0:
                    break
                others = [name for name in names if name in stored_arrays(file)][:1]
                _, rows = layout(file, specs, left, others)
                if not number:
                    tell_renamed(file, rows, specs)
                self._add(read_arrays(file, rows), list(specs), labels, file.name)

    @staticmethod
    def _label_names(specs: Sequence[InputSpec], labels: str | None) -> list[str]:
        inputs = {spec.name for spec in specs}
        return [labels] if labels is not None else [name for name in _LABELS if name not in inputs]

    def _add(
        self, arrays: dict[str, np.ndarray[Any, Any]], specs: list[InputSpec], labels: str | None, source: str
    ) -> None:
        names = self._label_names(specs, labels)
        values = next((arrays.pop(name) for name in names if name in arrays), None)
        if labels is not None and values is None:
            raise InputError(
                "no-labels", f"{source} has no array {labels[:80]}.", f"It contains {', '.join(arrays)}."
            )
        samples = list(samples_in(arrays, specs, source))
        if values is not None and len(values) % max(1, len(samples)):
            raise InputError("label-counts", f"{source}: {len(values)} labels for {len(samples)} samples.")
        labels_per_sample = len(values) // len(samples) if values is not None and samples else 0
        for index, sample in enumerate(samples):
            start = index * labels_per_sample
            self._samples.append(
                (sample, None if values is None else values[start : start + labels_per_sample])
            )

    def __iter__(self) -> Iterator[tuple[Sample, Any]]:
        """Yield the samples in order."""
        return iter(self._samples)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self._samples)


class ImageFolderLoader(DataLoader):
    """Images of a folder for a model with one image input; needs Pillow.

    Each image is prepared according to ``preprocessing``. Without it, images are resized to the input
    (bilinear), converted to RGB or grey depending on its channels, then scaled and normalized: ``(value *
    scale - mean) / std``. If images are in subfolders, the label is the index of the subfolder in sorted
    order.

    Args:
        folder: folder of the images.
        spec: the input, N×C×H×W or N×H×W×C with a batch of 1.
        scale: factor for values from 0 to 255; None uses 1 for an integer input, else 1/255.
        mean: by channel, after ``scale``.
        std: by channel, after ``scale``.
        preprocessing: used instead of these three; ``spec.preprocessing`` is that of the model's metadata.

    Raises: PathError, InputError, RequirementError.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        spec: InputSpec,
        scale: float | None = None,
        mean: Sequence[float] = (),
        std: Sequence[float] = (),
        preprocessing: Preprocessing | None = None,
    ) -> None:
        images = Images(folder)
        self.files, images_path = images.files, images.path
        if image_input([spec]).shape[0] != 1:
            raise InputError(
                "no-image-input", f"{spec.label} takes several images at once.", "Set the batch to 1."
            )
        self._spec = spec
        usual = 1.0 if spec.dtype.kind in "iu" else 1 / 255
        self._preprocessing = preprocessing or Preprocessing(
            "given", scale=usual if scale is None else scale, mean=tuple(mean), std=tuple(std)
        )
        parents = sorted({file.parent for file in self.files})
        self._classes = (
            {parent: number for number, parent in enumerate(parents)} if images_path not in parents else {}
        )
        self._source = f"images of {base_name(images_path)}, {self._preprocessing.source}"

    def __iter__(self) -> Iterator[tuple[Sample, Any]]:
        """Yield the images in the order of their paths."""
        for file in self.files:
            label = self._classes.get(file.parent)
            values = read_image(file, self._spec, self._preprocessing)
            yield {self._spec.name: values}, None if label is None else np.array([label])

    def __len__(self) -> int:
        """Number of images."""
        return len(self.files)

    @property
    def source(self) -> str:
        """The folder and the source of the preprocessing."""
        return self._source
