"""Estimated latencies beside published ones: ``python benchmarks/latency.py [--rows]``.

The published ones, with their sources, are ``tests/data/latency_measured.json``. The baseline is the bound
that is shown beside every estimate (full peak and bandwidth, no time between kernels).
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/hardware"))

from measured import Row, rows, score

HEADS = (
    "device", "model, runtime", "n", "median error", "9 of 10 within", "median ratio", "in the band",
    "bound / theirs",
)  # fmt: skip


def main() -> None:
    found = rows()
    if "--rows" in sys.argv:
        for row in found:
            batch = f"batch {row.batch}" + (f", {row.seq} tokens" if row.seq else "")
            print(f"{row.device:28} {row.model:14} {row.precision:5} {batch:24} {row.measured * 1e3:9.3f} ms "
                  f"ours / theirs {row.ratio:.2f}")  # fmt: skip
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row.device, f"{row.model} {row.precision}, {row.runtime}"), []).append(row)
    for (device, what), several in sorted(groups.items()):
        line(device, what, several)
    gpus = [row for row in found if row.model.startswith("bert")]
    sets: list[tuple[str, Callable[[Row], bool]]] = [
        ("all", lambda row: True),
        ("batch ≤ 4", lambda row: row.batch <= 4),
        ("batch ≥ 8", lambda row: row.batch >= 8),
        ("not the calibration device", lambda row: row.split != "calibration"),
    ]
    for name, chosen in sets:
        line("BERT", name, [row for row in gpus if chosen(row)])


def line(device: str, what: str, several: list[Row]) -> None:
    it = score(several)
    bound = statistics.median((row.estimate.ideal or 0) / row.measured for row in several)
    print(f"| {device} | {what} | {it.count} | {it.median:.1%} | {it.ninth:.1%} | {it.bias:.2f} "
          f"| {it.inside:.0%} | {bound:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
