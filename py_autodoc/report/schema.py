"""The one wire model: what JSON files, the server and the viewer speak.

msgspec Structs, snake_case, units in the names, ``None`` for unknown (never 0). The JSON Schema
(``report.schema.json``), the OpenAPI document and the TypeScript types are generated from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import pandas

    from py_autodoc.report.stats import ModelStats

SCHEMA_VERSION = "1.0"

DimValue = int | str | None
"""A known size, a symbol, or unknown."""


class _Wire(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the wire structs."""


# ---------------------------------------------------------------- report


class OpsetImport(_Wire, frozen=True, kw_only=True):
    """A domain (``ai.onnx`` spelt out) and its version."""

    domain: str
    """Domain."""
    version: int
    """Version."""


class ModelInfo(_Wire, frozen=True, kw_only=True):
    """What the file says of itself. ``name`` is the base name, never a path."""

    name: str
    """Base name of the file."""
    file_bytes: int
    """Size of the file."""
    structure_bytes: int
    """What was read of it: everything but weights."""
    external_files: list[str]
    """Names of the files with external data, as the model writes them."""
    external_bytes: int
    """Bytes the model keeps in them."""
    identity: str
    """Content identity: SHA-256 over the structure and over the places and sizes of the weights."""
    onnx_ir_version: str
    """Version of the file format."""
    opset_imports: list[OpsetImport]
    """Operator sets the model is written for."""
    producer_name: str
    """The program that wrote the file."""
    producer_version: str
    """Its version."""
    domain: str
    """The model's own namespace."""
    model_version: int
    """The model's own version."""
    doc_string: str
    """Free text of the author, at most 4,096 characters."""
    metadata: dict[str, str]
    """Free key-value pairs of the author."""


class ValueInfo(_Wire, frozen=True, kw_only=True):
    """A graph input or output. ``shape`` of None: rank unknown."""

    name: str
    """Name."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Null: rank unknown."""
    container: str = "tensor"
    """``tensor``, ``sparse``, ``sequence``, ``optional`` or ``map``."""


class GraphInfo(_Wire, frozen=True, kw_only=True):
    """Counts and the interface of the main graph."""

    name: str
    """Name of the main graph."""
    num_nodes: int
    """Nodes of all graphs, Constant nodes excluded."""
    num_constant_nodes: int
    """Constant nodes, which fold into their consumers."""
    num_edges: int
    """Pairs of nodes joined by an activation."""
    num_initializers: int
    """Constants stored beside the nodes."""
    num_subgraphs: int
    """Bodies of control flow."""
    num_functions: int
    """Local functions defined in the file."""
    inputs: list[ValueInfo]
    """What a caller must feed; initializers that are listed as inputs are left out."""
    outputs: list[ValueInfo]
    """What the model returns."""
    op_counts: dict[str, int]
    """Operator type → nodes, most frequent first."""


class Layer(_Wire, frozen=True, kw_only=True):
    """One node. ``id`` is the node's number in this report; names need not be unique."""

    id: int
    """Number of the node."""
    name: str
    """Name of the node, or ``Conv_17`` where the file gives none."""
    type: str
    """Operator."""
    domain: str
    """Domain of the operator, ``ai.onnx`` spelt out."""
    inputs: list[str]
    """Names of the inputs, empty where an optional one is omitted."""
    outputs: list[str]
    """Names of the outputs."""
    input_shape: list[DimValue] | None
    """Shape of the first non-constant input."""
    output_shape: list[DimValue] | None
    """Shape of the first output."""
    input_shapes: list[list[DimValue] | None]
    """Shapes of all inputs."""
    output_shapes: list[list[DimValue] | None]
    """Shapes of all outputs."""
    output_dtype: str
    """Element type of the first output."""
    params: int
    """Parameters this node is the first to use."""
    weight_bytes: int | None
    """Bytes of the constants this node is the first to use."""
    macs: int | None
    """Multiply-accumulates of one execution."""
    flops: int | None
    """Floating point operations of one execution: 2 × MACs plus the arithmetic of the rest."""
    read_bytes: int | None
    """Bytes of tensors read in one execution."""
    write_bytes: int | None
    """Bytes of tensors written in one execution."""
    activation_bytes: int | None
    """Bytes of the outputs."""
    group: str
    """Scope path, ``/``-separated."""
    tag: str
    """Class path, ``/BertModel/BertEncoder/BertLayer.0``."""
    attributes: dict[str, Any]
    """Attributes by name; tensors and bodies as a summary, long lists as ``{"first", "count"}``."""
    subgraph: str = ""
    """Where the node lives when it is not in the main graph: ``If_3.then_branch``."""
    repeat: int | None = 1
    """How often the node runs in one inference (loop bodies); None when unknown."""
    counted: bool = True
    """False in the branch of an If that the totals leave out because the other one costs more."""
    reason: str = ""
    """Why a number is null."""
    macs_expr: str | None = None
    """``macs`` as an expression in the input sizes. This and the next four are null when no input size
    is free, or when there is no exact expression."""
    flops_expr: str | None = None
    """``flops`` as an expression."""
    read_bytes_expr: str | None = None
    """``read_bytes`` as an expression."""
    write_bytes_expr: str | None = None
    """``write_bytes`` as an expression."""
    activation_bytes_expr: str | None = None
    """``activation_bytes`` as an expression."""
    expr_reason: str = ""
    """Why there is an expression missing although an input size is free."""


