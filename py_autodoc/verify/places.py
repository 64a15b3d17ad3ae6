"""Which tensors of two aligned models hold the same thing, and how each is read as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.changes import ComparedSide
from py_autodoc.graph.ir.model import Shape, Tensor, TensorKind
from py_autodoc.verify.capture import Scaled

_LINEAR = (6, 7)
_UNARY = (3, 4)
_SCALES: dict[str, tuple[int, int]] = {
    "QuantizeLinear": (1, 2),
    "QLinearConv": _LINEAR,
    "QLinearMatMul": _LINEAR,
    "QLinearAdd": _LINEAR,
    "QLinearMul": _LINEAR,
    "QLinearSigmoid": _UNARY,
    "QLinearLeakyRelu": _UNARY,
    "QLinearSoftmax": _UNARY,
    "QLinearAveragePool": _UNARY,
    "QLinearGlobalAveragePool": _UNARY,
    "QLinearReduceMean": _UNARY,
    "QLinearWhere": (7, 8),
    "QGemm": (7, 8),
    "QLinearConcat": (0, 1),
}
"""Operators that give quantized numbers → places of the scale and zero point of what they give."""
_HANDED_ON = frozenset({
    "MaxPool", "NhwcMaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split",
    "Gather", "Expand", "Tile", "Identity", "DepthToSpace", "SpaceToDepth", "Resize", "Relu", "Clip",
})  # fmt: skip
"""What it gives has the scale of its first input."""
_STEPS = 64
_BYTES = frozenset({2, 3, 4, 5})
"""int8, uint8, int16, uint16."""
_FLOATS = frozenset({1, 10, 11, 16})
NHWC = (0, 3, 1, 2)


@dataclass(frozen=True, slots=True)
class MatchedTensor:
    """One result that both models have."""

    pair: int
    """In ``Alignment.pairs``."""
    node: int
    """Of the right: the one that does the work."""
    left: Scaled
    right: Scaled
    permuted: tuple[int, ...] = ()
    """Axes of the right, in the order of the left; empty where they are the same."""
    bytes: int = 0
    """Of both as float32; 0 where sizes are not known."""


@dataclass(frozen=True, slots=True)
class Places:
    """What can be compared, and of each pair that cannot, why."""

    found: tuple[MatchedTensor, ...]
    missed: dict[int, str]


def places(alignment: Alignment) -> Places:
    """The last result of each pair that both sides have with the same sizes. Linear in nodes."""
    found: list[MatchedTensor] = []
    missed: dict[int, str] = {}
    left, right = alignment.sides
    for number, pair in enumerate(alignment.pairs):
        made = _of_pair(number, pair, left, right)
        if isinstance(made, str):
            missed[number] = made
        else:
            found.append(made)
    return Places(tuple(found), missed)


def _of_pair(number: int, pair: Pair, left: ComparedSide, right: ComparedSide) -> MatchedTensor | str:
    why = "no result of its own"
    for a, b in reversed(pair.units):
        one, other = left.graph.units[a], right.graph.units[b]
        for x, y in ((one.end, other.end), (one.out, other.out), (one.end, other.out), (one.out, other.end)):
            if x < 0 or y < 0:
                continue
            made = _place((number, other.node), left, x, right, y)
            if isinstance(made, MatchedTensor):
                return made
            why = made
    return why


def _place(
    at: tuple[int, int], left: ComparedSide, x: int, right: ComparedSide, y: int
) -> MatchedTensor | str:
    first, second = _scaled(left, x), _scaled(right, y)
    if isinstance(first, str):
        return first
    if isinstance(second, str):
        return second
    sizes, others = left.types.shapes[x], right.types.shapes[y]
    permuted = _order(sizes, others)
    if permuted is None:
        return "other sizes"
    return MatchedTensor(*at, first, second, permuted, _bytes(sizes) + _bytes(others))


def _order(a: Shape | None, b: Shape | None) -> tuple[int, ...] | None:
    """How the right is turned to be like the left; None where it cannot be.

    Sizes that are not known are found out when the models run. Axes of one do not matter.
    """
    if a is None or b is None:
        return ()
    if a == b or [s for s in a if s != 1] == [s for s in b if s != 1]:
        return ()
    if len(a) == len(b) == 4 and tuple(b[axis] for axis in NHWC) == a:
        return NHWC
    return None if all(isinstance(size, int) for size in (*a, *b)) else ()


def _bytes(shape: Shape | None) -> int:
    count = 4
    for size in shape or ():
        if not isinstance(size, int):
            return 0
        count *= size
    return count if shape is not None else 0


def _quantized(side: ComparedSide, number: int) -> int:
    """The tensor after the quantization that it goes through whole: its range may stand for a clamp."""
    readers = side.model.tensors[number].consumers
    if len(readers) != 1 or side.model.tensors[number].is_output:
        return number
    node = side.model.nodes[readers[0]]
    return node.outputs[0] if node.op_type == "QuantizeLinear" and node.inputs[0] == number else number


def _scaled(side: ComparedSide, number: int) -> Scaled | str:
    number = _quantized(side, number)
    tensor = side.model.tensors[number]
    if tensor.graph != 0:
        return "inside a loop or branch"
    if tensor.kind != TensorKind.ACTIVATION:
        return "an input or a constant"
    dtype = side.types.dtypes[number]
    if dtype in _FLOATS:
        return Scaled(tensor.name)
    if dtype not in _BYTES:
        return "not of real numbers"
    names = _scale_of(side, number)
    if names is None:
        return "integers of an unknown scale"
    return Scaled(tensor.name, *names)


def _scale_of(side: ComparedSide, number: int) -> tuple[str, str] | None:
    """Names of scale and zero point of a quantized tensor."""
    tensors = side.model.tensors
    for _ in range(_STEPS):
        maker = tensors[number].producer
        if maker < 0:
            return None
        node = side.model.nodes[maker]
        spots = _SCALES.get(node.op_type)
        if spots is not None:
            return _names(tensors, node.inputs, spots)
        if node.op_type == "DynamicQuantizeLinear" and node.outputs[0] == number:
            return tensors[node.outputs[1]].name, tensors[node.outputs[2]].name
        if node.op_type not in _HANDED_ON or not node.inputs or node.inputs[0] < 0:
            return None
        number = node.inputs[0]
    return None


def _names(
    tensors: Sequence[Tensor], inputs: tuple[int, ...], spots: tuple[int, int]
) -> tuple[str, str] | None:
    """Names of scale and zero point; None where there is no scale."""
    held = [inputs[at] if at < len(inputs) else -1 for at in spots]
    scale, zero = (tensors[one].name if one >= 0 else "" for one in held)
    return (scale, zero) if scale else None
