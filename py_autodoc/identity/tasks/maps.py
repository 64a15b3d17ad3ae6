"""Maps over an image: segments, edges, text, another image."""

from __future__ import annotations

import re
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, ModelPort, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_FACTORS = (2, 3, 4, 6, 8)
_LARGER = 1.2
"""Minimum ratio of output rows to input rows if borders are cut off."""
KNOWN = {
    19: "Cityscapes classes", 20: "Cityscapes or human-part classes",
    21: "VOC classes", 150: "ADE20K classes", 151: "ADE20K classes",
    171: "COCO-Stuff classes", 182: "COCO-Stuff classes", 59: "Pascal Context classes",
    91: "COCO classes",
}  # fmt: skip


_TIMES = re.compile(r"(\d+)\*(\w+)")
_CUT = re.compile(r"(\d+)\*\((\w+)//\1\)")
"""A size rounded down to a multiple."""
_PADDED = re.compile(r"(\d+)\*\(\(.+ \+ \d+\)//\1\)")
"""A size rounded up to a multiple."""
_SEGMENTS = ("segment", "segments", "segmentation", "segmentations", "semseg")
_MAX_CHANNELS = 4
"""Maximum channels of an image."""
_ADDED = {1: (2, 3)}
"""Channels of an image → channels of its colours."""
_SIDES = 4
"""Minimum number of side outputs."""
_HEAD = 12
"""Maximum operators of a head."""


_STRIDED = ("Conv", "FusedConv", "MaxPool", "AveragePool")


class ImageMap(NamedTuple):
    """A result with rows and columns."""

    end: OutputEnd
    channels: int | None
    scale: float | None
    """Ratio of its rows to those of the image; None if unknown."""


def maps_of(case: IdentityCase, image: ModelPort) -> list[ImageMap]:
    """Return the results with the rows and columns of an image."""
    return [output_map for end in case.ends if (output_map := mapped(end, image)) is not None]


def mapped(end: OutputEnd, image: ModelPort) -> ImageMap | None:
    """Return a result as a map over an image; None if it is not one."""
    shape = end.shape
    if shape is None or len(shape) not in (3, 4):
        return None
    sides: list[tuple[int | None, Shape]] = [(1 if len(shape) == 4 else None, shape[-2:])]
    if len(shape) == 4 and image.shape is not None:
        last = image.shape[-1] == image.channels
        # Converters from TensorFlow transpose the input to channels first but may leave the output.
        sides.insert(0 if last else 1, (3, shape[1:3]))
    elif len(shape) == 3 and isinstance(shape[2], int) and shape[2] <= _MAX_CHANNELS:
        sides.append((2, shape[:2]))  # a single image without a batch
    for axis, size in sides:
        channels = 1 if axis is None else end.at(axis)
        rates = [_ratio(have, full) for have, full in zip(size, image.size, strict=True)]
        one, other = rates if len(rates) == 2 else (None, None)
        if one and other and abs(one - other) < 0.02 * one and channels:
            return ImageMap(end, channels, one)
    if len(shape) == 4 and not any(isinstance(d, int) for d in (*shape[2:], *image.size)):
        return ImageMap(end, end.at(1), None)
    return None


def _ratio(have: Dim, full: Dim) -> float | None:
    """Return the ratio of two sizes; None if unknown."""
    if isinstance(have, int) and isinstance(full, int):
        return have / full if full else None
    if have == full:
        return None if have is None else 1.0
    if not isinstance(have, str) or not isinstance(full, str):
        return None
    cut = _CUT.fullmatch(have)
    if cut and cut[2] == full:
        return 1.0
    times = _TIMES.fullmatch(have)
    if times and times[2] == full:
        return float(times[1])
    return 1.0 if _PADDED.fullmatch(have) else None


def one_map(case: IdentityCase) -> tuple[ModelPort, ImageMap] | None:
    """Return the image and its first map if all results are maps."""
    image = case.image
    if image is None or case.only != "image" or not case.ends:
        return None
    # A diffusion step, or a relation between two images, is another task.
    image_count = sum(port.role == "image" and port.channels == image.channels for port in case.ports)
    if image_count > 1 or case.port("time step") is not None:
        return None
    maps = maps_of(case, image)
    return (image, maps[0]) if len(maps) == len(case.ends) else None


def sure_of(image: ModelPort) -> float:
    """Return the confidence of a reading based only on the image."""
    return SURE if image.sure else PROBABLE


@task(
    "super-resolution",
    "super-resolution",
    ("super-resolution", "image-super-resolution"),
    ("ForImageSuperResolution",),
)
def super_resolution(case: IdentityCase) -> RuleReading | None:
    """Match an image with more rows and columns and equal channels."""
    grown = _upsampled(case)
    if grown is not None:
        return grown
    pair = one_map(case)
    if pair is None:
        return None
    image, output_map = pair
    if output_map.scale is None or output_map.scale < _LARGER or output_map.channels != image.channels:
        return None
    if round(output_map.scale, 3) not in _FACTORS:
        return RuleReading(PROBABLE, ("output image larger than the input, with the same channels",), "image")
    evidence = f"output image of {round(output_map.scale)} times the height and width, with the same channels"
    return RuleReading(SURE if image.channels == 3 or len(case.ends) == 1 else PROBABLE, (evidence,), "image")


