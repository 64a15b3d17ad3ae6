"""Layers as matrices: the channels that a weighted operator maps, and operators that only pass data on."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from py_autodoc.findings.registry import RuleContext
from py_autodoc.findings.weighted_layers import weight, weighted

MS = "com.microsoft"
MATRIX_SLOTS: Mapping[tuple[str, str], int] = {
    ("", "Conv"): 1, ("", "ConvTranspose"): 1, ("", "ConvInteger"): 1, ("", "QLinearConv"): 3,
    (MS, "FusedConv"): 1, (MS, "QLinearConv"): 3, (MS, "NhwcFusedConv"): 1,
    ("", "Gemm"): 1, ("", "MatMul"): 1, ("", "MatMulInteger"): 1, ("", "QLinearMatMul"): 3,
    (MS, "FusedGemm"): 1, (MS, "FusedMatMul"): 1, (MS, "QGemm"): 3, (MS, "MatMulIntegerToFloat"): 1,
    (MS, "DynamicQuantizeMatMul"): 1,
}  # fmt: skip
"""Operators with one weight matrix or kernel → input index of the weight."""
PACKED = frozenset({(MS, "MatMulNBits"), (MS, "MatMulBnb4")})
"""Matrix products whose sizes are the attributes K and N."""
CONVOLUTIONS = frozenset(
    {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "FusedConv", "NhwcFusedConv"}
)


class ChannelMap(NamedTuple):
    """A layer as a map of channels."""

    node: int
    inputs: int
    """Input channels per group (K of a matrix)."""
    outputs: int
    """Output channels of all groups (N of a matrix)."""
    groups: int = 1
    """Groups of a convolution, or number of stacked matrices."""
    kernel: tuple[int, ...] = ()
    """Spatial kernel sizes, empty for a matrix."""


def channel_maps(ctx: RuleContext) -> dict[int, ChannelMap]:
    """Return the layers of the main graph that are channel maps, by node, in order."""
    if "maps" not in ctx.shared:
        maps = ((number, as_map(ctx, number)) for number in weighted(ctx))
        ctx.shared["maps"] = {number: layer for number, layer in maps if layer is not None}
    by_node: dict[int, ChannelMap] = ctx.shared["maps"]
    return by_node


def as_map(ctx: RuleContext, number: int) -> ChannelMap | None:
    """Return a layer as a channel map; None for other operators, computed weights or unknown sizes."""
    node = ctx.flow.nodes[number]
    key = (node.domain, node.op_type)
    if key in PACKED:
        k, n = node.attributes.get("K"), node.attributes.get("N")
        return (
            ChannelMap(number, k, n) if isinstance(k, int) and isinstance(n, int) and _sizes(k, n) else None
        )
    slot = MATRIX_SLOTS.get(key)
    flow = ctx.flow
    if slot is None or slot >= len(node.inputs) or not flow.constants[node.inputs[slot]]:
        return None
    if weight(ctx, node.inputs[slot]) is None:
        return None
    shape = flow.shapes[node.inputs[slot]]
    if shape is None or len(shape) < 2 or not _sizes(*shape):
        return None
    sizes = tuple(int(d) for d in shape if isinstance(d, int))
    if node.op_type in CONVOLUTIONS:
        return _convolution(number, node.op_type, sizes, node.attributes.get("group", 1))
    k, n = sizes[-2:]
    count = prod(sizes[:-2])
    is_transposed = bool(node.attributes.get("transB"))
    return ChannelMap(number, n, k, count) if is_transposed else ChannelMap(number, k, n, count)


def _convolution(number: int, op: str, sizes: tuple[int, ...], group: object) -> ChannelMap | None:
    groups = group if isinstance(group, int) and not isinstance(group, bool) and group > 0 else 0
    if not groups or len(sizes) < 3:
        return None
    if op == "ConvTranspose":
        return ChannelMap(number, sizes[0] // groups, sizes[1] * groups, groups, sizes[2:])
    return ChannelMap(number, sizes[1], sizes[0], groups, sizes[2:])


def _sizes(*dims: object) -> bool:
    return all(type(d) is int and d > 0 for d in dims)


def is_dense(ctx: RuleContext, layer: ChannelMap) -> bool:
    """True for a matrix product, and for a convolution whose window covers its whole input."""
    if not layer.kernel:
        return True
    if layer.groups != 1:
        return False
    node = ctx.flow.nodes[layer.node]
    if not node.inputs or node.inputs[0] < 0 or not node.outputs or node.outputs[0] < 0:
        return False
    input_shape, output_shape = ctx.flow.shapes[node.inputs[0]], ctx.flow.shapes[node.outputs[0]]
    if input_shape is None or output_shape is None:
        return False
    return input_shape[2:] == layer.kernel and all(d == 1 for d in output_shape[2:]) and max(layer.kernel) > 1
