"""Activations: by name, as ``activation=`` of another layer, and as separate layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.layer_call import CONVERTERS, LayerCall, layer
from py_autodoc.keras.spec import LayerSpec
from py_autodoc.keras.tensor import KerasTensor

Formula = Callable[[LayerCall, KerasTensor], ir.Value]
_LAYERS = ("LeakyReLU", "ReLU", "ELU", "Softmax", "ThresholdedReLU")


def number(call: LayerCall, value: float) -> ir.Value:
    """Return a constant number."""
    return call.builder.constant(np.float32(value))


def _operator(kind: str, **attributes: Any) -> Formula:
    return lambda call, x: call.builder.op(kind, x.value, **attributes)


def _clip(low: float, high: float) -> Formula:
    return lambda call, x: call.builder.op("Clip", x.value, number(call, low), number(call, high))


def _hard_sigmoid(call: LayerCall, x: KerasTensor) -> ir.Value:
    """The slope is steeper in Keras 2 than in Keras 3."""
    return call.builder.op("HardSigmoid", x.value, alpha=1 / 6 if call.major >= 3 else 0.2, beta=0.5)


def _silu(call: LayerCall, x: KerasTensor) -> ir.Value:
    return call.builder.op("Mul", x.value, call.builder.op("Sigmoid", x.value))


def _gelu(call: LayerCall, x: KerasTensor) -> ir.Value:
    """x·Φ(x); a single operator since opset 20."""
    op = call.builder.op
    if call.builder.opset >= 20:
        return op("Gelu", x.value, approximate="none")
    inner = op("Erf", op("Mul", x.value, number(call, 0.5**0.5)))
    half = op("Mul", x.value, number(call, 0.5))
    return op("Mul", half, op("Add", inner, number(call, 1.0)))


def _glu(call: LayerCall, x: KerasTensor) -> ir.Value:
    a, b = call.builder.ops("Split", (x.value,), 2, axis=x.position_of(-1), num_outputs=2)
    return call.builder.op("Mul", a, call.builder.op("Sigmoid", b))


def _tanh_shrink(call: LayerCall, x: KerasTensor) -> ir.Value:
    return call.builder.op("Sub", x.value, call.builder.op("Tanh", x.value))


def _log_sigmoid(call: LayerCall, x: KerasTensor) -> ir.Value:
    op = call.builder.op
    return op("Neg", op("Softplus", op("Neg", x.value)))


def _squareplus(call: LayerCall, x: KerasTensor) -> ir.Value:
    """(x + √(x² + 4)) / 2."""
    op = call.builder.op
    root = op("Sqrt", op("Add", op("Mul", x.value, x.value), number(call, 4.0)))
    return op("Mul", op("Add", x.value, root), number(call, 0.5))


def _sparse_plus(call: LayerCall, x: KerasTensor) -> ir.Value:
    """0 up to −1, (x + 1)²/4 up to 1, x above."""
    op = call.builder.op
    clipped = op("Clip", x.value, number(call, -1.0), number(call, 1.0))
    shifted = op("Add", clipped, number(call, 1.0))
    curved = op("Mul", op("Mul", shifted, shifted), number(call, 0.25))
    return op("Add", curved, op("Relu", op("Sub", x.value, number(call, 1.0))))


def _sparsemax(call: LayerCall, x: KerasTensor) -> ir.Value:
    """Project on the simplex along the last axis, as Keras computes it.

    Its threshold adds the cumulative sums of all kept elements, not only the last sum (Martins and Astudillo
    2016, algorithm 1), so the result need not add up to 1.
    """
    op, constant, axis = call.builder.op, call.builder.constant, x.position_of(-1)
    size = call.known_size(x, -1)
    rank_shape = [size if axis_number == axis else 1 for axis_number in range(x.rank)]
    ranks = constant(np.arange(1, size + 1, dtype=np.float32).reshape(rank_shape))
    axes = constant(np.array([axis], np.int64))
    ordered, _ = call.builder.ops("TopK", (x.value, constant(np.array([size], np.int64))), 2, axis=axis)
    summed = op("CumSum", ordered, constant(np.int64(axis)))
    over = op("Div", op("Sub", summed, number(call, 1.0)), ranks)
    in_support = op("Cast", op("Greater", ordered, over), to=ir.DataType.FLOAT.value)
    count = op("ReduceSum", in_support, axes, keepdims=1)
    total = op("ReduceSum", op("Mul", summed, in_support), axes, keepdims=1)
    threshold = op("Div", op("Sub", total, number(call, 1.0)), count)
    return op("Relu", op("Sub", x.value, threshold))


FORMULAS: dict[str, Formula] = {
    "linear": lambda call, x: x.value,
    "relu": _operator("Relu"),
    "relu6": _clip(0.0, 6.0),
    "leaky_relu": _operator("LeakyRelu", alpha=0.2),
    "softmax": lambda call, x: call.builder.op("Softmax", x.value, axis=x.position_of(-1)),
    "log_softmax": lambda call, x: call.builder.op("LogSoftmax", x.value, axis=x.position_of(-1)),
    "sparsemax": _sparsemax,
    "celu": _operator("Celu", alpha=1.0),
    "elu": _operator("Elu", alpha=1.0),
    "selu": _operator("Selu"),
    "softplus": _operator("Softplus"),
    "softsign": _operator("Softsign"),
    "squareplus": _squareplus,
    "soft_shrink": _operator("Shrink", bias=0.5, lambd=0.5),
    "hard_shrink": _operator("Shrink", bias=0.0, lambd=0.5),
    "sparse_plus": _sparse_plus,
    "silu": _silu,
    "swish": _silu,
    "gelu": _gelu,
    "glu": _glu,
    "tanh": _operator("Tanh"),
    "tanh_shrink": _tanh_shrink,
    "hard_tanh": _clip(-1.0, 1.0),
    "sigmoid": _operator("Sigmoid"),
    "sparse_sigmoid": _operator("HardSigmoid", alpha=0.5, beta=0.5),
    "log_sigmoid": _log_sigmoid,
    "exponential": _operator("Exp"),
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": _operator("HardSwish"),
    "hard_swish": _operator("HardSwish"),
    "mish": _operator("Mish"),
}


def formula_name(value: Any) -> str | None:
    """Return the name of an activation in a layer's settings; None if it is not a function of Keras."""
    if value is None:
        return "linear"
    if isinstance(value, dict):
        module, inner = value.get("module"), value.get("config")
        if isinstance(module, str) and module.partition(".")[0] != "keras":
            return None
        value = inner if isinstance(inner, str) else inner.get("name") if isinstance(inner, dict) else None
    return value if isinstance(value, str) and value in FORMULAS else None


