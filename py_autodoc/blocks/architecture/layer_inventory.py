"""Layers, weights and MACs of a model by kind: convolution, dense, recurrent and embedding.

These MACs cover only layers with a stored weight and serve to compare kinds; the cost engine has the
exact MACs of every operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from py_autodoc.blocks.attention_layers.fused_attention import FUSED
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import (
    BLOCK_QUANTIZED_OPS,
    CONVS,
    MS,
    PRODUCTS,
    is_stored_weight,
    product,
    projection,
    size,
)
from py_autodoc.graph.ir.model import Shape

CONV, DENSE, RECURRENT, EMBEDDING = "convolution", "dense", "recurrent", "embedding"
TRANSPOSED = frozenset({"ConvTranspose"})
_DENSE = PRODUCTS | BLOCK_QUANTIZED_OPS | {op for op, form in FUSED.items() if form.projects}
RECURRENTS = frozenset({"LSTM", "GRU", "RNN", f"{MS}DynamicQuantizeLSTM", f"{MS}AttnLSTM"})
_FLOATS = (1, 10, 11, 16)
_PASS_THROUGH = frozenset(
    {"Reshape", "Cast", "Squeeze", "Unsqueeze", "Identity", "Clip", "Expand", "Transpose"}
)
_LAYERS = _DENSE | CONVS | TRANSPOSED | RECURRENTS | {"Gather"}


@dataclass(slots=True)
class KindTotals:
    """Totals of the layers of one kind."""

    layers: int = 0
    weights: int = 0
    """Elements in stored weights."""
    macs: int = 0
    """Unknown sizes count as 1."""


@dataclass(slots=True)
class LayerInventory:
    """Layers with weights by kind, and operator counts of the model."""

    kinds: dict[str, KindTotals] = field(
        default_factory=lambda: {k: KindTotals() for k in (CONV, DENSE, RECURRENT, EMBEDDING)}
    )
    ops: dict[str, int] = field(default_factory=dict)
    """Operator (``domain::Op``) → number of nodes, Constant nodes excluded."""
    spatial: int = 0
    """Convolutions whose kernel spans more than one position."""
    token_tables: list[int] = field(default_factory=list)
    """Rows of the tables indexed by a graph input."""
    patches: list[tuple[int, ...]] = field(default_factory=list)
    """Kernels of convolutions that cut a graph input into patches (stride = kernel > 1)."""
    on_positions: int = 0
    """Dense layers that process each position of a sequence or map separately."""
    across_positions: int = 0
    """Dense layers with a transposed input, which therefore mix positions."""
    macs_complete: bool = True
    """False if some output sizes are unknown, so that MACs are estimated from weights."""

    @property
    def layers(self) -> int:
        """Number of layers with weights, embeddings excluded."""
        return sum(kind.layers for name, kind in self.kinds.items() if name != EMBEDDING)

    def share(self, name: str) -> float:
        """Return a kind's share of the MACs of all layers with weights; 0 if there are none."""
        total = sum(kind.macs for kind in self.kinds.values())
        return self.kinds[name].macs / total if total else 0.0

    def count(self, *ops: str) -> int:
        """Return the number of nodes with these operators."""
        return sum(self.ops.get(op, 0) for op in ops)


def count_layers(flows: list[DataflowGraph]) -> LayerInventory:
    """Count the layers of all graphs that an inference runs, in linear time.

    Of the branches of an If, one runs; the MACs of a loop are those of all its iterations.
    """
    inventory = LayerInventory()
    for flow in flows:
        if flow.runs < 1:
            continue
        for op, numbers in flow.by_name.items():
            inventory.ops[op] = inventory.ops.get(op, 0) + len(numbers)
        for number in flow.named(_LAYERS):
            op = flow.qualified_op_types[number]
            if op in CONVS or op in TRANSPOSED:
                _convolution(flow, number, op, inventory)
            elif op in RECURRENTS:
                _recurrent(flow, number, inventory)
            elif op == "Gather":
                _table(flow, number, inventory)
            else:
                _dense(flow, number, op, inventory)
    return inventory


def _add(inventory: LayerInventory, kind: str, weights: int, macs: int | None, runs: int) -> None:
    entry = inventory.kinds[kind]
    entry.layers += 1
    entry.weights += weights
    entry.macs += (weights if macs is None else macs) * runs
    inventory.macs_complete = inventory.macs_complete and macs is not None


def elements(shape: Shape | None) -> int:
    """Return the product of the known sizes of a shape; 0 for an unknown rank."""
    return 0 if shape is None else prod(d for d in shape if isinstance(d, int))


def _is_known(shape: Shape | None) -> bool:
    return shape is not None and all(isinstance(d, int) for d in shape)


