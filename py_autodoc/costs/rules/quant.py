"""Quantization operators of ai.onnx. Integer arithmetic counts like floating-point arithmetic."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import DEQUANTIZE, DYNAMIC_RANGE, QUANTIZE
from py_autodoc.costs.registry import Cost, NodeView, cost
from py_autodoc.costs.rules._make import per_input, register
from py_autodoc.costs.rules.matmul import inner
from py_autodoc.graph.operators.vendor_quantizers import DEQUANTIZE as DEQUANTIZE_LINEAR
from py_autodoc.graph.operators.vendor_quantizers import ROUNDERS, TWINS

register("", "QuantizeLinear", per_input(QUANTIZE))
register("", "DynamicQuantizeLinear", per_input(DYNAMIC_RANGE + QUANTIZE))
register("com.microsoft", "QuantizeLinear", per_input(QUANTIZE))


@cost("", "DequantizeLinear")
@cost("com.microsoft", "DequantizeLinear")
def dequantize(v: NodeView) -> Cost:
    """(x − zero point) · scale; without a zero point only ×."""
    return Cost(0, (DEQUANTIZE if v.has(2) else DEQUANTIZE - 1) * v.numel(0))


@cost("", "QLinearMatMul", macs=True)
def qlinear_matmul(v: NodeView) -> Cost:
    """Like MatMul (B at input 3); the accumulator is requantized."""
    return Cost.of(v.out_numel() * inner(v), QUANTIZE * v.out_numel())


# ---- quantizers of vendors

for _vendor, _standard in TWINS.items():
    cost(*_vendor)(dequantize if _standard == DEQUANTIZE_LINEAR else per_input(QUANTIZE))
for _domain, _name in sorted(ROUNDERS):
    register(_domain, _name, per_input(QUANTIZE + DEQUANTIZE))
