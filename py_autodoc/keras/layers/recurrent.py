"""Recurrent layers: an ONNX operator if it computes the same, else a Scan over single steps.

The operators support sequences of different lengths but no gaps; a masked layer is therefore a Scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.cells import Cell, cell_of, operator_of
from py_autodoc.keras.layers.shape import END, int_constant
from py_autodoc.keras.spec import LayerSpec, leaves
from py_autodoc.keras.tensor import KerasTensor, Order

TIME_FIRST: Order = (1, 0, 2)
MAX_DEPTH = 64
"""Maximum cells in a stack."""


@dataclass(slots=True)
class RecurrentRun:
    """Results of a sequence, in the order of computation."""

    sequence: KerasTensor | None
    last: KerasTensor
    states: list[KerasTensor]


@dataclass(frozen=True, slots=True)
class SequenceOptions:
    """Options of running a layer over its sequence."""

    backwards: bool
    all_steps: bool
    in_time: bool
    """Return steps in the order of the input even if they are computed backwards."""
    zeros: bool
    """Set the result of a masked step to 0 instead of the previous result."""


@layer("LSTM", "GRU", "SimpleRNN", "RNN")
def recurrent(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """Recurrent layer over a sequence; ``return_state`` also returns its states."""
    output, states = run(call)
    return [output, *states] if call.settings.flag("return_state") else output


def run(
    call: LayerCall, in_time: bool = False, zeros: bool | None = None
) -> tuple[KerasTensor, list[KerasTensor]]:
    """Return the result of a recurrent layer and its states."""
    settings = call.settings
    if settings.flag("stateful"):
        raise call.refuse("with stateful=True")
    if settings.flag("time_major"):
        raise call.refuse("with time_major=True")
    tensors = [leaf for leaf in leaves(call.args) if isinstance(leaf, KerasTensor)]
    if not tensors:
        raise broken(call.file, f"{call.spec.label} is called without a sequence.")
    x = call.builder.cast(tensors[0], ir.DataType.FLOAT)
    call.rank(x, 3)
    wired = [leaf for leaf in leaves(call.kwargs.get("initial_state")) if isinstance(leaf, KerasTensor)]
    initial = [call.in_shape_order(state) for state in (tensors[1:] or wired)]
    cells = _cells(call, call.known_size(x, -1))
    options = SequenceOptions(
        settings.flag("go_backwards"),
        settings.flag("return_sequences"),
        in_time,
        settings.flag("zero_output_for_mask") if zeros is None else zeros,
    )
    state_count = sum(cell.states for cell in cells)
    if initial and len(initial) != state_count:
        raise broken(
            call.file, f"{call.spec.label} has {len(initial)} initial states, and takes {state_count}."
        )
    mask = call.mask_of(x)
    operator = cells[0].operator() if len(cells) == 1 and mask is None else None
    result = (
        _operator(call, x, cells[0], operator, initial, options)
        if operator
        else _scan(call, x, cells, mask, initial, options)
    )
    output = result.sequence if options.all_steps and result.sequence is not None else result.last
    return output.masked(x.mask if options.all_steps else None), result.states


def _cells(call: LayerCall, features: int) -> list[Cell]:
    spec = call.spec
    if spec.kind != "RNN":
        return [cell_of(call, spec, (*call.path, "cell"), features)]
    cell = spec.parts.get("cell")
    if cell is None:
        raise broken(call.file, f"{spec.label} has no cell.")
    if cell.kind != "StackedRNNCells":
        return [cell_of(call, cell, (*call.path, "cell"), features)]
    cells: list[Cell] = []
    stack: list[tuple[str, LayerSpec]] = list(cell.parts.items())
    if not 0 < len(stack) <= MAX_DEPTH:
        raise call.refuse(f"of {len(stack)} cells")
    for key, cell_spec in stack:
        cells.append(cell_of(call, cell_spec, (*call.path, "cell", *key.split("/")), features))
        features = cells[-1].units
    if len(cells) > 1 and cell.config.get("reverse_state_order"):
        raise call.refuse("with reverse_state_order=True")
    return cells


def _operator(
    call: LayerCall,
    x: KerasTensor,
    cell: Cell,
    attributes: dict[str, object],
    initial: Sequence[KerasTensor],
    options: SequenceOptions,
) -> RecurrentRun:
    builder, first = call.builder, int_constant(call, [0])
    states = [builder.op("Unsqueeze", state.value, first) for state in initial]
    if options.backwards:
        attributes["direction"] = "reverse"
    outputs = 1 + cell.states
    results = builder.ops(
        operator_of(cell),
        (builder.transposed(x, TIME_FIRST), *cell.weights(), *((None, *states) if states else ())),
        outputs,
        **attributes,
    )
    shape = (x.shape[0], cell.units)
    last = [call.new_tensor(builder.op("Squeeze", state, first), shape) for state in results[1:]]
    if not options.all_steps:
        return RecurrentRun(None, last[0], last)
    value = builder.op("Squeeze", results[0], int_constant(call, [1]))
    if options.backwards and not options.in_time:
        value = reversed_steps(call, value)
    return RecurrentRun(call.new_tensor(value, (*x.shape[:2], cell.units), TIME_FIRST), last[0], last)


def reversed_steps(call: LayerCall, value: ir.Value, axis: int = 0) -> ir.Value:
    """Return the steps in reverse order."""
    return call.builder.op(
        "Slice",
        value,
        int_constant(call, [-1]),
        int_constant(call, [-END]),
        int_constant(call, [axis]),
        int_constant(call, [-1]),
    )


# -- step by step --------------------------------------------------------------------------------------


def _scan(
    call: LayerCall,
    x: KerasTensor,
    cells: list[Cell],
    mask: KerasTensor | None,
    initial: Sequence[KerasTensor],
    options: SequenceOptions,
) -> RecurrentRun:
    builder = call.builder
    sequence = builder.transposed(x, TIME_FIRST)
    steps = [sequence]
    if mask is not None:
        column = builder.op("Unsqueeze", builder.transposed(mask, (1, 0)), int_constant(call, [2]))
        steps.append(column)
    sizes = [cell.units for cell in cells for _ in range(cell.states)]
    begin = [state.value for state in initial] or _zeros(call, sequence, sizes)
    held_output = [_zeros(call, sequence, [cells[-1].units])[0]] if mask is not None else []
    body = _body(call, x, cells, mask is not None, options)
    direction = [int(options.backwards)] * len(steps)
    outputs = builder.ops(
        "Scan",
        (*begin, *held_output, *steps),
        len(begin) + len(held_output) + 1,
        body=body,
        num_scan_inputs=len(steps),
        scan_input_directions=direction,
        scan_output_directions=[int(options.backwards and options.in_time)],
    )
    states = [
        call.new_tensor(output, (x.shape[0], size)) for output, size in zip(outputs, sizes, strict=False)
    ]
    out = call.new_tensor(outputs[-1], (*x.shape[:2], cells[-1].units), TIME_FIRST)
    last = _last(call, cells, outputs[-1], options, x) if held_output or len(cells) > 1 else states[0]
    return RecurrentRun(out, last, states)


def _last(
    call: LayerCall, cells: list[Cell], steps: ir.Value, options: SequenceOptions, x: KerasTensor
) -> KerasTensor:
    index = 0 if options.backwards and options.in_time else -1
    last = call.builder.op("Gather", steps, call.builder.constant(np.int64(index)), axis=0)
    return call.new_tensor(last, (x.shape[0], cells[-1].units))


def _zeros(call: LayerCall, sequence: ir.Value, sizes: Sequence[int]) -> list[ir.Value]:
    """Return zero states for each batch, one per size."""
    op = call.builder.op
    batch = op("Shape", sequence, start=1, end=2)
    zero = ir.tensor(np.zeros(1, np.float32))
    zeros: dict[int, ir.Value] = {}
    for size in sizes:
        if size not in zeros:
            zeros[size] = op(
                "ConstantOfShape", op("Concat", batch, int_constant(call, [size]), axis=0), value=zero
            )
    return [zeros[size] for size in sizes]


def _body(
    call: LayerCall, x: KerasTensor, cells: list[Cell], masked: bool, options: SequenceOptions
) -> ir.Graph:
    """Return the subgraph for one step of all cells, with its mask."""
    builder = call.builder
    constants = [cell.constants() for cell in cells]
    batch = x.shape[0]
    sizes = [cell.units for cell in cells for _ in range(cell.states)]
    states = [_input(call, "state", (batch, size)) for size in sizes]
    before = [_input(call, "before", (batch, cells[-1].units))] if masked else []
    step = _input(call, "step", (batch, x.shape[2]))
    mask = [_input(call, "mask", (batch, 1), ir.DataType.BOOL)] if masked else []
    with builder.body() as nodes:
        offset, value, after = 0, step, list[ir.Value]()
        for cell, weights in zip(cells, constants, strict=True):
            value, new = cell.step(value, states[offset : offset + cell.states], weights)
            after += new
            offset += cell.states
        if masked:
            after = [builder.op("Where", mask[0], new, old) for new, old in zip(after, states, strict=True)]
            old = _as_zeros(call, before[0]) if options.zeros else before[0]
            value = builder.op("Where", mask[0], value, old)
        mask_inputs = [value] if masked else []
        # Two outputs of a subgraph cannot be the same value.
        ends = _distinct(call, [*after, *mask_inputs, value])
    return ir.Graph(
        [*states, *before, step, *mask], ends, nodes=nodes, name=builder.name(f"{builder.prefix}/step")
    )


def _as_zeros(call: LayerCall, value: ir.Value) -> ir.Value:
    return call.builder.op("Sub", value, value)


def _distinct(call: LayerCall, values: list[ir.Value]) -> list[ir.Value]:
    distinct: list[ir.Value] = []
    for value in values:
        distinct.append(call.builder.op("Identity", value) if value in distinct else value)
    return distinct


def _input(
    call: LayerCall, name: str, shape: tuple[int | None, ...], kind: ir.DataType = ir.DataType.FLOAT
) -> ir.Value:
    name = call.builder.name(f"{call.builder.prefix}/{name}")
    return ir.Value(name=name, shape=ir.Shape(shape), type=ir.TensorType(kind))