class Block(_Wire, frozen=True, kw_only=True):
    """A group of nodes shown as one box: a module, or a structure recognised in the graph.

    Sums are of what is known, per inference. A node may be in several blocks.
    """

    id: int
    """Its place in ``blocks``."""
    parent: int | None
    """The smallest block that holds all of it, null at the top."""
    kind: str
    """``module``, or of a structure: conv, depthwise-separable, squeeze-excite, residual, attention, mlp,
    gated-mlp, moe, normalization, embedding, head, recurrent."""
    name: str
    """Scope path, ``/``-separated; of a structure its kind and number."""
    type: str
    """Class name, empty when unknown."""
    variant: str
    """What refines the kind, see ``docs/blocks.md``; empty when nothing does."""
    how: str
    """How it was recognised: ``scope``, ``name``, ``function``, ``structure`` or ``subgraph``."""
    confidence: float
    """Between 0 and 1; 1 where there is no other reading."""
    nodes: list[int]
    """Ids of the layers in it, those of inner blocks included."""
    facts: dict[str, int | float | str | bool | None]
    """Sizes and names in it, null where unknown."""
    params: int
    """Parameters."""
    weight_bytes: int | None
    """Stored bytes of its constants."""
    macs: int | None
    """Of one inference."""
    flops: int | None
    """Of one inference."""
    read_bytes: int | None
    """Of one inference, unfused."""
    write_bytes: int | None
    """Of one inference, unfused."""
    activation_bytes: int | None
    """Bytes of the outputs."""


class RepeatInfo(_Wire, frozen=True, kw_only=True):
    """A run of isomorphic parts: the same operators, attributes, types and shapes of weights, wired alike."""

    count: int
    """How many parts."""
    size: int
    """Nodes in each."""
    name: str
    """What to call a part: its class, the list it is an element of, or its first operators."""
    type: str
    """Class name shared by the parts, empty when unknown."""
    scopes: list[str]
    """Scope path of each part, empty where parts are no scopes; at most 1,000 are listed.

    A part may lack nodes of its scope that only prepare something for all parts, a mask for example.
    """
    members: list[list[int]]
    """Ids of the layers in each part; ``members[i][k]`` corresponds to ``members[j][k]``.

    Empty in what comes after the first 200,000 ids of all repeats.
    """


class OpTotals(_Wire, frozen=True, kw_only=True):
    """Totals of one operator type in one inference."""

    type: str
    """Operator."""
    count: int
    """Nodes."""
    params: int
    """Parameters they own."""
    macs: int | None
    """Null when no node of the type has known costs."""
    flops: int | None
    """Null like ``macs``."""


class AttentionGroup(_Wire, frozen=True, kw_only=True):
    """Attention layers of one configuration. Null: the graph does not tell."""

    count: int
    """Layers."""
    kind: str
    """``self``, ``cross`` (keys from another sequence) or ``unknown``."""
    causal: bool | None
    """Whether no query sees a later key; null when the mask is fed or its values were not read."""
    num_heads: int | None
    """Query heads."""
    num_kv_heads: int | None
    """Key and value heads."""
    head_dim: int | None
    """Size of a head of Q and K."""
    value_dim: int | None
    """Size of a head of V."""
    hidden_size: int | None
    """Width of the residual stream that feeds it."""
    mechanism: str | None
    """``MHA``, ``GQA`` or ``MQA``."""
    queries: DimValue
    """Query positions."""
    keys: DimValue
    """Key positions, cached ones included."""
    mask: bool
    """A mask hides keys in some of them."""
    rotary: bool
    """Q and K are rotated by position."""
    relative_bias: bool
    """A learned bias is added to the scores."""
    cached: bool
    """Keys and values of earlier steps come from graph inputs."""
    fused: bool
    """One operator does it."""
    max_sequence_length: int | None
    """The longest sequence that a stored table or the cache allows."""
    max_sequence_length_reason: str
    """Where it is from, or why it is null."""
    nodes: list[int]
    """Layer ids of the Softmax or of the fused operator."""


