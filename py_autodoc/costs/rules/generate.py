"""Operators that generate numbers: ranges, windows, random values. They read almost nothing."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, cost
from py_autodoc.costs.rules._make import per_input, register


def generated(ops: str, flops: int) -> None:
    """Register ``ops`` with ``flops`` per output element and no reads."""
    register("", ops, lambda v: Cost(0, flops * v.out_numel(), 0))


generated("RandomNormal RandomNormalLike RandomUniform RandomUniformLike", 1)
generated("Range", 2)  # start + i·delta
generated("HannWindow HammingWindow", 4)  # ×, cos, ×, −
generated("BlackmanWindow", 8)  # two cosines
generated("MelWeightMatrix", 5)  # two slopes (−, ÷ each) and a min
register("", "Bernoulli", per_input(2))  # draw and compare


@cost("", "Multinomial")
def multinomial(v: NodeView) -> Cost:
    """Inverse transform sampling of (batch, classes): softmax, cumulative sum, one draw per sample."""
    return Cost(0, (SOFTMAX + 1) * v.numel(0) + v.out_numel())
