"""Runs a sweep: with one analysis and its expressions, or one analysis per point."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec

from py_autodoc.errors import AutodocError, OptionError
from py_autodoc.hardware.cloud import checked_provider, of_device
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.latency_model import Device
from py_autodoc.hardware.risk import TYPICAL, checked_risk
from py_autodoc.hardware.runtimes import Runtime, usual
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.builders.hardware_section import available_bytes, compute_required_bytes
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import kernels_in
from py_autodoc.report.pipeline.device_choice import checked_precision, choose_device
from py_autodoc.report.schema.model import Generator
from py_autodoc.sweep.choose import choices
from py_autodoc.sweep.costs import Costs, SweepSizes, estimate_time
from py_autodoc.sweep.evaluate import SweepNumbers
from py_autodoc.sweep.image_input import ImageInput, image_input
from py_autodoc.sweep.schema import SCHEMA, Sweep, SweepPoint, SweepPrice
from py_autodoc.version import NAME, version

if TYPE_CHECKING:
    import onnx

MAX_POINTS = 10_000
MAX_KEPT = 64
"""Maximum number of kernel lists that are kept for other points."""
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
    resolutions: Sequence[tuple[int, int]] = ()
    """Heights and widths of the image input, in pairs."""
    hardware: Sequence[str] = ()
    precision: Sequence[str] = ()
    runtime: str = ""
    """Runtime of the model on the devices; empty: the usual one of each."""
    devices: Sequence[int] = ()
    """Numbers of devices that run copies of the model side by side; empty: one."""


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Options common to all points. ``max_memory`` (bytes) and ``max_latency`` (ms) limit the choices."""

    bindings: Mapping[str, int] = field(default_factory=dict)
    max_memory: int | None = None
    max_latency: float | None = None
    risk: str = TYPICAL
    """Whether ``max_latency`` is a limit of the estimate or of the upper end of its range (``high``)."""
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
    return _SweepRun(model, axes, options or SweepOptions(), progress or _silent).run()


def _silent(done: int, total: int) -> None:
    """Ignore progress."""


