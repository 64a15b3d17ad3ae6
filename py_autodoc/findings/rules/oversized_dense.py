"""A dense layer with a large share of the parameters.

What it finds:
A matrix product with weights (or a convolution that covers its whole input) with at least `min_params`
parameters and at least `min_share` of all: `low`; `medium` from `major_share`. A matrix tied to an embedding
counts as the embedding's.

Why it matters:
At batch size 1 each weight is read for one multiplication, so the layer runs at the speed of the memory. It
dominates the size of the file, the download and the load time, and it is where overfitting sits.

Example:
VGG-19's first dense layer: 25,088 × 4,096 = 103 M of 144 M parameters, for 0.5 % of the MACs.

Instead:
Pool globally before the classifier (the layer shrinks by the area of the map), factorize the matrix into two
of low rank, prune it, or store it in 8 or 4 bits.

References:
Lin et al., *Network In Network*, 2014, section 3.2 (global average pooling).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.channel_maps import channel_maps, is_dense
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, macs
from py_autodoc.units import count, share


@rule(
    "oversized-dense",
    "Oversized dense layer",
    ("medium", "low"),
    min_params=10_000_000,
    min_share=0.25,
    major_share=0.5,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per layer."""
    limits = ctx.thresholds["oversized-dense"]
    if ctx.params.reason:  # a share of an unknown total
        return
    for number, layer in channel_maps(ctx).items():
        layer_params = ctx.params.params[number] or 0
        if layer_params < limits["min_params"] or layer_params < limits["min_share"] * ctx.params.total:
            continue
        if not is_dense(ctx, layer):
            continue
        params_share = layer_params / ctx.params.total
        reads = layer.inputs
        for size in layer.kernel:
            reads *= size
        yield Finding(
            "medium" if params_share >= limits["major_share"] else "low",
            f"{label(ctx, number)} maps {reads:,} to {layer.outputs:,} and has {count(layer_params)} "
            f"parameters, {share(layer_params, ctx.params.total)} of the model.",
            "Reduce its input first (global pooling), factorize it, or store it in fewer bits.",
            (number,),
            {
                "params": layer_params,
                "params_share": round(params_share, 4),
                "inputs": reads,
                "outputs": layer.outputs,
                "macs": macs(ctx, number),
            },
        )
