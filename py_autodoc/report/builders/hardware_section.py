"""The ``hardware_estimates`` of the report: latency and memory of the model on the chosen device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.graph.ir.model import Model, TensorKind
from py_autodoc.hardware.cloud import of_device
from py_autodoc.hardware.estimate_inputs import FLOATS, EstimateInputs, tensor_bytes
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.kernel_products import EXPERTS
from py_autodoc.hardware.latency_estimate import BOTTLENECKS, Estimate, KernelTime, estimate
from py_autodoc.hardware.latency_model import MODEL, Device
from py_autodoc.hardware.profile import PRECISIONS
from py_autodoc.report.encode.labels import node_label, shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.report.pipeline.device_choice import DeviceChoice, precision_in, stored_precisions
from py_autodoc.report.schema import HardwareEstimates, LayerLatency
from py_autodoc.units import plural

WORKSPACE = 0.1
"""Workspace as a share of weights and activations; it varies with runtimes and their choice of algorithms."""
_MAX_NAMES = 3
"""Maximum number of names or reasons in one line."""


def hardware_estimates(analysis: Analysis) -> HardwareEstimates | None:
    """Return latency and memory on the chosen device; None if none was chosen."""
    chosen = analysis.hardware
    if chosen is None:
        return None
    model = estimate_inputs(analysis)
    stored = stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs)
    precision = precision_in(chosen.device, chosen.precision, stored)
    requested = precision or chosen.precision or stored[0]
    latency, reason = _estimate(analysis, model, chosen, precision, requested)
    required = required_bytes(analysis, model, precision)
    available = available_bytes(chosen.device)
    hourly, price_source = _price(chosen)
    return HardwareEstimates(
        device=chosen.device.id,
        device_name=chosen.device.name,
        precision=precision,
        runtime=chosen.runtime.id,
        batch_size=batch_of(analysis),
        estimated_latency_ms=_ms(latency.seconds if latency else None),
        latency_low_ms=_ms(latency.low if latency else None),
        latency_high_ms=_ms(latency.high if latency else None),
        label=latency.label if latency else "",
        theoretical_latency_ms=_ms(latency.ideal if latency else None),
        compute_utilization_estimate=latency.utilization if latency else None,
        bottleneck=latency.bottleneck if latency else "",
        kernels=len(analysis.kernels.kind) if analysis.kernels else 0,
        unknown_kernels=latency.unknown if latency else 0,
        vram_required_bytes=required,
        vram_bytes=available,
        fits_in_vram=None if required is None or available is None else required <= available,
        layers=_layers(analysis.model, analysis.kernels, latency) if analysis.kernels and latency else [],
        reason=reason,
        assumption=_assumption(analysis.kernels) if latency else "",
        usd_per_hour=hourly,
        price_source=price_source,
        usd_per_million_inferences=(
            None
            if hourly is None or latency is None or latency.seconds is None or latency.unknown
            else hourly / 3600 * latency.seconds * 1e6
        ),
    )


def _price(chosen: DeviceChoice) -> tuple[float | None, str]:
    """Return dollars per hour, and where they are from; (None, "") without a price."""
    if chosen.usd_per_hour is not None:
        return chosen.usd_per_hour, "as given"
    rented = of_device(chosen.device.id)
    if rented is None:
        return None, ""
    return rented.approx_on_demand_usd_per_hour, f"{rented.id}, {rented.region}, {rented.price_date}"


def _estimate(
    analysis: Analysis, model: EstimateInputs, chosen: DeviceChoice, precision: str, requested: str
) -> tuple[Estimate | None, str]:
    """Return the estimate, and the reason why it is missing or incomplete."""
    device = chosen.device
    if analysis.contradiction is not None:
        return None, analysis.contradiction.reason
    kernels = analysis.kernels
    if kernels is None:
        return None, "the kernels of the model could not be determined"
    if not precision:
        available = ", ".join(name for name in PRECISIONS if device.peak(name))
        return None, f"{device.name} has no published {requested} rate; it has {available}"
    latency = estimate(kernels, model, device, precision, chosen.runtime.model)
    if not kernels.kind:
        return latency, "nothing of this model runs: all of it is constant, or only looks at its inputs"
    return latency, _unknown_reason(analysis, kernels, model, latency)


def _unknown_reason(analysis: Analysis, kernels: Kernels, model: EstimateInputs, latency: Estimate) -> str:
    """Return why kernels have no time, most frequent reasons first; empty if all have one."""
    unbound = [symbol.name for symbol in analysis.dims.symbols if symbol.value is None]
    unsized = f"of unknown size (bind {_list_names(unbound)})" if unbound else "of unknown size"
    reasons, operators = Counter[str](), Counter[str]()
    for kernel, time in enumerate(latency.kernels):
        if time is not None:
            continue
        anchor = kernels.anchor[kernel]
        if kernels.kind[kernel] < 0:
            operators[analysis.model.nodes[anchor].op_type] += 1
        elif model.repeat.get(anchor, 1) is None:
            reasons["in a loop whose number of runs is unknown"] += 1
        else:
            reasons[unsized] += 1
    if operators:
        names = _list_names([name for name, _ in operators.most_common()])
        reasons[f"without a rule ({names})"] = operators.total()
    return "; ".join(f"{plural(count, 'kernel')} {reason}" for reason, count in reasons.most_common())


def _assumption(kernels: Kernels | None) -> str:
    """Return the assumption made about sizes that depend on the data."""
    if kernels is None:
        return ""
    routed_kernels = sum(len(routing.kernels) for routing in kernels.routed) + kernels.kind.count(EXPERTS)
    return (
        f"tokens are distributed evenly over the experts ({plural(routed_kernels, 'kernel')})"
        if routed_kernels
        else ""
    )


def _list_names(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    omitted_text = [f"{len(names) - _MAX_NAMES:,} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([shorten_middle(name, 40) for name in names[:_MAX_NAMES]] + omitted_text)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _layers(model: Model, kernels: Kernels, latency: Estimate) -> list[LayerLatency]:
    def layer_latency(kernel: int, time: KernelTime | None) -> LayerLatency:
        anchor = kernels.anchor[kernel]
        return LayerLatency(
            layer=anchor,
            name=node_label(model.nodes[anchor]),
            layers=sorted(kernels.members[kernel]),
            latency_ms=_ms(time.seconds if time else None),
            bottleneck=BOTTLENECKS[time.bound] if time else "",
        )

    return [layer_latency(kernel, time) for kernel, time in enumerate(latency.kernels)]


def batch_of(analysis: Analysis) -> int | None:
    """Return the items per inference: the dimension named batch, else the first of the first input."""
    named = [symbol for symbol in analysis.dims.symbols if "batch" in symbol.name.lower()]
    if len(named) == 1:
        return named[0].value
    for tensor in analysis.model.graphs[0].inputs:
        if analysis.model.tensors[tensor].kind is TensorKind.INPUT:
            shape = analysis.types.shapes[tensor]
            first = shape[0] if shape else None
            return first if isinstance(first, int) else None
    return None


# ------------------------------------------------------------------ memory


def available_bytes(device: Device) -> int | None:
    """Return the device memory usable by a model, in bytes; None if unknown."""
    if device.memory_bytes is None:
        return None
    return int(device.memory_bytes * (device.usable_memory_fraction or 1.0))


def required_bytes(analysis: Analysis, model: EstimateInputs, precision: str) -> int | None:
    """Return the bytes of weights and peak activations, with floats in the width of the precision.

    None if a size is unknown. ``requiredBytes`` in the viewer implements the same rule.
    """
    peak = analysis.peak
    return (
        None if peak is None else compute_required_bytes(peak.inplace, analysis.sizes.bytes, model, precision)
    )


def compute_required_bytes(
    peak: int | None, stored_bytes: Sequence[int | None], model: EstimateInputs, precision: str
) -> int | None:
    """Compute ``required_bytes`` from the peak of live activations and each tensor's stored bytes."""
    if not precision or peak is None:
        return None
    width = dict(MODEL.widths)[precision]
    weights = stored = converted = 0
    for number, (dtype, as_stored) in enumerate(zip(model.dtypes, stored_bytes, strict=True)):
        size = tensor_bytes(model, number, width)
        if model.weight[number]:
            if size is None and dtype in FLOATS:
                return None
            weights += size or 0
        elif as_stored is not None and size is not None:
            stored += as_stored
            converted += size
    # Order, not width, decides which tensors are live at the peak: the peak shrinks as the total does.
    activations = peak * converted // stored if stored else peak
    return int((weights + activations) * (1 + WORKSPACE))
