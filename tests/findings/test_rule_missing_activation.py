"""missing-activation: pairs of layers that are one; and all the pairs that are not."""

from __future__ import annotations

import pytest
from onnx import helper
from rule_help import Net, dense, found, model, weight

RULE = "missing-activation"


@pytest.mark.parametrize("bias", [False, True])
def test_fires(bias):
    (finding,) = found(RULE, dense(512, 512, 512, act="", bias=bias))
    assert finding.severity == "low"
    assert finding.nodes == ((0, 2) if bias else (0, 1))
    assert finding.evidence == {
        "params": 2 * 512 * 512, "merged_params": 512 * 512, "macs": 2 * 512 * 512, "saved_macs": 512 * 512,
    }  # fmt: skip


def test_medium_when_much_work_is_saved():
    (finding,) = found(RULE, dense(1024, 1024, 1024, act="", rows=128))
    assert finding.severity == "medium"


def test_fires_on_pointwise_convolutions():
    net = Net(1, 256, 8, 8)
    (finding,) = found(RULE, net.model(net.conv(net.conv("x", 512, 1), 256, 1)))
    assert finding.evidence["merged_params"] == 256 * 256


def test_does_not_fire_with_an_activation():
    for act in ("Relu", "Gelu", "Sigmoid", "Softmax"):
        assert found(RULE, dense(512, 512, 512, act=act)) == []


def test_does_not_fire_on_factors_of_low_rank():
    assert found(RULE, dense(1024, 128, 1024, act="")) == []
    net = Net(1, 256, 8, 8)
    assert found(RULE, net.model(net.conv(net.conv("x", 256), 256))) == []  # 5×5 needs more than twice 3×3


def test_does_not_fire_on_separable_or_strided_convolutions():
    net = Net(1, 512, 8, 8)
    assert found(RULE, net.model(net.conv(net.conv("x", 512, group=512), 512, 1))) == []
    net = Net(1, 512, 8, 8)
    assert found(RULE, net.model(net.conv(net.conv("x", 512, 1, strides=[2, 2]), 512, 1))) == []


def test_does_not_fire_when_another_node_reads_between():
    net = Net(1, 512)
    one = net.op("MatMul", "x", net.trained(512, 512), width=512)
    two = net.op("MatMul", one, net.trained(512, 512))
    assert found(RULE, net.model(net.op("Add", one, two))) == []


def test_does_not_fire_across_attention():
    """Values, weighted by a softmax of the data, then the output projection."""
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"]),
        helper.make_node("Softmax", ["q"], ["p"]),
        helper.make_node("MatMul", ["x", "wv"], ["v"]),
        helper.make_node("MatMul", ["p", "v"], ["c"]),
        helper.make_node("MatMul", ["c", "wo"], ["y"]),
    ]
    weights = [weight("wq", 512, 64), weight("wv", 512, 512), weight("wo", 512, 512)]
    assert found(RULE, model(nodes, [("x", [64, 512])], [("y", [64, 512])], weights)) == []


def test_does_not_fire_across_a_reshape():
    net = Net(4, 512)
    one = net.op("MatMul", "x", net.trained(512, 512), width=512)
    two = net.op("Reshape", one, net.constant([512, 4]))
    assert found(RULE, net.model(net.op("MatMul", two, net.trained(4, 512)))) == []


def test_does_not_fire_on_quantized_layers():
    """The clipping of a quantizer is where a Relu went."""
    scale, zero = helper.make_tensor("s", 1, [], [0.1]), helper.make_tensor("z", 2, [], [0])
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"]),
        helper.make_node("QuantizeLinear", ["h", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("MatMul", ["d", "w2"], ["y"]),
    ]
    weights = [weight("w1", 512, 512), weight("w2", 512, 512), scale, zero]
    assert found(RULE, model(nodes, [("x", [1, 512])], [("y", [1, 512])], weights)) == []


@pytest.mark.parametrize(
    "name",
    ["resnet50", "mobilenet_v2", "segformer_b0", "convnext_tiny", "gpt2", "t5_small_encoder", "detr_r50"],
)
def test_does_not_fire_on_known_architectures(name):
    assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx") == []
