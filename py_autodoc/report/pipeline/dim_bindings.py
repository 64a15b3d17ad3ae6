"""Values of the symbolic input dimensions: given, derived from those, assumed, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.model import Diagnostic, Model, Shape, TypeTable
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.dim_names import (
    DimNames,
    apply_shapes,
    conflicting_sizes,
    free_symbols,
    symbolic_inputs,
)

if TYPE_CHECKING:
    from py_autodoc.graph.size_fitting.fit import Fit, Fitter

NO_SIZES = "no-fitting-sizes"
"""Diagnostic code: no combination of typical values fits the model."""


class Choices(Protocol):
    """The part of ``Options`` about dimensions."""

    @property
    def bindings(self) -> Mapping[str, int]:
        """Values by name."""
        ...

    @property
    def input_shapes(self) -> Mapping[str, Sequence[int]]:
        """Shapes by input."""
        ...

    @property
    def batch_size(self) -> int | None:
        """The batch size."""
        ...

    @property
    def assume(self) -> bool:
        """Whether dimensions without a value get typical values."""
        ...


@dataclass(frozen=True, slots=True)
class Follows:
    """A dimension equal to ``plus`` plus the sum of other dimensions times their factors."""

    factors: Mapping[str, int]
    plus: int = 0

    def size(self, sizes: Mapping[str, int]) -> int:
        """Return the value, given values of all the others."""
        return self.plus + sum(factor * sizes[name] for name, factor in self.factors.items())


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbolic dimension of the inputs. ``value`` is None if it stays symbolic.

    ``suggested`` is None if no value was found that the model runs with. ``follows`` gives the dimensions it
    is computed from.
    """

    name: str
    value: int | None
    assumed: bool
    suggested: int | None
    locations: tuple[str, ...]
    follows: Follows | None = None


@dataclass(frozen=True, slots=True)
class Dims:
    """Resolved dimensions: ``bindings`` for shape inference, ``symbols`` for the report.

    ``types`` are the types under the bindings if they had to be inferred to find values.
    """

    bindings: Mapping[str, int] = field(default_factory=dict)
    symbols: tuple[Symbol, ...] = ()
    types: TypeTable | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def suggested(self, minimum: int) -> dict[str, int] | None:
        """Return consistent values of at least ``minimum`` for all symbols; None without suggestions."""
        sizes: dict[str, int] = {}
        for symbol in self.symbols:
            if symbol.suggested is None:
                return None
            sizes[symbol.name] = max(minimum, symbol.suggested)
        for symbol in self.symbols:
            if symbol.follows is not None:
                sizes[symbol.name] = symbol.follows.size(sizes)
        return sizes


def resolve_dims(model: Model, options: Choices, fitter: Callable[[], Fitter]) -> Dims:
    """Resolve every symbol. ``fitter`` is called only if a dimension is symbolic.

    Raises:
        OptionError: a name is not in the model, or values contradict each other.
    """
    shapes, names = symbolic_inputs(model)
    bindings = dict(options.bindings)
    if options.batch_size is not None:
        for symbol in _batch_symbols(shapes):
            name = str(names.original(symbol))
            if bindings.setdefault(name, options.batch_size) != options.batch_size:
                raise conflicting_sizes(name, bindings[name], options.batch_size, "the batch size")
    _, values = apply_shapes(shapes, model, names, bindings, options.input_shapes)
    symbols = free_symbols(shapes.values())
    if not symbols:
        return Dims(bindings)
    fitting = fitter()
    _, fixed = apply_shapes(shapes, model, names, {}, options.input_shapes)
    typical_fit = fitting.fit(fixed)
    if bindings or options.input_shapes:
        values.update(fitting.tied(values))
    fit = typical_fit
    of_tensors = values.keys() & set(symbols)  # others are those of items of sequences
    if of_tensors - fixed.keys():
        is_partial = of_tensors < set(symbols)
        fit = fitting.fit(values, preferred=typical_fit.sizes) if is_partial else typical_fit
    return _resolve(model, options, bindings, names, values, shapes, (typical_fit, fit), fitting)


