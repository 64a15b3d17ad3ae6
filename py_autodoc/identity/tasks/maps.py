"""A map over the image: segments, depths, another image, keypoints."""

from __future__ import annotations

import re
from typing import NamedTuple

from py_autodoc.blocks.flow import Flow
from py_autodoc.graph.model import Dim, Shape
from py_autodoc.identity.case import Case
from py_autodoc.identity.ends import End
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, Port, Reading
from py_autodoc.identity.registry import task
from py_autodoc.identity.tasks.images import flat

_FACTORS = (2, 3, 4, 6, 8)
_LARGER = 1.2
"""Rows that come out by those that go in, at least, where borders are cut off."""
_KNOWN = {
    19: "the classes of Cityscapes", 20: "the classes of Cityscapes or of human parts",
    21: "the classes of VOC", 150: "the classes of ADE20K", 151: "the classes of ADE20K",
    171: "the classes of COCO-Stuff", 182: "the classes of COCO-Stuff", 59: "the classes of Pascal Context",
    91: "the classes of COCO",
}  # fmt: skip
_JOINTS = {14, 16, 17, 18, 25, 26, 68, 98, 106, 133}
"""Usual numbers of keypoints: COCO has 17, MPII 16, faces 68 …"""


_TIMES = re.compile(r"(\d+)\*(\w+)")
_PADDED = re.compile(r"(\d+)\*\(\(.+ \+ \d+\)//\1\)")
"""A size that is filled up to a multiple."""
_DEPTHS = ("depth", "depths", "disparity")
_SEGMENTS = ("segment", "segments", "segmentation", "segmentations", "semseg")
_FEW = 4
"""Channels of an image, at most."""
_SIDES = 4
"""Maps of stages, at least."""
_CELL = 8
_HEAD = 12
"""Operators of a head, at most."""


_POINTS = {
    42: "21 points of a hand", 63: "21 points of a hand in space", 136: "68 points of a face",
    165: "33 points of a body, with their certainty", 196: "98 points of a face", 212: "106 points of a face",
    195: "33 points of a body and 6 more, with their certainty", 1404: "468 points of a face in space",
    1434: "478 points of a face in space",
}  # fmt: skip


_STRIDED = ("Conv", "FusedConv", "MaxPool", "AveragePool")


class _Map(NamedTuple):
    """A result with rows and columns."""

    end: End
    channels: int | None
    scale: float | None
    """Its rows by the image's; None when unknown."""


def _maps(case: Case, image: Port) -> list[_Map]:
    return [found for end in case.ends if (found := _map(end, image)) is not None]


def _map(end: End, image: Port) -> _Map | None:
    shape = end.shape
    if shape is None or len(shape) not in (3, 4):
        return None
    sides: list[tuple[int | None, Shape]] = [(1 if len(shape) == 4 else None, shape[-2:])]
    if len(shape) == 4 and image.shape is not None:
        last = image.shape[-1] == image.channels
        # Converters from TensorFlow turn the input to channels first and leave the output as it was.
        sides.insert(0 if last else 1, (3, shape[1:3]))
    elif len(shape) == 3 and isinstance(shape[2], int) and shape[2] <= _FEW:
        sides.append((2, shape[:2]))  # one image without its batch
    for axis, size in sides:
        channels = 1 if axis is None else end.at(axis)
        rates = [_rate(have, full) for have, full in zip(size, image.size, strict=True)]
        one, other = rates if len(rates) == 2 else (None, None)
        if one and other and abs(one - other) < 0.02 * one and channels:
            return _Map(end, channels, one)
    if len(shape) == 4 and not any(isinstance(d, int) for d in (*shape[2:], *image.size)):
        return _Map(end, end.at(1), None)
    return None


def _rate(have: Dim, full: Dim) -> float | None:
    """How much larger a size is than another; None where that is unknown."""
    if isinstance(have, int) and isinstance(full, int):
        return have / full if full else None
    if have == full:
        return None if have is None else 1.0
    if not isinstance(have, str) or not isinstance(full, str):
        return None
    times = _TIMES.fullmatch(have)
    if times and times[2] == full:
        return float(times[1])
    return 1.0 if _PADDED.fullmatch(have) else None


