"""The data that the viewer draws: columns instead of rows, for tens of thousands of nodes."""

from __future__ import annotations

from typing import Any

import msgspec

from py_autodoc.report.schema.architecture import ArchitectureInfo, RiskSignal
from py_autodoc.report.schema.costs import Coverage, Metrics
from py_autodoc.report.schema.hardware import HardwarePart
from py_autodoc.report.schema.identity import Identity
from py_autodoc.report.schema.memory import MemoryInfo
from py_autodoc.report.schema.model import DiagnosticInfo, DimInfo, GraphInfo, ModelInfo, Runnable
from py_autodoc.report.schema.wire import DimValue, Wire


class OpEntry(Wire, frozen=True, kw_only=True):
    """An operator type used in the model."""

    type: str
    domain: str
    category: str
    """One of the categories of ``report/encode/categories.py``: layer, activation, normalization, pool …"""
    opset: int


class NodeColumns(Wire, frozen=True, kw_only=True):
    """One entry per node, index = node id. Unknown numbers are null.

    ``macs``, ``flops``, ``read_bytes`` and ``write_bytes`` are for **one execution**; multiplied by ``runs``
    they are for one inference, which is what tables and heatmaps show.

    ``inputs``/``outputs`` hold tensor ids (-1 = omitted) in CSR form: those of node i are
    ``inputs[input_offsets[i]:input_offsets[i+1]]``.
    """

    op: list[int]
    """Index into ``ops``."""
    name: list[str]
    scope: list[int]
    """Index into ``scopes``, -1 = top."""
    graph: list[int]
    """Index into ``graphs``."""
    constant: list[int]
    """Ids of the Constant nodes: not drawn, no cost."""
    input_offsets: list[int]
    inputs: list[int]
    output_offsets: list[int]
    outputs: list[int]
    params: list[int | None]
    weight_bytes: list[int | None]
    macs: list[int | None]
    flops: list[int | None]
    read_bytes: list[int | None]
    write_bytes: list[int | None]
    activation_bytes: list[int | None]
    reason: dict[str, str]
    """Node id (as text) → why its numbers are null."""
    runs: dict[str, int]
    """Node id (as text) → runs per inference, if not one; as ``Layer.runs``."""
    runs_unknown: list[int]
    """Ids of the nodes in loops of unknown length."""
    uncounted: list[int]
    """Ids of nodes in branches of an If that the totals do not include; ``reason`` says so too."""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """Node id (as text) → scalars and short settings shown in its box: ``+ 1``, ``0 … 6``."""


class TensorColumns(Wire, frozen=True, kw_only=True):
    """One entry per tensor, index = tensor id."""

    name: list[str]
    dtype: list[int]
    """Index into ``dtypes``."""
    shape: list[int]
    """Index into ``shapes``."""
    kind: list[int]
    """0 activation, 1 graph input, 2 initializer, 3 constant, 4 formal input of a subgraph."""
    producer: list[int]
    """Node id or -1."""
    inputs: list[int]
    """Ids of the main graph's inputs, in order."""
    outputs: list[int]
    """Ids of the main graph's outputs, in order."""


class ScopeColumns(Wire, frozen=True, kw_only=True):
    """The tree of boxes; parents precede their children. Index = scope id.

    Modules, and boxes around repeats and recognised structures where modules are not enough.
    """

    parent: list[int]
    label: list[str]
    type: list[str]
    """Class name, empty when unknown."""
    role: list[str]
    """Role of a box derived from its operators (``C2f``, ``LSTM``, ``Conv block (Conv+SiLU)``), if its class
    is unknown; empty if they imply none."""
    origin: list[str]
    """``scope`` (recorded by the exporter), ``name`` (from ``/a/b`` names), ``function``, ``subgraph``; for
    boxes that are not modules ``repeat``, ``repeat-part``, ``structure`` and ``plumbing`` (nodes that only
    prepare sizes or weights; ``type`` is the operator that needs them)."""


class ModuleColumns(Wire, frozen=True, kw_only=True):
    """Modules of the original model as recorded by its exporter; search uses them for tags and scopes."""

    tag: list[str]
    """Class path, ``/BertModel/BertEncoder/BertLayer.0``."""
    scopes: list[list[str]]
    """Full paths, ``encoder.layer.0``: the module, then others that contributed to the same nodes."""
    node: list[int]
    """By node: index into the columns above, -1 if nothing is recorded."""


