"""What stands in place of totals that there are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py_autodoc.units import share

if TYPE_CHECKING:
    from py_autodoc.report.schema import Report

CANNOT_RUN = "cannot run"
"""What stands where a total would."""
TOTALS = frozenset({"MACs", "FLOPs", "Peak activations"})
"""Labels of the totals that a model which cannot run does not have."""
NEEDS_SIZES = "needs sizes"
"""What stands for the coverage before sizes are given: a share of the rest says nothing."""


def coverage_text(report: Report) -> str:
    """The share of nodes whose cost is known, ``needs sizes`` while most of them wait for sizes."""
    cover = report.coverage
    if not cover.nodes_total:
        return "100 %"
    if cover.nodes_known < cover.nodes_total and any(dim.value is None for dim in report.dims):
        return NEEDS_SIZES
    return share(cover.nodes_known, cover.nodes_total)
