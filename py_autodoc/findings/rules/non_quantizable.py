"""Layers that static quantization would leave in floating point.

What it finds:
In a float model, operators that carry multiply-accumulates and that ONNX Runtime's static quantization does
not quantize: recurrent layers, Einsum, fused attention, deformable convolution, and everything inside If,
Loop and Scan. It is `info` from `min_share` of the MACs (of the parameters where MACs are unknown) and
`low` from `major_share`. Models with fewer than `min_params` parameters are not reported.

Why it matters:
int8 is expected to give a quarter of the size and up to four times the speed. Layers that stay in float
gain neither, and each border between the two adds quantization steps.

Example:
A speech model with 90 % of its parameters in LSTM layers: static quantization touches only the front end.

Instead:
Quantize LSTM and attention weights dynamically (`quantize_dynamic`), write attention and Einsum as MatMuls
before quantizing, quantize the body of a loop as a separate model, or choose float16 for the whole model.

References:
[ONNX Runtime: quantize ONNX
models](https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html);
onnxruntime/python/tools/quantization/registry.py (QDQRegistry, QLinearOpsRegistry).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from py_autodoc.findings.mac_share import MacShare
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.graph.building.quantization_params import PARAM_INPUTS
from py_autodoc.units import plural, share

_QUANTIZABLE = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
"""MAC-carrying operators that quantize_static supports (QDQ form, ONNX Runtime 1.20)."""
_QUANTIZED = frozenset(PARAM_INPUTS)


@rule(
    "non-quantizable",
    "Layers that static quantization leaves in float",
    ("low", "info"),
    min_share=0.05,
    major_share=0.5,
    min_params=100_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits, model = ctx.thresholds["non-quantizable"], ctx.model
    if ctx.params.total < limits["min_params"]:
        return
    if not _QUANTIZED.isdisjoint(ctx.kinds):
        return
    work = MacShare(ctx)
    float_nodes = []
    for number in work.nodes:
        node = model.nodes[number]
        if node.graph or node.domain or node.op_type not in _QUANTIZABLE:
            float_nodes.append(number)
    float_share = work.share(float_nodes)
    if float_share < limits["min_share"]:
        return
    kinds = Counter(
        model.nodes[n].op_type + (" in a body" if model.nodes[n].graph else "")
        for n in float_nodes
        if work.of((n,))
    )
    named = ", ".join(kind for kind, _ in kinds.most_common(3))
    yield Finding(
        "low" if float_share >= limits["major_share"] else "info",
        f"Static quantization would leave {share(float_share, 1)} of the {work.words} in float: "
        f"{plural(sum(kinds.values()), 'node')} ({named}).",
        "Quantize these layers dynamically, rewrite them as MatMul or Conv, or use float16.",
        tuple(n for n in float_nodes if work.of((n,))),
        {
            "share": round(float_share, 4),
            "basis": work.basis,
            work.basis: work.of(float_nodes),
            "operators": sorted(kinds),
        },
    )
