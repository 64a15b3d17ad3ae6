"""Graph inputs that hold cached keys and values, recognised by their use in the graph.

A cache is an input that a fused attention operator takes as its past, or that is extended by new values along
one axis (Concat) or written into (ScatterND, ScatterElements, TensorScatter), if the result is both a graph
output and attended to: as keys, if a product with it feeds a Softmax, or as values, if it is multiplied by
the result of a Softmax. Names are ignored. Feature buffers, convolution or recurrent states, and compressed
caches that are projected before use do not count.

Sources of the input positions and layouts: ONNX Attention-23/24 and TensorScatter-24; ONNX Runtime,
docs/ContribOperators.md (keys and values (batch, heads, positions, width); a combined past leads with 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.costs.attention_usage import attention_of, is_graph_output
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable

MS = "com.microsoft"
PAST: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("", "Attention"): (4, 5),
    (MS, "GroupQueryAttention"): (3, 4),
    (MS, "SparseAttention"): (3, 4),
    (MS, "MultiHeadAttention"): (6, 7),
    (MS, "DecoderMaskedMultiHeadAttention"): (5, 6),
    (MS, "Attention"): (4,),
    (MS, "DecoderMaskedSelfAttention"): (4,),
    (MS, "QAttention"): (8,),
}
"""Inputs of past keys and past values, or of both in one tensor."""

MAX_READS = 256
"""Maximum uses of an input, copies and parts included, that are examined."""

MAX_CANDIDATES = 4096
"""Maximum operators that extend an input and are examined; more than in any real model."""

_COPIES = frozenset({"Identity", "Cast", "CastLike", "Dropout", "DequantizeLinear"})
_SCATTER = frozenset({"ScatterND", "ScatterElements", "TensorScatter"})


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache that one attention reads from one input: keys, values, or both."""

    tensor: int
    """The graph input."""
    node: int
    """The operator that adds the new positions."""
    attention: int
    """The Softmax or fused operator; keys and values of a layer share it."""
    role: str
    """``key``, ``value`` or ``both``."""
    axis: int | None
    """Axis of the positions in the graph input; None if unknown."""
    batch: int
    """Axis of the batch in the graph input."""
    heads: int | None
    """Axis of the heads; None if batch and heads cannot be distinguished."""
    width: int | None
    result: int = -1
    """The tensor that includes the new positions; -1 if the operator returns none."""
    result_axis: int = -1
    """Axis of the positions in ``result``."""
    whole_input: bool = True
    """False if it is one of several parts of the input."""
    stack: int = -1
    """Axis on which keys and values are stacked, -1 if none."""


@dataclass(frozen=True, slots=True)
class _View:
    """A tensor that holds an input or a part of it; ``axes[i]`` is the input axis on axis i, -1 if new."""

    tensor: int
    axes: tuple[int, ...]


def cache_inputs(model: Model, types: TypeTable) -> list[Cache] | None:
    """Return the caches among the inputs of the main graph, in input order; None if there are too many.

    Never raises on content.
    """
    caches: list[Cache] = []
    search = _CacheSearch(model, types)
    for tensor in model.graphs[0].inputs:
        shape = types.shapes[tensor]
        if model.tensors[tensor].kind == TensorKind.INPUT and shape is not None and 3 <= len(shape) <= 6:
            caches.extend(search.of(tensor, len(shape)))
        if search.candidates > MAX_CANDIDATES:
            return None
    return caches


