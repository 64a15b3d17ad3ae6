"""The weights of each layer in the order of Keras.

A file identifies weights by position (``vars/0``) or in a flat list; only the layer's class and settings
determine their meaning. Every weight is also checked against the shape that its layer needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from py_autodoc.keras.spec import LayerSpec

PARTS_OF_ATTENTION = ("query_dense", "key_dense", "value_dense", "output_dense")
NAMES_OF_ATTENTION = dict(zip(PARTS_OF_ATTENTION, ("query", "key", "value", "attention_output"), strict=True))


@dataclass(frozen=True, slots=True)
class Slot:
    """A weight of a layer."""

    path: tuple[str, ...]
    """Path of the layer from the top: names in models, attributes in other layers."""
    name: str
    trainable: bool = True


SlotFunction = Callable[[LayerSpec], list[tuple[str, bool]]]


def _kernel(*names: str) -> SlotFunction:
    def own_slots(spec: LayerSpec) -> list[tuple[str, bool]]:
        bias = ["bias"] if spec.config.get("use_bias", True) else []
        return [(name, True) for name in [*names, *bias]]

    return own_slots


def _norm(*moving: str) -> SlotFunction:
    def own_slots(spec: LayerSpec) -> list[tuple[str, bool]]:
        scale = ["gamma"] if spec.config.get("scale", True) or spec.config.get("rms_scaling") else []
        center = ["beta"] if spec.config.get("center", True) and not spec.config.get("rms_scaling") else []
        return [(name, True) for name in [*scale, *center]] + [(name, False) for name in moving]

    return own_slots


def _always(*names: str) -> SlotFunction:
    return lambda spec: [(name, True) for name in names]


def _normalization(spec: LayerSpec) -> list[tuple[str, bool]]:
    has_mean = spec.config.get("mean") is not None
    return [] if has_mean else [("mean", False), ("variance", False), ("count", False)]


def _attention(spec: LayerSpec) -> list[tuple[str, bool]]:
    additive = spec.kind == "AdditiveAttention"
    scale = [("scale", True)] if spec.config.get("use_scale", additive) else []
    concat = [("concat_score_weight", True)] if spec.config.get("score_mode") == "concat" else []
    return scale + concat


def _einsum(spec: LayerSpec) -> list[tuple[str, bool]]:
    bias = [("bias", True)] if spec.config.get("bias_axes") else []
    return [("kernel", True), *bias]


_CELL = _kernel("kernel", "recurrent_kernel")
SLOTS_BY_CLASS: dict[str, SlotFunction] = {
    **{f"Conv{n}D{suffix}": _kernel("kernel") for n in (1, 2, 3) for suffix in ("", "Transpose")},
    **{f"DepthwiseConv{n}D": _kernel("depthwise_kernel") for n in (1, 2)},
    **{f"SeparableConv{n}D": _kernel("depthwise_kernel", "pointwise_kernel") for n in (1, 2)},
    "Dense": _kernel("kernel"),
    "EinsumDense": _einsum,
    "BatchNormalization": _norm("moving_mean", "moving_variance"),
    "LayerNormalization": _norm(),
    "GroupNormalization": _norm(),
    "RMSNormalization": _always("scale"),
    "Normalization": _normalization,
    "PReLU": _always("alpha"),
    "Embedding": _always("embeddings"),
    "Attention": _attention,
    "AdditiveAttention": _attention,
    "LSTMCell": _CELL,
    "GRUCell": _CELL,
    "SimpleRNNCell": _CELL,
}
RECURRENT = ("LSTM", "GRU", "SimpleRNN")
ALIASES = {
    "depthwise_kernel": {"kernel"},
    "kernel": {"depthwise_kernel", "depthwise"},
}
"""Other names of a weight in versions of Keras."""


def slots(spec: LayerSpec, path: tuple[str, ...], frozen: bool = False) -> Iterator[Slot]:
    """Yield the weights of a layer and of the layers in it; nesting was limited when it was parsed."""
    frozen = frozen or spec.config.get("trainable") is False
    if spec.model is not None:
        for layer in spec.model.layers.values():
            yield from slots(layer, (*path, layer.name), frozen)
    elif spec.kind in RECURRENT:
        for name, trainable in _CELL(spec):
            yield Slot((*path, "cell"), name, trainable and not frozen)
    elif spec.kind == "MultiHeadAttention":
        for projection in PARTS_OF_ATTENTION:
            for name, trainable in _kernel("kernel")(spec):
                yield Slot((*path, projection), name, trainable and not frozen)
    else:
        slots_of_class = SLOTS_BY_CLASS.get(spec.kind)
        for weight, trainable in (
            slots_of_class(spec) if slots_of_class is not None and not spec.custom else ()
        ):
            yield Slot(path, weight, trainable and not frozen)
        for key, inner in spec.parts.items():
            yield from slots(inner, (*path, *attribute(spec, key).split("/")), frozen)


def attribute(spec: LayerSpec, key: str) -> str:
    """Return Keras's name of a layer held by another one."""
    return "forward_layer" if spec.kind == "Bidirectional" and key == "layer" else key
