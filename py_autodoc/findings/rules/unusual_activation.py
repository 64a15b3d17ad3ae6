"""Activation functions that many runtimes run slowly or not at all.

What it finds:
Elu, Selu, Celu, Mish (also as Softplus → Tanh → Mul), Softsign, Shrink, ThresholdedRelu, Hardmax, and Sin
or Cos directly after a layer with weights, in models with at least `min_params` parameters: `info`; `low`
if they are at least `min_share` of all activations and there are at least `min_nodes`.

Why it matters:
Mobile and integer runtimes have fast, fused kernels for Relu, Relu6, HardSwish, Sigmoid and Tanh. Others fall
back to a slow path, are not fused with the layer before, or break quantization, because their range is
unbounded or asymmetric.

Example:
YOLOv4 with Mish: on NPUs every activation leaves the accelerator for the CPU.

Instead:
Relu, HardSwish, or Gelu where the target supports it, with a few epochs of fine-tuning.

References:
Howard et al., *Searching for MobileNetV3*, 2019, section 5.2 (why HardSwish replaces Swish).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import weighted
from py_autodoc.units import plural

_UNUSUAL = frozenset({"Elu", "Selu", "Celu", "Mish", "Softsign", "Shrink", "ThresholdedRelu", "Hardmax"})
_PERIODIC = frozenset({"Sin", "Cos"})
_COMMON = frozenset(
    {"Relu", "LeakyRelu", "PRelu", "Clip", "Gelu", "HardSwish", "HardSigmoid", "Sigmoid", "Swish", "Tanh"}
)
_ACTIVATIONS = _UNUSUAL | _PERIODIC | _COMMON


@rule(
    "unusual-activation",
    "Uncommon activation functions",
    ("low", "info"),
    min_params=100_000,
    min_share=0.5,
    min_nodes=4,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    limits = ctx.thresholds["unusual-activation"]
    if ctx.params.total < limits["min_params"]:
        return
    flow = ctx.flow
    layers = set(weighted(ctx))
    unusual: dict[int, str] = {}
    common_count = 0
    for number in flow.of(_ACTIVATIONS):
        node = flow.nodes[number]
        if node.domain or not flow.data_inputs[number]:
            continue
        periodic = node.op_type in _PERIODIC and _source(ctx, number) in layers
        if node.op_type in _UNUSUAL or periodic:
            unusual[number] = node.op_type
        elif node.op_type == "Tanh" and _is_mish(ctx, number):
            unusual[number] = "Mish"
        elif node.op_type in _COMMON:
            common_count += 1
    if not unusual:
        return
    names = sorted(set(unusual.values()))
    unusual_share = len(unusual) / (len(unusual) + common_count)
    often = unusual_share >= limits["min_share"] and len(unusual) >= limits["min_nodes"]
    yield Finding(
        "low" if often else "info",
        f"{plural(len(unusual), 'activation')} of {len(unusual) + common_count:,} "
        f"{'is' if len(unusual) == 1 else 'are'} unusual: {', '.join(names)}.",
        "Check that the target runtime has fast kernels for them, or train with Relu or HardSwish.",
        tuple(unusual),
        {
            "activations": len(unusual) + common_count,
            "unusual": len(unusual),
            "share": round(unusual_share, 4),
            "operators": names,
        },
    )


def _source(ctx: RuleContext, number: int) -> int:
    """Return the producer of the first input, past a bias."""
    flow = ctx.flow
    for _ in range(2):
        data = flow.data_inputs[number]
        number = flow.producers[data[0]] if len(data) == 1 else -1
        if number < 0 or flow.qualified_op_types[number] not in ("Add", "Mul"):
            return number
    return number


def _is_mish(ctx: RuleContext, number: int) -> bool:
    """True for the Tanh in x · tanh(softplus(x))."""
    flow = ctx.flow
    node = flow.nodes[number]
    before = flow.producers[node.inputs[0]] if node.inputs and node.inputs[0] >= 0 else -1
    if flow.qualified_op_types[before] != "Softplus" or not node.outputs or node.outputs[0] < 0:
        return False
    after = flow.sole_consumers[node.outputs[0]]
    return (
        flow.qualified_op_types[after] == "Mul" and flow.nodes[before].inputs[0] in flow.nodes[after].inputs
    )
