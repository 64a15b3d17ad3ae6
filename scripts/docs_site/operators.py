"""The page of operators: which part of ONNX Autodoc has a rule for which operator."""

from __future__ import annotations

import onnx.defs

from py_autodoc.costs.registry import carries_macs
from py_autodoc.operators import ASPECTS, Operator, coverage

PAGE = "reference/operators.md"
SHOWN = {
    "shape": "shapes",
    "folding": "values",
    "cost": "costs",
    "kernel": "kernel",
    "rebatch": "batch",
    "resize": "size",
    "torch": "PyTorch",
    "integer": "integer",
}
"""Aspect → head of its column."""
HEAD = """# Operators

The table has every operator that ONNX {version} defines, and every other operator that a part of ONNX
Autodoc has a rule for. It is generated from the registries of the rules.

- **Shapes**: *symbols* means a rule that follows symbolic dimensions; *ONNX* means that ONNX's own
  inference of the single node is used. Without either, the shapes that the file itself states are used.
- **Values**: small values, such as dimensions, are computed through it, so that later shapes are known.
- **Costs**: *MACs* means a rule with multiply-accumulates, *yes* a rule without them. The cost of an
  operator without a rule is unknown, and the coverage of the totals says so. Functions that a model
  defines are expanded and need no rule.
- **Kernel**: the [latency estimate](../hardware.md) knows how it runs; otherwise its time is unknown.
- **Batch** and **size**: [`rebatch`](../rebatch.md) and [`resize`](../resize.md) have a rule for it.
- **PyTorch**: [`to-torch`](../to-torch.md) writes the operator as PyTorch code.
- **Integer**: the [quantized reference](../opdocs.md) computes the operator bit for bit.

"""


def operators_page() -> str:
    """Markdown."""
    unknown = set(SHOWN) - {one.id for one in ASPECTS}
    if unknown:
        raise ValueError(f"no such aspects: {', '.join(sorted(unknown))}")
    native = {
        (one.domain, one.name)
        for one in onnx.defs.get_all_schemas()
        if one.has_type_and_shape_inference_function
    }
    found = coverage()
    columns = f"| operator | {' | '.join(SHOWN.values())} |\n|{'---|' * (len(SHOWN) + 1)}\n"
    parts = [HEAD.format(version=onnx.__version__)]
    for domain in dict.fromkeys(one.domain for one in found):
        members = [one for one in found if one.domain == domain]
        rows = "".join(_row(one, native) for one in members)
        costed = sum("cost" in one.links for one in members)
        count = f"{len(members)} operators, {costed} of them with a cost rule."
        parts.append(f"## {domain or 'ai.onnx'}\n\n{count}\n\n{columns}{rows}\n")
    return "".join(parts).rstrip() + "\n"


def _row(operator: Operator, native: set[tuple[str, str]]) -> str:
    return f"| `{operator.type}` | {' | '.join(_cell(operator, aspect, native) for aspect in SHOWN)} |\n"


def _cell(operator: Operator, aspect: str, native: set[tuple[str, str]]) -> str:
    key = operator.domain, operator.type
    if aspect not in operator.links:
        return "ONNX" if aspect == "shape" and key in native else ""
    if aspect == "shape":
        return "symbols"
    return "MACs" if aspect == "cost" and carries_macs(*key) else "yes"
