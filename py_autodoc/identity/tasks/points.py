"""Point clouds and graphs: unordered sets."""

from __future__ import annotations

from py_autodoc.blocks.architecture.layer_inventory import RECURRENT, count_layers
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, ModelPort, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.units import plural

_POINTS = 128
"""Minimum points of a cloud."""
_NUMBERS = (3, 6, 9)
"""Numbers per point: its position, with a normal or colours."""
_BEST = ("ReduceMax", "GlobalMaxPool", "MaxPool", "TopK")


def _cloud(case: IdentityCase) -> tuple[ModelPort, int] | None:
    """Return the point input and its axis if points are processed separately and then reduced by maximum."""
    port = case.port("features")
    if case.only != "features" or case.count("features") != 1 or port is None or port.shape is None:
        return None
    if port.rank != 3 or not case.flow.of(_BEST):
        return None
    inventory = count_layers(list(case.flows) or [case.flow])
    if inventory.spatial or inventory.kinds[RECURRENT].layers or not inventory.layers:
        return None
    for along, across in ((2, 1), (1, 2)):
        count = port.shape[along]
        if port.shape[across] in _NUMBERS and (not isinstance(count, int) or count >= _POINTS):
            return port, along
    return None


_TOLD = "input points of {} values, processed separately and reduced by their maximum"


@task("point-cloud-classification", "point cloud classification", ("point-cloud-classification",), ())
def clouds(case: IdentityCase) -> RuleReading | None:
    """Match classes of a point cloud (Qi et al., PointNet, 2017)."""
    found, end = _cloud(case), case.first
    if found is None or end is None or end.rank != 2 or (end.width or 0) < 2:
        return None
    told = _TOLD.format(found[0].shape[3 - found[1]] if found[0].shape else "?")
    return RuleReading(PROBABLE + 0.1, (told,), "class scores")


@task("point-cloud-segmentation", "point cloud segmentation", ("point-cloud-segmentation",), ())
def parts(case: IdentityCase) -> RuleReading | None:
    """Match classes per point."""
    found, end = _cloud(case), case.first
    if found is None or end is None or end.rank != 3 or end.shape is None or found[0].shape is None:
        return None
    along = found[1]
    count = found[0].shape[along]
    if count not in end.shape[1:]:
        return None
    told = _TOLD.format(found[0].shape[3 - along])
    return RuleReading(PROBABLE + 0.1, (told, "scores per point as output"), "class scores")


@task("node-classification", "node classification", ("node-classification",), ())
def nodes(case: IdentityCase) -> RuleReading | None:
    """Match classes of graph nodes (Kipf and Welling, 2017)."""
    end, port = case.end, case.port("features")
    if case.family != "graph" or end is None or end.shape is None or port is None or port.shape is None:
        return None
    if end.rank != len(port.shape) or end.shape[-2] != port.shape[-2] or (end.width or 0) < 2:
        return None
    told = f"{plural(end.width or 0, 'score')} per graph node as output"
    return RuleReading(PROBABLE + 0.1, (*case.structure.verdict.evidence[:1], told), "class scores")


@task("graph-classification", "graph classification", ("graph-classification", "graph-ml"), ())
def graphs(case: IdentityCase) -> RuleReading | None:
    """Match classes of a whole graph, or a number for it."""
    end, port = case.end, case.port("features")
    if case.family != "graph" or end is None or end.shape is None or port is None or port.shape is None:
        return None
    if end.rank not in (1, 2) or end.shape[0] == port.shape[-2] or (end.width or 0) < 2:
        return None
    told = f"{plural(end.width or 0, 'score')} for the whole graph as output"
    return RuleReading(PROBABLE, (*case.structure.verdict.evidence[:1], told), "class scores")
