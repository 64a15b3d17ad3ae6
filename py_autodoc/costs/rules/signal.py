"""Fourier transforms, at the radix-2 count of 5·n·log2(n) real FLOPs per complex transform of n points.

Source: Cooley & Tukey 1965. A real input needs half of it. Not in the multiply-accumulate class.
"""

from __future__ import annotations

from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, maximum, prod


def log2_ceil(n: int) -> int:
    """Return log2(n) rounded up, 0 for n of 0 or 1. Raises: UnknownSize for a symbolic size."""
    if not isinstance(n, int):
        raise UnknownSize("a transform whose length depends on the sizes has no exact expression")
    return max(n - 1, 0).bit_length()


def fft(n: int, is_real: bool) -> int:
    """Return the FLOPs of one transform of ``n`` points."""
    full = 5 * n * log2_ceil(n)
    return full // 2 if is_real else full


@cost("", "DFT")
def dft(v: NodeView) -> Cost:
    """Input (…, n, …, 1 or 2) along one axis: an attribute up to opset 19, input 2 (default −2) from 20."""
    x = v.shape(0)
    rank = len(x)
    if v.opset >= 20:
        axis_input = v.scalar(2)
        if v.has(2) and axis_input is None:
            raise UnknownSize("the axis is computed at run time")
        axis = -2 if axis_input is None else axis_input
    else:
        axis = v.int_attr("axis", 1)
    if not -rank <= axis < rank or rank < 2:
        raise UnknownSize(f"axis {axis} is outside rank {rank}")
    axis %= rank
    length = v.scalar(1)
    if v.has(1) and length is None:
        raise UnknownSize("the transform's length is computed at run time")
    n = x[axis] if length is None else length
    if n < 0:
        raise UnknownSize(f"transform length {n}")
    count = prod(d for i, d in enumerate(x[:-1]) if i != axis)
    return Cost(0, count * fft(n, x[-1] == 1))


@cost("", "STFT")
def stft(v: NodeView) -> Cost:
    """Output (batch, frames, bins, 2): one windowed transform of ``frame_length`` points per frame."""
    if len(v.out()) != 4:
        raise UnknownSize("output 0 must have 4 dimensions")
    batch, frames, bins, _ = v.out()
    onesided = v.int_attr("onesided", 1)
    frame_length = v.scalar(3)
    if frame_length is not None:
        n = frame_length
    elif v.has(2):
        n = v.numel(2)
    else:
        n = 2 * (bins - 1) if onesided else bins
    is_real = v.dim(0, -1) == 1
    return Cost(0, batch * frames * (fft(maximum(n, 0), is_real) + (maximum(n, 0) if v.has(2) else 0)))


@cost("com.microsoft", "Rfft", "Irfft")
def contrib_fft(v: NodeView) -> Cost:
    """Transforms over the last ``signal_ndim`` axes of the real side."""
    dims = v.positive_attr("signal_ndim", 1)
    shape = v.shape(0) if v.op == "Rfft" else v.out()
    if dims > len(shape):
        raise UnknownSize(f"signal_ndim {dims} is above rank {len(shape)}")
    points = prod(shape[len(shape) - dims :])
    return Cost(0, prod(shape[: len(shape) - dims]) * fft(points, True))


@cost("com.microsoft", "ComplexMul", "ComplexMulConj")
def complex_mul(v: NodeView) -> Cost:
    """(a + bi)(c + di) on (…, 2): 4 × and 2 + per two output elements."""
    return Cost(0, 3 * v.out_numel())
