"""The page of operators: which part of ONNX Autodoc has a rule for which operator, from the registries."""

from __future__ import annotations

import onnx.defs

from py_autodoc.operators import Operator, coverage

PAGE = "reference/operators.md"
HEAD = """# Operators

The table has every operator that ONNX {version} defines at its newest opsets, and every other operator
that a part of ONNX Autodoc has a rule for. It is generated from the registries of the rules.

- **Shapes**: *symbols* means a rule that follows symbolic dimensions; *ONNX* means that ONNX's own
  inference of the single node is used. Without either, the shapes that the file itself states are used.
- **Costs**: *MACs* means a rule with multiply-accumulates, *yes* a rule without them. The cost of an
  operator without a rule is unknown, and the coverage of the totals says so. Functions that a model
  defines are expanded and need no rule.
- **Batch** and **size**: [`rebatch`](../rebatch.md) and [`resize`](../resize.md) have a rule for it.
- **PyTorch**: [`to-torch`](../to-torch.md) writes the operator as PyTorch code.
- **Kernel**: what it is to a runtime that fuses, for [estimates of latency](../hardware.md).
- **Integer**: the [quantized reference](../opdocs.md) computes the operator bit for bit.

"""


_COLUMNS = (
    "| operator | shapes | costs | kernel | batch | size | PyTorch | integer |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def operators_page() -> str:
    """Markdown."""
    native = {
        (one.domain, one.name)
        for one in onnx.defs.get_all_schemas()
        if one.has_type_and_shape_inference_function
    }
    rows = coverage()
    parts = [HEAD.format(version=onnx.__version__)]
    for domain in sorted({row.domain for row in rows}):
        own = [row for row in rows if row.domain == domain]
        table = "".join(_row(row, (row.domain, row.type) in native) for row in own)
        parts.append(f"## {domain or 'ai.onnx'}\n\n{_summary(own)}\n\n{_COLUMNS}{table}\n")
    return "".join(parts).rstrip() + "\n"


def _summary(rows: list[Operator]) -> str:
    with_cost = sum("cost" in row.links for row in rows)
    return f"{len(rows)} operators, {with_cost} of them with a cost rule."


def _row(row: Operator, native: bool) -> str:
    shapes = "symbols" if "shape" in row.links else "ONNX" if native else ""
    cost, kernel = row.links.get("cost"), row.links.get("kernel")
    costs = "" if cost is None else cost.detail or "yes"
    others = ["yes" if aspect in row.links else "" for aspect in ("rebatch", "resize", "torch", "integer")]
    cells = [shapes, costs, "" if kernel is None else kernel.detail, *others]
    return f"| `{row.type}` | {' | '.join(cells)} |\n"
