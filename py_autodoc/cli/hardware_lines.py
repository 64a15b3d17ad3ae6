"""The lines of the terminal summary about the chosen device."""

from __future__ import annotations

from py_autodoc.render import units
from py_autodoc.render.text import printable, shorten
from py_autodoc.report.schema import HardwareEstimates, Report

NAME = 40
SLOWEST = 3
WIDTH = 400
"""Characters of a line: what is cut out of the middle would be numbers."""
_UNITS = ((1e-3, "s"), (1.0, "ms"), (1e3, "µs"))
_BOUNDS = {
    "compute": "mostly compute",
    "memory_bandwidth": "mostly memory bandwidth",
    "kernel_overhead": "mostly time between kernels",
}


def hardware_lines(report: Report) -> list[tuple[str, str]]:
    """(label, text) of each line: latency, its gaps, bound, slowest layers, memory; none without a device."""
    found = report.hardware_estimates
    if found is None:
        return []
    lines = [("Device", _device(found)), ("Latency", _latency(found))]
    if found.estimated_latency_ms is not None and found.reason:
        lines.append(("Left out", printable(found.reason)))
    if found.theoretical_latency_ms is not None:
        lines.append(("Bound", f"{duration(found.theoretical_latency_ms)} at full peak and bandwidth"))
    slowest = _slowest(found)
    if slowest:
        lines.append(("Slowest", slowest))
    if found.vram_required_bytes is not None:
        lines.append(("Memory", _memory(found)))
    return lines


def duration(milliseconds: float) -> str:
    """A time with three significant digits: ``1.30 ms``, ``870 µs``, ``2.41 s``, ``0.78 ns``, ``0 s``."""
    if not milliseconds:
        return "0 s"
    for factor, unit in _UNITS:
        if milliseconds * factor >= 0.9995:
            return f"{_three(milliseconds * factor)} {unit}"
    return f"{_three(milliseconds * 1e6)} ns"


def _three(number: float) -> str:
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:,.{digits}f}"


def _device(found: HardwareEstimates) -> str:
    parts = [shorten(printable(found.device_name), NAME), found.precision]
    if found.batch_size is not None:
        parts.append(f"batch {found.batch_size:,}")
    return " · ".join(part for part in parts if part)


def _latency(found: HardwareEstimates) -> str:
    low, high = found.latency_low_ms, found.latency_high_ms
    if found.estimated_latency_ms is None or low is None or high is None:
        return f"{units.UNKNOWN}  ({printable(found.reason)})"
    least, part = ("≥ ", "known part ") if found.unknown_kernels else ("", "")
    band = f"({part}{duration(low)} to {duration(high)}, {found.label})"
    parts = [
        f"{least}{duration(found.estimated_latency_ms)}  {band}",
        _BOUNDS.get(found.bottleneck, ""),
        f"{found.kernels:,} kernels of a fusing runtime",
    ]
    if found.unknown_kernels:
        parts.append(f"{found.unknown_kernels:,} of them unknown and left out")
    return " · ".join(part for part in parts if part)


def _slowest(found: HardwareEstimates) -> str:
    known = [(one.latency_ms, one.name) for one in found.layers if one.latency_ms]
    known.sort(key=lambda one: -one[0])
    return " · ".join(f"{shorten(printable(name), NAME)} {duration(time)}" for time, name in known[:SLOWEST])


def _memory(found: HardwareEstimates) -> str:
    need = f"about {units.size(found.vram_required_bytes)}"
    if found.vram_bytes is None:
        return need
    fits = "fits into" if found.fits_in_vram else "does not fit into"
    return f"{need}, {fits} {units.size(found.vram_bytes)}"