def _upsampled(case: IdentityCase) -> RuleReading | None:
    """Match equal channels with more upsampling than downsampling, if the output size is unknown.

    Cropped borders do not count.
    """
    image, end, flow = case.image, case.end, case.flow
    if image is None or end is None or case.only != "image" or end.rank != 4 or end.at(1) != image.channels:
        return None
    output_map = mapped(end, image)
    if (output_map is not None and output_map.scale is not None) or flow.of(("SpaceToDepth",)):
        return None
    transposed = sum(_stride(flow, n) > 1 for n in flow.of(("ConvTranspose",)))
    larger = transposed + len(flow.of(("DepthToSpace", "Resize", "Upsample")))
    smaller = sum(_stride(flow, n) > 1 for n in flow.of(_STRIDED))
    if larger <= smaller:
        return None
    evidence = f"output with the same channels, {larger:,} upsampling and {smaller:,} downsampling operators"
    return RuleReading(SURE if image.sure and not smaller else PROBABLE, (evidence,), "image")


def _stride(flow: DataflowGraph, number: int) -> int:
    strides = flow.nodes[number].attributes.get("strides")
    steps = strides if isinstance(strides, (list, tuple)) else ()
    return max((s for s in steps if isinstance(s, int)), default=1)


@task("image-to-image", "image-to-image", ("image-to-image",), ("ForImageToImage",))
def image_to_image(case: IdentityCase) -> RuleReading | None:
    """Match another image of equal size: restored, or in another style."""
    pair = one_map(case)
    if pair is None:
        return None
    image, output_map = pair
    if (
        output_map.scale == 1
        and output_map.channels in _ADDED.get(image.channels or 0, ())
        and output_map.end.activation == "Tanh"
    ):
        evidence = (
            f"image input of one channel, {output_map.channels} output channels between −1 and 1: colours"
        )
        return RuleReading(PROBABLE, (evidence,), "image")
    if (
        output_map.scale != 1
        or output_map.channels != image.channels
        or output_map.end.activation in ("Softmax", "ArgMax")
    ):
        return None
    if _ends_in_interpolation(output_map.end):
        return None
    evidence = f"output map of the image size with {plural(output_map.channels or 0, 'channel')}"
    if output_map.end.kind == "join" and image.tensor in output_map.end.joined:
        return RuleReading(sure_of(image), (evidence, "the result is added to the input image"), "image")
    if output_map.channels == 3:
        ended = output_map.end.activation in ("Tanh", "Clip")
        return RuleReading(
            PROBABLE, (evidence, f"final {output_map.end.activation}") if ended else (evidence,), "image"
        )
    return RuleReading(WEAK, (evidence,), "image")


def _ends_in_interpolation(end: OutputEnd) -> bool:
    """True if the last operator is plain interpolation: good enough for classes, too blurred for an image."""
    return end.kind in ("conv", "linear") and bool({"Resize", "Upsample"}.intersection(end.passed))


