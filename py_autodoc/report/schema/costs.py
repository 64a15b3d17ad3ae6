"""Costs: per layer, per block, per operator, in total, and their coverage."""

from __future__ import annotations

from typing import Any

import msgspec

from py_autodoc.report.schema.architecture import AttentionInfo
from py_autodoc.report.schema.wire import DimValue, Wire


class Layer(Wire, frozen=True, kw_only=True):
    """One node. ``id`` is the node's number in this report; names need not be unique.

    ``macs``, ``flops``, ``read_bytes`` and ``write_bytes`` are for **one execution**; multiplied by
    ``runs`` they are for one inference and add up to the totals.
    """

    id: int
    """Number of the node."""
    name: str
    """Name of the node, or ``Conv_17`` if the file has none."""
    type: str
    """Operator."""
    domain: str
    """Domain of the operator, ``ai.onnx`` spelt out."""
    inputs: list[str]
    """Names of the inputs, empty for an omitted optional input."""
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
    params: int | None
    """Parameters that this node is the first to use; null with ``reason`` if the shape of a weight is
    impossible."""
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
    """Attributes by name; tensors and subgraphs as a summary, long lists as ``{"first", "count"}``."""
    subgraph: str = ""
    """Its subgraph, if it is not in the main graph: ``If_3.then_branch``."""
    runs: int = 1
    """How often the node runs in one inference, as counted in the totals: once per outer iteration in a
    loop of unknown length, 0 in a loop that never runs and if ``counted`` is false."""
    repeat: int | None = 1
    """How often the node runs in one inference (loop bodies); null when unknown."""
    counted: bool = True
    """False in the branch of an If that the totals do not include because the other branch costs more."""
    reason: str = ""
    """Why a number is null."""
    macs_expr: str | None = None
    """``macs`` as an expression in the input dimensions. This and the next five are null if no input
    dimension is symbolic, or if there is no exact expression."""
    flops_expr: str | None = None
    """``flops`` as an expression."""
    read_bytes_expr: str | None = None
    """``read_bytes`` as an expression."""
    write_bytes_expr: str | None = None
    """``write_bytes`` as an expression."""
    activation_bytes_expr: str | None = None
    """``activation_bytes`` as an expression."""
    runs_expr: str | None = None
    """``runs`` as an expression."""
    expr_reason: str = ""
    """Why an expression is missing although an input dimension is symbolic."""
    data_dependent_flops: int | None = 0
    """FLOPs of one execution that the data may add at most; not in ``flops``. Null: unknown."""

    def __post_init__(self) -> None:
        """Derive ``runs`` from loops and branches for reports before 1.1, which do not have it."""
        runs = self.runs if self.repeat is None else self.repeat
        if self.runs != (runs if self.counted else 0):
            msgspec.structs.force_setattr(self, "runs", runs if self.counted else 0)


class Block(Wire, frozen=True, kw_only=True):
    """A group of nodes shown as one box: a module, or a structure recognised in the graph.

    Totals cover the known values, per inference. A node may be in several blocks.
    """

    id: int
    """Its index in ``blocks``."""
    parent: int | None
    """The smallest block that contains all of it, null at the top."""
    kind: str
    """``module``, or of a structure: conv, depthwise-separable, squeeze-excite, residual, attention, mlp,
    gated-mlp, moe, normalization, embedding, head, recurrent, state-space."""
    name: str
    """Scope path, ``/``-separated; of a structure its kind and number."""
    type: str
    """Class of a module, empty when unknown; of a structure its kind as one, such as ``ResidualBlock``."""
    variant: str
    """Variant of the kind, see ``docs/blocks.md``; may be empty."""
    how: str
    """How it was recognised: ``scope``, ``name``, ``function``, ``structure`` or ``subgraph``."""
    confidence: float
    """Between 0 and 1; 1 if there is no other interpretation."""
    nodes: list[int]
    """Ids of its layers, including those of inner blocks."""
    node_names: list[str] = []
    """Names of these layers, in the same order."""
    facts: dict[str, int | float | str | bool | None]
    """Dimensions and names, null if unknown."""
    params: int | None
    """Parameters. Null if those of one of its layers are."""
    weight_bytes: int | None
    """Stored bytes of its constants."""
    macs: int | None
    """MACs of one inference."""
    flops: int | None
    """FLOPs of one inference."""
    read_bytes: int | None
    """Bytes read in one inference, unfused."""
    write_bytes: int | None
    """Bytes written in one inference, unfused."""
    activation_bytes: int | None
    """Bytes of the outputs."""


