"""The result of a verification, and its JSON."""

from __future__ import annotations

import math

import msgspec

from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.verify.distance import Agreement, Distance
from py_autodoc.verify.half_range import HalfRange

SCHEMA = "autodoc.verification/1"
_MAX_HEAT = 10.0
"""Relative errors above this value have the colour of this value."""
AGREES, DIVERGES, NOT_COMPARED = "agrees", "diverges", "not compared"


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """Difference between a tensor and its reference over all samples."""

    relative_error: float | None
    """Norm of the difference over the norm of the reference, of texts the share that differs; null if it is
    infinite."""
    sqnr_db: float | None
    """Signal-to-quantization-noise ratio in decibels; null without a difference."""
    cosine: float | None
    """Cosine similarity; null if a side is all zero."""
    largest_difference: float
    """Largest absolute difference of two values."""
    exact: bool
    """All values are equal."""
    not_finite: int
    """Number of values that are NaN or infinite on one side only."""
    texts: int = 0
    """Number of texts, which are only equal or not."""
    equal_texts: int = 0

    @property
    def relative_error_or_inf(self) -> float:
        """The relative error, infinite instead of None, for comparisons."""
        return math.inf if self.relative_error is None else self.relative_error


class VerifiedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A layer of the model whose result was compared with the reference."""

    name: str
    """Path of the layer's module, else the name of the node."""
    op: str
    tensor: str
    """Tensor of the model."""
    reference_tensor: str
    nodes: list[int]
    """``layers[].id`` in the report of the model."""
    reference_nodes: list[int]
    """``layers[].id`` in the report of the reference; empty if the reference is not an ONNX model."""
    error: Error
    error_before: float
    """Largest relative error of the compared tensors that it is computed from; 0 at the inputs."""
    diverges: bool
    """The error exceeds the tolerance."""


class VerifiedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An output of the model, compared with the output of the reference."""

    name: str
    reference: str
    """Name of the output of the reference."""
    error: Error
    """Error with every operator run as in the file."""
    error_fused: Error | None
    """Error of the model as ONNX Runtime normally runs it, with fused and integer kernels."""
    agreement: float | None
    """Share of rows whose largest value has the same index; null if rows have less than two values."""
    error_target: Error | None = None
    """Error as the target of ``kernels`` computes; null if it is unknown, with the reason there.

    Without a target: with exact integer sums, if they differ from those of this machine.
    """


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """Comparison of the values of a model with those of a reference."""

    schema: str = SCHEMA
    model: str
    reference: str
    verdict: str
    """``agrees``, ``diverges`` if an output exceeds the tolerance, or ``not compared`` without a common
    output."""
    tolerance: float
    """Accepted relative error."""
    tolerance_reason: str
    """``given``, or the precision that determines it: ``float32``, ``quantized`` …"""
    samples: int
    data: str
    """Source of the input values."""
    outputs: list[VerifiedOutput]
    """Compared outputs."""
    outputs_only_model: list[str]
    """Outputs of the model without a counterpart in the reference."""
    outputs_only_reference: list[str]
    """Outputs of the reference without a counterpart in the model."""
    first: int | None
    """Index in ``layers`` of the first that exceeds the tolerance while its inputs do not; null if none."""
    layers: list[VerifiedLayer]
    """Compared layers in execution order."""
    compared: int
    """Number of compared layers."""
    pairs: int
    """Number of layers that both models have."""
    not_compared: dict[str, int]
    """Reason → number of layers that could not be compared."""
    kernels: IntegerKernels | None = None
    """The integer kernels of the measurement and those of the target; null without integer products."""
    half: HalfRange | None = None
    """Values of the model outside the range of float16; null if it computes nothing in float16."""
    first_exact: Error | None = None
    """Error of the layer ``first`` with exact integer sums; null if those of this machine do not saturate."""

    @property
    def saturation_is_the_cause(self) -> bool:
        """True if the first diverging layer agrees with exact integer sums."""
        return self.first_exact is not None and self.first_exact.relative_error_or_inf <= self.tolerance

    def heat(self) -> dict[str, object]:
        """Return the relative error of each node, as data for ``Autodoc.overlay`` and exported images."""
        values: dict[str, float] = {}
        for layer in self.layers:
            for node in layer.nodes:
                error = min(layer.error.relative_error_or_inf, _MAX_HEAT)
                values[str(node)] = max(values.get(str(node), 0.0), error)
        return {"label": "Relative error", "unit": "", "values": values, "largest": True}

    def to_json(self, pretty: bool = False) -> str:
        """Return the result as JSON with a final newline, indented if ``pretty``."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def error_of(distance: Distance) -> Error:
    """Return the error measures of accumulated differences."""
    relative = distance.relative
    return Error(
        relative_error=None if relative is None or math.isinf(relative) else relative,
        sqnr_db=distance.sqnr_db,
        cosine=distance.cosine,
        largest_difference=distance.largest,
        exact=distance.exact,
        not_finite=distance.incomparable,
        texts=distance.texts,
        equal_texts=distance.equal_texts,
    )


def output_of(
    name: str,
    reference: str,
    error: Distance,
    fused: Distance | None,
    agreement: Agreement,
    target: Distance | None = None,
) -> VerifiedOutput:
    """Return the error measures of an output; ``target`` as the target computes it."""
    return VerifiedOutput(
        name=name,
        reference=reference,
        error=error_of(error),
        error_fused=None if fused is None else error_of(fused),
        agreement=agreement.share,
        error_target=None if target is None else error_of(target),
    )
