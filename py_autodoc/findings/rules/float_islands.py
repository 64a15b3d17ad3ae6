"""Layers left in floating point between quantized layers.

What it finds:
In a model with quantized activations (QDQ or QLinear/Integer operators), layers that carry
multiply-accumulates, run in float, and have quantized layers both before and after them. Layers in float at
the beginning or the end are not reported, because that is common practice. It is `low` from `min_share` of
the MACs (of the parameters where MACs are unknown) and `medium` from `major_share`. Layers with only
quantized weights (MatMulNBits, DequantizeLinear on the weight only) are not islands, and neither are
products of two activations in dynamically quantized models.

Why it matters:
Every border costs a dequantization and a quantization over the whole activation, the island runs at float
speed, and integer-only hardware runs it on the CPU.

Example:
A quantized detector whose upsampling path was excluded: two ConvTranspose layers in float take 31 % of the
MACs.

Instead:
Quantize these layers too; where accuracy suffers, give them 16-bit activations or move the border to the
end of the network. Check first which of them the tool skipped by accident (`nodes_to_quantize`, missing
calibration).

References:
[ONNX Runtime: QDQ format](https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html);
Krishnamoorthi, *Quantizing deep convolutional networks for efficient inference*, 2018.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from py_autodoc.costs.registry import carries_macs
from py_autodoc.findings.mac_share import MacShare
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label
from py_autodoc.graph.building.quantization_params import PARAM_INPUTS
from py_autodoc.units import plural, share

_PASS_THROUGH = frozenset(
    {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Relu", "Clip", "MaxPool", "Pad"}
)
"""Operators allowed between a DequantizeLinear and the layer that uses it."""
_WEIGHT_ONLY = frozenset({"MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "QMoE", "GatherBlockQuantized"})
_DYNAMIC = frozenset({"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"})
_INT, _PARTLY, _FLOAT = "int", "partly", "float"


@rule(
    "float-islands",
    "Float layers between quantized layers",
    ("medium", "low"),
    min_share=0.02,
    major_share=0.2,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits, flow = ctx.thresholds["float-islands"], ctx.flow
    if not any(kind in PARAM_INPUTS for kind in ctx.kinds):
        return
    dynamic = any(flow.nodes[number].op_type in _DYNAMIC for number in flow.order)
    states = {
        number: _state(ctx, number, dynamic)
        for number in flow.order
        if carries_macs(flow.nodes[number].domain, flow.nodes[number].op_type)
    }
    quantized = {number for number, state in states.items() if state == _INT}
    if len(quantized) < 2:
        return
    after = _downstream(ctx, quantized)
    before = _upstream(ctx, quantized)
    islands = [n for n, state in states.items() if state == _FLOAT and n in after and n in before]
    work = MacShare(ctx)
    macs_share = work.share(islands)
    if not islands or macs_share < limits["min_share"]:
        return
    kinds = Counter(flow.nodes[number].op_type for number in islands)
    count_text = f"{plural(len(islands), 'layer')} ({', '.join(k for k, _ in kinds.most_common(3))})"
    yield Finding(
        "medium" if macs_share >= limits["major_share"] else "low",
        f"{count_text} between quantized layers run in float, {share(macs_share, 1)} of the {work.words} "
        f"(first: {label(ctx, islands[0])}).",
        "Quantize these layers too, or move the border to the end of the network.",
        tuple(islands),
        {
            "float_layers": len(islands),
            "quantized_layers": len(quantized),
            "share": round(macs_share, 4),
            "basis": work.basis,
            work.basis: work.of(islands),
        },
    )


def _state(ctx: RuleContext, number: int, dynamic: bool) -> str:
    """Classify a MAC-carrying node: quantized activations, quantized weights only, or float."""
    flow, node = ctx.flow, ctx.flow.nodes[number]
    if node.op_type in _WEIGHT_ONLY:
        return _PARTLY
    if (node.domain, node.op_type) in PARAM_INPUTS:
        return _INT
    data = flow.data_inputs[number]
    operands = [_dequantized(ctx, t) for t in data[:2]]
    weights = [t for t in flow.constant_inputs[number] if len(flow.shapes[t] or ()) > 1]
    weight_types = [_dequantized(ctx, t) for t in weights]
    # A weight after DequantizeLinear is constant, too, so both kinds of inputs are covered.
    if operands and all(operands) and all(weight_types):
        return _INT
    if any(operands) or any(weight_types) or (dynamic and not weights):
        return _PARTLY
    return _FLOAT


def _dequantized(ctx: RuleContext, tensor: int) -> bool:
    """True if the tensor comes from a DequantizeLinear, past cheap operators."""
    return ctx.flow.qualified_op_types[ctx.flow.producers[ctx.flow.back(tensor, _PASS_THROUGH)]].endswith(
        "DequantizeLinear"
    )


def _downstream(ctx: RuleContext, start: set[int]) -> set[int]:
    """Return the nodes downstream of ``start``."""
    reached: set[int] = set()
    for number in ctx.flow.order:
        if any(p in start or p in reached for p in ctx.flow.predecessors(number)):
            reached.add(number)
    return reached


def _upstream(ctx: RuleContext, start: set[int]) -> set[int]:
    """Return the nodes upstream of ``start``."""
    reached: set[int] = set()
    for number in reversed(ctx.flow.order):
        if any(s in start or s in reached for s in ctx.flow.successors(number)):
            reached.add(number)
    return reached
