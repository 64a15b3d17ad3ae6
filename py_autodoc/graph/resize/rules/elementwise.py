"""Elementwise operators: stored tables next to data that shrinks are cut to their first entries."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import Axis, changes_size, fixed_axis, new_size, old_size, without_front
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

_BROADCAST = (
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub",
    "Sum", "Where", "Xor",
)  # fmt: skip
_SINGLE = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "CastLike", "Ceil",
    "Celu", "Clip", "Cos", "Cosh", "Dropout", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid",
    "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu",
    "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish",
    "Tan", "Tanh", "ThresholdedRelu",
)  # fmt: skip
_COUNTING = frozenset({
    "Add", "Sub", "Mul", "Div", "Mod", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
    "Min", "Max",
})  # fmt: skip
_TOLERANCE = 1e-6
_FIRST_SIZE = 8
"""Input dimensions up to this value occur in too many numbers by chance."""
_SMALL = 3
"""Numbers up to this value are not dimensions."""
_INTEGERS = frozenset({3, 5, 6, 7, 12, 13})


@rule(*_SINGLE, scales=True)
@rule("FastGelu", "Gelu", "QuickGelu", domain="com.microsoft")
def single(walk: SizePass, node: Node) -> None:
    """One data input; a bias or bounds lie along the last axis."""
    walk.infer(node)
    t = node.inputs[0]
    for k in range(len(node.outputs)):
        walk.put(node, k, walk.axes_of(t))
    _sums(walk, node, walk.sums.get(t))


@rule("QuantizeLinear", "DequantizeLinear")
@rule("QuantizeLinear", "DequantizeLinear", domain="com.microsoft")
def quantize(walk: SizePass, node: Node) -> None:
    """Scales along an axis are stored for its size."""
    axes = walk.axes_of(node.inputs[0])
    scale = walk.old_shape(node.inputs[1])
    if int(np.prod(scale)) > 1 and changes_size(axes[node.attributes.get("axis", 1) % len(axes)]):
        raise SizeBlocked("its scales are stored for the size in the file", walk.name(node.inputs[1]))
    single(walk, node)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(walk: SizePass, node: Node) -> None:
    """One range for all elements."""
    walk.infer(node)
    walk.put(node, 0, walk.axes_of(node.inputs[0]))


@rule(*_BROADCAST, scales=True)
@rule("BiasGelu", "BiasAdd", "BiasSplitGelu", domain="com.microsoft")
def broadcasting(walk: SizePass, node: Node) -> None:
    """Inputs broadcast against each other."""
    live = [i for i in range(len(node.inputs)) if walk.has(node, i)]
    if node.opset < 7 and not node.domain and node.attributes.get("broadcast", 0):
        _old_broadcast(walk, node)
        return
    _size_as_number(walk, node, live)
    walk.infer(node, cuts=fitted(walk, node, live))
    result = _result(walk, node, live)
    if node.op_type == "BiasSplitGelu":
        walk.unchanged(node)
        return
    for k in range(len(node.outputs)):
        walk.put(node, k, result)
    sums = [walk.sums[t] for t in node.inputs if t in walk.sums]
    _sums(walk, node, frozenset().union(*sums) if sums else None)


@rule("QLinearAdd", "QLinearMul", domain="com.microsoft")
def quantized(walk: SizePass, node: Node) -> None:
    """Inputs 0 and 3 broadcast."""
    walk.infer(node, cuts=fitted(walk, node, [0, 3]))
    walk.put(node, 0, _result(walk, node, [0, 3]))


@rule("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", domain="com.microsoft")
@rule("Softmax", "LogSoftmax", "Hardmax", "CumSum", "CumProd", "Trilu", "LpNormalization", "LRN")
@rule("MeanVarianceNormalization")
def same(walk: SizePass, node: Node) -> None:
    """Output has the shape of the first input at any size."""
    walk.infer(node)
    walk.put(node, 0, walk.axes_of(node.inputs[0]))


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
@rule("SimplifiedLayerNormalization", domain="com.microsoft")
def layer_norm(walk: SizePass, node: Node) -> None:
    """From an axis to the last; scales are stored for their sizes."""
    axes = walk.axes_of(node.inputs[0])
    _require_fixed_weights(walk, node, axes[node.attributes.get("axis", -1) % len(axes) :])
    walk.infer(node)
    walk.put(node, 0, axes)
    walk.require_rest_steady(node)


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain="com.microsoft")
def skip_layer_norm(walk: SizePass, node: Node) -> None:
    """Two inputs are added first."""
    cuts = fitted(walk, node, [0, 1])
    result = _result(walk, node, [0, 1])
    _require_fixed_weights(walk, node, result[-1:])
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, result)
    walk.require_rest_steady(node)


@rule("BatchNormalization", "InstanceNormalization", "GroupNormalization")
@rule("GroupNorm", "SkipGroupNorm", domain="com.microsoft")
def channels(walk: SizePass, node: Node) -> None:
    """Weights per channel."""
    axes = walk.axes_of(node.inputs[0])
    last = node.domain and node.attributes.get("channels_last", 1)
    _require_fixed_weights(walk, node, axes[-1:] if last else axes[1:2])
    walk.infer(node)
    walk.put(node, 0, axes)
    walk.require_rest_steady(node)


def _require_fixed_weights(walk: SizePass, node: Node, axes: Sequence[Axis]) -> None:
    """Raises: SizeBlocked if weights lie along a changing axis."""
    if any(map(changes_size, axes)):
        sizes = [old_size(axis) for axis in axes]
        raise SizeBlocked(f"its weights are stored for {sizes} entries", walk.name(node.inputs[1]))


def _old_broadcast(walk: SizePass, node: Node) -> None:
    """Before opset 7 the second input aligns with a range of the first input's axes."""
    first, second = node.inputs[:2]
    axes, shape = walk.axes_of(first), walk.old_shape(second)
    begin = node.attributes.get("axis", len(axes) - len(shape))
    aligned = axes[begin : begin + len(shape)]
    if walk.is_stored(second) and any(
        changes_size(a) and d != 1 for a, d in zip(aligned, shape, strict=True)
    ):
        raise SizeBlocked(f"the stored table {walk.name(second)} {list(shape)} has the size in the file")
    walk.infer(node)
    walk.put(node, 0, axes)


