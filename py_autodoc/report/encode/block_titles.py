"""Titles of recognised structures for models without names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from py_autodoc.blocks.results import RecognisedBlock

KINDS = {
    "conv": "Conv block",
    "depthwise-separable": "Separable conv",
    "squeeze-excite": "Squeeze-excite",
    "residual": "Residual",
    "attention": "Attention",
    "mlp": "MLP",
    "gated-mlp": "Gated MLP",
    "moe": "Mixture of experts",
    "normalization": "Normalization",
    "embedding": "Embedding",
    "head": "Head",
    "recurrent": "Recurrent",
    "state-space": "Selective scan",
}
_FEED_FORWARD = frozenset({"mlp", "gated-mlp", "moe"})
_OTHER_LAYERS = frozenset({"conv", "depthwise-separable", "squeeze-excite", "recurrent", "state-space"})
"""Layers next to which a feed-forward network is only a part of a residual block."""
_DEFAULT_VARIANTS = frozenset({"plain", "unfused", "fused", "selective-scan"})
"""Variants that titles omit."""
_MIN_SHARE = 0.6
"""Minimum share of an instance's nodes that a block must cover to give it its title."""


class Titles:
    """Titles of blocks, and of repeated instances based on the blocks in them."""

    def __init__(self, blocks: Iterable[RecognisedBlock]) -> None:
        self._by_anchor: dict[int, list[RecognisedBlock]] = {}
        for block in blocks:
            self._by_anchor.setdefault(block.anchor, []).append(block)

    def inside(self, nodes: Sequence[int]) -> list[RecognisedBlock]:
        """Return the blocks entirely within these nodes."""
        node_set = frozenset(nodes)
        return [
            block
            for node in nodes
            for block in self._by_anchor.get(node, ())
            if node_set.issuperset(block.nodes)
        ]

    @cached_property
    def attention_layers(self) -> dict[int, int]:
        """Anchor of each attention block → anchor of the smallest residual around it, else its own.

        Attention over windows or streams that are joined before the residual is one layer
        (CANINE, Clark et al., 2021; ProphetNet, Qi et al., 2020).
        """
        blocks = [block for at_anchor in self._by_anchor.values() for block in at_anchor]
        layer_of = {block.anchor: block.anchor for block in blocks if block.kind == "attention"}
        residuals = [block for block in blocks if block.kind == "residual"]
        for residual in sorted(residuals, key=lambda block: -len(block.nodes)):
            layer_of.update({node: residual.anchor for node in residual.nodes if node in layer_of})
        return layer_of

    def instance_title(self, nodes: Sequence[int]) -> str:
        """Return the title of a repeat's instances from the blocks in one; empty if these cover little."""
        blocks = self.inside(nodes)
        kinds = {block.kind for block in blocks}
        if "attention" in kinds:
            layers = {
                self.attention_layers[block.anchor]
                for block in blocks
                if block.kind == "attention" and block.facts.get("kind") != "cross"
            }
            if len(layers) > 1 and "state-space" not in kinds:
                return f"Transformer, {len(layers)} layers"
            return "Transformer layer" if kinds & _FEED_FORWARD else "Attention layer"
        if "state-space" in kinds:
            return "State-space layer"
        largest = max(blocks, key=lambda block: len(block.nodes), default=None)
        if largest is None or len(largest.nodes) < _MIN_SHARE * len(nodes):
            return ""
        return self.of(largest)

    def of(self, block: RecognisedBlock) -> str:
        """Return the title of a block: a residual is named by the attention or feed-forward network in it."""
        if block.kind != "residual":
            return block_title(block)
        kinds = {inner.kind for inner in self.inside(block.nodes)}
        if "attention" in kinds and kinds & _FEED_FORWARD:
            return "Transformer layer"
        # Keys and values of a cross-attention come from outside the residual.
        attention = [b for n in block.nodes for b in self._by_anchor.get(n, ()) if b.kind == "attention"]
        if attention and all(b.facts.get("kind") == "cross" for b in attention):
            return "Cross-attention block"
        if "attention" in kinds:
            return "Attention block"
        if "state-space" in kinds:
            return "State-space layer"
        if kinds & _FEED_FORWARD and not kinds & _OTHER_LAYERS:
            return "Feed-forward block"
        return block_title(block)


def block_title(block: RecognisedBlock) -> str:
    """Return ``Residual (pre-activation)``: the kind, plus the variant if informative."""
    name = KINDS.get(block.kind, block.kind)
    is_default = not block.variant or block.variant in _DEFAULT_VARIANTS
    return name if is_default else f"{name} ({block.variant})"
