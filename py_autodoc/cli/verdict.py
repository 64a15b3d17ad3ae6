"""What a command says first of a model that cannot run with the sizes of its analysis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from py_autodoc.cli import stderr
from py_autodoc.render.text import shorten

if TYPE_CHECKING:
    from py_autodoc.report.analysis import Analysis

CANNOT_RUN = 2
"""Exit status of a command whose model cannot run with the sizes it was given; results are written."""
_LONGEST = 300
"""Characters of the reason."""


def tell_if_impossible(path: str, analysis: Analysis, sized: bool) -> int:
    """Say that the model cannot run, and why. Returns the exit status: 0 or ``CANNOT_RUN``.

    Args:
        path: the model, as it was given.
        analysis: what was found of it.
        sized: true when the user gave sizes.
    """
    from py_autodoc.report.runnable import runnable  # imports much

    found = runnable(analysis)
    if found.verdict != "no":
        return 0
    name = os.path.basename(path)
    sizes = " with these sizes" if sized and found.sizes else ""
    way_out = "Give sizes that fit each other and the model." if sizes else "See its diagnostics."
    if sizes and _overrides(analysis):
        way_out = "The file has other sizes fixed: give the shape with --resize, a batch with --batch-size."
    why = shorten(found.reason, _LONGEST)
    stderr.error(f"{name} cannot run{sizes}: {why}. Its totals are unknown.", way_out)
    return CANNOT_RUN


def _overrides(analysis: Analysis) -> bool:
    """True when an input was given a number where the file has another."""
    from py_autodoc.graph.dims import graph_inputs

    for tensor in graph_inputs(analysis.model):
        given = analysis.types.shapes[tensor.id]
        if tensor.shape is None or given is None or len(given) != len(tensor.shape):
            continue
        if any(type(a) is int and a != b for a, b in zip(tensor.shape, given, strict=True)):
            return True
    return False
