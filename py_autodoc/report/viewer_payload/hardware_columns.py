"""The hardware part of the payload: devices, constants, and the kernels of the analysed model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from py_autodoc.hardware.cloud import of_device
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.latency_model import Device, device
from py_autodoc.hardware.profile import PRECISIONS, profiles
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.report.encode.csr_rows import to_csr
from py_autodoc.report.pipeline.device_choice import DeviceChoice
from py_autodoc.report.schema import (
    DeviceColumns,
    DevicePrice,
    ElementKernel,
    HardwarePart,
    KernelColumns,
    LatencyBand,
    LatencyModel,
    RoutedKernels,
    RuntimeKernels,
)


def hardware_part(
    kernels: Kernels,
    stored: list[str],
    chosen: DeviceChoice | None,
    alternatives: Sequence[tuple[Runtime, Kernels]] = (),
) -> HardwarePart:
    """Return the data for latency estimates in the viewer; a custom device is listed last.

    ``alternatives`` are the kernels in other runtimes.
    """
    devices = device_columns()
    if chosen is not None and chosen.device.id not in devices.id:
        devices = _columns((*_devices(), chosen.device))
    runs = TENSORRT if chosen is None else chosen.runtime
    return HardwarePart(
        devices=devices,
        model=latency_model(runs),
        kernels=_kernels(kernels),
        stored=stored,
        chosen="" if chosen is None else chosen.device.id,
        precision="" if chosen is None else chosen.precision,
        runtime=runs.id,
        runtime_label=runs.label,
        runtimes=[
            RuntimeKernels(
                id=runtime.id,
                label=runtime.label,
                overhead_s=runtime.overhead_s,
                overhead_cycles=runtime.overhead_cycles,
                issue_s=runtime.issue_s,
                compared=list(runtime.compared),
                kernels=_kernels(runtime_kernels),
            )
            for runtime, runtime_kernels in alternatives
        ],
    )


@lru_cache(maxsize=1)
def _devices() -> tuple[Device, ...]:
    return tuple(known_device for known_device in map(device, profiles()) if known_device is not None)


@lru_cache(maxsize=1)
def device_columns() -> DeviceColumns:
    """Return the packaged devices, read once per process."""
    return _columns(_devices())


def _columns(devices: tuple[Device, ...]) -> DeviceColumns:
    return DeviceColumns(
        id=[device.id for device in devices],
        name=[device.name for device in devices],
        vendor=[device.vendor for device in devices],
        category=[device.category for device in devices],
        memory_bytes=[device.memory_bytes for device in devices],
        usable_memory_fraction=[device.usable_memory_fraction for device in devices],
        bandwidth_bytes_per_s=[device.bandwidth_bytes_per_s for device in devices],
        peaks={name: [device.peak(name) for device in devices] for name in PRECISIONS},
        sustained=[device.sustained for device in devices],
        units=[device.units for device in devices],
        l2_bytes=[device.l2_bytes for device in devices],
        clock_hz=[device.clock_hz for device in devices],
        band=[device.band for device in devices],
        confidence=[device.confidence for device in devices],
        measured={
            str(index): list(device.measured)
            for index, device in enumerate(devices)
            if device.measured is not None
        },
        watts=[device.watts for device in devices],
        prices={
            str(index): price for index, device in enumerate(devices) if (price := _price(device)) is not None
        },
    )


def _price(device: Device) -> DevicePrice | None:
    rented = of_device(device.id)
    price = None if rented is None else rented.approx_on_demand_usd_per_hour
    if rented is None or price is None:
        return None
    return DevicePrice(usd_per_hour=price, instance=rented.id, region=rented.region, date=rented.price_date)


@lru_cache(maxsize=8)
def latency_model(runtime: Runtime = TENSORRT) -> LatencyModel:
    """Return the constants in wire format: pairs become objects, tuples lists."""
    model = runtime.model
    values = {name: getattr(model, name) for name in LatencyModel.__struct_fields__}
    return LatencyModel(
        **{
            **values,
            "tiles": [[float(number) for number in tile] for tile in model.tiles],
            "attention_precision": dict(model.attention_precision),
            "widths": dict(model.widths),
            "compared": list(model.compared),
            "bands": [LatencyBand(low=b.low, high=b.high, label=b.label) for b in model.bands],
        }
    )


def _kernels(kernels: Kernels) -> KernelColumns:
    read_offsets, reads = to_csr(kernels.reads)
    write_offsets, writes = to_csr(kernels.writes)
    return KernelColumns(
        node=kernels.node,
        kind=kernels.kind,
        anchor=kernels.anchor,
        read_offsets=read_offsets,
        reads=reads,
        write_offsets=write_offsets,
        writes=writes,
        product=kernels.product,
        n_axis=kernels.n_axis,
        groups=kernels.groups,
        routed=[
            RoutedKernels(
                router=routing.router,
                chosen=routing.chosen,
                dims=list(routing.dims),
                kernels=list(routing.kernels),
                macs=list(routing.macs),
                depth=list(routing.depth),
            )
            for routing in kernels.routed
        ],
        by_element=[
            ElementKernel(kernel=kernel, tensor=slow.tensor, picoseconds=slow.picoseconds)
            for kernel, entries in sorted(kernels.by_element.items())
            for slow in entries
        ],
    )
