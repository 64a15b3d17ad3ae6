"""Depth of each pixel, from one image or two."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.identity.tasks.maps import one_map, sure_of

_DEPTHS = ("depth", "depths", "disparity")


@task("depth-estimation", "depth estimation", ("depth-estimation",), ("ForDepthEstimation",))
def depth(case: IdentityCase) -> RuleReading | None:
    """Match one number per pixel without an upper bound."""
    image = case.image
    if image is None:
        return _depth_of_features(case)
    if case.only != "image":
        return None
    if case.named(*_DEPTHS):
        return RuleReading(sure_of(image), ("an output is named depth or disparity",), "depth map")
    if case.count("image") == 2:
        return _disparity(case)
    pair = one_map(case)
    if pair is None or pair[1].channels != 1 or len(case.ends) > 1:
        return None
    output_map = pair[1]
    if output_map.scale == 1 and output_map.end.activation in ("Relu", "Softplus", "Exp"):
        evidence = (
            f"one non-negative output value per pixel ({output_map.end.activation}), without an upper bound"
        )
        return RuleReading(PROBABLE, (evidence,), "depth map")
    return None


def _depth_of_features(case: IdentityCase) -> RuleReading | None:
    """Match a decoder without its encoder: encoder maps as inputs, one map named depth as output."""
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
    return RuleReading(
        PROBABLE, ("feature maps as input, one output map named depth or disparity",), "depth map"
    )


def _disparity(case: IdentityCase) -> RuleReading | None:
    """Match two images of equal size and one map without an upper bound, as for a stereo camera."""
    end = case.first
    shapes = {port.shape for port in case.ports if port.role == "image"}
    if end is None or len(shapes) != 1 or end.rank != 4 or end.at(1) != 1 or (end.at(2) or 2) < 2:
        return None
    if end.activation in ("Sigmoid", "Tanh", "ArgMax"):
        return None  # bounded: a change between the two
    evidence = "two image inputs of equal size, one output value per position without an upper bound"
    return RuleReading(PROBABLE, (evidence,), "disparity map")
