"""The heaviest layers."""

from __future__ import annotations

from py_autodoc.metrics import shown, words
from py_autodoc.report.builders.node_numbers import layer_in_inference, layer_number
from py_autodoc.report.schema import Layer
from py_autodoc.report.sections.section_model import (
    Block,
    Figure,
    Line,
    Name,
    Section,
    SectionContext,
    Table,
    Value,
)
from py_autodoc.units import shape

MAX_ROWS = 20


def section(context: SectionContext) -> Section | None:
    """Return the layers with most MACs (parameters if MACs are unknown), with costs of one inference."""
    report = context.report
    by_macs = bool(report.metrics.total_macs)
    total = report.metrics.total_macs if by_macs else report.metrics.total_params

    def weight(layer: Layer) -> int:
        return (layer_in_inference(layer, "macs") if by_macs else layer.params) or 0

    heavy = [layer for layer in sorted(report.layers, key=lambda layer: -weight(layer)) if weight(layer)]
    if not heavy or not total:
        return None
    rows: tuple[tuple[Line, ...], ...] = tuple(
        (
            (Name(layer.name),),
            (Name(layer.type),),
            (Name(shape(layer.output_shape)),),
            *((Value(layer_number(layer, metric), metric.written),) for metric in shown("layers")),
            (Value(weight(layer) / total, "share"),),
        )
        for layer in heavy[:MAX_ROWS]
    )
    by = words("macs" if by_macs else "params")
    head = ("Layer", "Type", "Output", *(metric.label for metric in shown("layers")), f"Share of {by}")
    blocks: list[Block] = [Table(head, rows, max(0, len(heavy) - MAX_ROWS))]
    blocks += [
        Figure("depth", "Cumulative parameters and MACs over depth"),
        Figure("parameters", "Distribution of parameters"),
        Figure("shapes", "Output dimensions over depth"),
    ]
    return Section("layers", f"Heaviest layers by {by}", tuple(blocks))
