"""Weights that several layers use: counted once, listed with all their layers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc


def model(nodes, weights, external=None):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


W = np.ones((8, 8), np.float32)


def matmul(source, weight, out, name):
    return helper.make_node("MatMul", [source, weight], [out], name=name)


def test_none():
    report = py_autodoc.analyze(model([matmul("x", "w", "y", "a")], {"w": W}))
    assert (report.num_shared_weights, report.shared_weights) == (0, [])


@pytest.mark.parametrize("through", ["directly", "transpose"])
def test_all_layers_are_named(through):
    nodes = [matmul("x", "w", "t", "a")]
    if through == "transpose":
        nodes.append(helper.make_node("Transpose", ["w"], ["wt"], name="turn"))
    nodes.append(matmul("t", "wt" if through == "transpose" else "w", "y", "b"))
    report = py_autodoc.analyze(model(nodes, {"w": W}))
    (weight,) = report.shared_weights
    assert report.num_shared_weights == 1
    assert (weight.name, weight.shape, weight.params, weight.bytes) == ("w", [8, 8], 64, 256)
    assert weight.layer_names == ["a", "b"]
    assert [layer.name for layer in report.layers if layer.id in weight.layers] == ["a", "b"]
    assert report.metrics.total_params == 64
    assert "Shared weights, counted once" in py_autodoc.to_markdown(report)


def test_the_largest_first_and_scalars_are_no_weights():
    nodes = [
        matmul("x", "w", "t", "a"), matmul("t", "w", "u", "b"),
        helper.make_node("Add", ["u", "bias"], ["v"], name="c"),
        helper.make_node("Add", ["v", "bias"], ["p"], name="d"),
        helper.make_node("Mul", ["p", "two"], ["q"], name="e"),
        helper.make_node("Mul", ["q", "two"], ["y"], name="f"),
    ]  # fmt: skip
    weights = {"bias": np.ones(8, np.float32), "w": W, "two": np.float32(2)}
    found = py_autodoc.analyze(model(nodes, weights)).shared_weights
    assert [weight.name for weight in found] == ["w", "bias"]


def test_tensors_on_the_same_bytes_are_one_weight(tmp_path):
    """Two initializers with one place in a file of weights."""
    proto = model([matmul("x", "w", "t", "a"), matmul("t", "w2", "y", "b")], {"w": W, "w2": W})
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    for tensor in proto.graph.initializer:
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "256")):
            tensor.external_data.add(key=key, value=value)
    onnx.save(proto, tmp_path / "m.onnx")
    report = py_autodoc.analyze(tmp_path / "m.onnx")
    assert report.metrics.total_params == 64
    assert [weight.layer_names for weight in report.shared_weights] == [["a", "b"]]


def test_blocks_have_types_and_names():
    report = py_autodoc.analyze("tests/data/stripped/resnet50.stripped.onnx")
    names = {layer.id: layer.name for layer in report.layers}
    assert report.blocks
    for block in report.blocks:
        assert block.node_names == [names[node] for node in block.nodes]
        assert block.kind == "module" or block.type.endswith("Block")
    assert "ResidualBlock" in {block.type for block in report.blocks}
