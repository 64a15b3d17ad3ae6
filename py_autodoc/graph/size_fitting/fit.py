"""Values of symbolic input dimensions for which the model runs.

The meaning of a dimension suggests its values (``assumed_sizes``). Symbolic inference determines which
dimensions must be equal or are fixed by constants of the graph; the search (``size_search``) chooses values
that satisfy these constraints, and each choice is checked by inferring all shapes. A contradiction sends the
search back to the symbols that the contradicting node depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from py_autodoc.graph.ir.model import Model, Shape, TypeTable
from py_autodoc.graph.shapes.infer import SymbolicTypes, infer
from py_autodoc.graph.size_fitting.influence import Influence
from py_autodoc.graph.size_fitting.misfits import Misfits
from py_autodoc.graph.size_fitting.proposals import (
    candidate_sizes,
    comparison_thresholds,
    constraints,
    divisors,
    inner_sizes,
)
from py_autodoc.graph.symbolic_dims import dim_names
from py_autodoc.graph.symbolic_dims.assumed_sizes import SizeMeaning, common
from py_autodoc.graph.symbolic_dims.poly import Poly
from py_autodoc.graph.symbolic_dims.size_search import Conflict, Constraint, SearchStopped, SizeSearch, equal
from py_autodoc.graph.symbolic_dims.tied_sizes import TiedSizes, by_name, probe_ties, ties

if TYPE_CHECKING:
    from py_autodoc.graph.loading.load import LoadedModel

MAX_VISITS = 15_000
"""Maximum nodes visited in all checks of a model after the first ``LEAST_TRIES`` checks."""
MIN_TRIES = 4
MAX_TRIES = 64
DOUBTFUL_TRIES = 8
"""Maximum checks spent on certain sizes once doubtful ones are found."""
MAX_SYMBOLS = 512
_PROBED = (SizeMeaning.BATCH, SizeMeaning.TOKENS)
MAX_PROBED = 4
MAX_PROBED_NODES = 3000

Infer = Callable[[Mapping[str, int]], TypeTable]
"""Infer the types of the model with symbols (by their safe names) bound."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Values by safe name; None if none were found, with the ``reason``.

    ``types`` are inferred for these values.
    """

    sizes: Mapping[str, int] | None
    types: TypeTable | None = None
    reason: str = ""
    node: int = -1
    tries: int = 0
    bindings: Mapping[str, int] = field(default_factory=dict)
    """Values that were given."""


class Fitter:
    """Fits a model for any number of given values."""

    def __init__(self, model: Model, symbolic: SymbolicTypes | None, infer: Infer) -> None:
        self.model = model
        self.symbolic = symbolic
        self.infer = infer
        self.shapes, _ = dim_names.symbolic_inputs(model)
        self.meanings = dim_names.meanings(model, self.shapes)
        self.constraints, self.doubtful = constraints(symbolic)
        # Equations hold if slices are as symbolic inference assumes; without slices they always hold.
        contradictory = any(c.zero and not c.names and not c.holds({}) for c in self.constraints)
        self.impossible = contradictory and all(c.positive is None for c in self.constraints)
        self.ties = ties(self.constraints, self.meanings)
        self.meanings = _shared(self.meanings, self.ties)
        self.misfits = Misfits(model, symbolic)
        self._proposals: dict[str, tuple[int, ...]] | None = None
        self._influence: Influence | None = None
        self._settled = len(model.nodes) > MAX_PROBED_NODES

    def fit(self, bindings: Mapping[str, int], preferred: Mapping[str, int] | None = None) -> Fit:
        """Find values for every symbol not in ``bindings``; ``preferred`` are tried first."""
        free = [name for name in self.meanings if name not in bindings]
        if len(free) > MAX_SYMBOLS:
            return Fit(
                None, reason=f"there are more than {MAX_SYMBOLS} symbolic dimensions", bindings=bindings
            )
        fit = _SizeFitting(self, free, bindings, preferred or {}).run()
        if fit.sizes is not None and not self._settled:
            self._settled = True
            self._update_ties({**bindings, **fit.sizes})
        return fit

    def _update_ties(self, sizes: Mapping[str, int]) -> None:
        """Keep the ties that hold, and find those that only inference with numbers shows."""
        self.ties = [tie for tie in self.ties if tie.holds(sizes)]
        tied = {tie.symbol for tie in self.ties}
        self.ties += [t for t in by_name(self.meanings) if t.symbol not in tied and t.holds(sizes)]
        tied = {tie.symbol for tie in self.ties}
        loose = [name for name in self.meanings if name not in tied]
        for meaning in _PROBED:
            alike = [name for name in loose if self.meanings[name] is meaning]
            alike = [name for name in alike if sizes[name] == sizes[alike[0]]]
            self.ties += probe_ties(alike[:MAX_PROBED], sizes, self._runs) if len(alike) > 1 else []

    def _runs(self, sizes: Mapping[str, int]) -> bool:
        """True if the values, with those that follow from them, cause no contradiction."""
        independent = {
            name: size for name, size in sizes.items() if name not in {tie.symbol for tie in self.ties}
        }
        return not self.misfits.of(self.infer({**sizes, **self.tied(independent)})).hard

    def tied(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return values that follow from the given ones, for symbols without a value."""
        derived: dict[str, int] = {}
        for _ in self.ties:
            before = len(derived)
            for tie in self.ties:
                step = tie.missing({**sizes, **derived})
                if step is not None:
                    derived[step[0]] = step[1]
            if len(derived) == before:
                break
        return derived

    def proposals(self) -> dict[str, tuple[int, ...]]:
        """Return candidate values for every symbol, in the order of the search."""
        if self._proposals is None:
            thresholds = comparison_thresholds(self.model, self.symbolic, self.meanings)
            steps = divisors(self.constraints)
            order = list(SizeMeaning)
            names = sorted(self.meanings, key=lambda name: order.index(self.meanings[name]))
            self._proposals = {
                name: candidate_sizes(self.meanings[name], thresholds.get(name, ()), steps.get(name, 1))
                for name in names
            }
        return self._proposals

    def influencing_symbols(self, nodes: Iterable[int]) -> Conflict:
        """Return the symbols that the failing nodes depend on."""
        if self._influence is None:
            self._influence = Influence(self.model, self.shapes, self.symbolic)
        symbols: set[str] = set()
        for node in nodes:
            symbols |= self._influence.of(self.model.nodes[node])
        return frozenset(symbols)


