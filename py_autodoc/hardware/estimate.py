"""How long a device takes for the kernels of a model: a roofline a kernel, plus its start.

    seconds = Σ repeat · (max(FLOPs / (peak · sustained · e), bytes / (bandwidth · e)) + start)

The constants and their sources are in ``docs/hardware.md``. ``src/core/latency*.ts`` is the same rule for
the viewer; ``tests/data/latency_cases.json`` holds both to the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from py_autodoc.costs.engine import MAX_NUMBER
from py_autodoc.graph.model import Shape
from py_autodoc.graph.values import BITS
from py_autodoc.hardware.kernels import Kernels
from py_autodoc.hardware.model import Device, LatencyModel
from py_autodoc.hardware.products import BATCHED, CONV, CORE, DEPTHWISE, GEMM, GROUPED

FLOATS = frozenset({1, 10, 11, 16})
"""Element types that a runtime converts to the precision: float32, float16, double, bfloat16."""


BOTTLENECKS = {"compute": "compute", "memory": "memory_bandwidth", "overhead": "kernel_overhead"}
"""What bounds a kernel → how the report calls it."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A model at certain sizes: by tensor and, ``macs`` and ``repeat``, by node."""

    shapes: Sequence[Shape | None]
    dtypes: Sequence[int]
    weight: Sequence[bool]
    """Initializers and constants, which no cache holds from one run to the next."""
    producer: Sequence[int]
    macs: Sequence[int | None]
    """Of one execution."""
    repeat: Mapping[int, int | None] = field(default_factory=dict)
    """Executions in one inference where that is not 1; None is unknown."""


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
    """Seconds of one inference. ``seconds`` sums the known kernels; None when none is known."""

    seconds: float | None
    low: float | None
    """The band around it, of the known kernels as well; never below ``ideal``."""
    high: float | None
    ideal: float | None
    """At the device's full rates, without starts; faster only with weights that a cache still holds."""
    label: str
    bottleneck: str
    """What takes most of the time: compute, memory_bandwidth or kernel_overhead."""
    utilization: float | None
    """FLOPs of products over what the device could do in that time."""
    kernels: tuple[KernelTime | None, ...]
    unknown: int
    """Kernels without a time."""


def estimate(kernels: Kernels, sized: Sized, device: Device, precision: str, model: LatencyModel) -> Estimate:
    """The latency of a model on a device that has a peak for ``precision``.

    Raises: ValueError when it has none.
    """
    if device.peak(precision) is None:
        raise ValueError(f"{device.name} has no {precision} rate")
    clock = _Clock(kernels, sized, device, precision, model)
    times = tuple(map(clock.kernel, range(len(kernels.kind))))
    known = [time for time in times if time is not None]
    band = device.band_in(precision, model)
    seconds = math.fsum(time.seconds for time in known) if known else None
    ideal = math.fsum(time.ideal for time in known)
    return Estimate(
        seconds=seconds,
        low=None if seconds is None else max(seconds * band.low, ideal),
        high=None if seconds is None else seconds * band.high,
        ideal=None if seconds is None else ideal,
        label=band.label,
        bottleneck=_bottleneck(known),
        utilization=_utilization(known, seconds, clock.peak),
        kernels=times,
        unknown=len(times) - len(known),
    )


def _bottleneck(known: Sequence[KernelTime]) -> str:
    shares = {bound: sum(t.seconds for t in known if t.bound == bound) for bound in BOTTLENECKS}
    best = max(shares, key=lambda bound: shares[bound])
    return BOTTLENECKS[best] if shares[best] else ""


def _utilization(known: Sequence[KernelTime], seconds: float | None, peak: float) -> float | None:
    return min(1.0, sum(t.flops for t in known) / (peak * seconds)) if seconds else None


