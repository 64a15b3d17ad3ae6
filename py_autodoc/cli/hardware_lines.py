"""Lines of the terminal summary about the chosen device."""

from __future__ import annotations

from py_autodoc.hardware.runtimes import runtime
from py_autodoc.render import units
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import HardwareEstimates
from py_autodoc.units import plural

NAME = 40
SLOWEST = 3
WIDTH = 400
"""Maximum width of a line: shortening its middle would remove numbers."""
_BOUNDS = {
    "compute": "mostly compute",
    "memory_bandwidth": "mostly memory bandwidth",
    "kernel_overhead": "mostly time between kernels",
}


def hardware_lines(report: Report) -> list[tuple[str, str]]:
    """Return (label, text) for latency, unknown kernels, bound, slowest layers and memory, given a device."""
    found = report.hardware_estimates
    if found is None:
        return []
    lines = [("Device", _device(found)), ("Latency", _latency(found))]
    if found.estimated_latency_ms is not None and found.reason:
        lines.append(("Not included", printable(found.reason)))
    if found.assumption:
        lines.append(("Assumed", printable(found.assumption)))
    if found.theoretical_latency_ms is not None:
        lines.append(("Bound", f"{_time(found.theoretical_latency_ms)} at full peak and bandwidth"))
    slowest = _slowest(found)
    if slowest:
        lines.append(("Slowest", slowest))
    if found.vram_required_bytes is not None:
        lines.append(("Memory", _memory(found)))
    return lines


def _time(milliseconds: float) -> str:
    return units.seconds(milliseconds / 1e3)


def _device(found: HardwareEstimates) -> str:
    parts = [shorten(printable(found.device_name), NAME), found.precision, runtime(found.runtime).label]
    if found.batch_size is not None:
        parts.append(f"batch {found.batch_size:,}")
    return " · ".join(part for part in parts if part)


def _latency(found: HardwareEstimates) -> str:
    low, high = found.latency_low_ms, found.latency_high_ms
    if found.estimated_latency_ms is None or low is None or high is None:
        return f"{units.UNKNOWN}  ({printable(found.reason)})"
    least, part = ("≥ ", "known kernels ") if found.unknown_kernels else ("", "")
    band = f"({part}{_time(low)} to {_time(high)}, {found.label})"
    parts = [
        f"{least}{_time(found.estimated_latency_ms)}  {band}",
        _BOUNDS.get(found.bottleneck, ""),
        f"{plural(found.kernels, 'kernel')}",
    ]
    if found.unknown_kernels:
        parts.append(f"{found.unknown_kernels:,} of them unknown and not included")
    return " · ".join(part for part in parts if part)


def _slowest(found: HardwareEstimates) -> str:
    known = [(one.latency_ms, one.name) for one in found.layers if one.latency_ms]
    known.sort(key=lambda one: -one[0])
    return " · ".join(f"{shorten(printable(name), NAME)} {_time(time)}" for time, name in known[:SLOWEST])


def _memory(found: HardwareEstimates) -> str:
    need = f"about {units.size(found.vram_required_bytes)}"
    if found.vram_bytes is None:
        return need
    fits = "fits into" if found.fits_in_vram else "does not fit into"
    return f"{need}, {fits} {units.size(found.vram_bytes)}"
