"""Data for runs: inputs with what is expected of them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc.errors import InputError, RequirementError
from py_autodoc.samples import InputSpec, Sample, read_arrays, sample_files, samples_in

IMAGES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
_LABELS = ("labels", "label", "targets", "target", "y")
"""Names of arrays that hold what is expected, where no input has the name."""
MAX_PIXELS = 1 << 27
"""Of one image: a file may unpack to far more than it has."""


class DataLoader(ABC):
    """Samples, each with its label or None. Write your own for other data."""

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """Yields (inputs by name, label)."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of samples."""

    @property
    def said(self) -> str:
        """Where the samples are from, for people."""
        return type(self).__name__

    def sizes(self) -> Mapping[str, Any]:
        """Arrays by input, of any values, that tell the sizes of free dimensions; none unless overridden."""
        return {}


class ArrayLoader(DataLoader):
    """Arrays by input: a mapping, a ``.npz`` or ``.npy`` file, or a folder of them.

    Args:
        data: where they are.
        specs: the inputs of the model.
        labels: name of the array that holds labels; None: one called ``labels``, ``targets`` or ``y``.

    Raises: PathError, InputError: nothing there that fits.
    """

    def __init__(
        self, data: str | os.PathLike[str] | Mapping[str, Any], specs: Sequence[InputSpec],
        labels: str | None = None,
    ) -> None:  # fmt: skip
        self._samples: list[tuple[Sample, Any]] = []
        if isinstance(data, Mapping):
            self._take({name: np.asarray(one) for name, one in data.items()}, list(specs), labels, "The data")
        else:
            for file in sample_files(data):
                self._take(read_arrays(file), list(specs), labels, file.name)

    def _take(
        self, arrays: dict[str, np.ndarray[Any, Any]], specs: list[InputSpec], labels: str | None, source: str
    ) -> None:
        inputs = {one.name for one in specs}
        names = [labels] if labels is not None else [one for one in _LABELS if one not in inputs]
        found = next((arrays.pop(name) for name in names if name in arrays), None)
        if labels is not None and found is None:
            raise InputError(
                "no-labels", f"{source} has no array {labels[:80]}.", f"It holds {', '.join(arrays)}."
            )
        samples = list(samples_in(arrays, specs, source))
        if found is not None and len(found) % max(1, len(samples)):
            raise InputError("label-counts", f"{source}: {len(found)} labels for {len(samples)} samples.")
        each = len(found) // len(samples) if found is not None and samples else 0
        for at, one in enumerate(samples):
            self._samples.append((one, None if found is None else found[at * each : (at + 1) * each]))

    def __iter__(self) -> Iterator[tuple[Sample, Any]]:
        """In order."""
        return iter(self._samples)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self._samples)


class ImageFolderLoader(DataLoader):
    """Images of a folder for a model with one image input; needs Pillow.

    Each image is resized to the input (bilinear), in RGB or grey as its channels say, then scaled and
    normalized: ``(value * scale - mean) / std``. Where images lie in subfolders, the place of the subfolder
    in their sorted names is the label.

    Args:
        folder: where they are.
        spec: the input, N×C×H×W or N×H×W×C with a batch of 1.
        scale: of values from 0 to 255; None: 1 for an input of integers, else 1/255.
        mean: by channel, after ``scale``.
        std: the same.

    Raises: PathError, InputError, RequirementError.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        spec: InputSpec,
        scale: float | None = None,
        mean: Sequence[float] = (),
        std: Sequence[float] = (),
    ) -> None:
        at = Path(folder)
        self.files = sorted(one for one in at.rglob("*") if one.suffix.lower() in IMAGES and one.is_file())
        if not self.files:
            raise InputError("no-samples", f"{folder}: the folder holds no image.")
        if len(spec.shape) != 4 or spec.shape[0] != 1 or not {spec.shape[1], spec.shape[3]} & {1, 3}:
            raise InputError("no-image-input", f"{spec.shown} is no input for one image.")
        self._spec, self._first = spec, spec.shape[1] in (1, 3)
        self._channels = spec.shape[1] if self._first else spec.shape[3]
        integers = spec.dtype.kind in "iu"
        self._scale = (1.0 if integers else 1 / 255) if scale is None else scale
        self._mean, self._std = np.asarray(mean or [0.0]), np.asarray(std or [1.0])
        parents = sorted({one.parent for one in self.files})
        self._classes = {one: number for number, one in enumerate(parents)} if at not in parents else {}

    def __iter__(self) -> Iterator[tuple[Sample, Any]]:
        """In the order of their paths."""
        for file in self.files:
            label = self._classes.get(file.parent)
            yield {self._spec.name: self._read(file)}, None if label is None else np.array([label])

    def __len__(self) -> int:
        """Number of images."""
        return len(self.files)

    def _read(self, file: Path) -> np.ndarray[Any, Any]:
        try:
            from PIL import Image
        except ImportError:
            raise RequirementError("needs-pillow", "Images need Pillow.", "pip install pillow") from None
        height, width = self._spec.shape[2:] if self._first else self._spec.shape[1:3]
        try:
            with Image.open(file) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise InputError(
                        "image-too-large", f"{file.name} has {opened.width}×{opened.height} pixels."
                    )
                shown = opened.convert("RGB" if self._channels == 3 else "L")
                resized = shown.resize((width, height), Image.Resampling.BILINEAR)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as fault:
            raise InputError("bad-image", f"{file.name} cannot be read as an image.") from fault
        values = np.asarray(resized, np.float64).reshape(height, width, self._channels)
        values = (values * self._scale - self._mean) / self._std
        laid = values.transpose(2, 0, 1) if self._first else values
        return np.ascontiguousarray(laid[None]).astype(self._spec.dtype)
