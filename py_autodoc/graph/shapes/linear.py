"""Matrix products, Einsum and recurrent layers."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import (
    FLOAT,
    INT32,
    MS,
    InvalidNode,
    ShapeContext,
    agree,
    broadcast,
    rule,
)


def _joined(a: Dim, b: Dim, names: str) -> None:
    if isinstance(a, int) and isinstance(b, int) and a != b:
        raise InvalidNode("shape-mismatch", f"{names} disagree: {a} and {b}")
    agree(a, b)


def product_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape of ``numpy.matmul``. Raises: InvalidNode if the inner dimensions differ."""
    if a is None or b is None:
        return None
    if not a or not b:
        raise InvalidNode("shape-mismatch", "an operand is a scalar")
    inner_a, inner_b = a[-1], b[-2] if len(b) > 1 else b[0]
    _joined(inner_a, inner_b, f"inner sizes of {list(a)} and {list(b)}")
    if len(a) == 1:
        return (b[:-2] + b[-1:]) if len(b) > 1 else ()
    if len(b) == 1:
        return a[:-1]
    lead = broadcast(a[:-2], b[:-2])
    return None if lead is None else (*lead, a[-2], b[-1])


def _swap(shape: Shape | None, flag: int) -> Shape | None:
    if shape is None or not flag or len(shape) < 2:
        return shape
    return (*shape[:-2], shape[-1], shape[-2])


@rule("TransposeMatMul", "FusedMatMul", "FusedMatMulActivation", "SparseToDenseMatMul", domain=MS)
def fused_matmul(op: ShapeContext) -> None:
    """MatMul with optional transposition of the operands (``transBatch``: batch axis moved in)."""
    op.set(0, None, op.dtype(0))
    a, b = op.shape(0), op.shape(1)
    if op.int_attr("transBatchA", 0) or op.int_attr("transBatchB", 0):
        a, b = _batch_moved(a, op.int_attr("transBatchA", 0)), _batch_moved(b, op.int_attr("transBatchB", 0))
    op.set(0, product_shape(_swap(a, op.int_attr("transA", 0)), _swap(b, op.int_attr("transB", 0))))


def _batch_moved(shape: Shape | None, flag: int) -> Shape | None:
    if shape is None or not flag or len(shape) < 3:
        return shape
    return (*shape[1:-1], shape[0], shape[-1])


@rule("MatMul")
def matmul(op: ShapeContext) -> None:
    """Like ``numpy.matmul``."""
    op.set(0, None, op.dtype(0))
    op.set(0, product_shape(op.shape(0), op.shape(1)))


@rule("MatMulInteger")
def matmul_integer(op: ShapeContext) -> None:
    """8-bit operands, int32 result."""
    op.set(0, None, INT32)
    op.set(0, product_shape(op.shape(0), op.shape(1)))


@rule("QLinearMatMul", domain=MS)
@rule("QLinearMatMul")
def qlinear_matmul(op: ShapeContext) -> None:
    """Operands are inputs 0 and 3; the type is that of the output's zero point."""
    op.set(0, None, op.dtype(7))
    op.set(0, product_shape(op.shape(0), op.shape(3)))


@rule("MatMulIntegerToFloat", domain=MS)
def matmul_to_float(op: ShapeContext) -> None:
    """8-bit operands, the type of the scale."""
    op.set(0, None, op.dtype(2))
    op.set(0, product_shape(op.shape(0), op.shape(1)))


@rule("DynamicQuantizeMatMul", domain=MS)
def dynamic_matmul(op: ShapeContext) -> None:
    """Float activations, 8-bit weight."""
    op.set(0, None, op.dtype(0))
    op.set(0, product_shape(op.shape(0), op.shape(1)))


@rule("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", domain=MS)
def matmul_nbits(op: ShapeContext) -> None:
    """Packed weight: attributes K and N give its logical shape."""
    op.set(0, None, op.dtype(0))
    k, n, a = op.int_attr("K", 0), op.int_attr("N", 0), op.shape(0)
    if k <= 0 or n <= 0:
        raise InvalidNode("bad-attribute", f"K is {k}, N is {n}")
    if a:
        _joined(a[-1], k, "the last dimension and K")
        op.set(0, (*a[:-1], n))


@rule("FusedGemm", "GemmFastGelu", domain=MS)
@rule("Gemm")
def gemm(op: ShapeContext) -> None:
    """[M, K] · [K, N], each optionally transposed."""
    op.set(0, (None, None), op.dtype(0))
    a, b = _swap(op.shape(0), op.int_attr("transA", 0)), _swap(op.shape(1), op.int_attr("transB", 0))
    if a is not None and len(a) != 2:
        if op.node.op_type == "GemmFastGelu":
            op.set(0, product_shape(a, b))
            return
        raise InvalidNode("shape-mismatch", f"the first operand has rank {len(a)}, not 2")
    if b is not None and len(b) != 2:
        raise InvalidNode("shape-mismatch", f"the second operand has rank {len(b)}, not 2")
    if a is not None and b is not None:
        _joined(a[1], b[0], f"inner sizes of {list(a)} and {list(b)}")
    op.set(0, (a[0] if a else None, b[1] if b else None))


