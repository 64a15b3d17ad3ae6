"""One layer that takes a large share of the MACs.

What it finds:
A node with at least `min_share` of the MACs of a model that has at least `min_total_macs` MACs and
`min_layers` layers with MACs: `low`; `medium` from `major_share` and `major_total_macs`. Models whose MACs
are known for less than 90 % of such nodes are not reported.

Why it matters:
Speeding up anything else cannot help much: if one layer has 50 %, removing all others still leaves half of
the time. The layer determines tiling, precision and the choice of device.

Example:
SegFormer-B0's decoder fuses four maps with one 1×1 convolution (1,024 → 256 at 128×128): 51 % of the MACs of
the whole model.

Instead:
Fewer channels or a lower resolution for that layer, a grouped or depthwise-separable convolution, low-rank
factors; or quantize this layer first.

References:
Amdahl, *Validity of the Single Processor Approach*, 1967.
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, macs
from py_autodoc.units import count, share

_MIN_KNOWN_SHARE = 0.9
"""Minimum share of MAC-carrying nodes with known MACs."""


@rule(
    "compute-bottleneck",
    "Compute bottleneck in one layer",
    ("medium", "low"),
    min_share=0.4,
    major_share=0.7,
    min_total_macs=100_000_000,
    major_total_macs=1_000_000_000,
    min_layers=5,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding per layer over the threshold."""
    limits = ctx.thresholds["compute-bottleneck"]
    total_macs = ctx.totals.macs
    if (
        not total_macs
        or total_macs < limits["min_total_macs"]
        or (ctx.totals.mac_share or 0) < _MIN_KNOWN_SHARE
    ):
        return
    costs = ctx.costs
    candidates = [n for n, entry in enumerate(costs) if entry.cost is not None and entry.cost.macs]
    layer_macs = [(amount, number) for number in candidates if (amount := macs(ctx, number))]
    layers = len(layer_macs)
    if layers < limits["min_layers"]:
        return
    for amount, number in layer_macs:
        if amount < limits["min_share"] * total_macs:
            continue
        major = amount >= limits["major_share"] * total_macs and total_macs >= limits["major_total_macs"]
        yield Finding(
            "medium" if major else "low",
            f"{label(ctx, number)} ({ctx.model.nodes[number].op_type}) does {count(amount)} of "
            f"{count(total_macs)} MACs, {share(amount, total_macs)} of the model.",
            "Make this layer cheaper first: fewer channels, lower resolution, groups or low-rank factors.",
            (number,),
            {
                "macs": amount,
                "total_macs": total_macs,
                "share": round(amount / total_macs, 4),
                "layers_with_macs": layers,
            },
        )
