"""Signal processing: DFT, STFT, MelWeightMatrix, windows; and MaxUnpool.

Scalars are often written as tensors of one element; unlike ONNX's own inference, both forms are accepted.
Sizes follow the documentation of the operators.
"""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.shapes.shape_context import FLOAT, INT64, InvalidNode, ShapeContext, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic


def one_value(op: ShapeContext, i: int) -> Dim:
    """Return the single element of an input as a size; None if unknown."""
    value = op.value(i)
    if value is None or value.size != 1:
        return None
    item = value.reshape(-1).tolist()[0]
    return item if isinstance(item, (int, str)) else None


@rule("DFT")
def dft(op: ShapeContext) -> None:
    """Complex numbers have a last axis of 2; ``onesided`` keeps n//2 + 1 frequencies."""
    shape = op.shape(0)
    op.set(0, None, op.dtype(0))
    if shape is None:
        return
    if len(shape) < 2:
        raise InvalidNode("shape-mismatch", f"the input has rank {len(shape)}, at least 2 are needed")
    axis: Dim = op.int_attr("axis", 1) if op.opset < 20 else -2
    if op.opset >= 20 and op.has(2):
        axis = one_value(op, 2)
    inverse, onesided = bool(op.int_attr("inverse", 0)), bool(op.int_attr("onesided", 0))
    last = 1 if inverse and onesided else 2
    if not isinstance(axis, int):
        op.set(0, (None,) * (len(shape) - 1) + (last,))
        return
    if not -len(shape) <= axis < len(shape):
        raise InvalidNode("bad-attribute", f"axis {axis} is out of range for rank {len(shape)}")
    axis_index = axis % len(shape)
    size = one_value(op, 1) if op.has(1) else shape[axis_index]
    if onesided and inverse:
        size = size if op.has(1) else dim_arithmetic.mul(dim_arithmetic.sub(size, 1), 2)
    elif onesided:
        size = dim_arithmetic.add(dim_arithmetic.floordiv(size, 2), 1)
    out = [*shape[:-1], last]
    out[axis_index] = size
    op.set(0, tuple(out))


@rule("STFT")
def stft(op: ShapeContext) -> None:
    """[batch, signal, 1 or 2] → [batch, frames, frequencies, 2]."""
    signal = op.shape(0)
    op.set(0, None, op.dtype(0))
    if signal is None:
        return
    step = one_value(op, 1)
    window = op.shape(2)
    length: Dim = signal[1] if len(signal) > 1 else None
    frame: Dim = length
    if op.has(3):
        frame = one_value(op, 3)
    elif op.has(2):
        frame = window[0] if window else None
    if isinstance(step, int) and step <= 0:
        raise InvalidNode("bad-shape", f"frame_step is {step}")
    frames = dim_arithmetic.floordiv(dim_arithmetic.sub(length, frame), step)
    # The number of one-sided frequencies depends on the frame, not on the padded window.
    bins = dim_arithmetic.add(dim_arithmetic.floordiv(frame, 2), 1) if op.int_attr("onesided", 1) else frame
    op.set(0, (signal[0] if signal else None, dim_arithmetic.add(frames, 1), bins, 2))


@rule("MelWeightMatrix")
def mel_weight_matrix(op: ShapeContext) -> None:
    """[dft_length // 2 + 1, mel bins]."""
    bins, length = one_value(op, 0), one_value(op, 1)
    op.set(
        0,
        (dim_arithmetic.add(dim_arithmetic.floordiv(length, 2), 1), bins),
        op.int_attr("output_datatype", FLOAT),
    )


@rule("BlackmanWindow", "HannWindow", "HammingWindow")
def signal_window(op: ShapeContext) -> None:
    """One dimension of the given size."""
    op.set(0, (one_value(op, 0),), op.int_attr("output_datatype", FLOAT))


@rule("MaxUnpool")
def max_unpool(op: ShapeContext) -> None:
    """Inverse of MaxPool: ``(in - 1)·stride + kernel - pads``, or the given shape."""
    x, kernel = op.shape(0), op.ints_attr("kernel_shape")
    op.set(0, None, op.dtype(0))
    if op.has(2):
        op.set(0, op.dims_in(2))
        return
    if x is None or kernel is None:
        return
    n = len(x) - 2
    strides = op.ints_attr("strides") or (1,) * n
    pads = op.ints_attr("pads") or (0,) * (2 * n)
    if not len(kernel) == len(strides) == len(pads) // 2 == n:
        raise InvalidNode("bad-attribute", f"kernel_shape, strides and pads do not fit rank {len(x)}")
    out = []
    for i, d in enumerate(x[2:]):
        size = dim_arithmetic.add(dim_arithmetic.mul(dim_arithmetic.sub(d, 1), strides[i]), kernel[i])
        out.append(dim_arithmetic.sub(size, pads[i] + pads[i + n]))
    op.set(0, (x[0], x[1], *out))


@rule("StringSplit")
def string_split(op: ShapeContext) -> None:
    """Substrings along a new axis of data-dependent size, and their number."""
    shape = op.shape(0)
    if shape is not None:
        op.set(0, (*shape, op.fresh(len(shape))), 8)
    op.set(1, shape, INT64)
