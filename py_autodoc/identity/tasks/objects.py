"""Objects in an image: boxes and masks."""

from __future__ import annotations

from itertools import pairwise

from py_autodoc.blocks.layer_blocks.detection_outputs import box_outputs
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.identity.tasks.images import several_rows

_POSES = frozenset({56})
"""Row lengths of 4 numbers, a score and 17 points of three numbers: a pose, or 52 classes."""
_PROTOTYPES = 32
_BOXES = frozenset({"box", "boxes", "bbox", "bboxes"})
_CANDIDATES = 100
"""Minimum number of candidates."""


@task("object-detection", "object detection", ("object-detection", "detect", "obb"), ("ForObjectDetection",))
def detection(case: IdentityCase) -> RuleReading | None:
    """Match the evidence of candidates, boxes and grids in the outputs."""
    if case.family != "detector":
        return _levels(case) or _table(case) or _local_maxima(case) or _by_name(case)
    verdict = case.structure.verdict
    evidence = verdict.evidence[:1]
    rows = {end.at(1) for end in case.ends} | {end.at(2) for end in case.ends}
    is_sure = verdict.confidence >= 0.85 and case.image is not None and not _POSES & rows
    pair = box_outputs(case.flow)
    outputs = {} if pair is None else {pair[0]: "boxes", pair[1]: "class scores"}
    return RuleReading(SURE if is_sure else PROBABLE, evidence, "boxes and scores", outputs)


def _levels(case: IdentityCase) -> RuleReading | None:
    """Match score rows and box rows for the cells of at least three grids, one output per grid."""
    rows: dict[int, list[int]] = {}
    for end in case.ends:
        count, width = end.at(-2), end.width
        if end.rank not in (2, 3) or not count or not width:
            return None
        rows.setdefault(count, []).append(width)
    counts = sorted(rows, reverse=True)
    widths = {tuple(sorted(row)) for row in rows.values()}
    if case.image is None or not counts or len(widths) != 1 or len(rows[counts[0]]) < 2:
        return None
    if len(counts) < 3:
        return _scored(case, counts, sorted(rows[counts[0]]))
    if not all(2.5 < large / small < 5 for large, small in pairwise(counts)):
        return None
    if not any(width % 4 == 0 for width in rows[counts[0]]):
        return None
    counts_text = ", ".join(f"{count:,}" for count in counts)
    return RuleReading(
        SURE,
        (f"separate outputs with scores and boxes for grids of {counts_text} cells",),
        "boxes and scores",
    )


def _scored(case: IdentityCase, counts: list[int], widths: list[int]) -> RuleReading | None:
    """Match a score and a box, optionally with points, per candidate of one list or of two."""
    score, *box = widths
    if score != 1 or len(box) != 1 or box[0] < 4 or box[0] % 2 or counts[-1] < _CANDIDATES:
        return None
    if case.only != "image" or any(end.rank != 3 for end in case.ends):
        return None
    counts_text = " and ".join(f"{count:,}" for count in counts)
    evidence = f"a score and {box[0]} values for each of {counts_text} candidates"
    return RuleReading(PROBABLE + 0.1, (evidence,), "boxes and scores")


def _table(case: IdentityCase) -> RuleReading | None:
    """Match tables with one row per candidate and no batch: boxes in one, scores in others."""
    image = case.image
    if image is None or case.only != "image" or len(case.ends) < 2:
        return None
    count = several_rows(case)
    widths = [end.width for end in case.ends]
    if count < _CANDIDATES or any(end.at(0) != count for end in case.ends):
        return None
    boxes = [w for w in widths if w is not None and w >= 4 and w % 2 == 0]
    if len(boxes) != 1 or not any(w in (1, 2) for w in widths):
        return None
    widths_text = ", ".join(str(width) for width in widths)
    return RuleReading(
        PROBABLE + 0.1, (f"output tables of {count:,} rows with {widths_text} columns",), "boxes and scores"
    )


def _local_maxima(case: IdentityCase) -> RuleReading | None:
    """Match a map and its maxima over neighbours; objects are where both are equal (CenterNet, 2019)."""
    flow = case.flow
    ends = {end.tensor for end in case.ends}
    if case.only != "image" or case.image is None:
        return None
    for end in case.ends:
        producer = flow.producers[end.tensor]
        pooled = producer >= 0 and flow.op_types[producer] == "MaxPool"
        if pooled and ends.intersection(flow.data_inputs[producer]):
            evidence = (
                "an output map and its local maxima as another output: objects are where both are equal"
            )
            return RuleReading(PROBABLE + 0.1, (evidence,), "position scores")
    return None


def _by_name(case: IdentityCase) -> RuleReading | None:
    """Match outputs whose names say box."""
    boxed = any(_BOXES.intersection(case.name(end)) and (end.width or 0) >= 4 for end in case.ends)
    if case.image is None or case.only != "image" or not boxed:
        return None
    return RuleReading(PROBABLE + 0.1, ("image input, an output named as boxes",), "boxes")


@task("instance-segmentation", "instance segmentation", ("instance-segmentation", "segment"), ())
def instances(case: IdentityCase) -> RuleReading | None:
    """Match boxes with coefficients of 32 mask prototypes (Bolya et al., YOLACT, 2019)."""
    if case.image is None:
        return None
    for proto in case.ends:
        if proto.rank != 4 or proto.at(1) != _PROTOTYPES:
            continue
        for boxes in case.ends:
            row = min(boxes.at(1) or 0, boxes.at(2) or 0) if boxes.rank == 3 else 0
            if row > 4 + _PROTOTYPES:
                maps = f"{_PROTOTYPES} prototype maps"
                evidence = f"output rows of {row} values and {maps}: boxes, scores, mask coefficients"
                return RuleReading(SURE + 0.05, (evidence,), "boxes, scores and mask weights")
    return None
