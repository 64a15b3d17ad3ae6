"""Precision and quantization."""

from __future__ import annotations

from py_autodoc.report.document.architecture_text import quantization_line
from py_autodoc.report.sections.section_model import (
    Block,
    Items,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

MOST = 20


def section(context: SectionContext) -> Section | None:
    """Return the quantization, and the layers without it."""
    made = context.report.architecture.quantization
    if made is None:
        return None
    line = quantization_line(context.report)
    blocks: list[Block] = [Paragraph((line or "none", "."), "Quantization")]
    if made.quantized:
        at = "/architecture/quantization"
        rows = (
            (("Layers with quantized weights",), (Value(made.layers, "exact", f"{at}/layers"),)),
            (("Layers with weights",), (Value(made.layers_total, "exact", f"{at}/layers_total"),)),
            (("Share of the MACs",), (Value(made.macs_share, "share", f"{at}/macs_share"),)),
        )
        blocks.append(Table(("Quantization", "Value"), rows))
        names = tuple((context.layer_name(node),) for node in made.not_quantized[:MOST])
        if names:
            blocks.append(Items(names, "Layers with weights that are not quantized"))
    return Section("precision", "Precision", tuple(blocks))