def _one(case: Case) -> tuple[Port, _Map] | None:
    """The image and its first map, where nothing but maps comes out."""
    image = case.image
    if image is None or case.only != "image" or not case.ends:
        return None
    # A step of diffusion, or what two images have to do with each other, is another task.
    whole = sum(port.role == "image" and port.channels == image.channels for port in case.ports)
    if whole > 1 or case.port("time step") is not None:
        return None
    maps = _maps(case, image)
    return (image, maps[0]) if len(maps) == len(case.ends) else None


def _sure(image: Port) -> float:
    return SURE if image.sure else PROBABLE


@task("super-resolution", "super-resolution", ("super-resolution", "image-super-resolution"),
      ("ForImageSuperResolution",))  # fmt: skip
def super_resolution(case: Case) -> Reading | None:
    """An image of more rows and columns, as many channels."""
    grown = _grown(case)
    if grown is not None:
        return grown
    found = _one(case)
    if found is None:
        return None
    image, made = found
    if made.scale is None or made.scale < _LARGER or made.channels != image.channels:
        return None
    if round(made.scale, 3) not in _FACTORS:
        return Reading(PROBABLE, ("an image of more rows and columns comes out, as many channels",), "image")
    told = f"an image of {round(made.scale)} times as many rows and columns comes out, as many channels"
    return Reading(SURE if image.channels == 3 or len(case.ends) == 1 else PROBABLE, (told,), "image")


def _grown(case: Case) -> Reading | None:
    """As many channels, made larger more often than smaller, where the size that comes out is not known.

    What is cut off at the borders does not count.
    """
    image, end, flow = case.image, case.end, case.flow
    if image is None or end is None or case.only != "image" or end.rank != 4 or end.at(1) != image.channels:
        return None
    made = _map(end, image)
    if (made is not None and made.scale is not None) or flow.of(("SpaceToDepth",)):
        return None
    turned = sum(_stride(flow, n) > 1 for n in flow.of(("ConvTranspose",)))
    larger = turned + len(flow.of(("DepthToSpace", "Resize", "Upsample")))
    smaller = sum(_stride(flow, n) > 1 for n in flow.of(_STRIDED))
    if larger <= smaller:
        return None
    told = f"as many channels come out; the layers make it larger {larger} times and smaller {smaller} times"
    return Reading(SURE if image.sure and not smaller else PROBABLE, (told,), "image")


def _stride(flow: Flow, number: int) -> int:
    strides = flow.nodes[number].attributes.get("strides")
    steps = strides if isinstance(strides, (list, tuple)) else ()
    return max((s for s in steps if isinstance(s, int)), default=1)


@task("image-to-image", "image to image", ("image-to-image",), ("ForImageToImage",))
def image_to_image(case: Case) -> Reading | None:
    """Another image of the same size: restored, or in another style."""
    found = _one(case)
    if found is None:
        return None
    image, made = found
    if made.scale != 1 or made.channels != image.channels or made.end.activation in ("Softmax", "ArgMax"):
        return None
    if _blown_up(made.end):
        return None
    told = f"a map of the image's own size and {made.channels} channels comes out"
    if made.end.kind == "join" and image.tensor in made.end.joined:
        return Reading(_sure(image), (told, "what the layers make is added to the image itself"), "image")
    if made.channels == 3:
        ended = made.end.activation in ("Tanh", "Clip")
        return Reading(PROBABLE, (told, f"it ends in {made.end.activation}") if ended else (told,), "image")
    return Reading(WEAK, (told,), "image")


@task("depth-estimation", "depth estimation", ("depth-estimation",), ("ForDepthEstimation",))
def depth(case: Case) -> Reading | None:
    """One number without a bound above for each pixel."""
    image = case.image
    if image is None:
        return _depth_of_features(case)
    if case.only != "image":
        return None
    if case.named(*_DEPTHS):
        return Reading(_sure(image), ("an output is named so",), "depth map")
    found = _one(case)
    if found is None or found[1].channels != 1 or len(case.ends) > 1:
        return None
    made = found[1]
    if made.scale == 1 and made.end.activation in ("Relu", "Softplus", "Exp"):
        told = f"one number a pixel comes out, of at least 0 ({made.end.activation}), without an upper bound"
        return Reading(PROBABLE, (told,), "depth map")
    return None


