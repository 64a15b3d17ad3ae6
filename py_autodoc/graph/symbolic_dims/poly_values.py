"""Values of polynomials for given sizes."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.symbolic_dims.poly import Atom, FloorDiv, Poly


class EvaluationError(Exception):
    """An expression has no value under a binding; the text gives the reason."""


class PolyValues:
    """Values under one binding; each floor division and extreme is computed once.

    ``least`` is the minimum size: 1, for which the proofs of ``poly_bounds`` hold, or 0.
    """

    def __init__(self, bindings: Mapping[str, int], least: int = 1) -> None:
        self.bindings = bindings
        self.least = least
        self.cache: dict[Atom, int] = {}

    def of(self, p: Poly) -> int:
        """Return the value. Raises: EvaluationError for a missing or too small size, or a division by 0."""
        total = 0
        for mono, coef in p.terms.items():
            for a in mono:
                cached = self.cache.get(a)
                coef *= self._fresh(a) if cached is None else cached
            total += coef
        return total

    def _fresh(self, a: Atom) -> int:
        value = self.cache[a] = self._computed(a)
        return value

    def _computed(self, a: Atom) -> int:
        if isinstance(a, str):
            size = self.bindings.get(a)
            if size is None:
                raise EvaluationError(f"{a} has no size")
            if size < self.least:
                raise EvaluationError(f"{a} is {size}; expressions hold for sizes of at least {self.least}")
            return size
        if isinstance(a, FloorDiv):
            den = self.of(a.den)
            if den == 0:
                raise EvaluationError(f"{a.den.text} is 0")
            return self.of(a.num) // den
        return (max if a.largest else min)(self.of(arg) for arg in a.args)
