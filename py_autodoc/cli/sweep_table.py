"""A sweep on a terminal: one row per point, the best choices, and where larger batches stop paying off."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from py_autodoc import units
from py_autodoc.cli.streams import styled
from py_autodoc.metrics import BY_ID
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.sweep.choose import KNEE, latency_text
from py_autodoc.sweep.schema import Sweep, SweepPoint

MAX_ROWS = 200
_NAME = 24
_OF_DEVICES = ("hardware", "precision", "devices")
_RANGE = "Likely"
"""Heading of the likely range of the latency."""
_GAP = 3
"""Width between columns, including the padding of the library."""
_BOUNDS = {"compute": "compute", "memory_bandwidth": "memory", "kernel_overhead": "overhead"}


def print_sweep(result: Sweep, console: Console | None = None) -> None:
    """Print a sweep, on narrow terminals without the least important columns. Names are sanitised."""
    out = console or Console(file=styled(sys.stdout), highlight=False, markup=False, emoji=False)
    out.print(_table(result, out.width))
    if len(result.points) > MAX_ROWS:
        out.print(f"{len(result.points) - MAX_ROWS:,} more points; --out-csv writes them all.")
    for line in choice_lines(result):
        out.print(line)


def _table(result: Sweep, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    timed = any(point.hardware is not None for point in result.points)
    varied = [name for name in result.axes if name not in _OF_DEVICES]
    if any(point.batch is not None for point in result.points) and "batch" not in varied:
        varied.insert(0, "batch")
    columns: list[_Column] = [
        _Column(shorten(printable(name), _NAME), partial(_size, name=name)) for name in varied
    ]
    if "devices" in result.axes:
        columns.append(_Column("Devices", lambda point: str(point.devices)))
    columns += [*_DEVICE, *_COSTS, *_TIMES] if timed else _COSTS
    if result.prices:
        columns.append(_Column("$/M items", _dollars))
    rows = result.points[:MAX_ROWS]
    cells = [[printable(column.cell(point)) for point in rows] for column in columns]
    widths = [max(map(len, (column.title, *of))) + _GAP for column, of in zip(columns, cells, strict=True)]
    for title in _LEAST:
        if sum(widths) > width:
            index = next((i for i, column in enumerate(columns) if column.title == title), None)
            if index is not None:
                del columns[index], cells[index], widths[index]
    for column in columns:
        table.add_column(Text(column.title), justify=column.justify, no_wrap=True)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def _size(point: SweepPoint, name: str) -> str:
    if name in point.input_shapes:
        return "×".join(map(str, point.input_shapes[name]))
    if name in point.bindings:
        return f"{point.bindings[name]:,}"
    return "" if point.batch is None or name != "batch" else f"{point.batch:,}"


def _memory(point: SweepPoint) -> str:
    text = units.size(point.memory_bytes)
    return f"{text} (too large)" if point.fits is False else text


def _dollars(point: SweepPoint) -> str:
    return units.UNKNOWN if point.usd_per_million is None else f"{point.usd_per_million:.3g}"


def _latency(point: SweepPoint) -> str:
    return units.seconds(None if point.latency_ms is None else point.latency_ms / 1e3)


def _likely(point: SweepPoint) -> str:
    low, high = point.latency_low_ms, point.latency_high_ms
    return units.UNKNOWN if low is None or high is None else units.seconds_range(low / 1e3, high / 1e3)


class _Column(NamedTuple):
    title: str
    cell: Callable[[SweepPoint], str]
    justify: Literal["left", "right"] = "right"


_DEVICE = (
    _Column("Device", lambda point: point.hardware or "", "left"),
    _Column("Precision", lambda point: point.precision or "", "left"),
)
_COSTS = (
    _Column(BY_ID["macs"].head, lambda point: units.count(point.macs)),
    _Column(BY_ID["flops"].head, lambda point: units.count(point.flops)),
    _Column(BY_ID["peak"].head, lambda point: units.size(point.peak_activation_bytes)),
)
_TIMES = (
    _Column("Memory", _memory),
    _Column(BY_ID["latency"].head, _latency),
    _Column(_RANGE, _likely),
    _Column("Items/s", lambda point: units.count(point.throughput)),
    _Column("Used", lambda point: units.share(point.compute_utilization, 1.0)),
    _Column("Bound by", lambda point: _BOUNDS.get(point.bottleneck, ""), "left"),
)
_LEAST = (BY_ID["peak"].head, BY_ID["flops"].head, "Bound by", "Used")
"""Columns omitted on narrow terminals, in order."""


def _copies(result: Sweep, point: int | None) -> str:
    count = 1 if point is None else result.points[point].devices
    return f"{count} ×" if count > 1 else ""


def choice_lines(result: Sweep) -> list[str]:
    """Return the best choice for each device and precision as text."""
    lines = []
    for choice in result.choices:
        device = " ".join(filter(None, (_copies(result, choice.point), choice.hardware, choice.precision)))
        what = "most items/s"
        if choice.question != "throughput":
            what = f"smallest batch with {100 * KNEE:.0f} % of that"
        if choice.point is None:
            if choice.question == "throughput":
                lines.append(f"{device}: nothing is within the limits: {choice.reason}.")
            continue
        point = result.points[choice.point]
        sizes = ", ".join([f"{name} {_size(point, name)}" for name in result.axes if name not in _OF_DEVICES])
        time = latency_text(point)
        setting = sizes or f"batch {point.batch}"
        lines.append(f"{device}: {what}: {setting} ({units.count(point.throughput)} items/s, {time}).")
    for price in result.prices:
        rented = f"{price.instance}, {price.region}, {price.price_date}"
        lines.append(f"{price.hardware}: about ${price.usd_per_hour:.4g}/h ({rented}).")
    return [printable(line) for line in lines]
