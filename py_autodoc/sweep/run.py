"""Goes through the points of a sweep: one analysis and its expressions, or an analysis a point."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import AutodocError, OptionError
from py_autodoc.hardware.estimate import Estimate, estimate
from py_autodoc.hardware.model import MODEL, Device
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.analysis import Analysis, Options, run
from py_autodoc.report.dims import batch_names
from py_autodoc.report.hardware import checked_precision, choose, precision_in, stored_precisions
from py_autodoc.report.hardware_estimate import available_bytes, batch_of, required
from py_autodoc.report.schema.model import Generator
from py_autodoc.sweep.choose import choices
from py_autodoc.sweep.evaluate import Evaluator, Numbers, of_analysis
from py_autodoc.sweep.schema import SCHEMA, Sweep, SweepPoint
from py_autodoc.version import NAME, version

if TYPE_CHECKING:
    import onnx

MAX_POINTS = 10_000
MAX_TRIES = 16
"""Points that are tried until the model runs at one."""
_TOTALS = ("macs", "flops", "read_bytes", "write_bytes", "peak")
Progress = Callable[[int, int], None]
"""(points done, points); what it raises ends the sweep."""


@dataclass(frozen=True, slots=True)
class Axes:
    """What is varied. An empty axis stays as the model has it.

    ``bindings`` gives sizes to free dimensions, ``shapes`` whole shapes to inputs whose sizes the file has
    fixed, ``batch`` items of one inference, also where the file has another fixed. ``hardware`` are ids of
    profiles or their files.
    """

    batch: Sequence[int] = ()
    bindings: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    hardware: Sequence[str] = ()
    precision: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """What is the same at every point. ``max_memory`` (bytes) and ``max_latency`` (ms) limit the choices."""

    bindings: Mapping[str, int] = field(default_factory=dict)
    max_memory: int | None = None
    max_latency: float | None = None
    limits: Limits = LIBRARY


def sweep(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto,
    axes: Axes,
    options: SweepOptions | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """The model at every combination of what is varied.

    Every number is that of an analysis at that point: sizes that stay free everywhere are given a usual one
    once, which every point names in ``bindings``.

    Raises:
        InputError: the model cannot be read, an option does not fit it, or there are too many points.
    """
    return _Run(model, axes, options or SweepOptions(), progress or _silent).go()


def _silent(done: int, total: int) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes of a point."""

    batch: int | None
    bindings: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]


