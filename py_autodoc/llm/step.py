"""Times of prefill and decode on one or several devices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from py_autodoc.hardware.kernel_fusion import CORE
from py_autodoc.hardware.latency_estimate import Estimate, start_seconds
from py_autodoc.hardware.latency_model import ESTIMATE, MODEL, ROUGH, Band, Device
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.llm import formulas
from py_autodoc.llm.decoder import WIDTHS, Decoder
from py_autodoc.llm.links import DeviceLink

COMPARED_PROMPT = 512
"""Maximum number of tokens for which kernel estimates were compared with measurements, with some margin."""
MEASURED_CONTEXT = 2048
"""Maximum number of tokens for which decode steps of one sequence were compared with measurements."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A decoder in one precision on ``tensor`` · ``stages`` devices, connected by ``link``."""

    decoder: Decoder
    device: Device
    precision: str
    tensor: int = 1
    stages: int = 1
    link: DeviceLink | None = None
    runtime: Runtime = TENSORRT
    kernels: int | None = None
    """Kernels per pass that the host launches one by one; None if unknown."""
    launches: Callable[[int], float | None] | None = None
    """Kernels that a pass of so many tokens launches; None: ``formulas.LAYER_KERNELS`` per layer."""

    def starting(self, tokens: int) -> float:
        """Return the launch overhead of a pass in seconds, by the rule of ``analyze``."""
        count = None if self.launches is None else self.launches(tokens)
        if count is None:
            count = self.decoder.layers * formulas.LAYER_KERNELS
        return count * start_seconds(self.device, self.runtime.model)

    @property
    def issuing(self) -> float:
        """Seconds the host takes to launch the kernels of a pass, ahead of the device."""
        return 0.0 if self.device.category == "cpu" else (self.kernels or 0) * self.runtime.issue_s

    @property
    def speed(self) -> float:
        """Bytes per second that a pass reads."""
        share = MODEL.cpu_memory_e if self.device.category == "cpu" else formulas.DECODE_BANDWIDTH
        if self.device.measured is not None:
            share = self.device.measured.memory
        return self.device.bandwidth_bytes_per_s * share

    @property
    def width(self) -> int:
        """Bytes per float element."""
        return WIDTHS[self.precision]

    @property
    def peak(self) -> float:
        """FLOP/s that the device sustains."""
        return float(self.device.peak(self.precision) or 0) * self.device.sustained

    @property
    def full_peak(self) -> float:
        """FLOP/s of the device at best."""
        return float(self.device.peak(self.precision) or 0)

    @property
    def share(self) -> float:
        """Share of the weights on the device that holds most."""
        return formulas.stage_share(self.decoder.layers, self.stages) / self.tensor

    @property
    def cache_share(self) -> float:
        """Share of keys and values on the device that holds most; a head is not split across devices."""
        split = min(self.tensor, self.decoder.kv_heads or self.tensor)
        return formulas.stage_share(self.decoder.layers, self.stages) / split


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds, their likely range, and the share spent on communication between devices."""

    seconds: float
    low: float
    high: float
    label: str
    bound: str
    exchange: float = 0.0


def decode_time(setup: Setup, batch: int, context: int) -> Time | None:
    """Return the time of one token for ``batch`` sequences of ``context`` tokens; None without a known link.

    Weights are read once, and keys and values of every sequence, at 0.85 of the bandwidth; products take at
    least their FLOPs at half of the peak; kernel launches add overhead, in eager mode overlapped with earlier
    kernels; each layer waits for two all-reduces. Pipeline stages process equal parts of the batch in turn.
    """
    decoder, device = setup.decoder, setup.device
    parts = min(setup.stages, batch)
    rows = math.ceil(batch / parts)
    weights = decoder.read(setup.width, rows) / setup.tensor
    flops = 2 * (decoder.active or 0) * rows / setup.tensor
    split = min(setup.tensor, decoder.kv_heads or setup.tensor)
    cached = rows * decoder.cached(context, setup.width) / split
    reading, caches = weights / setup.speed, cached / setup.speed
    computing = flops / (setup.peak * formulas.PREFILL_SHARE)
    starting = setup.starting(rows)
    work = max(reading, computing) + caches + starting
    if setup.issuing > work:
        work = starting = setup.issuing
    waits = hops = 0.0
    if setup.tensor > 1 or setup.stages > 1:
        if setup.link is None or decoder.hidden is None:
            return None
        size = rows * decoder.hidden * setup.width
        reduce = formulas.all_reduce_seconds(setup.tensor, size, setup.link.bandwidth, setup.link.start)
        waits = formulas.ALL_REDUCES * decoder.layers * reduce
        if setup.stages > 1:
            hop = setup.link.start + size / setup.link.bandwidth
            hops = (setup.stages if parts > 1 else setup.stages - 1) * hop
    uneven = formulas.stage_share(decoder.layers, setup.stages) * setup.stages
    total = (work + waits) * uneven
    if decoder.weight_only:
        total /= formulas.WEIGHT_ONLY
    seconds = total + hops
    bounds = {
        "memory_bandwidth": caches + (reading if reading >= computing else 0),
        "compute": computing if computing > reading else 0,
        "kernel_overhead": starting,
        "interconnect": waits + hops,
    }
    band = _decode_band(setup, batch, context)
    exchange = (waits * uneven + hops) / seconds
    bound = max(bounds, key=lambda name: bounds[name])
    bandwidth = device.bandwidth_bytes_per_s
    ideal = uneven * (max(weights / bandwidth, flops / setup.full_peak) + cached / bandwidth)
    return Time(seconds, max(seconds * band.low, ideal), seconds * band.high, band.label, bound, exchange)


def compute_bound_batch(setup: Setup, context: int, most: int) -> int | None:
    """Return the smallest batch up to ``most`` whose decode step is bound by arithmetic; None without one.

    From that batch on every step is: arithmetic grows with the batch at least as fast as all else.
    """

    def computes(batch: int) -> bool:
        time = decode_time(setup, batch, context)
        return time is not None and time.bound == "compute"

    if not computes(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if computes(middle) else (middle, high)
    return high


def _decode_band(setup: Setup, batch: int, context: int) -> Band:
    """Return the band that gpt-fast's rates support: one sequence, 16 bits, well-known NVIDIA devices."""
    device = setup.device
    joined = setup.link is None or setup.link.compared
    measured = (
        device.band == ESTIMATE and setup.precision in ("fp16", "bf16") and joined and setup.stages == 1
    )
    measured = measured and setup.runtime.chains
    if measured and batch == 1 and context <= MEASURED_CONTEXT:
        return Band(0.7, 1.3, "estimate") if setup.decoder.weight_only else Band(0.85, 1.15, "estimate")
    if measured:
        return MODEL.bands[ESTIMATE]
    return MODEL.bands[max(device.band, ROUGH)]


