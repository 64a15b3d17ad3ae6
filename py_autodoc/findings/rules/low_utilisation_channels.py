"""Channel counts that do not fill vector units.

What it finds:
Convolutions and matrix products with weights whose channels are not a multiple of `multiple` (8 suits
16-bit tensor cores and SIMD lanes; use 16 or 32 for 8-bit), weighted by MACs. When they do at least
`min_share` of the MACs of a model with at least `min_total_macs`: `low`; `medium` when padding the channels
would also add `major_waste` of the work or more and the model has at least `major_total_macs`. Up to four
input channels (images), a single output and the single channel of depthwise convolutions are not included.

Why it matters:
Hardware computes tiles of 8, 16 or 32 channels. 12 channels take the time of 16, and rows that are not
aligned fall back to slower kernels.

Example:
GPT-2's vocabulary has 50,257 words; padded to 50,304 (a multiple of 64) its output projection runs much
faster on tensor cores.

Instead:
Choose multiples of 8 (better 32) when you design the model. In a trained model, pad with zero channels: the
results stay the same.

References:
NVIDIA, *Deep Learning Performance: Matrix Multiplication*, "Tensor Core requirements".
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.channel_maps import ChannelMap, channel_maps
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import macs
from py_autodoc.units import plural, share

_IMAGE = 4
"""Maximum input channels of a layer that is assumed to read an image."""


@rule(
    "low-utilisation-channels",
    "Unaligned channel counts",
    ("medium", "low"),
    multiple=8,
    min_share=0.1,
    min_total_macs=100_000_000,
    major_waste=0.25,
    major_total_macs=1_000_000_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits = ctx.thresholds["low-utilisation-channels"]
    total_macs = ctx.totals.macs
    tile = int(limits["multiple"])
    if not total_macs or total_macs < limits["min_total_macs"] or tile < 2:
        return
    unaligned: list[tuple[int, ChannelMap]] = []
    extra = 0.0
    for number, layer in channel_maps(ctx).items():
        filled = _filled(layer, tile)
        if filled < 1:
            amount = macs(ctx, number)
            unaligned.append((amount, layer))
            extra += amount * (1 / filled - 1)
    unaligned_macs = sum(amount for amount, _ in unaligned)
    if not unaligned_macs or unaligned_macs < limits["min_share"] * total_macs:
        return
    unaligned.sort(key=lambda pair: (-pair[0], pair[1].node))
    worst = unaligned[0][1]
    waste = extra / total_macs
    major = waste >= limits["major_waste"] and total_macs >= limits["major_total_macs"]
    yield Finding(
        "medium" if major else "low",
        f"Channel counts that are not a multiple of {tile} in {plural(len(unaligned), 'layer')} with "
        f"{share(unaligned_macs, total_macs)} of the MACs, most of all {worst.inputs * worst.groups:,} → "
        f"{worst.outputs:,}.",
        f"Use multiples of {tile}, or pad with zero channels; padding would add {100 * waste:.1f} % of work.",
        tuple(layer.node for _, layer in unaligned),
        {
            "layers": len(unaligned),
            "macs": unaligned_macs,
            "macs_share": round(unaligned_macs / total_macs, 4),
            "padding_waste": round(waste, 4),
            "multiple": tile,
            "channels_in": worst.inputs * worst.groups,
            "channels_out": worst.outputs,
        },
    )


def _filled(layer: ChannelMap, tile: int) -> float:
    """Return the used share of the tiles, 1 if the channels fill them."""
    filled = 1.0
    image = bool(layer.kernel) and layer.inputs * layer.groups <= _IMAGE
    exempt = image or layer.inputs == 1
    for channels, counts in ((layer.inputs, not exempt), (layer.outputs, True)):
        if counts and channels % tile and channels > 1:
            filled *= channels / (-(-channels // tile) * tile)
    return filled
