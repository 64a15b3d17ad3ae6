"""Embeddings: table lookups and their sums, and images cut into patches."""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import COPIES, RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    COPY_OPS,
    COPY_OR_LAYOUT_OPS,
    LINEAR,
    dim,
    input_at,
    is_float,
    is_linear,
    make_block,
    next_node,
    reader_of,
    weight,
)
from py_autodoc.blocks.results import Fact, RecognisedBlock
from py_autodoc.graph.ir.model import TensorKind

_FUSED = frozenset({"EmbedLayerNormalization", "QEmbedLayerNormalization"})
_LOOKUPS = frozenset({"Gather", "GatherBlockQuantized", "ATen"})
_ANCHORS = _FUSED | _LOOKUPS | LINEAR | {"Conv"}
_MAX_STEPS = 12
_FEW_TYPES = 16
"""Maximum rows of a segment type table."""
_POSITIONS = frozenset({"Range", "CumSum", "Shape", "Size", "NonZero"})
_TOKENS = COPY_OPS | RESHAPES | frozenset({"Concat", "Slice", "Pad", "Where", "Clip"})
_MAX_SOURCES = 64
_COPY_OR_RESHAPE = COPIES | RESHAPES


def find_embeddings(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``embedding``.

    Variants: ``token``, ``position``, ``type`` joined by ``+`` when the tables are summed, ``one-hot``,
    ``patch`` (with ``+position`` when one is added). Facts: rows (of the largest table), size
    (features), tables; of patches: kernel, channels, size.
    """
    sums: dict[int, _EmbeddingSum] = {}
    blocks: list[RecognisedBlock] = []
    for number in flow.of(_ANCHORS):
        name = flow.op_types[number]
        if name in _FUSED and any(t >= 0 for t in flow.nodes[number].inputs[2:5]):
            blocks.append(_fused(flow, number))
        elif name in _LOOKUPS:
            _lookup(flow, number, sums)
        elif name == "Conv":
            patch = _patch(flow, number)
            if patch is not None:
                blocks.append(patch)
        elif is_linear(flow, number):
            one_hot = _one_hot(flow, number)
            if one_hot is not None:
                blocks.append(one_hot)
    lookups = list(sums.values())
    for entry in lookups:
        if entry.outermost:
            _follow_sums(flow, entry, sums)
    inside = {n for block_found in blocks for n in block_found.nodes}
    return blocks + [
        entry.to_block(flow)
        for entry in lookups
        if entry.outermost and not entry.relative(flow) and not entry.nodes <= inside
    ]


@dataclass(slots=True)
class _EmbeddingSum:
    """Lookups whose results are added."""

    anchor: int
    """The lookup in the largest table."""
    nodes: set[int]
    parts: list[tuple[str, int | None]] = field(default_factory=list)
    output: int = -1
    rows: int = -1
    """Rows of the anchor's table."""
    outermost: bool = True
    """False once it is part of another sum."""

    def to_block(self, flow: DataflowGraph) -> RecognisedBlock:
        """Convert to a block."""
        order = ("token", "position", "type")
        kinds = sorted({kind for kind, _ in self.parts}, key=order.index)
        rows = [n for _, n in self.parts if n is not None]
        facts: dict[str, Fact] = {
            "rows": max(rows) if rows else None,
            "size": dim(flow, self.output, -1),
            "tables": len(self.parts),
        }
        return make_block(flow, "embedding", self.nodes, self.anchor, variant="+".join(kinds), facts=facts)

    def relative(self, flow: DataflowGraph) -> bool:
        """True for a table of attention biases: a constant map moved to heads × queries × keys."""
        number, passed = next_node(flow, self.output, COPY_OR_LAYOUT_OPS)
        is_transposed = (
            any(flow.op_types[n] == "Transpose" for n in passed) or flow.op_types[number] == "Transpose"
        )
        return len(self.parts) == 1 and is_transposed and flow.constants[self.output]


def _lookup(flow: DataflowGraph, number: int, sums: dict[int, _EmbeddingSum]) -> None:
    """Record a Gather of rows and the sums it is part of."""
    node = flow.nodes[number]
    if len(node.inputs) < 2 or min(node.inputs[:2]) < 0 or flow.first_outputs[number] < 0:
        return
    table, indices = node.inputs[0], node.inputs[1]
    shape, output_shape = flow.shapes[table], flow.shapes[flow.first_outputs[number]]
    if not flow.constants[table] or not is_float(flow, table) or shape is None or len(shape) != 2:
        return
    if (
        node.attributes.get("axis", 0) not in (0, -2)
        or output_shape is None
        or len(output_shape) < 2
        or 1 in shape[1:]
    ):
        return
    rows = shape[0] if isinstance(shape[0], int) else None
    entry = _EmbeddingSum(number, {number})
    entry.parts.append((_kind(flow, indices, rows), rows))
    entry.rows = -1 if rows is None else rows
    entry.output = flow.first_outputs[number]
    sums[entry.output] = entry


def _follow_sums(flow: DataflowGraph, entry: _EmbeddingSum, sums: dict[int, _EmbeddingSum]) -> None:
    """Follow the result into sums with other embeddings and constant positions."""
    for _ in range(_MAX_STEPS):
        number, passed = next_node(flow, entry.output)
        if flow.op_types[number] not in ("Add", "Sum") or flow.first_outputs[number] < 0:
            return
        before = flow.first_outputs[passed[-1]] if passed else entry.output
        operands = [t for t in flow.nodes[number].inputs if t >= 0 and t != before]
        if len(operands) != 1:
            return
        summand = sums.get(flow.back(operands[0], COPY_OPS))
        if summand is not None and summand.outermost and summand is not entry:
            summand.outermost = False
            entry.nodes |= summand.nodes
            entry.parts += summand.parts
            # For equal table sizes, use the first summand; node ids depend on the order in the file.
            second = input_at(flow, number, 0) != before
            if summand.rows > entry.rows or (summand.rows == entry.rows and second):
                entry.anchor, entry.rows = summand.anchor, summand.rows
        elif _constant_positions(flow, operands[0], before):
            entry.parts.append(("position", dim(flow, operands[0], -2)))
        else:
            return
        entry.nodes |= {*passed, number}
        entry.output = flow.first_outputs[number]
        sums[entry.output] = entry


def _constant_positions(flow: DataflowGraph, tensor: int, like: int) -> bool:
    """True for a constant with one vector per position."""
    shape, like_shape = flow.shapes[tensor], flow.shapes[like]
    if not flow.constants[tensor] or shape is None or like_shape is None or len(like_shape) < 2:
        return False
    return len(shape) >= 2 and shape[-1] == like_shape[-1] and shape[-2] not in (1, None)


def _kind(flow: DataflowGraph, indices: int, rows: int | None) -> str:
    """Return ``type`` for few rows, ``position`` for stored or counted indices, ``token`` for inputs."""
    if rows is not None and rows <= _FEW_TYPES:
        return "type"
    if flow.constants[indices]:
        return "position"
    stack, seen = [indices], {indices}
    counted = False
    while stack and len(seen) < _MAX_SOURCES:
        tensor = stack.pop()
        number = flow.producers[tensor]
        if number < 0:
            if flow.model.tensors[tensor].kind in (TensorKind.INPUT, TensorKind.OUTER, TensorKind.ACTIVATION):
                return "position" if counted else "token"
            continue
        if flow.op_types[number] in _POSITIONS:
            counted = True
            continue
        follow = flow.data_inputs[number]
        if flow.op_types[number] in _COPY_OR_RESHAPE:
            follow = follow[:1]
        for source in follow:
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return "position" if counted else "token"


def _fused(flow: DataflowGraph, number: int) -> RecognisedBlock:
    node = flow.nodes[number]
    tables = [t for t in node.inputs[2:5] if t >= 0]
    kinds = [kind for kind, t in zip(("token", "position", "type"), node.inputs[2:5], strict=False) if t >= 0]
    facts: dict[str, Fact] = {
        "rows": dim(flow, tables[0], 0) if tables else None,
        "size": dim(flow, flow.first_outputs[number], -1) if flow.first_outputs[number] >= 0 else None,
        "tables": len(tables),
    }
    return make_block(flow, "embedding", [number], number, variant="+".join(kinds), facts=facts)


def _one_hot(flow: DataflowGraph, number: int) -> RecognisedBlock | None:
    """Match a product of one-hot rows with a table."""
    data = flow.data_inputs[number]
    if len(data) != 1:
        return None
    passed = flow.chain_back(data[0], COPY_OR_LAYOUT_OPS)
    producer = flow.producers[flow.back(data[0], COPY_OR_LAYOUT_OPS)]
    # Some exporters compare the indices with 0 … n-1 instead.
    compared = flow.op_types[producer] == "Equal" and len(flow.constant_inputs[producer]) == 1
    if flow.op_types[producer] != "OneHot" and not compared:
        return None
    table = weight(flow, number)
    facts: dict[str, Fact] = {
        "rows": dim(flow, table, 0),
        "size": dim(flow, flow.first_outputs[number], -1),
        "tables": 1,
    }
    return make_block(flow, "embedding", [producer, *passed, number], number, variant="one-hot", facts=facts)


def _patch(flow: DataflowGraph, number: int) -> RecognisedBlock | None:
    """Match a convolution of the input image with stride = kernel whose result is laid out as tokens."""
    node = flow.nodes[number]
    kernel, strides = node.attributes.get("kernel_shape"), node.attributes.get("strides")
    weights = flow.shapes[input_at(flow, number, 1)]
    if kernel is None and weights is not None:
        kernel = [d if isinstance(d, int) else 0 for d in weights[2:]]
    if not isinstance(kernel, (list, tuple)) or not isinstance(strides, (list, tuple)):
        return None
    if not kernel or list(kernel) != list(strides) or max(kernel) < 2:
        return None
    if node.attributes.get("group", 1) != 1 or flow.producers[_image(flow, input_at(flow, number, 0))] >= 0:
        return None
    tensor, nodes, output_shape = (
        flow.first_outputs[number],
        [number],
        flow.shapes[flow.first_outputs[number]],
    )
    number_after, passed = next_node(flow, tensor, COPY_OR_LAYOUT_OPS)
    tokens = flow.first_outputs[passed[-1]] if passed else -1
    shape = flow.shapes[tokens] if tokens >= 0 else None
    if output_shape is None or shape is None or len(shape) != 3 or not passed:
        return None
    nodes += passed
    parts = ["patch"]
    for _ in range(3):
        name = flow.op_types[number_after]
        operands = [t for t in flow.nodes[number_after].inputs if t != tokens] if number_after >= 0 else []
        if name == "Concat" and all(flow.constants[t] for t in operands):
            nodes.append(number_after)
        elif name == "Add" and len(operands) == 1 and _constant_positions(flow, operands[0], tokens):
            nodes.append(number_after)
            parts.append("position")
        else:
            break
        tokens = flow.first_outputs[number_after]
        number_after = reader_of(flow, tokens) if tokens >= 0 else -1
    facts: dict[str, Fact] = {
        "kernel": "x".join(str(k) for k in kernel),
        "channels": dim(flow, input_at(flow, number, 0), 1),
        "size": dim(flow, flow.first_outputs[number], 1),
    }
    return make_block(flow, "embedding", nodes, number, variant="+".join(parts), facts=facts)


def _image(flow: DataflowGraph, tensor: int) -> int:
    """Return the tensor before the casts, layout changes and constant arithmetic of preprocessing."""
    for _ in range(_MAX_STEPS):
        tensor = flow.back(tensor, COPY_OR_LAYOUT_OPS)
        number = flow.producers[tensor]
        if flow.op_types[number] not in ("Sub", "Mul", "Div", "Add", "Pad", "Resize"):
            return tensor
        data = flow.data_inputs[number]
        if len(data) != 1:
            return tensor
        tensor = data[0]
    return tensor
