"""Samples from a folder of images, decoded by Pillow and preprocessed for a model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from py_autodoc import units
from py_autodoc.errors import InputError, OptionError, RequirementError
from py_autodoc.graph.protobuf.probe import base_name
from py_autodoc.limits import IMAGE_FILE
from py_autodoc.option_files import opened
from py_autodoc.samples.preprocessing import (
    LETTERBOX,
    LONGEST,
    NAMED,
    SHORTEST,
    STRETCH,
    Preprocessing,
    given_preprocessing,
    preprocessing_of,
)
from py_autodoc.samples.specs import InputSpec, Sample

MAX_FILES = 1_000_000
"""Maximum number of files in a folder of images."""
IMAGES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
MAX_PIXELS = 1 << 27
"""Maximum pixels of an image, since a small file can unpack to a large image."""
MAX_IMAGE_BYTES = 1 << 30
"""Maximum memory for one image, when decoded, turned, resized, or as values."""
_ROW_BYTES = 8
"""Pillow holds a pointer to each row."""
_WEIGHT_BYTES = 72
"""Weights of a pixel of a side that is resized: at most six, as floating-point numbers and integers."""
_ORIENTATION = 0x0112
"""Tag in the EXIF data of a camera that says which way is up."""
_GREY = 114
"""Grey level around a letterboxed image, as in Ultralytics."""
_DEEP = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")
"""Pillow's modes with more than 8 bits, which its conversion would clip."""
Array = np.ndarray[Any, Any]


