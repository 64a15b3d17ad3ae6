"""Estimated seconds per node, from a payload alone: the field ``latency`` of queries."""

from __future__ import annotations

from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.hardware.estimate_inputs import EstimateInputs
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import Device, MeasuredRate
from py_autodoc.hardware.profile import PRECISIONS
from py_autodoc.hardware.routed import RoutedExperts
from py_autodoc.hardware.runtimes import runtime
from py_autodoc.report.encode.csr_rows import from_csr
from py_autodoc.report.encode.labels import dtype_number
from py_autodoc.report.pipeline.device_choice import precision_in
from py_autodoc.report.schema import DeviceColumns, GraphPayload, KernelColumns


def node_seconds(payload: GraphPayload) -> list[float | None]:
    """Return the seconds per node on the chosen device; a kernel's time is stored at its anchor.

    None where unknown, and everywhere if no device was chosen or it lacks the precision.
    """
    hardware, count = payload.hardware, len(payload.nodes.op)
    if hardware is None or hardware.chosen not in hardware.devices.id:
        return [None] * count
    device = _device(hardware.devices, hardware.devices.id.index(hardware.chosen))
    precision = precision_in(device, hardware.precision, hardware.stored)
    if not precision:
        return [None] * count
    kernels, model = _kernels(hardware.kernels), runtime(hardware.runtime).model
    seconds: list[float | None] = [0.0] * count
    for kernel, time in enumerate(estimate(kernels, _sized_model(payload), device, precision, model).kernels):
        seconds[kernels.anchor[kernel]] = None if time is None else time.seconds
    return seconds


def _device(columns: DeviceColumns, index: int) -> Device:
    converted = ("peaks", "measured", "watts", "prices")
    copied = {
        name: getattr(columns, name)[index]
        for name in DeviceColumns.__struct_fields__
        if name not in converted
    }
    rate = columns.measured.get(str(index))
    measured = None if rate is None else MeasuredRate(*rate)
    return Device(**copied, peaks=tuple(columns.peaks[name][index] for name in PRECISIONS), measured=measured)


def _kernels(columns: KernelColumns) -> Kernels:
    members: list[list[int]] = [[] for _ in columns.kind]
    for node, kernel in enumerate(columns.node):
        if kernel >= 0:
            members[kernel].append(node)
    return Kernels(
        node=columns.node,
        kind=columns.kind,
        anchor=columns.anchor,
        product=columns.product,
        n_axis=columns.n_axis,
        groups=columns.groups,
        members=members,
        reads=from_csr(columns.read_offsets, columns.reads),
        writes=from_csr(columns.write_offsets, columns.writes),
        routed=[
            RoutedExperts(
                routing.router,
                routing.chosen,
                tuple(routing.dims),
                tuple(routing.kernels),
                tuple(routing.macs),
                tuple(routing.depth),
            )
            for routing in columns.routed
        ],
    )


def _sized_model(payload: GraphPayload) -> EstimateInputs:
    """Return the sizes of the payload's tensors and nodes."""
    nodes, tensors = payload.nodes, payload.tensors
    repeat: dict[int, int | None] = {int(node): runs for node, runs in nodes.runs.items()}
    repeat |= dict.fromkeys(nodes.runs_unknown)
    dtypes = [dtype_number(name) for name in payload.dtypes]
    return EstimateInputs(
        shapes=[
            None if shape is None else tuple(shape)
            for shape in map(payload.shapes.__getitem__, tensors.shape)
        ],
        dtypes=[dtypes[number] for number in tensors.dtype],
        weight=[TensorKind(kind).is_constant for kind in tensors.kind],
        producer=tensors.producer,
        macs=nodes.macs,
        repeat=repeat,
    )
