"""Skip connections that are merged by an operation other than addition.

What it finds:
Residual blocks whose branches are joined by concatenation, by a learned gate or by a subtraction. One
finding per kind, if the model has at least `min_blocks` such blocks and `min_params` parameters: `info`;
`low` for subtractions.

Why it matters:
Runtimes fuse Conv + Add, not these. A concatenation keeps every input live and adds channels; a gate
multiplies the signal, so deep stacks of gates attenuate it; a subtraction needs its own kernel and loses
precision where both sides are large and alike.

Example:
DenseNet and U-Net (concatenation), highway networks (gate), feature differences in change detection
(subtraction). They are legitimate designs; the finding says where they are.

Instead:
Where accuracy allows, project and add. A subtraction becomes an addition when the sign is folded into the
weights of the layer before it.

References:
He et al., *Identity Mappings in Deep Residual Networks*, 2016, section 3 (gates and scalings hamper
optimization).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.units import plural

_ADVICE = {
    "concat": "Expect more live memory and wider layers; project and add where accuracy allows.",
    "gated": "Check that deep stacks of gates still pass the signal; a plain addition fuses better.",
    "subtractive": "Fold the sign into the layer before it, so that the join becomes an addition.",
}


@rule(
    "nonstandard-residual",
    "Skip connections without addition",
    ("low", "info"),
    min_blocks=2,
    min_params=100_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per kind of join."""
    limits = ctx.thresholds["nonstandard-residual"]
    if ctx.params.total < limits["min_params"]:
        return
    anchors: dict[str, list[int]] = {}
    for block in ctx.structure.blocks:
        if block.kind == "residual":
            anchors.setdefault(block.variant, []).append(block.anchor)
    block_count = sum(map(len, anchors.values()))
    for variant, advice in _ADVICE.items():
        nodes = anchors.get(variant, [])
        if not nodes or len(nodes) < limits["min_blocks"]:
            continue
        yield Finding(
            "low" if variant == "subtractive" else "info",
            f"{plural(len(nodes), 'residual block')} of {block_count:,} join by "
            + {"concat": "concatenation", "gated": "a gate", "subtractive": "subtraction"}[variant]
            + ", not by addition.",
            advice,
            tuple(nodes),
            {"variant": variant, "blocks": len(nodes), "residual_blocks": block_count},
        )
