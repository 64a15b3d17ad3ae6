"""The numbers of a model at many sizes: from one analysis and its expressions, or one analysis per point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from py_autodoc.errors import AutodocError
from py_autodoc.hardware.latency_estimate import Estimate, estimate
from py_autodoc.hardware.latency_model import Device
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.report.builders.hardware_section import batch_of
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_choice import precision_in, stored_precisions
from py_autodoc.report.pipeline.dim_bindings import batch_names
from py_autodoc.sweep.evaluate import Evaluator, SweepNumbers, of_analysis

_TOTALS = ("macs", "flops", "read_bytes", "write_bytes", "peak")


@dataclass(frozen=True, slots=True)
class SweepSizes:
    """The dimensions of a point."""

    batch: int | None
    bindings: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]


class Costs:
    """The numbers at each of ``points``; ``base`` is the analysis at point ``at``."""

    def __init__(
        self,
        analyse: Callable[[SweepSizes], Analysis],
        points: Sequence[SweepSizes],
        at: SweepSizes,
        base: Analysis,
    ) -> None:
        self._analyse = analyse
        self._points = points
        self._at = at
        self._base = base
        self._free = {one.name: one.value for one in base.dims.symbols if one.value is not None}
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
            found = Evaluator.of(base, base.symbolic)
        elif base.rebatch is not None:
            from py_autodoc.report.builders.batch_offer import NAME, batch_costs

            found, name = Evaluator.of(base, batch_costs(base)), NAME
        else:
            return None, ""
        last = self._points[-1]
        if found is None or last is self._at:
            return found, name
        mine = found.at(self._bound(last, name))
        checked = self.fresh(last)
        same = mine is not None and isinstance(checked, SweepNumbers) and _equal(mine, checked)
        return (found, name) if same else (None, "")

    @property
    def closed(self) -> bool:
        """True if one analysis covers all points."""
        return self._evaluator is not None

    def at(self, sizes: SweepSizes) -> tuple[SweepNumbers | str, SweepSizes]:
        """Return the numbers or why there are none, and the dimensions including assumed ones."""
        whole = replace(sizes, bindings=self.whole(sizes), batch=self._batch(sizes))
        if self._evaluator is not None:
            found = self._evaluator.at(self._bound(sizes, self._name))
            if found is not None:
                return found, whole
        return self.fresh(sizes), whole

    def fresh(self, sizes: SweepSizes) -> SweepNumbers | str:
        """Return the numbers of an analysis at these dimensions, or why there are none."""
        if sizes is self._at:
            return of_analysis(self._base)
        try:
            return of_analysis(self._analyse(replace(sizes, bindings=self.whole(sizes))))
        except AutodocError as error:
            return error.message  # these dimensions do not fit the model; others may

    def whole(self, sizes: SweepSizes) -> dict[str, int]:
        """Return all symbolic dimensions."""
        found = {**self._free, **sizes.bindings}
        if sizes.batch is not None:
            found.update(dict.fromkeys(self._batches, sizes.batch))
        for symbol in self._base.dims.symbols:
            given = symbol.name in sizes.bindings or (
                sizes.batch is not None and symbol.name in self._batches
            )
            if symbol.follows is not None and not given and symbol.follows.factors.keys() <= found.keys():
                found[symbol.name] = symbol.follows.size(found)
        return found

    def _bound(self, sizes: SweepSizes, name: str) -> dict[str, int]:
        whole = self.whole(sizes)
        return {**whole, name: sizes.batch} if name and sizes.batch is not None else whole

    def _batch(self, sizes: SweepSizes) -> int | None:
        """Return the items per inference: the requested batch, else that of the model."""
        if sizes.batch is not None:
            return sizes.batch
        whole = self.whole(sizes)
        if self._batches:
            return next((whole[name] for name in self._batches if name in whole), None)
        return batch_of(self._base)


def _equal(one: SweepNumbers, other: SweepNumbers) -> bool:
    """Return whether totals and inputs of an estimate are equal."""
    return all(getattr(one, name) == getattr(other, name) for name in _TOTALS) and same_work(one, other)


def same_work(one: SweepNumbers, other: SweepNumbers) -> bool:
    """Return whether the inputs of an estimate and the FLOPs are equal."""
    return (
        one.flops == other.flops
        and list(one.model.shapes) == list(other.model.shapes)
        and list(one.model.macs) == list(other.model.macs)
        and list(one.stored) == list(other.stored)
        and dict(one.model.repeat) == dict(other.model.repeat)
        and one.kernels == other.kernels
    )


def time_of(
    base: Analysis, numbers: SweepNumbers, device: Device, wish: str, runtime: Runtime = TENSORRT
) -> tuple[Estimate | None, str, str]:
    """Return the estimate, its precision, and why there is none."""
    stored = stored_precisions(base.model, base.types, base.sizes, base.costs)
    precision = precision_in(device, wish, stored)
    if not precision:
        return None, "", f"{device.name} has no published {wish or stored[0]} rate"
    if numbers.kernels is None:
        return None, precision, "the kernels of the model could not be determined"
    found = estimate(numbers.kernels, numbers.model, device, precision, runtime.model)
    if found.unknown and not numbers.reason:
        return found, precision, f"{found.unknown:,} kernels have no time"
    return found, precision, ""
