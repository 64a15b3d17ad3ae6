"""Text descriptions of a candidate."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.sweep.schema import SweepPoint

_BOUNDS = {
    "compute": "compute-bound",
    "memory_bandwidth": "memory-bound",
    "kernel_overhead": "launch-bound",
}


def reason(point: SweepPoint, misses: Sequence[str]) -> str:
    """Return ``fits, 6.4 of 22.0 GB; 4.1 ms (2.7–6.1); memory-bound``, followed by missed targets."""
    parts = [_memory(point)]
    if point.latency_ms is not None:
        low, high = point.latency_low_ms, point.latency_high_ms
        band = f" ({low:.3g}–{high:.3g})" if low is not None and high is not None else ""
        parts.append(f"{point.latency_ms:.3g} ms{band}")
    parts.append(_BOUNDS.get(point.bottleneck, ""))
    parts.extend(misses)
    return "; ".join(text for text in parts if text)


def _memory(point: SweepPoint) -> str:
    needed, available = point.memory_bytes, point.available_bytes
    if needed is None:
        return "required memory unknown"
    if available is None:
        return f"{needed / 1e9:.2g} GB; device memory unknown"
    verb = "fits" if point.fits else "does not fit"
    return f"{verb}, {_gb(needed)} of {_gb(available)} GB"


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f}" if size >= 1e8 else f"{size / 1e9:.2g}"