class RepeatInfo(Wire, frozen=True, kw_only=True):
    """A repeat: consecutive instances with the same operators, attributes, weight shapes and edges."""

    count: int
    """Number of instances."""
    size: int
    """Nodes per instance."""
    name: str
    """Name of an instance: its class, the list it is an element of, or its first operators."""
    type: str
    """Class name shared by the instances, empty when unknown."""
    scopes: list[str]
    """Scope path of each instance, empty if instances are not scopes; at most 1,000 are listed.

    An instance may lack nodes of its scope that prepare something for all instances, such as a mask.
    """
    members: list[list[int]]
    """Ids of the layers in each instance; ``members[i][k]`` corresponds to ``members[j][k]``.

    Empty after the first 200,000 ids of all repeats.
    """


class OpTotals(Wire, frozen=True, kw_only=True):
    """Totals of one operator type in one inference."""

    type: str
    """Operator."""
    count: int
    """Nodes."""
    params: int | None
    """Parameters they own. Null if those of one node are null."""
    macs: int | None
    """Multiply-accumulates. Null if no node of the type has known costs."""
    flops: int | None
    """Null like ``macs``."""


class Metrics(Wire, frozen=True, kw_only=True):
    """Totals. A null total means that it could not be computed for any node."""

    total_params: int | None
    """Parameters; tied weights are counted once. Null if a shape is impossible: negative, or more than 2^50
    elements."""
    params_reason: str = ""
    """Why ``total_params`` is null."""
    is_quantized: bool | None = None
    """Whether a layer with weights is quantized; null in reports of older versions."""
    precision_breakdown: dict[str, int] | None = None
    """Parameters by stored type, the most frequent first: ``float32``, ``int8``; ``4-bit`` if several share
    an element. Their sum is ``total_params``; null if that is null."""
    other_constants: dict[str, int]
    """Elements that are not parameters: ``scales``, ``zero_points``, ``masks``, ``tables`` (rotary
    embeddings, grids, frequencies), ``settings`` (bounds, epsilons, thresholds, single factors),
    ``integer_constants``, ``text``."""
    weight_bytes: int | None
    """Bytes of all constants as stored."""
    total_macs: int | None
    """Multiply-accumulate operations (MACs) in one inference."""
    total_flops: int | None
    """Floating point operations of one inference: those certain, whatever the data are."""
    data_dependent_flops: int | None = 0
    """FLOPs that the data may add to ``total_flops`` at most: boxes compared in NonMaxSuppression, regions of
    any size. Null if the total is."""
    read_bytes: int | None
    """Tensor bytes read in one inference, unfused."""
    write_bytes: int | None
    """Tensor bytes written in one inference, unfused."""
    peak_activation_bytes: int | None
    """Peak of live activations with buffer reuse (views and in-place operators)."""
    peak_activation_bytes_simple: int | None
    """Peak of live activations without buffer reuse."""
    peak_reason: str
    """Why the peak is null."""
    by_op: list[OpTotals]
    """Totals by operator type, heaviest first."""
    attention: AttentionInfo | None = None
    """Attention layers; null for a model without any."""
    total_macs_expr: str | None = None
    """``total_macs`` as an expression in the input dimensions. This and the next five are null if no input
    dimension is symbolic, or if there is no exact expression."""
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
    """Share of nodes (without Constant nodes) whose MACs and FLOPs have an expression. The totals do not
    include the others, which are unknown for any dimensions. Null if no input dimension is symbolic."""
    expr_conditions: list[str] = []
    """Conditions on the dimensions under which the expressions hold: ``h - 32*ceil(h/32) = 0``, ``(h -
    2)//4 >= 1``."""
    inplace_conditions: list[str] = []
    """Further conditions for ``peak_activation_bytes_expr``."""
    expr_reasons: dict[str, str] = {}
    """Field above → why it is null although an input dimension is symbolic."""


class Coverage(Wire, frozen=True, kw_only=True):
    """How much of the model the totals cover. Shares are between 0 and 1."""

    nodes: float
    """Share of nodes whose cost is known."""
    nodes_known: int
    """Nodes whose cost in one inference is known. Nodes in loops of unknown length, which count once, are
    not included."""
    nodes_total: int
    """Nodes, without Constant nodes."""
    shapes: float
    """Share of tensors whose shape has only numbers."""
    macs: float | None
    """Share of nodes with MACs (Conv, MatMul …) whose MACs are known; operators without a cost rule count as
    unknown ones. Below 1, the totals of MACs are lower bounds. Null if there are none."""
    unknown_ops: dict[str, int]
    """Operators without a cost rule → nodes."""
    data_dependent: dict[str, int] = {}
    """Operators whose FLOPs depend on the data → nodes. ``metrics.data_dependent_flops`` is their bound."""
    reasons: dict[str, int]
    """Why costs are unknown → number of nodes."""