def fitted(walk: SizePass, node: Node, live: Sequence[int]) -> dict[int, dict[int, int]]:
    """Return the cuts of stored inputs: input → axis → entries. Raises: SizeBlocked."""
    result = _result(walk, node, live)
    cuts: dict[int, dict[int, int]] = {}
    for i in live:
        t = node.inputs[i]
        before, after = walk.old_shape(t), walk.new_shape(t)
        for axis, size in enumerate(before):
            target = result[axis - len(before)]
            if size == 1 or old_size(target) == 1 or after[axis] == new_size(target):
                continue
            cuts.setdefault(i, {})[axis] = walk.fit(node, i, axis, target)
    return cuts


def _result(walk: SizePass, node: Node, live: Sequence[int]) -> tuple[Axis, ...]:
    """Return the axes of the broadcast result. Raises: SizeBlocked if data inputs disagree."""
    rank = max(len(walk.old_shape(node.inputs[i])) for i in live)
    result: list[Axis | None] = [None] * rank
    ranked = sorted(live, key=lambda i: walk.is_stored(node.inputs[i]))
    for i in ranked:
        t = node.inputs[i]
        axes = walk.axes_of(t)
        for axis, own_axis in enumerate(axes):
            out_axis = axis + rank - len(axes)
            merged = result[out_axis]
            if merged is None or old_size(merged) == 1:
                result[out_axis] = own_axis
            elif old_size(own_axis) != 1 and walk.is_changed(t) and changes_size(own_axis):
                if new_size(own_axis) != new_size(merged) and not walk.is_stored(t):
                    sizes = f"{new_size(merged)} and {new_size(own_axis)}"
                    raise SizeBlocked(
                        f"its inputs would have different sizes on one axis ({sizes})", walk.name(t)
                    )
                if not all(factor.front for factor in own_axis if not factor.is_fixed):
                    result[out_axis] = without_front(merged)
    return tuple(
        _stored_axis(walk, node, out_axis, axis or fixed_axis(1)) for out_axis, axis in enumerate(result)
    )


def _stored_axis(walk: SizePass, node: Node, out_axis: int, axis: Axis) -> Axis:
    """Offer a changing length for an axis that only stored tables have, such as one row per query."""
    if changes_size(axis) or old_size(axis) not in walk.lengths or old_size(axis) == 1:
        return axis
    rank = max(len(walk.old_shape(t)) for t in node.inputs if t >= 0)
    for t in node.inputs:
        if t >= 0 and not walk.is_stored(t):
            shape = walk.old_shape(t)
            if out_axis >= rank - len(shape) and shape[out_axis - rank + len(shape)] != 1:
                return axis
    return walk.choose(node, [*walk.lengths[old_size(axis)], axis], f".{out_axis}")


def _size_as_number(walk: SizePass, node: Node, live: Sequence[int]) -> None:
    """Raises: SizeBlocked if a stored number seems to be a dimension that changes.

    Next to integers that is such a dimension, or one less; next to a sum over an axis, its count.
    """
    if node.op_type not in _COUNTING | {"Where", "Pow"}:
        return
    for i in live:
        number = walk.scalar(node.inputs[i])
        other_inputs = [node.inputs[k] for k in live if k != i]
        if number is None or not number:
            continue
        is_integer = (
            any(walk.state.dtypes[t] in _INTEGERS for t in other_inputs) and node.op_type in _COUNTING
        )
        if is_integer and any(abs(number) in (size, size - 1) and size > _SMALL for size in walk.spans):
            why = f"its constant {number:g} may be a dimension in the file"
            raise SizeBlocked(why, walk.name(node.inputs[i]))
        if any(walk.is_changed(t) for t in other_inputs) and not is_integer:
            for size in walk.roots:
                forms = (size, 1 / size, math.log(size), math.log2(size))
                if size > _FIRST_SIZE and any(abs(abs(number) - form) <= _TOLERANCE * form for form in forms):
                    why = f"its constant {number:g} may be derived from the input dimension {size}"
                    raise SizeBlocked(why, walk.name(node.inputs[i]))
        for size in frozenset().union(*(walk.sums.get(t, frozenset()) for t in other_inputs)):
            forms = (size, 1 / size, size**0.5, size**-0.5)
            if any(abs(abs(number) - form) <= _TOLERANCE * form for form in forms):
                why = f"its constant {number:g} scales a sum over {size} entries and may be their number"
                raise SizeBlocked(why, walk.name(node.inputs[i]))


def _sums(walk: SizePass, node: Node, sizes: frozenset[int] | None) -> None:
    if sizes:
        for t in node.outputs:
            walk.sums[t] = sizes
