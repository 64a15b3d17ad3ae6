"""Attention: with heads and projections, and the basic forms."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layer_weight_slots import NAMES_OF_ATTENTION
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.layers.shape import whole
from py_autodoc.keras.spec import LayerSpec, leaves
from py_autodoc.keras.tensor import KerasTensor

_NEVER = -0.7 * float(np.finfo(np.float32).max)
"""Keras's score for masked keys."""


def _and(call: LayerCall, masks: list[ir.Value]) -> ir.Value | None:
    found = masks[0] if masks else None
    for one in masks[1:]:
        found = call.builder.op("And", found, one)
    return found


def _causal(call: LayerCall, rows: KerasTensor, columns: KerasTensor) -> ir.Value:
    """Return a mask of shape (1, queries, keys), True where a key is not later than its query."""
    op, builder = call.builder.op, call.builder
    if rows.shape[1] is not None and columns.shape[1] is not None:
        lower = np.tril(np.ones((rows.shape[1], columns.shape[1]), bool))[None]
        return builder.constant(lower, "causal")

    def steps(x: KerasTensor, axis: int) -> ir.Value:
        one = builder.constant(np.int64(1))
        count = op("Squeeze", op("Shape", call.straight(x).value, start=1, end=2), whole(call, [0]))
        found = op("Range", builder.constant(np.int64(0)), count, one)
        return op("Unsqueeze", found, whole(call, [0, axis]))

    return op("GreaterOrEqual", steps(rows, 2), steps(columns, 1))


def _wide(call: LayerCall, mask: KerasTensor | None, axis: int) -> list[ir.Value]:
    """Return a mask of steps as a mask of queries (``axis`` 2) or of keys (1)."""
    if mask is None:
        return []
    return [call.builder.op("Unsqueeze", call.straight(mask).value, whole(call, [axis]))]


