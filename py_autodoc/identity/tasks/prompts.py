"""Masks for prompts."""

from __future__ import annotations

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.identity.words import words

_POINTS = (frozenset({"point", "points"}), frozenset({"coords", "coordinates", "labels", "label", "points"}))


@task("mask-generation", "mask generation", ("mask-generation",), ())
def masks(case: IdentityCase) -> RuleReading | None:
    """Match masks for points or boxes, from an encoder's image embedding (Kirillov et al., SAM, 2023)."""
    maps = [end for end in case.ends if end.rank in (4, 5)]
    if not maps or case.tokens is not None:
        return None
    names = [set(words(port.name)) for port in case.ports]
    pointed = sum(bool(_POINTS[0] & parts and _POINTS[1] & parts) for parts in names)
    if pointed > 1 and case.named("mask", "masks"):
        return RuleReading(SURE, ("inputs named as points and labels, outputs named as masks",), "masks")
    seen = any(port.rank == 4 and port.role != "mask" for port in case.ports)
    point_shapes = [
        port.shape[:-1] for port in case.ports if port.shape and port.rank > 2 and port.shape[-1] == 2
    ]
    labels = any(port.shape in point_shapes for port in case.ports)
    if seen and point_shapes and labels:
        evidence = "maps, coordinate pairs and one value per pair as input, maps as output"
        return RuleReading(PROBABLE, (evidence,), "masks")
    return None
