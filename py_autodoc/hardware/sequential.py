"""Kernels that run several steps in sequence: recurrent layers and mixtures of experts.

A recurrent layer is one product for the inputs of all steps, then ``recurrent_kernels`` per step, each
waiting for the previous one: a product with the recurrent weights, and the gates. The weights are read again
in each step, from the cache if they fit. A mixture of experts is its routing, two products and a sum; only
weights of experts with at least one token are read, assuming evenly distributed tokens. Products separate for
each expert (``routed``) run only for these experts.

cuDNN's persistent kernels keep the recurrent weights on the multiprocessors and need no launch per step: for
small batches they are several times faster, between the bound and the estimate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from py_autodoc.graph.ir.model import Shape
from py_autodoc.hardware.latency_model import LatencyConstants


class Steps(NamedTuple):
    """A recurrent layer at given dimensions: ``width`` = directions · gates · hidden size."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    width: float

    @property
    def recurrent_share(self) -> float:
        """Share of the weights that multiply the state."""
        return self.hidden / (self.inputs + self.hidden)


def steps_of(shape: Shape, axis: int, hidden: int, macs: int) -> Steps | None:
    """Return the work of a recurrent layer with an input of ``shape``; None if a size is unknown.

    Its MACs are steps · batch · width · (inputs + hidden), in which only the width is not part of the shape.
    """
    if len(shape) != 3 or axis > 1 or not all(isinstance(size, int) and size >= 0 for size in shape):
        return None
    sizes = [size for size in shape if isinstance(size, int)]
    steps, batch, inputs = sizes[axis], sizes[1 - axis], sizes[2]
    executed = steps * batch * (inputs + hidden)
    return Steps(steps, batch, inputs, hidden, macs / executed if executed else 0.0)


class Routing(NamedTuple):
    """Distribution of tokens in a mixture of experts."""

    active_experts: float
    """Average number of experts with at least one token."""
    share: float
    """The same as a share of all experts."""
    rows: float
    """Tokens per such expert."""


def routing(shape: Shape, chosen: int) -> Routing | None:
    """Return the routing for tokens × experts, ``chosen`` experts per token; None if a size is unknown."""
    sizes = [size for size in shape if isinstance(size, int) and size >= 0]
    if len(sizes) != len(shape) or not sizes:
        return None
    tokens, experts = math.prod(sizes[:-1]), sizes[-1]
    if not tokens or not experts:
        return Routing(0.0, 0.0, 0.0)
    probability = min(chosen, experts) / experts
    share = 1.0 - (1.0 - probability) ** tokens
    active_experts = experts * share
    return Routing(active_experts, share, tokens * min(chosen, experts) / active_experts)


def round_up(rows: float) -> int:
    """Round up to whole tokens, tolerating rounding errors."""
    return math.ceil(rows - 1e-6)


def experts_share(expert_routing: Routing, model: LatencyConstants) -> float:
    """Return the share of the peak that expert products reach: rows are padded to whole tiles."""
    if not expert_routing.rows:
        return model.batched_e
    padded = math.ceil(expert_routing.rows / model.experts_rows) * model.experts_rows
    return max(model.batched_e * expert_routing.rows / padded, model.utilisation_floor)