def _convolution(flow: DataflowGraph, number: int, op: str, inventory: LayerInventory) -> None:
    node = flow.nodes[number]
    weight_input = 3 if "QLinearConv" in op else 1
    if (
        len(node.inputs) <= weight_input
        or node.inputs[weight_input] < 0
        or node.inputs[0] < 0
        or not node.outputs
    ):
        return
    # Computed weights (normalized, standardized, mixed) count like stored ones.
    weight = flow.shapes[node.inputs[weight_input]]
    if not weight or not _is_known(weight):
        return
    weight_count = elements(weight)
    if weight_count < 1:
        return
    # Each output position uses every weight once; a transposed convolution does so for each input position.
    grid = flow.shapes[node.inputs[0] if op in TRANSPOSED else node.outputs[0]]
    positions = elements(grid[:1] + grid[2:]) if grid is not None and len(grid) > 2 else 1
    has_positions = grid is not None and all(isinstance(d, int) for d in grid[2:])
    _add(inventory, CONV, weight_count, weight_count * positions if has_positions else None, flow.runs)
    kernel = tuple(d for d in weight[2:] if isinstance(d, int))
    inventory.spatial += max(kernel, default=1) > 1
    strides = node.attributes.get("strides")
    cuts = isinstance(strides, list | tuple) and tuple(strides) == kernel and min(kernel, default=1) > 1
    if cuts and flow.producers[flow.back(node.inputs[0])] < 0:
        inventory.patches.append(kernel)


def _recurrent(flow: DataflowGraph, number: int, inventory: LayerInventory) -> None:
    node = flow.nodes[number]
    weights = sum(elements(flow.shapes[i]) for i in node.inputs[1:3] if i >= 0)
    grid = flow.shapes[node.inputs[0]] if node.inputs and node.inputs[0] >= 0 else None
    has_positions = grid is not None and len(grid) == 3 and isinstance(grid[0], int)
    macs = weights * elements(grid[:2]) if has_positions and grid else None
    _add(inventory, RECURRENT, weights, macs, flow.runs)


def _table(flow: DataflowGraph, number: int, inventory: LayerInventory) -> None:
    """Count a lookup in a stored 2-D float table as an embedding."""
    inputs = flow.nodes[number].inputs
    if len(inputs) < 2 or inputs[0] < 0 or not is_stored_weight(flow, inputs[0]):
        return
    shape = flow.shapes[inputs[0]]
    if not shape or len(shape) != 2 or flow.types.dtypes[inputs[0]] in (6, 7, 9):
        return
    entry = inventory.kinds[EMBEDDING]
    entry.layers += 1
    entry.weights += elements(shape)
    if isinstance(shape[0], int) and is_from_graph_input(flow, inputs[1]):
        inventory.token_tables.append(shape[0])


def is_from_graph_input(flow: DataflowGraph, tensor: int) -> bool:
    """True for a graph input, cast or reshaped at most."""
    tensor = flow.back(tensor, _PASS_THROUGH)
    return tensor in flow.model.graphs[flow.graph].inputs and not flow.constants[tensor]


def _projecting(flow: DataflowGraph, number: int, inventory: LayerInventory) -> None:
    """Count a fused attention operator with Q, K and V weights: one product per position."""
    inputs = flow.nodes[number].inputs
    weight = flow.shapes[inputs[1]] if len(inputs) > 1 and inputs[1] >= 0 else None
    if not weight or not _is_known(weight):
        return
    grid = flow.shapes[inputs[0]] if inputs[0] >= 0 else None
    has_positions = grid is not None and _is_known(grid[1:-1])
    _add(
        inventory,
        DENSE,
        elements(weight),
        elements(weight) * elements(grid[:-1]) if has_positions and grid else None,
        flow.runs,
    )


def _dense(flow: DataflowGraph, number: int, op: str, inventory: LayerInventory) -> None:
    form = FUSED.get(op)
    if form is not None and form.projects:
        _projecting(flow, number, inventory)
        return
    dense, out = projection(flow, number), flow.shapes[flow.first_outputs[number]]
    widths = (dense.width_in, dense.width_out) if dense is not None else _computed_widths(flow, number)
    if widths[0] is None or widths[1] is None:
        return
    has_positions = out is not None and _is_known(out[1:])  # a batch of unknown size counts as 1
    inventory.on_positions += out is not None and len(out) > 2
    inventory.across_positions += _is_transposed(flow, number)
    macs = elements(out) * widths[0] if has_positions else None
    _add(inventory, DENSE, widths[0] * widths[1], macs, flow.runs)


def _is_transposed(flow: DataflowGraph, number: int) -> bool:
    """True if an input of the product is a transposed activation."""
    for tensor in flow.nodes[number].inputs:
        producer = flow.producers[tensor] if tensor >= 0 and not flow.constants[tensor] else -1
        if producer >= 0 and flow.qualified_op_types[producer] == "Transpose":
            return True
    return False


def _computed_widths(flow: DataflowGraph, number: int) -> tuple[int | None, int | None]:
    """Return the widths of a product whose matrix is computed from weights only, such as a normalized one."""
    matmul = product(flow, number)
    if matmul is None or flow.constants[matmul.a] == flow.constants[matmul.b]:
        return None, None
    if flow.constants[matmul.b]:
        weight, summed, free = matmul.b, matmul.b_sum, matmul.b_free
    else:
        weight, summed, free = matmul.a, matmul.a_sum, matmul.a_free
    shape = flow.shapes[weight]
    if shape is None or len(shape) != 2 or flow.types.dtypes[weight] not in _FLOATS:
        return None, None
    return size(flow, weight, summed), size(flow, weight, free)
