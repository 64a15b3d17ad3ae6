"""Fused operators of ONNX Runtime as PyTorch code, against that runtime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from torch_files import same, save

from py_autodoc.to_torch import NotCoveredError, write

MS = "com.microsoft"


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def fused(op_type, shapes, weights=(), outputs=("y",), **attributes) -> onnx.ModelProto:
    """A model of one operator; ``shapes`` are its inputs, ``weights`` stored ones, None for omitted ones."""
    inputs = {f"x{i}": shape for i, shape in enumerate(shapes)}
    stored = {f"w{i}": value for i, value in enumerate(weights) if value is not None}
    names = [*inputs, *(f"w{i}" if f"w{i}" in stored else "" for i in range(len(weights)))]
    node = helper.make_node(op_type, names, list(outputs), domain=MS, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name],
        [numpy_helper.from_array(value, name) for name, value in stored.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


ACTIVATIONS = [
    ("Gelu", [], {}, "F.gelu("),
    ("FastGelu", [], {}, 'approximate="tanh"'),
    ("FastGelu", [floats(6)], {}, 'approximate="tanh"'),
    ("BiasGelu", [floats(6)], {}, "F.gelu("),
    ("QuickGelu", [], {}, "1.702"),
    ("QuickGelu", [], {"alpha": 0.5}, "0.5"),
]


@pytest.mark.parametrize(("op_type", "weights", "attributes", "text"), ACTIVATIONS)
def test_activations(op_type, weights, attributes, text, tmp_path):
    model = fused(op_type, [["n", 3, 6]], weights, **attributes)
    source = same(tmp_path, model, {"x0": 3 * floats(2, 3, 6)}, {"x0": floats(1, 3, 6, seed=1)})
    assert text in source


PRODUCTS = [
    ({}, (3, 4), (4, 5)),
    ({"transA": 1}, (4, 3), (4, 5)),
    ({"transB": 1}, (3, 4), (5, 4)),
    ({"transA": 1, "transB": 1, "alpha": -0.25}, (4, 3), (5, 4)),
]


@pytest.mark.parametrize(("attributes", "left", "right"), PRODUCTS)
def test_products(attributes, left, right, tmp_path):
    model = fused("FusedMatMul", [["n", *left], ["n", *right]], **attributes)
    source = same(tmp_path, model, {"x0": floats(2, *left), "x1": floats(2, *right, seed=1)})
    assert ("-0.25 * (" in source) == ("alpha" in attributes)


def refused(model, folder, reason):
    """Nothing is written, and the reason is listed."""
    with pytest.raises(NotCoveredError) as caught:
        write(save(folder, model), folder / "model.py")
    assert [one.reasons for one in caught.value.uncovered] == [(reason,)]
    assert not (folder / "model.py").exists()


@pytest.mark.parametrize("side", "AB")
def test_turned_batches_are_not_covered(side, tmp_path):
    model = fused("FusedMatMul", [[2, 2, 4], [2, 4, 4]], **{f"transBatch{side}": 1})
    refused(model, tmp_path, "transposed batches")


@pytest.mark.parametrize("outputs", [("y",), ("y", "", "", "sum")])
@pytest.mark.parametrize("biased", [False, True])
def test_skip_layer_normalization(biased, outputs, tmp_path):
    bias = floats(6, seed=4) if biased else None
    weights = [floats(6, seed=2), floats(6, seed=3), bias]
    model = fused("SkipLayerNormalization", [["n", 3, 6]] * 2, weights, outputs, epsilon=1e-3)
    same(tmp_path, model, {"x0": floats(2, 3, 6), "x1": floats(2, 3, 6, seed=1)})


def test_skip_layer_normalization_without_a_shift(tmp_path):
    model = fused("SkipLayerNormalization", [["n", 3, 6]] * 2, [floats(6, seed=2)])
    same(tmp_path, model, {"x0": floats(2, 3, 6), "x1": floats(2, 3, 6, seed=1)})


@pytest.mark.parametrize("outputs", [("y",), ("y", "", "", "sum")])
@pytest.mark.parametrize("biased", [False, True])
def test_skip_rms_normalization(biased, outputs, tmp_path):
    weights = [floats(6, seed=2), floats(6, seed=3) if biased else None]
    model = fused("SkipSimplifiedLayerNormalization", [["n", 3, 6]] * 2, weights, outputs, epsilon=1e-3)
    same(tmp_path, model, {"x0": floats(2, 3, 6), "x1": floats(2, 3, 6, seed=1)})


@pytest.mark.parametrize("op_type", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_statistics_are_not_covered(op_type, tmp_path):
    model = fused(op_type, [[2, 3, 6]] * 2, [floats(6)], ("y", "mean"))
    refused(model, tmp_path, "mean and deviation as outputs")


def test_a_row_that_is_broadcast(tmp_path):
    """The second operand may be one row for all items."""
    model = fused("SkipLayerNormalization", [["n", 3, 6], [1, 3, 6]], [floats(6), floats(6, seed=1)])
    same(tmp_path, model, {"x0": floats(2, 3, 6), "x1": floats(1, 3, 6, seed=1)})


BLOCKS = [
    (bits, block, columns, points)
    for bits, block, columns in ((4, 16, 48), (4, 32, 40), (8, 16, 16), (2, 16, 32))
    for points in ("none", "packed", "float")
    if (bits, points) != (8, "float")  # ONNX Runtime has no such kernel
]


@pytest.mark.parametrize(("bits", "block", "columns", "points"), BLOCKS)
def test_products_with_weights_in_blocks(bits, block, columns, points, tmp_path):
    rows, blocks = 5, -(-columns // block)
    random = np.random.default_rng(bits)
    packed = random.integers(0, 256, (rows, blocks, block * bits // 8), dtype=np.uint8)
    zeros = {
        "none": None,
        "packed": random.integers(0, 256, rows * -(-blocks * bits // 8), dtype=np.uint8),
        "float": floats(rows * blocks) + 2,
    }[points]
    weights = [packed, floats(rows * blocks) / 10, zeros, None, floats(rows)]
    settings = {"K": columns, "N": rows, "bits": bits, "block_size": block}
    model = fused("MatMulNBits", [["n", columns]], weights, **settings)
    source = same(tmp_path, model, {"x0": floats(3, columns)}, {"x0": floats(1, columns, seed=1)})
    assert "onnx_matmul_nbits(" in source


def test_reordered_weights_in_blocks_are_not_covered(tmp_path):
    order = np.zeros(16, np.int32)
    weights = [np.zeros((2, 1, 8), np.uint8), floats(2), None, order]
    model = fused("MatMulNBits", [[1, 16]], weights, K=16, N=2, bits=4, block_size=16)
    with pytest.raises(NotCoveredError):
        write(save(tmp_path, model), tmp_path / "out.py")
