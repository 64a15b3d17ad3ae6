"""Text descriptions of a candidate."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc import units
from py_autodoc.recommend.schema import DeviceCandidate

_BOUNDS = {
    "compute": "compute-bound",
    "memory_bandwidth": "memory-bound",
    "kernel_overhead": "launch-bound",
}
_SECOND = 1_000.0
_THOUSAND = 1_000.0


def reason(found: DeviceCandidate, misses: Sequence[str]) -> str:
    """Return ``fits, 6.4 of 22.0 GB; 4.1 ms (2.7 to 6.1 ms); memory-bound``, then missed targets."""
    copies = "" if found.devices == 1 else f"{found.devices} devices, a copy of the model on each"
    parts = [copies, _memory(found)]
    if found.estimated_latency_ms is not None:
        low, high = found.latency_low_ms, found.latency_high_ms
        likely = low is not None and high is not None
        band = f" ({units.seconds_range(low / 1e3, high / 1e3)})" if likely else ""  # type: ignore[operator]
        parts.append(f"{milliseconds_text(found.estimated_latency_ms)}{band}")
    parts.append(_BOUNDS.get(found.bottleneck, ""))
    parts.extend(misses)
    return "; ".join(text for text in parts if text)


def milliseconds_text(value: float | None) -> str:
    """Return a time that is given in milliseconds; a second and more is in seconds."""
    if value is None or value >= _SECOND:
        return units.seconds(None if value is None else value / 1e3)
    return f"{value:.3g} ms"


def rate_text(value: float) -> str:
    """Return items per second without an exponent: ``35.8``, ``1,357``, ``129,900``."""
    return f"{value:,.0f}" if value >= _THOUSAND else f"{value:.4g}"


def _memory(found: DeviceCandidate) -> str:
    needed, available = found.vram_required_gb, found.vram_gb
    if needed is None:
        return "required memory unknown"
    if available is None:
        return f"{needed:.2g} GB; device memory unknown"
    verb = "fits" if found.fits else "does not fit"
    return f"{verb}, {_gb(needed)} of {_gb(available)} GB"


def _gb(size: float) -> str:
    return f"{size:.1f}" if size >= 0.1 else f"{size:.2g}"