class _Run:
    def __init__(self, source: Any, axes: Axes, options: SweepOptions, progress: Progress) -> None:
        self.source, self.axes, self.options, self.progress = source, axes, options, progress
        both = axes.bindings.keys() & options.bindings.keys()
        if both:
            raise OptionError(
                "swept-and-fixed", f"{min(both)} is both varied and given one size.", "Give it once."
            )
        self.precisions = [checked_precision(one) for one in axes.precision]
        self.devices: list[Device | None] = [self._device(one) for one in axes.hardware]
        if axes.precision and not self.devices:
            raise OptionError("hardware-missing", "A precision needs a device.", "Give one: --hardware ID.")
        self.sizes = list(self._points())
        self.total = len(self.sizes) * max(1, len(self.devices)) * max(1, len(self.precisions))
        if self.total > MAX_POINTS:
            raise OptionError(
                "too-many-points",
                f"The sweep has {self.total:,} points; {MAX_POINTS:,} is the most.",
                "Give fewer values.",
            )

    def _device(self, hardware: str) -> Device:
        chosen = choose(hardware)
        if chosen is None:
            raise OptionError("hardware-missing", "A device is empty.", "Give the id of one.")
        return chosen.device

    def _points(self) -> Iterator[_Sizes]:
        axes = self.axes
        names, inputs = list(axes.bindings), list(axes.shapes)
        batches: Sequence[int | None] = axes.batch or [None]
        rows = product(
            batches,
            product(*(axes.bindings[name] for name in names)),
            product(*(axes.shapes[name] for name in inputs)),
        )
        for batch, bound, given in rows:
            bindings = {**self.options.bindings, **dict(zip(names, bound, strict=True))}
            yield _Sizes(batch, bindings, dict(zip(inputs, given, strict=True)))

    def go(self) -> Sweep:
        at, base = self._base()
        found = _Costs(self, at, base)
        points: list[SweepPoint] = []
        for sizes in self.sizes:
            numbers, whole = found.at(sizes)
            for device in self.devices or [None]:
                for precision in self.precisions or [""]:
                    points.append(self._point(base, whole, numbers, device, precision))
            self.progress(len(points), self.total)
        return Sweep(
            schema=SCHEMA,
            generator=Generator(name=NAME, version=version()),
            model=base.model.file.name,
            axes=self._named_axes(),
            points=points,
            choices=choices(points, self.options.max_memory, self.options.max_latency),
        )

    def _base(self) -> tuple[_Sizes, Analysis]:
        """The first point that the model can run at, which tells the sizes that nobody gave; else the first.

        Raises: InputError: the model cannot be read, or a name is not in it.
        """
        first = self._analysis(self.sizes[0], assume=True)
        if first.contradiction is None:
            return self.sizes[0], first
        for sizes in self.sizes[1:MAX_TRIES]:
            try:
                found = self._analysis(sizes, assume=True)
            except AutodocError:
                continue
            if found.contradiction is None:
                return sizes, found
        return self.sizes[0], first

    def _analysis(self, sizes: _Sizes, assume: bool = False) -> Analysis:
        return run(
            self.source,
            Options(
                bindings=dict(sizes.bindings),
                batch_size=sizes.batch,
                resize=dict(sizes.shapes),
                assume=assume,
                limits=self.options.limits,
            ),
        )

    def _named_axes(self) -> dict[str, list[int | str]]:
        axes = self.axes
        found: dict[str, list[int | str]] = {}
        if axes.batch:
            found["batch"] = list(axes.batch)
        found.update((name, list(values)) for name, values in axes.bindings.items())
        for name, shapes in axes.shapes.items():
            found[name] = ["×".join(map(str, shape)) for shape in shapes]
        if axes.hardware:
            found["hardware"] = [device.id for device in self.devices if device]
        if axes.precision:
            found["precision"] = list(self.precisions)
        return found

    def _point(
        self, base: Analysis, sizes: _Sizes, numbers: Numbers | str, device: Device | None, wish: str
    ) -> SweepPoint:
        fresh = isinstance(numbers, str)
        reason = numbers if isinstance(numbers, str) else numbers.reason
        held = None if isinstance(numbers, str) else numbers
        time, precision, why = (
            (None, "", "") if device is None or held is None else _time(base, held, device, wish)
        )
        memory = None if held is None else required(held.peak, held.stored, held.model, precision)
        available = None if device is None else available_bytes(device)
        seconds = None if time is None else time.seconds
        return SweepPoint(
            bindings=dict(sizes.bindings),
            input_shapes={name: list(shape) for name, shape in sizes.shapes.items()},
            batch=sizes.batch,
            hardware=None if device is None else device.id,
            precision=(precision or wish or None) if device is not None else None,
            macs=None if held is None else held.macs,
            flops=None if held is None else held.flops,
            read_bytes=None if held is None else held.read_bytes,
            write_bytes=None if held is None else held.write_bytes,
            peak_activation_bytes=None if held is None else held.peak,
            memory_bytes=memory,
            available_bytes=available,
            fits=None if memory is None or available is None else memory <= available,
            latency_ms=_ms(seconds),
            latency_low_ms=_ms(time.low if time else None),
            latency_high_ms=_ms(time.high if time else None),
            throughput=sizes.batch / seconds if sizes.batch and seconds else None,
            bottleneck=time.bottleneck if time else "",
            label=time.label if time else "",
            reason=reason if fresh else "; ".join(filter(None, (reason, why))),
        )


