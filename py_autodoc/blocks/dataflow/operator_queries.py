"""Operator queries for recognisers: weights, copies, axes, scalars and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from py_autodoc.blocks.dataflow.dataflow_graph import (
    COPIES,
    KNOWN_DOMAINS,
    RESHAPES,
    DataflowGraph,
    memoised_on_graph,
)
from py_autodoc.blocks.results import Fact, RecognisedBlock
from py_autodoc.graph.ir.model import Dim

CONV = frozenset({
    "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv", "FusedConv", "NhwcFusedConv",
    "NhwcConv", "QLinearConvTranspose",
})  # fmt: skip
LINEAR = frozenset({
    "Gemm", "MatMul", "QLinearMatMul", "MatMulInteger", "FusedGemm", "FusedMatMul", "QGemm", "MatMulNBits",
    "MatMulBnb4", "MatMulFpQ4", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "GemmFloat8", "Einsum",
    "FusedMatMulActivation", "TransposeMatMul",
})  # fmt: skip
RECURRENT = frozenset({"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM", "AttnLSTM"})
ATTENTION = frozenset({
    "Attention", "MultiHeadAttention", "GroupQueryAttention", "PackedAttention", "PackedMultiHeadAttention",
    "DecoderMaskedSelfAttention", "DecoderMaskedMultiHeadAttention", "QAttention", "QOrderedAttention",
    "LongformerAttention", "SparseAttention", "PagedAttention", "DecoderAttention", "LinearAttention",
    "FlexAttention", "RelativePositionalAttention",
})  # fmt: skip
MOE = frozenset({"MoE", "QMoE", "ShardedMoE"})
_APPLYING = CONV | RECURRENT | MOE | LINEAR | ATTENTION
NORMS = {
    "BatchNormalization": "BatchNormalization",
    "LayerNormalization": "LayerNormalization",
    "SkipLayerNormalization": "LayerNormalization",
    "EmbedLayerNormalization": "LayerNormalization",
    "QEmbedLayerNormalization": "LayerNormalization",
    "QOrderedLayerNormalization": "LayerNormalization",
    "RMSNormalization": "RMSNormalization",
    "SimplifiedLayerNormalization": "RMSNormalization",
    "SkipSimplifiedLayerNormalization": "RMSNormalization",
    "GroupNormalization": "GroupNormalization",
    "GroupNorm": "GroupNormalization",
    "SkipGroupNorm": "GroupNormalization",
    "InstanceNormalization": "InstanceNormalization",
    "LpNormalization": "LpNormalization",
    "MeanVarianceNormalization": "MeanVarianceNormalization",
    "LRN": "LRN",
}
"""Operator → the normalization it computes."""
QUANTIZE = frozenset({"QuantizeLinear", "DequantizeLinear"})
COPY_OPS = COPIES | QUANTIZE
"""Operators that pass their first input on, as far as the architecture is concerned."""
COPY_OR_LAYOUT_OPS = COPY_OPS | RESHAPES
_TENSOR_FLOATS = frozenset({1, 10, 11, 16, 17, 18, 19, 20, 23, 24})
"""Float element types of ``TensorProto.DataType``, including 8-bit and 4-bit ones."""
_QUANTIZED = frozenset({2, 3, 21, 22})
_PREPARES = COPY_OR_LAYOUT_OPS | {
    "ConstantOfShape",
    "Concat",
    "Slice",
    "Split",
    "Mul",
    "Div",
    "Tile",
    "Shape",
    "Gather",
}
"""Operators that prepare a weight from stored constants."""
_MAX_STEPS = 64
_MAX_FEED = 256


def is_linear(flow: DataflowGraph, number: int) -> bool:
    """True for a matrix product with a constant matrix."""
    return flow.op_types[number] in LINEAR and matrix(flow, number) >= 0


@memoised_on_graph
def matrix(flow: DataflowGraph, number: int) -> int:
    """Return the constant matrix of a product, its last constant factor of rank 2 or more; -1 if none."""
    name, node = flow.op_types[number], flow.nodes[number]
    if name in ("QLinearMatMul", "QGemm"):
        factors: tuple[int, ...] = node.inputs[0:1] + node.inputs[3:4]
    elif name == "Einsum":
        factors = node.inputs
    else:
        factors = node.inputs[:2]
    for tensor in reversed(factors):
        if tensor >= 0 and flow.constants[tensor]:
            shape = flow.shapes[tensor]
            if shape is None or len(shape) >= 2:
                return tensor
    return -1


def has_weights(flow: DataflowGraph, number: int) -> bool:
    """True for an operator that applies learned matrices or kernels, including in its subgraphs."""
    name = flow.op_types[number]
    if name in CONV or name in RECURRENT or name in MOE:
        return True
    if name in LINEAR:
        return is_linear(flow, number)
    node = flow.nodes[number]
    if name in ATTENTION:
        return any(flow.constants[t] for t in node.inputs if t >= 0)
    if node.subgraphs:
        nodes, graphs = flow.nodes, flow.model.graphs
        kinds = CONV | LINEAR | RECURRENT
        return any(nodes[n].op_type in kinds for _, body in node.subgraphs for n in graphs[body].nodes)
    if node.domain in KNOWN_DOMAINS:
        return False
    return any(len(flow.shapes[t] or ()) >= 2 and is_float(flow, t) for t in flow.constant_inputs[number])


def weighted_nodes(flow: DataflowGraph) -> frozenset[int]:
    """Return the nodes of a graph that have weights (``has_weights``)."""
    nodes, by_op = flow.nodes, flow.by_op
    candidates = [number for kind, numbers in by_op.items() for number in numbers if kind in _APPLYING]
    candidates += [
        number
        for kind, numbers in by_op.items()
        for number in numbers
        if kind not in _APPLYING and (nodes[number].subgraphs or nodes[number].domain)
    ]
    return frozenset(number for number in candidates if has_weights(flow, number))


def is_float(flow: DataflowGraph, tensor: int) -> bool:
    """True for a float element type or a quantized activation type; unknown types count as float."""
    dtype = flow.types.dtypes[tensor]
    return dtype == 0 or dtype in _TENSOR_FLOATS or dtype in _QUANTIZED


def scalar(flow: DataflowGraph, tensor: int) -> float | None:
    """Return the value of a constant with one element, else None."""
    if tensor < 0 or not flow.constants[tensor]:
        return None
    value = flow.value(tensor)
    if value is None or value.size != 1 or value.dtype.kind not in "fiu":
        return None
    return float(value.reshape(-1)[0])


def ints(flow: DataflowGraph, tensor: int) -> list[int] | None:
    """Return the values of a known integer tensor, else None."""
    value = flow.value(tensor)
    if value is None or value.dtype.kind not in "iu":
        return None
    return [int(v) for v in value.reshape(-1)]


def axes(flow: DataflowGraph, number: int) -> list[int] | None:
    """Return the axes of a reduction, non-negative and sorted; None if unknown, all axes if omitted."""
    node = flow.nodes[number]
    data = flow.shapes[node.inputs[0]] if node.inputs else None
    if data is None:
        return None
    values: Any = node.attributes.get("axes")
    if values is None and len(node.inputs) > 1 and node.inputs[1] >= 0:
        values = ints(flow, node.inputs[1])
        if values is None:
            return None
    if values is None:
        return list(range(len(data)))
    if not isinstance(values, (list, tuple)) or not all(isinstance(a, int) for a in values):
        return None
    rank = len(data)
    return sorted({a % rank for a in values}) if rank else []


def size(shape: Iterable[Dim] | None) -> int | None:
    """Return the number of elements; None if a size is unknown."""
    if shape is None:
        return None
    sizes = list(shape)
    return prod(d for d in sizes if isinstance(d, int)) if all(isinstance(d, int) for d in sizes) else None


def dim(flow: DataflowGraph, tensor: int, axis: int) -> int | None:
    """Return the size of an axis if it is a known number, else None."""
    shape = flow.shapes[tensor]
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = shape[axis]
    return size if isinstance(size, int) else None


def input_at(flow: DataflowGraph, number: int, index: int) -> int:
    """Return the input at a position, -1 if absent."""
    inputs = flow.nodes[number].inputs
    return inputs[index] if len(inputs) > index else -1


def weight(flow: DataflowGraph, number: int) -> int:
    """Return the first constant input of a node, -1 if none."""
    constants = flow.constant_inputs[number]
    return constants[0] if constants else -1


def readers(flow: DataflowGraph, tensor: int) -> tuple[int, ...]:
    """Return the consumers of a tensor in this graph; none for -1."""
    return flow.readers[tensor]


def reader_of(flow: DataflowGraph, tensor: int) -> int:
    """Return the only consumer of a tensor that is not a graph output; -1 otherwise, and for -1."""
    return flow.sole_consumers[tensor]


def next_node(flow: DataflowGraph, tensor: int, through: frozenset[str] = COPY_OPS) -> tuple[int, list[int]]:
    """Return (only consumer behind ``tensor``, nodes passed), past operators in ``through``.

    The consumer is -1 if there are several.
    """
    sole, names, nodes = flow.sole_consumers, flow.qualified_op_types, flow.nodes
    passed: list[int] = []
    for _ in range(_MAX_STEPS):
        number = sole[tensor]
        if number < 0 or names[number] not in through:
            return number, passed
        node = nodes[number]
        if node.domain or not node.inputs or node.inputs[0] != tensor:
            return number, passed
        passed.append(number)
        tensor = flow.first_outputs[number]
    return -1, passed


def producer_through(
    flow: DataflowGraph, tensor: int, through: frozenset[str] = COPY_OPS
) -> tuple[int, int, list[int]]:
    """Return (tensor, its producer or -1, nodes passed) behind ``tensor``, past operators in ``through``."""
    passed = flow.chain_back(tensor, through)
    if passed:
        tensor = input_at(flow, passed[-1], 0)
    return tensor, flow.producers[tensor], passed


def per_channel(flow: DataflowGraph, tensor: int, like: int) -> bool:
    """True for a constant with one element, or one per position of a single axis of ``like``."""
    if tensor < 0 or not flow.constants[tensor]:
        return False
    shape = flow.shapes[tensor]
    if shape is None:
        return False
    long = [(axis - len(shape), d) for axis, d in enumerate(shape) if d != 1]
    if not long:
        return True
    if len(long) > 1:
        return False
    axis, length = long[0]
    against = flow.shapes[like]
    if against is None or -axis > len(against):
        return False
    channels = against[axis]
    return channels == length or not isinstance(channels, int)


def private_constant_nodes(flow: DataflowGraph, nodes: Iterable[int]) -> set[int]:
    """Return nodes that compute constants only for ``nodes``: dequantized or transposed weights, fills."""
    block = set(nodes)
    private: set[int] = set()
    prepared = flow.prepared
    if prepared.isdisjoint(block):
        return private
    stack = [number for number in block if number in prepared]
    while stack and len(private) < _MAX_FEED:
        for tensor in flow.constant_inputs[stack.pop()]:
            number = flow.producers[tensor]
            if number < 0 or number in block or number in private or flow.op_types[number] not in _PREPARES:
                continue
            readers = flow.model.tensors[tensor].consumers
            if all(reader in block or reader in private for reader in readers):
                private.add(number)
                stack.append(number)
    return private


def make_block(
    flow: DataflowGraph,
    kind: str,
    nodes: Iterable[int],
    anchor: int,
    *,
    variant: str = "",
    confidence: float = 1.0,
    facts: dict[str, Fact] | None = None,
) -> RecognisedBlock:
    """Return a ``RecognisedBlock``, with the nodes that prepare its weights and its inputs and outputs."""
    members = set(nodes)
    members |= private_constant_nodes(flow, members)
    tensors, reads, makers, nodes_by_id = flow.model.tensors, flow.data_inputs, flow.producers, flow.nodes
    inputs: dict[int, None] = {}
    outputs: dict[int, None] = {}
    order = sorted(members)
    for number in order:
        for tensor in reads[number]:
            if makers[tensor] not in members:
                inputs[tensor] = None
        for tensor in nodes_by_id[number].outputs:
            if tensor >= 0:
                entry = tensors[tensor]
                if not members.issuperset(entry.consumers) or entry.is_output or tensor in flow.graph_outputs:
                    outputs[tensor] = None
    return RecognisedBlock(
        kind=kind,
        nodes=tuple(order),
        anchor=anchor,
        variant=variant,
        confidence=confidence,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        facts=facts or {},
    )
