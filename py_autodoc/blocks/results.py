"""What recognisers find. Plain data, by node and tensor id; costs are summed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

KINDS = (
    "conv", "depthwise-separable", "squeeze-excite", "residual", "attention", "mlp", "gated-mlp", "moe",
    "normalization", "embedding", "head", "recurrent",
)  # fmt: skip
"""Kinds of structural blocks, as reports and viewers name them."""

Fact = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class RecognisedBlock:
    """One recognised block of one graph.

    ``nodes`` are ids in ascending order, Constant nodes left out. ``variant`` refines ``kind``
    (residual: plain, pre-activation, concat, gated, subtractive; attention: fused, unfused;
    normalization: the operator it amounts to). ``anchor`` is the node that made it recognisable (the
    joining Add, the Softmax, the Conv). ``confidence`` is between 0 and 1: 1 where the structure admits
    no other reading. ``facts`` are sizes and names in the block, None where unknown.
    """

    kind: str
    nodes: tuple[int, ...]
    anchor: int
    variant: str = ""
    how: str = "structure"
    confidence: float = 1.0
    inputs: tuple[int, ...] = ()
    """Tensors that enter it, weights left out."""
    outputs: tuple[int, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """One attention layer. Sizes are None where the graph does not tell them."""

    nodes: tuple[int, ...]
    """All nodes from the scores to the context, ascending; projections left out."""
    anchor: int
    """The Softmax, or the fused operator."""
    variant: str
    """``fused`` or ``unfused``."""
    kind: str
    """``self``, ``cross`` or ``unknown``."""
    causal: bool | None
    """None: cannot be told."""
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    value_dim: int | None
    """Head size of V where it differs; equals ``head_dim`` else."""
    hidden_size: int | None
    """Width of the residual stream that feeds it."""
    queries: int | str | None = None
    """Query positions."""
    keys: int | str | None = None
    """Key positions, cached ones included."""
    mask: bool = False
    masks: tuple[int, ...] = ()
    """Tensors that hide keys or are added to the scores; single numbers left out."""
    rotary: bool = False
    relative_bias: bool = False
    """A learned bias is added to the scores."""
    past: tuple[int, ...] = ()
    """Graph inputs that hold cached keys and values."""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Repeat:
    """A run of isomorphic parts, in execution order: the same operators, attributes, weight shapes.

    ``members[i]`` are the nodes of part i in matching order: ``members[i][k]`` corresponds to
    ``members[j][k]``. ``scopes`` are the scope paths of the parts where each part is one scope.
    """

    members: tuple[tuple[int, ...], ...]
    scopes: tuple[tuple[str, ...], ...] = ()
    type: str = ""
    """Class name shared by the scopes, else empty."""

    @property
    def count(self) -> int:
        """How many parts."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class ArchitectureVerdict:
    """What kind of network it is. ``family`` is ``unknown`` when the evidence does not say."""

    family: str
    """``cnn``, ``transformer-encoder``, ``transformer-decoder``, ``encoder-decoder``, ``detector``,
    ``segmenter``, ``recurrent``, ``state-space``, ``mlp``, ``fourier``, ``graph``, ``hybrid``,
    ``classical-ml`` or ``unknown``."""
    confidence: float
    evidence: tuple[str, ...]
    """One line a reason, with the numbers."""


class QuantizedLayer(NamedTuple):
    """How one layer is quantized. ``scheme`` is empty where it computes with float numbers as stored."""

    node: int
    scheme: str
    """``QDQ``, ``QOperator``, ``dynamic`` or ``weight-only``."""
    weights: str = ""
    """Element type of the weight, ``int4`` …"""
    data: str = ""
    """Element type of what it reads; empty where that stays float."""
    weighted: bool = True
    """False for a product of two computed tensors."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Everything the recognisers found in a model."""

    blocks: tuple[RecognisedBlock, ...] = ()
    attention: tuple[AttentionLayer, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    verdict: ArchitectureVerdict = ArchitectureVerdict("unknown", 0.0, ())
    quantized: tuple[QuantizedLayer, ...] = ()
    """Layers of models with any quantized one; empty for all others."""
    gave_up: tuple[str, ...] = ()
    """Recognisers that failed on this model, one line each."""
