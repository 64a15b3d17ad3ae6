"""Which layers to quantize."""

from __future__ import annotations

from py_autodoc.report.schema import EngineSummary, QuantizationAdvice
from py_autodoc.report.sections.section_model import (
    Block,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

POINTER = "/quantization"


def section(context: SectionContext) -> Section | None:
    """Return recommendations, sensitive layers and the recommended mixture; None without measurements."""
    advice = context.report.quantization
    if advice is None:
        return None
    blocks: list[Block] = [
        Items(tuple((text,) for text in advice.recommendations)),
        Paragraph(
            (
                "Measured with ",
                Value(advice.samples, "exact", f"{POINTER}/samples"),
                " samples (",
                Name(advice.data),
                ") at the output ",
                Name(advice.output),
                ": ",
                Value(advice.layers_measured, "exact", f"{POINTER}/layers_measured"),
                " of ",
                Value(advice.layers_total, "exact", f"{POINTER}/layers_total"),
                " layers, each quantized alone (",
                f"{advice.activations} activations, {advice.weights} weights",
                ").",
            )
        ),
    ]
    if advice.sensitive_layers:
        blocks.append(_layers(advice))
    if advice.engine is not None:
        blocks.append(_engine(advice.engine))
    return Section("quantization", "Quantization recommendations", tuple(blocks))


def _layers(advice: QuantizationAdvice) -> Table:
    rows = []
    for index, layer in enumerate(advice.sensitive_layers):
        pointer = f"{POINTER}/sensitive_layers/{index}"
        rows.append(
            (
                (Name(layer.layer),),
                (layer.quantization,),
                _number(layer.sqnr_db, 1, " dB"),
                (Value(layer.accuracy_drop, "share", f"{pointer}/accuracy_drop"),),
                (layer.recommendation,),
            )
        )
    head = ("Sensitive layer", "Quantized to", "SQNR", "Largest score moved", "Recommendation")
    return Table(head, tuple(rows))


def _engine(engine: EngineSummary) -> Table:
    pointer = f"{POINTER}/engine"
    rows: list[tuple[Line, Line]] = [
        (("Layers with weights",), (Value(engine.layers, "exact", f"{pointer}/layers"),)),
        (("In float",), (Value(engine.float_layers, "exact", f"{pointer}/float_layers"),)),
        (("Quantized",), (Value(engine.quantized_layers, "exact", f"{pointer}/quantized_layers"),)),
        (("Weights",), (Value(engine.weight_bytes, "size", f"{pointer}/weight_bytes"),)),
        (("Weights in float",), (Value(engine.float_weight_bytes, "size", f"{pointer}/float_weight_bytes"),)),
    ]
    if engine.latency_ms is not None:
        source = f" ({engine.latency_source}, {engine.device})"
        rows.append(((f"Latency{source}",), _number(engine.latency_ms, 3, " ms")))
        rows.append((("Latency in float",), _number(engine.float_latency_ms, 3, " ms")))
        rows.append((("Speed-up",), _number(engine.speedup, 2, "×")))
    rows.append((("SQNR",), _number(engine.sqnr_db, 1, " dB")))
    if engine.agreement is not None:
        rows.append(
            (("Largest score as in float",), (Value(engine.agreement, "share", f"{pointer}/agreement"),))
        )
    return Table(("Engine summary", "Value"), tuple(rows))


def _number(value: float | None, digits: int, unit: str) -> Line:
    """Return a number with its unit; a dash if missing."""
    return (f"{value:.{digits}f}{unit}" if value is not None else "—",)
