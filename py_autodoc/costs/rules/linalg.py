"""Dense linear algebra on small matrices."""

from __future__ import annotations

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, prod


def square(v: NodeView) -> tuple[int, int]:
    """Return (number of matrices, n) of an input (…, n, n). Raises: UnknownSize if it is not square."""
    shape = v.shape(0)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise UnknownSize("input 0 is not a square matrix")
    return prod(shape[:-2]), shape[-1]


@cost("", "Det")
def det(v: NodeView) -> Cost:
    """LU factorization, 2/3·n³ (Golub & Van Loan, Matrix Computations, §3.2), and n products."""
    count, n = square(v)
    return Cost(0, count * (2 * n * n * n // 3 + n))


@cost("com.microsoft", "Inverse")
def inverse(v: NodeView) -> Cost:
    """LU and n triangular solves: 2·n³ (Golub & Van Loan, Matrix Computations, §3.2)."""
    count, n = square(v)
    return Cost(0, 2 * count * n * n * n)
