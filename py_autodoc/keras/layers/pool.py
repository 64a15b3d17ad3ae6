"""Pooling over a moving window, and global pooling."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.conv import channels_second, put_back, window
from py_autodoc.keras.tensor import KerasTensor, permuted


@layer(*(f"{kind}Pooling{n}D" for kind in ("Max", "Average") for n in (1, 2, 3)))
def pool(call: LayerCall) -> KerasTensor:
    """Maximum or mean of a window, excluding padding."""
    largest, dims = call.spec.kind.startswith("Max"), int(call.spec.kind[-2])
    x = call.floating()
    call.rank(x, dims + 2)
    order = channels_second(call, x.rank)
    moves = window(call, dims, "pool_size")
    shape = permuted(x.shape, order)
    padding, out = moves.padded(shape[2:])
    if any(size is not None and size < 1 for size in out):
        raise call.refuse("with an input that is smaller than its window")
    more = {} if largest else {"count_include_pad": 0}
    kind = "MaxPool" if largest else "AveragePool"
    value = call.builder.op(kind, call.builder.transposed(x, order), **moves.attributes(), **padding, **more)
    return put_back(call, value, (*shape[:2], *out), order)


@layer(*(f"Global{kind}Pooling{n}D" for kind in ("Max", "Average") for n in (1, 2, 3)))
def pool_all(call: LayerCall) -> KerasTensor:
    """Maximum or mean of each channel, in any axis order."""
    largest, dims = "Max" in call.spec.kind, int(call.spec.kind[-2])
    x, op = call.floating(), call.builder.op
    call.rank(x, dims + 2)
    channel = 1 if call.settings.channels_first() else x.rank - 1
    keepdims = call.settings.flag("keepdims")
    spatial = [axis for axis in range(1, x.rank) if axis != channel]
    axes = call.builder.constant(np.array(sorted(map(x.position_of, spatial)), np.int64))
    mask = None if largest or dims != 1 else call.mask_of(x)
    if mask is not None:
        value = _masked_mean(call, x, mask, axes, keepdims)
    else:
        value = op("ReduceMax" if largest else "ReduceMean", x.value, axes, keepdims=int(keepdims))
    if keepdims:
        shape = tuple(1 if axis in spatial else size for axis, size in enumerate(x.shape))
        return call.new_tensor(value, shape, x.order)
    kept_axes = [axis for axis in x.order if axis not in spatial]
    return call.new_tensor(
        value, (x.shape[0], x.shape[channel]), tuple(0 if axis == 0 else 1 for axis in kept_axes)
    )


def _masked_mean(
    call: LayerCall, x: KerasTensor, mask: KerasTensor, axes: ir.Value, keepdims: bool
) -> ir.Value:
    """Return the mean of the unmasked steps."""
    op = call.builder.op
    weights = call.builder.cast(mask, ir.DataType.FLOAT)
    wide = op("Unsqueeze", weights.value, call.builder.constant(np.array([2], np.int64)))
    step = 1 if not call.settings.channels_first() else 2
    order = x.order if step == 1 else tuple({0: 0, 1: 2, 2: 1}[axis] for axis in x.order)
    factor = call.builder.transposed(call.new_tensor(wide, (*mask.shape, 1)), order)
    total = op("ReduceSum", op("Mul", x.value, factor), axes, keepdims=int(keepdims))
    return op("Div", total, op("ReduceSum", factor, axes, keepdims=int(keepdims)))
