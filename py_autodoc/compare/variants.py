"""Key figures of each variant: core operators by precision, size, speed, quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.impact import Impact
from py_autodoc.units import UNKNOWN, size

UNTYPED = "unknown"


def core_precisions(found: Sequence[Alignment]) -> list[dict[str, int]]:
    """Count core operators of each model by precision, the most frequent first.

    ``found`` are the alignments of the first model with the others.
    """
    sides = [found[0].sides[0], *(one.sides[1] for one in found)]
    counted = [Counter(side.precision(unit) or UNTYPED for unit in side.graph.units) for side in sides]
    return [dict(one.most_common()) for one in counted]


def variant_rows(found: Sequence[Alignment], gained: Impact) -> list[list[str]]:
    """Return table rows with one column per model; empty if the variants do not differ in any of this."""
    counts = core_precisions(found)
    if len(gained.axes) < 2 and all(one == counts[0] for one in counts):
        return []
    whole = [sum(one.values()) for one in counts]
    rows = [["Core operators", *(f"{one:,}" for one in whole)]]
    names = Counter({name: 0 for one in counts for name in one})
    for one in counts:
        names.update(one)
    for name, _ in names.most_common():
        cells = [_share(one.get(name, 0), every) for one, every in zip(counts, whole, strict=True)]
        rows.append([f"{name}", *cells])
    first = gained.points[0].size
    sizes = [f"{size(one.size)} ({_times(one.size / first)})" if first else size(one.size)
             for one in gained.points]  # fmt: skip
    rows.append(["Size", size(first), *sizes[1:]])
    if gained.latency is not None:
        speedups = [gained.speedup(at) for at in range(len(gained.points))]
        rows.append(
            [f"Speedup ({gained.latency})", *(UNKNOWN if one is None else _times(one) for one in speedups)]
        )
    if gained.quality is not None:
        rows.append([gained.quality, *_qualities(gained)])
    return rows


def _share(count: int, whole: int) -> str:
    return f"{count:,} ({100 * count / whole:.3g} %)" if count and whole else "–"


def _times(value: float) -> str:
    return f"{value:.3g}×"


def _qualities(gained: Impact) -> list[str]:
    base = gained.points[0].quality
    cells = []
    for at, one in enumerate(gained.points):
        if one.quality is None or base is None:
            cells.append(UNKNOWN)
        else:
            change = f" ({one.quality - base:+.4g})".replace("-", "−") if at and one.quality != base else ""
            cells.append(f"{one.quality:.6g}{change}".replace("-", "−"))
    return cells
