"""Declared types and dimensions of inputs and outputs of two models, whatever their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from py_autodoc.compare.changes import Change, ComparedSide, Detail
from py_autodoc.graph.ir.model import Shape, Tensor, TensorKind
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.units import UNKNOWN
from py_autodoc.units import shape as written


def interface(left: ComparedSide, right: ComparedSide) -> tuple[Detail, ...]:
    """Return the changes of inputs and outputs."""
    found: list[Detail] = []
    for kind in ("input", "output"):
        for one, other in paired(declared(left, kind), declared(right, kind)):
            found += _changed(kind, one, other)
    return tuple(found)


def paired(
    first: Sequence[Tensor], second: Sequence[Tensor]
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """Pair inputs or outputs of two models by name, the rest by position if equally many remain."""
    named = {one.name: one for one in second}
    if len(first) == len(second) and any(one.name not in named for one in first):
        yield from zip(first, second, strict=True)
        return
    for one in first:
        yield one, named.pop(one.name, None)
    for other in named.values():
        yield None, other


def declared(side: ComparedSide, kind: str) -> list[Tensor]:
    """Return the inputs or outputs of the graph, without weights."""
    graph, tensors = side.model.graphs[0], side.model.tensors
    ids = graph.inputs if kind == "input" else graph.outputs
    return [tensors[t] for t in ids if kind == "output" or tensors[t].kind == TensorKind.INPUT]


def _changed(kind: str, one: Tensor | None, other: Tensor | None) -> list[Detail]:
    about = one or other
    assert about is not None
    what = f"{kind} {about.name}"
    if one is None or other is None:
        told = [UNKNOWN if tensor is None else _told(tensor) for tensor in (one, other)]
        return [Detail(Change.OPERATOR, what, told[0], told[1])]
    found = []
    if one.dtype and other.dtype and one.dtype != other.dtype:
        found.append(Detail(Change.PRECISION, what, dtype_name(one.dtype), dtype_name(other.dtype)))
    if not _alike(one.shape, other.shape):
        found.append(Detail(Change.SHAPES, what, written(one.shape), written(other.shape)))
    return found


def _alike(one: Shape | None, other: Shape | None) -> bool:
    """Return whether two shapes are equal except for symbol names. Undeclared shapes are not compared."""
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(
        x == y or not (isinstance(x, int) or isinstance(y, int)) for x, y in zip(one, other, strict=True)
    )


def _told(tensor: Tensor) -> str:
    return f"{dtype_name(tensor.dtype)} {written(tensor.shape)}"
