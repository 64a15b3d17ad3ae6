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

MAX_ROWS = 10
_BOUNDS = {
    "compute": "compute",
    "memory_bandwidth": "memory bandwidth",
    "kernel_overhead": "time between kernels",
}
_POINTER = "/hardware_estimates"


def section(context: SectionContext) -> Section | None:
    """Return latency with its likely range, memory, and the slowest kernels; None without a device."""
    estimates = context.report.hardware_estimates
    if estimates is None:
        return None

    def time(milliseconds: float | None, is_lower_bound: bool = False) -> Line:
        return (
            Value(
                None if milliseconds is None else milliseconds / 1e3, "seconds", is_lower_bound=is_lower_bound
            ),
        )

    band: Line = (
        *time(estimates.latency_low_ms),
        " to ",
        *time(estimates.latency_high_ms),
        f" ({estimates.label})",
    )
    fits = {True: "yes", False: "no", None: "—"}[estimates.fits_in_vram]
    rows: list[tuple[Line, ...]] = [
        (("Device",), (Name(estimates.device_name),)),
        (("Precision",), (estimates.precision or "—",)),
        (("Runtime",), (runtime(estimates.runtime).label,)),
        (("Batch",), (Value(estimates.batch_size, "exact", f"{_POINTER}/batch_size"),)),
        (("Latency",), time(estimates.estimated_latency_ms, bool(estimates.unknown_kernels))),
        (("Band",), band),
        (("Bound at full peak and bandwidth",), time(estimates.theoretical_latency_ms)),
        (
            ("Utilisation of its peak",),
            (
                Value(
                    estimates.compute_utilization_estimate,
                    "share",
                    f"{_POINTER}/compute_utilization_estimate",
                ),
            ),
        ),
        (("Most of the time goes to",), (_BOUNDS.get(estimates.bottleneck, "—"),)),
        (("Kernels",), (Value(estimates.kernels, "exact", f"{_POINTER}/kernels"),)),
        (
            ("Kernels without a time",),
            (Value(estimates.unknown_kernels, "exact", f"{_POINTER}/unknown_kernels"),),
        ),
        (
            ("Memory needed",),
            (Value(estimates.vram_required_bytes, "size", f"{_POINTER}/vram_required_bytes"),),
        ),
        (("Memory of the device",), (Value(estimates.vram_bytes, "size", f"{_POINTER}/vram_bytes"),)),
        (("Fits",), (fits,)),
    ]
    blocks: list[Block] = [Table(("Estimate", "Value"), tuple(rows))]
    blocks += [Paragraph((text, ".")) for text in (estimates.reason, estimates.assumption) if text]
    slow = sorted(
        (kernel for kernel in estimates.layers if kernel.latency_ms),
        key=lambda kernel: -(kernel.latency_ms or 0),
    )
    if slow:
        kernels = tuple(
            (
                (Name(kernel.name),),
                (Value(len(kernel.layers)),),
                time(kernel.latency_ms),
                (_BOUNDS.get(kernel.bottleneck, "—"),),
            )
            for kernel in slow[:MAX_ROWS]
        )
        head = ("Kernel", "Layers", "Time", "Bound by")
        blocks.append(Table(head, kernels, max(0, len(slow) - MAX_ROWS), "Slowest kernels"))
    blocks.append(Figure("roofline", "Roofline of the kernels on the device"))
    blocks.append(
        Paragraph(("Nothing was run: the times are estimated from published figures for the device.",))
    )
    return Section("device", "Estimated latency", tuple(blocks))
