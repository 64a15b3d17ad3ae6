"""Which sizes the free symbols of the inputs get: given by the user, assumed, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from py_autodoc.errors import OptionError
from py_autodoc.graph import expr
from py_autodoc.graph.dims import apply_shapes, free_symbols, suggest, symbolic_inputs, two_sizes
from py_autodoc.graph.model import Model, Shape


class _Choices(Protocol):
    """The part of ``Options`` that concerns dimensions."""

    @property
    def bindings(self) -> Mapping[str, int]: ...
    @property
    def input_shapes(self) -> Mapping[str, Sequence[int]]: ...
    @property
    def batch_size(self) -> int | None: ...
    @property
    def assume(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Symbol:
    """A free symbol of the inputs. ``value`` is None when it stays a symbol."""

    name: str
    value: int | None
    assumed: bool
    suggested: int
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dims:
    """``bindings`` is what shape inference gets; ``symbols`` what the reader is told."""

    bindings: Mapping[str, int] = field(default_factory=dict)
    symbols: tuple[Symbol, ...] = ()


def resolve(model: Model, options: _Choices) -> Dims:
    """Settle every symbol.

    Raises:
        OptionError: a name is not in the model, or sizes contradict each other.
    """
    shapes, names = symbolic_inputs(model)
    given = dict(options.bindings)
    if options.batch_size is not None:
        for symbol in _batch_symbols(shapes):
            name = str(names.original(symbol))
            if given.setdefault(name, options.batch_size) != options.batch_size:
                raise two_sizes(name, given[name], options.batch_size, "the batch size")
    _, values = apply_shapes(shapes, model, names, given, options.input_shapes)
    free = free_symbols(shapes.values())
    suggested = suggest(model) if free else {}
    where: dict[str, list[str]] = {}
    for tensor, shape in shapes.items():
        for axis, dim in enumerate(shape or ()):
            for symbol in expr.symbols_of(dim) if isinstance(dim, str) else ():
                where.setdefault(symbol, []).append(f"{model.tensors[tensor].name}[{axis}]")
    symbols: list[Symbol] = []
    for symbol in free:
        name = str(names.original(symbol))
        value, guess = values.get(symbol), suggested.get(name, 1)
        assumed = value is None and options.assume
        if assumed:
            given[name] = value = guess
        symbols.append(Symbol(name, value, assumed, guess, tuple(where.get(symbol, ()))))
    return Dims(given, tuple(symbols))


def batch_names(model: Model) -> frozenset[str]:
    """The dimensions, as a binding names them, that a batch size is given to; empty when there is none."""
    shapes, names = symbolic_inputs(model)
    try:
        return frozenset(str(names.original(symbol)) for symbol in _batch_symbols(shapes))
    except OptionError:
        return frozenset()


def _batch_symbols(shapes: Mapping[int, Shape | None]) -> list[str]:
    """Plain symbols on the first axis of an input. Raises: OptionError when there is none."""
    first = [shape[0] for shape in shapes.values() if shape]
    found = [dim for dim in first if isinstance(dim, str) and expr.symbols_of(dim) == (dim,)]
    named = [dim for dim in found if "batch" in dim.lower() or dim.lower() in ("b", "n", "bs")]
    if not found:
        fixed = f" (it is {first[0]})" if first and isinstance(first[0], int) else ""
        raise OptionError(
            "no-batch-dimension",
            f"The batch size of this model is fixed{fixed}.",
            "Give whole shapes with --input-shape NAME=4x3x224x224.",
        )
    return list(dict.fromkeys(named or found))