AttributeItem = int | float | str


class AttributeColumns(Wire, frozen=True, kw_only=True):
    """Attributes in the file, for searching by name and value. Constant nodes are not included."""

    name: list[str]
    value: list[AttributeItem | list[AttributeItem]]
    """One entry per distinct pair of name and value. Empty text for tensors and subgraphs."""
    node: list[int]
    """The node of each attribute, ascending."""
    entry: list[int]
    """Index into the columns above, parallel to ``node``."""


class GraphColumns(Wire, frozen=True, kw_only=True):
    """Main graph (0) and subgraphs."""

    name: list[str]
    parent_node: list[int]
    attribute: list[str]
    scope: list[int]
    """Scope id of this subgraph's box, -1 for the main graph."""
    inputs: list[list[int]]
    outputs: list[list[int]]


class RepeatColumns(Wire, frozen=True, kw_only=True):
    """Runs of isomorphic parts; outer repeats precede those inside their parts.

    Repeats that a viewer folds are boxes in ``scopes`` with origin ``repeat``.
    """

    count: list[int]
    """Number of parts."""
    size: list[int]
    """Nodes per part."""
    name: list[str]
    """Name of a part."""


class BlockKind(Wire, frozen=True, kw_only=True):
    """Fields shared by structural blocks of one kind, as in ``Block``."""

    kind: str
    variant: str
    how: str
    confidence: float
    facts: dict[str, int | float | str | bool | None]


class BlockColumns(Wire, frozen=True, kw_only=True):
    """The structural blocks of the report, in its order; modules are in ``scopes``.

    A block's costs are the sums of its nodes, for any dimensions.
    """

    what: list[int]
    """Index into ``kinds``."""
    kinds: list[BlockKind]
    offsets: list[int]
    """Nodes of block b are ``nodes[offsets[b] … offsets[b + 1])``."""
    nodes: list[int]
    """Node ids, ascending per block and delta-encoded: the first one as is, the others as differences."""


class TimelineColumns(Wire, frozen=True, kw_only=True):
    """Memory over the whole run, one entry per step, and the lifetime of each tensor.

    Columns of bytes are empty if a size is unknown.
    """

    node: list[int]
    """Node that runs at each step of the main graph."""
    simple_bytes: list[int]
    """Live bytes without buffer reuse, including the costliest subgraph."""
    inplace_bytes: list[int]
    """Live bytes with views and in-place reuse."""
    body_step: list[int]
    """Steps whose node has subgraphs."""
    body_simple_bytes: list[int]
    """Bytes that the costliest subgraph adds at each of them."""
    body_inplace_bytes: list[int]
    tensor_last: list[int]
    """By tensor: the last step of its own graph that needs it, -2 for weights. It is live from the step of
    its producer, an input from before the first step."""
    tensor_memory: dict[str, int]
    """Tensor id (as text) → the tensor whose memory it reuses in place."""


class ExpressionCondition(Wire, frozen=True, kw_only=True):
    """A condition that bindings must meet for the expressions to hold."""

    relation: str
    """``zero``: the tree is 0. ``positive``: at least 1. ``nonzero``: not 0."""
    tree: int
    """Index into ``trees``."""


