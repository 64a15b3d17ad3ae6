"""Attention: with heads and projections, and the basic forms."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layer_weight_slots import NAMES_OF_ATTENTION
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.spec import LayerSpec, leaves
from py_autodoc.keras.tensor import KerasTensor

_MASKED_SCORE = -0.7 * float(np.finfo(np.float32).max)
"""Keras's score for masked keys."""


def _and(call: LayerCall, masks: list[ir.Value]) -> ir.Value | None:
    result = masks[0] if masks else None
    for mask in masks[1:]:
        result = call.builder.op("And", result, mask)
    return result


def _causal(call: LayerCall, rows: KerasTensor, columns: KerasTensor) -> ir.Value:
    """Return a mask of shape (1, queries, keys), True where a key is not later than its query."""
    op, builder = call.builder.op, call.builder
    if rows.shape[1] is not None and columns.shape[1] is not None:
        lower = np.tril(np.ones((rows.shape[1], columns.shape[1]), bool))[None]
        return builder.constant(lower, "causal")

    def steps(x: KerasTensor, axis: int) -> ir.Value:
        step = builder.constant(np.int64(1))
        count = op(
            "Squeeze", op("Shape", call.in_shape_order(x).value, start=1, end=2), int_constant(call, [0])
        )
        positions = op("Range", builder.constant(np.int64(0)), count, step)
        return op("Unsqueeze", positions, int_constant(call, [0, axis]))

    return op("GreaterOrEqual", steps(rows, 2), steps(columns, 1))


def _wide(call: LayerCall, mask: KerasTensor | None, axis: int) -> list[ir.Value]:
    """Return a mask of steps as a mask of queries (``axis`` 2) or of keys (1)."""
    if mask is None:
        return []
    return [call.builder.op("Unsqueeze", call.in_shape_order(mask).value, int_constant(call, [axis]))]


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
    if not all(isinstance(tensor, KerasTensor) for tensor in (query, key, value)):
        raise broken(call.file, f"{call.spec.label} needs a query and a value.")
    for tensor in (query, key, value):
        call.rank(tensor, 3)
    if settings.values.get("attention_axes") not in (None, 1, [1]):
        raise call.refuse("over other axes than the steps")
    heads, depth = settings.integer("num_heads"), settings.integer("key_dim")
    value_dim = settings.values.get("value_dim")
    wide = depth if value_dim is None else settings.integer("value_dim")
    parts = [
        _projected(call, tensor, projection, heads, size)
        for tensor, projection, size in (
            (query, "query_dense", depth),
            (key, "key_dense", depth),
            (value, "value_dense", wide),
        )
    ]
    scores = _scores(call, parts, depth, _mask(call, query, key, value))
    builder = call.builder
    context = builder.op("Transpose", builder.op("MatMul", scores, parts[2]), perm=[0, 2, 1, 3])
    flat = builder.op("Reshape", context, int_constant(call, [0, 0, heads * wide]))
    result = _output(call, flat, query, heads, wide).masked(query.mask)
    if not call.kwargs.get("return_attention_scores"):
        return result
    return [result, call.new_tensor(scores, (query.shape[0], heads, query.shape[1], value.shape[1]))]


def _projection(projection: str) -> LayerSpec:
    return LayerSpec(NAMES_OF_ATTENTION[projection], "EinsumDense", {})


def _projected(call: LayerCall, x: KerasTensor, projection: str, heads: int, depth: int) -> ir.Value:
    """Return a tensor of shape (batch, heads, steps, depth); for keys (batch, heads, depth, steps)."""
    builder, width = call.builder, heads * depth
    with call.host.enter(call, _projection(projection), projection):
        ordered = call.in_shape_order(builder.cast(x, ir.DataType.FLOAT))
        size = call.known_size(x, -1)
        kernel = call.weights.take((*call.path, projection), "kernel", (size, heads, depth)).reshape(
            size, width
        )
        projected = builder.op("MatMul", ordered.value, builder.weight(kernel, "kernel"))
        if call.settings.flag("use_bias", True):
            bias = call.weights.take((*call.path, projection), "bias", (heads, depth)).reshape(width)
            projected = builder.op("Add", projected, builder.weight(bias, "bias"))
        split = builder.op("Reshape", projected, int_constant(call, [0, 0, heads, depth]))
        return builder.op(
            "Transpose", split, perm=[0, 2, 3, 1] if projection == "key_dense" else [0, 2, 1, 3]
        )


def _output(call: LayerCall, flat: ir.Value, query: KerasTensor, heads: int, wide: int) -> KerasTensor:
    builder = call.builder
    shape = call.spec.config.get("output_shape")
    shape = [shape] if isinstance(shape, int) else shape
    if shape is not None and not (isinstance(shape, list) and len(shape) == 1):
        raise call.refuse("with an output_shape of several axes")
    size = (
        call.known_size(query, -1)
        if shape is None
        else call.settings.int_tuple(shape, "output_shape", 1, 1)[0]
    )
    path = (*call.path, "output_dense")
    with call.host.enter(call, _projection("output_dense"), "output_dense"):
        kernel = call.weights.take(path, "kernel", (heads, wide, size)).reshape(heads * wide, size)
        result = builder.op("MatMul", flat, builder.weight(kernel, "kernel"))
        if call.settings.flag("use_bias", True):
            result = builder.op(
                "Add", result, builder.weight(call.weights.take(path, "bias", (size,)), "bias")
            )
        return call.new_tensor(result, (*query.shape[:-1], size))


