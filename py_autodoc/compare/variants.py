"""Key figures of each variant: core operators by precision, size, speed, quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.impact import Impact
from py_autodoc.units import UNKNOWN, size

UNTYPED = "unknown"


def core_precisions(alignments: Sequence[Alignment]) -> list[dict[str, int]]:
    """Count core operators of each model by precision, the most frequent first.

    ``alignments`` are those of the first model with the others.
    """
    sides = [alignments[0].sides[0], *(alignment.sides[1] for alignment in alignments)]
    counts = [Counter(side.precision(unit) or UNTYPED for unit in side.graph.units) for side in sides]
    return [dict(count.most_common()) for count in counts]


def variant_rows(alignments: Sequence[Alignment], impact: Impact) -> list[list[str]]:
    """Return table rows with one column per model; empty if the variants do not differ in any of this."""
    counts = core_precisions(alignments)
    if len(impact.axes) < 2 and all(count == counts[0] for count in counts):
        return []
    totals = [sum(count.values()) for count in counts]
    rows = [["Core operators", *(f"{count:,}" for count in totals)]]
    names = Counter({name: 0 for count in counts for name in count})
    for count in counts:
        names.update(count)
    for name, _ in names.most_common():
        cells = [_share(count.get(name, 0), total) for count, total in zip(counts, totals, strict=True)]
        rows.append([f"{name}", *cells])
    first = impact.points[0].size
    sizes = [
        f"{size(point.size)} ({_times(point.size / first)})" if first else size(point.size)
        for point in impact.points
    ]
    rows.append(["Size", size(first), *sizes[1:]])
    if impact.latency is not None:
        speedups = [impact.speedup(index) for index in range(len(impact.points))]
        rows.append(
            [
                f"Speedup ({impact.latency})",
                *(UNKNOWN if speedup is None else _times(speedup) for speedup in speedups),
            ]
        )
    if impact.quality is not None:
        rows.append([impact.quality, *_qualities(impact)])
    return rows


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.3g} %)" if count and total else "–"


def _times(value: float) -> str:
    return f"{value:.3g}×"


def _qualities(impact: Impact) -> list[str]:
    base = impact.points[0].quality
    cells = []
    for index, point in enumerate(impact.points):
        if point.quality is None or base is None:
            cells.append(UNKNOWN)
        else:
            change = (
                f" ({point.quality - base:+.4g})".replace("-", "−") if index and point.quality != base else ""
            )
            cells.append(f"{point.quality:.6g}{change}".replace("-", "−"))
    return cells
