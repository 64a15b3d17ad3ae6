"""Normalizations, softmax and losses: a fixed number of FLOPs per element (formulas in weights)."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import BATCH_NORM, LAYER_NORM, RMS_NORM, SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, prod
from py_autodoc.costs.rules._make import per_input, register
from py_autodoc.costs.windows import over_channels

register("", "Softmax LogSoftmax", per_input(SOFTMAX))
register("", "Hardmax", per_input(1))  # one comparison per element
register("", "MeanVarianceNormalization", per_input(LAYER_NORM))
register("", "LpNormalization", per_input(3))  # |x|^p, sum, ÷ norm
register("", "InstanceNormalization GroupNormalization", per_input(LAYER_NORM + 2))  # × scale, + bias


@cost("", "LayerNormalization")
def layer_norm(v: NodeView) -> Cost:
    """(x − mean)/σ · scale (+ bias): 5 + 1 (+ 1) FLOPs per element."""
    return Cost(0, (LAYER_NORM + 1 + v.has(2)) * v.numel(0))


@cost("", "RMSNormalization")
def rms_norm(v: NodeView) -> Cost:
    """x/rms(x) · scale: 3 + 1 FLOPs per element."""
    return Cost(0, (RMS_NORM + 1) * v.numel(0))


@cost("", "BatchNormalization")
def batch_norm(v: NodeView) -> Cost:
    """x·a + b with folded a, b; training mode also computes the mean and variance of the batch."""
    training = v.int_attr("training_mode", 0) or v.n_outputs > 3
    return Cost(0, (LAYER_NORM + 2 if training else BATCH_NORM) * v.numel(0))


@cost("", "LRN")
def lrn(v: NodeView) -> Cost:
    """Y = x / (bias + α/size · Σ x²)^β over w channels: square, w − 1 +, ×, +, pow, ÷.

    w is ``size``, less where the window extends past the first or last channel.
    """
    x = v.shape(0)
    if len(x) < 2:
        raise UnknownSize("LRN needs an axis of channels")
    summed = over_channels(v.positive_attr("size"), x[1]) * x[0] * prod(x[2:])
    return Cost(0, summed + 4 * v.numel(0))


@cost("", "SoftmaxCrossEntropyLoss")
def cross_entropy(v: NodeView) -> Cost:
    """LogSoftmax over the scores, then select, weight and reduce one value per label."""
    return Cost(0, SOFTMAX * v.numel(0) + 2 * v.numel(1))


@cost("", "NegativeLogLikelihoodLoss")
def nll_loss(v: NodeView) -> Cost:
    """Negate, weight and reduce one value per label; only the labelled scores are read."""
    return Cost(0, (2 + v.has(2)) * v.numel(1))
