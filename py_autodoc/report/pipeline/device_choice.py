"""The device an estimate is for: who chose it, in which precision, and the kernels of a runtime there."""

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
from py_autodoc.hardware.profile import PRECISIONS, find_profile
from py_autodoc.hardware.routed import Mixture
from py_autodoc.hardware.runtimes import ORT, TENSORRT, Runtime
from py_autodoc.hardware.runtimes import runtime as runtime_of
from py_autodoc.report.pipeline.decomposed_operators import written_out

_FLOAT, _FLOAT16, _DOUBLE, _BFLOAT16 = 1, 10, 11, 16
_STORED = {_FLOAT: "fp32", _DOUBLE: "fp32", _FLOAT16: "fp16", _BFLOAT16: "bf16"}
_INTEGER_OPS = frozenset({"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "QGemm",
                          "QAttention", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"})  # fmt: skip
_REARRANGES = frozenset({"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
_MOST_BEHIND = 4
_ALMOST_ALL = 0.9
"""Share of the MACs on integers from which a model counts as one of int8."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """A device, and a precision; empty: as the model is stored."""

    device: Device
    precision: str = ""
    runtime: Runtime = TENSORRT
    """What runs the model there."""


def choose_device(
    hardware: str | os.PathLike[str] | None, precision: str | None = None, runtime: str | None = None
) -> DeviceChoice | None:
    """The device of an id or a profile's file; None for none. ``runtime`` empty: the usual one.

    Raises: OptionError for what is unknown, a bad file, or a device of which too little is known.
    """
    wish, runs = checked_precision(precision), runtime_of(runtime)
    if not hardware:
        if wish:
            raise OptionError("hardware-missing", "A precision needs a device.", "Add --hardware ID.")
        if runtime:
            raise OptionError("hardware-missing", "A runtime needs a device.", "Add --hardware ID.")
        return None
    profile = find_profile(os.fspath(hardware))
    found = device(profile)
    if found is None:
        lacking = "memory bandwidth" if profile.memory_bandwidth_bytes_per_s is None else "peaks"
        raise OptionError(
            "device-not-estimable", f"No latency can be estimated for {profile.name}: its {lacking} "
            f"{'is' if lacking == 'memory bandwidth' else 'are'} not published.", "Choose another device.",
        )  # fmt: skip
    return DeviceChoice(found, wish, runs if runtime else usual_runtime([found]))


def usual_runtime(devices: Sequence[Device]) -> Runtime:
    """What runs a model where nobody says: TensorRT, on CPUs that ONNX Runtime measured ONNX Runtime."""
    measured = bool(devices) and all(one.measured is not None for one in devices)
    return ORT if measured else TENSORRT


def checked_precision(precision: str | None) -> str:
    """The precision as it is called here; empty for none. Raises: OptionError for one that there is not."""
    wish = (precision or "").strip().lower()
    if wish and wish not in PRECISIONS:
        raise OptionError(
            "unknown-precision",
            f"Unknown precision {wish[:40]!r}.",
            f"One of {', '.join(PRECISIONS)}.",
        )
    return wish


def precision_in(device: Device, wish: str, stored: Sequence[str]) -> str:
    """The precision asked for, else the first that the model is stored in; empty: the device has none."""
    return next((name for name in ([wish] if wish else stored) if device.peak(name)), "")


def kernels_of(
    model: Model,
    types: TypeTable,
    sizes: TensorSizes,
    costs: list[NodeCost],
    found: Structure,
    runtime: Runtime = TENSORRT,
) -> Kernels:
    """The kernels of a model in a runtime, attention as its recogniser found it."""
    cores = [AttentionRegion(one.nodes, one.anchor) for one in found.attention]
    mixtures = [made for made in (_mixture(model, one) for one in found.blocks if one.kind == "moe") if made]
    whole = written_out(model, types, found, runtime.written_out) if runtime.written_out else ()
    return find_kernels(model, types, sizes, costs, cores, mixtures, runtime, whole)


def _mixture(model: Model, block: RecognisedBlock) -> Mixture | None:
    """A mixture whose experts get only the tokens that are sent to them."""
    chosen, made = block.facts.get("top_k"), model.nodes[block.anchor].outputs
    if not isinstance(chosen, int) or not made or made[0] < 0 or len(block.nodes) < 2:
        return None
    return Mixture(block.nodes, made[0], chosen)


def stored_precisions(model: Model, types: TypeTable, sizes: TensorSizes, costs: list[NodeCost]) -> list[str]:
    """What the model is stored in: ``int8`` where nearly all products are of integers, then its float type.

    The float type is that of most weights (by elements), else of most other tensors; fp32 where there is
    none.
    """
    weights: dict[int, int] = {}
    others: dict[int, int] = {}
    for tensor, dtype, count in zip(model.tensors, types.dtypes, sizes.numel, strict=True):
        kinds = weights if tensor.is_constant else others
        kinds[dtype] = kinds.get(dtype, 0) + (count or 1)
    table = {dtype: n for dtype, n in weights.items() if dtype in _STORED}
    table = table or {dtype: n for dtype, n in others.items() if dtype in _STORED}
    floats = _STORED[max(table, key=lambda dtype: table[dtype])] if table else "fp32"
    return ["int8", floats] if _integers(model, costs) else [floats]


def _integers(model: Model, costs: list[NodeCost]) -> bool:
    """True when nearly all MACs multiply integers, or floats that come from a DequantizeLinear each."""
    total = quantized = 0
    for node, entry in zip(model.nodes, costs, strict=True):
        macs = 0 if entry.cost is None else in_inference(entry.cost.macs, entry.runs) or 0
        if macs:
            total += macs
            if node.op_type in _INTEGER_OPS or all(_dequantized(model, tensor) for tensor in node.inputs[:2]):
                quantized += macs
    return total > 0 and quantized >= _ALMOST_ALL * total


def _dequantized(model: Model, tensor: int) -> bool:
    """True for what comes from a DequantizeLinear, also behind a few operators that only rearrange it."""
    for _ in range(_MOST_BEHIND):
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
