"""Result of a quantization as data."""

from __future__ import annotations

import msgspec

from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.quantize.clipping import ClippingPairs
from py_autodoc.quantize.prepare import Changes
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.quantize.search_document import Search
from py_autodoc.quantize.speed import CpuTime
from py_autodoc.quantize.written_form import WrittenForm
from py_autodoc.verify.document import VerifiedOutput
from py_autodoc.verify.half_range import HalfRange

SCHEMA = "autodoc.quantization/1"
GAP_DB = 3.0
"""Additional loss of ONNX Runtime's kernels, in dB, from which it is reported as a finding."""


class Quantization(msgspec.Struct, frozen=True, kw_only=True):
    """A quantized model compared with its original."""

    schema: str = SCHEMA
    model: str
    out: str
    recipe: Recipe
    versions: dict[str, str]
    """Versions of ONNX Runtime, onnx and ONNX Autodoc."""
    cpu: str
    flags: list[str]
    samples: int
    """Number of samples for ranges; 0 if none are used."""
    data: str
    changes: Changes
    form: WrittenForm
    """What the file has, read from it."""
    folded: int
    """Number of normalizations folded into convolutions."""
    excluded: list[str]
    """Nodes that stayed in float as requested."""
    bytes_before: int
    bytes_after: int
    cpu_time: CpuTime | None
    """CPU time of both models on this machine; null if they were not compared, or do not run."""
    nodes: int
    tagged: float | None
    """Share of nodes with a known module; null if the model has no tags."""
    outputs: list[VerifiedOutput]
    """Compared with the float model: as specified by the file, as run by ONNX Runtime on this machine, and as
    the target computes."""
    kernels: IntegerKernels | None = None
    """The integer kernels of the comparison and those of the target; null without integer products."""
    half: HalfRange | None = None
    """Values outside the range of float16; null without float16, or if nothing was compared."""
    clipping: ClippingPairs | None
    findings: list[str]
    search: Search | None = None
    """Recipes that were tried; null if the recipe was given."""

    def to_json(self, pretty: bool = False) -> str:
        """Return the result as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"
