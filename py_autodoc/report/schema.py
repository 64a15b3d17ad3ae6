"""The one wire model: what JSON files, the server and the viewer speak.

msgspec Structs, snake_case, units in the names, ``None`` for unknown (never 0). The JSON Schema
(``report.schema.json``), the OpenAPI document and the TypeScript types are generated from here.
"""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA_VERSION = "1.0"

DimValue = int | str | None
"""A known size, a symbol, or unknown."""


class _Wire(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the wire structs."""


# ---------------------------------------------------------------- report


class OpsetImport(_Wire, frozen=True, kw_only=True):
    """A domain (``ai.onnx`` spelt out) and its version."""

    domain: str
    version: int


class ModelInfo(_Wire, frozen=True, kw_only=True):
    """What the file says of itself. ``name`` is the base name, never a path."""

    name: str
    file_bytes: int
    structure_bytes: int
    external_files: list[str]
    external_bytes: int
    identity: str
    onnx_ir_version: str
    opset_imports: list[OpsetImport]
    producer_name: str
    producer_version: str
    domain: str
    model_version: int
    doc_string: str
    metadata: dict[str, str]


class ValueInfo(_Wire, frozen=True, kw_only=True):
    """A graph input or output. ``shape`` of None: rank unknown."""

    name: str
    elem_type: str
    shape: list[DimValue] | None
    container: str = "tensor"


class GraphInfo(_Wire, frozen=True, kw_only=True):
    """Counts and the interface of the main graph."""

    name: str
    num_nodes: int
    """Nodes of all graphs, Constant nodes excluded."""
    num_constant_nodes: int
    num_edges: int
    num_initializers: int
    num_subgraphs: int
    num_functions: int
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    op_counts: dict[str, int]


class Layer(_Wire, frozen=True, kw_only=True):
    """One node. ``id`` is the node's number in this report; names need not be unique."""

    id: int
    name: str
    type: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    input_shape: list[DimValue] | None
    """Shape of the first non-constant input."""
    output_shape: list[DimValue] | None
    input_shapes: list[list[DimValue] | None]
    output_shapes: list[list[DimValue] | None]
    output_dtype: str
    params: int
    """Parameters this node is the first to use."""
    weight_bytes: int | None
    macs: int | None
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    activation_bytes: int | None
    """Bytes of the outputs."""
    group: str
    """Scope path, ``/``-separated."""
    tag: str
    attributes: dict[str, Any]
    subgraph: str = ""
    """Where the node lives when it is not in the main graph: ``If_3.then_branch``."""
    repeat: int | None = 1
    """How often the node runs in one inference (loop bodies); None when unknown."""
    counted: bool = True
    """False in the branch of an If that the totals leave out because the other one costs more."""
    reason: str = ""
    """Why a number is null."""


class Block(_Wire, frozen=True, kw_only=True):
    """A group of nodes shown as one box, from scopes or names. Sums are of what is known, per inference."""

    name: str
    """Scope path, ``/``-separated."""
    type: str
    """Class name, empty when unknown."""
    nodes: list[int]
    """Ids of the layers in it, those of inner blocks included."""
    params: int
    macs: int | None
    flops: int | None
    activation_bytes: int | None


class OpTotals(_Wire, frozen=True, kw_only=True):
    """Totals of one operator type in one inference."""

    type: str
    count: int
    params: int
    macs: int | None
    """Null when no node of the type has known costs."""
    flops: int | None


class Metrics(_Wire, frozen=True, kw_only=True):
    """Totals. A null total means that no part of it could be computed."""

    total_params: int
    other_constants: dict[str, int]
    """Elements that are not parameters: integer constants, scales, zero points, masks …"""
    weight_bytes: int | None
    total_macs: int | None
    total_flops: int | None
    read_bytes: int | None
    write_bytes: int | None
    peak_activation_bytes: int | None
    """Liveness peak with views and in-place reuse understood."""
    peak_activation_bytes_simple: int | None
    """The same without reuse."""
    peak_reason: str
    """Why the peak is null."""
    by_op: list[OpTotals]


class Coverage(_Wire, frozen=True, kw_only=True):
    """How much of the model the totals cover. Shares are between 0 and 1."""

    nodes: float
    """Share of nodes whose cost is known."""
    nodes_known: int
    nodes_total: int
    shapes: float
    """Share of tensors whose shape is all numbers."""
    macs: float | None
    """Share of MAC-carrying nodes (Conv, MatMul …) whose MACs are known."""
    unknown_ops: dict[str, int]
    reasons: dict[str, int]
    """Why costs are unknown → number of nodes."""


class DimInfo(_Wire, frozen=True, kw_only=True):
    """A free symbol of the inputs."""

    name: str
    value: int | None
    """The value used, None when the symbol stayed a symbol."""
    assumed: bool
    """True when the value was not given by the user but assumed."""
    suggested: int
    where: list[str]
    """``input_ids[0]`` …"""


class DiagnosticInfo(_Wire, frozen=True, kw_only=True):
    """Something the reader must know. ``node`` is a layer id or null."""

    code: str
    severity: str
    message: str
    where: str = ""
    node: int | None = None


class Generator(_Wire, frozen=True, kw_only=True):
    """Who made the report."""

    name: str
    version: str


class RiskSignal(_Wire, frozen=True, kw_only=True):
    """A finding: something in the design that may hurt."""

    id: str
    severity: str
    description: str
    nodes: list[int]
    """Ids of the layers it is about."""
    evidence: dict[str, Any]
    recommendation: str


class Report(_Wire, frozen=True, kw_only=True):
    """The whole report."""

    schema_version: str
    generator: Generator
    model: ModelInfo
    graph: GraphInfo
    metrics: Metrics
    coverage: Coverage
    dims: list[DimInfo]
    diagnostics: list[DiagnosticInfo]
    layers: list[Layer]
    layers_omitted: int
    """Layers cut by ``--max-layers``."""
    blocks: list[Block]
    risk_signals: list[RiskSignal]

    def to_json(self, indent: int = 0) -> str:
        """The report as JSON text, ``indent`` spaces a level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """A report from its JSON text, fields checked. Raises: msgspec.ValidationError."""
        return msgspec.json.decode(text, type=cls)


# ---------------------------------------------------------------- viewer payload (columnar)


class OpEntry(_Wire, frozen=True, kw_only=True):
    """An operator type used in the model."""

    type: str
    domain: str
    category: str
    """One of the categories of ``report/categories.py``: layer, activation, normalization, pool …"""
    opset: int


class NodeColumns(_Wire, frozen=True, kw_only=True):
    """One entry a node, index = node id. Unknown numbers are null.

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
    params: list[int]
    weight_bytes: list[int | None]
    macs: list[int | None]
    flops: list[int | None]
    read_bytes: list[int | None]
    write_bytes: list[int | None]
    activation_bytes: list[int | None]
    reason: dict[str, str]
    """Node id (as text) → why its numbers are null."""
    repeat: dict[str, int | None]
    """Node id (as text) → how often it runs in one inference, where that is not once; null: unknown.

    ``macs``, ``flops`` and the traffic are of one inference: one execution times this number, an
    unknown number counted as one.
    """


class TensorColumns(_Wire, frozen=True, kw_only=True):
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


class ScopeColumns(_Wire, frozen=True, kw_only=True):
    """The tree of modules; a parent comes before its children. Index = scope id."""

    parent: list[int]
    label: list[str]
    type: list[str]
    """Class name, empty when unknown."""
    origin: list[str]
    """``scope`` (recorded by the exporter), ``name`` (from ``/a/b`` names), ``subgraph``, ``function``."""


class GraphColumns(_Wire, frozen=True, kw_only=True):
    """Main graph (0) and subgraphs."""

    name: list[str]
    parent_node: list[int]
    attribute: list[str]
    scope: list[int]
    """Scope id that stands for this subgraph's box, -1 for the main graph."""
    inputs: list[list[int]]
    outputs: list[list[int]]


class GraphPayload(_Wire, frozen=True, kw_only=True):
    """What the viewer draws. Columnar and compact: about 100–200 bytes a node."""

    schema_version: str
    model: ModelInfo
    graph: GraphInfo
    metrics: Metrics
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


# ---------------------------------------------------------------- one node's details


class AttributeInfo(_Wire, frozen=True, kw_only=True):
    """An attribute as text plus its kind; ``default`` when the file leaves it out."""

    name: str
    type: str
    value: Any
    default: bool = False
    description: str = ""


class ConstantInfo(_Wire, frozen=True, kw_only=True):
    """A constant input of the node; ``values`` are its first numbers when they are in the structure."""

    tensor: int
    name: str
    elem_type: str
    shape: list[DimValue] | None
    bytes: int | None
    location: str
    values: list[Any] | None


class OperatorDoc(_Wire, frozen=True, kw_only=True):
    """The operator's documentation from the ONNX schema (Markdown source)."""

    type: str
    domain: str
    since_version: int
    deprecated: bool
    doc: str
    inputs: list[dict[str, str]]
    outputs: list[dict[str, str]]
    url: str


class NodeDetails(_Wire, frozen=True, kw_only=True):
    """What the inspector shows beyond the payload's columns."""

    id: int
    name: str
    type: str
    domain: str
    opset: int
    tag: str
    scope: list[str]
    classes: list[str]
    doc_string: str
    metadata: dict[str, str]
    attributes: list[AttributeInfo]
    constants: list[ConstantInfo]
    operator: OperatorDoc | None
    stack_trace: str


# ---------------------------------------------------------------- server


class JobRequest(_Wire, frozen=True, kw_only=True):
    """Start (or find) the analysis of a file under the server's root."""

    path: str
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    """Give every unbound symbol its suggested value; ``dims[].assumed`` says which."""


class Job(_Wire, frozen=True, kw_only=True):
    """State of one analysis. ``state``: queued, running, done, failed, cancelled."""

    id: str
    state: str
    phase: str
    done: int
    total: int
    seq: int
    identity: str | None
    problem: Problem | None


class Problem(_Wire, frozen=True, kw_only=True):
    """problem+json (RFC 9457) with our code and hint."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str


class FileStamp(_Wire, frozen=True, kw_only=True):
    """A cheap look at a file under the server's root, to notice that it changed on disk."""

    path: str
    bytes: int
    mtime_ns: str
    """Modification time in nanoseconds, as text: it is beyond the integers a browser keeps exact."""
    kind: str
    """``onnx`` or ``other``, by the name."""
