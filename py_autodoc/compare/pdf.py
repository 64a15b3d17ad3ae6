"""A comparison as PDF, with the sections of its Markdown form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.impact import Evaluations
from py_autodoc.compare.measures import MEASURES, measured, percent, relative
from py_autodoc.compare.picture import CAPTION, picture
from py_autodoc.compare.sections import sections, title
from py_autodoc.compare.summary import relation, verdict_line
from py_autodoc.errors import AutodocError
from py_autodoc.render.pdf import ASPECT, document
from py_autodoc.report.pipeline.analysis import Analysis

_TILES = ("size", "params", "macs", "peak")
"""Metrics whose change is shown at the top."""


def pdf(
    analyses: Sequence[Analysis],
    found: Sequence[Alignment],
    failed: Sequence[str] = (),
    evaluations: Evaluations = (),
    *,
    drawn: bool = True,
    plots: Mapping[str, str] | None = None,
) -> bytes:
    """Return the comparison of the first model with the others as PDF.

    Two models with a similar architecture are ``drawn`` as one graph on its own page, if an engine for
    drawing is available. ``plots`` maps figure names to SVG.

    Raises:
        RequirementError: typst is not installed.
        AnalysisError: typst failed.
    """
    first = found[0]
    said = " ".join(one for one in (verdict_line(first), relation(first)) if one)
    made = sections(analyses, found, failed, evaluations)
    if len(found) == 1:
        # The verdict is shown at the top.
        made = [replace(one, blocks=one.blocks[1:]) if one.id == "pair1" else one for one in made]
    return document(
        title(analyses),
        said if len(found) == 1 else "",
        _tiles(analyses) if len(found) == 1 else [],
        [one for one in made if one.blocks],
        {**(plots or {}), **(_picture(first) if drawn and len(found) == 1 else {})},
        CAPTION,
    )


def _picture(found: Alignment) -> dict[str, str]:
    """Return the graph as a figure; empty if uninformative or it cannot be drawn."""
    if found.verdict is AlignmentVerdict.DIFFERENT or found.same:
        return {}
    try:
        return {"graph": picture(found, direction="wrapped", aspect=ASPECT)}
    except AutodocError:
        return {}


def _tiles(analyses: Sequence[Analysis]) -> list[tuple[str, str]]:
    """Return (label, change) of the most important metrics."""
    labels = {one.id: one.label for one in MEASURES}
    left, right = (measured(one) for one in analyses[:2])
    return [
        (labels[name], _change(left[name], right[name]))
        for name in _TILES
        if left[name] is not None and right[name] is not None
    ]


def _change(left: float | None, right: float | None) -> str:
    return "same" if left == right else percent(relative(left, right))
