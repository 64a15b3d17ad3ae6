"""Human-readable expressions: ``85 M·batch·seq + 18.4 K·batch·seq²``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby

from py_autodoc import units
from py_autodoc.costs.symbolic import to_poly
from py_autodoc.costs.symbolic_text import parse, rounded_up
from py_autodoc.graph.symbolic_dims.poly import Atom, FloorDiv, Monomial, Poly, atom_text, ordered

MAX_PARTS = 6
"""Maximum number of terms of a sum, or arguments of a maximum, that are shown."""
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_expression(
    text: str, unit: str = "count", names: Mapping[str, str] | None = None, width: int | None = None
) -> str:
    """Return an expression of the report with three-digit coefficients; ``unit`` is ``count`` or ``bytes``.

    ``names`` maps symbols to display names. Only the first terms of a long sum are shown, fewer if they
    exceed ``width`` characters (but at least one). Raises: ExprError if the text is not an expression.
    """
    number, formatted = units.size if unit == "bytes" else units.count, ""
    for parts in range(MAX_PARTS, 0, -1):
        formatted = _ExpressionWriter(number, names or {}, parts).number(to_poly(parse(text)))
        if width is None or len(formatted) <= width:
            break
    return formatted


class _ExpressionWriter:
    def __init__(self, number: Callable[[float | None], str], names: Mapping[str, str], parts: int) -> None:
        self._number = number
        self._names = names
        self._parts = parts

    def number(self, p: Poly) -> str:
        """Return a polynomial whose coefficients have the unit."""
        value = p.as_int()
        if value is not None:
            return self._number(value)
        only_term = next(iter(p.terms)) if len(p.terms) == 1 else ()
        if len(only_term) == 1 and not isinstance(only_term[0], (str, FloorDiv)) and p.terms[only_term] == 1:
            parts = [self.number(arg) for arg in only_term[0].args]
            return f"{'max' if only_term[0].largest else 'min'}({self._listed(parts)})"
        return self._sum(p, self._number)

    def _sum(self, p: Poly, number: Callable[[float | None], str]) -> str:
        out = ""
        items = ordered(p)
        for index, (mono, coef) in enumerate(items):
            if index == self._parts and len(items) > index + 1:
                return f"{out} + … {len(items) - index} more terms"
            body = self._term(mono, abs(coef), number)
            out += (f" {'-' if coef < 0 else '+'} " if index else "-" if coef < 0 else "") + body
        return out or "0"

    def _term(self, mono: Monomial, coef: int, number: Callable[[float | None], str]) -> str:
        written = number(coef)
        factors = [] if written == "1" and mono else [written]
        for atom, run in groupby(sorted(mono, key=self._order)):
            power = sum(1 for _ in run)
            factors.append(self._atom(atom) + (str(power).translate(_POWERS) if power > 1 else ""))
        return "·".join(factors)

    def _order(self, a: Atom) -> tuple[bool, str]:
        return not isinstance(a, str), atom_text(a)

    def _atom(self, a: Atom) -> str:
        if isinstance(a, str):
            return self._names.get(a, a)
        if isinstance(a, FloorDiv):
            up = rounded_up(a)
            if up is not None:
                return f"⌈{self._operand(up[0])}/{up[1]}⌉"
            return f"⌊{self._operand(a.num)}/{self._operand(a.den)}⌋"
        parts = [self._sum(arg, str) for arg in a.args]
        return f"{'max' if a.largest else 'min'}({self._listed(parts)})"

    def _operand(self, p: Poly) -> str:
        written = self._sum(p, str)
        return f"({written})" if len(p.terms) > 1 else written

    def _listed(self, parts: list[str]) -> str:
        if len(parts) <= self._parts:
            return ", ".join(parts)
        return ", ".join([*parts[: self._parts], f"… {len(parts) - self._parts} more"])
