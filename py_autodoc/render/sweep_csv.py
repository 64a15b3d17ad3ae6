"""The points of a sweep as CSV."""

from __future__ import annotations

from py_autodoc.render.csv import Cell, csv_text
from py_autodoc.sweep.schema import Sweep

COLUMNS = (
    "batch", "hardware", "precision", "runtime", "devices", "macs", "flops", "read_bytes", "write_bytes",
    "peak_activation_bytes", "memory_bytes", "available_bytes", "fits", "latency_ms", "latency_low_ms",
    "latency_high_ms", "throughput", "usd_per_million", "compute_utilization", "bottleneck", "label",
    "reason",
)  # fmt: skip


def sweep_csv(result: Sweep) -> str:
    """Return one row per point, with exact numbers, empty unknown cells and a column per given dimension."""
    names = list(dict.fromkeys(name for point in result.points for name in point.bindings))
    inputs = list(dict.fromkeys(name for point in result.points for name in point.input_shapes))
    rows: list[list[Cell]] = [[*COLUMNS, *names, *inputs]]
    for point in result.points:
        sizes: list[Cell] = [point.bindings.get(name) for name in names]
        sizes += ["x".join(map(str, point.input_shapes.get(name, ()))) for name in inputs]
        rows.append([*(_cell(getattr(point, column)) for column in COLUMNS), *sizes])
    return csv_text(rows)


def _cell(value: Cell | bool) -> Cell:
    return ("yes" if value else "no") if isinstance(value, bool) else value
