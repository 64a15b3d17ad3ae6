"""Names of the reductions of ONNX, which have rules of their own in several passes."""

from __future__ import annotations

_KINDS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
REDUCTIONS = tuple(f"Reduce{kind}" for kind in _KINDS)
"""All ``Reduce…`` operators; ArgMax and ArgMin return positions and are not among them."""
