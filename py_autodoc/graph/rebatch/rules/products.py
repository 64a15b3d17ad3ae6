"""Matrix products: items must not be combined in one product."""

from __future__ import annotations

import string

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import SHARED_RANGE, BatchTrace, Layouts, rule

MS = "com.microsoft"
_SUMMED = "the batch is on the axis that is summed over"
_MEET = "both operands hold the batch, but not as a batch of products"


@rule("MatMul", "MatMulInteger", "QLinearMatMul")
@rule("MatMulInteger16", "MatMulIntegerToFloat", "QLinearMatMul", domain=MS)
def matmul(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The batch is on rows, on columns, or is a batch of products."""
    second = 3 if node.op_type == "QLinearMatMul" else 1
    trace.require_equal(node, *(i for i in range(len(node.inputs)) if i not in (0, second)))
    return [_product(trace, node, second, (), ())]


@rule("FusedMatMul", domain=MS)
def fused_matmul(trace: BatchTrace, node: StructureNode) -> Layouts:
    """A product with optional transposition of the operands."""
    orders = []
    for letter, i in (("A", 0), ("B", 1)):
        order = list(range(len(trace.shape(node.inputs[i]))))
        if len(order) > 1 and node.attr(f"transBatch{letter}", 0):
            order = [*order[1:-1], order[0], order[-1]]
        if len(order) > 1 and node.attr(f"trans{letter}", 0):
            order[-2], order[-1] = order[-1], order[-2]
        orders.append(tuple(order))
    return [_product(trace, node, 1, *orders)]


def _product(
    trace: BatchTrace, node: StructureNode, second: int, order_a: tuple[int, ...], order_b: tuple[int, ...]
) -> Layout:
    """Return the layout of a product. An order lists the operand's axes as used by the product."""
    shapes = trace.shape(node.inputs[0]), trace.shape(node.inputs[second])
    orders = order_a or tuple(range(len(shapes[0]))), order_b or tuple(range(len(shapes[1])))
    layouts = trace.layout(node, 0), trace.layout(node, second)
    a, b = (
        layout and layout.on(order.index(layout.axis)) for layout, order in zip(layouts, orders, strict=True)
    )
    ranks = len(shapes[0]), len(shapes[1])
    if (a and a.axis == ranks[0] - 1) or (b and b.axis == max(ranks[1] - 2, 0)):
        raise BatchBlocked(_SUMMED)
    if 1 in ranks:
        if a and b:
            raise BatchBlocked("both operands hold the batch, one of them is a vector")
        if a:
            return a
        assert b is not None
        return b.on(b.axis - (b.axis > ranks[1] - 2)) if ranks[0] == 1 else b
    top = max(ranks)
    operands = ((a, 0, second, b), (b, 1, 0, a))
    for operand, number, other_input, other_operand in operands:
        if operand is None:
            continue
        right = operand.axis - ranks[number]
        rank, shape, order = ranks[1 - number], shapes[1 - number], orders[1 - number]
        if right >= -2:
            if other_operand is not None:
                raise BatchBlocked(_MEET)
        elif other_operand is not None:
            if other_operand.axis - rank >= -2:
                raise BatchBlocked(_MEET)
            if (other_operand.axis - rank, other_operand.outer, other_operand.inner) != (
                right,
                operand.outer,
                operand.inner,
            ):
                raise BatchBlocked("both operands hold the batch on different axes")
        elif rank >= -right and shape[order[right + rank]] != 1:
            trace.require_layout(node, other_input, operand.on(order[right + rank]))
        return operand.on(right + top)
    raise BatchBlocked("the batch is in an input that only configures the operator")


@rule("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "DynamicQuantizeMatMul", domain=MS)
def stored_matmul(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The second operand is a stored weight."""
    trace.require_equal_from(node, 1)
    if node.op_type == "DynamicQuantizeMatMul":
        trace.note(node, SHARED_RANGE)
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, [-1])
    return [layout]


@rule("Gemm")
@rule("FusedGemm", "QGemm", domain=MS)
def gemm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The batch is on rows of the first operand or columns of the second."""
    second, bias = (3, 6) if node.op_type == "QGemm" else (1, 2)
    trace.require_equal(node, *(i for i in range(len(node.inputs)) if i not in (0, second, bias)))
    a, b = trace.layout(node, 0), trace.layout(node, second)
    if a and b:
        raise BatchBlocked(_MEET)
    if a:
        is_free_axis, layout = a.axis == (1 if node.attr("transA", 0) else 0), a.on(0)
    elif b:
        is_free_axis, layout = b.axis == (0 if node.attr("transB", 0) else 1), b.on(1)
    else:
        raise BatchBlocked("only the bias differs between items, not the product")
    if not is_free_axis:
        raise BatchBlocked(_SUMMED)
    if node.has(bias):
        c, shape = trace.layout(node, bias), trace.shape(node.inputs[bias])
        axis = layout.axis - 2 + len(shape)
        if c is not None and c.key != (axis, layout.outer, layout.inner):
            raise BatchBlocked("the bias holds the batch on another axis", node.inputs[bias])
        if c is None and axis >= 0 and shape[axis] != 1:
            trace.require_layout(node, bias, layout.on(axis))
    return [layout]


@rule("Einsum")
def einsum(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The batch has one letter in all operands, which the result keeps."""
    equation = node.attr("equation", b"").decode().replace(" ", "")
    inputs_text, arrow, out = equation.partition("->")
    terms = inputs_text.split(",")
    if not arrow or "." in equation:
        raise BatchBlocked("its equation has an ellipsis or no output")
    layouts = [trace.layout(node, i) for i in range(len(terms))]
    batch_letters = {term[layout.axis] for term, layout in zip(terms, layouts, strict=True) if layout}
    layout = trace.first_layout(node)
    letter = next(iter(batch_letters))
    if len(batch_letters) != 1 or letter not in string.ascii_letters or out.count(letter) != 1:
        raise BatchBlocked("the batch is summed over, or has different letters in the equation")
    for i, term in enumerate(terms):
        if term.count(letter) > 1:
            raise BatchBlocked("it takes a diagonal along the batch")
        if letter in term:
            trace.require_layout(node, i, layout.on(term.index(letter)))
    return [layout.on(out.index(letter))]


@rule("MoE", "QMoE", domain=MS)
def experts(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Tokens are independent; expert weights are stored."""
    trace.require_equal_from(node, 2)
    layout, routes = trace.first_layout(node, 0, 1), trace.layout(node, 1)
    tokens, shape = trace.layout(node, 0), trace.shape(node.inputs[0])
    if tokens is None or layout.axis == len(shape) - 1:
        raise BatchBlocked("the batch is on the axis of features")
    factors = (tokens.outer, tokens.inner) if len(shape) == 2 else (tokens.outer, tokens.inner * shape[1])
    if len(shape) == 3 and tokens.axis:
        factors = (shape[0] * tokens.outer, tokens.inner)
    if routes is None or (routes.axis, routes.outer, routes.inner) != (0, *factors):
        raise BatchBlocked("tokens and their experts hold the batch on different axes")
    return [tokens]
