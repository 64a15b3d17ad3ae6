"""What recognised structures are called where the model has no names of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
}
_FEED_FORWARD = frozenset({"mlp", "gated-mlp", "moe"})
_MOST = 0.6
"""Share of a part's nodes from which a block inside stands for the whole part."""


class Titles:
    """Titles of blocks, and of parts by the blocks in them."""

    def __init__(self, found: Iterable[RecognisedBlock]) -> None:
        self._at: dict[int, list[RecognisedBlock]] = {}
        for block in found:
            self._at.setdefault(block.anchor, []).append(block)

    def inside(self, nodes: Sequence[int]) -> list[RecognisedBlock]:
        """The blocks that lie wholly in these nodes."""
        held = frozenset(nodes)
        return [block for node in nodes for block in self._at.get(node, ()) if held.issuperset(block.nodes)]

    def part(self, nodes: Sequence[int]) -> str:
        """What the parts of a repeat are, by what was recognised in one; empty when that says little."""
        held = self.inside(nodes)
        kinds = {block.kind for block in held}
        if "attention" in kinds:
            return "Transformer layer" if kinds & _FEED_FORWARD else "Attention layer"
        largest = max(held, key=lambda block: len(block.nodes), default=None)
        if largest is None or len(largest.nodes) < _MOST * len(nodes):
            return ""
        return block_title(largest)


def block_title(block: RecognisedBlock) -> str:
    """``Residual (pre-activation)``: the kind, and the variant where it says more."""
    name = KINDS.get(block.kind, block.kind)
    plain = not block.variant or block.variant in ("plain", "unfused", "fused")
    return name if plain else f"{name} ({block.variant})"
