"""Estimates of the variants on the chosen device, as rows of the table of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc import units
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import HardwareEstimates


def estimate_rows(analyses: Sequence[Analysis]) -> list[tuple[str, list[str]]]:
    """Return latency with its likely range, and memory, of each variant; empty without a device."""
    found = [hardware_estimates(analysis) for analysis in analyses]
    first = next((estimates for estimates in found if estimates is not None), None)
    if first is None:
        return []
    return [
        (f"Estimated latency on {first.device_name}", [_latency(estimates) for estimates in found]),
        ("Memory needed there", [_memory(estimates) for estimates in found]),
    ]


def _latency(estimates: HardwareEstimates | None) -> str:
    if estimates is None or estimates.estimated_latency_ms is None:
        return units.UNKNOWN
    low, high = estimates.latency_low_ms, estimates.latency_high_ms
    mark = "≥ " if estimates.unknown_kernels else ""
    text = f"{mark}{units.seconds(estimates.estimated_latency_ms / 1e3)} in {estimates.precision}"
    if low is None or high is None:
        return text
    return f"{text} ({units.seconds_range(low / 1e3, high / 1e3)}, {estimates.label})"


def _memory(estimates: HardwareEstimates | None) -> str:
    if estimates is None or estimates.vram_required_bytes is None:
        return units.UNKNOWN
    fits = {False: ", does not fit"}.get(estimates.fits_in_vram is not False, "")
    return f"{units.size(estimates.vram_required_bytes)}{fits}"