class _CacheSearch:
    def __init__(self, model: Model, types: TypeTable) -> None:
        self.model = model
        self.types = types
        self.candidates = 0

    def of(self, tensor: int, rank: int) -> Iterator[Cache]:
        """Yield the caches in one graph input."""
        stack = [_View(tensor, tuple(range(rank)))]
        seen = {tensor}
        reads = 0
        while stack:
            view = stack.pop()
            for number in self.model.tensors[view.tensor].consumers:
                reads += 1
                if reads > MAX_READS:
                    return
                node = self.model.nodes[number]
                yield from self._caches(tensor, view, node)
                for part_view in self._parts(view, node):
                    if part_view.tensor not in seen:
                        seen.add(part_view.tensor)
                        stack.append(part_view)

    def _caches(self, tensor: int, view: _View, node: Node) -> Iterator[Cache]:
        slots = PAST.get((node.domain, node.op_type))
        if slots is not None:
            for slot in slots:
                if slot < len(node.inputs) and node.inputs[slot] == view.tensor:
                    role = "both" if len(slots) == 1 else "key" if slot == slots[0] else "value"
                    yield from _fused(tensor, view, node, role)
            return
        if node.domain or not node.outputs or node.outputs[0] < 0:
            return
        axis = self._grown(view, node)
        if axis is None:
            return
        self.candidates += 1
        result = node.outputs[0]
        if self.candidates > MAX_CANDIDATES or not is_graph_output(self.model, result):
            return
        for attention, role in attention_of(self.model, result):
            axes = _layout(view, axis)
            whole_input = len(view.axes) == len(self.types.shapes[tensor] or ())
            yield Cache(tensor, node.id, attention, role, *axes, result, axis, whole_input)

    def _grown(self, view: _View, node: Node) -> int | None:
        """Return the axis of ``view`` along which ``node`` adds positions; -1: some axis; None: adds none."""
        rank = len(view.axes)
        if node.op_type == "Concat":
            axis = node.attributes.get("axis")
            if type(axis) is not int or not -rank <= axis < rank:
                return None
            new = [t for t in node.inputs if t >= 0 and t != view.tensor]
            fresh = any(self.model.tensors[t].kind == TensorKind.ACTIVATION for t in new)
            return axis % rank if fresh else None
        if node.op_type not in _SCATTER or not node.inputs or node.inputs[0] != view.tensor:
            return None
        if node.op_type == "ScatterND":
            return self._scattered(view, node)
        axis = node.attributes.get("axis", -2 if node.op_type == "TensorScatter" else 0)
        return axis % rank if type(axis) is int and -rank <= axis < rank else None

    def _scattered(self, view: _View, node: Node) -> int:
        """Return the axis that the indices of a ScatterND run along, -1 if unknown.

        The last axis of the indices holds the first ``k`` coordinates. With one coordinate, its axis is the
        result; with several, the axis on which the sizes of indices and data differ.
        """
        indices = self.types.shapes[node.inputs[1]] if len(node.inputs) > 1 and node.inputs[1] >= 0 else None
        data = self.types.shapes[view.tensor]
        if not indices or data is None or type(indices[-1]) is not int or indices[-1] > len(data):
            return -1
        if indices[-1] == 1:
            return 0
        if indices[-1] != len(indices) - 1:
            return -1
        extents = zip(indices[:-1], data, strict=False)
        differ = [axis for axis, (written, full) in enumerate(extents) if written != full]
        return differ[0] if len(differ) == 1 else -1

    def _parts(self, view: _View, node: Node) -> Iterator[_View]:
        """Yield the outputs of ``node`` that are copies, transposes or slices of ``view``."""
        if node.domain or not node.inputs or node.inputs[0] != view.tensor:
            return
        outputs = [t for t in node.outputs if t >= 0]
        axes = self._axes(view.axes, node)
        if axes is not None:
            yield from (_View(t, axes) for t in (outputs if node.op_type == "Split" else outputs[:1]))

    def _axes(self, axes: tuple[int, ...], node: Node) -> tuple[int, ...] | None:
        """Return the input axes on the result of ``node``; None if it does more than select or move."""
        op, rank = node.op_type, len(axes)
        if op == "DequantizeLinear":
            scale = node.inputs[1] if len(node.inputs) > 1 else -1
            constant = scale >= 0 and self.model.tensors[scale].is_constant
            return axes if constant else None  # computed scales would be a hidden part of the cache
        if op in _COPIES or op in ("Slice", "Split"):
            return axes
        if op == "Transpose":
            perm = node.attributes.get("perm", list(range(rank))[::-1])
            return tuple(axes[p] for p in perm) if sorted(perm) == list(range(rank)) else None
        if op == "Gather":
            return self._gathered(axes, node)
        if op in ("Squeeze", "Unsqueeze"):
            return self._squeezed(axes, node)
        return None

    def _gathered(self, axes: tuple[int, ...], node: Node) -> tuple[int, ...] | None:
        """A Gather of one index selects a part and removes the axis."""
        axis = node.attributes.get("axis", 0)
        index = self.types.shapes[node.inputs[1]] if len(node.inputs) > 1 and node.inputs[1] >= 0 else None
        if index != () or type(axis) is not int or not -len(axes) <= axis < len(axes):
            return None
        axis %= len(axes)
        return axes[:axis] + axes[axis + 1 :]

    def _squeezed(self, axes: tuple[int, ...], node: Node) -> tuple[int, ...] | None:
        axes_value = node.attributes.get("axes")
        if axes_value is None and len(node.inputs) > 1 and node.inputs[1] >= 0:
            value = self.types.values.get(node.inputs[1])
            axes_value = None if value is None else [int(v) for v in value.reshape(-1)]
        if not isinstance(axes_value, (list, tuple)):
            return None
        rank = len(axes) + (len(axes_value) if node.op_type == "Unsqueeze" else 0)
        if any(type(a) is not int or not -rank <= a < rank for a in axes_value):
            return None
        changed_axes = {a % rank for a in axes_value}
        if node.op_type == "Squeeze":
            return tuple(axis for position, axis in enumerate(axes) if position not in changed_axes)
        remaining = iter(axes)
        return tuple(-1 if position in changed_axes else next(remaining, -1) for position in range(rank))


def _fused(tensor: int, view: _View, node: Node, role: str) -> Iterator[Cache]:
    """Yield a cache in the fixed layout of fused operators."""
    axes: Sequence[int] = view.axes
    stack = -1
    if role == "both":
        if len(axes) != 5:
            return
        stack, axes = axes[0], axes[1:]
    if len(axes) != 4 or min(axes) < 0:
        return
    batch, heads, axis, width = axes
    index = 2 if role == "value" else 1  # (Y, present key, present value)
    result = node.outputs[index] if index < len(node.outputs) else -1
    grown = 3 if role == "both" else 2
    yield Cache(tensor, node.id, node.id, role, axis, batch, heads, width, result, grown, True, stack)


def _layout(view: _View, axis: int) -> tuple[int | None, int, int | None, int | None]:
    """Return (positions, batch, heads, width) as axes of the graph input.

    Axes that were removed before do not count. Of the four remaining axes the batch is first, the
    width is last (or before the positions, if they are last), and the other one holds the heads.
    """
    remaining_axes = sorted(a for a in view.axes if a >= 0)
    positions = view.axes[axis] if 0 <= axis < len(view.axes) else -1
    if positions < 0 or len(remaining_axes) != 4 or positions == remaining_axes[0]:
        return (positions if positions >= 0 else None), remaining_axes[0] if remaining_axes else 0, None, None
    batch, *others = remaining_axes
    others.remove(positions)
    return positions, batch, others[0], others[1]
