"""Declared types and dimensions of inputs and outputs of two models, whatever their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from py_autodoc.compare.changes import Change, ComparedSide, Detail
from py_autodoc.graph.ir.model import Shape, Tensor, TensorKind
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.units import UNKNOWN
from py_autodoc.units import shape as shape_text


def interface(left: ComparedSide, right: ComparedSide) -> tuple[Detail, ...]:
    """Return the changes of inputs and outputs."""
    details: list[Detail] = []
    for kind in ("input", "output"):
        for left_tensor, right_tensor in paired(declared(left, kind), declared(right, kind)):
            details += _changes(kind, left_tensor, right_tensor)
    return tuple(details)


def paired(
    first: Sequence[Tensor], second: Sequence[Tensor]
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """Pair inputs or outputs of two models by name, the rest by position if equally many remain."""
    right_by_name = {tensor.name: tensor for tensor in second}
    if len(first) == len(second) and any(tensor.name not in right_by_name for tensor in first):
        yield from zip(first, second, strict=True)
        return
    for tensor in first:
        yield tensor, right_by_name.pop(tensor.name, None)
    for tensor in right_by_name.values():
        yield None, tensor


def declared(side: ComparedSide, kind: str) -> list[Tensor]:
    """Return the inputs or outputs of the graph, without weights."""
    graph, tensors = side.model.graphs[0], side.model.tensors
    ids = graph.inputs if kind == "input" else graph.outputs
    return [tensors[t] for t in ids if kind == "output" or tensors[t].kind == TensorKind.INPUT]


def _changes(kind: str, left: Tensor | None, right: Tensor | None) -> list[Detail]:
    declared_tensor = left or right
    assert declared_tensor is not None
    what = f"{kind} {declared_tensor.name}"
    if left is None or right is None:
        texts = [UNKNOWN if tensor is None else _declaration(tensor) for tensor in (left, right)]
        return [Detail(Change.OPERATOR, what, texts[0], texts[1])]
    details = []
    if left.dtype and right.dtype and left.dtype != right.dtype:
        details.append(Detail(Change.PRECISION, what, dtype_name(left.dtype), dtype_name(right.dtype)))
    if not _same_shape(left.shape, right.shape):
        details.append(Detail(Change.SHAPES, what, shape_text(left.shape), shape_text(right.shape)))
    return details


def _same_shape(left: Shape | None, right: Shape | None) -> bool:
    """Return whether two shapes are equal except for symbol names. Undeclared shapes are not compared."""
    if left is None or right is None:
        return True
    return len(left) == len(right) and all(
        x == y or not (isinstance(x, int) or isinstance(y, int)) for x, y in zip(left, right, strict=True)
    )


def _declaration(tensor: Tensor) -> str:
    return f"{dtype_name(tensor.dtype)} {shape_text(tensor.shape)}"