class AttentionInfo(_Wire, frozen=True, kw_only=True):
    """The attention of a model. A fact on which the layers differ is null here and told in ``groups``."""

    num_layers: int
    """Attention layers that one inference runs."""
    self_layers: int
    """Of these, self attention."""
    cross_layers: int
    """Of these, cross attention."""
    causal_layers: int
    """Layers known to be causal."""
    unknown_causal_layers: int
    """Layers that may or may not be."""
    num_heads: int | None
    """Query heads."""
    num_kv_heads: int | None
    """Key and value heads."""
    head_dim: int | None
    """Size of a head of Q and K."""
    hidden_size: int | None
    """Width of the residual stream."""
    mechanism: str | None
    """``MHA``, ``GQA`` or ``MQA``."""
    max_sequence_length: int | None
    """The longest sequence that a stored table or the cache allows."""
    max_sequence_length_reason: str
    """Where it is from, or why it is null."""
    groups: list[AttentionGroup]
    """Distinct configurations, in the order of their first layer."""


class ArchitectureInfo(_Wire, frozen=True, kw_only=True):
    """What kind of network it is."""

    family: str
    """``cnn``, ``transformer-encoder``, ``transformer-decoder``, ``encoder-decoder``, ``detector``,
    ``segmenter``, ``recurrent``, ``state-space``, ``mlp``, ``hybrid``, ``classical-ml`` or ``unknown``."""
    confidence: float
    """Between 0 and 1."""
    evidence: list[str]
    """One line a reason."""


class Metrics(_Wire, frozen=True, kw_only=True):
    """Totals. A null total means that no part of it could be computed."""

    total_params: int
    """Parameters, tied ones counted once."""
    other_constants: dict[str, int]
    """Elements that are not parameters: integer constants, scales, zero points, masks …"""
    weight_bytes: int | None
    """Bytes of all constants as stored."""
    total_macs: int | None
    """Multiply-accumulates of one inference."""
    total_flops: int | None
    """Floating point operations of one inference."""
    read_bytes: int | None
    """Tensor bytes read in one inference, unfused."""
    write_bytes: int | None
    """Tensor bytes written in one inference, unfused."""
    peak_activation_bytes: int | None
    """Liveness peak with views and in-place reuse understood."""
    peak_activation_bytes_simple: int | None
    """The same without reuse."""
    peak_reason: str
    """Why the peak is null."""
    by_op: list[OpTotals]
    """The same by operator type, heaviest first."""
    attention: AttentionInfo | None = None
    """Attention layers; null for a model without."""
    total_macs_expr: str | None = None
    """``total_macs`` as an expression in the input sizes. This and the next five are null when no input
    size is free, or when there is no exact expression."""
    total_flops_expr: str | None = None
    """``total_flops`` as an expression."""
    read_bytes_expr: str | None = None
    """``read_bytes`` as an expression."""
    write_bytes_expr: str | None = None
    """``write_bytes`` as an expression."""
    peak_activation_bytes_expr: str | None = None
    """``peak_activation_bytes`` as an expression."""
    peak_activation_bytes_simple_expr: str | None = None
    """``peak_activation_bytes_simple`` as an expression."""
    expr_coverage: float | None = None
    """Share of nodes (Constant nodes excluded) whose MACs and FLOPs have an expression; the totals leave
    out the others, whose numbers are unknown under any sizes. Null when no input size is free."""
    expr_conditions: list[str] = []
    """What the sizes must fulfil for expressions to hold: ``h - 32*ceil(h/32) = 0``, ``(h - 2)//4 >= 1``."""
    inplace_conditions: list[str] = []
    """What they must fulfil besides for ``peak_activation_bytes_expr``."""
    expr_reasons: dict[str, str] = {}
    """Field above → why it is null although an input size is free."""


