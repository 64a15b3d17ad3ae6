"""State size of a selective scan: how many numbers a channel keeps from one position to the next.

Mamba (arXiv:2312.00752) has a decay per channel and number, exp(Δ·A) with A of shape (channels, state).
With a decay per head (Mamba-2, arXiv:2405.21060; gated delta rule, arXiv:2412.06464) the size is what queries
and keys, C and B, or C and the state, are summed over.
"""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import LAYOUT_OPS, QUANTIZED_COPY_OPS, is_scalar, product
from py_autodoc.blocks.dataflow.operator_queries import axes, dim

_MOVES = LAYOUT_OPS | QUANTIZED_COPY_OPS | {"Expand", "Slice", "Gather", "Trilu", "Where", "Split", "Pad"}
_UPDATES = frozenset({"Mul", "Add", "Sub"})
_STEPS = 16
_MAX_READERS = 16


def state_size(flow: DataflowGraph, decays: Sequence[int], inside: set[int]) -> int | None:
    """Return the state size of a scan with these exponentials; None if the graph does not show it.

    ``inside``: nodes that depend on the first of them.
    """
    if not decays:
        return None
    if _is_per_state(flow, decays[0]):
        return dim(flow, flow.first_outputs[decays[0]], -1)
    factors = [factor for decay in decays for factor in _factors(flow, decay)]
    for _, other in factors:
        size = _summed_behind(flow, other, inside)
        if size is not None:
            return size
    for number, _ in factors:
        size = _summed_after(flow, number)
        if size is not None:
            return size
    return None


def _is_per_state(flow: DataflowGraph, decay: int) -> bool:
    """True if the exponent has a constant factor of two axes: channels and states."""
    tensor = flow.nodes[decay].inputs[0]
    for _ in range(_STEPS):
        number = flow.producers[tensor]
        if number < 0:
            return False
        constants = [flow.shapes[t] for t in flow.constant_inputs[number]]
        if flow.qualified_op_types[number] == "Mul" and constants:
            return any(shape is not None and sum(d != 1 for d in shape) > 1 for shape in constants)
        data = flow.data_inputs[number]
        if not data:
            return False
        tensor = data[0]
    return False


def _factors(flow: DataflowGraph, decay: int) -> list[tuple[int, int]]:
    """Return (Mul, other factor) of the products of a decay with what it weights."""
    queue, seen, found = [flow.first_outputs[decay]], {decay}, []
    for _ in range(_STEPS):
        if not queue:
            break
        tensor = queue.pop(0)
        for reader in flow.readers[tensor][:_MAX_READERS]:
            if reader in seen:
                continue
            seen.add(reader)
            op, data = flow.qualified_op_types[reader], flow.data_inputs[reader]
            if op == "Mul" and len(data) == 2:
                found.append((reader, data[1] if data[0] == tensor else data[0]))
            elif op in _MOVES or (op == "Mul" and len(data) == 1):
                queue.append(flow.first_outputs[reader])
    return found


def _summed_behind(flow: DataflowGraph, tensor: int, inside: set[int]) -> int | None:
    """Return what the product behind a factor is summed over, unless it depends on the decay itself."""
    for _ in range(_STEPS):
        number = flow.producers[tensor]
        if number < 0 or number in inside:
            return None
        size = _summed(flow, number)
        if size is not None:
            return size
        op, data = flow.qualified_op_types[number], flow.data_inputs[number]
        scaled = op in ("Mul", "Div") and any(is_scalar(flow, t) for t in flow.constant_inputs[number])
        if not (op in _MOVES or op == "Neg" or scaled) or not data:
            return None
        tensor = data[0]
    return None


def _summed_after(flow: DataflowGraph, number: int) -> int | None:
    """Return what the first sum over a decayed state runs over: its product with C, q or k."""
    queue, seen = [number], {number}
    for _ in range(_STEPS):
        if not queue:
            return None
        for reader in flow.successors(queue.pop(0))[:_MAX_READERS]:
            if reader in seen:
                continue
            seen.add(reader)
            size = _summed(flow, reader)
            if size is not None:
                return size
            if flow.qualified_op_types[reader] in _UPDATES or flow.qualified_op_types[reader] in _MOVES:
                queue.append(reader)
    return None


def _summed(flow: DataflowGraph, number: int) -> int | None:
    """Return the size that a product of two activations, or a sum of products, is summed over."""
    matmul = product(flow, number)
    if matmul is not None and len(flow.data_inputs[number]) == 2:
        return dim(flow, matmul.a, matmul.a_sum) or dim(flow, matmul.b, matmul.b_sum)
    if flow.qualified_op_types[number] != "ReduceSum":
        return None
    source, summed_axes = flow.nodes[number].inputs[0], axes(flow, number)
    made = flow.producers[source]
    is_product = flow.qualified_op_types[made] == "Mul" and len(flow.data_inputs[made]) == 2
    if not is_product or summed_axes is None or len(summed_axes) != 1:
        return None
    rank = len(flow.shapes[source] or ())
    return dim(flow, source, summed_axes[0] - rank if summed_axes[0] >= 0 else summed_axes[0])