class _Clock:
    def __init__(
        self, kernels: Kernels, sized: Sized, device: Device, precision: str, model: LatencyModel
    ) -> None:
        self.kernels, self.sized, self.device, self.model = kernels, sized, device, model
        self.width = dict(model.widths)[precision]
        self.peak = float(device.peak(precision) or 0)
        own = dict(model.attention_precision).get(precision, precision)
        self.attention_peak = float(device.peak(own) or self.peak)
        self.vector_peak = float(device.peak("fp32") or self.peak)
        self.cpu = device.category == "cpu"

    def kernel(self, kernel: int) -> KernelTime | None:
        """Seconds of a kernel; None when a size is unknown or there is no rule for it."""
        kind = self.kernels.kind[kernel]
        traffic = self._traffic(kernel)
        times = self.sized.repeat.get(self.kernels.anchor[kernel], 1)
        if kind < 0 or traffic is None or times is None or times > MAX_NUMBER:
            return None
        flops, rate, top = 0, 1.0, 1.0
        if kind:
            macs = self._macs(kernel)
            numbers = None if macs is None else self._rate(kernel, macs)
            if macs is None or numbers is None:
                return None
            flops, (rate, top) = 2 * macs, numbers
        compute, moved = flops / rate, self._moved(*traffic)
        memory = moved / (self.model.cpu_memory_e if self.cpu else self.model.memory_e)
        overhead = self.model.cpu_overhead_s if self.cpu else self.model.overhead_s
        ideal = max(flops / top, moved)
        bound = max(("compute", compute), ("memory", memory), ("overhead", overhead), key=lambda x: x[1])[0]
        return KernelTime(
            times * (max(compute, memory) + overhead), times * compute, times * memory,
            times * ideal, bound, times * flops,
        )  # fmt: skip

    def _macs(self, kernel: int) -> int | None:
        total = 0
        for node in self.kernels.members[kernel]:
            macs = self.sized.macs[node]
            if macs is None:
                return None
            total += macs
        return total

    def _product_macs(self, kernel: int) -> int | None:
        """MACs of the node that makes the kernel's product."""
        return self.sized.macs[self.sized.producer[self.kernels.product[kernel]]]

    # ------------------------------------------------------------------ memory

    def _traffic(self, kernel: int) -> tuple[int, int] | None:
        """(bytes of weights, bytes of activations) of one execution."""
        sums = [0, 0]
        for tensor in (*self.kernels.reads[kernel], *self.kernels.writes[kernel]):
            size = tensor_bytes(self.sized, tensor, self.width)
            if size is None:
                return None
            sums[0 if self.sized.weight[tensor] else 1] += size
        return sums[0], sums[1]

    def _moved(self, weights: int, activations: int) -> float:
        """Seconds to move so many bytes at full speed: what fits into half of the L2 cache moves at its."""
        device, model = self.device, self.model
        speed = cached = float(device.bandwidth_bytes_per_s)
        rate = 0 if self.cpu else (device.units or 0) * (device.clock_hz or 0)
        if rate and activations <= model.l2_fraction * (device.l2_bytes or 0):
            cached = max(speed, model.l2_bytes_per_clock * rate)
        return weights / speed + activations / cached

    # ------------------------------------------------------------------ products

    def _rate(self, kernel: int, macs: int) -> tuple[float, float] | None:
        """(FLOP/s that the kernel reaches, those of the peak); None when its sizes are unknown."""
        kind, model = self.kernels.kind[kernel], self.model
        shape = self.sized.shapes[self.kernels.product[kernel]]
        count = elements(shape)
        if shape is None or count is None or self.kernels.n_axis[kernel] >= len(shape):
            return None
        held = self.device.sustained
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
            share = model.cpu_conv_e if kind in (CONV, GROUPED, DEPTHWISE) else model.cpu_gemm_e
            top = self.peak
        # Efficiencies were fitted on sustained rates; where none was measured they may exceed the peak.
        return top * min(1.0, held * share), top

    def _share(self, kind: int, kernel: int, shape: Shape, count: int, macs: int) -> float:
        """Share of the peak that a product of m × n over k reaches."""
        axis, groups, model = self.kernels.n_axis[kernel], self.kernels.groups[kernel], self.model
        n = shape[axis]
        assert isinstance(n, int)  # elements() said so
        if not count or not macs:
            return model.gemm_e
        one = self._product_macs(kernel)
        if not one:
            return model.gemm_e
        # Products side by side differ in n alone.
        k, width = one / count, n / groups * macs / one
        if kind == GROUPED:
            padded = math.ceil(width / model.grouped_step) * model.grouped_step
            share = model.grouped_e * (width / padded) * (k / (k + model.grouped_k0))
        else:
            assert kind in (GEMM, CONV)
            share = model.gemm_e * self._utilisation(count / n, width, k)
        return max(share, model.utilisation_floor)

    def _utilisation(self, m: float, n: float, k: float) -> float:
        """Share of the tiles' time that is work: the best tile."""
        model, units = self.model, self.device.units
        best = 0.0
        for rows, columns, own in model.tiles:
            down, across = math.ceil(m / rows), math.ceil(n / columns)
            tiles, depth = down * across, k
            share = own * (m * n) / (down * rows * across * columns)
            if units:
                if tiles < units:
                    split = min(units // tiles, int(k // model.split_k_min), model.split_k_max)
                    if split > 1:
                        tiles, depth = tiles * split, k / split
                share *= tiles / (math.ceil(tiles / units) * units)
            best = max(best, share * depth / (depth + model.gemm_k0))
        return max(best, model.utilisation_floor)

    def _occupancy(self, shape: Shape, kernel: int) -> float:
        """Share of the units that blocks of queries keep busy."""
        units, known = self.device.units, [d for d in shape if isinstance(d, int)]
        blocks = self.kernels.groups[kernel] * math.ceil(known[-2] / self.model.attention_rows)
        blocks *= math.prod(known[:-2])
        share = min(1.0, blocks / units) if units else 1.0
        return max(share, self.model.utilisation_floor)


def tensor_bytes(sized: Sized, tensor: int, width: int) -> int | None:
    """Bytes of a tensor, ``width`` an element of a float one; None when its size or type is unknown."""
    count = elements(sized.shapes[tensor])
    dtype = sized.dtypes[tensor]
    if count is None:
        return None
    if dtype in FLOATS:
        return count * width
    bits = BITS.get(dtype)
    return None if bits is None else (count * bits + 7) // 8


def elements(shape: Shape | None) -> int | None:
    """Number of elements; None when a size is no number, or the product beyond all models."""
    if shape is None:
        return None
    count = 1
    for size in shape:
        if not isinstance(size, int) or size < 0:
            return None
        count *= size
    return count if count <= MAX_NUMBER else None