@task(
    "image-segmentation",
    "image segmentation",
    ("image-segmentation", "semantic-segmentation"),
    (
        "ForSemanticSegmentation",
        "ForInstanceSegmentation",
        "ForUniversalSegmentation",
        "ForImageSegmentation",
        "ForPanopticSegmentation",
    ),
)
def segmentation(case: IdentityCase) -> RuleReading | None:
    """Match classes per pixel."""
    if case.image is not None and case.only == "image" and case.named(*_SEGMENTS):
        called = next(end for end in case.ends if set(_SEGMENTS).intersection(case.name(end)))
        if called.rank in (3, 4):
            return RuleReading(PROBABLE + 0.15, ("an output map is named as a segmentation",), "class maps")
    pair = one_map(case)
    if pair is None or case.family == "detector":
        return _queries(case)
    image, output_map = pair
    end, strength = output_map.end, sure_of(image)
    if end.rank == 3 and end.at(2) == output_map.channels != 1:
        return None  # an image for display
    evidence = f"output map over the image with {output_map.channels or '?'} values per position"
    known = KNOWN.get(output_map.channels or 0)
    if output_map.scale is not None and not 0.1 <= output_map.scale <= 1:
        coarse = known and output_map.scale >= 1 / 32 and end.kind == "conv" and len(case.ends) == 1
        return (
            RuleReading(PROBABLE, (evidence, f"{output_map.channels} is the number of {known}"), "class maps")
            if coarse
            else None
        )
    if end.activation == "ArgMax" and output_map.scale == 1:
        return RuleReading(strength, ("one class index per pixel as output",), "class map")
    if end.activation == "Softmax" and (output_map.channels or 0) > 1:
        return RuleReading(strength, (evidence, "final Softmax: class probabilities"), "class maps")
    if end.activation == "Tanh":
        return None  # bounded on both sides, like colours
    if end.op == "Concat":
        return None  # several maps in one, with unknown roles
    if output_map.channels == 1:
        if end.activation == "Sigmoid":
            return RuleReading(
                PROBABLE, ("one probability per pixel as output: foreground or background",), "mask"
            )
        if _side_outputs(case, image):
            return None
        return RuleReading(WEAK, ("one output value per pixel",), "map") if output_map.scale == 1 else None
    if (
        output_map.channels == image.channels
        and output_map.scale == 1
        and _ends_in_interpolation(end)
        and len(case.ends) == 1
    ):
        resized = "final interpolation to the image size, too blurred for an image"
        return RuleReading(PROBABLE, (evidence, resized), "class maps")
    if output_map.channels is None or output_map.channels in (3, image.channels):
        return RuleReading(WEAK, (evidence,), "class maps") if case.family == "segmenter" else None
    if len(case.ends) > 3:
        return None
    if output_map.scale == 1 and output_map.channels >= 4:
        return RuleReading(strength, (evidence, "the map has the image size"), "class maps")
    if known and (output_map.scale or 0) >= 0.12 and case.family == "segmenter":
        return RuleReading(
            strength, (evidence, f"{output_map.channels} is the number of {known}"), "class maps"
        )
    if case.family == "segmenter":
        return RuleReading(PROBABLE, (evidence, *case.structure.verdict.evidence[:1]), "class maps")
    return None


def _queries(case: IdentityCase) -> RuleReading | None:
    """Match class scores and a map for each of the same queries (Cheng et al., MaskFormer, 2021)."""
    image = case.image
    if image is None or case.only != "image" or not 2 <= len(case.ends) <= 3:
        return None
    for masks in case.ends:
        if masks.rank != 4 or not masks.at(1) or masks.at(1) == 1 or not all(masks.at(a) for a in (2, 3)):
            continue
        scores = [e for e in case.ends if e.rank == 3 and e.at(1) == masks.at(1) and (e.width or 0) > 1]
        if scores and not any(e.width == 4 for e in case.ends if e.rank == 3):
            evidence = f"{scores[0].width} scores and a map for each of {masks.at(1)} queries as output"
            return RuleReading(sure_of(image), (evidence,), "class scores and masks")
    return None


def _side_outputs(case: IdentityCase, image: ModelPort) -> bool:
    """True for several unbounded one-channel maps from layers of different depth."""
    maps = [
        output_map
        for output_map in maps_of(case, image)
        if output_map.channels == 1 and output_map.scale == 1
    ]
    are_logits = all(not output_map.end.activation for output_map in maps)
    return len(maps) >= _SIDES and len(maps) == len(case.ends) and are_logits


@task("edge-detection", "edge detection", ("edge-detection",), ())
def edges(case: IdentityCase) -> RuleReading | None:
    """Match an edge map per stage and one of all stages, as in HED (Xie and Tu, 2015)."""
    pair = one_map(case)
    if pair is None or not all(output_map.channels == 1 for output_map in maps_of(case, pair[0])):
        return None
    if case.named("edge", "edges"):
        return RuleReading(sure_of(pair[0]), ("an output is named as an edge map",), "edge map")
    if not _side_outputs(case, pair[0]):
        return None
    evidence = f"{len(case.ends)} one-channel output maps from stages of different depth"
    return RuleReading(WEAK, (evidence,), "edge maps")


@task("text-detection", "text detection", ("text-detection", "scene-text-detection"), ())
def text_detection(case: IdentityCase) -> RuleReading | None:
    """Match a probability map by differentiable binarization (Liao et al., 2020): two ConvTranspose nodes."""
    pair = one_map(case)
    if pair is None or pair[1].channels != 1 or pair[1].end.activation != "Sigmoid":
        return None
    image, output_map = pair
    flow, node, steps = case.flow, output_map.end.node, []
    for _ in range(_HEAD):
        steps.append(flow.op_types[node])
        before = flow.data_inputs[node]
        if len(before) != 1:
            break
        node = flow.producers[before[0]]
    head = [op for op in steps if op in ("Conv", "ConvTranspose")][:3]
    if head != ["ConvTranspose", "ConvTranspose", "Conv"] or not image.sure:
        return None
    evidence = "head with two transposed convolutions and one Sigmoid map (differentiable binarization)"
    paddle = "paddle" in f"{case.model.producer_name} {case.model.graphs[0].name}".lower()
    named = ("exported from PaddlePaddle",) if paddle else ()
    return RuleReading(SURE if paddle else PROBABLE + 0.1, (evidence, *named), "text map")
