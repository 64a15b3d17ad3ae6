"""Convolutions.

One formula covers every rank, stride, dilation, padding and group: each output element is a dot
product with one filter, and W holds a filter as ``W[1:] = (C/group, k1, …, kn)``.
"""

from __future__ import annotations

from py_autodoc.costs.flop_weights import ACTIVATION, QUANTIZE, interpolation
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, prod


def filter_size(v: NodeView, i: int) -> int:
    """Return the elements of one filter of weight ``i``: C/group · k1 · … · kn.

    Raises: UnknownSize for an invalid group, or a weight that is not (M, C/group, k…).
    """
    v.positive_attr("group", 1)
    w = v.shape(i)
    if len(w) < 2:
        raise UnknownSize(f"input {i} is not a filter (rank {len(w)})")
    return prod(w[1:])


def bias_adds(v: NodeView, i: int) -> int:
    """Return one addition per output element if bias ``i`` is present."""
    return v.out_numel() if v.has(i) else 0


@cost("", "Conv", "ConvInteger", macs=True)
def conv(v: NodeView) -> Cost:
    """Y (N, M, o1…on) = X (N, C, d1…dn) * W (M, C/group, k1…kn): prod(Y) · C/group · prod(k)."""
    bias = bias_adds(v, 2) if v.op == "Conv" else 0  # ConvInteger's input 2 is a zero point
    return Cost.of(v.out_numel() * filter_size(v, 1), bias)


@cost("", "QLinearConv", macs=True)
@cost("com.microsoft", "QLinearConv", macs=True)
def qlinear_conv(v: NodeView) -> Cost:
    """Like Conv with the weight at input 3 and bias at 8; the accumulator is requantized."""
    return Cost.of(v.out_numel() * filter_size(v, 3), bias_adds(v, 8) + QUANTIZE * v.out_numel())


@cost("", "ConvTranspose", macs=True)
@cost("com.microsoft", "ConvTransposeWithDynamicPads", macs=True)
def conv_transpose(v: NodeView) -> Cost:
    """Each input element is multiplied by one filter of W (C, M/group, k…): prod(X) · M/group · prod(k)."""
    bias = 2 if v.node.domain == "" else 3
    return Cost.of(v.numel(0) * filter_size(v, 1), bias_adds(v, bias))


@cost("", "DeformConv", macs=True)
def deform_conv(v: NodeView) -> Cost:
    """Deformable convolution v2 (arXiv:1811.11168): Conv over bilinear samples, times an optional mask.

    X (N, C, H, W), W (oC, C/group, kH, kW), Y (N, oC, oH, oW). Samples: N · C · kH · kW · oH · oW.
    """
    x, w, y = v.shape(0), v.shape(1), v.out()
    if not 3 <= len(x) <= 8:
        raise UnknownSize(f"input 0 of rank {len(x)}")
    samples = prod(x[:2]) * prod(w[2:]) * prod(y[2:])
    taps = 2 ** (len(x) - 2)
    sampling = samples * (interpolation(taps) + v.has(4))
    return Cost.of(v.out_numel() * filter_size(v, 1), bias_adds(v, 3) + sampling)


@cost("", "CausalConvWithState", macs=True)
def causal_conv(v: NodeView) -> Cost:
    """Depthwise causal convolution: X (B, C, T), W (C, 1, k): prod(Y) · k, then bias and SiLU."""
    name = v.text_attr("activation", "none")
    activation = 0 if name == "none" else ACTIVATION["Silu"] * v.out_numel()
    return Cost.of(v.out_numel() * filter_size(v, 1), bias_adds(v, 2) + activation)


def fused_activation(v: NodeView) -> int:
    """Return the FLOPs of the activation that a fused operator names, 0 if none.

    Raises: UnknownSize for a name outside ``flop_weights.ACTIVATION``.
    """
    name = v.text_attr("activation", "")
    if not name:
        return 0
    if name not in ACTIVATION:
        raise UnknownSize(f"fused activation {name} is unknown")
    return ACTIVATION[name] * v.out_numel()


@cost("com.microsoft", "FusedConv", "NhwcFusedConv", "NhwcConv", macs=True)
def fused_conv(v: NodeView) -> Cost:
    """Conv + residual Z (input 3) + activation. W is (M, C/group, k…) or (M, k…, C/group)."""
    residual = v.out_numel() if v.has(3) else 0
    extra = bias_adds(v, 2) + residual + fused_activation(v)
    return Cost.of(v.out_numel() * filter_size(v, 1), extra)