class _Costs:
    """The numbers at each point."""

    def __init__(self, owner: _Run, at: _Sizes, base: Analysis) -> None:
        self._owner = owner
        self._at = at
        self._base = base
        self._free = {one.name: one.value for one in base.dims.symbols if one.value is not None}
        self._batches = batch_names(base.model)
        self._evaluator: Evaluator | None = None
        self._name = ""
        if not any(sizes.shapes for sizes in owner.sizes) and len(owner.sizes) > 1:
            self._evaluator, self._name = self._expressions()

    def _expressions(self) -> tuple[Evaluator | None, str]:
        """What evaluates the costs, and the name of a batch that the file has fixed.

        It is kept only when it gives what an analysis gives at the last point.
        """
        base, name = self._base, ""
        if base.dims.symbols:
            found = Evaluator.of(base, base.symbolic)
        elif base.rebatch is not None:
            from py_autodoc.report.batch_offer import NAME, batch_costs

            found, name = Evaluator.of(base, batch_costs(base)), NAME
        else:
            return None, ""
        last = self._owner.sizes[-1]
        if found is None or last is self._at:
            return found, name
        mine = found.at(self._bound(last, name))
        checked = self._fresh(last)
        same = mine is not None and isinstance(checked, Numbers) and _equal(mine, checked)
        return (found, name) if same else (None, "")

    def at(self, sizes: _Sizes) -> tuple[Numbers | str, _Sizes]:
        """The numbers, or why there are none; and the sizes with those that were assumed."""
        whole = replace(sizes, bindings=self._whole(sizes), batch=self._batch(sizes))
        if self._evaluator is not None:
            found = self._evaluator.at(self._bound(sizes, self._name))
            if found is not None:
                return found, whole
        return self._fresh(sizes), whole

    def _fresh(self, sizes: _Sizes) -> Numbers | str:
        if sizes is self._at:
            return of_analysis(self._base)
        try:
            return of_analysis(self._owner._analysis(replace(sizes, bindings=self._whole(sizes))))
        except AutodocError as error:
            return error.message  # these sizes do not fit the model; others may

    def _whole(self, sizes: _Sizes) -> dict[str, int]:
        """Every free size."""
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

    def _bound(self, sizes: _Sizes, name: str) -> dict[str, int]:
        whole = self._whole(sizes)
        return {**whole, name: sizes.batch} if name and sizes.batch is not None else whole

    def _batch(self, sizes: _Sizes) -> int | None:
        """Items of one inference: what was asked for, else the batch of the model."""
        if sizes.batch is not None:
            return sizes.batch
        whole = self._whole(sizes)
        if self._batches:
            return next((whole[name] for name in self._batches if name in whole), None)
        return batch_of(self._base)


def _equal(one: Numbers, other: Numbers) -> bool:
    """Whether totals and what an estimate reads are the same."""
    return (
        all(getattr(one, name) == getattr(other, name) for name in _TOTALS)
        and list(one.model.shapes) == list(other.model.shapes)
        and list(one.model.macs) == list(other.model.macs)
        and list(one.stored) == list(other.stored)
        and dict(one.model.repeat) == dict(other.model.repeat)
        and one.kernels == other.kernels
    )


def _time(base: Analysis, numbers: Numbers, device: Device, wish: str) -> tuple[Estimate | None, str, str]:
    """The estimate, its precision, and why there is none."""
    stored = stored_precisions(base.model, base.types, base.sizes, base.costs)
    precision = precision_in(device, wish, stored)
    if not precision:
        return None, "", f"{device.name} has no published {wish or stored[0]} rate"
    if numbers.kernels is None:
        return None, precision, "the kernels of the model could not be told"
    found = estimate(numbers.kernels, numbers.model, device, precision, MODEL)
    if found.unknown and not numbers.reason:
        return found, precision, f"{found.unknown:,} kernels have no time"
    return found, precision, ""


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