@rule("QGemm", domain=MS)
def qgemm(op: ShapeContext) -> None:
    """Operands are inputs 0 and 3; without an output scale the result is float."""
    a, b = _swap(op.shape(0), op.int_attr("transA", 0)), _swap(op.shape(3), op.int_attr("transB", 0))
    op.set(0, None, op.dtype(8) if op.has(7) else FLOAT)
    op.set(0, product_shape(a, b))


@rule("Einsum")
def einsum(op: ShapeContext) -> None:
    """Letters of the equation stand for dimensions; ``...`` broadcasts."""
    op.set(0, None, op.dtype(0))
    equation = op.text_attr("equation", "").replace(" ", "")
    inputs_text, arrow, output_text = equation.partition("->")
    terms = inputs_text.split(",")
    if not equation or len(terms) != len(op.inputs) or len(equation) > 512:
        raise InvalidNode("bad-attribute", f"equation {equation[:60]!r} does not fit {len(op.inputs)} inputs")
    sizes: dict[str, Dim] = {}
    dots: Shape | None = ()
    for i, term in enumerate(terms):
        shape = op.shape(i)
        if shape is None:
            return
        dots = broadcast(dots, _einsum_term(term, shape, sizes))
    if not arrow:
        letters = [c for c in inputs_text if c.isalpha()]
        output_text = ("..." if "..." in inputs_text else "") + "".join(
            sorted(c for c in set(letters) if letters.count(c) == 1)
        )
    head, ellipsis, tail = output_text.partition("...")
    if not ellipsis:
        head, tail = output_text, ""
    if any(c not in sizes for c in head + tail):
        raise InvalidNode("bad-attribute", f"equation {equation[:60]!r} returns a letter that no input has")
    middle = dots if ellipsis and dots is not None else ()
    op.set(0, (*(sizes[c] for c in head), *middle, *(sizes[c] for c in tail)))


def _einsum_term(term: str, shape: Shape, sizes: dict[str, Dim]) -> Shape:
    """Record the dimensions of a term's letters; return the dimensions under its ellipsis."""
    head, ellipsis, tail = term.partition("...")
    named = len(head) + len(tail)
    if (len(shape) != named) if not ellipsis else (len(shape) < named):
        raise InvalidNode("shape-mismatch", f"the term {term!r} does not fit {list(shape)}")
    end = len(shape) - len(tail)
    for letter, d in [*zip(head, shape, strict=False), *zip(tail, shape[end:], strict=True)]:
        size = sizes.get(letter, 1)
        if size == 1 or size is None:
            sizes[letter] = d
        elif isinstance(size, int) and isinstance(d, int) and d not in (1, size):
            raise InvalidNode("shape-mismatch", f"letter {letter!r} has sizes {size} and {d}")
        elif isinstance(d, int) and d != 1:
            sizes[letter] = d
    return shape[len(head) : end] if ellipsis else ()


@rule("DynamicQuantizeLSTM", domain=MS)
@rule("LSTM", "GRU", "RNN")
def recurrent(op: ShapeContext) -> None:
    """Y [seq, directions, batch, hidden] and the last states [directions, batch, hidden]."""
    x = op.shape(0)
    for i in range(3):
        op.set(i, None, op.dtype(0))
    direction = op.text_attr("direction", "forward")
    if direction not in ("forward", "reverse", "bidirectional"):
        raise InvalidNode("bad-attribute", f"direction is {direction!r}")
    directions = 2 if direction == "bidirectional" else 1
    hidden = _hidden(op)
    if isinstance(hidden, int) and hidden <= 0:
        raise InvalidNode("bad-attribute", f"hidden_size is {hidden}")
    if x is None:
        return
    if len(x) != 3:
        raise InvalidNode("shape-mismatch", f"the input has rank {len(x)}, not 3")
    if op.int_attr("layout", 0):
        sequence: Shape = (x[0], x[1], directions, hidden)
        state: Shape = (x[0], directions, hidden)
    else:
        sequence = (x[0], directions, x[1], hidden)
        state = (directions, x[1], hidden)
    op.set(0, sequence)
    op.set(1, state)
    op.set(2, state)
    _check_recurrent(op, x, state)


def _check_recurrent(op: ShapeContext, x: Shape, state: Shape) -> None:
    """Features must match the weights; initial states have the shape of final ones."""
    weights = op.shape(1)
    if weights is not None and len(weights) == 3 and op.node.domain != MS:
        _joined(x[2], weights[2], "the features of the input and of the weights")
    for i in (5, 6):
        start = op.shape(i)
        if start is None:
            continue
        if len(start) != 3:
            raise InvalidNode("shape-mismatch", f"an initial state has rank {len(start)}, not 3")
        for a, b in zip(start, state, strict=True):
            _joined(a, b, f"the initial state {list(start)} and the input {list(x)}")


def _hidden(op: ShapeContext) -> Dim:
    hidden_size = op.int_attr("hidden_size", -1)
    if hidden_size != -1 or op.node.domain == MS:
        return hidden_size if hidden_size != -1 else None
    recurrence = op.shape(2)
    return recurrence[2] if recurrence is not None and len(recurrence) == 3 else None
