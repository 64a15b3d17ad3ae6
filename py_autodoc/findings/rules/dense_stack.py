"""Several large dense layers in sequence.

What it finds:
At least two dense layers in a row (only biases, activations, normalization and shape changes in between),
each with at least `min_layer_params` parameters, which together have at least `min_share` of the
parameters: `low`; `medium` from `major_params` and `major_share` in a model that also has convolutions.

Why it matters:
Such stacks have most of the weights and do little of the work. Each weight is read once per inference, so
they are bound by memory. They are the first place to save parameters.

Example:
VGG-19's classifier 25,088 → 4,096 → 4,096 → 1,000: 124 M of 144 M parameters.

Instead:
Global pooling and a single dense layer, narrower hidden layers, low-rank factors, pruning, or fewer bits.

References:
Lin et al., *Network In Network*, 2014. Han et al., *Deep Compression*, 2016 (VGG's dense layers keep 4 % of
their weights).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.channel_maps import channel_maps, is_dense
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label
from py_autodoc.graph.ir.model import Node
from py_autodoc.units import count, share

_PASSES = frozenset(
    (
        *("Add", "Sub", "Mul", "Div", "Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Gelu", "Sigmoid", "Tanh"),
        *("HardSwish", "HardSigmoid", "Clip", "Softplus", "Mish", "Swish", "Erf", "BatchNormalization"),
        *("LayerNormalization", "Dropout", "Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze"),
        *("QuantizeLinear", "DequantizeLinear"),
    )
)
_MAX_BETWEEN = 12
"""Maximum operators between two dense layers."""


@rule(
    "dense-stack",
    "Stack of large dense layers",
    ("medium", "low"),
    min_layer_params=1_000_000,
    min_share=0.4,
    major_params=20_000_000,
    major_share=0.6,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per stack."""
    limits = ctx.thresholds["dense-stack"]
    if ctx.params.reason:  # a share of an unknown total
        return
    params = [stack_params or 0 for stack_params in ctx.params.params]
    dense: set[int] = set()
    convolutions = 0
    for number, layer in channel_maps(ctx).items():
        if not is_dense(ctx, layer):
            convolutions += 1
        elif params[number] >= limits["min_layer_params"]:
            dense.add(number)
    for stack in _stacks(ctx, dense):
        stack_params = sum(params[number] for number in stack)
        if len(stack) < 2 or stack_params < limits["min_share"] * ctx.params.total:
            continue
        params_share = stack_params / ctx.params.total
        major = (
            convolutions and stack_params >= limits["major_params"] and params_share >= limits["major_share"]
        )
        yield Finding(
            "medium" if major else "low",
            f"{len(stack)} dense layers in a row, from {label(ctx, stack[0])} to {label(ctx, stack[-1])}, "
            f"have {count(stack_params)} parameters, {share(stack_params, ctx.params.total)} of the model.",
            "Pool before the stack, narrow or factorize its layers, prune them or store them in fewer bits.",
            tuple(stack),
            {
                "layers": len(stack),
                "params": stack_params,
                "params_share": round(params_share, 4),
                "layer_params": [params[number] for number in stack],
            },
        )


def _stacks(ctx: RuleContext, dense: set[int]) -> Iterator[list[int]]:
    """Yield maximal runs of dense layers; each layer is in one run."""
    following = {number: _next(ctx, number, dense) for number in dense}
    for start in sorted(dense - set(following.values())):
        run = [start]
        # An invalid graph may have a cycle.
        while (after := following[run[-1]]) >= 0 and len(run) <= len(dense):
            run.append(after)
        yield run


def _next(ctx: RuleContext, number: int, dense: set[int]) -> int:
    """Return the dense layer that is the only consumer of this one's result; -1 if none."""
    flow = ctx.flow
    node: Node = flow.nodes[number]
    for _ in range(_MAX_BETWEEN):
        if not node.outputs or node.outputs[0] < 0:
            return -1
        after = flow.sole_consumers[node.outputs[0]]
        if after in dense:
            return after
        if after < 0:
            return -1
        node = flow.nodes[after]
        if node.domain or node.op_type not in _PASSES or len(flow.data_inputs[after]) != 1:
            return -1
    return -1