def _mask(call: LayerCall, query: KerasTensor, key: KerasTensor, value: KerasTensor) -> ir.Value | None:
    """Return the keys that each query attends to: (batch, queries, keys), with an axis for the heads."""
    masks = []
    for name, tensor, axis in (("query", query, 2), ("value", value, 1), ("key", key, 1)):
        mask = call.kwargs.get(f"{name}_mask")
        propagated = (
            tensor.mask.tensor() if tensor.mask is not None and (name != "key" or key is not value) else None
        )
        masks += _wide(call, mask if isinstance(mask, KerasTensor) else propagated, axis)
    if call.kwargs.get("use_causal_mask"):
        masks.append(_causal(call, query, value))
    mask = call.argument("attention_mask", 6)
    wide = int_constant(call, [1])
    if isinstance(mask, KerasTensor):
        if mask.rank not in (3, 4):
            raise call.refuse(f"with an attention_mask of {mask.rank} axes")
        boolean = call.in_shape_order(call.builder.cast(mask, ir.DataType.BOOL)).value
        if mask.rank == 4:
            combined = _and(call, masks)
            return (
                boolean
                if combined is None
                else call.builder.op("And", boolean, call.builder.op("Unsqueeze", combined, wide))
            )
        masks.append(boolean)
    combined = _and(call, masks)
    return None if combined is None else call.builder.op("Unsqueeze", combined, wide)


def _scores(call: LayerCall, parts: list[ir.Value], depth: int, mask: ir.Value | None) -> ir.Value:
    op = call.builder.op
    scores = op("Mul", op("MatMul", parts[0], parts[1]), number(call, depth**-0.5))
    if mask is not None:
        scores = op("Where", mask, scores, number(call, _MASKED_SCORE))
    return op("Softmax", scores, axis=-1)


@layer("Attention", "AdditiveAttention")
def attention(call: LayerCall) -> list[KerasTensor] | KerasTensor:
    """Attention without projections; scores are dot products or sums of tanh (additive)."""
    tensors = call.tensors()
    if len(tensors) not in (2, 3):
        raise broken(call.file, f"{call.spec.label} is called with {len(tensors)} tensors, and takes 2 or 3.")
    for tensor in tensors:
        call.rank(tensor, 3)
    query, value, *remaining = (
        call.in_shape_order(call.builder.cast(tensor, ir.DataType.FLOAT)) for tensor in tensors
    )
    key = remaining[0] if remaining else value
    op = call.builder.op
    scores = _plain_scores(call, query, key)
    masks = _masks(call, tensors)
    wide_mask = _wide(call, masks[1], 1)
    if call.kwargs.get("use_causal_mask") or call.spec.config.get("causal"):
        wide_mask.append(_causal(call, query, key))
    mask = _and(call, wide_mask)
    if mask is not None:
        scores = op("Where", mask, scores, op("Sub", scores, number(call, 1e9)))
    scores = op("Softmax", scores, axis=-1)
    result = op("MatMul", scores, value.value)
    if masks[0] is not None:
        result = op("Where", _wide(call, masks[0], 2)[0], result, number(call, 0.0))
    out = call.new_tensor(result, (*query.shape[:-1], value.shape[-1])).masked(tensors[0].mask)
    if not call.kwargs.get("return_attention_scores"):
        return out
    return [out, call.new_tensor(scores, (*query.shape[:-1], key.shape[1]))]


def _masks(call: LayerCall, tensors: list[KerasTensor]) -> list[KerasTensor | None]:
    """Return the masks of query and value: given ones, or those attached to the tensors."""
    wired = call.kwargs.get("mask")
    if isinstance(wired, list):
        masks = [item if isinstance(item, KerasTensor) else None for item in wired]
        return [*masks, None, None][:2]
    if [item for item in leaves(wired) if isinstance(item, KerasTensor)]:
        raise call.refuse("with one mask for several tensors")
    return [tensor.mask.tensor() if tensor.mask is not None else None for tensor in tensors[:2]]


def _plain_scores(call: LayerCall, query: KerasTensor, key: KerasTensor) -> ir.Value:
    op, builder = call.builder.op, call.builder
    additive = call.spec.kind == "AdditiveAttention"
    mode = "concat" if additive else call.settings.text("score_mode", ("dot", "concat"), "dot")
    scale = None
    if call.settings.flag("use_scale", additive):
        shape = (call.known_size(query, -1),) if additive else ()
        scale = builder.weight(call.take("scale", *shape), "scale")
    if mode == "dot":
        product = op("MatMul", query.value, op("Transpose", key.value, perm=[0, 2, 1]))
        return product if scale is None else op("Mul", product, scale)
    rows = op("Unsqueeze", query.value, int_constant(call, [2]))
    total = op("Add", rows, op("Unsqueeze", key.value, int_constant(call, [1])))
    if additive:
        scores = op("Tanh", total)
        return op(
            "ReduceSum",
            scores if scale is None else op("Mul", scores, scale),
            int_constant(call, [-1]),
            keepdims=0,
        )
    scores = op("Tanh", total if scale is None else op("Mul", total, scale))
    weight = builder.weight(call.take("concat_score_weight"), "concat_score_weight")
    return op("Mul", op("ReduceSum", scores, int_constant(call, [-1]), keepdims=0), weight)
