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

MAX_ROWS = 20


def section(context: SectionContext) -> Section | None:
    """Return the quantization, and the layers without it."""
    info = context.report.architecture.quantization
    if info is None:
        return None
    line = quantization_line(context.report)
    blocks: list[Block] = [Paragraph((line or "none", "."), "Quantization")]
    if info.quantized:
        pointer = "/architecture/quantization"
        rows = (
            (("Layers with quantized weights",), (Value(info.layers, "exact", f"{pointer}/layers"),)),
            (("Layers with weights",), (Value(info.layers_total, "exact", f"{pointer}/layers_total"),)),
            (("Share of the MACs",), (Value(info.macs_share, "share", f"{pointer}/macs_share"),)),
        )
        blocks.append(Table(("Quantization", "Value"), rows))
        names = tuple((context.layer_name(node),) for node in info.not_quantized[:MAX_ROWS])
        if names:
            blocks.append(Items(names, "Layers with weights that are not quantized"))
    return Section("precision", "Precision", tuple(blocks))