class Coverage(_Wire, frozen=True, kw_only=True):
    """How much of the model the totals cover. Shares are between 0 and 1."""

    nodes: float
    """Share of nodes whose cost is known."""
    nodes_known: int
    """Nodes whose cost is known."""
    nodes_total: int
    """Nodes, Constant nodes excluded."""
    shapes: float
    """Share of tensors whose shape is all numbers."""
    macs: float | None
    """Share of MAC-carrying nodes (Conv, MatMul …) whose MACs are known."""
    unknown_ops: dict[str, int]
    """Operators without a cost rule → nodes."""
    reasons: dict[str, int]
    """Why costs are unknown → number of nodes."""


class DimInfo(_Wire, frozen=True, kw_only=True):
    """A free symbol of the inputs."""

    name: str
    """The symbol."""
    value: int | None
    """The value used, None when the symbol stayed a symbol."""
    assumed: bool
    """True when the value was not given by the user but assumed."""
    suggested: int
    """A usual size, by what the dimension means."""
    where: list[str]
    """``input_ids[0]`` …"""
    symbol: str = ""
    """How expressions write it, where the name is none that they can hold; empty when it is the name."""


class DiagnosticInfo(_Wire, frozen=True, kw_only=True):
    """Something the reader must know. ``node`` is a layer id or null."""

    code: str
    """Stable name, see ``docs/diagnostics.md``."""
    severity: str
    """``info``, ``warning`` or ``error``."""
    message: str
    """One line."""
    where: str = ""
    """Name of the node or tensor."""
    node: int | None = None
    """Id of the layer, null when it is about no node."""


class Generator(_Wire, frozen=True, kw_only=True):
    """Who made the report."""

    name: str
    """The program."""
    version: str
    """Its version."""


class RiskSignal(_Wire, frozen=True, kw_only=True):
    """A finding: something in the design that may hurt."""

    id: str
    """Rule; ``onnx-autodoc rule ID`` explains it."""
    severity: str
    """``info``, ``low``, ``medium`` or ``high``."""
    description: str
    """What was found."""
    nodes: list[int]
    """Ids of the layers it is about, at most 100; ``evidence.nodes_total`` when there are more."""
    evidence: dict[str, Any]
    """The numbers behind it, by name; a unit in the name."""
    recommendation: str
    """What to do."""


class MemoryTensor(_Wire, frozen=True, kw_only=True):
    """A piece of memory in use at the peak, and what it holds then.

    A step is the execution of one node, in execution order, Constant nodes left out; a tensor of a body
    counts the steps of its body.
    """

    name: str
    """Name of the tensor; of several in the same memory the one made last."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Its shape."""
    bytes: int
    """Size of the memory."""
    node: int | None
    """Id of the layer that makes it, null for an input."""
    first_step: int
    """Step that makes it, -1 for an input."""
    last_step: int
    """Last step that needs it; the last of all for what lives to the end."""
    sharing: int = 1
    """Living tensors in this memory: views and what was written over."""
    constant: bool = False
    """Computed from constants alone, which a runtime may do once, before the first inference."""
    subgraph: str = ""
    """Where it lives when that is not the main graph: ``If_3.then_branch``."""


class MemoryPeak(_Wire, frozen=True, kw_only=True):
    """The moment with the most bytes alive."""

    bytes: int
    """Bytes alive."""
    step: int
    """Step of the main graph, -1: the inputs alone are the most."""
    nodes: list[int]
    """Id of the layer that runs then; followed by layers in its body, where the peak stands there."""
    tensors: list[MemoryTensor]
    """What is alive, largest first, at most 20."""
    others: int
    """How many more there are."""
    others_bytes: int
    """Their bytes."""


class MemoryCurve(_Wire, frozen=True, kw_only=True):
    """Bytes alive over time, one entry a point.

    At most 256 points: a longer run is cut into 128 spans of equal length, each of which keeps the first
    step with its largest simple value and the first with its largest in-place value. Maxima are kept.
    """

    step: list[int]
    """Step of the point."""
    node: list[int]
    """Id of the layer that runs."""
    simple_bytes: list[int]
    """Bytes alive when every output has its own memory."""
    inplace_bytes: list[int]
    """Bytes alive with views and in-place reuse understood."""
    body_bytes: list[int]
    """Of these in place, what the costliest body of the layer holds at most, 0 without one."""


