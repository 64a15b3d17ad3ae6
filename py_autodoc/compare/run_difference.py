"""How far the outputs of two models are apart for the same input."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire

ROUNDING = 1e-6
"""Largest relative difference that counts as rounding: a few units of float32's last place, as folding and
other orders of sums leave them."""


class OutputDifference(Wire, frozen=True, kw_only=True):
    """One output of both models."""

    left: str
    """Its name in the first model."""
    right: str
    largest: float | None
    """Largest absolute difference of two values; null with a reason."""
    relative: float | None
    """The same over the largest absolute value of the first model."""
    reason: str = ""
    """Why the values cannot be compared: other shapes, or not the same values that are no numbers."""


class RunDifference(Wire, frozen=True, kw_only=True):
    """Both models run once on the same input in ONNX Runtime."""

    data: str
    """Source of the input: a file, or ``synthetic`` with its seed."""
    outputs: list[OutputDifference]
    only_left: list[str]
    """Outputs without a counterpart."""
    only_right: list[str]

    @property
    def same(self) -> bool:
        """True if all outputs are equal within rounding."""
        return not (self.only_left or self.only_right) and all(
            output.relative is not None and output.relative <= ROUNDING for output in self.outputs
        )

    def exceeds(self, rounding: float) -> bool:
        """Return True if an output is known to differ by more than a share of its largest value."""
        return any(output.relative is not None and output.relative > rounding for output in self.outputs)

    @property
    def source(self) -> str:
        """The input in words."""
        return (
            self.data.replace("synthetic", "synthetic input", 1) if "synthetic (" in self.data else self.data
        )

    @property
    def text(self) -> str:
        """The largest difference in one line."""
        lost = [output for output in self.outputs if output.largest is None]
        if lost:
            return f"output {lost[0].left} cannot be compared: {lost[0].reason}, on {self.source}"
        most = max(self.outputs, key=lambda output: output.relative or 0.0, default=None)
        if most is None:
            return f"the models have no output in common, on {self.source}"
        if not any(output.largest for output in self.outputs):
            return f"the outputs are equal bit for bit, on {self.source}"
        share = "" if most.relative is None else f", {most.relative:.2g} of the largest value"
        return f"the outputs differ by at most {most.largest:.3g}{share}, in {most.left}, on {self.source}"
