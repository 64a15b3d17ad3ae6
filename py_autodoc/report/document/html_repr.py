"""The notebook display of a report: one HTML fragment without scripts or external resources.

All text from the model is escaped. Colours follow the notebook's theme if it has one.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from py_autodoc.metrics import BY_ID
from py_autodoc.report.builders.node_numbers import layer_in_inference
from py_autodoc.report.encode.total_texts import strip
from py_autodoc.report.pipeline.rule_settings import describe_rule_settings
from py_autodoc.units import count, exact, seconds, shape, share, size

if TYPE_CHECKING:
    from py_autodoc.report.schema import HardwareEstimates, Identity, Layer, ReportFields

TOP_LAYERS = 8
TOP_FINDINGS = 6
_MAX_CHARACTERS = 80
_TEXT = "var(--jp-content-font-color1, inherit)"
_FAINT = "var(--jp-content-font-color2, #6b7280)"
_LINE = "var(--jp-border-color2, #c8ccd2)"
_BAR = "var(--jp-brand-color1, #2f6fb5)"
_SEVERITY = {"high": "#b3261e", "medium": "#a05a00", "low": "#51606f", "info": "#51606f"}


def report_html(report: ReportFields) -> str:
    """Return title, totals, heaviest layers with their share, and findings, most severe first."""
    return "".join(
        (
            f'<div class="onnx-autodoc" style="color:{_TEXT};font-size:13px;max-width:900px">',
            _title(report),
            _totals(report),
            _layers(report),
            _findings(report),
            "</div>",
        )
    )


def _cut(text: str) -> str:
    return escape(text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…")


def _title(report: ReportFields) -> str:
    model = report.model
    opsets = ", ".join(f"{item.domain} {item.version}" for item in model.opset_imports[:4])
    maker = f"{model.producer_name} {model.producer_version}".strip()
    facts = [
        maker,
        opsets,
        f"{exact(report.graph.num_nodes)} nodes",
        size(model.file_bytes + model.external_bytes),
    ]
    line = " · ".join(_cut(fact) for fact in facts if fact)
    name = f'<b style="font-size:15px">{_cut(model.name)}</b>'
    title = f'<div>{name} <span style="color:{_FAINT}">{line}</span></div>'
    return f"{_identity_html(report.identity)}{title}" if report.identity else title


def _identity_html(identity: Identity) -> str:
    """Return the model in words, with the evidence as tooltip."""
    evidence = "\n".join(f"{line.about}: {line.text}" for line in identity.evidence)
    return f'<div style="font-weight:600" title="{escape(evidence)}">{escape(identity.text)}</div>'


def _totals(report: ReportFields) -> str:
    tiles: list[tuple[str, str, str]] = [*strip(report)]
    if report.hardware_estimates is not None:
        tiles.append(_latency(report.hardware_estimates))
    cells = "".join(
        f'<div title="{escape(title)}"><div style="color:{_FAINT};font-size:11px">{_cut(label)}</div>'
        f'<div style="font-weight:600;font-size:16px">{escape(value)}</div></div>'
        for label, value, title in tiles
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px 28px;margin:8px 0">{cells}</div>'


def _latency(estimates: HardwareEstimates) -> tuple[str, str, str]:
    """Return the estimate on the chosen device with its likely range, or why there is none."""
    label = ", ".join(
        text for text in (BY_ID["latency"].label, estimates.device_name, estimates.precision) if text
    )
    if estimates.estimated_latency_ms is None:
        return label, seconds(None), estimates.reason
    low, time, high = (
        seconds(None if number is None else number / 1e3)
        for number in (estimates.latency_low_ms, estimates.estimated_latency_ms, estimates.latency_high_ms)
    )
    band = f"{low} to {high}, {estimates.label}"
    if estimates.unknown_kernels:
        return label, f"≥ {time}", f"known kernels {band}; {estimates.reason}"
    return label, time, band


def _weight(layer: Layer) -> int:
    """Return the MACs of one inference."""
    return layer_in_inference(layer, "macs") or 0


def _layers(report: ReportFields) -> str:
    top = sorted(report.layers, key=_weight, reverse=True)[:TOP_LAYERS]
    top = [layer for layer in top if _weight(layer)]
    if not top:
        return ""
    macs = BY_ID["macs"]
    heads = (
        "Layer",
        "Operator",
        "Output",
        BY_ID["params"].head,
        f"{macs.head} per inference",
        f"Share of {macs.label}",
    )
    head = "".join(f'<th style="text-align:left;padding:2px 14px 2px 0">{name}</th>' for name in heads)
    rows = "".join(_layer(layer, report.metrics.total_macs) for layer in top)
    return (
        f'<table style="border-collapse:collapse;font-size:13px;border-top:1px solid {_LINE}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _layer(layer: Layer, total: int | None) -> str:
    macs = _weight(layer)
    wide = round(90 * macs / total) if total else 0
    bar = f'<span style="display:inline-block;height:8px;width:{wide}px;background:{_BAR}"></span>'
    cells: Iterable[str] = (
        _cut(layer.name),
        _cut(layer.type),
        _cut(shape(layer.output_shape)),
        count(layer.params),
        count(macs),
        f"{bar} {escape(share(macs, total))}",
    )
    return "<tr>" + "".join(f'<td style="padding:2px 14px 2px 0">{cell}</td>' for cell in cells) + "</tr>"


def _findings(report: ReportFields) -> str:
    signals = report.risk_signals
    rules = describe_rule_settings(report.rule_settings)
    lines = [f'<li style="color:{_FAINT}">{escape(rules)}</li>'] if rules else []
    for signal in signals[:TOP_FINDINGS]:
        colour = _SEVERITY.get(signal.severity, _SEVERITY["info"])
        lines.append(
            f'<li><b style="color:{colour}">{escape(signal.severity)}</b> {escape(signal.description)} '
            f'<span style="color:{_FAINT}">{escape(signal.recommendation)}</span></li>'
        )
    if len(signals) > TOP_FINDINGS:
        lines.append(f"<li>{len(signals) - TOP_FINDINGS} more in <code>report.risk_signals</code></li>")
    return f'<ul style="margin:8px 0 0;padding-left:18px">{"".join(lines)}</ul>' if lines else ""
