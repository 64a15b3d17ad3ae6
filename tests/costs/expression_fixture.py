"""Random expressions, bindings and their exact values: what both evaluators are tested against.

``python tests/costs/expression_fixture.py`` writes ``src/core/testing/expressions.json``, which
``src/core/expressions/compileExpressions.test.ts`` reads.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from py_autodoc.costs.expressions import CostCondition, Expressions, NodeExpressions
from py_autodoc.costs.symbolic import (
    EvaluationError,
    Number,
    Symbolic,
    UndecidedComparison,
    evaluate,
    extreme,
    symbol,
)
from py_autodoc.costs.symbolic_text import text
from py_autodoc.graph.symbolic_dims.poly import FloorDiv, Poly
from py_autodoc.report.builders.expression_pool import expression_pool

FILE = Path(__file__).parents[2] / "src/core/testing/expressions.json"
NAMES = ("batch", "seq", "h", "w")
COUNT = 120
METRICS = ("macs", "flops", "read_bytes", "write_bytes", "activation_bytes")


def expression(rng: random.Random, depth: int) -> Number:
    """A random expression of at most ``depth`` levels."""
    if depth == 0 or rng.random() < 0.2:
        return (
            symbol(rng.choice(NAMES))
            if rng.random() < 0.7
            else rng.choice([0, 1, 2, 3, 7, 64, 3072, 1 << 40])
        )
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    kind = rng.randrange(7)
    try:
        if kind < 2:
            return a + b
        if kind < 4:
            return a * b
        if kind == 4:
            return a - b
        if kind == 5:
            return a // rng.choice([2, 3, 4, 32, symbol(rng.choice(NAMES)), symbol("h") + 3])
        return extreme(rng.random() < 0.5, a, b)
    except (UndecidedComparison, ZeroDivisionError):
        return a


def binding(rng: random.Random) -> dict[str, int]:
    """Sizes from 1 to 2^40, most of them small."""
    return {
        name: rng.choice([1, 2, rng.randrange(1, 50), rng.randrange(1, 5000), rng.randrange(1, 1 << 40)])
        for name in NAMES
    }


def value(number: Number, sizes: dict[str, int]) -> str | None:
    """The exact value as text, None where there is none."""
    try:
        return str(evaluate(number, sizes))
    except EvaluationError:
        return None


def fixture() -> dict[str, Any]:
    """A pool, its expressions as text, and their values under some bindings."""
    rng = random.Random(20240229)
    numbers = [expression(rng, 4) for _ in range(COUNT)]
    # A divisor that can be 0 comes from no rule; the evaluators must cope with one all the same.
    numbers.append(Symbolic(Poly.atom(FloorDiv(Poly.atom("seq"), Poly({("h",): 1, (): -1})))))
    nodes = [NodeExpressions(*([number] * 5)) for number in numbers]
    totals = {f"total_{m}": numbers[i] for i, m in enumerate(METRICS[:4])}
    condition = CostCondition("positive", Symbolic(Poly({("batch",): 1, ("seq",): 1, (): -3})))
    other = CostCondition("nonzero", Symbolic(Poly({("h",): 1, ("w",): -1})))
    found = Expressions(
        NAMES, {"batch": "batch size", "seq": "seq", "h": "h", "w": "w"}, nodes, totals, (condition,),
        {"simple": numbers[7], "inplace": numbers[8]}, (other,),
    )  # fmt: skip
    pool = expression_pool(found)
    assert pool is not None
    cases = []
    for _ in range(25):
        sizes = binding(rng)
        try:
            found.check(sizes)
        except EvaluationError:
            cases.append({"sizes": sizes, "holds": False, "inplace": False, "values": []})
            continue
        cases.append(
            {
                "sizes": sizes,
                "holds": True,
                "inplace": sizes["h"] != sizes["w"],
                "values": [value(number, sizes) for number in numbers],
            }
        )
    import msgspec

    return {
        "pool": json.loads(msgspec.json.encode(pool)),
        "texts": [text(number) for number in numbers],
        "cases": cases,
    }


def written() -> str:
    """The fixture as the file holds it, a line an entry."""
    data = fixture()
    parts = [f'"pool": {json.dumps(data["pool"])}']
    for key in ("texts", "cases"):
        rows = ",\n".join(json.dumps(row) for row in data[key])
        parts.append(f'"{key}": [\n{rows}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