def unresolved_dims(model: Model, options: Choices) -> Dims:
    """Return the symbols with their given values, if none can be suggested. Raises: OptionError."""
    shapes, names = symbolic_inputs(model)
    _, values = apply_shapes(shapes, model, names, options.bindings, options.input_shapes)
    locations = _locations(model, shapes)
    symbols = [
        Symbol(str(names.original(s)), values.get(s), False, None, tuple(locations.get(s, ())))
        for s in free_symbols(shapes.values())
    ]
    return Dims(dict(options.bindings), tuple(symbols))


def _resolve(
    model: Model,
    options: Choices,
    given_bindings: Mapping[str, int],
    names: DimNames,
    values: Mapping[str, int],
    shapes: Mapping[int, Shape | None],
    fits: tuple[Fit, Fit],
    fitting: Fitter,
) -> Dims:
    typical_fit, fit = fits
    locations = _locations(model, shapes)
    symbol_names = free_symbols(shapes.values())
    proposed = {**(typical_fit.sizes or {}), **(fit.sizes or {})} if fit.sizes is not None else {}
    display_names = {symbol: str(names.original(symbol)) for symbol in symbol_names}
    follows = {
        tie.symbol: Follows({display_names[name]: factor for name, factor in tie.factors.items()}, tie.plus)
        for tie in fitting.ties
    }
    bindings, symbols = dict(given_bindings), list[Symbol]()
    types = fit.types if options.assume and fit.bindings == values else None
    for symbol in symbol_names:
        value = values.get(symbol)
        suggested = proposed.get(symbol, (typical_fit.sizes or {}).get(symbol) if value is not None else None)
        assumed = value is None and options.assume and suggested is not None
        if assumed:
            value = suggested
        if value is not None:
            bindings.setdefault(display_names[symbol], value)
        symbols.append(
            Symbol(
                display_names[symbol],
                value,
                assumed,
                suggested,
                tuple(locations.get(symbol, ())),
                follows.get(symbol),
            )
        )
    return Dims(bindings, tuple(symbols), types, _none_fit(model, fit, values, symbol_names))


def _none_fit(
    model: Model, fit: Fit, values: Mapping[str, int], symbols: Sequence[str]
) -> tuple[Diagnostic, ...]:
    """Return why symbolic dimensions get no values."""
    if fit.sizes is not None or values.keys() >= set(symbols):
        return ()
    node = model.nodes[fit.node] if fit.node >= 0 else None
    label = "" if node is None else node.name or f"{node.op_type} #{node.id}"
    qualifier = " with the given ones" if values else ""
    text = f"No typical values{qualifier} fit this model ({fit.tries:,} tried): {fit.reason}."
    return (Diagnostic(NO_SIZES, "warning", text, label, node=fit.node),)


def _locations(model: Model, shapes: Mapping[int, Shape | None]) -> dict[str, list[str]]:
    """Return where each symbol occurs, such as ``input_ids[0]``."""
    locations: dict[str, list[str]] = {}
    for tensor, shape in shapes.items():
        for axis, dim in enumerate(shape or ()):
            for symbol in dim_arithmetic.symbols_of(dim) if isinstance(dim, str) else ():
                locations.setdefault(symbol, []).append(f"{model.tensors[tensor].name}[{axis}]")
    return locations


def batch_names(model: Model) -> frozenset[str]:
    """Return the dimensions (by binding name) that a batch size applies to; empty if there are none."""
    shapes, names = symbolic_inputs(model)
    try:
        return frozenset(str(names.original(symbol)) for symbol in _batch_symbols(shapes))
    except OptionError:
        return frozenset()


def _batch_symbols(shapes: Mapping[int, Shape | None]) -> list[str]:
    """Return plain symbols on the first axis of an input. Raises: OptionError if there are none."""
    first = [shape[0] for shape in shapes.values() if shape]
    plain_symbols = [
        dim for dim in first if isinstance(dim, str) and dim_arithmetic.symbols_of(dim) == (dim,)
    ]
    named = [dim for dim in plain_symbols if "batch" in dim.lower() or dim.lower() in ("b", "n", "bs")]
    if not plain_symbols:
        fixed = f" (it is {first[0]})" if first and isinstance(first[0], int) else ""
        raise OptionError(
            "no-batch-dimension",
            f"The batch size of this model is fixed{fixed}.",
            "Pass full shapes with --input-shape NAME=4x3x224x224.",
        )
    return list(dict.fromkeys(named or plain_symbols))
