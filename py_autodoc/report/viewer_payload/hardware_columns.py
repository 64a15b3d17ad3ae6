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
    others: Sequence[tuple[Runtime, Kernels]] = (),
) -> HardwarePart:
    """Return the data for latency estimates in the viewer; a custom device is listed last.

    ``others`` are the kernels in other runtimes.
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
                id=one.id,
                label=one.label,
                overhead_s=one.overhead_s,
                overhead_cycles=one.overhead_cycles,
                issue_s=one.issue_s,
                compared=list(one.compared),
                kernels=_kernels(found),
            )
            for one, found in others
        ],
    )


@lru_cache(maxsize=1)
def _devices() -> tuple[Device, ...]:
    return tuple(found for found in map(device, profiles()) if found is not None)


@lru_cache(maxsize=1)
def device_columns() -> DeviceColumns:
    """Return the packaged devices, read once per process."""
    return _columns(_devices())


def _columns(devices: tuple[Device, ...]) -> DeviceColumns:
    return DeviceColumns(
        id=[one.id for one in devices],
        name=[one.name for one in devices],
        vendor=[one.vendor for one in devices],
        category=[one.category for one in devices],
        memory_bytes=[one.memory_bytes for one in devices],
        usable_memory_fraction=[one.usable_memory_fraction for one in devices],
        bandwidth_bytes_per_s=[one.bandwidth_bytes_per_s for one in devices],
        peaks={name: [one.peak(name) for one in devices] for name in PRECISIONS},
        sustained=[one.sustained for one in devices],
        units=[one.units for one in devices],
        l2_bytes=[one.l2_bytes for one in devices],
        clock_hz=[one.clock_hz for one in devices],
        band=[one.band for one in devices],
        confidence=[one.confidence for one in devices],
        measured={str(at): list(one.measured) for at, one in enumerate(devices) if one.measured is not None},
        watts=[one.watts for one in devices],
        prices={str(at): price for at, one in enumerate(devices) if (price := _price(one)) is not None},
    )


def _price(one: Device) -> DevicePrice | None:
    rented = of_device(one.id)
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


def _kernels(found: Kernels) -> KernelColumns:
    read_offsets, reads = to_csr(found.reads)
    write_offsets, writes = to_csr(found.writes)
    return KernelColumns(
        node=found.node,
        kind=found.kind,
        anchor=found.anchor,
        read_offsets=read_offsets,
        reads=reads,
        write_offsets=write_offsets,
        writes=writes,
        product=found.product,
        n_axis=found.n_axis,
        groups=found.groups,
        routed=[
            RoutedKernels(
                router=one.router,
                chosen=one.chosen,
                dims=list(one.dims),
                kernels=list(one.kernels),
                macs=list(one.macs),
                depth=list(one.depth),
            )
            for one in found.routed
        ],
    )
