"""Inputs and outputs against a baseline: callers rely on their names, order, types and shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.report.builders.shared_parts import graph_info
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema.model import GraphInfo, ValueInfo
from py_autodoc.units import shape

_MAX_SHOWN = 3


def interface_rule(name: str, baseline: GraphInfo, dims: Mapping[str, int | None]) -> Rule:
    """Return a rule that fails if an input or output differs from the baseline's.

    ``dims`` are the values of the baseline's symbolic dimensions: a symbol equals its value.
    """
    title = f"same inputs and outputs as {shorten_middle(name, 80)}"

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        current = graph_info(subject.analysis)
        values = {
            **_values(subject),
            **{symbol: value for symbol, value in dims.items() if value is not None},
        }
        changes = [
            *_changes("input", baseline.inputs, current.inputs, values),
            *_changes("output", baseline.outputs, current.outputs, values),
        ]
        if not changes:
            return [CheckOutcome("baseline", title, Status.PASSED, f"The {title}.")]
        more = f" and {len(changes) - _MAX_SHOWN:,} more" if len(changes) > _MAX_SHOWN else ""
        message = f"{'; '.join(changes[:_MAX_SHOWN])}{more}, against {shorten_middle(name, 80)}."
        return [CheckOutcome("baseline", title, Status.FAILED, message)]

    return check


def _values(subject: CheckSubject) -> dict[str, int]:
    symbols = subject.analysis.dims.symbols
    return {shorten_middle(symbol.name): symbol.value for symbol in symbols if symbol.value is not None}


def _changes(
    kind: str, before: Sequence[ValueInfo], after: Sequence[ValueInfo], values: Mapping[str, int]
) -> Iterator[str]:
    for old, new in zip_longest(before, after):
        if old is None or new is None:
            yield f"{kind} {new.name} is new" if old is None else f"{kind} {old.name} is missing"
        elif old.name != new.name:
            yield f"{kind} {old.name} → {new.name}"
        elif old.container != new.container or _differ(old.elem_type, new.elem_type):
            types = [f"{port.container} of {port.elem_type}" for port in (old, new)]
            yield f"{kind} {old.name}: {types[0]} → {types[1]}"
        elif not _same_shape(old.shape, new.shape, values):
            yield f"{kind} {old.name}: {_text(old.shape)} → {_text(new.shape)}"


def _differ(before: str, after: str) -> bool:
    return before != after and "unknown" not in (before, after)


def _same_shape(
    before: Sequence[int | str | None] | None,
    after: Sequence[int | str | None] | None,
    values: Mapping[str, int],
) -> bool:
    """Return whether two shapes agree; symbols may have other names, unknown shapes agree with all."""
    if before is None or after is None:
        return True
    return len(before) == len(after) and all(map(lambda x, y: _same_size(x, y, values), before, after))


def _same_size(before: int | str | None, after: int | str | None, values: Mapping[str, int]) -> bool:
    sizes = [values.get(size, size) if isinstance(size, str) else size for size in (before, after)]
    if None in sizes or sizes[0] == sizes[1]:
        return True
    return not any(isinstance(size, int) for size in sizes)


def _text(sizes: Sequence[int | str | None] | None) -> str:
    return shape(None if sizes is None else tuple("?" if size is None else size for size in sizes))
