"""Inputs and outputs of two models: types and sizes as they are declared, whatever they are called."""

from __future__ import annotations

from py_autodoc.compare.changes import Change, Detail, Side
from py_autodoc.graph.model import Shape, Tensor, TensorKind
from py_autodoc.report.labels import dtype_name
from py_autodoc.units import UNKNOWN
from py_autodoc.units import shape as written


def interface(left: Side, right: Side) -> tuple[Detail, ...]:
    """What changed of inputs and outputs. By their place where there are as many, else by name."""
    found: list[Detail] = []
    for kind in ("input", "output"):
        first, second = _declared(left, kind), _declared(right, kind)
        if len(first) == len(second):
            pairs: list[tuple[Tensor | None, Tensor | None]] = list(zip(first, second, strict=True))
        else:
            named = {one.name: one for one in second}
            pairs = [(one, named.pop(one.name, None)) for one in first]
            pairs += [(None, one) for one in named.values()]
        for one, other in pairs:
            found += _changed(kind, one, other)
    return tuple(found)


def _declared(side: Side, kind: str) -> list[Tensor]:
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
    """Whether two shapes are the same but for names of sizes. What is not declared is not compared."""
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(
        x == y or not (isinstance(x, int) or isinstance(y, int)) for x, y in zip(one, other, strict=True)
    )


def _told(tensor: Tensor) -> str:
    return f"{dtype_name(tensor.dtype)} {written(tensor.shape)}"
