"""Matrix products of all operators in one form: two operands, the summed axes and the kept axes."""

from __future__ import annotations

from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import COPIES, RESHAPES, DataflowGraph, memoised_on_graph
from py_autodoc.graph.ir.model import Dim

MS = "com.microsoft::"
QUANTIZING = frozenset(
    {
        "QuantizeLinear",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        f"{MS}QuantizeLinear",
        f"{MS}DequantizeLinear",
    }
)
QUANTIZED_COPY_OPS = COPIES | QUANTIZING
"""Operators that pass the values of their first input on, at most rounded."""
ADDS = frozenset({"Add", "Sum", f"{MS}QLinearAdd"})
"""Operators that add two tensors."""
LAYOUT_OPS = RESHAPES | {"Tile", "Slice", "Split", "Flatten"}
"""Operators that move, repeat or select values of their first input."""
_MATMUL_OPS = frozenset(
    {
        "MatMul",
        "MatMulInteger",
        f"{MS}MatMulIntegerToFloat",
        f"{MS}DynamicQuantizeMatMul",
        f"{MS}MatMulInteger16",
    }
)
_TRANSPOSING = frozenset({f"{MS}FusedMatMul", f"{MS}TransposeMatMul"})
_GEMMS = frozenset({"Gemm", f"{MS}FusedGemm", f"{MS}QGemm"})
_SECOND = {"QLinearMatMul": 3, f"{MS}QGemm": 3, "QLinearConv": 3, f"{MS}QLinearConv": 3}
"""Position of the second operand, if not second."""
PRODUCTS = _MATMUL_OPS | _TRANSPOSING | _GEMMS | {"Einsum", "QLinearMatMul"}
"""Operators that ``product`` recognises."""
CONVS = frozenset(
    {
        "Conv",
        "QLinearConv",
        "ConvInteger",
        f"{MS}FusedConv",
        f"{MS}NhwcConv",
        f"{MS}QLinearConv",
        f"{MS}NhwcFusedConv",
        "com.ms.internal.nhwc::QLinearConv",
        "com.ms.internal.nhwc::Conv",
    }
)
BLOCK_QUANTIZED_OPS = frozenset({f"{MS}MatMulNBits", f"{MS}MatMulBnb4"})
"""Products with a packed weight; the attributes K and N give its sizes."""
_PROJECTING = PRODUCTS | CONVS | BLOCK_QUANTIZED_OPS
_STORABLE = QUANTIZED_COPY_OPS | LAYOUT_OPS | {"ConstantOfShape", "Mul", "Div"}
_STEPS = 24
_MAX_EQUATION = 64


class MatrixProduct(NamedTuple):
    """``out[…, row, col] = Σ a[…, row, k] · b[…, k, col]``. Axes count from the end (-1 is the last)."""

    node: int
    a: int
    b: int
    a_sum: int = -1
    """Axis of ``a`` that is summed over."""
    b_sum: int = -2
    a_free: int = -2
    """Axis of ``a`` that becomes ``row`` of the output."""
    b_free: int = -1
    row: int = -2
    """Axis of the output that comes from ``a``."""
    col: int = -1


class Projection(NamedTuple):
    """A product of an activation with a weight. Widths are None if unknown."""

    node: int
    source: int
    """The activation."""
    width_in: int | None
    width_out: int | None
    flat: bool = True
    """False if the weight has more than two axes (a separate head axis)."""


def product(flow: DataflowGraph, number: int) -> MatrixProduct | None:
    """Return the node as a product of two tensors; None if it is not one, or has an unusual form."""
    return _product(flow, number) if flow.qualified_op_types[number] in PRODUCTS else None


@memoised_on_graph
def _product(flow: DataflowGraph, number: int) -> MatrixProduct | None:
    op = flow.qualified_op_types[number]
    inputs = flow.nodes[number].inputs
    if op == "Einsum":
        return _einsum(flow, number)
    second = _SECOND.get(op, 1)
    if len(inputs) <= second or inputs[0] < 0 or inputs[second] < 0:
        return None
    a, b = inputs[0], inputs[second]
    if op in _MATMUL_OPS or op == "QLinearMatMul":
        return MatrixProduct(number, a, b)
    attributes = flow.nodes[number].attributes
    turned_a, turned_b = _flag(attributes.get("transA")), _flag(attributes.get("transB"))
    summed_axes = {False: (-1, -2), True: (-2, -1)}
    a_sum, a_free = summed_axes[turned_a]
    b_free, b_sum = summed_axes[turned_b]
    return MatrixProduct(number, a, b, a_sum, b_sum, a_free, b_free)


def _flag(value: object) -> bool:
    return isinstance(value, int) and value == 1


