"""What the viewer draws: columns instead of rows, tens of thousands of nodes long."""

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
    """One entry a node, index = node id. Unknown numbers are null.

    ``macs``, ``flops``, ``read_bytes`` and ``write_bytes`` are of **one execution**; times ``runs`` they are
    those of one inference, which is what tables and pictures show.

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
    """Ids of the Constant nodes: hidden in the picture, no cost."""
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
    """Node id (as text) → how often it runs in one inference, where that is not once; as ``Layer.runs``."""
    runs_unknown: list[int]
    """Ids of the nodes in loops of unknown length."""
    uncounted: list[int]
    """Ids of the nodes in branches of an If that the totals leave out; ``reason`` says so too."""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """Node id (as text) → its scalars and short settings, ``+ 1``, ``0 … 6``, as a card shows them."""


class TensorColumns(Wire, frozen=True, kw_only=True):
    """One entry a tensor, index = tensor id."""

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
    """The tree of boxes; a parent comes before its children. Index = scope id.

    Modules, and boxes around repeats and recognised structures where modules say too little.
    """

    parent: list[int]
    label: list[str]
    type: list[str]
    """Class name, empty when unknown."""
    role: list[str]
    """What the box does, told from its operators (``C2f``, ``LSTM``, ``Conv block (Conv+SiLU)``), where no
    class is known; empty when they do not say."""
    origin: list[str]
    """``scope`` (recorded by the exporter), ``name`` (from ``/a/b`` names), ``function``, ``subgraph``; of
    boxes that are not modules ``repeat``, ``repeat-part``, ``structure`` and ``plumbing`` (what only prepares
    sizes or weights; ``type`` is the operator that needs them)."""


class ModuleColumns(Wire, frozen=True, kw_only=True):
    """Modules of the original model as their exporter recorded them: what search finds by tag and scope."""

    tag: list[str]
    """Path of classes, ``/BertModel/BertEncoder/BertLayer.0``."""
    scopes: list[list[str]]
    """Full paths, ``encoder.layer.0``: the module, then others that the same nodes were made from."""
    node: list[int]
    """By node: index into the columns above, -1 where nothing is recorded."""


AttributeItem = int | float | str


class AttributeColumns(Wire, frozen=True, kw_only=True):
    """Attributes as the file has them: what search finds by name and value. Constant nodes have none here."""

    name: list[str]
    value: list[AttributeItem | list[AttributeItem]]
    """By entry, each pair of name and value once. Empty text for tensors and bodies."""
    node: list[int]
    """A node for each of its attributes, ascending."""
    entry: list[int]
    """Index into the columns above, one for each of ``node``."""


class GraphColumns(Wire, frozen=True, kw_only=True):
    """Main graph (0) and subgraphs."""

    name: list[str]
    parent_node: list[int]
    attribute: list[str]
    scope: list[int]
    """Scope id that stands for this subgraph's box, -1 for the main graph."""
    inputs: list[list[int]]
    outputs: list[list[int]]


class RepeatColumns(Wire, frozen=True, kw_only=True):
    """Runs of isomorphic parts; an outer one comes before those inside its parts.

    Those that a viewer folds are boxes in ``scopes`` of origin ``repeat``.
    """

    count: list[int]
    """Parts."""
    size: list[int]
    """Nodes a part."""
    name: list[str]
    """What to call a part."""


class BlockKind(Wire, frozen=True, kw_only=True):
    """What structural blocks that are alike have in common; fields as those of ``Block``."""

    kind: str
    variant: str
    how: str
    confidence: float
    facts: dict[str, int | float | str | bool | None]


class BlockColumns(Wire, frozen=True, kw_only=True):
    """The structural blocks of the report, in its order; modules are in ``scopes``.

    A block's costs are the sums of its nodes, whatever the sizes.
    """

    what: list[int]
    """Index into ``kinds``."""
    kinds: list[BlockKind]
    offsets: list[int]
    """Nodes of block b are ``nodes[offsets[b] … offsets[b + 1])``."""
    nodes: list[int]
    """Ids, ascending in a block: the first one as it is, each other as the step from the one before."""