def as_layer(value: Any) -> LayerSpec | None:
    """Return an activation given as a layer; None unless it is a layer without weights."""
    if (
        isinstance(value, dict)
        and value.get("class_name") in _LAYERS
        and isinstance(value.get("config"), dict)
    ):
        return LayerSpec(str(value["config"].get("name", "activation")), value["class_name"], value["config"])
    return None


def is_known_activation(value: Any) -> bool:
    """True if an activation can be converted."""
    return formula_name(value) is not None or as_layer(value) is not None


def activate(call: LayerCall, x: KerasTensor, key: str = "activation") -> KerasTensor:
    """Apply the activation named in the layer's settings. Raises: Unsupported."""
    value = call.spec.config.get(key)
    spec = as_layer(value)
    if spec is not None:
        return CONVERTERS[spec.kind](replace(call, spec=spec, args=(x,), kwargs={}))  # type: ignore[no-any-return]
    name = formula_name(value)
    if name is None:
        raise call.refuse(f"with the activation {str(value)[:60]!r}")
    if name == "linear":
        return x
    result = call.like(x, FORMULAS[name](call, x))
    if name == "glu":
        half = None if x.shape[-1] is None else x.shape[-1] // 2
        return replace(result, shape=(*x.shape[:-1], half))
    return result


