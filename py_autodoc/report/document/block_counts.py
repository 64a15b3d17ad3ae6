"""The line of the terminal summary that counts the recognised blocks."""

from __future__ import annotations

from collections import Counter

from py_autodoc.report.schema import Block

ORDER = (
    "attention", "moe", "gated-mlp", "mlp", "recurrent", "state-space", "conv", "depthwise-separable",
    "squeeze-excite", "residual", "normalization", "embedding", "head",
)  # fmt: skip
"""Kinds in display order, the most informative first."""


def block_counts(blocks: list[Block]) -> str:
    """Return ``12 attention · 12 mlp · 24 residual …``; empty if no structure was recognised."""
    counts = Counter(block.kind for block in blocks if block.kind != "module")
    ordered = [kind for kind in ORDER if kind in counts]
    unordered = sorted(kind for kind in counts if kind not in ORDER)
    return " · ".join(f"{counts[kind]:,} {kind}" for kind in (*ordered, *unordered))
