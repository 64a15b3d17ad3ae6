"""The page of operators: which part of ONNX Autodoc has a rule for which operator, from the registries."""

from __future__ import annotations

from collections.abc import Mapping

import onnx.defs

from py_autodoc.costs import rules as _costs  # noqa: F401 - registers the rules
from py_autodoc.costs.registry import carries_macs, registered
from py_autodoc.graph.rebatch import rules as _rebatch  # noqa: F401
from py_autodoc.graph.rebatch.trace import RULES as REBATCH
from py_autodoc.graph.resize import rules as _resize  # noqa: F401
from py_autodoc.graph.resize.walk import RULES as RESIZE
from py_autodoc.graph.shapes import infer as _shapes  # noqa: F401
from py_autodoc.graph.shapes.core import RULES as SHAPES
from py_autodoc.quantize.reference.operators import OPERATORS as QUANTIZED
from py_autodoc.to_torch.registry import rules as torch_rules

PAGE = "reference/operators.md"
Key = tuple[str, str]
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
- **Integer**: the [quantized reference](../opdocs.md) computes the operator bit for bit.

"""


_COLUMNS = "| operator | shapes | costs | batch | size | PyTorch | integer |\n|---|---|---|---|---|---|---|\n"


def operators_page() -> str:
    """Markdown."""
    defined: Mapping[Key, onnx.defs.OpSchema] = {
        (one.domain, one.name): one for one in onnx.defs.get_all_schemas() if not one.deprecated
    }
    torch = torch_rules()
    keys = {*defined, *registered(), *SHAPES, *REBATCH, *RESIZE, *torch}
    parts = [HEAD.format(version=onnx.__version__)]
    for domain in sorted({domain for domain, _ in keys}):
        names = sorted(name for other, name in keys if other == domain)
        rows = "".join(_row((domain, name), defined, torch) for name in names)
        parts.append(f"## {domain or 'ai.onnx'}\n\n{_summary(domain, names)}\n\n{_COLUMNS}{rows}\n")
    return "".join(parts).rstrip() + "\n"


def _summary(domain: str, names: list[str]) -> str:
    with_cost = sum((domain, name) in registered() for name in names)
    return f"{len(names)} operators, {with_cost} of them with a cost rule."


def _row(key: Key, defined: Mapping[Key, onnx.defs.OpSchema], torch: Mapping[Key, object]) -> str:
    schema = defined.get(key)
    native = schema is not None and schema.has_type_and_shape_inference_function
    shapes = "symbols" if key in SHAPES else "ONNX" if native else ""
    costs = "MACs" if carries_macs(*key) else "yes" if key in registered() else ""
    others = (key in REBATCH, key in RESIZE, key in torch, _quantized(key))
    marks = ["yes" if found else "" for found in others]
    return f"| `{key[1]}` | {' | '.join([shapes, costs, *marks])} |\n"


def _quantized(key: Key) -> bool:
    return key[1] in QUANTIZED and key[0] in ("", "com.microsoft")
