"""What a diagnostic of a node says about running the model: one table for everybody who judges by it.

Whether a model runs (``contradiction``), whether sizes fit it (``misfits``, the reference of the expressions)
and whether other sizes could help (``report.runnable``, ``tags.validate``) must not differ over a code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from py_autodoc.graph.ir.model import Diagnostic


class FailureCause(Enum):
    """What would have to change for the node to run."""

    FILE = "file"
    """The file: no sizes of the inputs help."""
    SIZES = "sizes"
    """The file or the sizes of the inputs."""
    UNKNOWN = "unknown"
    """Nothing is proved: the shape could not be inferred. Sizes for which it can are better ones."""


CAUSES: Mapping[str, FailureCause] = {
    "bad-attribute": FailureCause.FILE,
    "bad-shape": FailureCause.SIZES,
    "cycle": FailureCause.FILE,
    "shape-inference-failed": FailureCause.UNKNOWN,
    "shape-mismatch": FailureCause.SIZES,
    "undefined-input": FailureCause.FILE,
}
"""Code of a diagnostic (``docs/diagnostics.md``) → its cause. A code that is not here stops no node."""


def stops(found: Diagnostic) -> bool:
    """True when no runtime can execute the node of the diagnostic.

    Those of severity ``info`` are of branches that need not be taken.
    """
    cause = CAUSES.get(found.code, FailureCause.UNKNOWN)
    return found.node >= 0 and found.severity != "info" and cause is not FailureCause.UNKNOWN


def against_sizes(found: Diagnostic) -> bool:
    """True when the diagnostic speaks against the sizes of the inputs, in whatever branch it stands."""
    return found.node >= 0 and CAUSES.get(found.code, FailureCause.FILE) is not FailureCause.FILE


def mendable(code: str) -> bool:
    """True when other sizes of the inputs may make a node run that has a diagnostic of this code."""
    return CAUSES.get(code) is FailureCause.SIZES
