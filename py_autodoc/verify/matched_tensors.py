"""Find tensors of two aligned models that hold the same result, and the scales to dequantize them with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.changes import ComparedSide
from py_autodoc.graph.ir.model import Shape, Tensor, TensorKind
from py_autodoc.verify.capture import TensorRequest

OTHER_SHAPES = "different shapes"
_LINEAR = (6, 7)
_UNARY = (3, 4)
_OUTPUT_SCALES: dict[str, tuple[int, int]] = {
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
"""Operator with a quantized output → input indices of the scale and zero point of this output."""
_KEEP_SCALE = frozenset({
    "MaxPool", "NhwcMaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split",
    "Gather", "Expand", "Tile", "Identity", "DepthToSpace", "SpaceToDepth", "Resize", "Relu", "Clip",
})  # fmt: skip
"""Operators whose output has the scale of their first input."""
_MAX_STEPS = 64
"""Maximum number of such operators between a tensor and its scale."""
_INTEGERS = frozenset({2, 3, 4, 5})
"""int8, uint8, int16, uint16."""
_FLOATS = frozenset({1, 10, 11, 16})
"""float32, float16, float64, bfloat16."""
NHWC = (0, 3, 1, 2)
"""Permutation of the axes from NHWC to NCHW."""


@dataclass(frozen=True, slots=True)
class MatchedTensor:
    """A result that both models compute."""

    pair: int
    """Index in ``Alignment.pairs``."""
    node: int
    """Node of the right model that computes it."""
    left: TensorRequest
    right: TensorRequest
    permutation: tuple[int, ...] = ()
    """Axes of the right tensor in the order of the left one; empty if the order is the same."""
    bytes: int = 0
    """Bytes of both as float32; 0 if the shapes are unknown."""


@dataclass(frozen=True, slots=True)
class MatchedTensors:
    """The tensors that can be compared, and the reason for each pair without one."""

    tensors: tuple[MatchedTensor, ...]
    reasons: dict[int, str]
    """Index in ``Alignment.pairs`` → why its results cannot be compared."""


def match_tensors(alignment: Alignment) -> MatchedTensors:
    """Return the last result of each pair that has the same shape on both sides. Linear in nodes."""
    tensors: list[MatchedTensor] = []
    reasons: dict[int, str] = {}
    left, right = alignment.sides
    for number, pair in enumerate(alignment.pairs):
        match = _match_pair(number, pair, left, right)
        if isinstance(match, str):
            reasons[number] = match
        else:
            tensors.append(match)
    return MatchedTensors(tuple(tensors), reasons)


def _match_pair(number: int, pair: Pair, left: ComparedSide, right: ComparedSide) -> MatchedTensor | str:
    """Return the last tensor that both sides of a pair compute, or why there is none."""
    reason = "no separate result"
    for a, b in reversed(pair.units):
        one, other = left.graph.units[a], right.graph.units[b]
        for x, y in ((one.end, other.end), (one.out, other.out), (one.end, other.out), (one.out, other.end)):
            if x < 0 or y < 0:
                continue
            match = _match((number, other.node), left, x, right, y)
            if isinstance(match, MatchedTensor):
                return match
            reason = match
    return reason


def _match(
    pair_and_node: tuple[int, int], left: ComparedSide, x: int, right: ComparedSide, y: int
) -> MatchedTensor | str:
    first, second = _request(left, x), _request(right, y)
    if isinstance(first, str):
        return first
    if isinstance(second, str):
        return second
    shapes = left.types.shapes[x], right.types.shapes[y]
    permutation = _permutation(*shapes)
    if permutation is None:
        return OTHER_SHAPES
    return MatchedTensor(*pair_and_node, first, second, permutation, sum(_float_bytes(one) for one in shapes))


def _permutation(left: Shape | None, right: Shape | None) -> tuple[int, ...] | None:
    """Return the permutation that gives the right tensor the shape of the left one; None if there is none.

    Axes of length 1 are ignored. If a dimension is unknown, the models decide when they run.
    """
    if left is None or right is None:
        return ()
    if left == right or [size for size in left if size != 1] == [size for size in right if size != 1]:
        return ()
    if len(left) == len(right) == 4 and tuple(right[axis] for axis in NHWC) == left:
        return NHWC
    return None if all(isinstance(size, int) for size in (*left, *right)) else ()


def _float_bytes(shape: Shape | None) -> int:
    """Return the bytes of a tensor of this shape as float32; 0 if the shape is unknown."""
    count = 4
    for size in shape or ():
        if not isinstance(size, int):
            return 0
        count *= size
    return count if shape is not None else 0


def _quantized(side: ComparedSide, number: int) -> int:
    """Return the quantized form of a tensor if it is only quantized, else the tensor.

    The range of the quantization can replace an activation such as Relu.
    """
    consumers = side.model.tensors[number].consumers
    if len(consumers) != 1 or side.model.tensors[number].is_output:
        return number
    node = side.model.nodes[consumers[0]]
    quantizes = node.op_type == "QuantizeLinear" and node.inputs[:1] == (number,)
    return node.outputs[0] if quantizes and node.outputs and node.outputs[0] >= 0 else number


def _request(side: ComparedSide, number: int) -> TensorRequest | str:
    """Return how to capture a tensor as real values, or why that is impossible."""
    number = _quantized(side, number)
    tensor = side.model.tensors[number]
    if tensor.graph != 0:
        return "inside a loop or branch"
    if tensor.kind != TensorKind.ACTIVATION:
        return "an input or a constant"
    dtype = side.types.dtypes[number]
    if dtype in _FLOATS:
        return TensorRequest(tensor.name)
    if dtype not in _INTEGERS:
        return "not floating-point values"
    names = _scale_names(side, number)
    if names is None:
        return "integers with an unknown scale"
    return TensorRequest(tensor.name, *names)


def _scale_names(side: ComparedSide, number: int) -> tuple[str, str] | None:
    """Return the names of the scale and the zero point of a quantized tensor; None if they are unknown."""
    tensors = side.model.tensors
    for _ in range(_MAX_STEPS):
        producer = tensors[number].producer
        if producer < 0:
            return None
        node = side.model.nodes[producer]
        positions = _OUTPUT_SCALES.get(node.op_type)
        if positions is not None:
            return _names(tensors, node.inputs, positions)
        if node.op_type == "DynamicQuantizeLinear" and node.outputs[0] == number:
            return _names(tensors, node.outputs, (1, 2))
        if node.op_type not in _KEEP_SCALE or not node.inputs or node.inputs[0] < 0:
            return None
        number = node.inputs[0]
    return None


def _names(
    tensors: Sequence[Tensor], ends: tuple[int, ...], positions: tuple[int, int]
) -> tuple[str, str] | None:
    """Return the names of the tensors at these positions; None without a scale."""
    ids = [ends[position] if position < len(ends) else -1 for position in positions]
    scale, zero_point = (tensors[number].name if number >= 0 else "" for number in ids)
    return (scale, zero_point) if scale else None
