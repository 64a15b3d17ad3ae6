"""Costs: per layer, per block, per operator, in total, and how much of them is known."""

from __future__ import annotations

from typing import Any

import msgspec

from py_autodoc.report.schema.architecture import AttentionInfo
from py_autodoc.report.schema.wire import DimValue, Wire


class Layer(Wire, frozen=True, kw_only=True):
    """One node. ``id`` is the node's number in this report; names need not be unique.

    ``macs``, ``flops``, ``read_bytes`` and ``write_bytes`` are of **one execution**; times ``runs`` they are
    those of one inference, and add up to the totals.
    """

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
    params: int | None
    """Parameters this node is the first to use; null with ``reason`` when the shape of a weight cannot be."""
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
    runs: int = 1
    """How often the node runs in one inference as the totals take it: in a loop of unknown length once an
    iteration of those around it, 0 in a loop that never runs and where ``counted`` is false."""
    repeat: int | None = 1
    """How often the node runs in one inference (loop bodies); null when unknown."""
    counted: bool = True
    """False in the branch of an If that the totals leave out because the other one costs more."""
    reason: str = ""
    """Why a number is null."""
    macs_expr: str | None = None
    """``macs`` as an expression in the input sizes. This and the next five are null when no input size
    is free, or when there is no exact expression."""
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
    """Why there is an expression missing although an input size is free."""

    def __post_init__(self) -> None:
        """Reports of before 1.1 have no ``runs``: what they say of loops and branches decides."""
        runs = self.runs if self.repeat is None else self.repeat
        if self.runs != (runs if self.counted else 0):
            msgspec.structs.force_setattr(self, "runs", runs if self.counted else 0)


class Block(Wire, frozen=True, kw_only=True):
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
    params: int | None
    """Parameters. Null when those of a layer in it are."""
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


class RepeatInfo(Wire, frozen=True, kw_only=True):
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


class OpTotals(Wire, frozen=True, kw_only=True):
    """Totals of one operator type in one inference."""

    type: str
    """Operator."""
    count: int
    """Nodes."""
    params: int | None
    """Parameters they own. Null when those of one of them are."""
    macs: int | None
    """Null when no node of the type has known costs."""
    flops: int | None
    """Null like ``macs``."""


class Metrics(Wire, frozen=True, kw_only=True):
    """Totals. A null total means that no part of it could be computed."""

    total_params: int | None
    """Parameters, tied ones counted once. Null when the shape of one cannot be: negative, or beyond 2^50
    elements."""
    params_reason: str = ""
    """Why ``total_params`` is null."""
    is_quantized: bool | None = None
    """Whether a layer with weights is quantized; null in reports of versions that did not say."""
    precision_breakdown: dict[str, int] | None = None
    """Parameters by the type they are stored in, most first: ``float32``, ``int8``; ``4-bit`` where several
    share an element. Their sum is ``total_params``; null where that is."""
    other_constants: dict[str, int]
    """Elements that are not parameters: integer constants, scales, zero points, masks …"""
    weight_bytes: int | None
    """Bytes of all constants as stored."""
    total_macs: int | None
    """Multiply-accumulate operations (MACs) in one inference."""
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


class Coverage(Wire, frozen=True, kw_only=True):
    """How much of the model the totals cover. Shares are between 0 and 1."""

    nodes: float
    """Share of nodes whose cost is known."""
    nodes_known: int
    """Nodes whose cost in one inference is known: not those in loops of unknown length, which count once."""
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
