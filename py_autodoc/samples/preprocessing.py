"""Preprocessing of images: from the model's metadata, a file of transformers, or a name.

Supported are Hugging Face's image processors (``hf_processor_config`` of our exports, or
``preprocessor_config.json``), timm's ``pretrained_cfg``, Ultralytics' keys, and the image keys of the ONNX
standard. The texts are untrusted: missing or damaged settings mean that the preprocessing is unknown.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.hf.keys import PROCESSOR_CONFIG
from py_autodoc.hf.read import read_metadata
from py_autodoc.limits import PREPROCESSING_FILE, TABLE
from py_autodoc.option_files import read_json, shown_name

STRETCH, SHORTEST, LONGEST, LETTERBOX = "stretch", "shortest", "longest", "letterbox"
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BILINEAR, BICUBIC = 2, 3
"""Pillow's numbers of the filters."""
_BYTE = 1 / 255
_MAX_SIDE = 16_384
_CUBIC = (
    "BeiT", "Beit", "Bit", "Blip", "CLIP", "ChineseCLIP", "ConvNext", "DPT", "DeiT", "EfficientNet", "Flava",
    "Levit", "MobileViT", "OwlViT", "Perceiver", "PoolFormer", "Pvt", "Siglip", "Vilt",
)  # fmt: skip
"""Processors of transformers whose default filter is bicubic."""
_UNNORMALIZED = ("Gemma4", "MobileViT", "RTDetr")
"""Processors that have a mean but do not normalize unless the settings say so."""


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """Decoded pixels (RGB, 0 to 255) to values: resize, crop, ``(value * scale - offset - mean) / std``."""

    source: str
    """Source of the preprocessing, for messages."""
    resize: str = STRETCH
    """Resizing mode.

    ``stretch`` (to ``size``), ``shortest`` (the shorter side to ``edge``), ``longest`` (the same, with the
    longer side at most ``longest``), ``letterbox`` (fit into ``size`` on grey), or empty for no resizing.
    """
    size: tuple[int, int] | None = None
    """Height and width of the result; None uses those of the model's input."""
    edge: int = 0
    """Length of the shorter side for ``shortest`` and ``longest``."""
    longest: int = 0
    """Maximum length of the longer side for ``longest``."""
    crop: tuple[int, int] | None = None
    """Height and width of the centre crop."""
    filter: int = BILINEAR
    """Resampling filter, by Pillow's number."""
    scale: float = _BYTE
    offset: float = 0.0
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    bgr: bool = False
    """The channels are in the order blue, green, red."""

    @property
    def output_size(self) -> tuple[int, int] | None:
        """Return height and width of the result if they do not depend on the image."""
        return self.crop or (self.size if self.resize in (STRETCH, LETTERBOX) else None)


NAMED = {
    "0..1": Preprocessing("0..1"),
    "-1..1": Preprocessing("-1..1", mean=(0.5,), std=(0.5,)),
    "0..255": Preprocessing("0..255", scale=1.0),
    "imagenet": Preprocessing("imagenet", mean=IMAGENET[0], std=IMAGENET[1]),
}
"""Resized to the input, in RGB.

``imagenet`` uses the mean and standard deviation of most classifiers in torchvision and timm.
"""


def given_preprocessing(text: PathLike) -> Preprocessing:
    """Return the preprocessing for a name of ``NAMED`` or a ``preprocessor_config.json``.

    Raises: OptionError, InputError.
    """
    if str(text) in NAMED:
        return NAMED[str(text)]
    name, names = shown_name(text), ", ".join(NAMED)
    if not os.path.exists(text):
        raise OptionError(
            "bad-preprocessing",
            f"{name} is neither a known preprocessing nor a readable file.",
            f"Pass a preprocessor_config.json, or one of {names}.",
        )
    content = read_json(text, PREPROCESSING_FILE, TABLE)
    preprocessing = _hugging_face(content, name)
    if preprocessing is None:
        raise InputError(
            "bad-preprocessing",
            f"{name} does not define how images are scaled and normalized.",
            f"Pass a preprocessor_config.json of transformers, or one of {names}.",
        )
    return preprocessing


def preprocessing_of(metadata: Mapping[str, str]) -> Preprocessing | None:
    """Return the preprocessing in a model's metadata; None if it is missing or incomplete."""
    try:
        hf_metadata = read_metadata(metadata)
        config = hf_metadata.processor_config or {}
        for role in ("image_processor", "feature_extractor"):
            processor = _hugging_face(config.get(role), PROCESSOR_CONFIG)
            if processor is not None:
                return processor
        timm = (hf_metadata.config or {}).get("pretrained_cfg")
        return _timm(timm) or _ultralytics(metadata) or _standard(metadata)
    except (TypeError, ValueError, KeyError, OverflowError):
        return None


def _hugging_face(config: Any, source: str) -> Preprocessing | None:
    """Return the preprocessing of a transformers image processor, in older and newer formats."""
    try:
        return _processor(config, source) if isinstance(config, dict) else None
    except (TypeError, ValueError, KeyError, OverflowError):
        return None


