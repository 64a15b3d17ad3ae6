"""The table of metrics: name, unit, aggregation, and where each is shown.

``METRICS`` contains all of them; ``shown("heatmap")`` returns those of one place, in order. Terminal,
notebook, documents, CSV, queries, conditions and command options use this table; the viewer and JupyterLab's
settings use what ``scripts/generate.py`` generates from it. Nothing slow is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Unit = Literal["params", "MACs", "FLOPs", "bytes", "FLOP/B", "s", "nodes"]
Place = Literal[
    "heatmap", "column", "costs", "chart", "csv", "attachment", "layers", "strip", "totals", "compare"
]
"""Places where a metric is shown.

``heatmap``: the colours of the graph. ``column``: the viewer's table. ``costs``: the viewer's inspector.
``chart``: the viewer's bars by operator. ``csv``: the table of layers as CSV. ``attachment``: files for
Netron and Model Explorer. ``layers``: the heaviest layers in terminal and documents. ``strip``: the row of
totals in viewer, terminal and notebook. ``totals``: the table of totals in documents. ``compare``:
comparisons of models. Queries know a metric by ``query``.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A metric of the whole model.

    ``field`` is its name in ``metrics`` of report and payload, empty if it is not there; ``name`` is used in
    conditions (``macs>+5%``). An empty ``label`` means that of the metric.
    """

    name: str
    field: str = ""
    label: str = ""
    about: str = ""
    """One sentence that defines it."""
    covered: Literal["", "macs", "nodes"] = ""
    """The share in ``coverage`` below which the total is a lower bound."""
    reason: str = ""
    """The field of ``metrics`` with the reason for a missing value."""
    runs: bool = False
    """True if a model that cannot run does not have it."""
    heatmap: str = ""
    """The metric of the corresponding heatmap."""
    optional: bool = False
    """True if it is only shown where it is not 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric of nodes and blocks, of the model, or of both.

    For nodes it is a stored column (``stored``), or the sum of the columns ``over`` divided by that of the
    columns ``under`` (if any). Latencies are estimated for a device. All others are metrics of the model
    only.
    """

    id: str
    label: str
    unit: Unit
    about: str = ""
    """One sentence about the value of a node or block."""
    short: str = ""
    """Column header; empty to use the label."""
    words: str = ""
    """Name in a sentence; empty to use the label."""
    stored: Literal["", "execution", "inference"] = ""
    """Whether stored values are per execution or per inference; empty if not stored."""
    device: bool = False
    """Estimated for a device, and available only if one is chosen."""
    over: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    additive: bool = True
    """False if parts do not add up to a total; there are no shares then."""
    share: str = ""
    """Header of the column with shares; empty for none."""
    column: str = ""
    """The viewer's column, if its name is not the id."""
    query: tuple[str, ...] = ()
    """Query fields; messages mention the first."""
    ramp: str = "viridis"
    """Colour ramp of the heatmap, from ``RAMPS``."""
    shown: tuple[Place, ...] = ()
    total: Total | None = None

    @property
    def head(self) -> str:
        """The column header."""
        return self.short or self.label

    @property
    def written(self) -> Literal["count", "size", "seconds"]:
        """Name of the function in ``units`` that formats it."""
        return "size" if self.unit == "bytes" else "seconds" if self.unit == "s" else "count"


RAMPS: dict[str, tuple[str, ...]] = {
    "viridis": (
        "#440154", "#482878", "#3e4989", "#31688e", "#26828e",
        "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
    ),
}  # fmt: skip
"""Samples at equal distances, from dark to bright. Viridis is CC0, van der Walt and Smith 2015."""