class Images:
    """A folder of images as samples for a model with one image input.

    Args:
        folder: folder of the images, including subfolders; or one image.
        preprocessing: ``0..1``, ``-1..1``, ``0..255``, ``imagenet``, a ``preprocessor_config.json``, or a
            ``Preprocessing``; None uses that of the model's metadata.

    Raises:
        OptionError: the preprocessing is unknown.
        InputError: the folder contains no image.
    """

    def __init__(
        self, folder: str | os.PathLike[str], preprocessing: str | Path | Preprocessing | None = None
    ) -> None:
        self.path = Path(folder)
        self.files = image_files(self.path)
        if not self.files:
            raise InputError("no-samples", f"{base_name(folder)}: the folder contains no image.")
        if preprocessing is not None and not isinstance(preprocessing, Preprocessing):
            preprocessing = given_preprocessing(preprocessing)
        self.preprocessing = preprocessing

    def preprocessing_for(self, spec: InputSpec) -> Preprocessing:
        """Return the preprocessing for an input. Raises: OptionError if neither model nor caller has one."""
        preprocessing = self.preprocessing or spec.preprocessing
        if preprocessing is None and spec.dtype.kind in "iu":
            return NAMED["0..255"]
        if preprocessing is None:
            raise OptionError(
                "no-preprocessing",
                f"The model's metadata has no preprocessing for {spec.label} (range, mean, crop).",
                f"Pass it with --preprocessing: a preprocessor_config.json, or one of {', '.join(NAMED)}.",
            )
        return preprocessing

    def sizes(self, name: str, declared: Sequence[Any], metadata: Mapping[str, str]) -> dict[str, Array]:
        """Return an array with the shape of images, by input name; empty if the shape is unknown."""
        preprocessing = self.preprocessing or preprocessing_of(metadata)
        if preprocessing is None or preprocessing.output_size is None or len(declared) != 4:
            return {}
        last = declared[3] in (1, 3)
        channels = declared[3] if last else declared[1]
        shape = (
            (1, *preprocessing.output_size, channels) if last else (1, channels, *preprocessing.output_size)
        )
        if not all(isinstance(size, int) for size in shape):
            return {}
        return {name: np.broadcast_to(np.zeros((), np.int8), shape)}

    def samples(self, spec: InputSpec, count: int) -> Iterator[Sample]:
        """Yield at most ``count`` samples, spread evenly over the files.

        Raises: InputError, OptionError, RequirementError.
        """
        preprocessing, batch = self.preprocessing_for(spec), spec.shape[0]
        least = len(self.files) // batch
        if not least:
            raise InputError(
                "no-samples",
                f"{spec.label} takes {batch} images at once, but there are only {len(self.files)}.",
            )
        chosen = min(count, least)
        # Folders are often sorted by class, so the first files would have the same class.
        files = [self.files[number * len(self.files) // (chosen * batch)] for number in range(chosen * batch)]
        for start in range(0, len(files), batch):
            yield {
                spec.name: np.concatenate(
                    [read_image(file, spec, preprocessing) for file in files[start : start + batch]]
                )
            }


def image_files(path: Path) -> list[Path]:
    """Return the images of a folder and its subfolders in path order, or the image at the path."""
    if path.is_file():
        return [path] if path.suffix.lower() in IMAGES else []
    found: list[Path] = []
    for seen, file in enumerate(path.rglob("*")):
        if seen >= MAX_FILES:
            raise InputError(
                "samples-too-large", f"{base_name(path)}: the folder contains more than {MAX_FILES:,} files."
            )
        if file.suffix.lower() in IMAGES and file.is_file():
            found.append(file)
    return sorted(found)


def images_in(data: Any) -> Images | None:
    """Return the images in ``data``; None for other data, such as a folder that also contains arrays."""
    if isinstance(data, Images):
        return data
    if not isinstance(data, (str, os.PathLike)):
        return None
    path = Path(data)
    try:
        if path.is_dir() and not any(file.suffix in (".npz", ".npy") for file in path.iterdir()):
            return Images(path) if image_files(path) else None
        return Images(path) if path.suffix.lower() in IMAGES and path.is_file() else None
    except (OSError, ValueError):
        return None


def image_input(specs: Sequence[InputSpec]) -> InputSpec:
    """Return the only image input. Raises: InputError if the model has other inputs, or no image input."""
    if len(specs) != 1:
        listed = ", ".join(spec.label for spec in specs[:5])
        raise InputError(
            "no-image-input",
            f"Images can be used for a model with one input; this model takes {listed}.",
            "Pass arrays in a .npz file instead.",
        )
    spec = specs[0]
    if len(spec.shape) != 4 or not {spec.shape[1], spec.shape[3]} & {1, 3}:
        raise InputError(
            "no-image-input",
            f"{spec.label} is not an input for images.",
            "Pass arrays in a .npz file instead.",
        )
    return spec


def read_image(file: Path, spec: InputSpec, preprocessing: Preprocessing) -> Array:
    """Read an image as an array with the type and shape of the input, for a batch of 1.

    Raises:
        InputError: it cannot be decoded, or the result has another shape than the input.
        RequirementError: Pillow is missing.
    """
    first = spec.shape[1] in (1, 3)
    channels = spec.shape[1] if first else spec.shape[3]
    height, width = spec.shape[2:] if first else spec.shape[1:3]
    image = _decoded(file, channels)
    values = _resize(file, image, preprocessing, (height, width))
    if values.shape[:2] != (height, width):
        actual_size = f"{values.shape[0]}×{values.shape[1]}"
        raise InputError(
            "image-size",
            f"{file.name} is {actual_size} after {preprocessing.source}; the model takes {spec.label}.",
            "Set the shape of the input with --input-shape, or another preprocessing with --preprocessing.",
        )
    if preprocessing.bgr and channels == 3:
        values = values[:, :, ::-1]
    mean, std = (
        _per_channel(values_of, channels, empty)
        for values_of, empty in ((preprocessing.mean, 0.0), (preprocessing.std, 1.0))
    )
    values = _owned(values)
    values *= preprocessing.scale
    values -= preprocessing.offset
    values -= mean
    values /= std
    if spec.dtype.kind in "iu":
        np.rint(values, out=values)
        limits = np.iinfo(spec.dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise InputError(
                "image-range",
                f"{file.name}: the values after {preprocessing.source} do not fit {spec.dtype}.",
                "Use --preprocessing 0..255.",
            )
    arranged = values.transpose(2, 0, 1) if first else values
    return np.ascontiguousarray(arranged[None]).astype(spec.dtype)


def _owned(values: Array) -> Array:
    """Return float values that may be changed in place."""
    return values if values.dtype == np.float64 and values.flags.writeable else values.astype(np.float64)


def _per_channel(values: tuple[float, ...], channels: int, empty: float) -> Array:
    """Return one number per channel, from a single number or, for a grey image, the middle of three."""
    if not values:
        return np.array([empty])
    if len(values) == 3 and channels == 1:
        return np.array([sum(values) / 3])
    return np.array(values)


def _decoded(file: Path, channels: int) -> Any:
    """Return the image in RGB or grey, rotated according to its EXIF orientation."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise RequirementError(
            "needs-pillow", "Images need Pillow, which is not installed.", "pip install pillow"
        ) from None
    try:
        with opened(file, IMAGE_FILE) as stream, warnings.catch_warnings():
            # Pillow warns below the limit that we set.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(stream)
            pixels = image.width * image.height
            mode = "RGB" if channels == 3 else "L"
            if pixels > MAX_PIXELS:
                raise InputError("image-too-large", f"{file.name} has {image.width}×{image.height} pixels.")
            if image.mode in _DEEP:
                raise InputError(
                    "image-depth", f"{file.name} has more than 8 bits per channel.", "Convert it to 8 bits."
                )
            # Pillow holds colours in four bytes, also without transparency.
            stored = 1 if image.mode in ("1", "L", "P") else 4
            converted = (4 if mode == "RGB" else 1) if image.mode != mode else 0
            rows = _ROW_BYTES * image.height
            _check_memory(file, image.size, pixels * (stored + converted) + rows * (2 if converted else 1))
            image.load()
            if image.getexif().get(_ORIENTATION, 1) != 1:
                _check_memory(file, image.size, pixels * 2 * stored + rows + _ROW_BYTES * max(image.size))
            ImageOps.exif_transpose(image, in_place=True)
            return image.convert(mode) if image.mode != mode else image
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        MemoryError,
        OverflowError,
        Image.DecompressionBombError,
    ) as fault:
        raise InputError("bad-image", f"{file.name} cannot be read as an image.") from fault


def _resize(file: Path, image: Any, preprocessing: Preprocessing, input_size: tuple[int, int]) -> Array:
    """Return pixels in the required size: height × width × channels, from 0 to 255."""
    size = preprocessing.size or input_size
    channels = len(image.getbands())
    if preprocessing.resize == LETTERBOX:
        height, _ = _fitted(image.height, image.width, size)
        # The rows are resized first; the products and their sum are in memory together.
        _check_memory(file, (image.width, height), 3 * 8 * channels * height * image.width)
        _check_memory(file, (size[1], size[0]), 2 * 8 * channels * size[0] * size[1])
        return _letterbox(np.atleast_3d(np.asarray(image)), size)
    height, width = image.height, image.width
    if preprocessing.resize == STRETCH:
        height, width = size
    elif preprocessing.resize in (SHORTEST, LONGEST):
        height, width = _scaled(image.height, image.width, preprocessing)
    # Values with eight bytes, and those of the input made of them.
    _check_memory(file, (width, height), (4 + 12 * channels) * height * width)
    if (height, width) != (image.height, image.width) or preprocessing.resize:
        # Pillow resizes rows first, and holds the weights of all pixels of both sides.
        weights = _WEIGHT_BYTES * (image.width + image.height)
        _check_memory(file, (width, image.height), (4 * width + _ROW_BYTES) * image.height + weights)
        image = image.resize((width, height), preprocessing.filter)
    pixels = _pixels(image)
    return pixels if preprocessing.crop is None else _center_crop(pixels, preprocessing.crop)


def _pixels(image: Any) -> Array:
    pixels = np.asarray(image, np.float64)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _scaled(height: int, width: int, preprocessing: Preprocessing) -> tuple[int, int]:
    """Return the size with the shorter side at ``edge``, rounded as in transformers and torchvision."""
    short, long = min(height, width), max(height, width)
    exact = float(preprocessing.edge)
    if preprocessing.longest and long / short * exact > preprocessing.longest:
        exact = preprocessing.longest * short / long
    edge, other = round(exact), int(exact * long / short)
    return (edge, other) if height <= width else (other, edge)


def _center_crop(pixels: Array, size: tuple[int, int]) -> Array:
    """Crop the centre of an image; smaller images are padded with black."""
    height, width = size
    down, right = max(0, height - pixels.shape[0]), max(0, width - pixels.shape[1])
    if down or right:
        before = -(-down // 2), -(-right // 2)
        margins = (before[0], down - before[0]), (before[1], right - before[1]), (0, 0)
        pixels = np.pad(pixels, margins)
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    return pixels[top : top + height, left : left + width]


def _fitted(height: int, width: int, size: tuple[int, int]) -> tuple[int, int]:
    """Return height and width that fit into a size, with the same ratio."""
    ratio = min(size[0] / height, size[1] / width)
    return max(1, round(height * ratio)), max(1, round(width * ratio))


def _check_memory(file: Path, size: tuple[int, int], count: int) -> None:
    """Refuse an image that takes ``count`` bytes while it has this width and height. Raises: InputError."""
    if count > MAX_IMAGE_BYTES:
        raise InputError(
            "image-too-large",
            f"{file.name}: {size[0]}×{size[1]} pixels take {units.size(count)} of memory "
            f"(limit: {units.size(MAX_IMAGE_BYTES)}).",
            "Crop it, or make it smaller.",
        )


def _letterbox(pixels: Array, size: tuple[int, int]) -> Array:
    """Resize an image to fit and centre it on grey (letterbox)."""
    height, width = _fitted(pixels.shape[0], pixels.shape[1], size)
    canvas = np.full((*size, pixels.shape[2]), float(_GREY))
    top, left = round((size[0] - height) / 2 - 0.1), round((size[1] - width) / 2 - 0.1)
    canvas[top : top + height, left : left + width] = _linear(pixels, height, width)
    return canvas


def _linear(pixels: Array, height: int, width: int) -> Array:
    """Interpolate between four neighbours as in OpenCV: unlike Pillow, without smoothing large images."""
    for axis, size in ((0, height), (1, width)):
        old = pixels.shape[axis]
        positions = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
        low = np.floor(positions).astype(int)
        high = np.minimum(low + 1, old - 1)
        share = (positions - low).reshape([-1 if number == axis else 1 for number in range(3)])
        pixels = pixels.take(low, axis) * (1 - share) + pixels.take(high, axis) * share
    return np.rint(pixels)
