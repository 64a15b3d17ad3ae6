"""The first message of a command if the analysis is incomplete or the model cannot run with its sizes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from py_autodoc.cli import stderr
from py_autodoc.render.terminal_text import shorten

if TYPE_CHECKING:
    from py_autodoc.report.pipeline.analysis import Analysis

NOT_WHOLE = 2
"""Exit status: the model cannot run, or part of the analysis failed; results are written."""
PARTIAL_REPORT = ("the report is partial", "See its diagnostics.")
_LONGEST = 300
"""Maximum number of characters of the reason."""


def report_verdict(path: str, analysis: Analysis, sized: bool, partial: tuple[str, str] | None = None) -> int:
    """Report in one line that the model cannot run, that part of its analysis failed, or both.

    Args:
        path: the model, as given.
        analysis: its analysis.
        sized: True if the user set dimensions.
        partial: what a failed part means for the result, and a hint.

    Returns:
        The exit status: 0 or ``NOT_WHOLE``.
    """
    from py_autodoc.report.builders.runnable_section import runnable  # slow import

    name = os.path.basename(path)
    runnable_info = runnable(analysis)
    consequence, hint = partial or PARTIAL_REPORT
    if runnable_info.verdict != "no" or runnable_info.file:
        if not analysis.partial:
            return 0
        stderr.error(f"{name}: part of the analysis failed; {consequence}.", hint)
        return NOT_WHOLE
    sizes = " with these dimensions" if sized and runnable_info.sizes else ""
    if sizes:
        hint = "Pass dimensions that fit each other and the model."
    if sizes and _overrides(analysis):
        hint = "The file has other dimensions fixed: set a shape with --resize, a batch with --batch-size."
    why = shorten(runnable_info.reason, _LONGEST)
    also = ", and part of the analysis failed" if analysis.partial else ""
    stderr.error(f"{name} cannot run{sizes}: {why}. Its totals are unknown{also}.", hint)
    return NOT_WHOLE


def _overrides(analysis: Analysis) -> bool:
    """Return True if an input was given a value for a dimension that is fixed in the file."""
    from py_autodoc.graph.symbolic_dims.dim_names import graph_inputs

    for tensor in graph_inputs(analysis.model):
        shape = analysis.types.shapes[tensor.id]
        if tensor.shape is None or shape is None or len(shape) != len(tensor.shape):
            continue
        if any(type(a) is int and a != b for a, b in zip(tensor.shape, shape, strict=True)):
            return True
    return False
