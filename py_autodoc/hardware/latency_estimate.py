"""Latency of a model's kernels on a device: a roofline per kernel, plus launch overhead.

    seconds = Σ runs · (max(FLOPs / (peak · sustained · e), bytes / (bandwidth · e)) + start)

The constants and their sources are in ``docs/hardware.md``. ``src/core/latency/`` implements the same rules
for the viewer; ``tests/data/latency_cases.json`` checks that both give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from py_autodoc.costs.engine import MAX_NUMBER
from py_autodoc.graph.ir.model import Shape
from py_autodoc.hardware.estimate_inputs import EstimateInputs, elements, tensor_bytes
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.kernel_products import (
    BATCHED,
    CONV,
    CORE,
    DEPTHWISE,
    EXPERTS,
    GEMM,
    GROUPED,
    RECURRENT,
)
from py_autodoc.hardware.latency_model import ESTIMATE, Device, LatencyConstants
from py_autodoc.hardware.sequential import Routing, experts_share, round_up, routing, steps_of

UNCOMPARED = frozenset({RECURRENT, EXPERTS})
"""Kinds of kernels whose times were never compared with measurements."""
BOTTLENECKS = {"compute": "compute", "memory": "memory_bandwidth", "overhead": "kernel_overhead"}
"""Limit of a kernel → its name in the report."""


class KernelTime(NamedTuple):
    """Seconds of one kernel over all its executions; ``bound`` is compute, memory or overhead."""

    seconds: float
    compute: float
    memory: float
    ideal: float
    bound: str
    flops: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of one inference. ``seconds`` is the sum over known kernels; None if none is known."""

    seconds: float | None
    low: float | None
    """Likely range, also of the known kernels; never below ``ideal``."""
    high: float | None
    ideal: float | None
    """Time at the device's full rates, without overhead; only weights still in a cache allow less."""
    label: str
    bottleneck: str
    """Main bottleneck: compute, memory_bandwidth or kernel_overhead."""
    utilization: float | None
    """FLOPs of products divided by the device's peak over that time."""
    kernels: tuple[KernelTime | None, ...]
    unknown: int
    """Number of kernels without a time."""


def estimate(
    kernels: Kernels, sized: EstimateInputs, device: Device, precision: str, model: LatencyConstants
) -> Estimate:
    """Return the latency of a model on a device that has a peak for ``precision``.

    Raises: ValueError if it has none.
    """
    if device.peak(precision) is None:
        raise ValueError(f"{device.name} has no {precision} rate")
    timer = _KernelTimer(kernels, sized, device, precision, model)
    times = tuple(map(timer.kernel, range(len(kernels.kind))))
    times = timer.with_launch_overhead(times)
    known_times = [time for time in times if time is not None]
    seconds = math.fsum(time.seconds for time in known_times) if known_times else None
    guessed = math.fsum(
        time.seconds
        for kernel, time in enumerate(times)
        if time is not None and (kernels.kind[kernel] in UNCOMPARED or kernel in timer.experts)
    )
    band = device.band_in(precision, model, guessed / seconds if seconds else 0.0)
    ideal = math.fsum(time.ideal for time in known_times)
    return Estimate(
        seconds=seconds,
        low=None if seconds is None else max(seconds * band.low, ideal),
        high=None if seconds is None else seconds * band.high,
        ideal=None if seconds is None else ideal,
        label=band.label,
        bottleneck=_bottleneck(known_times),
        utilization=_utilization(known_times, seconds, timer.peak),
        kernels=times,
        unknown=len(times) - len(known_times),
    )


def _bottleneck(times: Sequence[KernelTime]) -> str:
    shares = {bound: sum(t.seconds for t in times if t.bound == bound) for bound in BOTTLENECKS}
    best = max(shares, key=lambda bound: shares[bound])
    return BOTTLENECKS[best] if shares[best] else ""


def _utilization(times: Sequence[KernelTime], seconds: float | None, peak: float) -> float | None:
    return min(1.0, sum(t.flops for t in times) / (peak * seconds)) if seconds else None


