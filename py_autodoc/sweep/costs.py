"""The numbers of a model at many sizes: from one analysis and its expressions, or one analysis per point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from py_autodoc.errors import AutodocError, OptionError
from py_autodoc.graph.symbolic_dims.dim_names import apply_shapes, symbolic_inputs
from py_autodoc.hardware.latency_estimate import Estimate, estimate
from py_autodoc.hardware.latency_model import Device
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.report.builders.hardware_section import batch_of
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_choice import precision_in, stored_precisions
from py_autodoc.report.pipeline.dim_bindings import batch_names
from py_autodoc.sweep.evaluate import Evaluator, SweepNumbers, numbers_of_analysis

_TOTALS = ("macs", "flops", "read_bytes", "write_bytes", "peak")


@dataclass(frozen=True, slots=True)
class SweepSizes:
    """The dimensions of a point."""

    batch: int | None
    bindings: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]


class Costs:
    """The numbers at each of ``points``; ``base`` is the analysis at ``base_sizes``."""

    def __init__(
        self,
        analyse: Callable[[SweepSizes], Analysis],
        points: Sequence[SweepSizes],
        base_sizes: SweepSizes,
        base: Analysis,
    ) -> None:
        self._analyse = analyse
        self._points = points
        self._base_sizes = base_sizes
        self._base = base
        self._free = {symbol.name: symbol.value for symbol in base.dims.symbols if symbol.value is not None}
        self._batches = batch_names(base.model)
        self._evaluator: Evaluator | None = None
        self._name = ""
        if not any(sizes.shapes for sizes in points) and len(points) > 1:
            self._evaluator, self._name = self._expressions()

    def _expressions(self) -> tuple[Evaluator | None, str]:
        """Return the evaluator of the costs, and the name of a batch that is fixed in the file.

        It is only used if it matches an analysis at the last point.
        """
        base, name = self._base, ""
        if base.dims.symbols:
            evaluator = Evaluator.of(base, base.symbolic)
        elif base.rebatch is not None:
            from py_autodoc.report.builders.batch_offer import NAME, batch_costs

            evaluator, name = Evaluator.of(base, batch_costs(base)), NAME
        else:
            return None, ""
        last = self._points[-1]
        if evaluator is None or last is self._base_sizes:
            return evaluator, name
        evaluated = evaluator.evaluate(self._bound(last, name))
        analysed = self.from_analysis(last)
        same = (
            evaluated is not None
            and isinstance(analysed, SweepNumbers)
            and _same_numbers(evaluated, analysed)
        )
        return (evaluator, name) if same else (None, "")

    @property
    def closed(self) -> bool:
        """True if one analysis covers all points."""
        return self._evaluator is not None

    def evaluate(self, sizes: SweepSizes) -> tuple[SweepNumbers | str, SweepSizes]:
        """Return the numbers or why there are none, and the dimensions including assumed ones."""
        complete = replace(sizes, bindings=self.all_bindings(sizes), batch=self._batch(sizes))
        if self._evaluator is not None:
            numbers = self._evaluator.evaluate(self._bound(sizes, self._name))
            if numbers is not None:
                return numbers, complete
        return self.from_analysis(sizes), complete

    def from_analysis(self, sizes: SweepSizes) -> SweepNumbers | str:
        """Return the numbers of an analysis at these dimensions, or why there are none."""
        if sizes is self._base_sizes:
            return numbers_of_analysis(self._base)
        try:
            return numbers_of_analysis(self._analyse(replace(sizes, bindings=self.all_bindings(sizes))))
        except AutodocError as error:
            return error.message  # these dimensions do not fit the model; others may

    def all_bindings(self, sizes: SweepSizes) -> dict[str, int]:
        """Return all symbolic dimensions."""
        shaped = self._of_shapes(sizes)
        bindings = {**self._free, **shaped, **sizes.bindings}
        if sizes.batch is not None:
            bindings.update(dict.fromkeys(self._batches, sizes.batch))
        for symbol in self._base.dims.symbols:
            is_set = (
                symbol.name in shaped
                or symbol.name in sizes.bindings
                or (sizes.batch is not None and symbol.name in self._batches)
            )
            if symbol.follows is not None and not is_set and symbol.follows.factors.keys() <= bindings.keys():
                bindings[symbol.name] = symbol.follows.size(bindings)
        return bindings

    def _of_shapes(self, sizes: SweepSizes) -> dict[str, int]:
        """Return the symbolic dimensions that the shapes of this point determine."""
        if not sizes.shapes:
            return {}
        declared, names = symbolic_inputs(self._base.model)
        try:
            _, values = apply_shapes(declared, self._base.model, names, {}, sizes.shapes)
        except OptionError:
            return {}  # the analysis of this point says why
        return {str(names.original(symbol)): size for symbol, size in values.items()}

    def _bound(self, sizes: SweepSizes, name: str) -> dict[str, int]:
        bindings = self.all_bindings(sizes)
        return {**bindings, name: sizes.batch} if name and sizes.batch is not None else bindings

    def _batch(self, sizes: SweepSizes) -> int | None:
        """Return the items per inference: the requested batch, else that of the model."""
        if sizes.batch is not None:
            return sizes.batch
        bindings = self.all_bindings(sizes)
        if self._batches:
            return next((bindings[name] for name in self._batches if name in bindings), None)
        return batch_of(self._base)


def _same_numbers(a: SweepNumbers, b: SweepNumbers) -> bool:
    """Return whether totals and inputs of an estimate are equal."""
    return all(getattr(a, name) == getattr(b, name) for name in _TOTALS) and same_work(a, b)


def same_work(a: SweepNumbers, b: SweepNumbers) -> bool:
    """Return whether the inputs of an estimate and the FLOPs are equal."""
    return (
        a.flops == b.flops
        and list(a.model.shapes) == list(b.model.shapes)
        and list(a.model.macs) == list(b.model.macs)
        and list(a.stored) == list(b.stored)
        and dict(a.model.repeat) == dict(b.model.repeat)
        and a.kernels == b.kernels
    )


def estimate_time(
    base: Analysis, numbers: SweepNumbers, device: Device, requested: str, runtime: Runtime = TENSORRT
) -> tuple[Estimate | None, str, str]:
    """Return the estimate, its precision, and why there is none."""
    stored = stored_precisions(base.model, base.types, base.sizes, base.costs)
    precision = precision_in(device, requested, stored)
    if not precision:
        return None, "", f"{device.name} has no published {requested or stored[0]} rate"
    if numbers.kernels is None:
        return None, precision, "the kernels of the model could not be determined"
    time = estimate(numbers.kernels, numbers.model, device, precision, runtime.model)
    if time.unknown and not numbers.reason:
        return time, precision, f"{time.unknown:,} kernels have no time"
    return time, precision, ""
