"""Results of the recognisers: plain data by node and tensor id, without costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

KINDS = (
    "conv", "depthwise-separable", "squeeze-excite", "residual", "attention", "mlp", "gated-mlp", "moe",
    "normalization", "embedding", "head", "recurrent", "state-space",
)  # fmt: skip
"""Kinds of structural blocks, as named in reports and viewers."""

Fact = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class RecognisedBlock:
    """One recognised block of one graph.

    ``nodes`` are ids in ascending order, Constant nodes excluded. ``variant`` refines ``kind``
    (residual: plain, pre-activation, concat, gated, subtractive; attention: fused, unfused;
    normalization: the equivalent operator). ``anchor`` is the node that identifies the block (the
    joining Add, the Softmax, the Conv). ``confidence`` is between 0 and 1; 1 if the structure is
    unambiguous. ``facts`` are sizes and names in the block, None if unknown.
    """

    kind: str
    nodes: tuple[int, ...]
    anchor: int
    variant: str = ""
    how: str = "structure"
    confidence: float = 1.0
    inputs: tuple[int, ...] = ()
    """Input tensors, weights excluded."""
    outputs: tuple[int, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """An attention layer. Sizes are None if the graph does not show them."""

    nodes: tuple[int, ...]
    """All nodes from the scores to the context, ascending; projections excluded."""
    anchor: int
    """The Softmax, or the fused operator."""
    variant: str
    """``fused`` or ``unfused``."""
    kind: str
    """``self``, ``cross`` or ``unknown``."""
    causal: bool | None
    """None if unknown."""
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    value_dim: int | None
    """Head size of V; equals ``head_dim`` unless it differs."""
    hidden_size: int | None
    """Width of its residual stream."""
    queries: int | str | None = None
    """Number of query positions."""
    keys: int | str | None = None
    """Number of key positions, including cached ones."""
    mask: bool = False
    masks: tuple[int, ...] = ()
    """Tensors that hide keys or are added to the scores; scalars excluded."""
    rotary: bool = False
    relative_bias: bool = False
    """A learned bias is added to the scores."""
    past: tuple[int, ...] = ()
    """Graph inputs that hold cached keys and values."""
    window: int | None = None
    """The most keys that a query sees, its own included; None if all, or unknown."""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Repeat:
    """A run of isomorphic parts in execution order: same operators, attributes and weight shapes.

    ``members[i]`` are the nodes of part i in matching order: ``members[i][k]`` corresponds to
    ``members[j][k]``. ``scopes`` are the scope paths of the parts if each part is one scope.
    """

    members: tuple[tuple[int, ...], ...]
    scopes: tuple[tuple[str, ...], ...] = ()
    type: str = ""
    """Class name shared by the scopes, else empty."""

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class ArchitectureVerdict:
    """The kind of network. ``family`` is ``unknown`` if the evidence is inconclusive."""

    family: str
    """``cnn``, ``transformer-encoder``, ``transformer-decoder``, ``encoder-decoder``, ``detector``,
    ``segmenter``, ``recurrent``, ``state-space``, ``mlp``, ``fourier``, ``graph``, ``hybrid``,
    ``classical-ml`` or ``unknown``."""
    confidence: float
    evidence: tuple[str, ...]
    """One line per reason, with the numbers."""


class QuantizedLayer(NamedTuple):
    """Quantization of one layer. ``scheme`` is empty if the layer computes with floats as stored."""

    node: int
    scheme: str
    """``QDQ``, ``QOperator``, ``dynamic`` or ``weight-only``."""
    weights: str = ""
    """Element type of the weight, such as ``int4``."""
    data: str = ""
    """Element type of its data; empty if the data is float."""
    weighted: bool = True
    """False for a product of two computed tensors."""


@dataclass(frozen=True, slots=True)
class Structure:
    """All results of the recognisers for a model."""

    blocks: tuple[RecognisedBlock, ...] = ()
    attention: tuple[AttentionLayer, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    verdict: ArchitectureVerdict = ArchitectureVerdict("unknown", 0.0, ())
    quantized: tuple[QuantizedLayer, ...] = ()
    """Layers of models with at least one quantized layer; otherwise empty."""
    gave_up: tuple[str, ...] = ()
    """Recognisers that failed on this model, one line each."""