class TimelineColumns(Wire, frozen=True, kw_only=True):
    """Memory over the whole run, one entry a step, and how long each tensor lives.

    Columns of bytes are empty when a size is unknown.
    """

    node: list[int]
    """Node that runs at each step of the main graph."""
    simple_bytes: list[int]
    """Bytes alive when every output has its own memory, the costliest body on top."""
    inplace_bytes: list[int]
    """The same with views and in-place reuse understood."""
    body_step: list[int]
    """Steps whose node has bodies."""
    body_simple_bytes: list[int]
    """What the costliest body adds at each of them."""
    body_inplace_bytes: list[int]
    tensor_last: list[int]
    """By tensor: the last step of its own graph that needs it, -2 for weights. It lives from the step of
    its producer on, an input from before the first."""
    tensor_memory: dict[str, int]
    """Tensor id (as text) → the tensor whose memory it takes over in place."""


class ExpressionCondition(Wire, frozen=True, kw_only=True):
    """What a binding must fulfil for expressions to hold."""

    relation: str
    """``zero``: the tree is 0. ``positive``: at least 1. ``nonzero``: not 0."""
    tree: int
    """Index into ``trees``."""


class ExpressionPool(Wire, frozen=True, kw_only=True):
    """Costs as expressions in the input sizes, to evaluate without analysing again.

    A tree is an integer, the name of a symbol, or a list of an operator and its operands:
    ``["+", …]``, ``["*", …]``, ``["max", …]``, ``["min", …]`` of two or more, ``["//", a, b]`` (rounded
    down), ``["$", i]`` for ``trees[i]`` (a smaller index than its own) and ``["n", "…"]`` for an integer
    beyond 2^53. Indices of -1 mean that there is no exact expression.

    Everything holds for sizes of at least 1 that fulfil ``conditions``; under others the model must be
    analysed again, or cannot run.
    """

    symbols: list[str]
    """Names as the trees hold them."""
    dims: list[str]
    """``dims[].name`` of each symbol."""
    trees: list[Any]
    """The pool."""
    conditions: list[ExpressionCondition]
    """For every expression."""
    inplace_conditions: list[ExpressionCondition]
    """Besides, for the peak with in-place reuse."""
    macs: list[int]
    """By node: index into ``trees``. Of one execution, like ``NodeColumns.macs``."""
    flops: list[int]
    """By node, of one execution."""
    read_bytes: list[int]
    """By node, of one execution."""
    write_bytes: list[int]
    """By node, of one execution."""
    activation_bytes: list[int]
    """By node."""
    runs: dict[str, int]
    """Node id (as text) → index into ``trees``: how often it runs, where that is not once."""
    shapes: list[list[int]]
    """By entry of the payload's ``shapes``: index into ``trees`` of each size, -1 where unknown; an entry
    without free sizes is empty."""
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
    """Other batches for a model whose batch is fixed: costs of the model rewritten for them."""

    dim: DimInfo
    """The batch and the inputs that hold it; its value is the file's."""
    expressions: ExpressionPool
    """By the nodes of the payload; what a rewritten model has besides counts with the node it serves.
    Its shapes are those of this offer."""
    shapes: list[list[DimValue] | None]
    """The payload's; one stands here as often as the batch is in it in different ways."""
    shape: list[int]
    """Index into ``shapes`` for each tensor of the payload."""


class BatchAnswer(Wire, frozen=True, kw_only=True):
    """Whether a model whose batch is fixed can have others."""

    offer: BatchOffer | None
    reason: str
    """Why there is no offer, as the node that forbids it; else empty."""


class GraphPayload(Wire, frozen=True, kw_only=True):
    """What the viewer draws. Columnar and compact: about 100–200 bytes a node."""

    schema_version: str
    model: ModelInfo
    graph: GraphInfo
    metrics: Metrics
    memory: MemoryInfo
    timeline: TimelineColumns | None
    """Null when the memory stage failed."""
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
    """Null when no input size is free."""
    batch: BatchOffer | None = None
    """In one-file pages, which have nobody to ask; others ask for it (``getBatch``). Null when a size is
    free, or the batch cannot be changed."""
    modules: ModuleColumns | None = None
    """Null when no node's module is recorded."""
    attributes: AttributeColumns | None = None
    """Null when no node has any."""
    repeats: RepeatColumns
    blocks: BlockColumns | None = None
    """Null when there are too many to list."""
    risk_signals: list[RiskSignal] = []
    """Findings of the rules, worst first; ``nodes`` are node ids."""
    rule_settings: RuleSettings | None = None
    """Null when the rules ran as they come."""
    runnable: Runnable = Runnable(verdict="unknown", reason="the report does not say")
    """Whether the model runs with these dimensions; if not, totals are null."""
    hardware: HardwarePart | None = None
    """What latencies are estimated from. Null when kernels could not be told."""
    identity: Identity | None = None
    """The model in words; null in reports of versions that had none."""