class WeightTypeBytes(_Wire, frozen=True, kw_only=True):
    """Constants of one element type."""

    elem_type: str
    """Element type as stored."""
    bits_per_weight: int | None
    """Set where several weights share a stored element: 4 for a MatMulNBits matrix in bytes."""
    tensors: int
    """How many, shared ones counted once."""
    params: int
    """Parameters in them."""
    bytes: int | None
    """Stored bytes, 4-bit types packed; null when one has no known size."""


class WeightOpBytes(_Wire, frozen=True, kw_only=True):
    """Constants by the operator of the first layer that uses them, past those that only prepare them."""

    type: str
    """Operator, empty for constants nobody uses."""
    tensors: int
    """How many, shared ones counted once."""
    params: int
    """Parameters in them."""
    bytes: int | None
    """Stored bytes; null when one has no known size."""


class LargeTensor(_Wire, frozen=True, kw_only=True):
    """One of the largest tensors."""

    name: str
    """Name."""
    elem_type: str
    """Element type."""
    shape: list[DimValue] | None
    """Shape."""
    bytes: int
    """Size; of a weight as stored."""
    node: int | None
    """Id of the layer: the first that uses a weight, the one that makes an activation; null for none."""


class WeightMemory(_Wire, frozen=True, kw_only=True):
    """What all constants weigh. Those that share storage count once."""

    bytes: int | None
    """All of them; null when one has no known size."""
    inline_bytes: int | None
    """Inside the model file."""
    external_bytes: int | None
    """In external data files."""
    generated_bytes: int | None
    """Weights that the graph makes itself (ConstantOfShape), at their full size."""
    by_dtype: list[WeightTypeBytes]
    """By element type, heaviest first."""
    by_op: list[WeightOpBytes]
    """By operator, heaviest first."""
    largest: list[LargeTensor]
    """The 10 largest."""


class ActivationOpBytes(_Wire, frozen=True, kw_only=True):
    """What the layers of one operator produce in one inference."""

    type: str
    """Operator."""
    count: int
    """Layers that run."""
    bytes: int | None
    """Bytes of their outputs, as often as they run; null when none is known."""
    unknown: int
    """Layers left out because an output has no known size."""


class ActivationMemory(_Wire, frozen=True, kw_only=True):
    """Bytes that pass through the model in one inference. Not all of them live at the same time."""

    bytes: int | None
    """Bytes of all outputs; null when none is known."""
    unknown: int
    """Layers left out because an output has no known size."""
    by_op: list[ActivationOpBytes]
    """By operator, heaviest first. A control-flow layer counts what it hands on from its body once more."""
    largest: list[LargeTensor]
    """The 10 largest activations, graph inputs included, views of another one left out."""


class KVCacheLayer(_Wire, frozen=True, kw_only=True):
    """Cached keys and values of one attention layer. Null where unknown."""

    inputs: list[str]
    """Graph inputs that hold them, one where both are in it; none in an estimate."""
    node: int | None
    """Id of the layer that attends to them: the Softmax or the fused operator; null in an estimate."""
    kv_heads: int | None
    """Heads of keys and values."""
    head_dim: int | None
    """Size of a head of keys."""
    value_dim: int | None
    """Size of a head of values."""
    bytes_per_token: int | None
    """Bytes of one position."""
    positions: int | None
    """Positions it holds when full, where the file fixes them."""


class KVCacheInfo(_Wire, frozen=True, kw_only=True):
    """Keys and values that a generating model keeps from token to token, for one sequence (batch 1).

    A size that differs among layers is null here and told by the layers.
    """

    source: str
    """``inputs`` (measured on the graph's past inputs), ``estimated`` (from causal attention) or ``none``."""
    confidence: float | None
    """Between 0 and 1; null without a cache."""
    num_layers: int
    """Layers with a cache of their own."""
    kv_heads: int | None
    """Heads of keys and values."""
    head_dim: int | None
    """Size of a head of keys."""
    value_dim: int | None
    """Size of a head of values."""
    elem_type: str
    """Element type of the cache, empty when unknown."""
    sequence_axis: int | None
    """Axis of the positions in the graph inputs."""
    bytes_per_token: int | None
    """Bytes of one position over all layers."""
    context_length: int | None
    """Positions of the full cache."""
    context_bytes: int | None
    """Bytes of the full cache."""
    reason: str
    """Why there is no cache, or why bytes are null."""
    context_reason: str
    """Why the full size is null."""
    layers: list[KVCacheLayer]
    """Layer by layer, at most 200."""