class _RoutedKernel(NamedTuple):
    """A kernel of an expert: see ``routed.RoutedExperts``."""

    router: int
    chosen: int
    dims: frozenset[str]
    macs: int
    depth: int


def start_seconds(device: Device, model: LatencyConstants) -> float:
    """Return the overhead per kernel in seconds."""
    if device.category == "cpu":
        return model.cpu_overhead_s if device.measured is None else device.measured.start
    return model.overhead_cycles / device.clock_hz if device.clock_hz else model.overhead_s


def launches(
    kernels: Kernels, sized: EstimateInputs, device: Device, model: LatencyConstants, tokens: int
) -> float | None:
    """Return the kernels launched by a pass of ``tokens``, as ``estimate`` counts them; None if unknown.

    Exported experts are launched for the share of them that has tokens; a recurrent layer takes one step.
    """
    shares: dict[int, float] = {}
    for group in kernels.routed:
        shape = sized.shapes[group.router]
        experts = shape[-1] if shape else None
        share = routing((tokens, experts), group.chosen) if isinstance(experts, int) else None
        if share is None:
            return None
        shares.update(
            {kernel: share.share for kernel, macs in zip(group.kernels, group.macs, strict=True) if macs}
        )
    total = 0.0
    for kernel, kind in enumerate(kernels.kind):
        runs = sized.repeat.get(kernels.anchor[kernel], 1)
        if runs is None:
            return None
        starts = 1
        if device.category != "cpu":
            starts = {EXPERTS: model.experts_kernels, RECURRENT: 1 + model.recurrent_kernels}.get(kind, 1)
        total += runs * starts * shares.get(kernel, 1.0)
    return total


