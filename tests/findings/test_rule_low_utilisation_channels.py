"""low-utilisation-channels: multiples of 8, weighted by MACs."""

from __future__ import annotations

import pytest
from rule_help import Net, dense, found

RULE = "low-utilisation-channels"


def net(width, size=64, first=3):
    made = Net(1, first, size, size)
    at = "x"
    for _ in range(4):
        at = made.relu(made.conv(at, width))
    return made.model(at)


def test_fires():
    (finding,) = found(RULE, net(60))
    assert finding.severity == "low"
    assert len(finding.nodes) == 4
    assert finding.evidence["macs_share"] == 1.0
    assert (finding.evidence["channels_in"], finding.evidence["channels_out"]) == (60, 60)
    padded = (3 * 60 * (64 / 60) + 3 * 60 * 60 * (64 / 60) ** 2) / (3 * 60 + 3 * 60 * 60)
    assert finding.evidence["padding_waste"] == pytest.approx(padded - 1, abs=1e-4)


def test_medium_when_padding_costs_much():
    (finding,) = found(RULE, net(36, size=192))
    assert finding.evidence["padding_waste"] < 0.25
    assert finding.severity == "low"
    (finding,) = found(RULE, net(34, size=192))
    assert finding.evidence["padding_waste"] > 0.25
    assert finding.severity == "medium"


def test_does_not_fire_on_multiples():
    assert found(RULE, net(64)) == []
    assert len(found(RULE, net(40), multiple=16)) == 1
    assert found(RULE, net(60, size=8)) == []


def test_does_not_fire_on_images_depthwise_layers_and_single_outputs():
    made = Net(1, 3, 128, 128)
    at = made.relu(made.conv("x", 64))
    at = made.relu(made.conv(at, 64, group=64))
    assert found(RULE, made.model(made.conv(at, 1)), min_total_macs=1, min_share=0.0001) == []


def test_fires_on_a_vocabulary():
    (finding,) = found(RULE, dense(768, 768, 50_257, rows=16))
    assert finding.nodes == (2,)
    assert finding.evidence["channels_out"] == 50_257


def test_does_not_fire_on_aligned_networks():
    for name in ("resnet50", "bert_base", "vit_b16", "mobilenet_v2"):
        assert found(RULE, f"tests/data/stripped/{name}.stripped.onnx") == []
