"""Estimated latency and memory on the chosen device."""

from __future__ import annotations

from py_autodoc.hardware.runtimes import runtime
from py_autodoc.report.sections.section_model import (
    Block,
    Figure,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

MOST = 10
_BOUNDS = {
    "compute": "compute",
    "memory_bandwidth": "memory bandwidth",
    "kernel_overhead": "time between kernels",
}
_AT = "/hardware_estimates"


def section(context: SectionContext) -> Section | None:
    """Return latency with its likely range, memory, and the slowest kernels; None without a device."""
    found = context.report.hardware_estimates
    if found is None:
        return None

    def time(milliseconds: float | None, least: bool = False) -> Line:
        return (Value(None if milliseconds is None else milliseconds / 1e3, "seconds", least=least),)

    band: Line = (*time(found.latency_low_ms), " to ", *time(found.latency_high_ms), f" ({found.label})")
    fits = {True: "yes", False: "no", None: "—"}[found.fits_in_vram]
    rows: list[tuple[Line, ...]] = [
        (("Device",), (Name(found.device_name),)),
        (("Precision",), (found.precision or "—",)),
        (("Runtime",), (runtime(found.runtime).label,)),
        (("Batch",), (Value(found.batch_size, "exact", f"{_AT}/batch_size"),)),
        (("Latency",), time(found.estimated_latency_ms, bool(found.unknown_kernels))),
        (("Band",), band),
        (("Bound at full peak and bandwidth",), time(found.theoretical_latency_ms)),
        (("Most of the time goes to",), (_BOUNDS.get(found.bottleneck, "—"),)),
        (("Kernels",), (Value(found.kernels, "exact", f"{_AT}/kernels"),)),
        (("Kernels without a time",), (Value(found.unknown_kernels, "exact", f"{_AT}/unknown_kernels"),)),
        (("Memory needed",), (Value(found.vram_required_bytes, "size", f"{_AT}/vram_required_bytes"),)),
        (("Memory of the device",), (Value(found.vram_bytes, "size", f"{_AT}/vram_bytes"),)),
        (("Fits",), (fits,)),
    ]
    blocks: list[Block] = [Table(("Estimate", "Value"), tuple(rows))]
    blocks += [Paragraph((text, ".")) for text in (found.reason, found.assumption) if text]
    slow = sorted((one for one in found.layers if one.latency_ms), key=lambda one: -(one.latency_ms or 0))
    if slow:
        kernels = tuple(
            (
                (Name(one.name),),
                (Value(len(one.layers)),),
                time(one.latency_ms),
                (_BOUNDS.get(one.bottleneck, "—"),),
            )
            for one in slow[:MOST]
        )
        head = ("Kernel", "Layers", "Time", "Bound by")
        blocks.append(Table(head, kernels, max(0, len(slow) - MOST), "Slowest kernels"))
    blocks.append(Figure("roofline", "Roofline of the kernels on the device"))
    blocks.append(
        Paragraph(("Nothing was run: the times are estimated from published figures for the device.",))
    )
    return Section("device", "Estimated latency", tuple(blocks))
