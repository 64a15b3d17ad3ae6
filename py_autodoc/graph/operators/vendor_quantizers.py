"""Quantizers of vendors: operators of other domains that do what QuantizeLinear and DequantizeLinear do."""

from __future__ import annotations

from collections.abc import Mapping

QUANTIZE, DEQUANTIZE = ("", "QuantizeLinear"), ("", "DequantizeLinear")
_TRT, _VITIS, _QUARK = "trt", "com.vai.quantize", "com.amd.quark"

TWINS: Mapping[tuple[str, str], tuple[str, str]] = {
    (_TRT, "TRT_FP8QuantizeLinear"): QUANTIZE,
    (_TRT, "TRT_FP8DequantizeLinear"): DEQUANTIZE,
    (_TRT, "TRT_INT4QuantizeLinear"): QUANTIZE,
    (_TRT, "TRT_INT4DequantizeLinear"): DEQUANTIZE,
    (_TRT, "TRT_MXFP8QuantizeLinear"): QUANTIZE,
    (_TRT, "TRT_MXFP8DequantizeLinear"): DEQUANTIZE,
    (_VITIS, "VitisQuantizeLinear"): QUANTIZE,
    (_VITIS, "VitisDequantizeLinear"): DEQUANTIZE,
    (_QUARK, "ExtendedQuantizeLinear"): QUANTIZE,
    (_QUARK, "ExtendedDequantizeLinear"): DEQUANTIZE,
}
"""(domain, operator) → its twin in ai.onnx, with the same inputs: data, scale, zero point."""

ROUNDERS = frozenset(
    {
        (_VITIS, "FixNeuron"), (_VITIS, "BFPFixNeuron"), (_VITIS, "MXFixNeuron"),
        (_QUARK, "BFPQuantizeDequantize"), (_QUARK, "MXQuantizeDequantize"), (_TRT, "TRT_FP4QDQ"),
    }
)  # fmt: skip
"""Operators that quantize and dequantize in one step: their output is float."""


def twin(domain: str, op: str) -> tuple[str, str]:
    """Return the operator that this one does the work of: itself outside the tables of vendors."""
    return TWINS.get((domain, op), (domain, op)) if domain else (domain, op)
