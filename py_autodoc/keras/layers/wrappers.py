"""Layers that wrap other layers."""

from __future__ import annotations

from py_autodoc.keras.conversion_errors import Unsupported, broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layer_weight_slots import RECURRENT
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.layers.merge import aligned
from py_autodoc.keras.layers.recurrent import run
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.spec import leaves
from py_autodoc.keras.tensor import KerasTensor, identity_order

_MASKED = (*RECURRENT, "RNN", "Bidirectional", "Softmax", "GlobalAveragePooling1D")
"""Layers that would use part of a mask."""
MODES = {"sum": "Add", "mul": "Mul", "ave": "Add"}


@layer("Bidirectional")
def bidirectional(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """One recurrent layer forwards and one backwards, whose steps are returned in the order of the input."""
    forward, backward = call.spec.parts.get("layer"), call.spec.parts.get("backward_layer")
    if forward is None or backward is None:
        raise broken(call.file, f"{call.spec.label} has no layer.")
    for direction in (forward, backward):
        if direction.custom or direction.kind not in (*RECURRENT, "RNN"):
            raise call.refuse(f"around {direction.label}")
    tensors = [leaf for leaf in leaves(call.args) if isinstance(leaf, KerasTensor)]
    wired = [leaf for leaf in leaves(call.kwargs.get("initial_state")) if isinstance(leaf, KerasTensor)]
    x, initial = tensors[:1], tensors[1:] or wired
    half = len(initial) // 2
    if forward.config.get("go_backwards", False) or not backward.config.get("go_backwards", False):
        raise call.refuse("around a layer that already goes backwards")
    zeros = bool(forward.config.get("return_sequences"))
    results = []
    for spec, states in ((forward, initial[:half]), (backward, initial[half:])):
        name = "forward_layer" if spec is forward else "backward_layer"
        with call.host.enter(call, spec, name, ([*x, *states],), mask=call.kwargs.get("mask")) as inner:
            results.append(run(inner, in_time=True, zeros=zeros))
    (forward_output, forward_states), (backward_output, backward_states) = results
    states = [*forward_states, *backward_states] if forward.config.get("return_state") else []
    mode = call.spec.config.get("merge_mode", "concat")
    if mode is None:
        return [forward_output, backward_output, *states]
    result = _joined(call, forward_output, backward_output, mode)
    return [result, *states] if states else result


def _joined(call: LayerCall, forward: KerasTensor, backward: KerasTensor, mode: object) -> KerasTensor:
    values, order = aligned(call, [forward, backward])
    shape, op = forward.shape, call.builder.op
    if mode == "concat":
        axis = order.index(forward.rank - 1)
        width = (forward.shape[-1] or 0) + (backward.shape[-1] or 0)
        return call.new_tensor(op("Concat", *values, axis=axis), (*shape[:-1], width), order).masked(
            forward.mask
        )
    if mode not in MODES:
        raise call.settings.wrong("merge_mode", "one of concat, sum, ave, mul")
    value = op(MODES[str(mode)], *values)
    value = op("Mul", value, number(call, 0.5)) if mode == "ave" else value
    return call.new_tensor(value, shape, order).masked(forward.mask)


@layer("TimeDistributed")
def time_distributed(call: LayerCall) -> KerasTensor:
    """Apply a layer to every step by merging the steps into the batch."""
    inner = call.spec.parts.get("layer")
    if inner is None:
        raise broken(call.file, f"{call.spec.label} has no layer.")
    x = call.tensor()
    if x.rank < 3:
        raise broken(call.file, f"{call.spec.label} is called with {x.rank} axes, and takes 3 or more.")
    if x.mask is not None and (inner.model is not None or inner.kind in _MASKED):
        raise call.refuse(f"around {inner.label}, over a masked sequence")
    ordered = call.in_shape_order(x)
    flat = _reshape(call, ordered, 2, [-1], None)
    with call.host.enter(call, inner, "layer", (flat,)) as inner_call:
        result = call.host.run(inner_call)
    if isinstance(result, list) and len(result) == 1:
        result = result[0]
    if not isinstance(result, KerasTensor) or result.rank < 1:
        raise Unsupported(call.spec.label, f"around {inner.label}, which returns several tensors")
    back = _reshape(call, call.in_shape_order(result), 1, None, ordered)
    return back.masked(x.mask)


def _reshape(
    call: LayerCall, x: KerasTensor, drop: int, leading: list[int] | None, like: KerasTensor | None
) -> KerasTensor:
    """Replace the first axes of ``x`` by ``leading``, or by those of ``like``."""
    op, trailing = call.builder.op, x.shape[drop:]
    leading_dims: tuple[int | None, ...] = (None,) if like is None else like.shape[:2]
    if like is not None and leading is None:
        # One dynamic dimension can be -1; for two, the shape of the input is read.
        leading = (
            [-1 if size is None else size for size in leading_dims] if leading_dims.count(None) <= 1 else None
        )
    free = None in trailing
    if leading is not None and not (free and -1 in leading):
        target = int_constant(call, [*leading, *(-1 if size is None else size for size in trailing)])
    else:
        first = int_constant(call, leading or []) if like is None else op("Shape", like.value, end=2)
        target = op("Concat", first, op("Shape", x.value, start=drop), axis=0)
    value = op("Reshape", x.value, target)
    return call.builder.tensor(
        value, (*leading_dims, *trailing), identity_order(len(leading_dims) + len(trailing)), x.kind
    )
