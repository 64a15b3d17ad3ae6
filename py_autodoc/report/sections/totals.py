"""The totals of one inference."""

from __future__ import annotations

from py_autodoc.report.sections.model import Block, Context, Paragraph, Section, Table, Value

_ROWS = (
    ("Parameters", "total_params", "count"),
    ("Weights", "weight_bytes", "size"),
    ("MACs", "total_macs", "count"),
    ("FLOPs", "total_flops", "count"),
    ("Peak activations", "peak_activation_bytes", "size"),
    ("Peak activations without reuse", "peak_activation_bytes_simple", "size"),
    ("Bytes read, unfused", "read_bytes", "size"),
    ("Bytes written, unfused", "write_bytes", "size"),
)


def section(context: Context) -> Section:
    """Each total, rounded and with all digits."""
    report = context.report
    numbers, cover = report.metrics, report.coverage
    least = {"total_macs": (cover.macs or 1) < 1, "total_flops": cover.nodes < 1}
    rows = tuple(
        (
            (label,),
            (Value(getattr(numbers, name), unit, f"/metrics/{name}", least.get(name, False)),),
            (Value(getattr(numbers, name), "exact", f"/metrics/{name}", least.get(name, False)),),
        )
        for label, name, unit in _ROWS
    )
    blocks: list[Block] = [Table(("Total", "Value", "Exactly"), rows)]
    reasons = {"Parameters": numbers.params_reason, "Peak activations": numbers.peak_reason}
    if report.runnable.verdict == "no":
        reasons["Cannot run"] = report.runnable.reason
    blocks += [Paragraph((reason,), label) for label, reason in reasons.items() if reason]
    blocks.append(Paragraph(("1 MAC is 2 FLOPs. — is unknown, never 0. 1 kB is 1,000 bytes.",)))
    return Section("totals", "Totals of one inference", tuple(blocks))
