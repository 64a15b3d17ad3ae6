"""Five axes: videos and volumes."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, RuleReading
from py_autodoc.identity.registry import task

_SETS = {
    400: "Kinetics-400 classes",
    600: "Kinetics-600 classes",
    700: "Kinetics-700 classes",
    174: "Something-Something classes",
    101: "UCF101 classes",
    51: "HMDB51 classes",
}
_MIN_CLASSES = 4
_VOLUMES = ("volume", "volume or video")


@task("video-classification", "video classification", ("video-classification",), ("ForVideoClassification",))
def videos(case: IdentityCase) -> RuleReading | None:
    """Match classes of a video."""
    port, end = case.port("video"), case.end
    if case.only != "video" or port is None or end is None or end.rank != 2 or (end.width or 0) < 2:
        return None
    if end.kind not in ("linear", "conv", "other"):
        return None
    evidence = f"video input of three channels, {end.width} scores as output"
    known = _SETS.get(end.width or 0)
    if known:
        return RuleReading(SURE, (evidence, f"{end.width} is the number of {known}"), "class scores")
    return RuleReading(PROBABLE, (evidence,), "class scores")


@task("volume-segmentation", "volume segmentation", ("volume-segmentation",), ())
def segments(case: IdentityCase) -> RuleReading | None:
    """Match classes per voxel of a volume (Çiçek et al., 3D U-Net, 2016)."""
    port, end = case.port(*_VOLUMES), case.first
    if case.only not in _VOLUMES or port is None or port.shape is None or end is None or end.rank != 5:
        return None
    if end.shape is None or end.shape[2:] != port.shape[2:]:
        return None
    evidence = f"{end.at(1) or '?'} output values per voxel"
    if end.activation in ("Softmax", "ArgMax") or (end.at(1) or 0) >= _MIN_CLASSES:
        return RuleReading(PROBABLE + 0.1, (evidence,), "class maps")
    if end.activation == "Sigmoid" or 1 < (end.at(1) or 0) != port.shape[1]:
        return RuleReading(PROBABLE, (evidence,), "class maps")
    return None


@task("volume-classification", "volume classification", ("volume-classification",), ())
def classes(case: IdentityCase) -> RuleReading | None:
    """Match classes of a whole volume."""
    port, end = case.port(*_VOLUMES), case.end
    if case.only not in _VOLUMES or port is None or end is None or end.rank != 2:
        return None
    if end.kind != "linear" or (end.width or 0) < 2:
        return None
    return RuleReading(PROBABLE, (f"volume input, {end.width} scores as output",), "class scores")
