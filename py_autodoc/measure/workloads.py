"""Small models that measure ONNX Runtime's rates on a CPU, one per kind of kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

PRODUCT, CONVOLUTION, DEPTHWISE, MOVED, CACHED, START = (
    "product",
    "convolution",
    "depthwise",
    "moved",
    "cached",
    "start",
)
Shapes = Mapping[str, tuple[int, ...]]
_CHAIN = 100
"""Operators in the model that measures the overhead per operator."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A model, its input shapes, and the work per run: FLOPs, bytes, or operators."""

    kind: str
    model: bytes
    shapes: Shapes
    work: float


def workloads() -> list[Workload]:
    """Return all workloads, with typical sizes: a layer of a transformer, stages of a ResNet."""
    return [
        *(_product(*sizes) for sizes in ((128, 768, 768), (128, 768, 3072), (512, 384, 1536))),
        _attention(12, 128, 64),
        *(_convolution(*sizes) for sizes in ((64, 56, 64, 3), (256, 56, 64, 1), (256, 14, 256, 3))),
        *(_depthwise(*sizes) for sizes in ((64, 56, 3), (384, 14, 3))),
        _pointwise(MOVED, "LayerNormalization", (4096, 512)),
        _pointwise(MOVED, "Softmax", (16384, 128)),
        _pointwise(MOVED, "Add", (4096, 1024)),
        _pointwise(MOVED, "Erf", (1024, 1024)),
        _pointwise(MOVED, "Transpose", (8, 128, 12, 64), perm=[0, 2, 1, 3]),
        _pointwise(CACHED, "Relu", (256, 512)),
        _chain(),
    ]


def _random(*shape: int) -> Any:
    return np.random.default_rng(0).random(shape, dtype=np.float32) - np.float32(0.5)


def _model(nodes: Sequence[Any], shapes: Shapes, weights: dict[str, Any]) -> bytes:
    """Build a model of the nodes; its output is that of the last node."""
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in shapes.items()]
    output = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(list(nodes), "workload", inputs, [output], tensors)
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def _product(m: int, k: int, n: int) -> Workload:
    shapes = {"x": (m, k)}
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return Workload(PRODUCT, _model([node], shapes, {"w": _random(k, n)}), shapes, 2.0 * m * k * n)


def _attention(heads: int, rows: int, size: int) -> Workload:
    shapes = {"q": (1, heads, rows, size), "k": (1, heads, size, rows), "v": (1, heads, rows, size)}
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["shares"]),
        helper.make_node("MatMul", ["shares", "v"], ["y"]),
    ]
    return Workload(PRODUCT, _model(nodes, shapes, {}), shapes, 4.0 * heads * rows * rows * size)


def _convolution(channels: int, size: int, filters: int, kernel: int) -> Workload:
    shapes = {"x": (1, channels, size, size)}
    node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)
    weights = {"w": _random(filters, channels, kernel, kernel)}
    flops = 2.0 * channels * filters * kernel * kernel * size * size
    return Workload(CONVOLUTION, _model([node], shapes, weights), shapes, flops)


def _depthwise(channels: int, size: int, kernel: int) -> Workload:
    """Four layers in a row, so that layout conversions at both ends weigh as little as in a model."""
    shapes = {"x": (1, channels, size, size)}
    names = ["x", "a", "b", "c", "y"]
    nodes = [
        helper.make_node(
            "Conv",
            [names[at], "w"],
            [names[at + 1]],
            group=channels,
            kernel_shape=[kernel, kernel],
            pads=[kernel // 2] * 4,
        )
        for at in range(4)
    ]
    weights = {"w": _random(channels, 1, kernel, kernel)}
    flops = 4 * 2.0 * channels * kernel * kernel * size * size
    return Workload(DEPTHWISE, _model(nodes, shapes, weights), shapes, flops)


def _pointwise(kind: str, operator: str, shape: tuple[int, ...], **attributes: Any) -> Workload:
    """An elementwise operator; its work is the bytes that it reads and writes."""
    extra = {"Add": ["x"], "LayerNormalization": ["w"]}.get(operator, [])
    weights = {"w": _random(shape[-1])} if "w" in extra else {}
    nodes = [helper.make_node(operator, ["x", *extra], ["y"], **attributes)]
    moved = 4.0 * float(np.prod(shape)) * 2
    return Workload(kind, _model(nodes, {"x": shape}, weights), {"x": shape}, moved)


def _chain() -> Workload:
    """Operators on tiny tensors, in sequence."""
    names = ["x", *(f"y{at}" for at in range(_CHAIN))]
    nodes = [
        helper.make_node("MatMul", [names[at], "w"], [names[at + 1]])
        if at % 2
        else helper.make_node("Softmax", [names[at]], [names[at + 1]])
        for at in range(_CHAIN)
    ]
    shapes = {"x": (1, 16)}
    return Workload(START, _model(nodes, shapes, {"w": _random(16, 16)}), shapes, float(_CHAIN))
