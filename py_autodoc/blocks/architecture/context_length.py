"""Maximum sequence length of a model, where a stored table or a cache limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py_autodoc.blocks.architecture.layer_inventory import is_from_graph_input
from py_autodoc.blocks.attention_layers.qkv_operands import ROTARIES
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import LAYOUT_OPS, MS, QUANTIZED_COPY_OPS, is_stored_weight
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


def context_limits(flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> dict[int, ContextLimit]:
    """Return anchor → context limit of each attention layer of a graph, in linear time."""
    tables = _Tables(flow, layers)
    first: dict[int | None, int] = {}
    for layer in layers:
        position = flow.position[layer.anchor]
        first[layer.hidden_size] = min(first.get(layer.hidden_size, position), position)
    return {layer.anchor: _context(flow, layer, first[layer.hidden_size], tables) for layer in layers}


def _context(flow: DataflowGraph, layer: AttentionLayer, first: int, tables: _Tables) -> ContextLimit:
    width = layer.hidden_size
    if layer.kind == "cross":
        return ContextLimit(None, "cross-attention reads another sequence")
    if layer.past:
        cached = _cache(flow, layer)
        if cached is not None:
            return ContextLimit(cached, "length of the cache input")
    looked_up, added = tables.looked_up, tables.added
    if layer.rotary and tables.rotary is not None:
        return ContextLimit(tables.rotary, "rows of the rotary table")
    if width is not None and width in looked_up and _covers_sequence(looked_up[width], layer):
        return ContextLimit(looked_up[width], "rows of the position table")
    before = width is not None and width in added and added[width][1] < first
    if width is not None and before and _covers_sequence(added[width][0], layer):
        return ContextLimit(added[width][0], "rows of the position table added to the input")
    if layer.rotary:
        return ContextLimit(None, "rotary positions are computed, not looked up")
    if layer.relative_bias:
        return ContextLimit(None, "relative positions as a bias on the scores, no position table")
    return ContextLimit(None, "no position table was found")


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


class _Tables:
    """Position tables of a graph."""

    def __init__(self, flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> None:
        self.flow = flow
        self.inside = {number for layer in layers if layer.rotary for number in layer.nodes}
        self.members = {number for layer in layers for number in layer.nodes}
        self.looked_up: dict[int, int] = {}
        """Width → rows of a table that is indexed by positions."""
        self.added: dict[int, tuple[int, int]] = {}
        """Width → (rows, position of the Add) of a table that is added as a whole."""
        self.rotary: int | None = None
        self._rows_by_width: dict[int, dict[int, int]] = {}
        """Width → table → rows, for tables indexed by graph inputs."""
        for number in flow.named(_TABLE_READERS):
            self._read(number)
        for width, rows in self._rows_by_width.items():
            # The largest table holds the tokens; a second large one holds positions given by the caller.
            smaller = sorted(rows.values())[:-1]
            if smaller and smaller[-1] >= _MIN_POSITIONS:
                self.looked_up.setdefault(width, smaller[-1])

    def _read(self, number: int) -> None:
        flow = self.flow
        op, inputs = flow.qualified_op_types[number], flow.nodes[number].inputs
        if op in ROTARIES or op in _CACHED_ROTARIES:
            tables = inputs[1:] if op in ROTARIES else inputs[7:9]
            rows = [r for i in tables if i >= 0 and (r := _rows(flow, i)) is not None]
            self.rotary = max([*rows, self.rotary or 0]) or None
        elif op == "Gather" and len(inputs) == 2 and min(inputs) >= 0:
            if flow.nodes[number].attributes.get("axis", 0) == 0:
                self._lookup(number, inputs[0], inputs[1])
        elif op == "Add" and number not in self.members:
            entry = _added_table(flow, number)
            if entry is not None:
                self.added.setdefault(entry[1], (entry[0], flow.position[number]))

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
            self.looked_up[width] = max(self.looked_up.get(width, 0), rows)
        elif is_from_graph_input(self.flow, index):
            self._rows_by_width.setdefault(width, {})[table] = rows


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
    return (rows, width) if len(shape) == 2 or shape[0] == 1 else None
