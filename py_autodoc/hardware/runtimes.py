"""The runtimes that a latency can be estimated for: what each runs as one kernel, and what a start costs.

One table. ``kernel_fusion`` reads what fuses, ``Runtime.model`` gives the constants of the estimate. To add a
runtime: one entry here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from py_autodoc.errors import OptionError
from py_autodoc.hardware.latency_model import MODEL, LatencyConstants

BIAS, NORMALIZATION, RESIDUAL, ACTIVATION, OTHER = (
    "bias", "normalization", "residual", "activation", "other"
)  # fmt: skip
"""What element by element work after a product is: the sum with a weight, a normalization by channel, the sum
with another tensor, one operator that is an activation, anything else."""
_ANY = frozenset({BIAS, NORMALIZATION, RESIDUAL, ACTIVATION, OTHER})


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime: what it fuses, and the time between its kernels."""

    id: str
    label: str
    """As people call it."""
    convolution: frozenset[str]
    """What a convolution takes along."""
    product: frozenset[str]
    """The same of a matrix product."""
    chains: bool
    """Element by element work, copies and normalizations that follow each other are one kernel."""
    attention: bool
    """A recognised attention is one kernel, not its parts."""
    side_by_side: bool
    """Products of one tensor with several weights are one kernel."""
    written_out: frozenset[str]
    """Normalizations (the operator that they amount to) and ``activation``: one kernel also where the file
    writes them out, as the program that it was exported from calls one operator."""
    overhead_s: float
    """From one kernel to the next, where the clock of the device is not known."""
    overhead_cycles: float
    """The same in cycles of the device."""
    issue_s: float
    """Seconds that the host takes to start one operator; kernels run while the next ones are started. 0 where
    a plan or a graph is replayed."""
    compared: tuple[str, ...]
    """Precisions in which estimates were compared with measured times on several devices."""
    source: str
    """Where the times between kernels are from."""

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
)
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
        source="the value of TensorRT; at the published batches it is a small part",
    ),
)
IDS = tuple(one.id for one in RUNTIMES)


def runtime(name: str | None) -> Runtime:
    """The runtime of an id; None and empty: TensorRT. Raises: OptionError for one that there is not."""
    wish = (name or "").strip().lower() or TENSORRT.id
    for one in RUNTIMES:
        if one.id == wish:
            return one
    raise OptionError("unknown-runtime", f"Unknown runtime {wish[:40]!r}.", f"One of {', '.join(IDS)}.")
