"""memory-bottleneck: traffic of layers that are starved, and of operators that only move."""

from __future__ import annotations

from rule_help import Net, dense, found

RULE = "memory-bottleneck"


def test_fires():
    (finding,) = found(RULE, dense(8192, 8192, 4096))
    assert finding.severity == "medium"
    assert finding.nodes == (0, 2)
    moved = 4 * (8192 * 8192 + 2 * 8192 + 8192 * 4096 + 8192 + 4096)
    assert finding.evidence["bytes"] == moved
    assert finding.evidence["total_bytes"] == moved + 4 * 2 * 8192
    assert finding.evidence["flops_per_byte"] == round(2 * (8192 * 8192 + 8192 * 4096) / moved, 3)


def test_does_not_fire_on_a_batch_or_a_small_model():
    assert found(RULE, dense(8192, 8192, 4096, rows=64)) == []
    assert found(RULE, dense(1000, 1000)) == []
    assert len(found(RULE, dense(1000, 1000), min_bytes=1_000_000)) == 1


def test_fires_on_copies():
    net = Net(1, 64, 256, 256)
    at = "x"
    for _ in range(2):
        at = net.op("Transpose", at, perm=[0, 1, 3, 2])
    (finding,) = found(RULE, net.model(net.relu(at)))
    assert finding.severity == "low"
    assert finding.nodes == (0, 1)
    assert finding.evidence["share"] == round(2 / 3, 4)


def test_does_not_fire_on_views():
    net = Net(1, 64, 256, 256)
    at = "x"
    for _ in range(4):
        at = net.op("Reshape", at, net.constant([1, 64, 256, 256]))
    assert found(RULE, net.model(net.relu(at))) == []


def test_does_not_fire_on_weights_that_are_generated_once():
    """VGG's light form makes its weights by ConstantOfShape: no traffic of an inference."""
    (finding,) = found(RULE, "tests/data/models/light_vgg19.onnx")
    assert finding.evidence["total_bytes"] < 900_000_000
