"""Kernels that are several in a row: recurrent layers and mixtures of experts.

A recurrent layer is one product for the inputs of all steps, then ``recurrent_kernels`` a step, which wait
for each other: a product with the recurrent weights and the gates. The weights are read again in each step,
from the cache where they fit into it. A mixture of experts is its routing, two products and a sum; of its
weights those experts are read that some token goes to, of tokens spread evenly. Products that each expert has
for itself (``routed``) run for these experts alone.

cuDNN's persistent kernels keep the recurrent weights on the multiprocessors and need no start a step: with
small batches they are several times faster. That is between the bound and the estimate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from py_autodoc.graph.ir.model import Shape
from py_autodoc.hardware.latency_model import LatencyConstants


class Steps(NamedTuple):
    """A recurrent layer at its sizes: ``width`` = directions · gates · hidden size."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    width: float

    @property
    def recurrent_share(self) -> float:
        """Share of the weights that belongs to the state."""
        return self.hidden / (self.inputs + self.hidden)


def steps_of(shape: Shape, axis: int, hidden: int, macs: int) -> Steps | None:
    """What a recurrent layer with an input of ``shape`` has to do; None when a size is unknown.

    Of its MACs, steps · batch · width · (inputs + hidden), only the width is not in the shape.
    """
    if len(shape) != 3 or axis > 1 or not all(isinstance(size, int) and size >= 0 for size in shape):
        return None
    sizes = [size for size in shape if isinstance(size, int)]
    steps, batch, inputs = sizes[axis], sizes[1 - axis], sizes[2]
    executed = steps * batch * (inputs + hidden)
    return Steps(steps, batch, inputs, hidden, macs / executed if executed else 0.0)


class Routing(NamedTuple):
    """Where the tokens of a mixture of experts go."""

    hit: float
    """Experts that some token goes to, on average."""
    share: float
    """Share of them."""
    rows: float
    """Tokens of each of these."""


def routing(shape: Shape, chosen: int) -> Routing | None:
    """The routing of tokens × experts, each token to ``chosen``; None when a size is unknown."""
    sizes = [size for size in shape if isinstance(size, int) and size >= 0]
    if len(sizes) != len(shape) or not sizes:
        return None
    tokens, experts = math.prod(sizes[:-1]), sizes[-1]
    if not tokens or not experts:
        return Routing(0.0, 0.0, 0.0)
    each = min(chosen, experts) / experts
    share = 1.0 - (1.0 - each) ** tokens
    hit = experts * share
    return Routing(hit, share, tokens * min(chosen, experts) / hit)


def whole(rows: float) -> int:
    """Tokens of an expert, of which there are no parts; a rounding error is none either."""
    return math.ceil(rows - 1e-6)


def experts_share(found: Routing, model: LatencyConstants) -> float:
    """Share of the peak that the products of the experts reach: rows are padded to whole tiles."""
    if not found.rows:
        return model.batched_e
    padded = math.ceil(found.rows / model.experts_rows) * model.experts_rows
    return max(model.batched_e * found.rows / padded, model.utilisation_floor)
