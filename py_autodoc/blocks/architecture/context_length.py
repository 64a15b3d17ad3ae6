"""Maximum sequence length of a model, where a stored table or a cache limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.blocks.architecture.layer_inventory import is_from_graph_input
from py_autodoc.blocks.attention_layers.qkv_operands import ROTARIES
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph, DataflowGraphs
from py_autodoc.blocks.dataflow.matrix_products import (
    LAYOUT_OPS,
    MS,
    QUANTIZED_COPY_OPS,
    dim,
    is_stored_weight,
)
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.costs.attention_usage import trimmed_output
from py_autodoc.graph.ir.model import Dim

_FLOATS = (1, 10, 11, 16)
_COUNTERS = frozenset({"Range", "CumSum", "NonZero"})
_CACHED_ROTARIES = frozenset({f"{MS}GroupQueryAttention", f"{MS}SparseAttention"})
"""Operators that rotate by tables of their own: cosines and sines are inputs 7 and 8."""
_TABLE_READERS = ROTARIES | _CACHED_ROTARIES | {"Gather", "Add"}
_MASKING = frozenset({"Add", "Sub", "Where", "Softmax"})
"""Operators of an attention that take a mask, not an angle."""
_STEPS = 8
_MAX_INDEX = 48
_MIN_POSITIONS = 16
"""Tables with fewer rows hold token types, not positions."""


@dataclass(frozen=True, slots=True)
class ContextLimit:
    """``positions`` is None if there is no known limit. ``reason`` names its source, or why there is none."""

    positions: int | None
    reason: str


def model_contexts(flows: DataflowGraphs, layers: Sequence[AttentionLayer]) -> dict[int, ContextLimit]:
    """Return anchor → context limit of the attention layers of all graphs."""
    by_graph: dict[int, list[AttentionLayer]] = {}
    for layer in layers:
        by_graph.setdefault(flows.model.nodes[layer.anchor].graph, []).append(layer)
    limits: dict[int, ContextLimit] = {}
    for graph, members in by_graph.items():
        limits.update(context_limits(flows.of(graph), members))
    return limits


def context_limits(flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> dict[int, ContextLimit]:
    """Return anchor → context limit of each attention layer of a graph, in linear time."""
    tables = _Tables(flow, layers)
    first: dict[tuple[int | None, Dim], int] = {}
    for layer in layers:
        stack, position = (layer.hidden_size, layer.queries), flow.position[layer.anchor]
        first[stack] = min(first.get(stack, position), position)
    return {
        layer.anchor: _context(flow, layer, first[layer.hidden_size, layer.queries], tables)
        for layer in layers
    }


def _context(flow: DataflowGraph, layer: AttentionLayer, first: int, tables: _Tables) -> ContextLimit:
    width = layer.hidden_size
    if layer.kind == "cross":
        return ContextLimit(None, "cross-attention reads another sequence")
    if layer.past:
        cached = _cache(flow, layer)
        if cached is not None:
            return ContextLimit(cached, "length of the cache input")
    if layer.rotary and tables.rotary is not None:
        return ContextLimit(tables.rotary, "rows of the rotary table")
    looked_up = [table for table in tables.looked_up if table.width == width]
    rows = max((table.rows for table in _of_sequence(looked_up, layer)), default=None)
    if rows is not None and _covers_sequence(rows, layer):
        return ContextLimit(rows, "rows of the position table")
    added = [table for table in tables.added if table.width == width and table.position < first]
    added = _of_sequence(added, layer)
    if added and _covers_sequence(added[0].rows, layer):
        return ContextLimit(added[0].rows, "rows of the position table added to the input")
    if layer.rotary:
        return ContextLimit(None, "rotary positions are computed, not looked up")
    if layer.relative_bias:
        return ContextLimit(None, "relative positions as a bias on the scores, no position table")
    return ContextLimit(None, "no position table was found")


def _of_sequence(tables: list[_Table], layer: AttentionLayer) -> list[_Table]:
    """Return the tables of the layer's own sequence, as far as their lengths tell; otherwise all.

    Encoder and decoder, or the towers for text and images, have tables of their own.
    """
    if layer.queries is None or len(tables) < 2:
        return tables
    return [table for table in tables if table.sequence == layer.queries] or tables


def _covers_sequence(rows: int, layer: AttentionLayer) -> bool:
    """True if a table has at least as many rows as the sequence; otherwise it is not a position table."""
    return not isinstance(layer.queries, int) or rows >= layer.queries


def _cache(flow: DataflowGraph, layer: AttentionLayer) -> int | None:
    """Return the number of keys of a cache whose length the file fixes, not a bound symbol."""
    declared = (flow.model.tensors[t].shape for t in layer.past)
    if any(shape is not None and not isinstance(_length(shape), int) for shape in declared):
        return None
    lengths = {_length(flow.shapes[t]) for t in layer.past}
    kept = {_length(flow.shapes[t]) for past in layer.past if (t := _kept(flow, past)) >= 0}
    if kept == lengths and len(kept) == 1 and isinstance(size := kept.pop(), int):
        return size
    if len(lengths) != 1 or not isinstance(layer.keys, int):
        return None
    return layer.keys if isinstance(lengths.pop(), int) else None


def _kept(flow: DataflowGraph, past: int) -> int:
    """Return the graph output that keeps the last positions of a cache that grew; -1 without one."""
    for number in flow.readers[past]:
        if flow.qualified_op_types[number] == "Concat":
            return trimmed_output(flow.model, flow.nodes[number].outputs[0])
    return -1


def _length(shape: tuple[Dim, ...] | None) -> Dim:
    return shape[-2] if shape is not None and len(shape) >= 3 else None


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of positions and where it is used."""

    width: int
    rows: int
    sequence: Dim
    """Length of the sequence whose positions it gives."""
    position: int
    """Of the node that reads it."""


