"""compute-bottleneck: shares of the MACs."""

from __future__ import annotations

from rule_help import Net, found

RULE = "compute-bottleneck"


def net(heavy, size=32, layers=6):
    """Convolutions of 32 channels, the second one with ``heavy``."""
    made = Net(1, 32, size, size)
    at = made.relu(made.conv("x", 32))
    at = made.relu(made.conv(at, heavy))
    for _ in range(layers - 2):
        at = made.relu(made.conv(at, 32, 1))
    return made.model(at)


def test_fires():
    (finding,) = found(RULE, net(512))
    assert finding.severity == "low"
    assert finding.nodes == (2,)
    assert finding.evidence["macs"] == 32 * 512 * 9 * 32 * 32
    assert finding.evidence["layers_with_macs"] == 6
    assert finding.evidence["share"] > 0.8


def test_a_large_model_is_medium():
    (finding,) = found(RULE, net(512, size=128))
    assert finding.severity == "medium"


def test_does_not_fire_on_balanced_small_or_shallow_models():
    assert found(RULE, net(32, layers=20), min_total_macs=1) == []
    assert found(RULE, net(512, size=8)) == []
    assert found(RULE, net(512, layers=3)) == []


def test_does_not_fire_while_costs_are_unknown():
    assert found(RULE, "tests/data/stripped/resnet50_dyn.stripped.onnx") == []
