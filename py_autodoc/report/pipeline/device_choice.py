"""The device of an estimate, its precision, and the kernels of a runtime on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.blocks.results import RecognisedBlock, Structure
from py_autodoc.costs.engine import NodeCost, in_inference
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.errors import OptionError
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.hardware.kernel_fusion import AttentionRegion, Kernels, find_kernels
from py_autodoc.hardware.latency_model import Device, device
from py_autodoc.hardware.profile import PRECISIONS
from py_autodoc.hardware.requested import requested_profile
from py_autodoc.hardware.routed import Mixture
from py_autodoc.hardware.runtimes import IDS, TENSORRT, Runtime, runs_on, usual
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.report.pipeline.decomposed_operators import written_out

_FLOAT, _FLOAT16, _DOUBLE, _BFLOAT16 = 1, 10, 11, 16
_STORED = {_FLOAT: "fp32", _DOUBLE: "fp32", _FLOAT16: "fp16", _BFLOAT16: "bf16"}
_INTEGER_OPS = frozenset({"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "QGemm",
                          "QAttention", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"})  # fmt: skip
_REARRANGES = frozenset({"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
_MAX_NODES_BEHIND = 4
_MIN_INTEGER_SHARE = 0.9
"""Share of MACs on integers from which a model counts as int8."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """A device and a precision; an empty precision means the stored one."""

    device: Device
    precision: str = ""
    runtime: Runtime = TENSORRT
    """The runtime that executes the model."""
    usd_per_hour: float | None = None
    """Price as given; None: that of the cloud profiles."""


def choose_device(
    hardware: str | os.PathLike[str] | None, precision: str | None = None, runtime: str | None = None
) -> DeviceChoice | None:
    """Return the device for a profile id, a file or ``auto``; None if none is given.

    An empty ``runtime`` is the usual one.

    Raises: OptionError for unknown names, an invalid file, or a device with too few published figures.
    """
    requested, runs = checked_precision(precision), runtime_of(runtime)
    if not hardware:
        if requested:
            raise OptionError("hardware-missing", "A precision needs a device.", "Add --hardware ID.")
        if runtime:
            raise OptionError("hardware-missing", "A runtime needs a device.", "Add --hardware ID.")
        return None
    profile = requested_profile(os.fspath(hardware))
    chosen = device(profile)
    if chosen is None:
        missing = "memory bandwidth" if profile.memory_bandwidth_bytes_per_s is None else "peaks"
        raise OptionError(
            "device-not-estimable",
            f"No latency can be estimated for {profile.name}: its {missing} "
            f"{'is' if missing == 'memory bandwidth' else 'are'} not published.",
            "Choose another device.",
        )
    if runtime and not runs_on(runs, chosen):
        raise OptionError(
            "runtime-not-on-device",
            f"{runs.label} does not run on {chosen.name}.",
            f"Omit --runtime for {usual(chosen).label}, or choose {_others(runs)}.",
        )
    return DeviceChoice(chosen, requested, runs if runtime else usual(chosen))


def _others(chosen: Runtime) -> str:
    return ", ".join(name for name in IDS if name != chosen.id)


def usual_runtime(devices: Sequence[Device]) -> Runtime:
    """Return the usual runtime of devices that run one model together; TensorRT if theirs differ."""
    found = {usual(candidate).id: usual(candidate) for candidate in devices}
    return next(iter(found.values())) if len(found) == 1 else TENSORRT


def checked_precision(precision: str | None) -> str:
    """Return the normalized precision; empty for none. Raises: OptionError if it is unknown."""
    requested = (precision or "").strip().lower()
    if requested and requested not in PRECISIONS:
        raise OptionError(
            "unknown-precision",
            f"Unknown precision {requested[:40]!r}.",
            f"Choose one of {', '.join(PRECISIONS)}.",
        )
    return requested


def precision_in(device: Device, requested: str, stored: Sequence[str]) -> str:
    """Return the requested precision, else the first stored one that the device has; empty if it has none."""
    return next((name for name in ([requested] if requested else stored) if device.peak(name)), "")


def kernels_of(
    model: Model,
    types: TypeTable,
    sizes: TensorSizes,
    costs: list[NodeCost],
    recognised: Structure,
    runtime: Runtime = TENSORRT,
) -> Kernels:
    """Return the kernels of a model in a runtime, with attention as its recogniser found it."""
    cores = [AttentionRegion(block.nodes, block.anchor) for block in recognised.attention]
    mixtures = [
        mixture
        for mixture in (_mixture(model, block) for block in recognised.blocks if block.kind == "moe")
        if mixture
    ]
    decomposed = written_out(model, types, recognised, runtime.written_out) if runtime.written_out else ()
    return find_kernels(model, types, sizes, costs, cores, mixtures, runtime, decomposed)


def _mixture(model: Model, block: RecognisedBlock) -> Mixture | None:
    """Return the mixture if each expert receives only the tokens routed to it."""
    chosen, outputs = block.facts.get("top_k"), model.nodes[block.anchor].outputs
    if not isinstance(chosen, int) or not outputs or outputs[0] < 0 or len(block.nodes) < 2:
        return None
    return Mixture(block.nodes, outputs[0], chosen)


def stored_precisions(model: Model, types: TypeTable, sizes: TensorSizes, costs: list[NodeCost]) -> list[str]:
    """Return the stored precisions: ``int8`` if nearly all products use integers, then the float type.

    The float type is that of most weights (by elements), else of most other tensors; fp32 if there are none.
    """
    weights: dict[int, int] = {}
    activations: dict[int, int] = {}
    for tensor, dtype, count in zip(model.tensors, types.dtypes, sizes.numel, strict=True):
        kinds = weights if tensor.is_constant else activations
        kinds[dtype] = kinds.get(dtype, 0) + (count or 1)
    table = {dtype: n for dtype, n in weights.items() if dtype in _STORED}
    table = table or {dtype: n for dtype, n in activations.items() if dtype in _STORED}
    floats = _STORED[max(table, key=lambda dtype: table[dtype])] if table else "fp32"
    return ["int8", floats] if _integers(model, costs) else [floats]


def _integers(model: Model, costs: list[NodeCost]) -> bool:
    """Return True if nearly all MACs multiply integers, or floats that each come from a DequantizeLinear."""
    total = quantized = 0
    for node, entry in zip(model.nodes, costs, strict=True):
        macs = 0 if entry.cost is None else in_inference(entry.cost.macs, entry.runs) or 0
        if macs:
            total += macs
            if node.op_type in _INTEGER_OPS or all(_dequantized(model, tensor) for tensor in node.inputs[:2]):
                quantized += macs
    return total > 0 and quantized >= _MIN_INTEGER_SHARE * total


def _dequantized(model: Model, tensor: int) -> bool:
    """Return True for outputs of DequantizeLinear, also after operators that only rearrange them."""
    for _ in range(_MAX_NODES_BEHIND):
        producer = model.tensors[tensor].producer if tensor >= 0 else -1
        if producer < 0:
            return False
        node = model.nodes[producer]
        if node.op_type == "DequantizeLinear":
            return True
        if node.op_type not in _REARRANGES or not node.inputs:
            return False
        tensor = node.inputs[0]
    return False