class _Tables:
    """Position tables of a graph."""

    def __init__(self, flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> None:
        self.flow = flow
        self.inside = {number for layer in layers if layer.rotary for number in layer.nodes}
        self.members = {number for layer in layers for number in layer.nodes}
        self.looked_up: list[_Table] = []
        """Tables that are indexed by positions."""
        self.added: list[_Table] = []
        """Tables that are added as a whole."""
        self.rotary: int | None = None
        self._by_input: dict[int, dict[int, _Table]] = {}
        """Width → tensor → table, for tables indexed by graph inputs."""
        for number in flow.named(_TABLE_READERS):
            self._read(number)
        counted = {table.width for table in self.looked_up}
        for width, tables in self._by_input.items():
            # The largest table holds the tokens; a second large one holds positions given by the caller.
            smaller = sorted(tables.values(), key=lambda table: table.rows)[:-1]
            if smaller and smaller[-1].rows >= _MIN_POSITIONS and width not in counted:
                self.looked_up.append(smaller[-1])

    def _read(self, number: int) -> None:
        flow = self.flow
        op, inputs = flow.qualified_op_types[number], flow.nodes[number].inputs
        if op in ROTARIES or op in _CACHED_ROTARIES:
            tables = inputs[1:] if op in ROTARIES else inputs[7:9]
            lengths = [r for i in tables if i >= 0 for r in _rotary_rows(flow, i)]
            self.rotary = max([*lengths, self.rotary or 0]) or None
        elif op == "Gather" and len(inputs) == 2 and min(inputs) >= 0:
            if flow.nodes[number].attributes.get("axis", 0) == 0:
                self._lookup(number, inputs[0], inputs[1])
        elif op == "Add" and number not in self.members:
            entry = _added_table(flow, number)
            if entry is not None:
                rows, width = entry
                sequence = _length(flow.shapes[flow.first_outputs[number]])
                self.added.append(_Table(width, rows, sequence, flow.position[number]))

    def _lookup(self, number: int, table: int, index: int) -> None:
        rows, shape = _rows(self.flow, table), self.flow.shapes[table]
        if rows is None or shape is None or not isinstance(shape[1], int) or rows < _MIN_POSITIONS:
            return
        width = shape[1]
        use = _use(self.flow, number, self.members)
        if use == "rotation" and self.inside:
            self.rotary = max(self.rotary or 0, rows)
        elif use == "mask":
            return
        elif _is_counted(self.flow, index):
            # Rows before the first position are never used: OPT and BART leave two.
            rows -= _first_position(self.flow, index)
            self.looked_up.append(self._table(number, width, rows))
        elif is_from_graph_input(self.flow, index):
            self._by_input.setdefault(width, {})[table] = self._table(number, width, rows)

    def _table(self, number: int, width: int, rows: int) -> _Table:
        """Return a table of which a Gather reads rows for positions."""
        sequence = dim(self.flow, self.flow.first_outputs[number], -2)
        return _Table(width, rows, sequence, self.flow.position[number])


def _is_counted(flow: DataflowGraph, index: int) -> bool:
    """True if an index is stored or computed by counting, so that it holds positions."""
    queue, seen, position = [index], {index}, 0
    while position < len(queue) and position < _MAX_INDEX:
        tensor, position = queue[position], position + 1
        if flow.constants[tensor]:
            shape = flow.shapes[tensor]
            if shape is None or any(d != 1 for d in shape):
                return True
            continue
        number = flow.producers[tensor]
        op = flow.qualified_op_types[number]
        if op in _COUNTERS:
            return True
        inputs = [i for i in flow.nodes[number].inputs if i >= 0] if number >= 0 else []
        for i in (
            inputs[:1] if op in LAYOUT_OPS or op in QUANTIZED_COPY_OPS or op == "GatherElements" else inputs
        ):
            if i not in seen and op != "Shape":
                seen.add(i)
                queue.append(i)
    return False


def _rows(flow: DataflowGraph, tensor: int) -> int | None:
    """Return the rows of a stored 2-D float table."""
    shape = flow.shapes[tensor]
    if (
        shape is None
        or len(shape) != 2
        or not is_stored_weight(flow, tensor)
        or flow.types.dtypes[tensor] not in _FLOATS
    ):
        return None
    return shape[0] if isinstance(shape[0], int) and shape[0] > 1 else None


def _rotary_rows(flow: DataflowGraph, tensor: int) -> list[int]:
    """Return the rows of cosines or sines: one table, or those that an If chooses from."""
    rows = _rows(flow, tensor)
    if rows is not None:
        return [rows]
    origin = flow.back(tensor, QUANTIZED_COPY_OPS)
    number = flow.producers[origin]
    if flow.qualified_op_types[number] != "If":
        return []
    model, index = flow.model, flow.nodes[number].outputs.index(origin)
    shapes = [
        flow.types.shapes[model.graphs[body].outputs[index]] for _, body in flow.nodes[number].subgraphs
    ]
    return [s[0] for s in shapes if s is not None and len(s) == 2 and isinstance(s[0], int)]


def _first_position(flow: DataflowGraph, index: int) -> int:
    """Return the lowest row that counted positions look up; 0 if it is unknown."""
    first = _counted_from(flow, index, _MAX_INDEX)
    return first if first is not None and 0 < first < _MIN_POSITIONS else 0


def _counted_from(flow: DataflowGraph, tensor: int, steps: int) -> int | None:
    """Return where a counted value starts, with constants added to it since; None if nothing is counted."""
    if steps <= 0 or tensor < 0:
        return None
    # Values of the file alone: those that follow from a bound size say nothing of the table.
    value = _stored(flow, tensor)
    if value is not None and value.size > 1:
        return int(value.min())
    number = flow.producers[tensor]
    if number < 0:
        return None
    op, inputs = flow.qualified_op_types[number], flow.nodes[number].inputs
    if op == "Range":
        start = _stored(flow, inputs[0])
        return int(start.item()) if start is not None and start.size == 1 else 0
    if op == "CumSum":
        return 0 if flow.nodes[number].attributes.get("exclusive", 0) else 1
    if op in ("Shape", "NonZero"):
        return None
    counted = [
        (i, first) for i in inputs if (first := _counted_from(flow, i, steps - len(inputs))) is not None
    ]
    if not counted:
        return None
    operand, first = counted[0]
    if op in ("Add", "Sub") and len(inputs) == 2 and len(counted) == 1:
        constant = _stored(flow, inputs[1] if inputs[0] == operand else inputs[0])
        if constant is not None and constant.size == 1:
            shift = int(constant.item())
            return first + shift if op == "Add" else first - shift if inputs[0] == operand else None
    return first


def _stored(flow: DataflowGraph, tensor: int) -> Any | None:
    """Return the array of a small constant behind casts and moves; None if it is not in the file."""
    origin = flow.back(tensor, QUANTIZED_COPY_OPS | LAYOUT_OPS) if tensor >= 0 else -1
    return flow.model.constants.get(origin) if origin >= 0 else None


def _use(flow: DataflowGraph, number: int, members: set[int]) -> str:
    """Return what attention does with the result of a Gather: ``rotation``, ``mask``, or nothing directly."""
    queue, seen = [number], {number}
    for _ in range(_STEPS):
        if not queue:
            return ""
        for reader in flow.successors(queue.pop(0))[:_STEPS]:
            op = flow.qualified_op_types[reader]
            moved = op in QUANTIZED_COPY_OPS or op in LAYOUT_OPS
            if reader in members and not moved:
                return "mask" if op in _MASKING else "rotation"
            if reader not in seen and (moved or op in ("Mul", "Concat", "Cos", "Sin")):
                seen.add(reader)
                queue.append(reader)
    return ""


def _is_pattern(value: Any | None) -> bool:
    """True for a mask or an identity matrix, which have few distinct values."""
    return value is not None and bool(np.unique(value).size <= 3)


def _added_table(flow: DataflowGraph, number: int) -> tuple[int, int] | None:
    """Return (positions, width) of a stored (1, S, D) table that is added to an activation."""
    data, constants = flow.data_inputs[number], flow.constant_inputs[number]
    if len(data) != 1 or len(constants) != 1 or not is_stored_weight(flow, constants[0]):
        return None
    shape = flow.shapes[constants[0]]
    if shape is None or len(shape) not in (2, 3) or flow.types.dtypes[constants[0]] not in _FLOATS:
        return None
    rows, width = shape[-2:]
    if not isinstance(rows, int) or not isinstance(width, int) or rows < 2 or width < 2:
        return None
    activation = flow.shapes[data[0]]
    if activation is not None and len(activation) > len(shape) and len(activation) > 3:
        return None  # scores of heads or chunks: a mask, or what makes a matrix invertible
    if rows == width and _is_pattern(flow.value(constants[0])):
        return None
    return (rows, width) if len(shape) == 2 or shape[0] == 1 else None
