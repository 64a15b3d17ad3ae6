"""What is added to attention scores: causal masks, other masks, learned biases.

A mask is causal only with evidence: a Trilu, a triangular constant, or a comparison of key positions
with query positions. It is known not to be causal when every part of it depends on the key alone or on
the query alone, or its values are known. A mask that a caller feeds, or a constant whose values were
not read, cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.positions import BIAS, CAUSAL, COMPARISONS, INSIDE, OPEN, UNKNOWN, compared
from py_autodoc.blocks.products import MS, PASSING, product, scalar, stored
from py_autodoc.graph.model import Shape

_BIASES = frozenset({f"{MS}RelativePositionBias", f"{MS}GatedRelativePositionBias"})
_ELEMENTWISE = frozenset({
    "And", "Or", "Not", "Xor", "Where", "Add", "Sub", "Mul", "Div", "Min", "Max", "Neg", "Abs", "Clip",
    "Concat", "Log", "BitwiseAnd", "BitwiseOr", "BitwiseNot", "Sigmoid", "ScatterND", "Exp",
})  # fmt: skip
_MOVES = PASSING | {
    "Expand", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Tile", "Slice", "Split", "Flatten", "Pad",
}  # fmt: skip
_FLOATS = (1, 10, 11, 16)
"""TensorProto types: float, float16, double, bfloat16."""
_MAX_NODES = 96
_HIDDEN = -1e3
"""A number below is added to hide a key."""


@dataclass(frozen=True, slots=True)
class Masking:
    """What the added tensors amount to."""

    causal: bool | None
    mask: bool
    relative_bias: bool


def masking(flow: Flow, added: Iterable[int], heads: int | None, queries: object) -> Masking:
    """Judge the tensors added to the scores. ``queries``: their number, where known."""
    verdicts: set[str] = set()
    for tensor in added:
        known = flow.memo.setdefault(_judge, {})  # layers share their masks
        if (tensor, heads) not in known:
            known[tensor, heads] = _judge(flow, tensor, heads)
        verdicts |= known[tensor, heads]
    causal: bool | None = False
    if CAUSAL in verdicts:
        causal = True
    elif UNKNOWN in verdicts or queries == 1:  # one query sees all the keys there are, causal or not
        causal = None
    return Masking(causal, bool(verdicts - {BIAS}), BIAS in verdicts)


def tensors(flow: Flow, added: Iterable[int]) -> tuple[int, ...]:
    """Of the tensors added those with more than one number: others are scales."""
    return tuple(
        tensor
        for tensor in dict.fromkeys(added)
        if (shape := flow.shapes[tensor]) is not None and any(size != 1 for size in shape)
    )


def _judge(flow: Flow, tensor: int, heads: int | None) -> set[str]:
    """Verdicts on the parts of one added tensor; scalars say nothing. Bounded."""
    found: set[str] = set()
    queue, seen, at = [tensor], {tensor}, 0
    while at < len(queue):
        if at == _MAX_NODES:
            return found | {UNKNOWN}
        current, at = queue[at], at + 1
        verdict = _leaf(flow, current, heads)
        if verdict is not None:
            found.update(verdict)
            continue
        for i in _parts(flow, flow.makers[current]):
            if i not in seen:
                seen.add(i)
                queue.append(i)
    return found


def _leaf(flow: Flow, tensor: int, heads: int | None) -> set[str] | None:
    """The verdict on a tensor that need not be taken apart; None for one that must."""
    if scalar(flow, tensor):
        return set()
    number = flow.makers[tensor]
    op = flow.names[number]
    if op == "Trilu":
        return {CAUSAL}
    shape = flow.shapes[tensor]
    if op not in COMPARISONS and _one_sided(shape):
        return {OPEN}
    value = flow.value(tensor)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return tables(value)
    if number < 0 or (_a_head_each(shape, heads) and stored(flow, tensor)):
        return {_unread(flow, tensor, shape, heads)}
    if op in COMPARISONS:
        told = compared(flow, number)
        return None if told == INSIDE else {told}
    if op in _BIASES or product(flow, number) is not None or _looked_up(flow, number, op):
        return {BIAS}
    return None if op in _ELEMENTWISE or op in _MOVES else {UNKNOWN}


def _parts(flow: Flow, number: int) -> list[int]:
    """The inputs of a node that its values come from."""
    if number < 0:
        return []
    inputs = [i for i in flow.nodes[number].inputs if i >= 0]
    return inputs[:1] if flow.names[number] in _MOVES else inputs


def _one_sided(shape: Shape | None) -> bool:
    """True when the tensor is the same for all queries, or for all keys."""
    return shape is not None and (len(shape) < 2 or shape[-1] == 1 or shape[-2] == 1)


def _looked_up(flow: Flow, number: int, op: str) -> bool:
    """A Gather from a stored float table: a learned bias by distance."""
    inputs = flow.nodes[number].inputs
    if op not in ("Gather", "GatherElements", "GatherND") or not inputs or inputs[0] < 0:
        return False
    return stored(flow, inputs[0]) and flow.types.dtypes[inputs[0]] in _FLOATS


def _unread(flow: Flow, tensor: int, shape: Shape | None, heads: int | None) -> str:
    """A constant whose values are not known, or a tensor from outside.

    A mask is the same for all heads and a causal one for all windows of a batch as well; a table with a
    matrix for each head is a bias.
    """
    if shape is None or not stored(flow, tensor):
        return UNKNOWN
    if _a_head_each(shape, heads) and flow.types.dtypes[tensor] in _FLOATS:
        return BIAS
    if any(isinstance(d, int) and d > 1 for d in shape[:-2]):
        return OPEN
    return UNKNOWN


def _a_head_each(shape: Shape | None, heads: int | None) -> bool:
    """True for (…, heads, S, T)."""
    return shape is not None and heads is not None and heads > 1 and len(shape) > 2 and shape[-3] == heads


def tables(value: np.ndarray[Any, Any]) -> set[str]:
    """What known (…, S, T) tables of scores to add, or of keys to see, are: causal, open, biases."""
    stack = value.reshape(-1, *value.shape[-2:])
    rows, columns = stack.shape[-2:]
    if rows < 2 or columns < 2 or not stack.size:
        return {OPEN}
    if value.dtype.kind == "f":
        return _numbers(stack)
    if value.dtype.kind not in "biu":
        return {UNKNOWN}
    return {_either(stack != 0)}


def _numbers(stack: np.ndarray[Any, Any]) -> set[str]:
    """Floats: a very low number hides a key; of two numbers one does; others are a bias."""
    hidden = stack <= _HIDDEN
    if hidden.any():
        shown = stack[~hidden]
        verdict = _shape(~hidden)
        return {verdict, BIAS} if shown.size and shown.min() != shown.max() else {verdict}
    lowest, highest = stack.min(), stack.max()
    if lowest == highest:
        return set()  # the same for all: it changes nothing
    if not ((stack == lowest) | (stack == highest)).all() or 0 not in (lowest, highest):
        return {BIAS}
    return {_either(stack == lowest)}


def _either(shown: np.ndarray[Any, Any]) -> str:
    """Of a table of two values it is not known which one hides."""
    verdicts = (_shape(shown), _shape(~shown))
    return CAUSAL if CAUSAL in verdicts else OPEN


def _shape(shown: np.ndarray[Any, Any]) -> str:
    """Causal when each query's last key is one further than that of the query before, and none is ahead.

    The queries may be the last of the keys (with a cache) or the first (ONNX Attention without one), by
    sequence of the batch. Queries that see nothing are passed over; where no two see anything, it cannot
    be told.
    """
    _, rows, columns = shown.shape
    last = columns - 1 - np.argmax(shown[:, :, ::-1], axis=2) - np.arange(rows)
    some = shown.any(axis=2)
    if (some.sum(axis=1) < 2).any():
        return UNKNOWN
    far = np.where(some, last, np.iinfo(last.dtype).min).max(axis=1)
    near = np.where(some, last, np.iinfo(last.dtype).max).min(axis=1)
    return CAUSAL if bool(((far == near) & (far <= columns - rows)).all()) else OPEN
