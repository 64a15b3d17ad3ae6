"""Kernels with products: their kind, and the tensors that determine their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from py_autodoc.graph.ir.model import Node, Shape
from py_autodoc.hardware.fusion_roles import PACKED

GEMM, CONV, GROUPED, DEPTHWISE, BATCHED, CORE, RECURRENT, EXPERTS = 1, 2, 3, 4, 5, 6, 7, 8


class KernelProduct(NamedTuple):
    """``tensor`` has batch × m × n elements, with n along ``n_axis`` over ``groups``."""

    kind: int
    tensor: int
    n_axis: int
    groups: int


def product(node: Node, shapes: Sequence[Shape | None], fixed: Sequence[bool]) -> KernelProduct:
    """Return a matrix product: with weights, of two matrices, or batched."""
    out = node.outputs[0]
    shape = shapes[out]
    axis = len(shape) - 1 if shape else -1
    if axis < 0 or node.op_type == "Einsum":
        return KernelProduct(BATCHED, out, max(axis, 0), 1)
    is_single = axis < 2 or (node.domain == "com.microsoft" and node.op_type in PACKED)
    if not is_single:
        is_single = any(t >= 0 and fixed[t] and len(shapes[t] or (0, 0, 0)) == 2 for t in _operands(node))
    return KernelProduct(GEMM if is_single else BATCHED, out, axis, 1)


def _operands(node: Node) -> tuple[int, ...]:
    if node.op_type == "QLinearMatMul":
        return (node.inputs[0], *node.inputs[3:4])
    return node.inputs[:2]


def convolution(node: Node, shapes: Sequence[Shape | None]) -> KernelProduct:
    """Return a convolution as a matrix product (im2col): n is the number of output channels."""
    out = node.outputs[0]
    shape = shapes[out]
    last = node.op_type.startswith("Nhwc") or bool(node.attributes.get("channels_last"))
    axis = len(shape) - 1 if last and shape else 1
    groups = node.attributes.get("group", 1)
    if not isinstance(groups, int) or groups < 1:
        groups = 1
    if groups == 1:
        return KernelProduct(CONV, out, axis, 1)
    weight_input = 3 if node.op_type == "QLinearConv" else 1
    weight = (
        shapes[node.inputs[weight_input]]
        if len(node.inputs) > weight_input and node.inputs[weight_input] >= 0
        else None
    )
    single = weight is not None and len(weight) > 1 and weight[1] == 1
    if "Transpose" in node.op_type and weight:
        single = single and weight[0] == groups
    return KernelProduct(DEPTHWISE if single else GROUPED, out, axis, groups)


def attention(node: Node, shapes: Sequence[Shape | None]) -> KernelProduct:
    """Return a fused attention: its second-to-last output axis is queries; heads may not be an axis."""
    out = node.outputs[0]
    shape = shapes[out]
    heads = node.attributes.get("q_num_heads", node.attributes.get("num_heads", 1))
    inside = shape is not None and len(shape) < 4 and isinstance(heads, int) and heads > 0
    return KernelProduct(CORE, out, -1, heads if inside else 1)


def recurrent(node: Node, shapes: Sequence[Shape | None]) -> KernelProduct | None:
    """Return a recurrent layer: its input, the step axis, the hidden size; None if one is missing."""
    hidden = node.attributes.get("hidden_size")
    if not isinstance(hidden, int) or hidden < 1:
        weight = shapes[node.inputs[2]] if len(node.inputs) > 2 and node.inputs[2] >= 0 else None
        hidden = weight[-1] if weight and node.domain == "" else None
    if not isinstance(hidden, int) or hidden < 1 or not node.inputs or node.inputs[0] < 0:
        return None
    return KernelProduct(RECURRENT, node.inputs[0], 1 if node.attributes.get("layout") else 0, hidden)


def experts(node: Node, shapes: Sequence[Shape | None]) -> KernelProduct | None:
    """Return a mixture of experts: its routing (tokens × experts), and the experts per token."""
    router = node.inputs[1] if len(node.inputs) > 1 else -1
    shape = shapes[router] if router >= 0 else None
    chosen = node.attributes.get("k", 1)
    if not shape or not isinstance(chosen, int) or chosen < 1:
        return None
    return KernelProduct(EXPERTS, router, len(shape) - 1, chosen)
