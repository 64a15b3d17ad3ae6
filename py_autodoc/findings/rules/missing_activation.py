"""Two linear layers with no nonlinearity between them.

What it finds:
A layer with weights whose result only one other layer uses, with at most biases, scales, batch
normalization or identities in between, when one layer with the product of both kernels would need no more
weights: the two compute no more than one can. `low` when the first layer has at least `min_params`
parameters; `medium` when the MACs that merging saves are also at least `major_share` of a model with at
least `major_total_macs`. Factors of low rank, bottlenecks, grouped and strided convolutions, layers of
different kinds, shape changes between them and quantized layers (which clip) are not reported.

Why it matters:
A composition of linear maps is a linear map. The second layer adds cost but no capacity; most often an
activation was forgotten, or the exporter dropped it.

Example:
Dense 512 → 512 followed by dense 512 → 512: half of the work for the same functions.

Instead:
Put an activation between them, or multiply the two matrices before export.

References:
Goodfellow et al., *Deep Learning*, 2016, section 6.1 (why hidden units must be nonlinear).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.channel_maps import ChannelMap, channel_maps
from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.findings.weighted_layers import label, macs
from py_autodoc.graph.ir.model import Node
from py_autodoc.units import count

_FLOAT_LAYERS = frozenset({"Conv", "Gemm", "MatMul"})
_LINEAR = frozenset({"Add", "Sub", "Mul", "Div", "BatchNormalization", "Identity", "Dropout"})
_MAX_BETWEEN = 6


@rule(
    "missing-activation",
    "Missing activation between linear layers",
    ("medium", "low"),
    min_params=100_000,
    major_share=0.2,
    major_total_macs=100_000_000,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding per pair."""
    limits = ctx.thresholds["missing-activation"]
    layers = channel_maps(ctx)
    for number, first in layers.items():
        second = layers.get(_reader(ctx, number))
        if second is None or not _is_plain(ctx, first) or not _is_plain(ctx, second):
            continue
        if _elements(first) < limits["min_params"]:
            continue
        if not _same_kind(ctx, first, second):
            continue
        merged = _merged(first, second)
        separate_elements = _elements(first) + _elements(second)
        if merged > separate_elements:
            continue
        cost = macs(ctx, first.node) + macs(ctx, second.node)
        saved = cost * (separate_elements - merged) // separate_elements
        total_macs = ctx.totals.macs or 0
        major = total_macs >= limits["major_total_macs"] and saved >= limits["major_share"] * total_macs > 0
        yield Finding(
            "medium" if major else "low",
            f"No nonlinearity between {label(ctx, first.node)} and {label(ctx, second.node)}: one "
            f"layer with {count(merged)} weights can replace both, which have {count(separate_elements)}.",
            "Put an activation between them, or multiply their weights into one layer.",
            (first.node, second.node),
            {"params": separate_elements, "merged_params": merged, "macs": cost, "saved_macs": saved},
        )


def _is_plain(ctx: RuleContext, layer: ChannelMap) -> bool:
    """True for a float layer without groups, strides or dilations."""
    node = ctx.flow.nodes[layer.node]
    if node.domain or node.op_type not in _FLOAT_LAYERS or _quantized(ctx, node):
        return False
    if layer.groups != 1 or node.attributes.get("transA"):
        return False
    steps = (node.attributes.get("strides"), node.attributes.get("dilations"))
    return not any(isinstance(values, list) and any(v != 1 for v in values) for values in steps)


def _quantized(ctx: RuleContext, node: Node) -> bool:
    """True if the data comes from a DequantizeLinear."""
    return any(
        ctx.flow.qualified_op_types[ctx.flow.producers[t]] == "DequantizeLinear"
        for t in ctx.flow.data_inputs[node.id]
    )


def _reader(ctx: RuleContext, number: int) -> int:
    """Return the only consumer of the result, past linear operators with constants; else -1."""
    flow = ctx.flow
    node = flow.nodes[number]
    for _ in range(_MAX_BETWEEN):
        if not node.outputs or node.outputs[0] < 0:
            return -1
        after = flow.sole_consumers[node.outputs[0]]
        if after < 0:
            return -1
        next_layer = flow.nodes[after]
        if next_layer.domain or next_layer.op_type not in _LINEAR or not _keeps_shape(ctx, node, next_layer):
            return after if next_layer.inputs and next_layer.inputs[0] == node.outputs[0] else -1
        node = next_layer
    return -1


def _keeps_shape(ctx: RuleContext, before: Node, node: Node) -> bool:
    """True for a linear operator of one value that keeps its shape (division by the value is not linear)."""
    if ctx.flow.data_inputs[node.id] != (before.outputs[0],):
        return False
    if node.op_type == "Div" and node.inputs[0] != before.outputs[0]:
        return False
    return ctx.flow.shapes[ctx.flow.first_outputs[node.id]] == ctx.flow.shapes[before.outputs[0]]


def _same_kind(ctx: RuleContext, first: ChannelMap, second: ChannelMap) -> bool:
    """True for two matrices, or two convolutions of equal rank, with matching channels."""
    if len(first.kernel) != len(second.kernel) or first.outputs != second.inputs:
        return False
    if first.kernel and max(second.kernel) > 1 and _padded(ctx, second.node):
        # At the border, the second layer sees zero padding instead of results of the first.
        return max(first.kernel) == 1 and not _biased(ctx, first.node)
    return True


def _padded(ctx: RuleContext, number: int) -> bool:
    attributes = ctx.flow.nodes[number].attributes
    pads = attributes.get("pads")
    auto = attributes.get("auto_pad", "NOTSET")
    return auto not in ("NOTSET", "VALID") or (isinstance(pads, list) and any(pads))


def _biased(ctx: RuleContext, number: int) -> bool:
    return len(ctx.flow.nodes[number].inputs) > 2


def _elements(layer: ChannelMap) -> int:
    size = layer.inputs * layer.outputs
    for d in layer.kernel:
        size *= d
    return size


def _merged(first: ChannelMap, second: ChannelMap) -> int:
    """Return the weights of the merged layer: kernels of a and b taps become a + b - 1 taps."""
    size = first.inputs * second.outputs
    for a, b in zip(first.kernel, second.kernel, strict=True):
        size *= a + b - 1
    return size