class ExpressionPool(Wire, frozen=True, kw_only=True):
    """Costs as expressions in the input dimensions, to evaluate without a new analysis.

    A tree is an integer, the name of a symbol, or a list of an operator and its operands:
    ``["+", …]``, ``["*", …]``, ``["max", …]``, ``["min", …]`` of two or more, ``["//", a, b]`` (rounded
    down), ``["$", i]`` for ``trees[i]`` (a smaller index than its own) and ``["n", "…"]`` for an integer
    beyond 2^53. Indices of -1 mean that there is no exact expression.

    Expressions hold for values of at least 1 that meet ``conditions``; for others the model must be analysed
    again, or cannot run.
    """

    symbols: list[str]
    """Names used in the trees."""
    dims: list[str]
    """``dims[].name`` of each symbol."""
    trees: list[Any]
    """The pool."""
    conditions: list[ExpressionCondition]
    """Conditions for all expressions."""
    inplace_conditions: list[ExpressionCondition]
    """Further conditions for the peak with in-place reuse."""
    macs: list[int]
    """By node: index into ``trees``. For one execution, like ``NodeColumns.macs``."""
    flops: list[int]
    """By node, for one execution."""
    read_bytes: list[int]
    """By node, for one execution."""
    write_bytes: list[int]
    """By node, for one execution."""
    activation_bytes: list[int]
    """By node."""
    runs: dict[str, int]
    """Node id (as text) → index into ``trees``: runs per inference, if not one."""
    shapes: list[list[int]]
    """By entry of the payload's ``shapes``: index into ``trees`` of each dimension, -1 if unknown; empty for
    entries without symbolic dimensions."""
    totals: dict[str, int]
    """``macs``, ``flops``, ``read_bytes``, ``write_bytes``, ``peak_activation_bytes``,
    ``peak_activation_bytes_simple`` → index into ``trees``."""
    reason: dict[str, str]
    """Node id (as text), or the name of a total → why an expression is missing."""


class RuleSettings(Wire, frozen=True, kw_only=True):
    """Settings of the rules, where they differ from the defaults."""

    source: str
    """Base name of the threshold file; empty for settings that came with the request."""
    floor: str
    """Findings below this severity are not included; empty: all are."""
    disabled: list[str]
    """Disabled rules."""
    severities: dict[str, str]
    """Rule → severity of all its findings."""
    thresholds: dict[str, dict[str, float | int]]
    """Rule → threshold → value, where it differs from the default."""
    read_weights: bool
    """True if all weights were read, for the rules about their values."""


class BatchOffer(Wire, frozen=True, kw_only=True):
    """Costs of a model with a fixed batch at other batch sizes, for which it is rewritten."""

    dim: DimInfo
    """The batch dimension and its inputs; its value is the batch in the file."""
    expressions: ExpressionPool
    """By the nodes of the payload; nodes added by the rewrite count with the node they serve. The shapes are
    those of this offer."""
    shapes: list[list[DimValue] | None]
    """The payload's shapes; one is repeated for each way in which it contains the batch."""
    shape: list[int]
    """Index into ``shapes`` for each tensor of the payload."""


class BatchAnswer(Wire, frozen=True, kw_only=True):
    """Whether costs at other batch sizes are available for a model with a fixed batch."""

    offer: BatchOffer | None
    reason: str
    """Why there is no offer, such as the node that prevents it; else empty."""


class GraphPayload(Wire, frozen=True, kw_only=True):
    """The data that the viewer draws, in compact columns: about 100–200 bytes per node."""

    schema_version: str
    model: ModelInfo
    graph: GraphInfo
    metrics: Metrics
    memory: MemoryInfo
    timeline: TimelineColumns | None
    """Null if the memory stage failed."""
    coverage: Coverage
    dims: list[DimInfo]
    diagnostics: list[DiagnosticInfo]
    ops: list[OpEntry]
    dtypes: list[str]
    shapes: list[list[DimValue] | None]
    graphs: GraphColumns
    scopes: ScopeColumns
    nodes: NodeColumns
    tensors: TensorColumns
    architecture: ArchitectureInfo | None = None
    """Family of the network."""
    expressions: ExpressionPool | None = None
    """Null without symbolic input dimensions."""
    batch: BatchOffer | None = None
    """Included in one-file pages; others request it (``getBatch``). Null if a dimension is symbolic, or the
    batch cannot be changed."""
    modules: ModuleColumns | None = None
    """Null if no modules are recorded."""
    attributes: AttributeColumns | None = None
    """Null if no node has attributes."""
    repeats: RepeatColumns
    blocks: BlockColumns | None = None
    """Null if there are too many to list."""
    risk_signals: list[RiskSignal] = []
    """Findings of the rules, most severe first; ``nodes`` are node ids."""
    rule_settings: RuleSettings | None = None
    """Null for default rule settings."""
    runnable: Runnable = Runnable(verdict="unknown", reason="the report does not say")
    """Whether the model runs with these dimensions; if not, totals are null."""
    hardware: HardwarePart | None = None
    """Data for latency estimates. Null if the kernels could not be determined."""
    identity: Identity | None = None
    """The model in words; null in reports of older versions."""