def _einsum(flow: DataflowGraph, number: int) -> MatrixProduct | None:
    """Read an Einsum of two operands: one index summed, one kept from each; a leading ``...`` is batch."""
    node = flow.nodes[number]
    equation = node.attributes.get("equation")
    if not isinstance(equation, str) or len(equation) > _MAX_EQUATION or len(node.inputs) != 2:
        return None
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = [term.removeprefix("...") for term in left.split(",")]
    out = out.removeprefix("...")
    if not arrow or len(terms) != 2 or min(node.inputs) < 0 or not all(t.isalpha() for t in (*terms, out)):
        return None
    a, b = terms
    if any(len(set(term)) != len(term) for term in (a, b, out)):
        return None
    summed = [i for i in a if i in b and i not in out]
    rows = [i for i in out if i in a and i not in b]
    cols = [i for i in out if i in b and i not in a]
    if len(summed) != 1 or not rows or not cols:
        return None
    k, row, col = summed[0], rows[-1], cols[-1]

    def axis(term: str, index: str) -> int:
        return term.index(index) - len(term)

    return MatrixProduct(
        number,
        node.inputs[0],
        node.inputs[1],
        axis(a, k),
        axis(b, k),
        axis(a, row),
        axis(b, col),
        axis(out, row),
        axis(out, col),
    )


def dim(flow: DataflowGraph, tensor: int, axis: int) -> Dim:
    """Return the size of an axis counted from the end; None if unknown."""
    shape = flow.shapes[tensor]
    return shape[axis] if shape is not None and -len(shape) <= axis < 0 else None


def size(flow: DataflowGraph, tensor: int, axis: int) -> int | None:
    """Return the size of an axis counted from the end if it is a number, else None."""
    value = dim(flow, tensor, axis)
    return value if isinstance(value, int) and value > 0 else None


def is_scalar(flow: DataflowGraph, tensor: int) -> bool:
    """True for a tensor of one element."""
    shape = flow.shapes[tensor]
    return shape is not None and all(d == 1 for d in shape)


def scale(flow: DataflowGraph, tensor: int) -> bool:
    """True for the scale or zero point of values quantized at run time, which is not data."""
    number = flow.producers[tensor]
    return flow.qualified_op_types[number] == "DynamicQuantizeLinear" and tensor != flow.first_outputs[number]


def is_stored_weight(flow: DataflowGraph, tensor: int) -> bool:
    """True for a weight as stored: an initializer or Constant, at most moved, cast or dequantized."""
    tensors, makers, names = flow.model.tensors, flow.producers, flow.qualified_op_types
    for _ in range(_STEPS):
        if tensors[tensor].is_constant:
            return True
        number = makers[tensor]
        op = names[number]
        if op not in _STORABLE:
            return False
        node = flow.nodes[number]
        if op in ("Mul", "Div") and not any(i >= 0 and is_scalar(flow, i) for i in node.inputs):
            return False
        operands = [i for i in node.inputs if i >= 0 and not (op in ("Mul", "Div") and is_scalar(flow, i))]
        if not operands:
            return flow.constants[tensor]
        tensor = operands[0]
    return False


def projection(flow: DataflowGraph, number: int) -> Projection | None:
    """Return the node as activation × stored weight (linear or convolution), else None."""
    return _projection(flow, number) if flow.qualified_op_types[number] in _PROJECTING else None


@memoised_on_graph
def _projection(flow: DataflowGraph, number: int) -> Projection | None:
    op, node = flow.qualified_op_types[number], flow.nodes[number]
    if op in CONVS:
        return _convolution(flow, number, op)
    if op in BLOCK_QUANTIZED_OPS:
        k, n = node.attributes.get("K"), node.attributes.get("N")
        if not node.inputs or node.inputs[0] < 0:
            return None
        return Projection(number, node.inputs[0], _positive(k), _positive(n))
    matmul = product(flow, number)
    if matmul is None:
        return None
    if is_stored_weight(flow, matmul.b):
        width = size(flow, matmul.a, matmul.a_sum) or size(flow, matmul.b, matmul.b_sum)
        return Projection(number, matmul.a, width, size(flow, matmul.b, matmul.b_free), _flat(flow, matmul.b))
    if is_stored_weight(flow, matmul.a):
        width = size(flow, matmul.b, matmul.b_sum) or size(flow, matmul.a, matmul.a_sum)
        return Projection(number, matmul.b, width, size(flow, matmul.a, matmul.a_free), _flat(flow, matmul.a))
    return None


def _flat(flow: DataflowGraph, weight: int) -> bool:
    shape = flow.shapes[weight]
    return shape is not None and len(shape) == 2


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _convolution(flow: DataflowGraph, number: int, op: str) -> Projection | None:
    inputs = flow.nodes[number].inputs
    weight_input = _SECOND.get(op, 1)
    if (
        len(inputs) <= weight_input
        or inputs[0] < 0
        or inputs[weight_input] < 0
        or not is_stored_weight(flow, inputs[weight_input])
    ):
        return None
    shape, weight = flow.shapes[inputs[0]], flow.shapes[inputs[weight_input]]
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    out = weight[0] if weight else None
    return Projection(number, inputs[0], _positive(channels), _positive(out))
