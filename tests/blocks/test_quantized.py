"""Which layers are quantized, and how the summary tells it."""

from __future__ import annotations

import numpy as np
import pytest
from graph_maker import G
from onnx import helper, numpy_helper
from zoo_truth import TRUTH

import py_autodoc
from py_autodoc.blocks.layer_blocks.quantized_layers import find_quantized
from py_autodoc.report.document.architecture_text import quantization_line

UINT8, INT8 = np.uint8, np.int8


def narrow(g, *shape, dtype=np.int8):
    name = g._name()
    g.constants.append(numpy_helper.from_array(np.ones(shape, dtype), name))
    return name


def dequantized(g, tensor):
    return g.op("DequantizeLinear", tensor, g.value(0.1))


def requantized(g, tensor):
    return dequantized(g, g.op("QuantizeLinear", tensor, g.value(0.1), g.value(3, UINT8)))


def schemes(g, *outputs):
    return [(q.scheme, q.weights, q.data, q.weighted) for q in find_quantized(g.flow(*outputs))]


def test_float_is_not_looked_at():
    g = G(x=(2, 4))
    assert schemes(g, g.dense("x", 4, 8)) == []


def test_between_quantize_and_dequantize():
    g = G(x=(2, 4))
    y = g.op("MatMul", requantized(g, "x"), dequantized(g, narrow(g, 4, 8)))
    y = g.op("MatMul", requantized(g, y), g.weight(8, 3))
    assert schemes(g, y) == [("QDQ", "int8", "uint8", True), ("", "", "", True)]


def test_products_of_activations_are_no_layers():
    g = G(x=(2, 4, 4))
    assert schemes(g, g.op("MatMul", requantized(g, "x"), requantized(g, "x"))) == [
        ("QDQ", "", "uint8", False)
    ]


def test_the_weight_alone():
    g = G(x=(2, 4))
    y = g.op("MatMul", "x", g.op("Transpose", dequantized(g, narrow(g, 8, 4)), perm=[1, 0]))
    assert schemes(g, y) == [("weight-only", "int8", "", True)]


def test_a_weight_that_the_graph_scales_itself():
    g = G(x=(2, 4))
    wide = g.op("Cast", narrow(g, 4, 8), to=1)
    y = g.op("MatMul", "x", g.op("Mul", g.op("Sub", wide, g.value(3.0)), g.weight(1, 8)))
    assert schemes(g, y) == [("weight-only", "int8", "", True)]


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_packed_weights(bits):
    g = G(x=(2, 32))
    packed = narrow(g, 8, 1, 4 * bits, dtype=UINT8)
    y = g.op(
        "MatMulNBits", "x", packed, g.weight(8), domain="com.microsoft", K=32, N=8, bits=bits, block_size=32
    )
    assert schemes(g, y) == [("weight-only", f"int{bits}", "", True)]


def test_quantized_while_it_runs_or_before():
    for dynamic in (True, False):
        g = G(x=(2, 4))
        if dynamic:
            x, _, zero = g.op("DynamicQuantizeLinear", "x", outputs=3)
        else:
            zero = g.value(3, UINT8)
            x = g.op("QuantizeLinear", "x", g.value(0.1), zero)
        y = g.op("MatMulInteger", x, narrow(g, 4, 8), zero)
        assert schemes(g, y) == [("dynamic" if dynamic else "QOperator", "int8", "uint8", True)]


def mixed() -> bytes:
    """A quantized layer of 4 × 8 and one of 8 × 3 that is not."""
    g = G(x=(2, 4))
    y = g.op("MatMul", requantized(g, "x"), dequantized(g, narrow(g, 4, 8)))
    y = g.op("MatMul", y, g.weight(8, 3))
    proto = g.model(y)
    for number, node in enumerate(proto.graph.node):
        node.name = f"/{node.op_type}_{number}"
    return proto.SerializeToString()


def test_the_report_names_the_layers_that_are_not():
    report = py_autodoc.analyze(mixed())
    made = report.architecture.quantization
    assert (made.quantized, made.schemes, made.weights, made.activations) == (
        True, {"QDQ": 1}, ["int8"], ["uint8"],
    )  # fmt: skip
    assert (made.layers, made.layers_total) == (1, 2)
    assert made.macs_share == pytest.approx(4 * 8 / (4 * 8 + 8 * 3))
    assert [report.layers[node].type for node in made.not_quantized] == ["MatMul"]
    assert quantization_line(report) == (
        "int8 weights and uint8 activations (QDQ) · 1 of 2 layers · 57.1 % of the MACs · not: /MatMul_4"
    )


def test_a_float_model_says_none_and_one_without_layers_nothing():
    assert quantization_line(py_autodoc.analyze("tests/data/models/mnist_cntk.onnx")) == "none"
    assert quantization_line(py_autodoc.analyze("tests/data/models/trt_loop.onnx")) == ""


def test_layers_of_branches_that_do_not_run_are_left_out():
    branches = []
    for name, weight in (("then", "w8"), ("else", "w")):
        nodes = [helper.make_node("MatMul", ["x", weight], [f"{name}_y"])]
        branches.append(
            helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(f"{name}_y")])
        )
    g = G(x=(2, 4))
    g.nodes.append(helper.make_node("DequantizeLinear", [narrow(g, 4, 8), g.value(0.1)], ["w8"]))
    g.constants.append(numpy_helper.from_array(np.ones((4, 8), np.float32), "w"))
    no = g.value(False, bool)
    g.nodes.append(helper.make_node("If", [no], ["y"], then_branch=branches[0], else_branch=branches[1]))
    made = py_autodoc.analyze(g.model("y").SerializeToString()).architecture.quantization
    assert not made.quantized


def test_the_zoo_has_every_scheme():
    held = {scheme for truth in TRUTH.values() for scheme in truth.scheme.split("+")}
    assert held >= {"QDQ", "QOperator", "dynamic", "weight-only"}
