"""The runtimes with latency estimates: what each fuses, and its overhead per kernel.

``kernel_fusion`` uses the fusion rules, ``Runtime.model`` the constants. To add a runtime, add an entry here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from py_autodoc.errors import OptionError
from py_autodoc.hardware.latency_model import MODEL, Device, LatencyConstants
from py_autodoc.hardware.profile import CUSTOM

BIAS, NORMALIZATION, RESIDUAL, ACTIVATION, OTHER = (
    "bias",
    "normalization",
    "residual",
    "activation",
    "other",
)
"""Kinds of elementwise operators after a product: sum with a weight, per-channel normalization, sum with
another tensor, single-operator activation, anything else."""
_ANY = frozenset({BIAS, NORMALIZATION, RESIDUAL, ACTIVATION, OTHER})


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime: what it fuses, and its overhead per kernel."""

    id: str
    label: str
    """Display name."""
    convolution: frozenset[str]
    """Operators fused into a convolution."""
    product: frozenset[str]
    """Operators fused into a matrix product."""
    chains: bool
    """Whether successive elementwise operators, copies and normalizations are one kernel."""
    attention: bool
    """Whether a recognised attention is one kernel."""
    side_by_side: bool
    """Whether products of one tensor with several weights are one kernel."""
    written_out: frozenset[str]
    """Normalizations (by operator) and ``activation`` that are one kernel even if the file decomposes them,
    because the original program calls a single operator."""
    overhead_s: float
    """Overhead per kernel on devices with unknown clock."""
    overhead_cycles: float
    """The same in cycles of the device."""
    issue_s: float
    """Seconds the host takes to launch one operator, while earlier kernels run. 0 if a plan or graph is
    replayed."""
    compared: tuple[str, ...]
    """Precisions in which estimates were compared with measured times on several devices."""
    source: str
    """Source of the overhead constants."""
    by_element: bool = False
    """Whether its operators on CPUs that handle one element after the other are known (``cpu_elements``)."""

    @property
    def model(self) -> LatencyConstants:
        """The constants of the estimate."""
        return replace(
            MODEL,
            overhead_s=self.overhead_s,
            overhead_cycles=self.overhead_cycles,
            issue_s=self.issue_s,
            compared=self.compared,
        )


TENSORRT = Runtime(
    id="tensorrt",
    label="TensorRT",
    convolution=_ANY,
    product=_ANY,
    chains=True,
    attention=True,
    side_by_side=True,
    written_out=frozenset(),
    overhead_s=MODEL.overhead_s,
    overhead_cycles=MODEL.overhead_cycles,
    issue_s=0.0,
    compared=MODEL.compared,
    source="NVIDIA's BERT times with TensorRT 8.5.1 on an A100 (80 rows)",
)
ORT = Runtime(
    id="ort-cuda",
    label="ONNX Runtime",
    convolution=frozenset({BIAS, NORMALIZATION, RESIDUAL, ACTIVATION}),
    product=frozenset({BIAS}),
    chains=False,
    attention=False,
    side_by_side=False,
    written_out=frozenset(
        {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "activation"}
    ),
    overhead_s=MODEL.overhead_s,
    overhead_cycles=MODEL.overhead_cycles,
    issue_s=0.0,
    compared=(),
    source="the value of TensorRT; its own was not measured",
    by_element=True,
)
VENDOR = replace(
    TENSORRT,
    id="vendor",
    label="Compiler of the vendor",
    source="the rules and values of TensorRT; no other compiler was measured",
)
"""What AMD, Apple, Google, Hailo and others provide for their devices; it is taken to fuse like TensorRT."""
RUNTIMES = (
    TENSORRT,
    ORT,
    Runtime(
        id="pytorch-eager",
        label="PyTorch, eager",
        convolution=frozenset({BIAS}),
        product=frozenset({BIAS}),
        chains=False,
        attention=True,
        side_by_side=False,
        written_out=frozenset(
            {"LayerNormalization", "GroupNormalization", "InstanceNormalization", "activation"}
        ),
        overhead_s=3.0e-6,
        overhead_cycles=4230.0,
        issue_s=5.9e-5,
        compared=(),
        source="NVIDIA's ResNet-50 in PyTorch 21.03 on a V100, fp32 at batch 1: 10.37 ms for 175 operators",
    ),
    Runtime(
        id="torch-compile",
        label="PyTorch, torch.compile",
        convolution=frozenset({BIAS}),
        product=frozenset({BIAS}),
        chains=True,
        attention=True,
        side_by_side=False,
        written_out=frozenset(),
        overhead_s=MODEL.overhead_s,
        overhead_cycles=MODEL.overhead_cycles,
        issue_s=0.0,
        compared=(),
        source="the value of TensorRT; a small share at the published batch sizes",
    ),
    VENDOR,
)
IDS = tuple(entry.id for entry in RUNTIMES)


def runtime(name: str | None) -> Runtime:
    """Return the runtime with this id (default: TensorRT). Raises: OptionError for an unknown id."""
    requested = (name or "").strip().lower() or TENSORRT.id
    for entry in RUNTIMES:
        if entry.id == requested:
            return entry
    hint = f"Choose one of {', '.join(IDS)}."
    raise OptionError("unknown-runtime", f"Unknown runtime {requested[:40]!r}.", hint)


def usual(device: Device) -> Runtime:
    """Return the runtime that a device is used with: ONNX Runtime on CPUs, TensorRT on NVIDIA's devices.

    A device of unknown vendor counts as one that TensorRT runs on.
    """
    if device.category == "cpu":
        return ORT
    return TENSORRT if device.vendor in ("", "nvidia") or device.confidence == CUSTOM else VENDOR


def runs_on(chosen: Runtime, device: Device) -> bool:
    """Return False if a runtime does not exist for a packaged device: TensorRT is for NVIDIA's only."""
    return chosen is not TENSORRT or device.vendor == "nvidia" or device.confidence == CUSTOM
