"""Causes of diagnostics: what would have to change for a node to run.

A single table for all users: whether a model runs (``contradiction``), whether dimensions fit it
(``misfits``, the reference of the expressions) and whether other dimensions could help
(``report.builders.runnable_section``, ``tags.validate``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from py_autodoc.graph.ir.model import Diagnostic


class FailureCause(Enum):
    """What would have to change for the node to run."""

    FILE = "file"
    """The file; no input dimensions help."""
    SIZES = "sizes"
    """The file or the input dimensions."""
    UNKNOWN = "unknown"
    """Not proved: the shape could not be inferred. Dimensions for which it can be inferred are preferable."""


CAUSES: Mapping[str, FailureCause] = {
    "bad-attribute": FailureCause.FILE,
    "bad-shape": FailureCause.SIZES,
    "cycle": FailureCause.FILE,
    "shape-inference-failed": FailureCause.UNKNOWN,
    "shape-mismatch": FailureCause.SIZES,
    "undefined-input": FailureCause.FILE,
}
"""Diagnostic code (``docs/diagnostics.md``) → cause. Codes without an entry stop no node."""


def prevents_execution(diagnostic: Diagnostic) -> bool:
    """True if no runtime can execute the node of the diagnostic.

    Diagnostics of severity ``info`` belong to branches that may not be taken.
    """
    cause = CAUSES.get(diagnostic.code, FailureCause.UNKNOWN)
    return diagnostic.node >= 0 and diagnostic.severity != "info" and cause is not FailureCause.UNKNOWN


def contradicts_sizes(diagnostic: Diagnostic) -> bool:
    """True if the diagnostic is evidence against the input dimensions, in any branch."""
    return diagnostic.node >= 0 and CAUSES.get(diagnostic.code, FailureCause.FILE) is not FailureCause.FILE


def depends_on_sizes(code: str) -> bool:
    """True if a node with a diagnostic of this code may run with other input dimensions."""
    return CAUSES.get(code) is FailureCause.SIZES
