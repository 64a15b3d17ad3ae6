"""A sensitivity measurement as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from py_autodoc.int8_kernels.text import SATURATING_HERE, decibels
from py_autodoc.sensitivity.document import CurvePoint, Quality, Sensitivity
from py_autodoc.units import plural, size

MAX_LISTED = 20
"""Number of layers listed by default."""
_WIDTH = 44
"""Maximum width of the column of layers."""
_NOT_MEASURED = "not measured: the time budget was exhausted"
_METRICS = {"kl": "KL divergence", "relative_error": "relative error"}


def sensitivity_lines(result: Sensitivity, every_layer: bool = False) -> Iterator[str]:
    """Yield the score with all layers quantized, the ranking of the layers, the curve and the choice."""
    channels = "one scale per channel" if result.per_channel else "one scale"
    yield (
        f"{result.model}: {result.measured} of {plural(len(result.layers), 'layer')} measured, "
        f"{result.activations} activations, {result.weights} weights ({channels})."
    )
    yield f"Data: {plural(result.samples, 'sample')}, {result.data}. Compared output: {result.output}."
    if result.all_quantized is not None:
        yield f"All layers quantized: {quality_text(result.all_quantized)}"
    yield from kernel_lines(result)
    yield ""
    yield f"Each layer quantized alone, most sensitive first (by {_METRICS[result.metric]})"
    listed = result.layers if every_layer else result.layers[:MAX_LISTED]
    names = [_shorten(f"{layer.name} ({layer.op})") for layer in listed]
    width = max(map(len, names), default=0)
    for name, layer in zip(names, listed, strict=True):
        rank = "  –" if layer.rank is None else f"{layer.rank:3}"
        text = _NOT_MEASURED if layer.quality is None else quality_text(layer.quality)
        yield f"{rank} {name:<{width}}  {text}"
    if len(result.layers) > len(listed):
        yield f"    and {len(result.layers) - len(listed)} more (--all)"
    if result.curve:
        yield ""
        yield "The most sensitive layers kept in float"
        for point in result.curve:
            yield f"{point.float_layers:3} float  {_point(point)}"
        if result.device:
            yield f"Latencies: estimates for {result.device}, with each kernel in the precision of its layer."
        if result.measured_float_ms is not None:
            yield (
                f"Measured on {result.measured_on}: latency of the files that `quantize` creates with "
                f"these layers in float. The float model takes {result.measured_float_ms:.3g} ms."
            )
    if result.choice is not None:
        yield ""
        layers = ", ".join(result.choice.float_layers) or "none"
        count = plural(result.choice.point.float_layers, "float layer")
        missed = "not reached, even with all layers in float"
        if result.choice.written is not None:
            missed = f"not reached by a file with {count}"
        reached = count if result.choice.reached else missed
        yield f"{result.choice.target}: {reached} ({_point(result.choice.point)})"
        if result.choice.written is not None:
            yield f"The file that `quantize` writes with them: {quality_text(result.choice.written)}"
        elif result.choice.not_checked:
            yield f"The target was not checked on a file: {result.choice.not_checked}."
        yield f"Keep in float: {layers}"


def kernel_lines(result: Sensitivity) -> Iterator[str]:
    """Yield how products are computed, and what integer kernels make of them here."""
    saturates = result.weights == "s8"
    text = "Products are computed in float"
    if not saturates or not result.kernels_here:
        yield f"{text}."
    elif result.kernels_here == "exact":
        yield f"{text}. Int8 sums are exact on this processor; without VNNI those of u8 and s8 saturate."
    else:
        yield f"{text}; {SATURATING_HERE}."
    written = result.written
    if written is not None and written.not_measured:
        yield f"The file that `quantize` writes: not measured ({written.not_measured})."
    elif written is not None:
        figures = f"{decibels(written.here_db)} here, {decibels(written.exact_db)} with exact int8 sums"
        yield f"The file that `quantize` writes: {figures}."


def quality_text(quality: Quality) -> str:
    """Return decibels or relative error, divergence and agreement as text."""
    if math.isinf(quality.relative_error):
        return "NaN or infinity in the results"
    parts = ["equal" if quality.sqnr_db is None else f"SQNR {quality.sqnr_db:.1f} dB"]
    if quality.kl is not None:
        parts.append(f"KL {quality.kl:.2g}")
    if quality.agreement is not None:
        parts.append(f"top-1 agreement {quality.agreement:.1%}")
    return ", ".join(parts)


def _point(point: CurvePoint) -> str:
    latency = "" if point.latency_ms is None else f", {point.latency_ms:.3g} ms"
    measured = "" if point.measured_ms is None else f", measured {point.measured_ms:.3g} ms"
    return f"{quality_text(point.quality)}, weights {size(point.weight_bytes)}{latency}{measured}"


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
