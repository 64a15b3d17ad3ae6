"""Estimates a model on every device of a target, and selects the tiers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from py_autodoc.errors import InputError, OptionError
from py_autodoc.hardware.cloud import checked_provider, of_device
from py_autodoc.hardware.latency_model import MAGNITUDE, MODEL
from py_autodoc.hardware.profile import Profile, estimable, profiles
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.recommend.schema import SCHEMA, Constraints, DeviceCandidate, Recommendation
from py_autodoc.recommend.words import reason
from py_autodoc.report.schema.model import Generator
from py_autodoc.sweep import Axes, Sweep, SweepOptions, SweepPoint, sweep
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
    """Runtime of the model; empty: the usual one."""
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
        wanted = getattr(chosen, name)
        if wanted is not None and not 0 < wanted < float("inf"):
            raise OptionError(
                "bad-amount", f"{name} is {wanted:g}; it must be above 0.", "Pass a positive number."
            )
    provider = checked_provider(chosen.provider)
    devices = _devices(chosen.target, provider)
    swept = [_swept(model, chosen, devices, progress or _silent) for model in models]
    points = _summed([one.points for one in swept])
    by_id = {one.id: one for one in devices}
    found = [
        candidate
        for device, members in _by_device(points).items()
        if (candidate := _candidate(by_id[device], members, chosen, provider)) is not None
    ]
    sizes = {name: size for one in swept for name, size in _sizes(one).items()}
    runtime = swept[0].runtime or runtime_of(chosen.runtime).id
    return _tiers([one.model for one in swept], chosen, found, sizes, runtime)


def _silent(done: int, total: int) -> None:
    """Ignore progress."""


def _devices(target: str, provider: str) -> list[Profile]:
    def wanted(one: Profile) -> bool:
        rented = of_device(one.id, provider) is not None
        if target == "cloud":
            return rented or (one.category in TARGETS[target] and not provider)
        return target == "" or one.category in TARGETS[target]

    return [one for one in profiles() if estimable(one) and wanted(one)]


def _swept(model: Any, chosen: RecommendOptions, devices: Sequence[Profile], progress: Progress) -> Sweep:
    axes = Axes(
        batch=BATCHES if chosen.batch is None else [chosen.batch],
        hardware=[one.id for one in devices],
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


def _sizes(found: Sweep) -> dict[str, int]:
    """Return the dimensions that are equal at every point."""
    first = found.points[0].bindings if found.points else {}
    return {
        name: size
        for name, size in first.items()
        if all(point.bindings.get(name) == size for point in found.points)
    }


def _summed(models: Sequence[Sequence[SweepPoint]]) -> list[SweepPoint]:
    """Return the points of one model, or sums over several at the same batch, device and precision."""
    if len(models) == 1:
        return list(models[0])
    tables = [{(p.batch, p.hardware, p.precision): p for p in points} for points in models]
    common = set.intersection(*(set(table) for table in tables))
    return [_sum([table[key] for table in tables]) for key in tables[0] if key in common]


def _sum(points: Sequence[SweepPoint]) -> SweepPoint:
    import msgspec

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
    found: dict[str, list[SweepPoint]] = {}
    for point in points:
        found.setdefault(point.hardware or "", []).append(point)
    return found


def _candidate(
    device: Profile, points: Sequence[SweepPoint], chosen: RecommendOptions, provider: str
) -> DeviceCandidate | None:
    """Return the device at its best batch and precision; None without any estimate."""
    timed = [point for point in points if point.latency_ms is not None and point.precision]
    if not timed:
        return None

    def rank(point: SweepPoint) -> tuple[bool, bool, float]:
        soon = chosen.latency is None or (point.latency_ms or 0) <= chosen.latency
        # Without a throughput target, latency refers to a single item.
        most = point.throughput or 0.0
        if chosen.throughput is None:
            return point.fits is not False, soon, -(point.latency_ms or 0)
        return point.fits is not False, soon, most

    best = max(timed, key=rank)
    rented = of_device(device.id, provider)
    price = None if rented is None else rented.approx_on_demand_usd_per_hour
    soon = None if chosen.latency is None else (best.latency_ms or 0) <= chosen.latency
    misses = _misses(best, device, price, chosen)
    return DeviceCandidate(
        device=device.id,
        device_name=device.name,
        category=device.category,
        precision=best.precision or "",
        batch=best.batch,
        vram_required_gb=None if best.memory_bytes is None else best.memory_bytes / 1e9,
        vram_gb=None if best.available_bytes is None else best.available_bytes / 1e9,
        fits=best.fits,
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
        meets_latency_target=soon,
        meets_all_targets=not misses and best.fits is not False,
        reason=reason(best, misses),
    )


def _misses(point: SweepPoint, device: Profile, price: float | None, chosen: RecommendOptions) -> list[str]:
    """Return the targets that are missed; unknown values miss them."""
    found = []
    if chosen.latency is not None and (point.latency_ms or 0) > chosen.latency:
        found.append(f"{point.latency_ms:.3g} ms instead of {chosen.latency:g} ms")
    if chosen.throughput is not None and (point.throughput or 0) < chosen.throughput:
        found.append(f"{point.throughput or 0:,.3g} items/s instead of {chosen.throughput:g}")
    if chosen.power is not None:
        if device.tdp_watts is None:
            found.append("its power is unknown")
        elif device.tdp_watts > chosen.power:
            found.append(f"{device.tdp_watts:g} W instead of {chosen.power:g} W")
    if chosen.price is not None:
        if price is None:
            found.append("its price is unknown")
        elif price > chosen.price:
            found.append(f"${price:g}/h instead of ${chosen.price:g}/h")
    return found


def _tiers(
    models: list[str],
    chosen: RecommendOptions,
    found: Sequence[DeviceCandidate],
    sizes: dict[str, int],
    runtime: str,
) -> Recommendation:
    holding = [one for one in found if one.fits is not False]
    allowed = [one for one in holding if _allowed(one, chosen)]
    meeting = [one for one in holding if one.meets_all_targets]
    targets = (chosen.latency, chosen.throughput, chosen.power, chosen.price)
    enough = meeting
    if all(target is None for target in targets) and holding:
        most = max(_speed(one) for one in _surer(holding))
        enough = [one for one in holding if _speed(one) >= HALF * most]
    optimal = max(_surer(meeting or allowed), key=_speed, default=None)
    nearest = None
    if holding and not meeting:
        nearest = min(holding, key=lambda one: _distance(one, chosen))
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
        ),
        bindings=sizes,
        minimum=min(allowed or holding, key=_burden, default=None),
        recommended=min(_surer(enough), key=_burden, default=None),
        optimal=optimal,
        nearest_miss=nearest,
        candidates=sorted(
            found, key=lambda one: (one.fits is False, not one.meets_all_targets, -_speed(one), one.device)
        ),
    )


def _surer(found: Sequence[DeviceCandidate]) -> Sequence[DeviceCandidate]:
    """Return those with latencies better than an order of magnitude, if there are any."""
    return [one for one in found if one.label != MAGNITUDE_LABEL] or found


def _allowed(one: DeviceCandidate, chosen: RecommendOptions) -> bool:
    """Return whether power and price are within the limits."""
    power = chosen.power is None or (one.power_watts is not None and one.power_watts <= chosen.power)
    price = chosen.price is None or (
        one.price_usd_per_hour is not None and one.price_usd_per_hour <= chosen.price
    )
    return power and price


def _speed(one: DeviceCandidate) -> float:
    """Return items per second, or inferences per second if the batch is unknown."""
    return one.estimated_throughput_fps or 1e3 / (one.estimated_latency_ms or float("inf"))


def _burden(one: DeviceCandidate) -> tuple[bool, float, bool, float, float]:
    """Return the sort key of a device's demands: its price if it can be rented, its power, then its speed."""
    price, power = one.price_usd_per_hour, one.power_watts
    if one.category in ("edge", "consumer", "workstation", "laptop", "apple", "cpu"):
        price = None
    return price is None, price or 0.0, power is None, power or 0.0, _speed(one)


def _distance(one: DeviceCandidate, chosen: RecommendOptions) -> float:
    """Return the distance from the targets: the worst ratio; unknown values are far."""
    ratios = [1.0]
    if chosen.latency is not None:
        ratios.append((one.estimated_latency_ms or float("inf")) / chosen.latency)
    if chosen.throughput is not None:
        ratios.append(chosen.throughput / max(one.estimated_throughput_fps or 0, 1e-9))
    if chosen.power is not None:
        ratios.append((one.power_watts or float("inf")) / chosen.power)
    if chosen.price is not None:
        ratios.append((one.price_usd_per_hour or float("inf")) / chosen.price)
    return max(ratios)
