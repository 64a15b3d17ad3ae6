"""Text generation that a page carries along: the numbers of the device that the analysis was asked for."""

from __future__ import annotations

from py_autodoc.errors import AutodocError
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import Plans


def serving_of(analysis: Analysis) -> Plans | None:
    """The model on its device; None where it generates no tokens, or no device was chosen."""
    if analysis.hardware is None:
        return None
    from py_autodoc.llm.serving import ServingGrid, decodes

    if not decodes(analysis):
        return None
    try:
        return ServingGrid(analysis).on(analysis.hardware)
    except AutodocError:
        return None