class MemoryInfo(_Wire, frozen=True, kw_only=True):
    """Memory of one inference: the activations' peak over time, weights, KV cache.

    The peak belongs to the execution order of the file; another order of the same nodes may need more
    or less. A runtime's allocator takes about 0.7 to 2.5 times as much.
    """

    peak: MemoryPeak | None
    """With views and in-place reuse understood; null with a ``reason``."""
    peak_simple: MemoryPeak | None
    """When every output has its own memory."""
    reason: str
    """Why the peak is null."""
    steps: int
    """Steps of the main graph."""
    input_bytes: int | None
    """Bytes of the graph inputs, alive before the first step."""
    curve: MemoryCurve | None
    """Bytes alive over time; null like the peak."""
    weights: WeightMemory | None
    """Where the bytes of the weights are; null when the stage failed."""
    activations: ActivationMemory | None
    """Where the bytes of the activations are; null when the stage failed."""
    kv_cache: KVCacheInfo | None
    """Cached keys and values; null when the stage failed."""


class Report(_Wire, frozen=True, kw_only=True, dict=True):
    """The whole report."""

    schema_version: str
    """Version of this structure."""
    generator: Generator
    """Who made the report."""
    model: ModelInfo
    """What the file says of itself."""
    graph: GraphInfo
    """Counts and interface."""
    architecture: ArchitectureInfo
    """What kind of network it is, with the reasons."""
    metrics: Metrics
    """Totals."""
    memory: MemoryInfo
    """Peak over time, weights and activations by kind, KV cache."""
    coverage: Coverage
    """How much of the model the totals cover."""
    dims: list[DimInfo]
    """Free symbols of the inputs."""
    diagnostics: list[DiagnosticInfo]
    """What the reader must know, worst first."""
    layers: list[Layer]
    """The nodes in execution order, bodies of control flow after their node."""
    layers_omitted: int
    """Layers cut by ``--max-layers``."""
    blocks: list[Block]
    """Modules, then recognised structures, with their sums."""
    repeats: list[RepeatInfo]
    """Parts that are one part several times, those that cover most layers first; at most 1,000."""
    risk_signals: list[RiskSignal]
    """Findings of the rules, worst first; at most 20 of one rule."""

    def to_json(self, indent: int = 0) -> str:
        """The report as JSON text, ``indent`` spaces a level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """A report from its JSON text, fields checked. Raises: msgspec.ValidationError."""
        return msgspec.json.decode(text, type=cls)

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists, numbers and text, the same as its JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def to_pandas(self, table: str = "layers") -> pandas.DataFrame:
        """A list of the report as a table: layers, blocks, risk_signals, diagnostics, dims or by_op.

        Unknown numbers are ``<NA>``, never 0. Raises: InputError for another table, RequirementError
        without pandas.
        """
        from py_autodoc.report.frames import frame

        return frame(self, table)

    def stats(self) -> ModelStats:
        """Counts, parameters by operator type and shapes by depth."""
        from py_autodoc.report.stats import model_stats

        return model_stats(self)

    def weights(self, name: str | int, graph: str | None = None) -> WeightValues:
        """Statistics, histogram and first values of one initializer or Constant, by name or id, read now.

        ``graph`` names a body (``"If_3.then_branch"``; ``""``: the main graph) where several have that name.
        Raises: InputError when the model is not there any more or changed, it has no such constant, or the
        constant's data are missing or damaged.
        """
        from py_autodoc.report.weights import report_weights

        return report_weights(self, name, graph)

    def _repr_html_(self) -> str:
        """What a notebook shows for a report: static HTML, all texts escaped."""
        from py_autodoc.report.notebook import html

        return html(self)


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
    """The tree of boxes; a parent comes before its children. Index = scope id.

    Modules, and boxes around repeats and recognised structures where modules say too little.
    """

    parent: list[int]
    label: list[str]
    type: list[str]
    """Class name, empty when unknown."""
    origin: list[str]
    """``scope`` (recorded by the exporter), ``name`` (from ``/a/b`` names), ``function``, ``subgraph``; of
    boxes that are no modules ``repeat``, ``repeat-part`` and ``structure``."""


class GraphColumns(_Wire, frozen=True, kw_only=True):
    """Main graph (0) and subgraphs."""

    name: list[str]
    parent_node: list[int]
    attribute: list[str]
    scope: list[int]
    """Scope id that stands for this subgraph's box, -1 for the main graph."""
    inputs: list[list[int]]
    outputs: list[list[int]]


