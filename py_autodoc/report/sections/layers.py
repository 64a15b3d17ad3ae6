"""The heaviest layers."""

from __future__ import annotations

from py_autodoc.metrics import BY_ID, shown, words
from py_autodoc.report.builders.node_numbers import layer_in_inference, layer_number
from py_autodoc.report.document.report import Report
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

    most = MAX_ROWS if context.max_layers is None else context.max_layers
    latency = _latencies(report)
    heavy = [layer for layer in sorted(report.layers, key=lambda layer: -weight(layer)) if weight(layer)]
    if not heavy or not total:
        return None
    rows: tuple[tuple[Line, ...], ...] = tuple(
        (
            (Name(layer.name),),
            (Name(layer.type),),
            (Name(shape(layer.input_shape)),),
            (Name(shape(layer.output_shape)),),
            *((Value(layer_number(layer, metric), metric.written),) for metric in shown("layers")),
            (Value(weight(layer) / total, "share"),),
            (Value(layer_number(layer, BY_ID["activation_bytes"]), "size"),),
            *(((Value(latency.get(layer.id), "seconds"),),) if latency else ()),
        )
        for layer in heavy[:most]
    )
    by = words("macs" if by_macs else "params")
    head = (
        "Layer",
        "Type",
        "Input",
        "Output",
        *(metric.label for metric in shown("layers")),
        f"Share of {by}",
        BY_ID["activation_bytes"].head,
        *(("Latency",) if latency else ()),
    )
    blocks: list[Block] = [Table(head, rows, max(0, len(heavy) - most))] if rows else []
    blocks += [
        Figure("depth", "Cumulative parameters and MACs over depth"),
        Figure("parameters", "Distribution of parameters"),
        Figure("shapes", "Output dimensions over depth"),
    ]
    return Section("layers", f"Heaviest layers by {by}", tuple(blocks))


def _latencies(report: Report) -> dict[int, float]:
    """Return the seconds of each layer whose time is estimated; of fused layers one has the time of all."""
    estimates = report.hardware_estimates
    kernels = () if estimates is None else estimates.layers
    return {one.layer: one.latency_ms / 1e3 for one in kernels if one.latency_ms is not None}
