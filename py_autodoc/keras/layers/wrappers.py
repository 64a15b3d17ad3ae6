"""Layers that wrap other layers."""

from __future__ import annotations

from py_autodoc.keras.conversion_errors import Unsupported, broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layer_weight_slots import RECURRENT
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.layers.merge import aligned
from py_autodoc.keras.layers.recurrent import run
from py_autodoc.keras.layers.shape import whole
from py_autodoc.keras.spec import leaves
from py_autodoc.keras.tensor import KerasTensor, straight

_MASKED = (*RECURRENT, "RNN", "Bidirectional", "Softmax", "GlobalAveragePooling1D")
"""Layers that would use part of a mask."""
MODES = {"sum": "Add", "mul": "Mul", "ave": "Add"}


@layer("Bidirectional")
def bidirectional(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """One recurrent layer forwards and one backwards, whose steps are returned in the order of the input."""
    forward, backward = call.spec.parts.get("layer"), call.spec.parts.get("backward_layer")
    if forward is None or backward is None:
        raise broken(call.file, f"{call.spec.label} has no layer.")
    for one in (forward, backward):
        if one.custom or one.kind not in (*RECURRENT, "RNN"):
            raise call.refuse(f"around {one.label}")
    given = [one for one in leaves(call.args) if isinstance(one, KerasTensor)]
    wired = [one for one in leaves(call.kwargs.get("initial_state")) if isinstance(one, KerasTensor)]
    x, initial = given[:1], given[1:] or wired
    half = len(initial) // 2
    if forward.config.get("go_backwards", False) or not backward.config.get("go_backwards", False):
        raise call.refuse("around a layer that already goes backwards")
    zeros = bool(forward.config.get("return_sequences"))
    made = []
    for spec, states in ((forward, initial[:half]), (backward, initial[half:])):
        name = "forward_layer" if spec is forward else "backward_layer"
        with call.host.enter(call, spec, name, ([*x, *states],), mask=call.kwargs.get("mask")) as inner:
            made.append(run(inner, in_time=True, zeros=zeros))
    (there, there_states), (back, back_states) = made
    states = [*there_states, *back_states] if forward.config.get("return_state") else []
    mode = call.spec.config.get("merge_mode", "concat")
    if mode is None:
        return [there, back, *states]
    found = _joined(call, there, back, mode)
    return [found, *states] if states else found


def _joined(call: LayerCall, there: KerasTensor, back: KerasTensor, mode: object) -> KerasTensor:
    values, order = aligned(call, [there, back])
    shape, op = there.shape, call.builder.op
    if mode == "concat":
        at = order.index(there.rank - 1)
        width = (there.shape[-1] or 0) + (back.shape[-1] or 0)
        return call.made(op("Concat", *values, axis=at), (*shape[:-1], width), order).masked(there.mask)
    if mode not in MODES:
        raise call.settings.wrong("merge_mode", "one of concat, sum, ave, mul")
    value = op(MODES[str(mode)], *values)
    value = op("Mul", value, number(call, 0.5)) if mode == "ave" else value
    return call.made(value, shape, order).masked(there.mask)


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
    plain = call.straight(x)
    flat = _reshape(call, plain, 2, [-1], None)
    with call.host.enter(call, inner, "layer", (flat,)) as held:
        found = call.host.run(held)
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, KerasTensor) or found.rank < 1:
        raise Unsupported(call.spec.label, f"around {inner.label}, which returns several tensors")
    back = _reshape(call, call.straight(found), 1, None, plain)
    return back.masked(x.mask)


def _reshape(
    call: LayerCall, x: KerasTensor, drop: int, lead: list[int] | None, like: KerasTensor | None
) -> KerasTensor:
    """Replace the first axes of ``x`` by ``lead``, or by those of ``like``."""
    op, rest = call.builder.op, x.shape[drop:]
    front: tuple[int | None, ...] = (None,) if like is None else like.shape[:2]
    if like is not None and lead is None:
        # One dynamic dimension can be -1; for two, the shape of the input is read.
        lead = [-1 if size is None else size for size in front] if front.count(None) <= 1 else None
    free = None in rest
    if lead is not None and not (free and -1 in lead):
        target = whole(call, [*lead, *(-1 if size is None else size for size in rest)])
    else:
        first = whole(call, lead or []) if like is None else op("Shape", like.value, end=2)
        target = op("Concat", first, op("Shape", x.value, start=drop), axis=0)
    value = op("Reshape", x.value, target)
    return call.builder.tensor(value, (*front, *rest), straight(len(front) + len(rest)), x.kind)