@layer("MultiHeadAttention")
def multi_head(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """Softmax(q·kᵀ/√d + mask)·v for each head, between projections."""
    settings = call.settings
    for key in ("use_gate", "sliding_window"):
        if settings.values.get(key):
            raise call.refuse(f"with {key}")
    query, value = call.argument("query", 0), call.argument("value", 1)
    key = call.argument("key", 2)
    key = value if key is None else key
    if not all(isinstance(one, KerasTensor) for one in (query, key, value)):
        raise broken(call.file, f"{call.spec.label} needs a query and a value.")
    for one in (query, key, value):
        call.rank(one, 3)
    if settings.values.get("attention_axes") not in (None, 1, [1]):
        raise call.refuse("over other axes than the steps")
    heads, depth = settings.whole("num_heads"), settings.whole("key_dim")
    given = settings.values.get("value_dim")
    wide = depth if given is None else settings.whole("value_dim")
    parts = [
        _projected(call, one, part, heads, size)
        for one, part, size in (
            (query, "query_dense", depth),
            (key, "key_dense", depth),
            (value, "value_dense", wide),
        )
    ]
    scores = _scores(call, parts, depth, _mask(call, query, key, value))
    builder = call.builder
    context = builder.op("Transpose", builder.op("MatMul", scores, parts[2]), perm=[0, 2, 1, 3])
    flat = builder.op("Reshape", context, whole(call, [0, 0, heads * wide]))
    found = _output(call, flat, query, heads, wide).masked(query.mask)
    if not call.kwargs.get("return_attention_scores"):
        return found
    return [found, call.made(scores, (query.shape[0], heads, query.shape[1], value.shape[1]))]


def _projection(part: str) -> LayerSpec:
    return LayerSpec(NAMES_OF_ATTENTION[part], "EinsumDense", {})


def _projected(call: LayerCall, x: KerasTensor, part: str, heads: int, depth: int) -> ir.Value:
    """Return a tensor of shape (batch, heads, steps, depth); for keys (batch, heads, depth, steps)."""
    builder, width = call.builder, heads * depth
    with call.host.enter(call, _projection(part), part):
        plain = call.straight(builder.cast(x, ir.DataType.FLOAT))
        size = call.known(x, -1)
        kernel = call.weights.take((*call.path, part), "kernel", (size, heads, depth)).reshape(size, width)
        found = builder.op("MatMul", plain.value, builder.weight(kernel, "kernel"))
        if call.settings.flag("use_bias", True):
            bias = call.weights.take((*call.path, part), "bias", (heads, depth)).reshape(width)
            found = builder.op("Add", found, builder.weight(bias, "bias"))
        split = builder.op("Reshape", found, whole(call, [0, 0, heads, depth]))
        return builder.op("Transpose", split, perm=[0, 2, 3, 1] if part == "key_dense" else [0, 2, 1, 3])


def _output(call: LayerCall, flat: ir.Value, query: KerasTensor, heads: int, wide: int) -> KerasTensor:
    builder = call.builder
    shape = call.spec.config.get("output_shape")
    shape = [shape] if isinstance(shape, int) else shape
    if shape is not None and not (isinstance(shape, list) and len(shape) == 1):
        raise call.refuse("with an output_shape of several axes")
    size = call.known(query, -1) if shape is None else call.settings.listed(shape, "output_shape", 1, 1)[0]
    path = (*call.path, "output_dense")
    with call.host.enter(call, _projection("output_dense"), "output_dense"):
        kernel = call.weights.take(path, "kernel", (heads, wide, size)).reshape(heads * wide, size)
        found = builder.op("MatMul", flat, builder.weight(kernel, "kernel"))
        if call.settings.flag("use_bias", True):
            found = builder.op("Add", found, builder.weight(call.weights.take(path, "bias", (size,)), "bias"))
        return call.made(found, (*query.shape[:-1], size))


def _mask(call: LayerCall, query: KerasTensor, key: KerasTensor, value: KerasTensor) -> ir.Value | None:
    """Return the keys that each query attends to: (batch, queries, keys), with an axis for the heads."""
    masks = []
    for name, one, axis in (("query", query, 2), ("value", value, 1), ("key", key, 1)):
        given = call.kwargs.get(f"{name}_mask")
        own = one.mask.tensor() if one.mask is not None and (name != "key" or key is not value) else None
        masks += _wide(call, given if isinstance(given, KerasTensor) else own, axis)
    if call.kwargs.get("use_causal_mask"):
        masks.append(_causal(call, query, value))
    given = call.argument("attention_mask", 6)
    wide = whole(call, [1])
    if isinstance(given, KerasTensor):
        if given.rank not in (3, 4):
            raise call.refuse(f"with an attention_mask of {given.rank} axes")
        held = call.straight(call.builder.cast(given, ir.DataType.BOOL)).value
        if given.rank == 4:
            found = _and(call, masks)
            return (
                held
                if found is None
                else call.builder.op("And", held, call.builder.op("Unsqueeze", found, wide))
            )
        masks.append(held)
    found = _and(call, masks)
    return None if found is None else call.builder.op("Unsqueeze", found, wide)


def _scores(call: LayerCall, parts: list[ir.Value], depth: int, mask: ir.Value | None) -> ir.Value:
    op = call.builder.op
    scores = op("Mul", op("MatMul", parts[0], parts[1]), number(call, depth**-0.5))
    if mask is not None:
        scores = op("Where", mask, scores, number(call, _NEVER))
    return op("Softmax", scores, axis=-1)


@layer("Attention", "AdditiveAttention")
def attention(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """Attention without projections; scores are dot products or sums of tanh (additive)."""
    given = call.tensors()
    if len(given) not in (2, 3):
        raise broken(call.file, f"{call.spec.label} is called with {len(given)} tensors, and takes 2 or 3.")
    for one in given:
        call.rank(one, 3)
    query, value, *rest = (call.straight(call.builder.cast(one, ir.DataType.FLOAT)) for one in given)
    key = rest[0] if rest else value
    op = call.builder.op
    scores = _plain_scores(call, query, key)
    masks = _masks(call, given)
    held = _wide(call, masks[1], 1)
    if call.kwargs.get("use_causal_mask") or call.spec.config.get("causal"):
        held.append(_causal(call, query, key))
    mask = _and(call, held)
    if mask is not None:
        scores = op("Where", mask, scores, op("Sub", scores, number(call, 1e9)))
    scores = op("Softmax", scores, axis=-1)
    found = op("MatMul", scores, value.value)
    if masks[0] is not None:
        found = op("Where", _wide(call, masks[0], 2)[0], found, number(call, 0.0))
    out = call.made(found, (*query.shape[:-1], value.shape[-1])).masked(given[0].mask)
    if not call.kwargs.get("return_attention_scores"):
        return out
    return [out, call.made(scores, (*query.shape[:-1], key.shape[1]))]


def _masks(call: LayerCall, given: list[KerasTensor]) -> list[KerasTensor | None]:
    """Return the masks of query and value: given ones, or those attached to the tensors."""
    wired = call.kwargs.get("mask")
    if isinstance(wired, list):
        told = [one if isinstance(one, KerasTensor) else None for one in wired]
        return [*told, None, None][:2]
    if [one for one in leaves(wired) if isinstance(one, KerasTensor)]:
        raise call.refuse("with one mask for several tensors")
    return [one.mask.tensor() if one.mask is not None else None for one in given[:2]]


def _plain_scores(call: LayerCall, query: KerasTensor, key: KerasTensor) -> ir.Value:
    op, builder = call.builder.op, call.builder
    additive = call.spec.kind == "AdditiveAttention"
    mode = "concat" if additive else call.settings.text("score_mode", ("dot", "concat"), "dot")
    scale = None
    if call.settings.flag("use_scale", additive):
        shape = (call.known(query, -1),) if additive else ()
        scale = builder.weight(call.take("scale", *shape), "scale")
    if mode == "dot":
        product = op("MatMul", query.value, op("Transpose", key.value, perm=[0, 2, 1]))
        return product if scale is None else op("Mul", product, scale)
    rows = op("Unsqueeze", query.value, whole(call, [2]))
    total = op("Add", rows, op("Unsqueeze", key.value, whole(call, [1])))
    if additive:
        found = op("Tanh", total)
        return op(
            "ReduceSum", found if scale is None else op("Mul", found, scale), whole(call, [-1]), keepdims=0
        )
    found = op("Tanh", total if scale is None else op("Mul", total, scale))
    weight = builder.weight(call.take("concat_score_weight"), "concat_score_weight")
    return op("Mul", op("ReduceSum", found, whole(call, [-1]), keepdims=0), weight)