def _shared(meanings: Mapping[str, SizeMeaning], tied: Sequence[TiedSizes]) -> dict[str, SizeMeaning]:
    """Return the meanings, with a common one for symbols of equal size."""
    out = dict(meanings)
    groups: dict[str, list[str]] = {}
    for tie in tied:
        if list(tie.factors.values()) == [1] and not tie.plus:
            groups.setdefault(next(iter(tie.factors)), []).append(tie.symbol)
    for first, others in groups.items():
        group = [first, *others]
        out.update(dict.fromkeys(group, common({name: meanings[name] for name in group})))
    return out


def fitter(
    loaded: LoadedModel,
    model: Model,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    symbolic: SymbolicTypes | None = None,
) -> Fitter:
    """Return a fitter of a loaded model; ``symbolic`` are its types from ``infer_symbolic``, if available."""
    # The sizes of named dimensions are varied, so they are values here and not part of the shapes.
    shapes, fixed = dim_names.bound_shapes(model, input_shapes or {})
    return Fitter(model, symbolic, lambda sizes: infer(loaded, model, {**fixed, **sizes}, shapes))


class _SizeFitting:
    """A search with successively weaker constraints."""

    def __init__(
        self, fitter: Fitter, free: Sequence[str], bindings: Mapping[str, int], preferred: Mapping[str, int]
    ) -> None:
        self.fitter = fitter
        self.bindings = dict(bindings)
        proposals = fitter.proposals()
        self.free = [name for name in proposals if name in set(free)]
        self.proposals = {
            name: (*([preferred[name]] if name in preferred else []), *proposals[name]) for name in self.free
        }
        self.tried: dict[tuple[int, ...], Conflict | None] = {}
        self.checks = 0
        self.visits = 0
        self.doubtful = 0
        self.best: tuple[int, dict[str, int], TypeTable] | None = None
        self.first: tuple[str, int] | None = None

    def run(self) -> Fit:
        try:
            for demand in self._demands():
                if SizeSearch(self.proposals, demand, self.bindings, self._check).run() is not None:
                    break
        except SearchStopped:
            pass
        tries = self.checks
        if self.best is not None:
            return Fit(self.best[1], self.best[2], tries=tries, bindings=self.bindings)
        reason, node = self.first or ("the sizes that must be equal contradict each other", -1)
        return Fit(None, None, reason, node, tries, self.bindings)

    def _demands(self) -> Iterator[list[Constraint]]:
        """Yield constraints to search under, strictest first; the last only requires the check.

        Assumptions about slices (``positive``) depend on how symbolic inference reads them.
        """
        zero = [c for c in self.fitter.constraints if c.zero]
        positive = [c for c in self.fitter.constraints if c.positive is not None]
        square = self._square(zero)
        maybe, non_empty = self.fitter.doubtful, inner_sizes(self.fitter.symbolic)
        listed_demands = []
        for demand in (
            zero + maybe + non_empty + square,
            zero + non_empty + square,
            zero + square,
            zero + positive + square,
            zero + positive,
            zero,
            [],
        ):
            if demand not in listed_demands:
                listed_demands.append(demand)
                yield demand

    def _square(self, zero: Sequence[Constraint]) -> list[Constraint]:
        """Require equal height and width of an image, unless the model determines one of them."""
        equations = []
        for a, b in _pairs(self.fitter.shapes, self.fitter.meanings):
            if a not in self.proposals or b not in self.proposals:
                continue
            polynomials = [
                {p.text.replace(name, "*") for c in zero if c.names == {name} for p in c.zero}
                for name in (a, b)
            ]
            if polynomials[0] == polynomials[1]:
                equations.append(equal(Poly.atom(a) - Poly.atom(b)))
            else:
                alone = b if polynomials[0] else a
                self.proposals[alone] = candidate_sizes(SizeMeaning.LINE, (), 1)
        return equations

    def _check(self, sizes: Mapping[str, int]) -> Conflict | None:
        key = tuple(sizes[name] for name in self.free)
        if key not in self.tried:
            self.tried[key] = self._check_types({name: sizes[name] for name in self.free})
        return self.tried[key]

    def _check_types(self, sizes: dict[str, int]) -> Conflict | None:
        nodes = len(self.fitter.model.nodes)
        count = len(self.tried)
        if count >= MAX_TRIES or (count >= MIN_TRIES and self.visits + nodes > MAX_VISITS):
            raise SearchStopped
        if self.best is not None:
            self.doubtful += 1
            if self.doubtful > DOUBTFUL_TRIES or self.visits + nodes > MAX_VISITS // 2:
                raise SearchStopped
        self.checks += 1
        self.visits += nodes
        types = self.fitter.infer({**self.bindings, **sizes})
        misfits = self.fitter.misfits.of(types)
        if misfits.hard:
            self.first = self.first or (misfits.message, misfits.hard[0])
            if self.fitter.impossible:
                raise SearchStopped
            return self._responsible_symbols(misfits.hard)
        if self.best is None or len(misfits.doubts) < self.best[0]:
            self.best = (len(misfits.doubts), sizes, types)
        return self._responsible_symbols(misfits.doubts) if misfits.doubts else None

    def _responsible_symbols(self, nodes: Sequence[int]) -> Conflict:
        """Return the symbols of the first node that depends on any; all symbols if none does."""
        for node in nodes:
            symbols = self.fitter.influencing_symbols([node]) & set(self.free)
            if symbols:
                return symbols
        return frozenset(self.free)


def _pairs(
    shapes: Mapping[int, Shape | None], meanings: Mapping[str, SizeMeaning]
) -> Iterator[tuple[str, str]]:
    """Yield the height and width of images."""
    for shape in shapes.values():
        dims = [d for d in shape or () if isinstance(d, str) and meanings.get(d) is SizeMeaning.IMAGE]
        if len(dims) == 2 and dims[0] != dims[1]:
            yield dims[0], dims[1]
