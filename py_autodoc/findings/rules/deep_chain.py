"""Many layers in sequence without a skip connection around any of them.

What it finds:
The path with the fewest layers that leads from the inputs to an output; layers are convolutions, matrix
products and recurrent layers with weights, without depthwise convolutions. If even that path has
`min_layers`, there are no effective skip connections: `low`; `medium` from `medium_layers`, `high` from
`high_layers`. Models with fewer than `min_params` parameters are not reported.

Why it matters:
Without short paths gradients fade, and a deeper plain network trains worse than a shallower one (34 plain
layers worse than 18). Numerical errors of low precision also pass through every layer.

Example:
50 convolutions in a row have a shortest path of 50 layers. ResNet-50 has as many convolutions, but its
shortest path has 6: the first convolution, four projections and the classifier.

Instead:
Add identity skips around every two or three layers, or dense or multi-level connections. If the model is
trained and accurate, only check its accuracy in low precision.

References:
He et al., *Deep Residual Learning for Image Recognition*, 2016, figure 1. Veit et al., *Residual Networks
Behave Like Ensembles of Relatively Shallow Networks*, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.layer_depth import depth
from py_autodoc.findings.registry import Finding, RuleContext, rule


@rule(
    "deep-chain",
    "Deep chain without skip connections",
    ("high", "medium", "low"),
    min_layers=24,
    medium_layers=40,
    high_layers=80,
    min_params=100_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits = ctx.thresholds["deep-chain"]
    if ctx.params.total < limits["min_params"]:
        return
    chain = depth(ctx, limits["min_layers"])
    if chain is None or chain.shortest < limits["min_layers"]:
        return
    severe = "high" if chain.shortest >= limits["high_layers"] else "low"
    if severe == "low" and chain.shortest >= limits["medium_layers"]:
        severe = "medium"
    yield Finding(
        severe,
        f"Every path from the inputs to an output passes at least {chain.shortest} layers with weights: no "
        f"skip connections shorten it.",
        "Add identity skips around every two or three layers, or make the network shallower.",
        chain.path,
        {"shortest_path_layers": chain.shortest, "longest_path_layers": chain.longest},
    )
