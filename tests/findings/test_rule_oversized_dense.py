"""oversized-dense: a layer by its parameters and share."""

from __future__ import annotations

from onnx import helper
from rule_help import INT, Net, dense, found, model, weight

RULE = "oversized-dense"


def test_fires():
    (finding,) = found(RULE, dense(25_088, 4096, 1000))
    assert finding.severity == "medium"
    assert finding.nodes == (0,)
    assert finding.evidence["params"] == 25_088 * 4096
    assert (finding.evidence["inputs"], finding.evidence["outputs"]) == (25_088, 4096)
    assert finding.evidence["macs"] == 25_088 * 4096


def test_a_smaller_share_is_low():
    severities = [f.severity for f in found(RULE, dense(4096, 4096, 4096, 4096))]
    assert severities == ["low"] * 3


def test_fires_on_a_convolution_over_its_whole_input():
    net = Net(1, 512, 7, 7)
    (finding,) = found(RULE, net.model(net.conv("x", 4096, 7, pad=0)))
    assert finding.evidence["inputs"] == 25_088


def test_does_not_fire_on_a_convolution():
    net = Net(1, 512, 14, 14)
    assert found(RULE, net.model(net.conv("x", 4096, 7, pad=0))) == []


def test_does_not_fire_on_small_layers():
    assert found(RULE, dense(1000, 1000)) == []
    assert len(found(RULE, dense(1000, 1000), min_params=1_000_000)) == 1


def test_does_not_fire_on_a_projection_tied_to_the_embedding():
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["x"]),
        helper.make_node("Transpose", ["table"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    weights = [weight("table", 50_000, 512)]
    assert found(RULE, model(nodes, [("ids", [4], INT)], [("y", [4, 50_000])], weights)) == []


def test_does_not_fire_on_many_equal_layers():
    assert found(RULE, "tests/data/stripped/vit_b16.stripped.onnx") == []