class RepeatColumns(_Wire, frozen=True, kw_only=True):
    """Runs of isomorphic parts; an outer one comes before those inside its parts.

    Those that a viewer folds are boxes in ``scopes`` of origin ``repeat``.
    """

    count: list[int]
    """Parts."""
    size: list[int]
    """Nodes a part."""
    name: list[str]
    """What to call a part."""


class BlockKind(_Wire, frozen=True, kw_only=True):
    """What structural blocks that are alike have in common; fields as those of ``Block``."""

    kind: str
    variant: str
    how: str
    confidence: float
    facts: dict[str, int | float | str | bool | None]


class BlockColumns(_Wire, frozen=True, kw_only=True):
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


class TimelineColumns(_Wire, frozen=True, kw_only=True):
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


class ExpressionCondition(_Wire, frozen=True, kw_only=True):
    """What a binding must fulfil for expressions to hold."""

    relation: str
    """``zero``: the tree is 0. ``positive``: at least 1. ``nonzero``: not 0."""
    tree: int
    """Index into ``trees``."""


class ExpressionPool(_Wire, frozen=True, kw_only=True):
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
    """By node: index into ``trees``. Of one inference, like ``NodeColumns.macs``."""
    flops: list[int]
    """By node, of one inference."""
    read_bytes: list[int]
    """By node, of one inference."""
    write_bytes: list[int]
    """By node, of one inference."""
    activation_bytes: list[int]
    """By node."""
    shapes: list[list[int]]
    """By entry of the payload's ``shapes``: index into ``trees`` of each size, -1 where unknown; an entry
    without free sizes is empty."""
    totals: dict[str, int]
    """``macs``, ``flops``, ``read_bytes``, ``write_bytes``, ``peak_activation_bytes``,
    ``peak_activation_bytes_simple`` → index into ``trees``."""
    reason: dict[str, str]
    """Node id (as text), or the name of a total → why an expression is missing."""


class RuleSettings(_Wire, frozen=True, kw_only=True):
    """How the findings were made, where that is not as the rules come."""

    source: str
    """Base name of the threshold file; empty for settings that came with the request."""
    floor: str
    """Findings below this severity are left out; empty: none are."""
    disabled: list[str]
    """Rules that did not run."""
    severities: dict[str, str]
    """Rule → severity of all its findings."""
    thresholds: dict[str, dict[str, float | int]]
    """Rule → threshold → value, where it is another than the rule's own."""
    read_weights: bool
    """Every weight was read, for the rules about their values."""


class GraphPayload(_Wire, frozen=True, kw_only=True):
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
    """What kind of network it is."""
    expressions: ExpressionPool | None = None
    """Null when no input size is free."""
    repeats: RepeatColumns
    blocks: BlockColumns | None = None
    """Null when there are too many to list."""
    risk_signals: list[RiskSignal] = []
    """Findings of the rules, worst first; ``nodes`` are node ids."""
    rule_settings: RuleSettings | None = None
    """Null when the rules ran as they come."""


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


# ---------------------------------------------------------------- values of one constant


class WeightHistogram(_Wire, frozen=True, kw_only=True):
    """``counts[i]`` finite values lie from ``edges[i]`` to before ``edges[i + 1]``; nothing is sampled.

    The last bin of real numbers has its upper edge too.
    """

    edges: list[float | int | str]
    """One more than counts, ascending. Integers beyond 2^53 are text."""
    counts: list[int]
    """Values in each bin."""
    whole: bool
    """The values are integers, and so are the edges."""


