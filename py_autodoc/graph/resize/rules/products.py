"""Matrix products and recurrent layers: the summed axis must fit stored weights."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import Axis, changes_size, fixed_axis, new_size, old_size
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

MS = "com.microsoft"


@rule("MatMul", "MatMulInteger", "QLinearMatMul")
@rule("MatMulInteger16", "MatMulIntegerToFloat", "QLinearMatMul", domain=MS)
def matmul(walk: SizePass, node: Node) -> None:
    """Rows of the first operand, columns of the second."""
    second = 3 if node.op_type == "QLinearMatMul" else 1
    a, b = walk.axes_of(node.inputs[0]), walk.axes_of(node.inputs[second])
    _product(walk, node, second, a, b)


@rule("FusedMatMul", domain=MS)
def fused_matmul(walk: SizePass, node: Node) -> None:
    """A product with optional transposition of the operands."""
    operands = []
    for letter, i in (("A", 0), ("B", 1)):
        axes = list(walk.axes_of(node.inputs[i]))
        if len(axes) > 1 and node.attributes.get(f"transBatch{letter}", 0):
            axes = [*axes[1:-1], axes[0], axes[-1]]
        if len(axes) > 1 and node.attributes.get(f"trans{letter}", 0):
            axes[-2], axes[-1] = axes[-1], axes[-2]
        operands.append(axes)
    _product(walk, node, 1, *operands)


def _product(walk: SizePass, node: Node, second: int, a: Sequence[Axis], b: Sequence[Axis]) -> None:
    inner_a, inner_b = a[-1], b[-2] if len(b) > 1 else b[0]
    if new_size(inner_a) != new_size(inner_b):
        _reject_inner_sizes(walk, node, second, inner_a, inner_b)
    walk.infer(node)
    rows, columns = list(a[:-1]) if len(a) > 1 else [], [b[-1]] if len(b) > 1 else []
    lead_a, row = (rows[:-1], rows[-1:]) if rows else ([], [])
    walk.put(node, 0, [*_batch_axes(lead_a, b[:-2]), *row, *columns])
    _summed(walk, node, inner_a)


def _reject_inner_sizes(walk: SizePass, node: Node, second: int, a: Axis, b: Axis) -> None:
    """Raises: SizeBlocked if the summed axes differ."""
    for i, axis, other_axis in ((second, b, a), (0, a, b)):
        t = node.inputs[i]
        if walk.is_stored(t):
            shape = list(walk.old_shape(t))
            entries = f"{old_size(axis)} entries, not {new_size(other_axis)}"
            raise SizeBlocked(f"its weights {walk.name(t)} {shape} are for {entries}", walk.name(t))
    raise SizeBlocked(f"its inner dimensions would be {new_size(a)} and {new_size(b)}")


def _batch_axes(a: Sequence[Axis], b: Sequence[Axis]) -> list[Axis]:
    rank = max(len(a), len(b))
    left = [fixed_axis(1)] * (rank - len(a)) + list(a)
    right = [fixed_axis(1)] * (rank - len(b)) + list(b)
    return [y if old_size(x) == 1 and not changes_size(x) else x for x, y in zip(left, right, strict=True)]


def _summed(walk: SizePass, node: Node, axis: Axis) -> None:
    if changes_size(axis):
        walk.sums[node.outputs[0]] = frozenset(
            {old_size(axis), *(factor.old for factor in axis if not factor.is_fixed)}
        )


@rule("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "DynamicQuantizeMatMul", domain=MS)
def stored_matmul(walk: SizePass, node: Node) -> None:
    """The second operand is a stored weight."""
    axes = walk.axes_of(node.inputs[0])
    if changes_size(axes[-1]):
        raise SizeBlocked(
            f"its weights are stored for {old_size(axes[-1])} entries", walk.name(node.inputs[1])
        )
    walk.infer(node)
    walk.put(node, 0, [*axes[:-1], fixed_axis(walk.new_shape(node.outputs[0])[-1])])


@rule("Gemm")
@rule("FusedGemm", domain=MS)
def gemm(walk: SizePass, node: Node) -> None:
    """Rows of the first operand, columns of the second; the bias is broadcast."""
    a, b = list(walk.axes_of(node.inputs[0])), list(walk.axes_of(node.inputs[1]))
    a = a[::-1] if node.attributes.get("transA", 0) else a
    b = b[::-1] if node.attributes.get("transB", 0) else b
    if new_size(a[1]) != new_size(b[0]):
        _reject_inner_sizes(walk, node, 1, a[1], b[0])
    result = [a[0], b[1]]
    cuts: dict[int, dict[int, int]] = {}
    if walk.has(node, 2):
        shape = walk.old_shape(node.inputs[2])
        for axis, size in enumerate(shape):
            target = result[axis - len(shape)]
            if size != 1 and walk.new_shape(node.inputs[2])[axis] != new_size(target):
                cuts.setdefault(2, {})[axis] = walk.fit(node, 2, axis, target)
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, result)
    _summed(walk, node, a[1])


@rule("Einsum")
def einsum(walk: SizePass, node: Node) -> None:
    """Each letter has one size."""
    inputs_text, arrow, out = str(node.attributes.get("equation", "")).replace(" ", "").partition("->")
    if not arrow or "." in inputs_text:
        raise SizeBlocked("its equation has an ellipsis or no output")
    axis_of: dict[str, Axis] = {}
    for i, term in enumerate(inputs_text.split(",")):
        for letter, axis in zip(term, walk.axes_of(node.inputs[i]), strict=True):
            first = axis_of.setdefault(letter, axis)
            if new_size(first) != new_size(axis) and old_size(first) == old_size(axis):
                raise SizeBlocked(
                    f"the index {letter} would have both {new_size(first)} and {new_size(axis)} entries"
                )
    walk.infer(node)
    walk.put(node, 0, [axis_of[letter] for letter in out])
    contracted = [axis for letter, axis in axis_of.items() if letter not in out and changes_size(axis)]
    if contracted:
        walk.sums[node.outputs[0]] = frozenset(old_size(axis) for axis in contracted)


@rule("LSTM", "GRU", "RNN")
@rule("DynamicQuantizeLSTM", domain=MS)
def recurrent(walk: SizePass, node: Node) -> None:
    """Any number of steps."""
    axes = walk.axes_of(node.inputs[0])
    steps = 0 if node.attributes.get("layout", 0) == 0 else 1
    if any(changes_size(axis) for k, axis in enumerate(axes) if k != steps):
        raise SizeBlocked("an axis other than the time axis changes")
    if walk.has(node, 4) and walk.is_stored(node.inputs[4]):
        raise SizeBlocked("its sequence lengths are stored", walk.name(node.inputs[4]))
    walk.infer(node)
    if node.outputs[0] >= 0:
        result = [fixed_axis(d) for d in walk.old_shape(node.outputs[0])]
        result[steps] = axes[steps]
        walk.put(node, 0, result)
    walk.require_rest_steady(node)


@rule("MoE", "QMoE", domain=MS)
def experts(walk: SizePass, node: Node) -> None:
    """Tokens are independent."""
    walk.infer(node)
    walk.put(node, 0, walk.axes_of(node.inputs[0]))