METRICS: tuple[Metric, ...] = (
    Metric(
        id="file_bytes",
        label="File size",
        unit="bytes",
        shown=("compare",),
        total=Total(name="size", about="The file and its files of weights."),
    ),
    Metric(
        id="params",
        label="Parameters",
        short="Params",
        words="parameters",
        unit="params",
        about="Elements of the float or quantized weights that a node is the first to use.",
        stored="inference",
        share="% params",
        query=("params",),
        shown=(
            "heatmap", "column", "costs", "chart", "csv", "attachment", "layers", "strip", "totals",
            "compare",
        ),
        total=Total(
            name="params",
            field="total_params",
            about="Elements in float and quantized weights. Tied weights are counted once.",
            reason="params_reason",
            heatmap="params",
        ),
    ),
    Metric(
        id="weight_bytes",
        label="Weight bytes",
        short="Weights",
        words="weight bytes",
        unit="bytes",
        about="Bytes of the weights that a node is the first to use, in their stored data types.",
        stored="inference",
        query=("weights", "weight_bytes"),
        shown=(
            "heatmap", "column", "costs", "chart", "csv", "attachment", "strip", "totals", "compare",
        ),
        total=Total(
            name="weights",
            label="Weights",
            field="weight_bytes",
            about="Size of all constants in their stored data types.",
            heatmap="weight_bytes",
        ),
    ),
    Metric(
        id="macs",
        label="MACs",
        unit="MACs",
        about="Multiply-accumulates.",
        stored="execution",
        share="% MACs",
        query=("macs",),
        shown=(
            "heatmap", "column", "costs", "chart", "csv", "attachment", "layers", "strip", "totals",
            "compare",
        ),
        total=Total(
            name="macs",
            field="total_macs",
            about="Multiply-accumulate operations (MACs) in one inference.",
            covered="macs",
            runs=True,
            heatmap="macs",
        ),
    ),
    Metric(
        id="flops",
        label="FLOPs",
        unit="FLOPs",
        about="Floating-point operations: 2 per MAC, plus the arithmetic of all other operators.",
        stored="execution",
        query=("flops",),
        shown=(
            "heatmap", "column", "costs", "chart", "csv", "attachment", "layers", "strip", "totals",
            "compare",
        ),
        total=Total(
            name="flops",
            field="total_flops",
            about="2 per MAC, plus the arithmetic of all other operators.",
            covered="nodes",
            runs=True,
            heatmap="flops",
        ),
    ),
    Metric(
        id="data_dependent_flops",
        label="Data-dependent FLOPs",
        unit="FLOPs",
        shown=("strip", "totals"),
        total=Total(
            name="data-flops",
            label="FLOPs by data, at most",
            field="data_dependent_flops",
            about="What the data may add at most, such as boxes compared in NonMaxSuppression; not in FLOPs.",
            runs=True,
            optional=True,
        ),
    ),
    Metric(
        id="read_bytes",
        label="Bytes read",
        short="Read",
        words="bytes read",
        unit="bytes",
        about="Bytes of the tensors that a node reads, weights included, unfused.",
        stored="execution",
        query=("read",),
        shown=("column", "costs", "csv", "attachment", "totals"),
        total=Total(name="read", label="Bytes read, unfused", field="read_bytes", covered="nodes"),
    ),
    Metric(
        id="write_bytes",
        label="Bytes written",
        short="Written",
        words="bytes written",
        unit="bytes",
        about="Bytes of the tensors that a node writes, unfused.",
        stored="execution",
        query=("write",),
        shown=("column", "costs", "csv", "attachment", "totals"),
        total=Total(name="write", label="Bytes written, unfused", field="write_bytes", covered="nodes"),
    ),
    Metric(
        id="moved_bytes",
        label="Bytes moved",
        words="bytes moved",
        unit="bytes",
        about="Bytes read and written.",
        over=("read_bytes", "write_bytes"),
        query=("bytes",),
    ),
    Metric(
        id="activation_bytes",
        label="Activation bytes",
        short="Activation",
        words="activation bytes",
        unit="bytes",
        about="Bytes of the outputs of a node.",
        stored="inference",
        query=("activation", "activation_bytes"),
        shown=("heatmap", "column", "costs", "chart", "csv", "attachment"),
    ),
    Metric(
        id="intensity",
        label="Arithmetic intensity",
        short="FLOP/B",
        words="arithmetic intensity",
        unit="FLOP/B",
        about="FLOPs per byte moved; low values are bound by memory. For a block, from its totals.",
        over=("flops",),
        under=("read_bytes", "write_bytes"),
        additive=False,
        query=("intensity",),
        shown=("heatmap", "column", "attachment"),
    ),
    Metric(
        id="latency",
        label="Latency",
        words="latency",
        unit="s",
        about="Estimated time on the chosen device. The time of a fused kernel is shown at one of its nodes.",
        device=True,
        share="% latency",
        column="latency_s",
        query=("latency",),
        shown=("heatmap", "column", "chart"),
    ),
    Metric(
        id="peak",
        label="Peak activations",
        short="Peak",
        words="peak activation bytes",
        unit="bytes",
        additive=False,
        shown=("strip", "totals", "compare"),
        total=Total(
            name="peak",
            field="peak_activation_bytes",
            about="Peak memory of live activations, weights excluded.",
            reason="peak_reason",
            runs=True,
            heatmap="activation_bytes",
        ),
    ),
    Metric(
        id="peak_simple",
        label="Peak activations without reuse",
        words="peak activation bytes without reuse",
        unit="bytes",
        additive=False,
        shown=("totals",),
        total=Total(
            name="peak_simple",
            field="peak_activation_bytes_simple",
            about="Peak memory of live activations without buffer reuse.",
            runs=True,
        ),
    ),
    Metric(
        id="nodes",
        label="Nodes",
        words="nodes",
        unit="nodes",
        shown=("compare",),
        total=Total(name="nodes", about="Nodes of all graphs, Constant nodes excluded."),
    ),
)  # fmt: skip

