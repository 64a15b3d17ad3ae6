"""Tensors added to attention scores: causal masks, other masks and learned biases.

A mask is causal only with evidence: a Trilu, a triangular constant, or a comparison of key positions
with query positions. It is known not to be causal if every part depends on the key alone or on the
query alone, or if its values are known. A mask that the caller passes, or a constant whose values were
not read, is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.blocks.attention_layers.mask_axes import MaskAxes, axes_of_input
from py_autodoc.blocks.attention_layers.position_comparison import (
    BIAS,
    CAUSAL,
    COMPARISONS,
    INSIDE,
    OPEN,
    UNKNOWN,
    comparison_kind,
)
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import (
    MS,
    QUANTIZED_COPY_OPS,
    is_scalar,
    is_stored_weight,
    product,
)
from py_autodoc.graph.ir.model import Shape

_BIASES = frozenset({f"{MS}RelativePositionBias", f"{MS}GatedRelativePositionBias"})
_ELEMENTWISE = frozenset({
    "And", "Or", "Not", "Xor", "Where", "Add", "Sub", "Mul", "Div", "Min", "Max", "Neg", "Abs", "Clip",
    "Concat", "Log", "BitwiseAnd", "BitwiseOr", "BitwiseNot", "Sigmoid", "ScatterND", "Exp", "Pow", "Sqrt",
    "Reciprocal", "Relu", "LeakyRelu", "Elu", "Gelu", "Tanh", "Erf", "Softplus", "Sign", "Floor", "Ceil",
    "Round", "Mod", "Sum", "IsInf", "IsNaN",
})  # fmt: skip
_MOVES = QUANTIZED_COPY_OPS | {
    "Expand", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Tile", "Slice", "Split", "Flatten", "Pad",
    "CumSum", "Resize",
}  # fmt: skip
_UNIFORM = frozenset({"ConstantOfShape", "EyeLike"})
"""The same for all pairs, or for all but those of equal position, so it cannot be causal."""
_PICKS = frozenset({"Gather", "GatherElements", "GatherND"})
"""Operators that select values of their first input: scores by distance, table rows, mask entries."""
_QLINEAR = f"{MS}QLinear"
"""ONNX Runtime's operators on quantized values compute what their names say."""
_FLOATS = (1, 10, 11, 16)
"""TensorProto types: float, float16, double, bfloat16."""
_MAX_NODES = 96
_HIDDEN = -1e3
"""Values below this hide a key."""


@dataclass(frozen=True, slots=True)
class MaskKind:
    """Combined verdict on the added tensors."""

    causal: bool | None
    mask: bool
    relative_bias: bool


def classify_mask(flow: DataflowGraph, added: Iterable[int], heads: int | None, queries: object) -> MaskKind:
    """Classify the tensors added to the scores. ``queries``: number of queries, if known."""
    verdicts: set[str] = set()
    for tensor in added:
        cache = flow.memo.setdefault(_verdicts, {})  # layers share masks
        if (tensor, heads) not in cache:
            cache[tensor, heads] = _verdicts(flow, tensor, heads)
        verdicts |= cache[tensor, heads]
    causal: bool | None = False
    if CAUSAL in verdicts:
        causal = True
    elif UNKNOWN in verdicts or queries == 1:  # a single query sees all keys, causal or not
        causal = None
    return MaskKind(causal, bool(verdicts - {BIAS}), BIAS in verdicts)


def mask_tensors(flow: DataflowGraph, added: Iterable[int]) -> tuple[int, ...]:
    """Return the added tensors with more than one element; single elements are scales."""
    return tuple(
        tensor
        for tensor in dict.fromkeys(added)
        if (shape := flow.shapes[tensor]) is not None and any(size != 1 for size in shape)
    )


def _verdicts(flow: DataflowGraph, tensor: int, heads: int | None) -> set[str]:
    """Return the verdicts on the parts of an added tensor; scalars have none. Bounded."""
    verdicts: set[str] = set()
    queue, seen, index = [MaskAxes(tensor)], {tensor}, 0
    while index < len(queue):
        if index == _MAX_NODES:
            return verdicts | {UNKNOWN}
        current, index = queue[index], index + 1
        verdict = _leaf_verdict(flow, current, heads)
        if verdict is not None:
            verdicts.update(verdict)
            continue
        for operand in mask_parts(flow, current):
            if operand.tensor not in seen:
                seen.add(operand.tensor)
                queue.append(operand)
    return verdicts


