"""Keypoints of bodies, faces and scenes in an image."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, RuleReading
from py_autodoc.identity.output_ends import OutputEnd
from py_autodoc.identity.registry import task
from py_autodoc.identity.tasks.images import flat
from py_autodoc.identity.tasks.maps import KNOWN, maps_of, one_map

_JOINTS = {14, 16, 17, 18, 25, 26, 68, 98, 106, 133}
"""Common numbers of keypoints: COCO has 17, MPII 16, faces 68 …"""
_POINTS = {
    42: "21 hand keypoints in 2D", 63: "21 hand keypoints in 3D", 136: "68 face keypoints",
    165: "33 body keypoints with scores", 196: "98 face keypoints", 212: "106 face keypoints",
    195: "33 body keypoints and 6 more, with scores", 1404: "468 face keypoints in 3D",
    1434: "478 face keypoints in 3D",
}  # fmt: skip
_CELL = 8
_DESCRIBED = frozenset({64, 96, 128, 256})
"""Common lengths of keypoint descriptors."""


@task(
    "keypoint-detection",
    "keypoint detection",
    ("keypoint-detection", "pose", "pose-estimation"),
    ("ForPoseEstimation", "ForKeypointDetection"),
)
def keypoints(case: IdentityCase) -> RuleReading | None:
    """Match one heat map per keypoint of a body or face."""
    found_points = _points(case) or _cells(case) or _offsets(case) or _described(case)
    if found_points is not None:
        return found_points
    pair = one_map(case)
    if pair is None or pair[1].end.activation in ("Softmax", "ArgMax"):
        return None
    image, output_map = pair
    upright = len(image.size) == 2 and image.size[0] != image.size[1]
    if output_map.scale == 0.25 and output_map.channels in _JOINTS and output_map.channels not in KNOWN:
        evidence = f"{output_map.channels} output maps at 1/4 of the image size, a common number of keypoints"
        return RuleReading(PROBABLE + (0.1 if upright else 0), (evidence,), "heat maps")
    return None


def _cells(case: IdentityCase) -> RuleReading | None:
    """Match scores of the 64 positions in an 8×8 pixel cell and of none (SuperPoint, DeTone et al., 2018)."""
    image = case.image
    if image is None or case.only != "image" or len(case.ends) < 2:
        return None
    for output_map in maps_of(case, image):
        if (
            output_map.channels == _CELL**2 + 1
            and output_map.scale == 1 / _CELL
            and len(maps_of(case, image)) >= 2
        ):
            evidence = (
                f"{output_map.channels} output maps at 1/{_CELL} of the image size: the pixels of "
                f"a cell, and none"
            )
            return RuleReading(
                PROBABLE + 0.1, (evidence, "descriptors as another output map"), "position scores"
            )
    return None


def _points(case: IdentityCase) -> RuleReading | None:
    """Match coordinates of a common number of keypoints, with scores (presence, handedness) and features."""
    widths = [1 if end.rank == 4 and (end.at(2) or 0) > 1 else flat(end) for end in case.ends]
    numbers = [width for width in widths if width != 1]
    if case.only != "image" or len(numbers) != 1 or numbers[0] not in _POINTS:
        return None
    if case.ends[widths.index(numbers[0])].activation:
        return None
    evidence = f"{numbers[0]:,} output values: {_POINTS[numbers[0]]}"
    return RuleReading(PROBABLE + 0.1, (evidence,), "coordinates")


def _offsets(case: IdentityCase) -> RuleReading | None:
    """Match heat maps with two offsets per keypoint on one grid (Papandreou et al., 2017)."""
    ends = case.ends if case.only == "image" and case.image is not None else []
    if len(ends) < 2 or not all(end.rank == 4 for end in ends):
        return None
    for axis in (1, 3):
        grids = {end.shape[2:] if axis == 1 else end.shape[1:3] for end in ends if end.shape is not None}
        counts = [end.at(axis) or 0 for end in ends]
        points = next((count for count in counts if count in _JOINTS and 2 * count in counts), 0)
        if len(grids) == 1 and points:
            evidence = f"{points} output maps and another {2 * points}: body keypoints and their offsets"
            return RuleReading(PROBABLE + 0.1, (evidence,), "heat maps")
    return None


def _described(case: IdentityCase) -> RuleReading | None:
    """Match coordinates, a score and a descriptor per detected point (DeTone et al., 2018)."""
    ends = case.ends if case.only == "image" and case.image is not None else []
    if not 2 <= len(ends) <= 5:
        return None
    for coordinates in ends:
        if coordinates.rank not in (2, 3) or coordinates.width != 2 or coordinates.shape is None:
            continue
        head = coordinates.shape[:-1]
        vectors = [e for e in ends if e is not coordinates and _rows(e) == head and e.width in _DESCRIBED]
        scores = [e for e in ends if e.shape is not None and (e.shape == head or _rows(e) == head)]
        if vectors and len(scores) > len(vectors) + 1:
            evidence = (
                f"two coordinates, a score and a vector of {vectors[0].width} values per point as output"
            )
            return RuleReading(PROBABLE + 0.1, (evidence,), "coordinates")
    return None


def _rows(end: OutputEnd) -> tuple[object, ...]:
    return tuple(end.shape[:-1]) if end.shape is not None and end.rank > 1 else ()