def _processor(config: Mapping[str, Any], source: str) -> Preprocessing | None:
    kind = str(config.get("image_processor_type") or config.get("feature_extractor_type") or "")
    mean, std = _numbers(config.get("image_mean")), _numbers(config.get("image_std"))
    normalizes = bool(config.get("do_normalize", bool(mean) and not kind.startswith(_UNNORMALIZED)))
    if not (kind or mean or "do_rescale" in config or "do_resize" in config) or (
        normalizes and not (mean and std)
    ):
        return None
    crops = bool(
        config.get("do_center_crop", config.get("crop_size") is not None and "do_center_crop" not in config)
    )
    crop = _pair(config.get("crop_size")) if crops else None
    size = config.get("size")
    resize, edge, longest, target = "", 0, 0, None
    if config.get("do_resize", size is not None):
        convnext = config.get("crop_pct") is not None and "ConvNext" in kind
        if isinstance(size, int):
            size = {"shortest_edge": size} if crops or convnext else {"height": size, "width": size}
        if isinstance(size, (list, tuple)):
            size = {"height": size[0], "width": size[1]}
        if not isinstance(size, dict):
            return None
        if "shortest_edge" in size:
            resize, edge = SHORTEST, _pixel_count(size["shortest_edge"])
            if "longest_edge" in size:
                resize, longest = LONGEST, _pixel_count(size["longest_edge"])
            if convnext:
                # Small images are cropped from larger ones, large ones are stretched.
                if edge < 384:
                    crop, edge = (edge, edge), int(edge / float(config["crop_pct"]))
                else:
                    resize, target = STRETCH, (edge, edge)
        elif "height" in size and "width" in size:
            resize, target = STRETCH, (_pixel_count(size["height"]), _pixel_count(size["width"]))
        else:
            return None
    chosen = config.get("resample")
    if chosen is None:
        chosen = BICUBIC if kind.startswith(_CUBIC) else BILINEAR
    if int(chosen) not in range(6) or any(deviation <= 0 for deviation in std):
        return None
    rescales = bool(config.get("do_rescale", True))
    return Preprocessing(
        source,
        resize,
        target,
        edge,
        longest,
        crop,
        int(chosen),
        float(config.get("rescale_factor", _BYTE)) if rescales else 1.0,
        1.0 if rescales and config.get("rescale_offset") else 0.0,
        mean if normalizes else (),
        std if normalizes else (),
        bool(config.get("do_flip_channel_order")),
    )


def _timm(config: Any) -> Preprocessing | None:
    """Return timm's evaluation: the shorter side to the size divided by ``crop_pct``, then a centre crop."""
    if not isinstance(config, dict) or "mean" not in config or "input_size" not in config:
        return None
    height, width = (_pixel_count(side) for side in config["input_size"][-2:])
    squash = config.get("crop_mode") == "squash"
    share, std = float(config.get("crop_pct") or 0.875), _numbers(config["std"])
    if share <= 0 or any(deviation <= 0 for deviation in std):
        return None
    return Preprocessing(
        "pretrained_cfg",
        STRETCH if squash else SHORTEST,
        (height, width) if squash else None,
        0 if squash else int(min(height, width) / share),
        0,
        None if squash else (height, width),
        BILINEAR if config.get("interpolation") == "bilinear" else BICUBIC,
        _BYTE,
        0.0,
        _numbers(config["mean"]),
        std,
    )


def _ultralytics(metadata: Mapping[str, str]) -> Preprocessing | None:
    """Return the preprocessing for ``imgsz`` and ``task``: letterbox, or a centre crop for classifiers."""
    if "imgsz" not in metadata or not ("stride" in metadata or "task" in metadata):
        return None
    try:
        size = ast.literal_eval(metadata["imgsz"][:64].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    target = _pair(list(size) if isinstance(size, tuple) else size)
    if target is None:
        return None
    if metadata.get("task") == "classify":
        return Preprocessing("imgsz of Ultralytics", SHORTEST, edge=min(target), crop=target)
    return Preprocessing("imgsz of Ultralytics", LETTERBOX, target)


def _standard(metadata: Mapping[str, str]) -> Preprocessing | None:
    """Return the preprocessing in the image keys of the ONNX standard."""
    ranges = {
        "NominalRange_0_255": NAMED["0..255"],
        "Normalized_0_1": NAMED["0..1"],
        "Normalized_1_1": NAMED["-1..1"],
    }
    named_range = ranges.get(metadata.get("Image.NominalPixelRange", ""))
    if named_range is None:
        return None
    return Preprocessing(
        "Image.NominalPixelRange",
        scale=named_range.scale,
        mean=named_range.mean,
        std=named_range.std,
        bgr=metadata.get("Image.BitmapPixelFormat") == "Bgr8",
    )


def _numbers(value: Any) -> tuple[float, ...]:
    """Return one number per channel; empty if there are none."""
    if value is None:
        return ()
    numbers = tuple(float(item) for item in value) if isinstance(value, (list, tuple)) else (float(value),)
    return numbers if len(numbers) in (1, 3) and all(abs(number) < 1e6 for number in numbers) else ()


def _pair(value: Any) -> tuple[int, int] | None:
    """Return height and width."""
    if isinstance(value, dict):
        if "height" in value and "width" in value:
            return _pixel_count(value["height"]), _pixel_count(value["width"])
        value = value.get("shortest_edge")
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return _pixel_count(value[0]), _pixel_count(value[1])
    return (
        None
        if value is None or isinstance(value, (list, tuple))
        else (_pixel_count(value), _pixel_count(value))
    )


def _pixel_count(value: Any) -> int:
    pixels = int(value)
    if not 1 <= pixels <= _MAX_SIDE:
        raise ValueError(f"{pixels} pixels")
    return pixels
