"""The table of layers as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter

from py_autodoc.metrics import Metric, shown, total_of
from py_autodoc.render.units import shape
from py_autodoc.report.builders.node_numbers import NOT_COUNTED, layer_in_inference, layer_number
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import HardwareEstimates, Layer

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_MOVES = ("\t", "\r", "\n")
"""Leading characters that move a text to another cell."""

Cell = int | float | str | None


def _of_metrics(metrics: tuple[Metric, ...]) -> Iterator[tuple[str, Callable[[Layer], Cell]]]:
    """Yield columns of layer metrics: per inference as they are, per execution also times the runs."""
    per_run = [metric.id for metric in metrics if metric.stored == "execution"]
    before = True
    for metric in metrics:
        if metric.stored == "inference":
            yield metric.id, attrgetter(metric.id)
        elif before and per_run:
            before = False
            yield from ((f"{cost}_per_run", attrgetter(cost)) for cost in per_run)
            yield from ((f"{cost}_per_inference", partial(layer_in_inference, cost=cost)) for cost in per_run)


def _share(metric: Metric, layer: Layer, report: Report) -> Cell:
    """Return the percentage of the model's total."""
    return percent(layer_number(layer, metric), getattr(report.metrics, total_of(metric.id).field))


_SHARES = tuple(sorted((entry for entry in shown("csv") if entry.share), key=lambda entry: entry.stored))
"""Costs first, then metrics that do not depend on the runs."""
_COLUMNS: tuple[tuple[str, Callable[[Layer], Cell]], ...] = (
    ("id", lambda layer: layer.id),
    ("name", lambda layer: layer.name),
    ("type", lambda layer: layer.type),
    ("domain", lambda layer: layer.domain),
    ("group", lambda layer: layer.group),
    ("subgraph", lambda layer: layer.subgraph),
    ("runs", lambda layer: layer.runs),
    ("runs_known", lambda layer: "no" if layer.repeat is None else "yes"),
    ("input_shape", lambda layer: shape(layer.input_shape)),
    ("output_shape", lambda layer: shape(layer.output_shape)),
    ("output_dtype", lambda layer: layer.output_dtype),
    *_of_metrics(shown("csv")),
    ("data_dependent_flops_per_inference", partial(layer_in_inference, cost="data_dependent_flops")),
)


_TIMES = ("kernel", "latency_ms", "latency_percent", "latency_bottleneck")
"""Columns of reports with a device."""


def layers_csv(report: Report) -> str:
    """Return one row per layer, with exact numbers and empty cells for unknown values.

    Costs appear twice: ``…_per_run`` for one execution, ``…_per_inference`` for all ``runs``; the latter add
    up to the totals. Percentages are shares of the model's totals in one inference, as is ``latency_ms``. The
    time of a fused kernel is listed at one of its layers, whose id is the ``kernel`` of all of them; the
    others have 0.
    """
    heads = [*(name for name, _ in _COLUMNS), *(f"{entry.id}_percent" for entry in _SHARES), "reason"]
    times = None if report.hardware_estimates is None else _times(report.hardware_estimates)
    rows: list[Sequence[Cell]] = [[*heads, *_TIMES] if times is not None else heads]
    for layer in report.layers:
        row = [cell(layer) for _, cell in _COLUMNS]
        reason = layer.reason if layer.counted else NOT_COUNTED
        row += [*(_share(metric, layer, report) for metric in _SHARES), reason]
        if times is not None:
            row += times.get(layer.id, _NO_TIMES)
        rows.append(row)
    return csv_text(rows)


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV (RFC 4180). All tables are written by this function."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for row in rows:
        writer.writerow([guard_formula(value) for value in row])
    return out.getvalue()


_NO_TIMES: tuple[Cell, ...] = (None,) * len(_TIMES)
"""For layers that run nothing, or whose kernel is unknown."""


def _times(estimates: HardwareEstimates) -> dict[int, tuple[Cell, ...]]:
    """Return the cells of ``_TIMES`` by layer."""
    cells: dict[int, tuple[Cell, ...]] = {}
    for kernel in estimates.layers:
        is_known = kernel.latency_ms is not None
        for layer in kernel.layers:
            cells[layer] = (kernel.layer, 0.0 if is_known else None, 0.0 if is_known else None, None)
        share = percent(kernel.latency_ms, estimates.estimated_latency_ms)
        cells[kernel.layer] = (kernel.layer, kernel.latency_ms, share, kernel.bottleneck)
    return cells


def percent(value: float | None, total: float | None) -> float | None:
    """Return the share in percent with four decimals; None if unknown."""
    return None if value is None or not total else round(100 * value / total, 4)


def guard_formula(value: Cell) -> Cell:
    """Prefix an apostrophe to text that a spreadsheet would interpret as a formula.

    This includes text after ignored characters. ``src/core/base/delimitedText.ts`` implements the same rule.
    """
    if isinstance(value, str) and (value.startswith(_MOVES) or _begins(value).startswith(_FORMULA)):
        return f"'{value}"
    return value


def _begins(text: str) -> str:
    """Return the first visible character."""
    return next((c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf")), "")
