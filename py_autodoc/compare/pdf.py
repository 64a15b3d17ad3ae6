"""A comparison as PDF, with the sections of its Markdown form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.impact import Evaluations
from py_autodoc.compare.measures import MEASURES, metric_values, percent, relative
from py_autodoc.compare.picture import CAPTION, picture
from py_autodoc.compare.sections import sections, title
from py_autodoc.compare.summary import headline
from py_autodoc.errors import AutodocError
from py_autodoc.render.pdf import ASPECT, document
from py_autodoc.report.pipeline.analysis import Analysis

_TILES = ("size", "params", "macs", "peak")
"""Metrics whose change is shown at the top."""


def pdf(
    analyses: Sequence[Analysis],
    alignments: Sequence[Alignment],
    failed: Sequence[str] = (),
    evaluations: Evaluations = (),
    *,
    draw_graph: bool = True,
    plots: Mapping[str, str] | None = None,
) -> bytes:
    """Return the comparison of the first model with the others as PDF.

    With ``draw_graph``, two models with a similar architecture are also drawn as one graph on a page of its
    own, if an engine for drawing is available. ``plots`` maps figure names to SVG.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: typst failed.
    """
    first = alignments[0]
    verdict = headline(first)
    parts = sections(analyses, alignments, failed, evaluations)
    if len(alignments) == 1:
        # The verdict is shown at the top.
        parts = [
            replace(section, blocks=section.blocks[1:]) if section.id == "pair1" else section
            for section in parts
        ]
    return document(
        title(analyses),
        verdict if len(alignments) == 1 else "",
        _tiles(analyses) if len(alignments) == 1 else [],
        [section for section in parts if section.blocks],
        {**(plots or {}), **(_picture(first) if draw_graph and len(alignments) == 1 else {})},
        CAPTION,
    )


def _picture(alignment: Alignment) -> dict[str, str]:
    """Return the graph as a figure; empty if uninformative or it cannot be drawn."""
    if alignment.verdict is AlignmentVerdict.DIFFERENT or alignment.same:
        return {}
    try:
        return {"graph": picture(alignment, direction="wrapped", aspect=ASPECT)}
    except AutodocError:
        return {}


def _tiles(analyses: Sequence[Analysis]) -> list[tuple[str, str]]:
    """Return (label, change) of the most important metrics."""
    labels = {measure.id: measure.label for measure in MEASURES}
    left, right = (metric_values(analysis) for analysis in analyses[:2])
    return [
        (labels[name], _change(left[name], right[name]))
        for name in _TILES
        if left[name] is not None and right[name] is not None
    ]


def _change(left: float | None, right: float | None) -> str:
    return "same" if left == right else percent(relative(left, right))
