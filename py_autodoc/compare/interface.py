"""What users of two models rely on: names, order, types and dimensions of the inputs and outputs."""

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
        first, second = declared(left, kind), declared(right, kind)
        details += _order(kind, first, second)
        for left_tensor, right_tensor in paired(first, second):
            details += _changes(kind, left_tensor, right_tensor)
    return tuple(details)


def paired(
    first: Sequence[Tensor], second: Sequence[Tensor]
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """Pair inputs or outputs of two models by name, the rest in their order if equally many remain."""
    right_by_name = {tensor.name: tensor for tensor in second}
    shared = right_by_name.keys() & {tensor.name for tensor in first}
    renamed = [tensor for tensor in second if tensor.name not in shared]
    others = len(first) - sum(tensor.name in shared for tensor in first)
    in_order = iter(renamed if len(renamed) == others else [])
    for tensor in first:
        yield tensor, right_by_name[tensor.name] if tensor.name in shared else next(in_order, None)
    if len(renamed) != others:
        yield from ((None, tensor) for tensor in renamed)


def declared(side: ComparedSide, kind: str) -> list[Tensor]:
    """Return the inputs or outputs of the graph, without weights."""
    graph, tensors = side.model.graphs[0], side.model.tensors
    ids = graph.inputs if kind == "input" else graph.outputs
    return [tensors[t] for t in ids if kind == "output" or tensors[t].kind == TensorKind.INPUT]


def _order(kind: str, first: Sequence[Tensor], second: Sequence[Tensor]) -> list[Detail]:
    """Return a change if the common names are in another order: callers may pass values by position."""
    both = {tensor.name for tensor in first} & {tensor.name for tensor in second}
    left, right = ([tensor.name for tensor in side if tensor.name in both] for side in (first, second))
    return (
        [Detail(Change.ORDER, f"order of {kind}s", ", ".join(left), ", ".join(right))]
        if left != right
        else []
    )


def _changes(kind: str, left: Tensor | None, right: Tensor | None) -> list[Detail]:
    declared_tensor = left or right
    assert declared_tensor is not None
    what = f"{kind} {declared_tensor.name}"
    if left is None or right is None:
        texts = [UNKNOWN if tensor is None else _declaration(tensor) for tensor in (left, right)]
        return [Detail(Change.OPERATOR, what, texts[0], texts[1])]
    details = []
    if left.name != right.name:
        details.append(Detail(Change.NAME, f"name of {kind}", left.name, right.name))
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