class _SweepRun:
    def __init__(self, source: Any, axes: Axes, options: SweepOptions, progress: Progress) -> None:
        self.source, self.axes, self.options, self.progress = source, axes, options, progress
        fixed_and_varied = axes.bindings.keys() & options.bindings.keys()
        if fixed_and_varied:
            raise OptionError(
                "swept-and-fixed", f"{min(fixed_and_varied)} is both varied and fixed.", "Pass it only once."
            )
        self.precisions = [checked_precision(name) for name in axes.precision]
        if axes.runtime and not axes.hardware:
            raise OptionError("hardware-missing", "A runtime needs a device.", "Add --hardware ID.")
        self.devices: list[Device | None] = [self._device(name) for name in axes.hardware]
        self.requested_runtime = runtime_of(axes.runtime) if axes.runtime else None
        self.kernels: dict[tuple[int, str], Kernels | None] = {}
        if axes.precision and not self.devices:
            raise OptionError("hardware-missing", "A precision needs a device.", "Add --hardware ID.")
        if axes.devices and not self.devices:
            raise OptionError("hardware-missing", "A number of devices needs a device.", "Add --hardware ID.")
        self.counts = list(axes.devices) or [1]
        if any(count < 1 for count in self.counts):
            raise OptionError("bad-amount", "A number of devices must be at least 1.", "Pass 1,2,4.")
        self.rented = self._prices()
        self.image = self._image_input() if axes.resolutions else None
        self.sizes = list(self._points())
        self.total = len(self.sizes) * max(1, len(self.devices)) * max(1, len(self.precisions))
        self.total *= len(self.counts)
        if self.total > MAX_POINTS:
            raise OptionError(
                "too-many-points",
                f"The sweep has {self.total:,} points; the limit is {MAX_POINTS:,}.",
                "Pass fewer values.",
            )

    def _runtime(self, device: Device) -> Runtime:
        """Return the runtime of the model on a device: the requested one, else the usual one there."""
        return self.requested_runtime or usual(device)

    def _runtimes(self) -> list[str]:
        return list(dict.fromkeys(self._runtime(device).id for device in self.devices if device is not None))

    def _in_runtime(self, numbers: SweepNumbers, runtime: Runtime) -> SweepNumbers:
        """Return the numbers with the kernels of a runtime, found once per analysis."""
        analysis = numbers.analysis
        if analysis is None or analysis.hardware is None or analysis.hardware.runtime.id == runtime.id:
            return numbers
        key = (id(analysis), runtime.id)
        if key not in self.kernels:
            if len(self.kernels) >= MAX_KEPT:
                self.kernels.clear()
            self.kernels[key] = None if analysis.kernels is None else kernels_in(analysis, runtime)
        return replace(numbers, kernels=self.kernels[key])

    def _device(self, hardware: str) -> Device:
        chosen = choose_device(hardware, runtime=self.axes.runtime)
        if chosen is None:
            raise OptionError("hardware-missing", "A device id is empty.", "Pass the id of a device.")
        return chosen.device

    def _prices(self) -> dict[str, SweepPrice]:
        provider_option = self.options.provider
        if not provider_option:
            return {}
        provider = "" if provider_option == "all" else checked_provider(provider_option)
        prices = {}
        for device in self.devices:
            rented = None if device is None else of_device(device.id, provider)
            price = None if rented is None else rented.approx_on_demand_usd_per_hour
            if device is not None and rented is not None and price is not None:
                prices[device.id] = SweepPrice(
                    hardware=device.id,
                    instance=rented.id,
                    usd_per_hour=price,
                    price_date=rented.price_date,
                    region=rented.region,
                )
        return prices

    def _image_input(self) -> ImageInput:
        """Return the image input whose resolution is varied. Raises: InputError: there is none."""
        analysis = run_analysis(
            self.source, Options(bindings=self.options.bindings, assume=True, limits=self.options.limits)
        )
        return image_input(analysis)

    def _points(self) -> Iterator[SweepSizes]:
        axes = self.axes
        names, inputs = list(axes.bindings), list(axes.shapes)
        batches: Sequence[int | None] = axes.batch or [None]
        resolutions: Sequence[tuple[int, int] | None] = axes.resolutions or [None]
        rows = product(
            batches,
            product(*(axes.bindings[name] for name in names)),
            product(*(axes.shapes[name] for name in inputs)),
            resolutions,
        )
        for batch, values, input_shapes, resolution in rows:
            bindings = {**self.options.bindings, **dict(zip(names, values, strict=True))}
            shapes: dict[str, Sequence[int]] = dict(zip(inputs, input_shapes, strict=True))
            if self.image is not None and resolution is not None:
                shapes[self.image.name] = self.image.shape(batch, *resolution)
            yield SweepSizes(batch, bindings, shapes)

    def run(self) -> Sweep:
        base_sizes, base = self._base()
        costs = Costs(self._analysis, self.sizes, base_sizes, base)
        points: list[SweepPoint] = []
        for sizes in self.sizes:
            numbers, complete = costs.evaluate(sizes)
            for device in self.devices or [None]:
                for precision in self.precisions or [""]:
                    point = self._point(base, complete, numbers, device, precision)
                    points.extend(_side_by_side(point, count) for count in self.counts)
            self.progress(len(points), self.total)
        return Sweep(
            schema=SCHEMA,
            generator=Generator(name=NAME, version=version()),
            model=base.model.file.name,
            runtime=runtimes[0] if len(runtimes := self._runtimes()) == 1 else None,
            axes=self._named_axes(),
            points=points,
            choices=choices(
                points, self.options.max_memory, self.options.max_latency, checked_risk(self.options.risk)
            ),
            opset=base.model.opsets.get("") or base.model.opsets.get("ai.onnx"),
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
                analysis = self._analysis(sizes, assume=True)
            except AutodocError:
                continue
            if analysis.contradiction is None:
                return sizes, analysis
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
                runtime=self.axes.runtime,
            ),
        )

    def _named_axes(self) -> dict[str, list[int | str]]:
        axes = self.axes
        named: dict[str, list[int | str]] = {}
        if axes.batch:
            named["batch"] = list(axes.batch)
        named.update((name, list(values)) for name, values in axes.bindings.items())
        for name, shapes in axes.shapes.items():
            named[name] = ["×".join(map(str, shape)) for shape in shapes]
        if self.image is not None:
            named[self.image.name] = [
                "×".join(map(str, self.image.shape(None, *resolution))) for resolution in axes.resolutions
            ]
        if axes.hardware:
            named["hardware"] = [device.id for device in self.devices if device]
        if axes.precision:
            named["precision"] = list(self.precisions)
        if axes.devices:
            named["devices"] = list(axes.devices)
        return named

    def _point(
        self,
        base: Analysis,
        sizes: SweepSizes,
        numbers: SweepNumbers | str,
        device: Device | None,
        requested: str,
    ) -> SweepPoint:
        failed = isinstance(numbers, str)
        reason = numbers if isinstance(numbers, str) else numbers.reason
        known_numbers = None if isinstance(numbers, str) else numbers
        time, precision, no_time_reason = (
            (None, "", "")
            if device is None or known_numbers is None
            else estimate_time(
                base,
                self._in_runtime(known_numbers, self._runtime(device)),
                device,
                requested,
                self._runtime(device),
            )
        )
        memory = (
            None
            if known_numbers is None
            else compute_required_bytes(
                known_numbers.peak, known_numbers.stored, known_numbers.model, precision
            )
        )
        available = None if device is None else available_bytes(device)
        seconds = None if time is None else time.seconds
        rate = sizes.batch / seconds if sizes.batch and seconds else None
        price = None if device is None else self.rented.get(device.id)
        return SweepPoint(
            bindings=dict(sizes.bindings),
            input_shapes={name: list(shape) for name, shape in sizes.shapes.items()},
            batch=sizes.batch,
            hardware=None if device is None else device.id,
            precision=(precision or requested or None) if device is not None else None,
            runtime=None if device is None else self._runtime(device).id,
            macs=None if known_numbers is None else known_numbers.macs,
            flops=None if known_numbers is None else known_numbers.flops,
            read_bytes=None if known_numbers is None else known_numbers.read_bytes,
            write_bytes=None if known_numbers is None else known_numbers.write_bytes,
            peak_activation_bytes=None if known_numbers is None else known_numbers.peak,
            memory_bytes=memory,
            available_bytes=available,
            fits=None if memory is None or available is None else memory <= available,
            latency_ms=_ms(seconds),
            latency_low_ms=_ms(time.low if time else None),
            latency_high_ms=_ms(time.high if time else None),
            compute_utilization=time.utilization if time else None,
            throughput=rate,
            usd_per_million=price.usd_per_hour / 3600 / rate * 1e6 if price and rate else None,
            bottleneck=time.bottleneck if time else "",
            label=time.label if time else "",
            reason=reason if failed else "; ".join(filter(None, (reason, no_time_reason))),
        )


def _side_by_side(point: SweepPoint, count: int) -> SweepPoint:
    """Return a point for several devices with a copy of the model each: the throughput is their sum."""
    if count == 1:
        return point
    rate = None if point.throughput is None else point.throughput * count
    return msgspec.structs.replace(point, devices=count, throughput=rate)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
