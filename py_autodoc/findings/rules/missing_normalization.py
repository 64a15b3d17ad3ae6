"""A deep network without normalization layers.

What it finds:
No normalization operator, no equivalent block and no trace of a folded one in a model with at least
`min_layers` layers with weights and `min_params` parameters: `low`. Batch normalization that was folded
into a convolution leaves a bias, so convolutional networks are reported only when at least `min_bare_share`
of their layers have no bias, scale or shift; networks with attention, where nothing can be folded, always.
Quantized models are not reported.

Why it matters:
Activations of a deep network without normalization drift in scale: training is fragile, and 16-bit or 8-bit
inference overflows or loses range sooner.

Example:
Twelve transformer blocks whose LayerNormalization was removed for speed. ResNet-50 exported for inference
is not an example: its 53 biases are its folded batch normalizations.

Instead:
Put a LayerNormalization or RMSNormalization before each block, or a BatchNormalization after each
convolution (it costs nothing at inference: it folds).

References:
Ioffe and Szegedy, *Batch Normalization*, 2015. Xiong et al., *On Layer Normalization in the Transformer
Architecture*, 2020.
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.channel_maps import channel_maps
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.units import plural, share

_TRACES = frozenset(
    {"LRN", "ReduceL2", "ReduceSumSquare", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}
)
"""Operators that may be part of a normalization, or that may include a folded one."""
_PARTS = frozenset({"Sqrt", "Reciprocal", "Rsqrt"})
_QUANTIZED = ("QLinear", "Integer", "QGemm", "NBits", "Bnb4")
_SHIFTS = frozenset({"Add", "Sub", "Mul", "Div"})


@rule(
    "missing-normalization",
    "Deep network without normalization",
    ("low",),
    min_layers=12,
    min_params=1_000_000,
    min_bare_share=0.8,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits = ctx.thresholds["missing-normalization"]
    if ctx.params.total < limits["min_params"] or _normalizes(ctx):
        return
    layers = channel_maps(ctx)
    if len(layers) < limits["min_layers"]:
        return
    attention = len(ctx.structure.attention)
    without_bias = sum(1 for number in layers if _lacks_bias(ctx, number))
    if not attention and without_bias < limits["min_bare_share"] * len(layers):
        return
    kinds = "attention" if attention else "layers without bias"
    yield Finding(
        "low",
        f"{plural(len(layers), 'layer')} with weights and no normalization ({kinds}; "
        f"{share(without_bias, len(layers))} of the layers have no bias, scale or shift that a folded one "
        "would have left).",
        "Normalize before each block, or behind each convolution, where it folds into the weights.",
        tuple(layers),
        {"layers": len(layers), "bare_layers": without_bias, "attention_layers": attention},
    )


def _normalizes(ctx: RuleContext) -> bool:
    """True if any node is or may be a normalization, subgraphs included."""
    if any(block.kind == "normalization" for block in ctx.structure.blocks):
        return True
    has_mean = has_root = False
    for _, op in ctx.kinds:
        if "Norm" in op or op in _TRACES or any(quantized_op in op for quantized_op in _QUANTIZED):
            return True
        has_mean = has_mean or op in ("ReduceMean", "ReduceSum", "GlobalAveragePool")
        has_root = has_root or op in _PARTS or op == "Pow"
    return has_mean and has_root


def _lacks_bias(ctx: RuleContext, number: int) -> bool:
    """True if no bias, scale or shift is part of the layer or follows it."""
    flow = ctx.flow
    node = flow.nodes[number]
    if node.op_type in ("Conv", "ConvTranspose", "Gemm", "FusedConv") and len(node.inputs) > 2:
        return node.inputs[2] < 0
    after = flow.sole_consumers[node.outputs[0]] if node.outputs and node.outputs[0] >= 0 else -1
    return not (flow.qualified_op_types[after] in _SHIFTS and flow.constant_inputs[after])
