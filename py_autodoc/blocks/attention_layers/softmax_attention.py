"""Softmax(Q·Kᵀ)·V: the two products around a Softmax and the nodes between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import (
    MS,
    QUANTIZED_COPY_OPS,
    MatrixProduct,
    is_scalar,
    is_stored_weight,
    product,
)

SOFTMAXES = frozenset({"Softmax", f"{MS}QLinearSoftmax", f"{MS}BiasSoftmax"})
_ADDING = frozenset({"Add", "Sub", "Max", "Min", f"{MS}QLinearAdd"})
_SCALING = frozenset({"Mul", "Div", f"{MS}QLinearMul"})
_ONE_INPUT = QUANTIZED_COPY_OPS | {"Tanh", "Clip", "Neg"}
_SHAPED = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Transpose", "Flatten"})
_MAX_STATES = 64
_MAX_DEPTH = 20


class SoftmaxAttention(NamedTuple):
    """One unfused attention: scores = Q·Kᵀ, weights = Softmax, context = weights·V."""

    softmax: int
    scores: MatrixProduct
    values: MatrixProduct
    q: int
    k: int
    v: int
    q_sum: int
    """Axis of ``q`` that Q·Kᵀ sums over; its size is the head size."""
    k_sum: int
    v_free: int
    """Axis of ``v`` that is kept; its size is the head size of V."""
    query_axis: int
    """Query axis of the input of the Softmax."""
    key_axis: int
    nodes: tuple[int, ...]
    """Nodes from Q·Kᵀ to the context."""
    added: tuple[int, ...]
    """Tensors added to, selected over or multiplied with the scores: masks and biases."""


class _Scores(NamedTuple):
    product: MatrixProduct
    path: tuple[int, ...]
    added: tuple[int, ...]


def softmax_attention_at(flow: DataflowGraph, softmax: int) -> SoftmaxAttention | None:
    """Return the attention around a Softmax; None if the Softmax has another purpose."""
    node = flow.nodes[softmax]
    if not node.inputs or node.inputs[0] < 0 or not node.outputs or node.outputs[0] < 0:
        return None
    axis = _axis(flow, softmax)
    if axis not in (-1, -2):
        return None
    weighted = _values(flow, softmax, axis)
    if weighted is None:
        return None
    values, after = weighted
    scores = _scores(flow, softmax)
    if scores is None:
        return None
    return _assemble(flow, softmax, axis, scores, values, after)


def _assemble(
    flow: DataflowGraph,
    softmax: int,
    axis: int,
    scores: _Scores,
    values: MatrixProduct,
    after: tuple[int, ...],
) -> SoftmaxAttention | None:
    p, after_set = scores.product, set(after)
    on_left = flow.producers[values.a] in after_set or flow.producers[values.a] == softmax
    v, v_free = (values.b, values.b_free) if on_left else (values.a, values.a_free)
    keys_last = axis == -1
    is_transposed = _is_transposed(flow, scores.path)
    # With the keys on the last axis, the rows of Q·Kᵀ are queries, unless a Transpose follows.
    first_is_q = keys_last != is_transposed
    q, k = (p.a, p.b) if first_is_q else (p.b, p.a)
    q_sum, k_sum = (p.a_sum, p.b_sum) if first_is_q else (p.b_sum, p.a_sum)
    if is_stored_weight(flow, v) or is_stored_weight(flow, k):
        return None
    nodes = sorted({*scores.path, softmax, *after, values.node, p.node})
    return SoftmaxAttention(
        softmax,
        p,
        values,
        q,
        k,
        v,
        q_sum,
        k_sum,
        v_free,
        -2 if keys_last else -1,
        axis,
        tuple(nodes),
        scores.added,
    )


def _axis(flow: DataflowGraph, softmax: int) -> int | None:
    """Return the axis of the Softmax from the end; None if unknown or, before opset 13, not the last."""
    node = flow.nodes[softmax]
    shape = flow.shapes[node.inputs[0]]
    old = not node.domain and 0 < node.opset < 13
    axis = node.attributes.get("axis", 1 if old or node.domain else -1)
    if not isinstance(axis, int):
        return None
    if axis >= 0:
        if shape is None or axis >= len(shape):
            return None
        axis -= len(shape)
    return axis if axis == -1 or not old else None


def _is_transposed(flow: DataflowGraph, path: tuple[int, ...]) -> bool:
    """True if the nodes swap the last two axes."""
    swaps = 0
    for number in path:
        if flow.qualified_op_types[number] == "Transpose":
            perm = flow.nodes[number].attributes.get("perm")
            swaps += _swaps(perm)
    return bool(swaps % 2)


def _swaps(perm: object) -> bool:
    return (
        isinstance(perm, list | tuple) and len(perm) > 1 and list(perm[-2:]) == [len(perm) - 1, len(perm) - 2]
    )


# ------------------------------------------------------------------ Softmax → P·V


def _values(flow: DataflowGraph, softmax: int, axis: int) -> tuple[MatrixProduct, tuple[int, ...]] | None:
    """Return (P·V, nodes between): the nearest downstream product that sums over the axis of the Softmax.

    Prefers a product with activations as values to one with a stored table (relative positions of values).
    """
    candidates: list[tuple[bool, int, MatrixProduct, tuple[int, ...]]] = []
    states: list[tuple[int, int | None, tuple[int, ...]]] = [(flow.nodes[softmax].outputs[0], axis, ())]
    seen: set[int] = set()
    for _ in range(_MAX_STATES):
        if not states:
            break
        tensor, key_axis, path = states.pop(0)
        for reader in flow.readers[tensor][:_MAX_STATES]:
            if reader in seen:
                continue
            seen.add(reader)
            matmul = product(flow, reader)
            if matmul is not None:
                if _sums_keys(matmul, tensor, key_axis):
                    values = matmul.b if matmul.a == tensor else matmul.a
                    candidates.append((is_stored_weight(flow, values), len(path), matmul, path))
                continue
            step = _forward(flow, reader, tensor, key_axis)
            if step is not None and len(path) < _MAX_DEPTH:
                states.append((*step, (*path, *_guards(flow, reader), reader)))
    if not candidates:
        return None
    _, _, matmul, path = min(candidates, key=lambda entry: entry[:2])
    return matmul, path


def _sums_keys(matmul: MatrixProduct, weights: int, axis: int | None) -> bool:
    if matmul.a == matmul.b:
        return False
    summed = matmul.a_sum if matmul.a == weights else matmul.b_sum
    return axis is None or summed == axis


def _forward(
    flow: DataflowGraph, reader: int, tensor: int, axis: int | None
) -> tuple[int, int | None] | None:
    """Return (output, key axis) if a consumer passes the attention weights on, else None."""
    op, node = flow.qualified_op_types[reader], flow.nodes[reader]
    if not node.outputs or node.outputs[0] < 0:
        return None
    out = node.outputs[0]
    first = bool(node.inputs) and node.inputs[0] == tensor
    if (
        (op in QUANTIZED_COPY_OPS and first)
        or op in ("Mul", f"{MS}QLinearMul", "Where")
        or (op == "Div" and first)
    ):
        return out, axis
    if op == "Slice" and first:
        return out, axis
    if op == "Transpose" and first:
        return out, _moved_axis(axis, node.attributes.get("perm"))
    if op in _SHAPED and first:
        return (out, axis) if _same_end(flow, tensor, out) else None
    return None


def _moved_axis(axis: int | None, perm: object) -> int | None:
    """Return the new position of an axis, counted from the end, after a Transpose."""
    if axis is None or not isinstance(perm, list | tuple):
        return None
    from_start = len(perm) + axis
    return perm.index(from_start) - len(perm) if from_start in perm else None


def _same_end(flow: DataflowGraph, before: int, after: int) -> bool:
    """True if a reshape keeps the last two axes, as far as known."""
    a, b = flow.shapes[before], flow.shapes[after]
    if a is None or b is None:
        return True
    if len(a) < 2 or len(b) < 2:
        return False
    return all(x == y or x is None or y is None for x, y in zip(a[-2:], b[-2:], strict=True))


def _guards(flow: DataflowGraph, reader: int) -> Iterator[int]:
    """Yield the IsNaN next to a Where that replaces NaN weights by 0."""
    if flow.qualified_op_types[reader] == "Where":
        test = flow.producers[flow.nodes[reader].inputs[0]]
        if flow.qualified_op_types[test] == "IsNaN":
            yield test


# ------------------------------------------------------------------ Q·Kᵀ → Softmax


def _scores(flow: DataflowGraph, softmax: int) -> _Scores | None:
    """Find the product behind the Softmax input: the nearest one whose operands are computed."""
    node = flow.nodes[softmax]
    extra = node.inputs[1:2] if flow.qualified_op_types[softmax] == f"{MS}BiasSoftmax" else ()
    added = tuple(i for i in extra if i >= 0)
    states: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(node.inputs[0], (), added)]
    seen: set[int] = set()
    candidates: list[_Scores] = []
    for _ in range(_MAX_STATES):
        if not states:
            break
        tensor, path, added = states.pop(0)
        number = flow.producers[tensor]
        if number < 0 or number in seen or len(path) > _MAX_DEPTH:
            continue
        seen.add(number)
        matmul = product(flow, number)
        if matmul is not None:
            if _computed(flow, matmul):
                candidates.append(_Scores(matmul, path, added))
            continue
        states += [
            (t, (*path, number), (*added, *mask_tensors)) for t, mask_tensors in _backward(flow, number)
        ]
    return _content_product(flow, candidates)


def _computed(flow: DataflowGraph, matmul: MatrixProduct) -> bool:
    """True if neither operand is a stored weight or the output of another Softmax."""
    for tensor in (matmul.a, matmul.b):
        if flow.qualified_op_types[flow.producers[flow.back(tensor, QUANTIZED_COPY_OPS)]] in SOFTMAXES:
            return False
    return matmul.a != matmul.b and not (
        is_stored_weight(flow, matmul.a) and is_stored_weight(flow, matmul.b)
    )


def _content_product(flow: DataflowGraph, candidates: list[_Scores]) -> _Scores | None:
    """Of several summed products, return the one with activations on both sides; the others are positions."""
    best = [s for s in candidates if not flow.constants[s.product.a] and not flow.constants[s.product.b]]
    usable = [
        s
        for s in candidates
        if not is_stored_weight(flow, s.product.a) and not is_stored_weight(flow, s.product.b)
    ]
    return next(iter(best or usable or candidates), None)


def _backward(flow: DataflowGraph, number: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (input that may hold the scores, other inputs) of a node between the product and the Softmax."""
    op, node = flow.qualified_op_types[number], flow.nodes[number]
    inputs = [i for i in node.inputs if i >= 0]
    if not inputs:
        return
    if op == "Concat":  # scores beside those of a sink, before or after them
        for part in inputs[:2]:
            yield part, ()
    elif op in _ONE_INPUT or op in _SHAPED:
        yield inputs[0], ()
    elif op == f"{MS}QLinearAdd" and len(inputs) > 3:
        yield from _both_orders(inputs[0], inputs[3])
    elif op in _ADDING and len(inputs) > 1:
        yield from _both_orders(inputs[0], inputs[1])
    elif op in _SCALING and len(inputs) > 1:
        yield from _scaled(flow, op, inputs)
    elif op == "Where" and len(inputs) == 3:
        yield inputs[1], (inputs[0], inputs[2])
        yield inputs[2], (inputs[0], inputs[1])


def _both_orders(a: int, b: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    yield a, (b,)
    yield b, (a,)


def _scaled(flow: DataflowGraph, op: str, inputs: list[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Treat a scalar as a scale, and any other factor of the scores as a mask."""
    factor = inputs[3] if op == f"{MS}QLinearMul" and len(inputs) > 3 else inputs[1]
    first = inputs[0]
    yield first, () if is_scalar(flow, factor) else (factor,)
    if op != "Div":
        yield factor, () if is_scalar(flow, first) else (first,)
