"""Estimates a model on every device of a target, and selects the tiers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from py_autodoc.errors import InputError, OptionError
from py_autodoc.hardware.cloud import checked_provider, of_device, of_devices, of_single
from py_autodoc.hardware.latency_model import MAGNITUDE, MODEL
from py_autodoc.hardware.latency_model import device as device_of
from py_autodoc.hardware.profile import Profile, profiles
from py_autodoc.hardware.risk import TYPICAL, checked_risk, judged
from py_autodoc.hardware.runtimes import runs_on
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.hardware.systems import system_of
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.recommend.schema import SCHEMA, Constraints, DeviceCandidate, Recommendation
from py_autodoc.recommend.words import milliseconds_text, rate_text, reason
from py_autodoc.report.schema.model import Generator
from py_autodoc.sweep import Axes, Sweep, SweepOptions, SweepPoint, sweep
from py_autodoc.sweep.choose import KNEE
from py_autodoc.version import NAME, version

TARGETS: dict[str, frozenset[str]] = {
    "edge": frozenset({"edge"}),
    "local": frozenset({"consumer", "workstation", "laptop", "apple", "cpu"}),
    "cloud": frozenset({"datacenter", "cloud-asic"}),
}
"""Target → categories of profiles. Devices of any category also count as cloud if they can be rented."""
BATCHES = (1, 2, 4, 8, 16, 32, 64)
"""Batch sizes tried if the model allows it."""
HALF = 0.5
MAX_DEVICES = 16
SECOND = 1_000.0
"""Milliseconds of an inference that a minimum may take if no speed is requested."""
SLOWEST = 4.0
"""How much slower than the targets a minimum may be, if there is any that is faster."""
MAGNITUDE_LABEL = MODEL.bands[MAGNITUDE].label
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RecommendOptions:
    """Requirements. Latencies in ms, throughput in items per second, power in W, price in $/h.

    ``target`` is edge, local or cloud, empty for any device; ``provider`` is the cloud whose prices count.
    ``precision`` lists allowed ones, of which the fastest is used; empty: the stored precision. ``batch`` is
    the only batch size tried; None: several, if the model allows it.
    """

    target: str = ""
    latency: float | None = None
    throughput: float | None = None
    power: float | None = None
    price: float | None = None
    provider: str = ""
    precision: Sequence[str] = ()
    runtime: str = ""
    """Runtime of the model; empty: the usual one of each device."""
    risk: str = TYPICAL
    """Whether ``latency`` is a target for the estimate or for the upper end of its range (``high``)."""
    max_devices: int = MAX_DEVICES
    """Devices of one kind that may run copies of the model side by side if one is too slow."""
    batch: int | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = LIBRARY


def recommend(
    models: Sequence[str | os.PathLike[str] | bytes],
    options: RecommendOptions | None = None,
    progress: Progress | None = None,
) -> Recommendation:
    """Recommend devices for one model, or for several that run in sequence.

    Raises:
        InputError: a model cannot be read, an option does not fit it, or a target is unknown or not positive.
    """
    chosen = options or RecommendOptions()
    if chosen.target not in ("", *TARGETS):
        hint = f"Choose one of {', '.join(TARGETS)}."
        raise OptionError("unknown-target", f"Unknown target {chosen.target[:40]!r}.", hint)
    for name in ("latency", "throughput", "power", "price"):
        target = getattr(chosen, name)
        if target is not None and not 0 < target < float("inf"):
            raise OptionError(
                "bad-amount", f"{name} is {target:g}; it must be above 0.", "Pass a positive number."
            )
    provider = checked_provider(chosen.provider)
    devices = _devices(chosen, provider)
    sweeps = [_sweep_model(model, chosen, devices, progress or _silent) for model in models]
    points = _sum_models([result.points for result in sweeps])
    by_id = {device.id: device for device in devices}
    opset = max((result.opset or 0 for result in sweeps), default=0)
    judged_points = _Judge(chosen, provider, opset)
    candidates = [
        candidate
        for device, members in _by_device(points).items()
        if (candidate := judged_points.candidate(by_id[device], members)) is not None
    ]
    if not any(candidate.meets_all_targets for candidate in candidates):
        candidates += [
            more for candidate in candidates if (more := judged_points.several(by_id, candidate)) is not None
        ]
    sizes = {name: size for result in sweeps for name, size in _sizes(result).items()}
    runtime = runtime_of(chosen.runtime).id if chosen.runtime else None
    return _tiers([result.model for result in sweeps], chosen, candidates, sizes, runtime)


def _silent(done: int, total: int) -> None:
    """Ignore progress."""


def _devices(chosen: RecommendOptions, provider: str) -> list[Profile]:
    """Return the devices of the target that the requested runtime exists for."""
    target, runtime = chosen.target, runtime_of(chosen.runtime) if chosen.runtime else None

    def is_candidate(device: Profile) -> bool:
        rented = of_device(device.id, provider) is not None
        if target == "cloud":
            return rented or (device.category in TARGETS[target] and not provider)
        return target == "" or device.category in TARGETS[target]

    return [
        profile
        for profile in profiles()
        if (known := device_of(profile)) is not None
        and is_candidate(profile)
        and (runtime is None or runs_on(runtime, known))
    ]


def _sweep_model(
    model: Any, chosen: RecommendOptions, devices: Sequence[Profile], progress: Progress
) -> Sweep:
    axes = Axes(
        batch=BATCHES if chosen.batch is None else [chosen.batch],
        hardware=[device.id for device in devices],
        precision=chosen.precision,
        runtime=chosen.runtime,
    )
    options = SweepOptions(bindings=chosen.bindings, limits=chosen.limits)
    try:
        return sweep(model, axes, options, progress)
    except InputError as error:
        if chosen.batch is not None or error.code not in ("rebatch-blocked", "no-batch-dimension"):
            raise
    return sweep(model, replace(axes, batch=()), options, progress)


def _sizes(result: Sweep) -> dict[str, int]:
    """Return the dimensions that are equal at every point."""
    first = result.points[0].bindings if result.points else {}
    return {
        name: size
        for name, size in first.items()
        if all(point.bindings.get(name) == size for point in result.points)
    }


def _sum_models(models: Sequence[Sequence[SweepPoint]]) -> list[SweepPoint]:
    """Return the points of one model, or sums over several at the same batch, device and precision."""
    if len(models) == 1:
        return list(models[0])
    tables = [{(p.batch, p.hardware, p.precision): p for p in points} for points in models]
    common = set.intersection(*(set(table) for table in tables))
    return [_sum([table[key] for table in tables]) for key in tables[0] if key in common]


def _sum(points: Sequence[SweepPoint]) -> SweepPoint:
    def add(name: str) -> Any:
        values = [getattr(point, name) for point in points]
        return None if None in values else sum(values)

    first = points[0]
    latency, memory = add("latency_ms"), add("memory_bytes")
    available = first.available_bytes
    slowest = max(points, key=lambda point: point.latency_ms or 0)
    return msgspec.structs.replace(
        first,
        **{name: add(name) for name in ("macs", "flops", "latency_low_ms", "latency_high_ms")},
        latency_ms=latency,
        memory_bytes=memory,
        fits=None if memory is None or available is None else memory <= available,
        throughput=first.batch / latency * 1e3 if first.batch and latency else None,
        bottleneck=slowest.bottleneck,
    )


def _by_device(points: Sequence[SweepPoint]) -> dict[str, list[SweepPoint]]:
    by_device: dict[str, list[SweepPoint]] = {}
    for point in points:
        by_device.setdefault(point.hardware or "", []).append(point)
    return by_device


class _Judge:
    """Selects the setting of each device, and says which targets it misses."""

    def __init__(self, chosen: RecommendOptions, provider: str, opset: int) -> None:
        self.chosen, self.provider, self.opset = chosen, provider, opset
        self.risk = checked_risk(chosen.risk)

    def candidate(self, device: Profile, points: Sequence[SweepPoint]) -> DeviceCandidate | None:
        """Return the device at its best batch and precision; None without any estimate."""
        timed = [point for point in points if point.latency_ms is not None and point.precision]
        if not timed:
            return None
        best = self._best(timed)
        rented = of_device(device.id, self.provider)
        price = None if rented is None else rented.approx_on_demand_usd_per_hour
        reads = self._reads(device, best.runtime or "")
        found = DeviceCandidate(
            device=device.id,
            device_name=device.name,
            category=device.category,
            precision=best.precision or "",
            runtime=best.runtime or "",
            batch=best.batch,
            vram_required_gb=None if best.memory_bytes is None else best.memory_bytes / 1e9,
            vram_gb=None if best.available_bytes is None else best.available_bytes / 1e9,
            fits=best.fits,
            devices=1,
            system=None,
            estimated_latency_ms=best.latency_ms,
            latency_low_ms=best.latency_low_ms,
            latency_high_ms=best.latency_high_ms,
            estimated_throughput_fps=best.throughput,
            bottleneck=best.bottleneck,
            label=best.label,
            power_watts=device.tdp_watts,
            instance=None if rented is None else rented.id,
            price_usd_per_hour=price,
            price_date=None if rented is None else rented.price_date,
            region=None if rented is None else rented.region,
            usd_per_million=price / 3600 / best.throughput * 1e6 if price and best.throughput else None,
            reads_opset=reads,
            meets_latency_target=None if self.chosen.latency is None else self._is_fast(best),
            meets_all_targets=False,
            reason="",
        )
        return self._judged(found)

    def several(self, by_id: Mapping[str, Profile], one: DeviceCandidate) -> DeviceCandidate | None:
        """Return as many copies of a device as the throughput needs; None if that does not meet the targets.

        Each runs the whole model on its own requests: the throughput is the sum, the latency that of one.
        """
        wanted, rate = self.chosen.throughput, one.estimated_throughput_fps
        if not wanted or not rate or one.fits is False:
            return None
        count = math.ceil(wanted / rate - 1e-9)
        if not 1 < count <= self.chosen.max_devices:
            return None
        rented = of_devices(one.device, count, self.provider) or of_single(one.device, count, self.provider)
        found = msgspec.structs.replace(
            one,
            devices=count,
            system=system_of(one.device, count),
            estimated_throughput_fps=rate * count,
            power_watts=None if one.power_watts is None else one.power_watts * count,
            instance=None if rented is None else rented[0].id,
            price_usd_per_hour=None if rented is None else rented[1],
            price_date=None if rented is None else rented[0].price_date,
            region=None if rented is None else rented[0].region,
            usd_per_million=None if rented is None else rented[1] / 3600 / (rate * count) * 1e6,
        )
        judged = self._judged(found)
        return judged if judged.meets_all_targets else None

    def _best(self, points: Sequence[SweepPoint]) -> SweepPoint:
        """Return the fastest inference; for a throughput, the smallest batch that reaches it.

        If none does, it is the smallest with nearly the highest throughput: a larger one only takes longer.
        """
        fitting = [point for point in points if point.fits is not False] or list(points)
        fast = [point for point in fitting if self._is_fast(point)]
        within = fast or fitting
        wanted = self.chosen.throughput
        if wanted is None or not fast:
            return min(within, key=lambda point: point.latency_ms or 0)
        enough = [point for point in within if (point.throughput or 0) >= wanted]
        if not enough:
            top = max(point.throughput or 0 for point in within)
            enough = [point for point in within if (point.throughput or 0) >= KNEE * top]
        return min(enough, key=lambda point: (point.batch or 0, point.latency_ms or 0))

    def _is_fast(self, point: SweepPoint) -> bool:
        latency = judged(point.latency_ms, point.latency_high_ms, self.risk)
        return self.chosen.latency is None or (latency is not None and latency <= self.chosen.latency)

    def _reads(self, device: Profile, runtime: str) -> bool | None:
        most = device.max_opset.get(runtime)
        return None if most is None or not self.opset else self.opset <= most

    def _judged(self, found: DeviceCandidate) -> DeviceCandidate:
        misses = self._misses(found)
        return msgspec.structs.replace(
            found, meets_all_targets=not misses and found.fits is not False, reason=reason(found, misses)
        )

    def _misses(self, found: DeviceCandidate) -> list[str]:
        """Return the targets that are missed; unknown values miss them."""
        chosen, misses = self.chosen, []
        if found.reads_opset is False:
            misses.append(f"its last runtime does not read opset {self.opset}")
        latency = judged(found.estimated_latency_ms, found.latency_high_ms, self.risk)
        if chosen.latency is not None and (latency is None or latency > chosen.latency):
            end = "up to " if self.risk != TYPICAL else ""
            misses.append(f"{end}{milliseconds_text(latency)} instead of {milliseconds_text(chosen.latency)}")
        rate = found.estimated_throughput_fps or 0
        if chosen.throughput is not None and rate < chosen.throughput:
            misses.append(f"{rate_text(rate)} items/s instead of {rate_text(chosen.throughput)}")
        if chosen.power is not None:
            if found.power_watts is None:
                misses.append("its power is unknown")
            elif found.power_watts > chosen.power:
                misses.append(f"{found.power_watts:g} W instead of {chosen.power:g} W")
        if chosen.price is not None:
            if found.price_usd_per_hour is None:
                misses.append("its price is unknown")
            elif found.price_usd_per_hour > chosen.price:
                misses.append(f"${found.price_usd_per_hour:g}/h instead of ${chosen.price:g}/h")
        return misses


def _tiers(
    models: list[str],
    chosen: RecommendOptions,
    candidates: Sequence[DeviceCandidate],
    sizes: dict[str, int],
    runtime: str | None,
) -> Recommendation:
    fitting = [
        candidate
        for candidate in candidates
        if candidate.fits is not False and candidate.reads_opset is not False
    ]
    allowed = [candidate for candidate in fitting if _within_limits(candidate, chosen)]
    meeting_targets = [candidate for candidate in fitting if candidate.meets_all_targets]
    targets = (chosen.latency, chosen.throughput, chosen.power, chosen.price)
    fast_enough = meeting_targets
    if all(target is None for target in targets) and fitting:
        top_speed = max(_speed(candidate) for candidate in _well_estimated(fitting))
        fast_enough = [candidate for candidate in fitting if _speed(candidate) >= HALF * top_speed]
    optimal = max(_well_estimated(meeting_targets or allowed), key=_speed, default=None)
    nearest = None
    if fitting and not meeting_targets:
        nearest = min(fitting, key=lambda candidate: _distance(candidate, chosen))
    return Recommendation(
        schema=SCHEMA,
        generator=Generator(name=NAME, version=version()),
        models=models,
        runtime=runtime,
        deployment_target=chosen.target or None,
        user_constraints=Constraints(
            max_latency_ms=chosen.latency,
            min_throughput_fps=chosen.throughput,
            max_power_watts=chosen.power,
            max_price_usd_per_hour=chosen.price,
            risk=checked_risk(chosen.risk),
        ),
        bindings=sizes,
        minimum=min(_usable(allowed or fitting, chosen), key=_demands, default=None),
        recommended=min(_well_estimated(fast_enough), key=_demands, default=None),
        optimal=optimal,
        nearest_miss=nearest,
        candidates=sorted(
            candidates,
            key=lambda candidate: (
                candidate.fits is False,
                not candidate.meets_all_targets,
                -_speed(candidate),
                candidate.device,
            ),
        ),
    )


def _usable(candidates: Sequence[DeviceCandidate], chosen: RecommendOptions) -> Sequence[DeviceCandidate]:
    """Return those at no more than ``SLOWEST`` times the targets, or a second without any; else the fastest.

    Devices known to an order of magnitude only are left out, if there are others.
    """
    known = _well_estimated(candidates)
    targets = chosen.latency is not None or chosen.throughput is not None
    usable = [
        candidate
        for candidate in known
        if (
            _slowness(candidate, chosen) <= SLOWEST
            if targets
            else (candidate.estimated_latency_ms or 0) <= SECOND
        )
    ]
    if usable or not known:
        return usable
    return [min(known, key=lambda candidate: _slowness(candidate, chosen))]


def _slowness(candidate: DeviceCandidate, chosen: RecommendOptions) -> float:
    """Return how many times slower than the targets a device is; without any, its latency."""
    latency = candidate.estimated_latency_ms or float("inf")
    ratios = [] if chosen.latency is None else [latency / chosen.latency]
    if chosen.throughput is not None:
        ratios.append(chosen.throughput / max(candidate.estimated_throughput_fps or 0, 1e-9))
    return max(ratios, default=latency)


def _well_estimated(candidates: Sequence[DeviceCandidate]) -> Sequence[DeviceCandidate]:
    """Return those with latencies better than an order of magnitude, if there are any."""
    return [candidate for candidate in candidates if candidate.label != MAGNITUDE_LABEL] or candidates


def _within_limits(candidate: DeviceCandidate, chosen: RecommendOptions) -> bool:
    """Return whether power and price are within the limits."""
    power = chosen.power is None or (
        candidate.power_watts is not None and candidate.power_watts <= chosen.power
    )
    price = chosen.price is None or (
        candidate.price_usd_per_hour is not None and candidate.price_usd_per_hour <= chosen.price
    )
    return power and price


def _speed(candidate: DeviceCandidate) -> float:
    """Return items per second, or inferences per second if the batch is unknown."""
    return candidate.estimated_throughput_fps or 1e3 / (candidate.estimated_latency_ms or float("inf"))


def _demands(candidate: DeviceCandidate) -> tuple[bool, float, bool, float, float]:
    """Return the sort key of a device's demands: its price if it can be rented, its power, then its speed."""
    price, power = candidate.price_usd_per_hour, candidate.power_watts
    if candidate.category in ("edge", "consumer", "workstation", "laptop", "apple", "cpu"):
        price = None
    return price is None, price or 0.0, power is None, power or 0.0, _speed(candidate)


def _distance(candidate: DeviceCandidate, chosen: RecommendOptions) -> float:
    """Return the distance from the targets: the worst ratio; unknown values are far."""
    ratios = [1.0]
    if chosen.latency is not None:
        ratios.append((candidate.estimated_latency_ms or float("inf")) / chosen.latency)
    if chosen.throughput is not None:
        ratios.append(chosen.throughput / max(candidate.estimated_throughput_fps or 0, 1e-9))
    if chosen.power is not None:
        ratios.append((candidate.power_watts or float("inf")) / chosen.power)
    if chosen.price is not None:
        ratios.append((candidate.price_usd_per_hour or float("inf")) / chosen.price)
    return max(ratios)
