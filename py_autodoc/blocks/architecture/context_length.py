"""Maximum sequence length of a model, where a stored table or a cache limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.blocks.architecture.layer_inventory import is_from_graph_input
from py_autodoc.blocks.attention_layers.qkv_operands import ROTARIES
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import LAYOUT_OPS, QUANTIZED_COPY_OPS, is_stored_weight
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.graph.ir.model import Dim

_FLOATS = (1, 10, 11, 16)
_COUNTERS = frozenset({"Range", "CumSum", "NonZero"})
_TABLE_READERS = ROTARIES | {"Gather", "Add"}
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
    if width is not None and width in added and added[width][1] < first:
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
    """Return the number of keys of a cache of fixed length."""
    lengths = {_length(flow.shapes[t]) for t in layer.past}
    if len(lengths) != 1 or not isinstance(layer.keys, int):
        return None
    return layer.keys if isinstance(lengths.pop(), int) else None


def _length(shape: tuple[Dim, ...] | None) -> Dim:
    return shape[-2] if shape is not None and len(shape) >= 3 else None


class _Tables:
    """Position tables of a graph."""

    def __init__(self, flow: DataflowGraph, layers: Sequence[AttentionLayer]) -> None:
        self.flow = flow
        self.inside = {number for layer in layers if layer.rotary for number in layer.nodes}
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
        if op in ROTARIES:
            rows = [r for i in inputs[1:] if i >= 0 and (r := _rows(flow, i)) is not None]
            self.rotary = max([*rows, self.rotary or 0]) or None
        elif op == "Gather" and len(inputs) == 2 and min(inputs) >= 0:
            if flow.nodes[number].attributes.get("axis", 0) == 0:
                self._lookup(number, inputs[0], inputs[1])
        elif op == "Add":
            entry = _added_table(flow, number)
            if entry is not None:
                self.added.setdefault(entry[1], (entry[0], flow.position[number]))

    def _lookup(self, number: int, table: int, index: int) -> None:
        rows, shape = _rows(self.flow, table), self.flow.shapes[table]
        if rows is None or shape is None or not isinstance(shape[1], int) or rows < _MIN_POSITIONS:
            return
        width = shape[1]
        if self.inside and _feeds_rotation(self.flow, number, self.inside):
            self.rotary = max(self.rotary or 0, rows)
        elif _is_counted(self.flow, index):
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


def _feeds_rotation(flow: DataflowGraph, number: int, inside: set[int]) -> bool:
    """True if the result of a Gather feeds the rotation of a recognised attention layer."""
    queue, seen = [number], {number}
    for _ in range(_STEPS):
        if not queue:
            return False
        for reader in flow.successors(queue.pop(0))[:_STEPS]:
            if reader in inside:
                return True
            op = flow.qualified_op_types[reader]
            if reader not in seen and (
                op in QUANTIZED_COPY_OPS or op in LAYOUT_OPS or op in ("Mul", "Concat", "Cos", "Sin")
            ):
                seen.add(reader)
                queue.append(reader)
    return False


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
