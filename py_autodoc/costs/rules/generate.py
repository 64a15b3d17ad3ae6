"""Operators that make numbers: ranges, windows, random values. They read next to nothing."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, cost
from py_autodoc.costs.rules._make import per_input, register


def generated(ops: str, flops: int) -> None:
    """Register ``ops``: ``flops`` per output element, nothing read."""
    register("", ops, lambda v: Cost(0, flops * v.out_numel(), 0))


generated("RandomNormal RandomNormalLike RandomUniform RandomUniformLike", 1)
generated("Range", 2)  # start + i·delta
generated("HannWindow HammingWindow", 4)  # ×, cos, ×, −
generated("BlackmanWindow", 8)  # two cosines
generated("MelWeightMatrix", 5)  # two slopes (−, ÷ each) and a min
register("", "Bernoulli", per_input(2))  # draw and compare


@cost("", "Multinomial")
def multinomial(v: NodeView) -> Cost:
    """Inverse transform sampling of (batch, classes): softmax, cumulative sum, one draw a sample."""
    return Cost(0, (SOFTMAX + 1) * v.numel(0) + v.out_numel())