class _KernelTimer:
    def __init__(
        self, kernels: Kernels, sized: EstimateInputs, device: Device, precision: str, model: LatencyConstants
    ) -> None:
        self.kernels, self.sized, self.device, self.model = kernels, sized, device, model
        self.width = dict(model.widths)[precision]
        self.peak = float(device.peak(precision) or 0)
        attention_precision = dict(model.attention_precision).get(precision, precision)
        self.attention_peak = float(device.peak(attention_precision) or self.peak)
        self.vector_peak = float(device.peak("fp32") or self.peak)
        self.cpu = device.category == "cpu"
        # Products outside tensor cores: the measured rate does not apply, and the loss at the ends of a sum,
        # which is a fixed time, is smaller in proportion.
        tensor = max(float(device.peak(name) or 0) for name in ("fp16", "bf16"))
        slower = precision == "fp32" and not self.cpu and self.peak < tensor
        self.sustained = 1.0 if slower and device.band == ESTIMATE else device.sustained
        self.loss = self.peak / tensor if slower else 1.0
        self.start = start_seconds(device, model)
        self.memory_e = model.cpu_memory_e if self.cpu else model.memory_e
        self.measured = device.measured if self.cpu else None
        if self.measured is not None:
            self.memory_e = self.measured.memory
        speed = float(device.bandwidth_bytes_per_s)
        rate = 0 if self.cpu else (device.units or 0) * (device.clock_hz or 0)
        self.speed = speed
        self.experts = {
            kernel: _RoutedKernel(experts.router, experts.chosen, frozenset(experts.dims), macs, depth)
            for experts in kernels.routed
            for kernel, macs, depth in zip(experts.kernels, experts.macs, experts.depth, strict=True)
        }
        self.cached = max(speed, model.l2_bytes_per_clock * rate)
        self.traffic = [self._traffic(kernel) for kernel in range(len(kernels.kind))]
        self.weights_speed = self.cached if rate and self._weights_fit_cache() else speed

    def kernel(self, kernel: int) -> KernelTime | None:
        """Return the seconds of a kernel; None if a size is unknown or it has no rule."""
        kind = self.kernels.kind[kernel]
        traffic = self.traffic[kernel]
        by_element = self._by_element(kernel)
        times = self.sized.repeat.get(self.kernels.anchor[kernel], 1)
        if kind < 0 or traffic is None or by_element is None or times is None or times > MAX_NUMBER:
            return None
        flops, rate, top = 0, 1.0, 1.0
        weights, activations = float(traffic[0]), traffic[1]
        if kernel in self.experts:
            return self._routed(self.experts[kernel], traffic, times)
        if kind:
            macs = self._macs(kernel)
            if macs is None:
                return None
            if kind == RECURRENT:
                return self._recurrent(kernel, macs, traffic, times)
            if kind == EXPERTS:
                kernel_routing = self._routing(kernel)
                if kernel_routing is None:
                    return None
                top, weights = self.peak, weights * kernel_routing.share
                rate = self._achieved_rate(self._cpu_share(kind) or experts_share(kernel_routing, self.model))
            else:
                numbers = self._rate(kernel, macs)
                if numbers is None:
                    return None
                rate, top = numbers
            flops = 2 * macs
        starts = self.model.experts_kernels if kind == EXPERTS and not self.cpu else 1
        moved = self._moved(weights, activations)
        ideal = max(flops / top, moved)
        return self._time(times, [(flops / rate + by_element, moved / self.memory_e)], starts, ideal, flops)

    def _by_element(self, kernel: int) -> float | None:
        """Return the seconds of a CPU for what it computes element by element; None if a size is unknown."""
        seconds = 0.0
        for tensor, picoseconds in self.kernels.by_element.get(kernel, ()) if self.cpu else ():
            count = 1 if tensor < 0 else elements(self.sized.shapes[tensor])
            if count is None:
                return None
            seconds += count * picoseconds * 1e-12
        return seconds

    def with_launch_overhead(self, times: tuple[KernelTime | None, ...]) -> tuple[KernelTime | None, ...]:
        """Adjust the times for a host that launches operators one by one, ahead of the device.

        The longer of the two totals counts: while the device is busy the host runs ahead; if the host is
        slower, every operator takes as long as its launch.
        """
        launch = 0.0 if self.cpu else self.model.issue_s
        known_times = [(kernel, time) for kernel, time in enumerate(times) if time is not None]
        runs = {
            kernel: self.sized.repeat.get(self.kernels.anchor[kernel], 1) or 0 for kernel, _ in known_times
        }
        if not launch or launch * sum(runs.values()) <= math.fsum(time.seconds for _, time in known_times):
            return times
        adjusted = list(times)
        for kernel, time in known_times:
            adjusted[kernel] = time._replace(seconds=launch * runs[kernel], bound="overhead")
        return tuple(adjusted)

    def _time(
        self, times: float, phases: Sequence[tuple[float, float]], starts: float, ideal: float, flops: int
    ) -> KernelTime:
        """Return the time of successive phases (seconds of arithmetic, seconds of memory traffic)."""
        compute, memory = sum(p[0] for p in phases), sum(p[1] for p in phases)
        overhead = starts * self.start
        bound = max(("compute", compute), ("memory", memory), ("overhead", overhead), key=lambda x: x[1])[0]
        return KernelTime(
            times * (sum(map(max, phases)) + overhead),
            times * compute,
            times * memory,
            times * ideal,
            bound,
            round(times * flops),
        )

    def _recurrent(self, kernel: int, macs: int, traffic: tuple[int, int], times: int) -> KernelTime | None:
        """Return the time of one product for all inputs, then of the steps."""
        shape = self.sized.shapes[self.kernels.product[kernel]]
        axis, hidden = self.kernels.n_axis[kernel], self.kernels.groups[kernel]
        work = None if shape is None else steps_of(shape, axis, hidden, macs)
        if work is None:
            return None
        flops, (weights, activations) = 2 * macs, traffic
        state = weights * work.recurrent_share
        fits = not self.cpu and state <= self.model.l2_fraction * (self.device.l2_bytes or 0)
        inputs = self._product_rate(work.steps * work.batch, work.width, work.inputs)
        steps = self._product_rate(work.batch, work.width, work.hidden)
        of_state = flops * work.recurrent_share
        rereads = work.steps * state / (self.cached if fits else self.speed)
        phases = [
            ((flops - of_state) / inputs, self._moved(weights - state, activations) / self.memory_e),
            (of_state / steps, rereads / self.memory_e),
        ]
        starts = 1 if self.cpu else 1 + self.model.recurrent_kernels * work.steps
        ideal = max(flops / self.peak, self._moved(weights, activations))
        return self._time(times, phases, starts, ideal, flops)

    def _routed(self, expert: _RoutedKernel, traffic: tuple[int, int], times: int) -> KernelTime | None:
        """Return the time of one expert, for as many runs as it receives tokens."""
        expert_routing, rows = self._tokens(expert)
        if expert_routing is None or rows is None:
            return None
        weights, activations = traffic
        moved, flops = self._moved(weights, activations), 2 * expert.macs * rows
        if not expert.macs:
            return self._time(times, [(0.0, moved / self.memory_e)], 1, moved, 0)
        rate = self._product_rate(rows, expert.macs / expert.depth, expert.depth)
        ideal = max(flops / self.peak, moved)
        return self._time(
            times * expert_routing.share, [(flops / rate, moved / self.memory_e)], 1, ideal, flops
        )

    def _tokens(self, expert: _RoutedKernel) -> tuple[Routing | None, int | None]:
        """Return the routing and the tokens per expert: for products of an active expert, else on average."""
        shape = self.sized.shapes[expert.router]
        expert_routing = None if shape is None else routing(shape, expert.chosen)
        if expert_routing is None:
            return None, None
        return expert_routing, round_up(
            expert_routing.rows if expert.macs else expert_routing.rows * expert_routing.share
        )

    def _product_rate(self, m: float, n: float, k: float) -> float:
        """Return the FLOP/s of a product of m × n over k."""
        share = self._cpu_share(GEMM)
        if not share:
            share = self.model.gemm_e * (self._utilisation(m, n, k) if m and n and k else 1.0)
            share = max(share, self.model.utilisation_floor)
        return self._achieved_rate(share)

    def _achieved_rate(self, share: float) -> float:
        """Return the FLOP/s at a share of the peak, limited to the peak."""
        return self.peak * min(1.0, self.sustained * share)

    def _cpu_share(self, kind: int) -> float:
        """Return the share of the peak that CPUs reach; 0 on other devices."""
        if not self.cpu:
            return 0.0
        if self.measured is not None:
            if kind == DEPTHWISE:
                return self.measured.depthwise
            return self.measured.convolution if kind in (CONV, GROUPED) else self.measured.product
        return self.model.cpu_conv_e if kind in (CONV, GROUPED, DEPTHWISE) else self.model.cpu_gemm_e

    def _routing(self, kernel: int) -> Routing | None:
        shape = self.sized.shapes[self.kernels.product[kernel]]
        return None if shape is None else routing(shape, self.kernels.groups[kernel])

    def _macs(self, kernel: int) -> int | None:
        total = 0
        for node in self.kernels.members[kernel]:
            macs = self.sized.macs[node]
            if macs is None:
                return None
            total += macs
        return total

    def _product_macs(self, kernel: int) -> int | None:
        """Return the MACs of the node that writes the kernel's product."""
        return self.sized.macs[self.sized.producer[self.kernels.product[kernel]]]

    # ------------------------------------------------------------------ memory

    def _traffic(self, kernel: int) -> tuple[int, int] | None:
        """Return (bytes of weights, bytes of activations) of one execution."""
        sums = [0, 0]
        expert = self.experts.get(kernel)
        rows = self._tokens(expert)[1] if expert is not None else None
        dims = {} if expert is None or rows is None else dict.fromkeys(expert.dims, rows)
        for tensor in (*self.kernels.reads[kernel], *self.kernels.writes[kernel]):
            size = tensor_bytes(self.sized, tensor, self.width, dims)
            if size is None:
                return None
            sums[0 if self.sized.weight[tensor] else 1] += size
        return sums[0], sums[1]

    def _moved(self, weights: float, activations: int) -> float:
        """Return the seconds of memory traffic at full speed, partly at that of the L2 cache."""
        fits = activations <= self.model.l2_fraction * (self.device.l2_bytes or 0)
        return weights / self.weights_speed + activations / (self.cached if fits else self.speed)

    def _weights_fit_cache(self) -> bool:
        """Return True if the L2 cache keeps all weights between inferences, besides a kernel's activations.

        Unknown sizes count as 0: their kernels have no time anyway.
        """
        weight_bytes: dict[int, int] = {}
        for kernel in range(len(self.kernels.kind)):
            for tensor in (*self.kernels.reads[kernel], *self.kernels.writes[kernel]):
                if self.sized.weight[tensor]:
                    weight_bytes[tensor] = tensor_bytes(self.sized, tensor, self.width) or 0
        most_activations = max((traffic[1] for traffic in self.traffic if traffic is not None), default=0)
        return sum(weight_bytes.values()) + most_activations <= (self.device.l2_bytes or 0)

    # ------------------------------------------------------------------ products

    def _rate(self, kernel: int, macs: int) -> tuple[float, float] | None:
        """Return (achieved FLOP/s, peak FLOP/s); None if dimensions are unknown."""
        kind, model = self.kernels.kind[kernel], self.model
        shape = self.sized.shapes[self.kernels.product[kernel]]
        count = elements(shape)
        if shape is None or count is None or self.kernels.n_axis[kernel] >= len(shape):
            return None
        sustained = self.sustained
        if kind == CORE:
            if len(shape) < 2:
                return None
            top, share = self.attention_peak, model.attention_e * self._occupancy(shape, kernel)
        elif kind == DEPTHWISE:
            top, share = self.vector_peak, model.depthwise_e
        else:
            top = self.peak
            share = model.batched_e if kind == BATCHED else self._share(kind, kernel, shape, count, macs)
        if self.cpu:
            share, top = self._cpu_share(kind), self.peak
        # Efficiencies were fitted on sustained rates; without a measured one they may exceed the peak.
        return top * min(1.0, sustained * share), top

    def _share(self, kind: int, kernel: int, shape: Shape, count: int, macs: int) -> float:
        """Return the share of the peak that a product of m × n over k reaches."""
        axis, groups, model = self.kernels.n_axis[kernel], self.kernels.groups[kernel], self.model
        n = shape[axis]
        assert isinstance(n, int)  # elements() said so
        if not count or not macs:
            return model.gemm_e
        single_macs = self._product_macs(kernel)
        if not single_macs:
            return model.gemm_e
        # Products that run side by side differ only in n.
        k, width = single_macs / count, n / groups * macs / single_macs
        if kind == GROUPED:
            padded = math.ceil(width / model.grouped_step) * model.grouped_step
            share = model.grouped_e * (width / padded) * (k / (k + model.grouped_k0 * self.loss))
        else:
            assert kind in (GEMM, CONV)
            share = model.gemm_e * self._utilisation(count / n, width, k)
        return max(share, model.utilisation_floor)

    def _utilisation(self, m: float, n: float, k: float) -> float:
        """Return the useful share of the tiles' work, for the best tile shape."""
        model, units = self.model, self.device.units
        best = 0.0
        for rows, columns, tile_efficiency in model.tiles:
            down, across = math.ceil(m / rows), math.ceil(n / columns)
            tiles, depth = down * across, k
            share = tile_efficiency * (m * n) / (down * rows * across * columns)
            if units:
                if tiles < units:
                    split = min(units // tiles, int(k // model.split_k_min), model.split_k_max)
                    if split > 1:
                        tiles, depth = tiles * split, k / split
                share *= tiles / (math.ceil(tiles / units) * units)
            best = max(best, share * depth / (depth + model.gemm_k0 * self.loss))
        return max(best, model.utilisation_floor)

    def _occupancy(self, shape: Shape, kernel: int) -> float:
        """Return the share of units kept busy by blocks of queries."""
        units, sizes = self.device.units, [d for d in shape if isinstance(d, int)]
        blocks = self.kernels.groups[kernel] * math.ceil(sizes[-2] / self.model.attention_rows)
        blocks *= math.prod(sizes[:-2])
        share = min(1.0, blocks / units) if units else 1.0
        return max(share, self.model.utilisation_floor)