def _depth_of_features(case: Case) -> Reading | None:
    """The decoder half alone: maps of an encoder go in, one map that is called depth comes out."""
    end = case.end
    maps = bool(case.ports) and all(port.rank == 4 and not port.role for port in case.ports)
    if (
        not maps
        or end is None
        or end.rank != 4
        or 1 not in (end.at(1), end.at(3))
        or not case.named(*_DEPTHS)
    ):
        return None
    return Reading(PROBABLE, ("maps of features go in, one map comes out and is named so",), "depth map")


def _blown_up(end: End) -> bool:
    """The last thing is a plain interpolation: good enough for classes, too blurred for an image."""
    return end.kind in ("conv", "linear") and bool({"Resize", "Upsample"}.intersection(end.passed))


@task("image-segmentation", "image segmentation", ("image-segmentation", "semantic-segmentation"),
      ("ForSemanticSegmentation", "ForInstanceSegmentation", "ForUniversalSegmentation",
       "ForImageSegmentation", "ForPanopticSegmentation"))  # fmt: skip
def segmentation(case: Case) -> Reading | None:
    """Classes for each pixel."""
    if case.image is not None and case.only == "image" and case.named(*_SEGMENTS):
        called = next(end for end in case.ends if set(_SEGMENTS).intersection(case.name(end)))
        if called.rank in (3, 4):
            return Reading(PROBABLE + 0.15, ("a map comes out and is named so",), "class maps")
    found = _one(case)
    if found is None or case.family == "detector":
        return None
    image, made = found
    end, sure = made.end, _sure(image)
    if end.rank == 3 and end.at(2) == made.channels != 1:
        return None  # an image as it is shown
    told = f"{made.channels or '?'} numbers for each place of a map over the image come out"
    known = _KNOWN.get(made.channels or 0)
    if made.scale is not None and not 0.1 <= made.scale <= 1:
        coarse = known and made.scale >= 1 / 32 and end.kind == "conv" and len(case.ends) == 1
        return Reading(PROBABLE, (told, f"{made.channels}: {known}"), "class maps") if coarse else None
    if end.activation == "ArgMax" and made.scale == 1:
        return Reading(sure, ("a class for each pixel comes out",), "class map")
    if end.activation == "Softmax" and (made.channels or 0) > 1:
        return Reading(sure, (told, "a Softmax makes them probabilities of classes"), "class maps")
    if end.op == "Concat":
        return None  # several maps in one: nothing says what each is
    if made.channels == 1:
        if end.activation == "Sigmoid":
            return Reading(PROBABLE, ("one probability a pixel comes out: foreground or not",), "mask")
        if _sides(case, image):
            return None
        return Reading(WEAK, ("one number a pixel comes out",), "map") if made.scale == 1 else None
    if made.channels == image.channels and made.scale == 1 and _blown_up(end) and len(case.ends) == 1:
        why = "they are interpolated to the image's size at last, which no image would be"
        return Reading(PROBABLE, (told, why), "class maps")
    if made.channels is None or made.channels in (3, image.channels):
        return Reading(WEAK, (told,), "class maps") if case.family == "segmenter" else None
    if len(case.ends) > 3:
        return None
    if made.scale == 1 and made.channels >= 4:
        return Reading(sure, (told, "it has the image's own size"), "class maps")
    if known and (made.scale or 0) >= 0.12 and case.family == "segmenter":
        return Reading(sure, (told, f"{made.channels}: {known}"), "class maps")
    if case.family == "segmenter":
        return Reading(PROBABLE, (told, *case.structure.verdict.evidence[:1]), "class maps")
    return None


def _sides(case: Case, image: Port) -> bool:
    """Several maps of one number a pixel, without bounds, from layers of different depth."""
    maps = [made for made in _maps(case, image) if made.channels == 1 and made.scale == 1]
    plain = all(not made.end.activation for made in maps)
    return len(maps) >= _SIDES and len(maps) == len(case.ends) and plain


@task("edge-detection", "edge detection", ("edge-detection",), ())
def edges(case: Case) -> Reading | None:
    """A map of edges from each stage and one of all, as in HED (Xie and Tu, 2015)."""
    found = _one(case)
    if found is None or not all(made.channels == 1 for made in _maps(case, found[0])):
        return None
    if case.named("edge", "edges"):
        return Reading(_sure(found[0]), ("an output is named so",), "edge map")
    if not _sides(case, found[0]):
        return None
    told = f"{len(case.ends)} maps of one number a pixel come out, from stages of different depth"
    return Reading(WEAK, (told,), "edge maps")


