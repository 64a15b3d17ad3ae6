"""Text generation data included in a page: the plan for the device of the analysis."""

from __future__ import annotations

from py_autodoc.errors import AutodocError
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import Plans


def serving_of(analysis: Analysis) -> Plans | None:
    """Return the plan of the model on its device; None for other models, or without a device."""
    if analysis.hardware is None:
        return None
    from py_autodoc.llm.serving import ServingGrid, decodes

    if not decodes(analysis):
        return None
    try:
        return ServingGrid(analysis).on(analysis.hardware)
    except AutodocError:
        return None
