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

AT = "/quantization"


def section(context: SectionContext) -> Section | None:
    """Return recommendations, sensitive layers and the recommended mixture; None without measurements."""
    made = context.report.quantization
    if made is None:
        return None
    blocks: list[Block] = [
        Items(tuple((text,) for text in made.recommendations)),
        Paragraph(
            (
                "Measured with ", Value(made.samples, "exact", f"{AT}/samples"), " samples (",
                Name(made.data), ") at the output ", Name(made.output), ": ",
                Value(made.layers_measured, "exact", f"{AT}/layers_measured"), " of ",
                Value(made.layers_total, "exact", f"{AT}/layers_total"),
                " layers, each quantized alone (", f"{made.activations} data, {made.weights} weights", ").",
            )
        ),
    ]  # fmt: skip
    if made.sensitive_layers:
        blocks.append(_layers(made))
    if made.engine is not None:
        blocks.append(_engine(made.engine))
    return Section("quantization", "Quantization recommendations", tuple(blocks))


def _layers(made: QuantizationAdvice) -> Table:
    rows = []
    for at, one in enumerate(made.sensitive_layers):
        here = f"{AT}/sensitive_layers/{at}"
        rows.append(
            (
                (Name(one.layer),), (one.quantization,), _number(one.sqnr_db, 1, " dB"),
                (Value(one.accuracy_drop, "share", f"{here}/accuracy_drop"),), (one.recommendation,),
            )
        )  # fmt: skip
    head = ("Sensitive layer", "Quantized to", "SQNR", "Largest score moved", "Recommendation")
    return Table(head, tuple(rows))


def _engine(one: EngineSummary) -> Table:
    here = f"{AT}/engine"
    rows: list[tuple[Line, Line]] = [
        (("Layers with weights",), (Value(one.layers, "exact", f"{here}/layers"),)),
        (("In float",), (Value(one.float_layers, "exact", f"{here}/float_layers"),)),
        (("Quantized",), (Value(one.quantized_layers, "exact", f"{here}/quantized_layers"),)),
        (("Weights",), (Value(one.weight_bytes, "size", f"{here}/weight_bytes"),)),
        (("Weights in float",), (Value(one.float_weight_bytes, "size", f"{here}/float_weight_bytes"),)),
    ]
    if one.latency_ms is not None:
        said = f" ({one.latency_source}, {one.device})"
        rows.append(((f"Latency{said}",), _number(one.latency_ms, 3, " ms")))
        rows.append((("Latency in float",), _number(one.float_latency_ms, 3, " ms")))
        rows.append((("Speed-up",), _number(one.speedup, 2, "×")))
    rows.append((("SQNR",), _number(one.sqnr_db, 1, " dB")))
    if one.agreement is not None:
        rows.append((("Largest score as in float",), (Value(one.agreement, "share", f"{here}/agreement"),)))
    return Table(("Engine summary", "Value"), tuple(rows))


def _number(value: float | None, digits: int, unit: str) -> Line:
    """Return a number with its unit; a dash if missing."""
    return (f"{value:.{digits}f}{unit}" if value is not None else "—",)