def of_long_prompt(estimate: Estimate, kinds: Sequence[int], setup: Setup) -> Estimate:
    """Adjust the estimate of a prompt that is longer than those compared with measurements.

    Causal attention skips half of the scores, and kernels for long sequences reach more of the peak than the
    short ones that the attention constant was fitted on: half of its FLOPs at half of the attention peak.
    CPUs keep their measured rates.
    """
    device = setup.device
    if estimate.seconds is None or device.category == "cpu":
        return estimate
    band = MODEL.bands[max(device.band, ROUGH)]
    if estimate.seconds <= setup.issuing * (1 + 1e-9):
        return replace(estimate, label=band.label)  # the host is the bottleneck, however fast attention is
    attention_precision = dict(MODEL.attention_precision).get(setup.precision, setup.precision)
    peak = float(device.peak(attention_precision) or 0) * device.sustained or setup.peak
    seconds = ideal = 0.0
    for kind, time in zip(kinds, estimate.kernels, strict=True):
        if time is None:
            continue
        if kind != CORE:
            seconds, ideal = seconds + time.seconds, ideal + time.ideal
            continue
        start = time.seconds - max(time.compute, time.memory)
        computing = time.flops / 2 / (peak * formulas.PREFILL_SHARE)
        seconds += max(computing, time.memory) + start
        ideal += min(time.ideal, computing)
    seconds = max(seconds, setup.issuing)
    return replace(
        estimate,
        seconds=seconds,
        low=max(seconds * band.low, ideal),
        high=seconds * band.high,
        ideal=ideal,
        label=band.label,
    )


def prefill_time(
    setup: Setup, batch: int, prompt: int, flops: int | None, estimate: Estimate | None
) -> Time | None:
    """Return the time of one prompt per sequence, all at once: the estimate, or FLOPs at half of the peak.

    On several devices the work is divided and each layer waits for two all-reduces; stages process one
    sequence after another. None if neither the estimate nor the FLOPs are known, or the link is unknown.
    """
    decoder = setup.decoder
    if (
        estimate is not None
        and estimate.seconds is not None
        and estimate.low is not None
        and estimate.high is not None
    ):
        single = Time(estimate.seconds, estimate.low, estimate.high, estimate.label, estimate.bottleneck)
    elif flops is not None:
        weights = decoder.read(setup.width, batch * prompt)
        computing = flops / (setup.peak * formulas.PREFILL_SHARE)
        reading = weights / setup.speed
        band = MODEL.bands[max(setup.device.band, ROUGH)]
        seconds = max(computing, reading)
        starting = max(setup.starting(batch * prompt), setup.issuing - seconds)
        bound = "compute" if computing >= reading else "memory_bandwidth"
        bound = bound if seconds >= starting else "kernel_overhead"
        seconds += starting
        ideal = max(flops / setup.full_peak, weights / setup.device.bandwidth_bytes_per_s)
        single = Time(seconds, max(seconds * band.low, ideal), seconds * band.high, band.label, bound)
    else:
        return None
    if setup.tensor == 1 and setup.stages == 1:
        return single
    if setup.link is None or decoder.hidden is None:
        return None
    size = batch * prompt * decoder.hidden * setup.width
    link = setup.link
    # Every device launches all kernels of its layers, for every sequence that passes a pipeline.
    starting = min(setup.starting(batch * prompt), single.seconds)
    reduce = formulas.all_reduce_seconds(setup.tensor, size, link.bandwidth, link.start)
    waits = formulas.ALL_REDUCES * decoder.layers * reduce
    passes = batch if setup.stages > 1 else 1
    split = (single.seconds - starting) / setup.tensor + passes * starting + waits
    stage = split * formulas.stage_share(decoder.layers, setup.stages)
    hop = link.start + size / batch / link.bandwidth if setup.stages > 1 else 0.0
    seconds = formulas.pipeline_seconds(stage, setup.stages, batch, hop)
    band = MODEL.bands[max(setup.device.band, ROUGH)]
    hops = (setup.stages - 1) * hop / seconds
    exchange = waits / split * (1 - hops) + hops
    bound = "interconnect" if exchange > 0.5 else single.bound
    reading = decoder.read(setup.width, batch * prompt) / setup.device.bandwidth_bytes_per_s / setup.tensor
    computing = (flops or 0) / setup.full_peak / setup.tensor
    share = formulas.stage_share(decoder.layers, setup.stages)
    ideal = formulas.pipeline_seconds(max(reading, computing) * share, setup.stages, batch, 0.0)
    return replace(
        single,
        seconds=seconds,
        low=max(seconds * band.low, ideal),
        high=seconds * band.high,
        label=band.label,
        bound=bound,
        exchange=exchange,
    )
