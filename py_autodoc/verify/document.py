"""What a verification says, as data."""

from __future__ import annotations

import math

import msgspec

from py_autodoc.verify.distance import Agreement, Distance

SCHEMA = "autodoc.verification/1"
_HOTTEST = 10.0
"""Relative error that larger ones are painted as."""
AGREES, DIVERGES = "agrees", "diverges"


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """How far the values of a tensor are off, over all samples."""

    relative_error: float | None
    """Norm of the difference over the norm of the reference; null where it is infinite."""
    sqnr_db: float | None
    """The same in decibels; null where nothing differs."""
    cosine: float | None
    largest_difference: float
    exact: bool
    """No value differs."""
    not_finite: int
    """Values that are NaN or infinite on one side only."""

    @property
    def size(self) -> float:
        """For comparisons: infinite where the relative error is."""
        return math.inf if self.relative_error is None else self.relative_error


class VerifiedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A result that both have."""

    name: str
    """Path of the module that it comes from, or the node's name."""
    op: str
    tensor: str
    """Of the model."""
    reference_tensor: str
    nodes: list[int]
    """``layers[].id`` of the model's report."""
    reference_nodes: list[int]
    """The same of the reference's; empty where it has none."""
    error: Error
    error_before: float
    """Largest relative error of what it was computed from, 0 at the inputs."""
    diverges: bool
    """Beyond the tolerance."""


class VerifiedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An output of the model beside that of the reference."""

    name: str
    reference: str
    error: Error
    """Every operator run as it stands in the file."""
    error_fused: Error | None
    """As ONNX Runtime runs the model, with its fused and integer kernels."""
    agreement: float | None
    """Share of rows whose largest value is in the same place; null where rows have no two values."""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A model beside a reference."""

    schema: str = SCHEMA
    model: str
    reference: str
    verdict: str
    """``agrees`` or ``diverges``: an output is beyond the tolerance."""
    tolerance: float
    """Relative error that is accepted."""
    tolerance_reason: str
    samples: int
    data: str
    """Where the values of the inputs are from."""
    outputs: list[VerifiedOutput]
    first: int | None
    """In ``layers``: the first that diverges though all it reads does not; null where none does."""
    layers: list[VerifiedLayer]
    """In the order in which the model runs."""
    compared: int
    pairs: int
    """Layers that both have."""
    not_compared: dict[str, int]
    """Reason → number of layers."""

    def heat(self) -> dict[str, object]:
        """The relative errors as numbers to paint the graph by, for ``Autodoc.overlay`` and pictures."""
        values: dict[str, float] = {}
        for layer in self.layers:
            for node in layer.nodes:
                error = min(layer.error.size, _HOTTEST)
                values[str(node)] = max(values.get(str(node), 0.0), error)
        return {"label": "Relative error", "unit": "", "values": values, "largest": True}

    def to_json(self, pretty: bool = False) -> str:
        """As JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def error_of(one: Distance) -> Error:
    """The figures of the sums."""
    relative = one.relative
    return Error(
        relative_error=None if relative is None or math.isinf(relative) else relative,
        sqnr_db=one.sqnr_db,
        cosine=one.cosine,
        largest_difference=one.largest,
        exact=one.exact,
        not_finite=one.broken,
    )


def output_of(
    name: str, reference: str, error: Distance, fused: Distance | None, agreement: Agreement
) -> VerifiedOutput:
    """An output's figures."""
    return VerifiedOutput(
        name=name, reference=reference, error=error_of(error),
        error_fused=None if fused is None else error_of(fused), agreement=agreement.share,
    )  # fmt: skip
