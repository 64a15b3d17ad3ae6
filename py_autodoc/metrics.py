"""The one table of metrics: what each number is called, its unit, how it adds up, and where it is shown.

``METRICS`` is all of them; ``shown("heatmap")`` are those of one place, in its order. Terminal, notebook,
documents, CSV, queries, conditions and the options of commands read it here; the viewer and JupyterLab's
settings read what ``scripts/generate.py`` writes of it. Nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Unit = Literal["params", "MACs", "FLOPs", "bytes", "FLOP/B", "s", "nodes"]
Place = Literal[
    "heatmap", "column", "costs", "chart", "csv", "attachment", "layers", "strip", "totals", "compare"
]
"""Where a metric is shown.

``heatmap``: the colours of the graph. ``column``: the viewer's table. ``costs``: the viewer's inspector.
``chart``: the viewer's bars by operator. ``csv``: the table of layers as CSV. ``attachment``: files for
Netron and Model Explorer. ``layers``: the heaviest layers in terminal and documents. ``strip``: the row of
totals in viewer, terminal and notebook. ``totals``: the table of totals in documents. ``compare``:
comparisons of models. Queries know a metric by ``query``.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A number of the whole model.

    ``field`` is its name in ``metrics`` of report and payload, empty for what is not there; ``name`` what
    conditions (``macs>+5%``) call it. ``label`` is empty where that of the metric serves.
    """

    name: str
    field: str = ""
    label: str = ""
    about: str = ""
    """One sentence: what is counted."""
    covered: Literal["", "macs", "nodes"] = ""
    """The share in ``coverage`` below which the sum is a lower bound."""
    reason: str = ""
    """The field of ``metrics`` that says why there is no number."""
    runs: bool = False
    """A model that cannot run does not have it."""
    heatmap: str = ""
    """The metric that colours the graph by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of nodes and blocks, of the model, or of both.

    Nodes have it as a column of the wire (``stored``), or as a quotient of sums of such columns: those in
    ``over`` by those in ``under``, or the sum alone where ``under`` is empty. Latencies are estimated for a
    device. What has none of these is a number of the model only.
    """

    id: str
    label: str
    unit: Unit
    about: str = ""
    """One sentence on the number of a node or block."""
    short: str = ""
    """The head of a table's column; empty where the label serves."""
    words: str = ""
    """In a sentence; empty where the label serves."""
    stored: Literal["", "execution", "inference"] = ""
    """What the wire has of it, if anything: that of one execution, or of one inference."""
    device: bool = False
    """Estimated for a device, and there only once one is chosen."""
    over: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    additive: bool = True
    """False where parts do not add up to a whole; there are no shares of it then."""
    share: str = ""
    """The head of the column of its shares; empty for none."""
    column: str = ""
    """The viewer's column, where its name is not the id."""
    query: tuple[str, ...] = ()
    """Fields of queries; messages name the first."""
    ramp: str = "viridis"
    """The colours of its heatmap, of ``RAMPS``."""
    shown: tuple[Place, ...] = ()
    total: Total | None = None

    @property
    def head(self) -> str:
        """The head of a column."""
        return self.short or self.label

    @property
    def written(self) -> Literal["count", "size", "seconds"]:
        """The function of ``units`` that writes it in short."""
        return "size" if self.unit == "bytes" else "seconds" if self.unit == "s" else "count"


RAMPS: dict[str, tuple[str, ...]] = {
    "viridis": (
        "#440154", "#482878", "#3e4989", "#31688e", "#26828e",
        "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
    ),
}  # fmt: skip
"""Samples at equal distances, dark to bright. Viridis is CC0, van der Walt and Smith 2015."""

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
        id="read_bytes",
        label="Bytes read",
        short="Read",
        words="bytes read",
        unit="bytes",
        about="Bytes of the tensors that a node reads, weights included, unfused.",
        stored="execution",
        query=("read",),
        shown=("column", "costs", "csv", "attachment", "totals"),
        total=Total(name="read", label="Bytes read, unfused", field="read_bytes"),
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
        total=Total(name="write", label="Bytes written, unfused", field="write_bytes"),
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
"""What comes first in a place; the rest follows in the order of the table."""

BY_ID: dict[str, Metric] = {metric.id: metric for metric in METRICS}


def shown(place: Place, table: tuple[Metric, ...] = METRICS) -> tuple[Metric, ...]:
    """The metrics of a place, in its order."""
    first = _FIRST.get(place, ())
    found = [metric for metric in table if place in metric.shown]
    # Sorting keeps the table's order among those that have no place of their own.
    return tuple(sorted(found, key=lambda one: first.index(one.id) if one.id in first else len(first)))


def ids(place: Place) -> tuple[str, ...]:
    """Their ids."""
    return tuple(metric.id for metric in shown(place))


def label(metric: str) -> str:
    """The label of a metric. Raises: KeyError for an unknown id."""
    return BY_ID[metric].label


def words(metric: str) -> str:
    """What a metric is called in a sentence. Raises: KeyError for an unknown id."""
    return BY_ID[metric].words or label(metric)


def total_of(metric: str) -> Total:
    """The total of a metric. Raises: KeyError where there is none."""
    total = BY_ID[metric].total
    if total is None:
        raise KeyError(metric)
    return total


def total_label(metric: str) -> str:
    """What the total of a metric is called. Raises: KeyError where there is none."""
    return total_of(metric).label or label(metric)


def derived(metric: Metric, part: Callable[[str], float | None]) -> float | None:
    """A number that is computed from columns, from what ``part`` gives for them; None where one is unknown.

    0 by 0 is 0: what moves nothing and computes nothing (a view) has no intensity.
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
    """Columns of the wire that hold numbers of one execution, or of one inference."""
    return tuple(metric.id for metric in METRICS if metric.stored == per)
