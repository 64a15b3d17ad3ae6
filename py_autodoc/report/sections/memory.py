"""Memory: live tensors at the peak, weights and activations by kind."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import (
    Block,
    Figure,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)
from py_autodoc.units import shape

MAX_USERS = 4
"""Layers named for a weight that several use."""
MAX_ROWS = 10


def section(context: SectionContext) -> Section:
    """Return the peak with its tensors, weights by type, and the largest tensors."""
    memory, blocks = context.report.memory, list[Block]()
    peak = memory.peak
    if peak is None:
        reason = memory.reason or "unknown"
        blocks.append(Paragraph(("— (", reason, ")"), "Peak"))
    else:
        location: Line = (" before the first layer.",)
        if peak.nodes:
            location = (
                " in ",
                context.layer_name(peak.nodes[-1]),
                ", step ",
                Value(peak.step + 1),
                " of ",
                Value(memory.steps, "exact", "/memory/steps"),
                ".",
            )
        blocks.append(
            Paragraph((Value(peak.bytes, "size", "/memory/peak/bytes"), *location), "Peak of activations")
        )
        rows = tuple(
            (
                (Name(entry.name),),
                (entry.elem_type,),
                (Name(shape(entry.shape)),),
                (Value(entry.bytes, "size", f"/memory/peak/tensors/{index}/bytes"),),
            )
            for index, entry in enumerate(peak.tensors[:MAX_ROWS])
        )
        if rows:
            omitted = max(0, len(peak.tensors) - MAX_ROWS) + peak.others
            blocks.append(Table(("Tensor", "Type", "Shape", "Bytes"), rows, omitted, "Live at the peak"))
        blocks.append(Figure("memory", "Live activation bytes over time"))
    weights = memory.weights
    if weights is not None and weights.by_dtype:
        types = tuple(
            (
                (
                    entry.elem_type
                    + (f", {entry.bits_per_weight} bits per weight" if entry.bits_per_weight else ""),
                ),
                (Value(entry.tensors, "exact", f"/memory/weights/by_dtype/{index}/tensors"),),
                (Value(entry.params, "count", f"/memory/weights/by_dtype/{index}/params"),),
                (Value(entry.bytes, "size", f"/memory/weights/by_dtype/{index}/bytes"),),
            )
            for index, entry in enumerate(weights.by_dtype)
        )
        blocks.append(Table(("Type", "Tensors", "Parameters", "Bytes"), types, title="Weights by type"))
    blocks += _shared(context)
    blocks.append(
        Paragraph(
            ("The peak applies to the file's execution order. A runtime may take 0.7 to 2.5 times as much.",)
        )
    )
    return Section("memory", "Memory", tuple(blocks))


def _shared(context: SectionContext) -> list[Block]:
    """Return the table of weights that several layers use."""
    report = context.report
    rows = tuple(
        (
            (Name(weight.name),),
            (Name(shape(weight.shape)),),
            (Value(weight.params, "count", f"/shared_weights/{index}/params"),),
            (Name(", ".join(weight.layer_names[:MAX_USERS])), _others(len(weight.layers))),
        )
        for index, weight in enumerate(report.shared_weights[:MAX_ROWS])
    )
    if not rows:
        return []
    omitted = max(0, report.num_shared_weights - len(rows))
    return [Table(("Weight", "Shape", "Parameters", "Layers"), rows, omitted, "Shared weights, counted once")]


def _others(users: int) -> str:
    return f" and {users - MAX_USERS:,} more" if users > MAX_USERS else ""