@task("keypoint-detection", "keypoint detection", ("keypoint-detection", "pose", "pose-estimation"),
      ("ForPoseEstimation", "ForKeypointDetection"))  # fmt: skip
def keypoints(case: Case) -> Reading | None:
    """A heat map for each point of a body or face."""
    found_points = _points(case) or _cells(case) or _offsets(case)
    if found_points is not None:
        return found_points
    found = _one(case)
    if found is None or found[1].end.activation in ("Softmax", "ArgMax"):
        return None
    image, made = found
    upright = len(image.size) == 2 and image.size[0] != image.size[1]
    if made.scale == 0.25 and made.channels in _JOINTS and made.channels not in _KNOWN:
        told = f"{made.channels} maps at a quarter of the image's size: a usual number of keypoints"
        return Reading(PROBABLE + (0.1 if upright else 0), (told,), "heat maps")
    return None


def _cells(case: Case) -> Reading | None:
    """Scores of the 64 places of a cell of 8×8 pixels, and of none (SuperPoint, DeTone et al., 2018)."""
    image = case.image
    if image is None or case.only != "image" or len(case.ends) < 2:
        return None
    for made in _maps(case, image):
        if made.channels == _CELL**2 + 1 and made.scale == 1 / _CELL and len(_maps(case, image)) >= 2:
            told = f"{made.channels} maps at 1/{_CELL} of the image's size: the places of a cell, and none"
            return Reading(PROBABLE + 0.1, (told, "vectors come out beside them"), "scores of places")
    return None


def _points(case: Case) -> Reading | None:
    """Coordinates of a usual number of points, beside scores (is it there, which hand) and features."""
    widths = [1 if end.rank == 4 and (end.at(2) or 0) > 1 else flat(end) for end in case.ends]
    numbers = [width for width in widths if width != 1]
    if case.only != "image" or len(numbers) != 1 or numbers[0] not in _POINTS:
        return None
    if case.ends[widths.index(numbers[0])].activation:
        return None
    told = f"{numbers[0]:,} numbers come out: {_POINTS[numbers[0]]}"
    return Reading(PROBABLE + 0.1, (told,), "coordinates")


def _offsets(case: Case) -> Reading | None:
    """A heat map a point beside two offsets a point (Papandreou et al., 2017): on one grid."""
    found = case.ends if case.only == "image" and case.image is not None else []
    if len(found) < 2 or not all(end.rank == 4 for end in found):
        return None
    for axis in (1, 3):
        grids = {end.shape[2:] if axis == 1 else end.shape[1:3] for end in found if end.shape is not None}
        counts = [end.at(axis) or 0 for end in found]
        points = next((count for count in counts if count in _JOINTS and 2 * count in counts), 0)
        if len(grids) == 1 and points:
            told = f"{points} maps and twice as many beside them come out: points of a body and their offsets"
            return Reading(PROBABLE + 0.1, (told,), "heat maps")
    return None


@task("text-detection", "text detection", ("text-detection", "scene-text-detection"), ())
def text_detection(case: Case) -> Reading | None:
    """A probability map by differentiable binarization (Liao et al., 2020): two transposed convolutions."""
    found = _one(case)
    if found is None or found[1].channels != 1 or found[1].end.activation != "Sigmoid":
        return None
    image, made = found
    flow, node, steps = case.flow, made.end.node, []
    for _ in range(_HEAD):
        steps.append(flow.bare[node])
        before = flow.reads[node]
        if len(before) != 1:
            break
        node = flow.makers[before[0]]
    head = [op for op in steps if op in ("Conv", "ConvTranspose")][:3]
    if head != ["ConvTranspose", "ConvTranspose", "Conv"] or not image.sure:
        return None
    told = "the head doubles the size twice by transposed convolutions and ends in one Sigmoid map (DB)"
    paddle = "paddle" in f"{case.model.producer_name} {case.model.graphs[0].name}".lower()
    named = ("PaddlePaddle wrote it",) if paddle else ()
    return Reading(SURE if paddle else PROBABLE + 0.1, (told, *named), "text map")