@layer("Activation")
def activation(call: LayerCall) -> KerasTensor:
    """One of the functions above."""
    return activate(call, call.floating())


@layer("ReLU")
def relu(call: LayerCall) -> KerasTensor:
    """Rectified linear unit with optional slope, threshold and maximum."""
    x, op = call.floating(), call.builder.op
    slope = call.settings.number("negative_slope", 0.0)
    threshold = call.settings.number("threshold", 0.0)
    max_value = call.settings.values.get("max_value")
    high = None if max_value is None else number(call, call.settings.number("max_value"))
    if slope and high is None and not threshold:
        return call.like(x, op("LeakyRelu", x.value, alpha=slope))
    if threshold:
        above = op("Cast", op("Greater", x.value, number(call, threshold)), to=ir.DataType.FLOAT.value)
        result = op("Mul", x.value, above)
        result = result if high is None else op("Clip", result, number(call, 0.0), high)
    else:
        result = op("Relu", x.value) if high is None else op("Clip", x.value, number(call, 0.0), high)
    if slope:
        under = op("Relu", op("Sub", number(call, threshold), x.value))
        result = op("Sub", result, op("Mul", under, number(call, slope)))
    return call.like(x, result)


@layer("LeakyReLU")
def leaky_relu(call: LayerCall) -> KerasTensor:
    """The slope is called ``alpha`` in Keras 2."""
    x = call.floating()
    key = "negative_slope" if "negative_slope" in call.spec.config else "alpha"
    return call.like(x, call.builder.op("LeakyRelu", x.value, alpha=call.settings.number(key, 0.3)))


@layer("ELU")
def elu(call: LayerCall) -> KerasTensor:
    """α(eˣ − 1) below 0."""
    x = call.floating()
    return call.like(x, call.builder.op("Elu", x.value, alpha=call.settings.number("alpha", 1.0)))


@layer("ThresholdedReLU")
def thresholded_relu(call: LayerCall) -> KerasTensor:
    """X above θ, else 0 (Keras 2)."""
    x = call.floating()
    theta = call.settings.number("theta", 1.0)
    return call.like(x, call.builder.op("ThresholdedRelu", x.value, alpha=theta))


@layer("PReLU")
def prelu(call: LayerCall) -> KerasTensor:
    """A slope for each element, shared along some axes."""
    x = call.floating()
    shared = call.settings.axes("shared_axes", x.rank, ()) if call.spec.config.get("shared_axes") else ()
    shape = tuple(1 if axis in shared else call.known_size(x, axis) for axis in range(1, x.rank))
    slope = call.take("alpha", *shape)[None].transpose(x.order)
    return call.like(x, call.builder.op("PRelu", x.value, call.builder.weight(slope, "alpha")))


@layer("Softmax")
def softmax(call: LayerCall) -> KerasTensor:
    """Softmax over one or several axes; masked elements have no weight."""
    x, op = call.floating(), call.builder.op
    axes = call.settings.axes("axis", x.rank)
    mask = call.mask_of(x)
    if mask is not None:
        if mask.rank != x.rank:
            raise call.refuse("with a mask of another shape than its input")
        weights = call.builder.cast(mask, ir.DataType.FLOAT)
        out = op("Sub", number(call, 1.0), call.builder.transposed(weights, x.order))
        x = call.like(x, op("Add", x.value, op("Mul", out, number(call, -1e9))))
    if len(axes) == 1:
        return call.like(x, op("Softmax", x.value, axis=x.position_of(axes[0])))
    positions = call.builder.constant(np.array(sorted(map(x.position_of, axes)), np.int64))
    total = op("ReduceLogSumExp", x.value, positions, keepdims=1)
    return call.like(x, op("Exp", op("Sub", x.value, total)))
