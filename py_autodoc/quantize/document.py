"""What a quantization made, as data."""

from __future__ import annotations

import msgspec

from py_autodoc.quantize.clipping import ClippingPairs
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.verify.document import VerifiedOutput

SCHEMA = "autodoc.quantization/1"
GAP_DB = 3.0
"""Loss of the integer kernels over the file's own from which it is a finding."""


class Quantization(msgspec.Struct, frozen=True, kw_only=True):
    """A quantized model beside the one that it was made of."""

    schema: str = SCHEMA
    model: str
    out: str
    recipe: Recipe
    versions: dict[str, str]
    """Of ONNX Runtime, onnx and ONNX Autodoc."""
    cpu: str
    flags: list[str]
    samples: int
    """For ranges; 0 where none are used."""
    data: str
    folded: int
    """Normalizations folded into convolutions."""
    excluded: list[str]
    """Nodes that stayed float because they were asked to."""
    bytes_before: int
    bytes_after: int
    nodes: int
    tagged: float | None
    """Share of nodes with the module that they come from; null where the model has no tags."""
    outputs: list[VerifiedOutput]
    """Beside the float model: as the file says, and as ONNX Runtime runs it here."""
    clipping: ClippingPairs | None
    findings: list[str]

    def to_json(self, pretty: bool = False) -> str:
        """As JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"
