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
    for point_axis, across in ((2, 1), (1, 2)):
        count = port.shape[point_axis]
        if port.shape[across] in _NUMBERS and (not isinstance(count, int) or count >= _POINTS):
            return port, point_axis
    return None


_EVIDENCE = "input points of {} values, processed separately and reduced by their maximum"


@task("point-cloud-classification", "point cloud classification", ("point-cloud-classification",), ())
def clouds(case: IdentityCase) -> RuleReading | None:
    """Match classes of a point cloud (Qi et al., PointNet, 2017)."""
    cloud, end = _cloud(case), case.first
    if cloud is None or end is None or end.rank != 2 or (end.width or 0) < 2:
        return None
    evidence = _EVIDENCE.format(cloud[0].shape[3 - cloud[1]] if cloud[0].shape else "?")
    return RuleReading(PROBABLE + 0.1, (evidence,), "class scores")


@task("point-cloud-segmentation", "point cloud segmentation", ("point-cloud-segmentation",), ())
def parts(case: IdentityCase) -> RuleReading | None:
    """Match classes per point."""
    cloud, end = _cloud(case), case.first
    if cloud is None or end is None or end.rank != 3 or end.shape is None or cloud[0].shape is None:
        return None
    point_axis = cloud[1]
    count = cloud[0].shape[point_axis]
    if count not in end.shape[1:]:
        return None
    evidence = _EVIDENCE.format(cloud[0].shape[3 - point_axis])
    return RuleReading(PROBABLE + 0.1, (evidence, "scores per point as output"), "class scores")


@task("node-classification", "node classification", ("node-classification",), ())
def nodes(case: IdentityCase) -> RuleReading | None:
    """Match classes of graph nodes (Kipf and Welling, 2017)."""
    end, port = case.end, case.port("features")
    if case.family != "graph" or end is None or end.shape is None or port is None or port.shape is None:
        return None
    if end.rank != len(port.shape) or end.shape[-2] != port.shape[-2] or (end.width or 0) < 2:
        return None
    evidence = f"{plural(end.width or 0, 'score')} per graph node as output"
    return RuleReading(PROBABLE + 0.1, (*case.structure.verdict.evidence[:1], evidence), "class scores")


@task("graph-classification", "graph classification", ("graph-classification", "graph-ml"), ())
def graphs(case: IdentityCase) -> RuleReading | None:
    """Match classes of a whole graph, or a number for it."""
    end, port = case.end, case.port("features")
    if case.family != "graph" or end is None or end.shape is None or port is None or port.shape is None:
        return None
    if end.rank not in (1, 2) or end.shape[0] == port.shape[-2] or (end.width or 0) < 2:
        return None
    evidence = f"{plural(end.width or 0, 'score')} for the whole graph as output"
    return RuleReading(PROBABLE, (*case.structure.verdict.evidence[:1], evidence), "class scores")