def _leaf_verdict(flow: DataflowGraph, axes: MaskAxes, heads: int | None) -> set[str] | None:
    """Return the verdict on a tensor that needs no decomposition, else None."""
    tensor = axes.tensor
    if is_scalar(flow, tensor):
        return set()
    number = flow.producers[tensor]
    op = flow.qualified_op_types[number].removeprefix(_QLINEAR)
    if op == "Trilu":
        return {CAUSAL}
    if op in _UNIFORM:
        return {OPEN}
    shape = flow.shapes[tensor]
    if op not in COMPARISONS and _one_sided(shape, axes):
        return {OPEN}
    value = flow.value(tensor)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return _table_verdicts(value, axes)
    if number < 0 or (_is_per_head(shape, heads) and is_stored_weight(flow, tensor)):
        return {_unread_verdict(flow, axes, shape, heads)}
    if op in COMPARISONS:
        verdict = (
            comparison_kind(flow, number)
            if axes.ordered
            else INSIDE
            if _has_scalar(flow, number)
            else UNKNOWN
        )
        return None if verdict == INSIDE else {verdict}
    if op in _BIASES or product(flow, number) is not None or _is_learned_bias(flow, number, op):
        return {BIAS}
    return None if op in _ELEMENTWISE or op in _MOVES or op in _PICKS or op == "Einsum" else {UNKNOWN}


def mask_parts(flow: DataflowGraph, axes: MaskAxes) -> list[MaskAxes]:
    """Return the inputs of the producer that supply the values of a tensor."""
    number = flow.producers[axes.tensor]
    if number < 0:
        return []
    op = flow.qualified_op_types[number].removeprefix(_QLINEAR)
    inputs = [i for i in flow.nodes[number].inputs if i >= 0]
    if op == "ScatterND":
        inputs = inputs[:1] + inputs[2:]  # indices select positions, not values
    elif op in _MOVES or op in _PICKS or op == "Einsum":
        inputs = inputs[:1]
    return [axes_of_input(flow, number, axes, i) for i in inputs]


def _has_scalar(flow: DataflowGraph, number: int) -> bool:
    """True for a comparison with a single number, which converts numbers to booleans."""
    return any(i >= 0 and is_scalar(flow, i) for i in flow.nodes[number].inputs)


def _one_sided(shape: Shape | None, axes: MaskAxes) -> bool:
    """True if the tensor is the same for all queries or for all keys."""
    if shape is None:
        return False
    if axes.query is None or axes.key is None:
        return sum(d != 1 for d in shape) < 2
    return any(not -len(shape) <= axis < len(shape) or shape[axis] == 1 for axis in (axes.query, axes.key))


def _table_verdicts(value: np.ndarray[Any, Any], axes: MaskAxes) -> set[str]:
    """Return the verdict on known values, laid out over queries and keys or as a lookup table."""
    if axes.query is not None and axes.key is not None:
        return mask_table_kinds(np.moveaxis(value, (axes.query, axes.key), (-2, -1)))
    return {BIAS} if value.dtype.kind == "f" and not (value <= _HIDDEN).any() else {UNKNOWN}


def _is_learned_bias(flow: DataflowGraph, number: int, op: str) -> bool:
    """True for a Gather from a stored float table: a learned bias by distance."""
    inputs = flow.nodes[number].inputs
    if op not in ("Gather", "GatherElements", "GatherND") or not inputs or inputs[0] < 0:
        return False
    return is_stored_weight(flow, inputs[0]) and flow.types.dtypes[inputs[0]] in _FLOATS


