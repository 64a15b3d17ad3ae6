"""Origin of Q, K and V: projections, head splits, rotary positions and caches."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import (
    ADDS,
    LAYOUT_OPS,
    MS,
    QUANTIZED_COPY_OPS,
    Projection,
    is_scalar,
    is_stored_weight,
    product,
    projection,
    scale,
)
from py_autodoc.blocks.dataflow.operator_queries import input_at
from py_autodoc.graph.ir.model import Dim, Shape, TensorKind

ROTARIES = frozenset(
    {"RotaryEmbedding", "com.microsoft::RotaryEmbedding", "com.microsoft::GemmaRotaryEmbedding"}
)
_SIN_COS_OPS = frozenset({"Cos", "Sin"})
_JOINING = frozenset(
    {
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Where",
        "Pow",
        "Max",
        "Min",
        "Concat",
        f"{MS}QLinearAdd",
        f"{MS}QLinearMul",
        f"{MS}QLinearConcat",
        f"{MS}QLinearWhere",
    }
)
NORMS = frozenset(
    {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "LpNormalization",
     "com.microsoft::SimplifiedLayerNormalization", "InstanceNormalization", "GroupNormalization",
     "BatchNormalization"}
)  # fmt: skip
_FIRST = (
    QUANTIZED_COPY_OPS | LAYOUT_OPS | NORMS
    | {"Neg", "Sqrt", "Reciprocal", "ReduceMean", "ReduceL2", "ReduceSum", "Clip", "Gather",
       "GatherElements", "GatherND", "Pad", "Relu", "Tanh", "Sigmoid", "Elu", "Exp", "CumSum", "DepthToSpace",
       "SpaceToDepth", "ReduceMax", "MaxPool", "AveragePool", "Resize", f"{MS}QLinearSigmoid",
       f"{MS}QLinearReduceMean", f"{MS}QLinearAveragePool"}
)  # fmt: skip
"""Operators whose data comes from the first input only."""
_SCATTERS = frozenset({"ScatterND", "ScatterElements", "TensorScatter"})
_INFORMATIVE_OPS = ROTARIES | _SCATTERS | {"Reshape", "Flatten", "Expand", "Tile", "Gather", "Concat"}
"""Operators that reveal a property of an operand."""
_MAX_NODES = 96


@dataclass(slots=True)
class AttentionOperand:
    """The path from the projection to an operand of an attention product."""

    tensor: int
    projection: Projection | None = None
    """Nearest product with a stored weight."""
    nodes: set[int] = field(default_factory=set)
    """Nodes between the projection and the operand; empty when there is no projection."""
    reshapes: list[int] = field(default_factory=list)
    """Reshape nodes, nearest to the operand first."""
    repeats: list[int] = field(default_factory=list)
    """Expand and Tile nodes."""
    rotary: bool = False
    past: list[int] = field(default_factory=list)
    """Graph inputs on the path."""
    tables: list[int] = field(default_factory=list)
    """Stored tables indexed on the path (rotary ones)."""
    joins: bool = False
    """A Concat or scatter appends to the contents of a graph input."""


def trace_operand(flow: DataflowGraph, tensor: int) -> AttentionOperand:
    """Walk back from an operand to its projection. Bounded: at most ``_MAX_NODES`` nodes."""
    operand = AttentionOperand(tensor)
    queue, seen, remaining = [tensor], {tensor}, _MAX_NODES
    visited: dict[int, None] = {}
    index, producers, names = 0, flow.producers, flow.qualified_op_types
    while index < len(queue) and remaining:
        current, index = queue[index], index + 1
        number = producers[current]
        if number < 0:
            if flow.model.tensors[current].kind == TensorKind.INPUT:
                operand.past.append(current)
            continue
        if number in visited:
            continue
        remaining -= 1
        projected = projection(flow, number)
        if projected is not None:
            if operand.projection is None:
                operand.projection = projected
            continue
        if product(flow, number) is not None:
            continue
        op = names[number]
        if op in _SIN_COS_OPS:
            operand.rotary = True
            continue
        visited[number] = None
        if op in _INFORMATIVE_OPS:
            _note(flow, operand, number, op)
        for i in _data_inputs(flow, number, op):
            if i not in seen:
                seen.add(i)
                queue.append(i)
    _finish(flow, operand, list(visited))
    return operand


def _note(flow: DataflowGraph, operand: AttentionOperand, number: int, op: str) -> None:
    inputs = flow.nodes[number].inputs
    if op in ("Reshape", "Flatten"):
        operand.reshapes.append(number)
    elif op in ("Expand", "Tile"):
        operand.repeats.append(number)
    elif op in ROTARIES:
        operand.rotary = True
        operand.tables += [
            i for i in inputs[1:] if i >= 0 and flow.constants[i] and len(flow.shapes[i] or ()) == 2
        ]
    elif op == "Gather" and inputs and inputs[0] >= 0 and is_stored_weight(flow, inputs[0]):
        operand.tables.append(inputs[0])
    elif op in _SCATTERS or op == "Concat":
        operand.joins = True


def _data_inputs(flow: DataflowGraph, number: int, op: str) -> list[int]:
    """Return the inputs of a node that its values come from."""
    inputs = flow.nodes[number].inputs
    if -1 in inputs:
        inputs = tuple(i for i in inputs if i >= 0)
    if not inputs or (op == "Gather" and is_stored_weight(flow, inputs[0])):
        return []
    if op in _JOINING:
        # A scalar is a factor, not the multiplied data: following the scale of a quantized operand misleads.
        return [
            i
            for i in inputs
            if not is_stored_weight(flow, i) and not scale(flow, i) and not is_scalar(flow, i)
        ]
    if op in _SCATTERS:
        return [inputs[0], inputs[-1]]
    return list(inputs[:1]) if op in _FIRST or op in ROTARIES else []


def _finish(flow: DataflowGraph, operand: AttentionOperand, visited: list[int]) -> None:
    ops = [flow.qualified_op_types[number].removeprefix(f"{MS}QLinear") for number in visited]
    muls = ops.count("Mul")
    if "Concat" in ops and muls >= 2 and ("Neg" in ops or ("Sub" in ops and "Add" in ops)):
        operand.rotary = True
    if operand.projection is None:
        return
    below = _after_projection(flow, operand, visited)
    operand.nodes = below


def _after_projection(flow: DataflowGraph, operand: AttentionOperand, visited: list[int]) -> set[int]:
    """Return the visited nodes that depend on the projection, without masks, caches and tables."""
    assert operand.projection is not None
    start = flow.nodes[operand.projection.node].outputs
    reached = {t for t in start if t >= 0}
    nodes: set[int] = set()
    for number in sorted(visited, key=flow.position.__getitem__):
        node = flow.nodes[number]
        if not reached.isdisjoint(node.inputs):
            bias = not nodes and flow.qualified_op_types[number] in ADDS and len(flow.data_inputs[number]) < 2
            if not bias:  # the projection's own bias belongs to it
                nodes.add(number)
            reached.update(node.outputs)
            reached.discard(-1)
    return nodes


def repeat_factor(flow: DataflowGraph, operand: AttentionOperand) -> int:
    """Return how often each key/value head is repeated before the products (grouped queries), 1 if not.

    Counts an Expand or Tile from 1 (or n) to a larger size on an axis other than the batch and the last two;
    with five axes also on the last but one, where the repeats of a head follow its positions.
    """
    factor = 1
    for number in operand.repeats:
        before, after = flow.shapes[input_at(flow, number, 0)], flow.shapes[flow.first_outputs[number]]
        if before is None or after is None or len(after) < 4 or len(before) != len(after):
            continue
        end = -1 if len(after) > 4 else -2
        for a, b in zip(before[1:end], after[1:end], strict=True):
            if isinstance(a, int) and isinstance(b, int) and a > 0 and b > a and b % a == 0:
                factor *= b // a
    return factor


def kept_heads(flow: DataflowGraph, operand: AttentionOperand, head: int) -> int | None:
    """Return the heads from the features that reach the operand, for a product of packed Q, K and V.

    The operand has as many positions as the projection, so the remaining features give the heads. None if
    positions are joined or reduced on the path, or sizes are unknown.
    """
    projection = operand.projection
    if (
        projection is None
        or not projection.flat
        or projection.width_out is None
        or operand.past
        or _reduced(flow, operand)
    ):
        return None
    projected, reached = flow.shapes[flow.first_outputs[projection.node]], flow.shapes[operand.tensor]
    if projected is None or reached is None or None in projected or None in reached:
        return None
    if sorted(str(d) for d in projected if not isinstance(d, int)) != sorted(
        str(d) for d in reached if not isinstance(d, int)
    ):
        return None
    full_size, reached_size = (prod(d for d in shape if isinstance(d, int)) for shape in (projected, reached))
    heads, remainder = divmod(reached_size * projection.width_out, full_size * head) if full_size else (0, 1)
    return heads if not remainder and heads > 0 else None


def _reduced(flow: DataflowGraph, operand: AttentionOperand) -> bool:
    """True if positions are pooled or padded on the path."""
    names = {flow.op_types[number] for number in operand.nodes}
    return any("Pool" in name or name.startswith("Reduce") for name in names) or "Pad" in names


def split_heads(
    flow: DataflowGraph, operand: AttentionOperand, head: int, expected: int | None
) -> int | None:
    """Return the heads from the Reshape that splits the projection output; None if there is none.

    ``head`` is the head size; ``expected`` decides if the split has two factors, as in a packed
    (3, heads, size).
    """
    pairs = [
        (before, after)
        for number in reversed(operand.reshapes)  # nearest to the projection first
        if (before := flow.shapes[input_at(flow, number, 0)])
        and (after := flow.shapes[flow.first_outputs[number]])
    ]
    for packed in (1, 2, 3):  # (…, h, d), or K and V or Q, K and V on the last axis
        for before, after in pairs:
            heads = _last_axis(before, after, head, packed, expected)
            if heads is None and packed == 1:
                heads = _channel_axis(before, after, head)
            if heads is not None:
                return heads
    width = operand.projection.width_out if operand.projection else None
    return 1 if width == head and operand.projection and operand.projection.flat else None


def _last_axis(before: Shape, after: Shape, head: int, packed: int, expected: int | None) -> int | None:
    """Match (…, W) → (…, h, p·d), (…, 3, h, p·d), or (S, B, W) → (S, B·h, d); ``packed`` is p."""
    width, last = before[-1], after[-1]
    if last != packed * head or not isinstance(width, int) or width % last or width == last:
        return None
    factors: list[int] = []
    remaining = width // last
    for d in reversed(after[:-1]):
        if not isinstance(d, int) or d < 1 or remaining % d:
            break
        if d > 1 or remaining == 1:
            factors.append(d)
        remaining //= d
        if remaining == 1:
            break
    if (
        factors == [3] and remaining == 1 and len(after) > 3 and after[-2] == 1
    ):  # (3, heads, size) with one head
        return 1
    if remaining == 1 and factors:
        return factors[0] if len(factors) == 1 else _of_factors(factors, expected)
    if last == head and len(before) == len(after):
        return width // head
    return None


def _of_factors(factors: list[int], expected: int | None) -> int | None:
    if expected in factors:
        return expected
    if len(factors) == 2 and 3 in factors:  # (3, heads): Q, K and V from one product
        heads = factors[0] if factors[1] == 3 else factors[1]
        if expected is None or expected % heads == 0:  # the other factor may include windows
            return heads
    return expected if expected == prod(factors) else None


def _channel_axis(before: Shape, after: Shape, head: int) -> int | None:
    """Match (B, C, …) → (B, h, d, N) or (B·h, d, N): heads split off the channels of a convolution."""
    if len(before) < 3 or len(after) < 3:
        return None
    channels = before[1]
    if not isinstance(channels, int) or channels < 1:
        return None
    heads, head_dim = after[1], after[2]
    if (
        len(after) > 3
        and isinstance(heads, int)
        and isinstance(head_dim, int)
        and heads * head_dim == channels
    ):
        return heads if head_dim % head == 0 else None
    if len(after) == 3 and after[1] == head and channels % head == 0 and _same(before, after):
        return channels // head
    return None


def _same(before: Shape, after: Shape) -> bool:
    """True if the number of positions after the channels stays the same, as far as known."""
    a, b = _count(before[2:]), _count(after[2:])
    return a is None or b is None or a == b


def _count(dims: tuple[Dim, ...]) -> int | None:
    numbers = [d for d in dims if isinstance(d, int)]
    return prod(numbers) if len(numbers) == len(dims) else None
