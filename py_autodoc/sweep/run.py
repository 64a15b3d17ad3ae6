"""Runs a sweep: with one analysis and its expressions, or one analysis per point."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import AutodocError, OptionError
from py_autodoc.hardware.cloud import checked_provider, of_device
from py_autodoc.hardware.latency_model import Device
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.builders.hardware_section import available_bytes, required
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_choice import checked_precision, choose_device, usual_runtime
from py_autodoc.report.schema.model import Generator
from py_autodoc.sweep.choose import choices
from py_autodoc.sweep.costs import Costs, SweepSizes, time_of
from py_autodoc.sweep.evaluate import SweepNumbers
from py_autodoc.sweep.schema import SCHEMA, Sweep, SweepPoint, SweepPrice
from py_autodoc.version import NAME, version

if TYPE_CHECKING:
    import onnx

MAX_POINTS = 10_000
MAX_TRIES = 16
"""Maximum number of points tried until the model runs at one."""
Progress = Callable[[int, int], None]
"""Called with (points done, points). An exception it raises aborts the sweep."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The varied parameters. An empty axis keeps the value of the model.

    ``bindings`` sets symbolic dimensions, ``shapes`` full shapes of inputs with fixed dimensions, ``batch``
    the items per inference, even if the file has a fixed batch. ``hardware`` lists profile ids or files.
    """

    batch: Sequence[int] = ()
    bindings: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    hardware: Sequence[str] = ()
    precision: Sequence[str] = ()
    runtime: str = ""
    """Runtime of the model on the devices; empty: the usual one."""


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Options common to all points. ``max_memory`` (bytes) and ``max_latency`` (ms) limit the choices."""

    bindings: Mapping[str, int] = field(default_factory=dict)
    max_memory: int | None = None
    max_latency: float | None = None
    provider: str = ""
    """Cloud provider for prices, ``all`` for the cheapest; empty: no prices."""
    limits: Limits = LIBRARY


def sweep(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto,
    axes: Axes,
    options: SweepOptions | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Evaluate the model at every combination of the varied parameters.

    All numbers are those of an analysis at that point. Dimensions without a value get a typical one, listed
    for each point in ``bindings``.

    Raises:
        InputError: the model cannot be read, an option does not fit it, or there are too many points.
    """
    return _SweepRun(model, axes, options or SweepOptions(), progress or _silent).go()


def _silent(done: int, total: int) -> None:
    """Ignore progress."""


class _SweepRun:
    def __init__(self, source: Any, axes: Axes, options: SweepOptions, progress: Progress) -> None:
        self.source, self.axes, self.options, self.progress = source, axes, options, progress
        both = axes.bindings.keys() & options.bindings.keys()
        if both:
            raise OptionError(
                "swept-and-fixed", f"{min(both)} is both varied and fixed.", "Pass it only once."
            )
        self.precisions = [checked_precision(one) for one in axes.precision]
        if axes.runtime and not axes.hardware:
            raise OptionError("hardware-missing", "A runtime needs a device.", "Add --hardware ID.")
        self.devices: list[Device | None] = [self._device(one) for one in axes.hardware]
        known = [one for one in self.devices if one is not None]
        self.runtime = runtime_of(axes.runtime) if axes.runtime else usual_runtime(known)
        if axes.precision and not self.devices:
            raise OptionError("hardware-missing", "A precision needs a device.", "Add --hardware ID.")
        self.rented = self._prices()
        self.sizes = list(self._points())
        self.total = len(self.sizes) * max(1, len(self.devices)) * max(1, len(self.precisions))
        if self.total > MAX_POINTS:
            raise OptionError(
                "too-many-points",
                f"The sweep has {self.total:,} points; the limit is {MAX_POINTS:,}.",
                "Pass fewer values.",
            )

    def _device(self, hardware: str) -> Device:
        chosen = choose_device(hardware)
        if chosen is None:
            raise OptionError("hardware-missing", "A device id is empty.", "Pass the id of a device.")
        return chosen.device

    def _prices(self) -> dict[str, SweepPrice]:
        wish = self.options.provider
        if not wish:
            return {}
        provider = "" if wish == "all" else checked_provider(wish)
        found = {}
        for one in self.devices:
            rented = None if one is None else of_device(one.id, provider)
            price = None if rented is None else rented.approx_on_demand_usd_per_hour
            if one is not None and rented is not None and price is not None:
                found[one.id] = SweepPrice(
                    hardware=one.id, instance=rented.id, usd_per_hour=price, price_date=rented.price_date,
                    region=rented.region,
                )  # fmt: skip
        return found

    def _points(self) -> Iterator[SweepSizes]:
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
            yield SweepSizes(batch, bindings, dict(zip(inputs, given, strict=True)))

    def go(self) -> Sweep:
        at, base = self._base()
        found = Costs(self._analysis, self.sizes, at, base)
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
            runtime=self.runtime.id if self.axes.hardware else None,
            axes=self._named_axes(),
            points=points,
            choices=choices(points, self.options.max_memory, self.options.max_latency),
            prices=list(self.rented.values()),
        )

    def _base(self) -> tuple[SweepSizes, Analysis]:
        """Return the first point at which the model runs, with typical values if needed; else the first.

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

    def _analysis(self, sizes: SweepSizes, assume: bool = False) -> Analysis:
        return run_analysis(
            self.source,
            Options(
                bindings=dict(sizes.bindings),
                batch_size=sizes.batch,
                resize=dict(sizes.shapes),
                assume=assume,
                limits=self.options.limits,
                hardware=self.axes.hardware[0] if self.axes.hardware else "",
                runtime=self.runtime.id if self.axes.hardware else "",
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
        self, base: Analysis, sizes: SweepSizes, numbers: SweepNumbers | str, device: Device | None, wish: str
    ) -> SweepPoint:
        fresh = isinstance(numbers, str)
        reason = numbers if isinstance(numbers, str) else numbers.reason
        held = None if isinstance(numbers, str) else numbers
        time, precision, why = (
            (None, "", "")
            if device is None or held is None
            else time_of(base, held, device, wish, self.runtime)
        )
        memory = None if held is None else required(held.peak, held.stored, held.model, precision)
        available = None if device is None else available_bytes(device)
        seconds = None if time is None else time.seconds
        rate = sizes.batch / seconds if sizes.batch and seconds else None
        price = None if device is None else self.rented.get(device.id)
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
            throughput=rate,
            usd_per_million=price.usd_per_hour / 3600 / rate * 1e6 if price and rate else None,
            bottleneck=time.bottleneck if time else "",
            label=time.label if time else "",
            reason=reason if fresh else "; ".join(filter(None, (reason, why))),
        )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
