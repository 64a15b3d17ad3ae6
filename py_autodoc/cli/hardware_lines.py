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
    estimates = report.hardware_estimates
    if estimates is None:
        return []
    lines = [("Device", _device(estimates)), ("Latency", _latency(estimates))]
    if estimates.estimated_latency_ms is not None and estimates.reason:
        lines.append(("Not included", printable(estimates.reason)))
    if estimates.assumption:
        lines.append(("Assumed", printable(estimates.assumption)))
    if estimates.theoretical_latency_ms is not None:
        lines.append(("Bound", f"{_time(estimates.theoretical_latency_ms)} at full peak and bandwidth"))
    used = estimates.compute_utilization_estimate
    if used is not None:
        lines.append(("Utilisation", f"{units.share(used, 1.0)} of the peak of the device"))
    slowest = _slowest(estimates)
    if slowest:
        lines.append(("Slowest", slowest))
    if estimates.vram_required_bytes is not None:
        lines.append(("Memory", _memory(estimates)))
    return lines


def _time(milliseconds: float) -> str:
    return units.seconds(milliseconds / 1e3)


def _device(estimates: HardwareEstimates) -> str:
    parts = [
        shorten(printable(estimates.device_name), NAME),
        estimates.precision,
        runtime(estimates.runtime).label,
    ]
    if estimates.batch_size is not None:
        parts.append(f"batch {estimates.batch_size:,}")
    return " · ".join(text for text in parts if text)


def _latency(estimates: HardwareEstimates) -> str:
    low, high = estimates.latency_low_ms, estimates.latency_high_ms
    if estimates.estimated_latency_ms is None or low is None or high is None:
        return f"{units.UNKNOWN}  ({printable(estimates.reason)})"
    least, scope = ("≥ ", "known kernels ") if estimates.unknown_kernels else ("", "")
    band = f"({scope}{_time(low)} to {_time(high)}, {estimates.label})"
    parts = [
        f"{least}{_time(estimates.estimated_latency_ms)}  {band}",
        _BOUNDS.get(estimates.bottleneck, ""),
        f"{plural(estimates.kernels, 'kernel')}",
    ]
    if estimates.unknown_kernels:
        parts.append(f"{estimates.unknown_kernels:,} of them unknown and not included")
    return " · ".join(text for text in parts if text)


def _slowest(estimates: HardwareEstimates) -> str:
    times = [(layer.latency_ms, layer.name) for layer in estimates.layers if layer.latency_ms]
    times.sort(key=lambda entry: -entry[0])
    return " · ".join(f"{shorten(printable(name), NAME)} {_time(time)}" for time, name in times[:SLOWEST])


def _memory(estimates: HardwareEstimates) -> str:
    need = f"about {units.size(estimates.vram_required_bytes)}"
    if estimates.vram_bytes is None:
        return need
    fits = "fits into" if estimates.fits_in_vram else "does not fit into"
    return f"{need}, {fits} {units.size(estimates.vram_bytes)}"
