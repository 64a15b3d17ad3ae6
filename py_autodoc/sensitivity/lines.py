"""A sensitivity measurement as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from py_autodoc.sensitivity.document import CurvePoint, Quality, Sensitivity
from py_autodoc.units import plural, size

SHOWN = 20
"""Number of layers listed by default."""
_WIDTH = 44
"""Maximum width of the column of layers."""
_NOT_MEASURED = "not measured: the time budget was exhausted"
_METRICS = {"kl": "KL divergence", "relative_error": "relative error"}


def sensitivity_lines(found: Sensitivity, every_layer: bool = False) -> Iterator[str]:
    """Yield the score with all layers quantized, the ranking of the layers, the curve and the choice."""
    channels = "one scale per channel" if found.per_channel else "one scale"
    yield (
        f"{found.model}: {found.measured} of {plural(len(found.layers), 'layer')} measured, "
        f"{found.activations} activations, {found.weights} weights ({channels})."
    )
    yield f"Data: {plural(found.samples, 'sample')}, {found.data}. Compared output: {found.output}."
    if found.all_quantized is not None:
        yield f"All layers quantized: {quality_text(found.all_quantized)}"
    yield ""
    yield f"Each layer quantized alone, most sensitive first (by {_METRICS[found.metric]})"
    listed = found.layers if every_layer else found.layers[:SHOWN]
    names = [_shorten(f"{layer.name} ({layer.op})") for layer in listed]
    width = max(map(len, names), default=0)
    for name, layer in zip(names, listed, strict=True):
        rank = "  –" if layer.rank is None else f"{layer.rank:3}"
        result = _NOT_MEASURED if layer.quality is None else quality_text(layer.quality)
        yield f"{rank} {name:<{width}}  {result}"
    if len(found.layers) > len(listed):
        yield f"    and {len(found.layers) - len(listed)} more (--all)"
    if found.curve:
        yield ""
        yield "The most sensitive layers kept in float"
        for point in found.curve:
            yield f"{point.float_layers:3} float  {_point(point)}"
        if found.device:
            yield f"Latencies: estimates for {found.device}, with each kernel in the precision of its layer."
        if found.measured_float_ms is not None:
            yield (
                f"Measured on {found.measured_on}: median latency of the files that `quantize` creates with "
                f"these layers in float. The float model takes {found.measured_float_ms:.3g} ms."
            )
    if found.choice is not None:
        yield ""
        kept = ", ".join(found.choice.float_layers) or "none"
        count = plural(found.choice.point.float_layers, "float layer")
        reached = count if found.choice.reached else "not reached, even with all layers in float"
        yield f"{found.choice.target}: {reached} ({_point(found.choice.point)})"
        yield f"Keep in float: {kept}"


def quality_text(one: Quality) -> str:
    """Return decibels or relative error, divergence and agreement as text."""
    if math.isinf(one.relative_error):
        return "NaN or infinity in the results"
    parts = ["equal" if one.sqnr_db is None else f"SQNR {one.sqnr_db:.1f} dB"]
    if one.kl is not None:
        parts.append(f"KL {one.kl:.2g}")
    if one.agreement is not None:
        parts.append(f"top-1 agreement {one.agreement:.1%}")
    return ", ".join(parts)


def _point(one: CurvePoint) -> str:
    latency = "" if one.latency_ms is None else f", {one.latency_ms:.3g} ms"
    measured = "" if one.measured_ms is None else f", measured {one.measured_ms:.3g} ms"
    return f"{quality_text(one.quality)}, weights {size(one.weight_bytes)}{latency}{measured}"


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
