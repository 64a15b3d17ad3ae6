"""A sensitivity measurement as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from py_autodoc.sensitivity.document import CurvePoint, Quality, Sensitivity
from py_autodoc.units import plural, size

SHOWN = 20
"""Number of layers listed by default."""
_WIDTH = 44


def sensitivity_lines(found: Sensitivity, every: bool = False) -> Iterator[str]:
    """Yield lines about all layers quantized, the ranking, the curve and the choice."""
    channels = "one scale per channel" if found.per_channel else "one scale"
    yield (
        f"{found.model}: {found.measured} of {plural(len(found.layers), 'layer')} measured, "
        f"{found.activations} data, {found.weights} weights ({channels})."
    )
    yield f"Data: {plural(found.samples, 'sample')}, {found.data}. Compared: {found.output}."
    if found.all_quantized is not None:
        yield f"All of them quantized: {quality_text(found.all_quantized)}."
    yield ""
    yield f"Each quantized alone, the most sensitive first (by {found.metric.replace('_', ' ')})"
    listed = found.layers if every else found.layers[:SHOWN]
    for one in listed:
        rank = "  –" if one.rank is None else f"{one.rank:3}"
        said = "not measured: the time was over" if one.quality is None else quality_text(one.quality)
        yield f"{rank} {_cut(f'{one.name} ({one.op})'):<{_WIDTH}}  {said}"
    if len(found.layers) > len(listed):
        yield f"    and {len(found.layers) - len(listed)} more (--all)"
    if found.curve:
        yield ""
        yield "The most sensitive ones kept float"
        for point in found.curve:
            yield f"{point.float_layers:3} float  {_point(point)}"
        if found.device:
            yield f"Latencies: estimates for {found.device}, each kernel in the precision of its layer."
        if found.measured_float_ms is not None:
            yield (
                f"Measured on {found.measured_on}: medians of the files that `quantize` makes with these "
                f"layers in float, run in turn. The float model takes {found.measured_float_ms:.3g} ms."
            )
    if found.choice is not None:
        yield ""
        kept = ", ".join(found.choice.float_layers) or "none"
        count = plural(found.choice.point.float_layers, "float layer")
        reached = f"{count}" if found.choice.reached else "not reached, with every layer float"
        yield f"{found.choice.target}: {reached}. {_point(found.choice.point)}."
        yield f"Keep float: {kept}"


def quality_text(one: Quality) -> str:
    """Return decibels or relative error, divergence and agreement as text."""
    if math.isinf(one.relative_error):
        return "NaN or infinity in the results"
    parts = ["equal" if one.sqnr_db is None else f"SQNR {one.sqnr_db:.1f} dB"]
    if one.kl is not None:
        parts.append(f"KL {one.kl:.2g}")
    if one.agreement is not None:
        parts.append(f"agreement {one.agreement:.1%}")
    return ", ".join(parts)


def _point(one: CurvePoint) -> str:
    latency = "" if one.latency_ms is None else f", {one.latency_ms:.3g} ms"
    measured = "" if one.measured_ms is None else f", measured {one.measured_ms:.3g} ms"
    return f"{quality_text(one.quality)}, weights {size(one.weight_bytes)}{latency}{measured}"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
