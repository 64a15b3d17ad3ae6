"""Two images: motion between them, or the position of one in the other."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, ModelPort, RuleReading
from py_autodoc.identity.registry import task

_FLOW = ("flow", "flows")


def _pair(case: IdentityCase) -> tuple[ModelPort, ModelPort] | None:
    images = [port for port in case.ports if port.role == "image"]
    if case.only != "image" or len(images) != 2 or images[0].channels != images[1].channels:
        return None
    return images[0], images[1]


@task("optical-flow", "optical flow", ("optical-flow",), ())
def flow(case: IdentityCase) -> RuleReading | None:
    """Match two numbers per position: its motion between two images (Teed and Deng, 2020)."""
    pair = _pair(case)
    if pair is None or not case.ends or pair[0].shape != pair[1].shape:
        return None
    if not all(end.rank == 4 and end.at(1) == 2 and not end.activation for end in case.ends):
        return None
    evidence = "two image inputs of equal size, two unbounded output values per position"
    if case.named(*_FLOW):
        return RuleReading(SURE, (evidence, "an output is named flow"), "flow")
    return RuleReading(PROBABLE, (evidence,), "flow")


@task("frame-interpolation", "frame interpolation", ("frame-interpolation",), ())
def between(case: IdentityCase) -> RuleReading | None:
    """Match an image of the size of both inputs."""
    pair, end = _pair(case), case.first
    if pair is None or end is None or pair[0].shape != pair[1].shape or pair[0].channels != 3:
        return None
    if end.shape is None or end.shape != pair[0].shape:
        return None
    return RuleReading(PROBABLE, ("two image inputs, one output image of the same size",), "image")


@task("object-tracking", "object tracking", ("object-tracking",), ())
def tracking(case: IdentityCase) -> RuleReading | None:
    """Match the position of a small image in a larger one (Bertinetto et al., 2016)."""
    pair = _pair(case)
    if pair is None or not 1 <= len(case.ends) <= 4 or any(end.rank not in (3, 4) for end in case.ends):
        return None
    one, other = pair[0].size, pair[1].size
    if not all(isinstance(d, int) for d in (*one, *other)) or one == other or not one or not other:
        return None
    evidence = f"image inputs of {one[0]} and {other[0]} rows, output maps of scores or positions"
    return RuleReading(PROBABLE, (evidence,), "scores and boxes")
