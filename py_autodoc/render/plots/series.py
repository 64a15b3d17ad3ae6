"""The data of plots, from the report alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

from py_autodoc.report.builders.node_numbers import layer_in_inference
from py_autodoc.report.document.report import Report

BARS = 20
"""Maximum number of bars."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Labels and values, largest first, and the number and sum of the items without a bar."""

    labels: tuple[str, ...]
    values: tuple[int, ...]
    omitted_count: int
    omitted_sum: int


@dataclass(frozen=True, slots=True)
class PlotLines:
    """Values over ``x``, by label."""

    x: tuple[int, ...]
    lines: dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """An axis; ``unit`` is ``size`` (bytes), ``ms`` or empty."""

    label: str
    unit: str = ""
    lower_is_better: bool = True


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One variant. ``detail`` is written below its label; spans are likely ranges of an estimate."""

    label: str
    x: float
    y: float
    best: bool
    detail: str = ""
    x_span: tuple[float, float] | None = None
    y_span: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Variants by two numbers."""

    x: PlotAxis
    y: PlotAxis
    points: tuple[ScatterPoint, ...]
    front: tuple[int, ...]
    """Indices of the variants on the Pareto front of these two numbers, from left to right."""
    best: str
    """Description of the criteria in which the ``best`` points are best."""


def operators(report: Report) -> Bars | None:
    """Return the number of nodes by operator."""
    return _bars([(row.type, row.count) for row in report.metrics.by_op])


def parameters(report: Report) -> Bars | None:
    """Return the parameters by layer."""
    return _bars([(layer.name, layer.params or 0) for layer in report.layers])


def _bars(totals: list[tuple[str, int]]) -> Bars | None:
    ranked = sorted((item for item in totals if item[1]), key=lambda item: -item[1])
    if not ranked:
        return None
    drawn, omitted = ranked[:BARS], ranked[BARS:]
    labels, values = zip(*drawn, strict=True)
    return Bars(labels, values, len(omitted), sum(value for _, value in omitted))


def depth(report: Report) -> PlotLines | None:
    """Return the cumulative share of parameters, and of MACs, over the layers: 0 to 1."""
    layers = report.layers
    numbers = {
        "parameters": ([layer.params or 0 for layer in layers], report.metrics.total_params),
        "MACs": ([layer_in_inference(layer, "macs") or 0 for layer in layers], report.metrics.total_macs),
    }
    lines: dict[str, tuple[float, ...]] = {
        label: tuple(value / sum(parts) for value in accumulate(parts))
        for label, (parts, total) in numbers.items()
        if total and sum(parts)
    }
    return PlotLines(tuple(range(1, len(layers) + 1)), lines) if lines and len(layers) > 1 else None


def shapes(report: Report) -> PlotLines | None:
    """Return the output dimensions of layers with the most common rank; elements if that is below 3."""
    with_rank = [
        (
            position,
            tuple(size for size in layer.output_shape if isinstance(size, int)),
            len(layer.output_shape),
        )
        for position, layer in enumerate(report.layers, 1)
        if layer.output_shape
    ]
    sized = [
        (position, sizes)
        for position, sizes, rank in with_rank
        if len(sizes) == rank and all(size > 0 for size in sizes)
    ]
    ranks = Counter(len(sizes) for _, sizes in sized if len(sizes) in (3, 4))
    if len(sized) < 2:
        return None
    if not ranks:
        return _lines(sized, {"elements": prod})
    rank = ranks.most_common(1)[0][0]
    same = [(position, sizes) for position, sizes in sized if len(sizes) == rank]
    layers_of_rank = [layer for layer in report.layers if len(layer.output_shape or ()) == rank]
    spatial = 8 * sum(layer.type in _SPATIAL for layer in layers_of_rank) >= len(layers_of_rank)
    names: tuple[str, ...] = _AXES.get((rank, spatial), ("", "", ""))
    labels = [
        f"axis {position} ({name})" if name else f"axis {position}" for position, name in enumerate(names, 1)
    ]
    return _lines(same, {label: _axis(position) for position, label in enumerate(labels, 1)})


_SPATIAL = frozenset(
    {
        "Conv",
        "ConvTranspose",
        "QLinearConv",
        "ConvInteger",
        "FusedConv",
        "MaxPool",
        "AveragePool",
    }
)
"""Operators whose output axes have a known meaning: channels, then space."""
_AXES = {
    (4, True): ("channels", "height", "width"),
    (3, True): ("channels", "length"),
    (3, False): ("positions", "features"),
}
"""(rank, whether such operators produce most outputs) → names of axes after the first, if known."""


def _axis(axis: int) -> Callable[[tuple[int, ...]], int]:
    return lambda sizes: sizes[axis]


def _lines(
    sized: Sequence[tuple[int, tuple[int, ...]]], measures: Mapping[str, Callable[[tuple[int, ...]], int]]
) -> PlotLines | None:
    if len(sized) < 2:
        return None
    x = tuple(position for position, _ in sized)
    return PlotLines(
        x, {label: tuple(measure(sizes) for _, sizes in sized) for label, measure in measures.items()}
    )


def memory(report: Report) -> PlotLines | None:
    """Return live bytes by step, with and without buffer reuse."""
    curve = report.memory.curve
    if curve is None or len(curve.step) < 2:
        return None
    steps = tuple(step + 1 for step in curve.step)
    return PlotLines(
        steps, {"without reuse": tuple(curve.simple_bytes), "with reuse": tuple(curve.inplace_bytes)}
    )