class WeightValues(_Wire, frozen=True, kw_only=True):
    """What one initializer or Constant holds, read on request.

    Statistics are over the finite stored values unless they say otherwise.
    """

    tensor: int
    """Id of the tensor, as in the payload."""
    name: str
    """Name of the tensor."""
    graph: str
    """The body it belongs to (``If_3.then_branch``); empty for the main graph."""
    kind: str
    """``initializer`` or ``constant`` (output of a Constant node)."""
    elem_type: str
    """Element type."""
    shape: list[int]
    """Shape."""
    elements: int
    """Elements by the shape."""
    stored: int
    """Elements that are in the file: all, or those that a sparse tensor names."""
    sparse: bool
    """Stored as values and places; what is not stored is 0."""
    bytes: int | None
    """Stored size; of a sparse tensor with its places."""
    storage: str
    """``inline`` (in the model file) or ``external``."""
    location: str
    """Base name of the external file; empty for data in the model file."""
    offset: int | None
    """Where its bytes begin in that file; null when it says nothing (few values, several pieces)."""
    zeros: int | None
    """Stored elements that are 0 or false. Null for text, as all below."""
    nan: int | None
    """Stored elements that are not a number."""
    inf: int | None
    """Stored elements that are infinite."""
    min: float | int | str | None
    """Smallest value; integers beyond 2^53 as text. Null for complex numbers and where no value is finite."""
    max: float | int | str | None
    """Largest value, likewise."""
    mean: float | None
    """Arithmetic mean; null on overflow, too."""
    std: float | None
    """Population standard deviation; null on overflow, too."""
    distinct: int | None
    """Different values; null when there are more than 1,024 of a type wider than 16 bits."""
    quantiles: dict[str, float | int | str] | None
    """Share (``0.5`` …) → the smallest value that so large a share does not exceed. Null for more than
    64 MiB of a type wider than 16 bits."""
    histogram: WeightHistogram | None
    """Null where there is no smallest and largest value."""
    values: list[Any]
    """The first stored values, at most 200: numbers, booleans, text. NaN, infinite and complex numbers and
    integers beyond 2^53 are text. Empty for text of 4 KiB and more, which is not read."""
    indices: list[int] | None
    """Place of each of ``values``, counted row by row from 0; null when they are simply the first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as the JSON has them."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def to_json(self, indent: int = 0) -> str:
        """JSON text, ``indent`` spaces a level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()


# ---------------------------------------------------------------- without a server


class BundleNode(_Wire, frozen=True, kw_only=True):
    """A node's details without what the payload and the operators of the bundle tell."""

    operator: int | None
    """Index into ``operators``."""
    attributes: list[AttributeInfo]
    """Without their descriptions: those are in ``descriptions`` of the operator."""
    constants: list[ConstantInfo]
    tag: str
    doc_string: str
    metadata: dict[str, str]


class Bundle(_Wire, frozen=True, kw_only=True):
    """Everything the viewer shows of one analysed model, in one piece."""

    version: int
    payload: GraphPayload
    operators: list[OperatorDoc]
    descriptions: list[dict[str, str]]
    """Index as ``operators``: attribute name → description."""
    nodes: dict[str, BundleNode]
    """Node id → details; empty for a model too large to carry them."""


# ---------------------------------------------------------------- server


class JobRequest(_Wire, frozen=True, kw_only=True):
    """Start (or find) the analysis of a file under the server's root."""

    path: str
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    """Give every unbound symbol its suggested value; ``dims[].assumed`` says which."""
    thresholds: dict[str, Any] | str | None = None
    """What a threshold file of the rules holds, or the path of one under the server's root."""
    read_weights: bool = False
    """Read every weight, for the rules about their values."""


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


class ExtractRequest(_Wire, frozen=True, kw_only=True):
    """Which nodes of an analysed model to write as a model of their own, beside it."""

    path: str
    """The model's path under the server's root."""
    nodes: list[int]
    """Ids of nodes, as in the payload."""
    part: str = ""
    """What the part is called; the file's name tells it."""
    name: str = ""
    """Name of the file; empty: a free one, ``<model>.<part>.onnx``."""
    overwrite: bool = False
    """Replace a file of that name; never the model itself."""


class SavedFile(_Wire, frozen=True, kw_only=True):
    """A file for the reader to keep."""

    text: str
    """What is in it."""
    media_type: str
    """As ``text/html``."""
    extension: str
    """With its dot."""
    unnamed: int = 0
    """Nodes that the file could not refer to, for want of a name of their own."""


class Extracted(_Wire, frozen=True, kw_only=True):
    """What was cut out and where it is."""

    path: str
    """Path of the new model."""
    nodes: int
    """Nodes of the sub-model, copied constants included."""
    inputs: list[str]
    """Tensors that go in, the first 100 of them."""
    input_count: int
    """How many go in."""
    outputs: list[str]
    """Tensors that come out, the first 100 of them."""
    output_count: int
    """How many come out."""
    widened: int
    """Control-flow nodes that were taken whole although only a part of them was asked for."""
    convex: bool
    """False when an input depends on an output: the rest cannot run around the part in one step."""
    bytes: int
    """Size of what was written."""
