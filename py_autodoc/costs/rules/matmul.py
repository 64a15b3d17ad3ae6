"""Matrix products."""

from __future__ import annotations

import re

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, broadcast, cost, prod


def inner(v: NodeView, i: int = 0) -> int:
    """Return the contracted size: last dimension of input ``i``. Raises: UnknownSize for a scalar."""
    shape = v.shape(i)
    if not shape:
        raise UnknownSize(f"input {i} is a scalar")
    return shape[-1]


@cost("", "MatMul", "MatMulInteger", macs=True)
def matmul(v: NodeView) -> Cost:
    """Y (…, M, N) = A (…, M, K) · B (…, K, N): prod(Y) · K. The batch is the output's (broadcast)."""
    return Cost.of(v.out_numel() * inner(v))


def gemm_macs(v: NodeView, a: int = 0) -> int:
    """Y (M, N) = A' · B' with A' (M, K), transposed when transA: M · N · K."""
    shape = v.shape(a)
    if len(shape) != 2:
        raise UnknownSize(f"input {a} of {v.op} is not a matrix (rank {len(shape)})")
    return v.out_numel() * shape[0 if v.int_attr("transA", 0) else 1]


def gemm_extra(v: NodeView) -> int:
    """α·A'B' + β·C: × per output if α is not 1, + per output if C is present, × on C if β is not 1."""
    extra = v.out_numel() if v.attr("alpha", 1.0) != 1.0 else 0
    if v.has(2):
        extra += v.out_numel() + (v.numel(2) if v.attr("beta", 1.0) != 1.0 else 0)
    return extra


@cost("", "Gemm", macs=True)
def gemm(v: NodeView) -> Cost:
    """ONNX Gemm: α·A'B' + β·C."""
    return Cost.of(gemm_macs(v), gemm_extra(v))


_TERM = re.compile(r"^[A-Za-z]*(\.\.\.)?[A-Za-z]*$")


def index_sizes(equation: str, shapes: list[tuple[int, ...]]) -> dict[str, int]:
    """Return the size of every einsum index; ellipsis dimensions have keys ``...0`` from the right.

    Raises: UnknownSize if the equation does not fit the operands.
    """
    terms = equation.replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(shapes):
        raise UnknownSize(f"einsum equation has {len(terms)} terms for {len(shapes)} operands")
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if not _TERM.match(term):
            raise UnknownSize("einsum equation cannot be read")
        left, dots, right = term.partition("...")
        spread = len(shape) - len(left) - len(right)
        if spread < 0 or (spread and not dots):
            raise UnknownSize(f"einsum term {term} does not fit rank {len(shape)}")
        names = [*left, *(f"...{spread - k - 1}" for k in range(spread)), *right]
        for name, size in zip(names, shape, strict=True):
            sizes[name] = broadcast(sizes[name], size) if name in sizes else size
    return sizes


@cost("", "Einsum", macs=True)
def einsum(v: NodeView) -> Cost:
    """Direct evaluation over the whole index space: prod(all index sizes) · (operands − 1) MACs.

    With one operand nothing is multiplied: a sum over the dropped indices costs one + per input
    element; a permutation or diagonal costs nothing.
    """
    equation = v.text_attr("equation")
    sizes = index_sizes(equation, [v.shape(i) for i in range(v.n_inputs)])
    if v.n_inputs > 1:
        return Cost.of(prod(sizes.values()) * (v.n_inputs - 1))
    summed = prod(sizes.values()) > v.out_numel()
    return Cost.of(0, v.numel(0) if summed else 0)
