"""deep-chain: the shortest path decides, not the number of layers."""

from __future__ import annotations

import pytest
from rule_help import Net, found

RULE = "deep-chain"


def plain(layers, *, skip=0, group=1):
    """Convolutions of 32 channels; with ``skip`` an addition around each so many."""
    net = Net(1, 32, 8, 8)
    at = before = "x"
    for number in range(1, layers + 1):
        at = net.relu(net.conv(at, 32, group=group))
        if skip and number % skip == 0:
            at = before = net.op("Add", at, before)
    return net.model(at)


@pytest.mark.parametrize(("layers", "severity"), [(24, "low"), (40, "medium"), (80, "high")])
def test_fires(layers, severity):
    (finding,) = found(RULE, plain(layers))
    assert finding.severity == severity
    assert finding.evidence == {"shortest_path_layers": layers, "longest_path_layers": layers}
    assert len(finding.nodes) == layers


def test_does_not_fire_with_skips():
    assert found(RULE, plain(60, skip=2)) == []
    (finding,) = found(RULE, plain(30, skip=15), min_layers=0)
    assert finding.evidence == {"shortest_path_layers": 0, "longest_path_layers": 30}


def test_does_not_fire_below_the_threshold():
    assert found(RULE, plain(23)) == []
    assert found(RULE, plain(23), min_layers=23) != []
    assert found(RULE, plain(30), min_params=1_000_000) == []


def test_does_not_fire_on_depthwise_separable_layers():
    net = Net(1, 32, 8, 8)
    at = "x"
    for _ in range(14):
        at = net.relu(net.conv(net.relu(net.conv(at, 32, group=32)), 32, 1))
    assert found(RULE, net.model(at), min_params=1) == []


def test_does_not_fire_because_of_a_branch_that_reads_only_the_shape():
    net = Net(1, 32, 8, 8)
    at = "x"
    for number in range(30):
        at = net.relu(net.conv(at, 32))
        if number == 28:
            at = net.op("Reshape", at, net.op("Shape", "x"), width=32)
    (finding,) = found(RULE, net.model(at))
    assert finding.evidence["shortest_path_layers"] == 30


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet50", "bert_base", "mobilenet_v2", "llama32_narrow", "detr_r50"])
def test_does_not_fire_on_residual_networks(name):
    assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx") == []