def _unread_verdict(flow: DataflowGraph, axes: MaskAxes, shape: Shape | None, heads: int | None) -> str:
    """Return the verdict on a constant with unknown values, or on a graph input.

    A mask is the same for all heads, and a causal one also for all windows of a batch. A table with one
    matrix per head is a bias, as is a float table whose rows are selected by distance. An external mask
    indexed by batch and key, one row per sequence, contains no query positions.
    """
    unknown_side = axes.query is None or axes.key is None
    if shape is None or not is_stored_weight(flow, axes.tensor):
        return OPEN if unknown_side and shape is not None and len(shape) == 2 else UNKNOWN
    if flow.types.dtypes[axes.tensor] in _FLOATS and (unknown_side or _is_per_head(shape, heads)):
        return BIAS
    if not unknown_side and axes.ordered and any(isinstance(d, int) and d > 1 for d in shape[:-2]):
        return OPEN
    return UNKNOWN


def _is_per_head(shape: Shape | None, heads: int | None) -> bool:
    """True for shape (…, heads, S, T)."""
    return shape is not None and heads is not None and heads > 1 and len(shape) > 2 and shape[-3] == heads


def mask_table_kinds(value: np.ndarray[Any, Any]) -> set[str]:
    """Classify known (…, S, T) tables of additive scores or visible keys: causal, open, bias."""
    stack = value.reshape(-1, *value.shape[-2:])
    rows, columns = stack.shape[-2:]
    if rows < 2 or columns < 2 or not stack.size:
        return {OPEN}
    if value.dtype.kind == "f":
        return _float_verdicts(stack)
    if value.dtype.kind not in "biu":
        return {UNKNOWN}
    lowest = stack.min()
    has_two_values = ((stack == lowest) | (stack == stack.max())).all()
    return {_two_value_verdict(stack == lowest if has_two_values else stack != 0)}


def hides_keys(table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return where a known (S, T) table hides keys; of two values, the one on the diagonal shows them.

    None if it hides none.
    """
    if table.dtype.kind == "f" and (table <= _HIDDEN).any():
        low: np.ndarray[Any, Any] = table <= _HIDDEN
        return low
    lowest, highest = table.min(), table.max()
    if lowest == highest or not ((table == lowest) | (table == highest)).all():
        return None
    own = table[-1, -1]
    hidden: np.ndarray[Any, Any] = table != own
    return hidden


def _float_verdicts(stack: np.ndarray[Any, Any]) -> set[str]:
    """Classify floats: a very low value, or one of only two values, hides a key; others are a bias."""
    hidden = stack <= _HIDDEN
    if hidden.any():
        visible = stack[~hidden]
        verdict = _visibility_verdict(~hidden)
        return {verdict, BIAS} if visible.size and visible.min() != visible.max() else {verdict}
    lowest, highest = stack.min(), stack.max()
    if lowest == highest:
        return set()  # the same everywhere: no effect
    if not ((stack == lowest) | (stack == highest)).all() or 0 not in (lowest, highest):
        return {BIAS}
    return {_two_value_verdict(stack == lowest)}


def _two_value_verdict(visible: np.ndarray[Any, Any]) -> str:
    """Classify a table of two values when it is unknown which one hides."""
    verdicts = (_visibility_verdict(visible), _visibility_verdict(~visible))
    return CAUSAL if CAUSAL in verdicts else OPEN


def _visibility_verdict(visible: np.ndarray[Any, Any]) -> str:
    """Causal if the last key advances by one from query to query, and none is ahead.

    The queries may be the last of the keys (with a cache) or the first (ONNX Attention without one), for
    each sequence of the batch. Queries without visible keys are skipped; unknown unless two queries have
    visible keys. A band in the middle of the keys, as of blocks that see their neighbours (LongT5, Guo
    et al., 2021), ends ahead of its queries.
    """
    _, rows, columns = visible.shape
    last = columns - 1 - np.argmax(visible[:, :, ::-1], axis=2) - np.arange(rows)
    has_visible = visible.any(axis=2)
    if (has_visible.sum(axis=1) < 2).any():
        return UNKNOWN
    latest = np.where(has_visible, last, np.iinfo(last.dtype).min).max(axis=1)
    earliest = np.where(has_visible, last, np.iinfo(last.dtype).max).min(axis=1)
    is_causal = ((latest == earliest) & (latest <= columns - rows)).all()
    first = np.argmax(visible, axis=2) - np.arange(rows)
    is_centred = (has_visible & (first > 0) & (first + last == columns - rows)).all()
    return CAUSAL if is_causal and not is_centred else OPEN
