"""dense-stack: runs of large dense layers."""

from __future__ import annotations

import pytest
from rule_help import Net, dense, found

RULE = "dense-stack"


def classifier(*widths):
    """A convolution, then dense layers on the flattened map."""
    net = Net(1, 64, 14, 14)
    at = net.op("Flatten", net.relu(net.conv("x", 128)), width=128 * 14 * 14)
    for width in widths:
        at = net.relu(net.op("MatMul", at, net.trained(net.width[at], width), width=width))
    return net.model(at)


def test_fires():
    (finding,) = found(RULE, classifier(2048, 2048, 1000))
    assert finding.severity == "medium"
    assert finding.evidence["layers"] == 3
    assert finding.evidence["layer_params"] == [25_088 * 2048, 2048 * 2048, 2048 * 1000]


def test_a_network_of_dense_layers_alone_is_low():
    (finding,) = found(RULE, dense(4096, 4096, 4096, bias=True))
    assert (finding.severity, finding.nodes) == ("low", (0, 3))


def test_does_not_fire_on_one_layer_or_small_ones():
    assert found(RULE, classifier(2048)) == []
    assert found(RULE, dense(500, 500, 500, 500)) == []
    assert len(found(RULE, dense(500, 500, 500, 500), min_layer_params=1000)) == 1


def test_does_not_fire_across_a_join():
    net = Net(1, 2048)
    one = net.op("MatMul", "x", net.trained(2048, 2048), width=2048)
    at = net.op("MatMul", net.op("Add", one, "x"), net.trained(2048, 2048))
    assert found(RULE, net.model(at)) == []


@pytest.mark.parametrize("name", ["bert_base", "gpt2", "llama_gqa_small", "vit_b16", "convnext_tiny"])
def test_does_not_fire_on_transformers(name):
    assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx", bindings={}) == []
