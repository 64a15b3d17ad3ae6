"""The constants of the estimate, and the device properties it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from py_autodoc.hardware.profile import CUSTOM, PRECISIONS, Profile, estimable

ESTIMATE, ROUGH, MAGNITUDE = 0, 1, 2
"""Index into ``LatencyConstants.bands``."""


@dataclass(frozen=True, slots=True)
class Band:
    """Most measured times are between ``low`` and ``high`` times the estimate."""

    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True)
class LatencyConstants:
    """Constants; the class ``LatencyModel`` of the payload has the same fields with documentation.

    Fitted on NVIDIA's published TensorRT times for BERT on one A100 (80 rows); for grouped, depthwise and
    batched products on a published sweep of compiled image models on an RTX 4090; for CPUs on two such
    sweeps.
    """

    gemm_e: float = 1.044
    gemm_k0: float = 265.0
    tiles: tuple[tuple[int, int, float], ...] = (
        (256, 128, 1.0), (128, 128, 0.95), (128, 64, 0.85), (64, 64, 0.7), (64, 32, 0.5), (32, 32, 0.35),
    )  # fmt: skip
    utilisation_floor: float = 0.01
    split_k_min: int = 256
    split_k_max: int = 8
    attention_e: float = 0.213
    attention_rows: int = 64
    attention_precision: tuple[tuple[str, str], ...] = (("int8", "fp16"), ("fp8", "fp16"))
    batched_e: float = 0.5
    grouped_e: float = 0.4
    grouped_k0: float = 64.0
    grouped_step: int = 32
    depthwise_e: float = 0.05
    memory_e: float = 0.773
    l2_fraction: float = 0.5
    l2_bytes_per_clock: float = 32.0
    overhead_s: float = 5.28e-6
    overhead_cycles: float = 7445.0
    issue_s: float = 0.0
    recurrent_kernels: int = 2
    experts_kernels: int = 4
    experts_rows: int = 16
    cpu_gemm_e: float = 0.40
    cpu_conv_e: float = 0.40
    cpu_memory_e: float = 0.28
    cpu_overhead_s: float = 3.0e-5
    widths: tuple[tuple[str, int], ...] = (
        ("fp32", 4), ("tf32", 4), ("fp16", 2), ("bf16", 2), ("fp8", 1), ("int8", 1),
    )  # fmt: skip
    bands: tuple[Band, ...] = (
        Band(0.7, 1.5, "estimate"),
        Band(0.5, 2.0, "rough"),
        Band(0.4, 2.5, "order of magnitude"),
    )
    compared: tuple[str, ...] = ("fp16", "bf16", "int8")
    uncompared_share: float = 0.1


MODEL = LatencyConstants()
POWER_LIMITED = 0.7
"""Sustained share of the peak for power-limited boards without measurements."""


class MeasuredRate(NamedTuple):
    """Measured rates of a CPU, which replace the constants of CPUs: shares of its peak and bandwidth."""

    product: float
    convolution: float
    depthwise: float
    memory: float
    start: float
    """Seconds per kernel."""


@dataclass(frozen=True, slots=True)
class Device:
    """Device properties used by the estimate; units as in ``DeviceColumns`` of the payload."""

    id: str
    name: str
    vendor: str
    category: str
    memory_bytes: int | None
    usable_memory_fraction: float | None
    bandwidth_bytes_per_s: int
    peaks: tuple[int | None, ...]
    """In the order of ``PRECISIONS``."""
    sustained: float
    units: int | None
    l2_bytes: int | None
    clock_hz: int | None
    band: int
    confidence: str
    measured: MeasuredRate | None = None
    watts: float | None = None

    def peak(self, precision: str) -> int | None:
        """Return the FLOP/s, None if unknown."""
        return self.peaks[PRECISIONS.index(precision)]

    def band_in(self, precision: str, model: LatencyConstants, uncompared: float = 0.0) -> Band:
        """Return the band of an estimate; ``uncompared`` is the share of time in never compared kernels.

        If that share is large, or the precision was never compared, the band is at least rough.
        """
        compared = precision in model.compared and uncompared <= model.uncompared_share
        return model.bands[self.band if compared else max(self.band, ROUGH)]


def device(profile: Profile) -> Device | None:
    """Return the device of a profile; None if its bandwidth or all peaks are unknown."""
    if not estimable(profile) or profile.memory_bandwidth_bytes_per_s is None:
        return None
    clock = profile.boost_clock_hz
    return Device(
        id=profile.id,
        name=profile.name,
        vendor=profile.vendor,
        category=profile.category,
        memory_bytes=profile.vram_bytes,
        usable_memory_fraction=profile.usable_memory_fraction,
        bandwidth_bytes_per_s=int(profile.memory_bandwidth_bytes_per_s),
        peaks=tuple(_peak(profile, precision) for precision in PRECISIONS),
        sustained=_sustained(profile),
        units=profile.sm_count,
        l2_bytes=profile.l2_cache_bytes,
        clock_hz=None if clock is None else int(clock),
        band=_band(profile),
        confidence=profile.confidence,
        measured=_measured(profile),
        watts=profile.tdp_watts,
    )


def _measured(profile: Profile) -> MeasuredRate | None:
    """Return the measured rates of a CPU, else those of published times; None without any."""
    peak, bandwidth = profile.peak("fp32"), profile.memory_bandwidth_bytes_per_s
    rates = (
        profile.measured_product_flops,
        profile.measured_convolution_flops,
        profile.measured_depthwise_flops,
    )
    moved, start = profile.measured_bandwidth_bytes_per_s, profile.measured_start_seconds
    if profile.category != "cpu" or not peak or not bandwidth or moved is None or start is None:
        return _published(profile)
    product, convolution, depthwise = (None if rate is None else rate / peak for rate in rates)
    if product is None or convolution is None or depthwise is None:
        return None
    return MeasuredRate(product, convolution, depthwise, moved / bandwidth, start)


def _published(profile: Profile) -> MeasuredRate | None:
    """Return the shares that published times of a CPU give, usual ones for the others; None without any."""
    shares = (
        (profile.product_fraction, MODEL.cpu_gemm_e),
        (profile.convolution_fraction, MODEL.cpu_conv_e),
        (profile.depthwise_fraction, MODEL.cpu_conv_e),
        (profile.bandwidth_fraction, MODEL.cpu_memory_e),
    )
    if profile.category != "cpu" or all(share is None for share, _ in shares):
        return None
    product, convolution, depthwise, memory = (usual if share is None else share for share, usual in shares)
    return MeasuredRate(product, convolution, depthwise, memory, MODEL.cpu_overhead_s)


def _peak(profile: Profile, precision: str) -> int | None:
    """Return FLOP/s. Where fp16 is slower than fp32 (1/64 on some cards), runtimes compute it in fp32."""
    peak, single = profile.peak(precision), profile.peak("fp32")
    if precision == "fp16" and peak is not None and single is not None:
        return max(peak, single)
    return peak


def _sustained(profile: Profile) -> float:
    # Measured CPU rates are efficiencies, which the constants of CPUs already include.
    if profile.category == "cpu":
        return 1.0
    if profile.sustained_compute_fraction is not None:
        return profile.sustained_compute_fraction
    return POWER_LIMITED if profile.power_limited else 1.0


def _band(profile: Profile) -> int:
    """Return the band index: measured NVIDIA devices are known best, other vendors' were never compared.

    The same applies to users' own profiles, whatever they claim.
    """
    if profile.confidence == CUSTOM:
        return MAGNITUDE if profile.measured_start_seconds is None or _measured(profile) is None else ROUGH
    if profile.vendor == "nvidia" and profile.type == "gpu" and profile.sm_count and profile.boost_clock_hz:
        return ESTIMATE if profile.sustained_compute_fraction is not None else ROUGH
    return MAGNITUDE