_FIRST: dict[Place, tuple[str, ...]] = {
    "heatmap": ("macs", "flops", "params", "weight_bytes", "activation_bytes"),
    "column": ("params", "weight_bytes", "macs", "flops", "latency"),
    "costs": ("params", "macs", "flops", "weight_bytes", "activation_bytes"),
    "chart": ("macs", "flops", "params"),
    "attachment": ("macs", "flops", "params", "weight_bytes", "activation_bytes"),
    "strip": ("params", "macs", "flops"),
    "totals": ("params", "weight_bytes", "macs", "flops", "peak", "peak_simple"),
}
"""Metrics that come first in a place; the others follow in table order."""

BY_ID: dict[str, Metric] = {metric.id: metric for metric in METRICS}


def shown(place: Place, table: tuple[Metric, ...] = METRICS) -> tuple[Metric, ...]:
    """Return the metrics of a place, in order."""
    first = _FIRST.get(place, ())
    found = [metric for metric in table if place in metric.shown]
    # A stable sort keeps the table order of the others.
    return tuple(sorted(found, key=lambda one: first.index(one.id) if one.id in first else len(first)))


def ids(place: Place) -> tuple[str, ...]:
    """Return the ids of the metrics of a place, in order."""
    return tuple(metric.id for metric in shown(place))


def label(metric: str) -> str:
    """Return the label of a metric. Raises: KeyError for an unknown id."""
    return BY_ID[metric].label


def words(metric: str) -> str:
    """Return the name of a metric in a sentence. Raises: KeyError for an unknown id."""
    return BY_ID[metric].words or label(metric)


def total_of(metric: str) -> Total:
    """Return the total of a metric. Raises: KeyError if there is none."""
    total = BY_ID[metric].total
    if total is None:
        raise KeyError(metric)
    return total


def total_label(metric: str) -> str:
    """Return the label of a metric's total. Raises: KeyError if there is none."""
    return total_of(metric).label or label(metric)


def derived(metric: Metric, part: Callable[[str], float | None]) -> float | None:
    """Compute a derived metric from columns, given by ``part``; None if one is unknown.

    0 / 0 is 0: a node without traffic and arithmetic (a view) has intensity 0.
    ``src/core/model/derivedMetric.ts`` does the same.
    """
    over = _sum(metric.over, part)
    if over is None or not metric.under:
        return over
    under = _sum(metric.under, part)
    if under is None:
        return None
    return over / under if under > 0 else 0.0 if over == under == 0 else None


def _sum(columns: tuple[str, ...], part: Callable[[str], float | None]) -> float | None:
    total: float = 0
    for column in columns:
        value = part(column)
        if value is None:
            return None
        total += value
    return total


def stored(per: Literal["execution", "inference"]) -> tuple[str, ...]:
    """Return the stored columns with values per execution, or per inference."""
    return tuple(metric.id for metric in METRICS if metric.stored == per)
