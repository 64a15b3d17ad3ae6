"""missing-normalization: silent wherever one was folded or may have been."""

from __future__ import annotations

import pytest
from onnx import helper
from rule_help import Net, found, model, weight

RULE = "missing-normalization"


def net(*, bias=False, norm="", layers=16):
    """Convolutions of 96 channels."""
    made = Net(1, 96, 8, 8)
    at = "x"
    for _ in range(layers):
        at = made.conv(at, 96, bias=bias)
        if norm == "BatchNormalization":
            at = made.op(norm, at, *(made.trained(96) for _ in range(4)))
        elif norm == "scale":
            at = made.op("Add", at, made.trained(96, 1, 1))
        at = made.relu(at)
    return made.model(at)


def attention(layers=4, norm=False):
    """Blocks of 256: attention of one head, with or without a normalization before it."""
    nodes, weights, at = [], [], "x"
    for i in range(layers):
        source = at
        if norm:
            nodes.append(helper.make_node("LayerNormalization", [at, "g"], [f"n{i}"]))
            source = f"n{i}"
        for name in "qkv":
            nodes.append(helper.make_node("MatMul", [source, f"w{name}{i}"], [f"{name}{i}"]))
            weights.append(weight(f"w{name}{i}", 256, 256))
        nodes += [
            helper.make_node("Transpose", [f"k{i}"], [f"t{i}"], perm=[0, 2, 1]),
            helper.make_node("MatMul", [f"q{i}", f"t{i}"], [f"s{i}"]),
            helper.make_node("Softmax", [f"s{i}"], [f"p{i}"]),
            helper.make_node("MatMul", [f"p{i}", f"v{i}"], [f"c{i}"]),
            helper.make_node("MatMul", [f"c{i}", f"wo{i}"], [f"o{i}"]),
            helper.make_node("Add", [f"o{i}", at], [f"r{i}"]),
        ]
        weights.append(weight(f"wo{i}", 256, 256))
        at = f"r{i}"
    if norm:
        weights.append(weight("g", 256))
    return model(nodes, [("x", [1, 16, 256])], [(at, [1, 16, 256])], weights)


def test_fires():
    (finding,) = found(RULE, net())
    assert finding.severity == "low"
    assert finding.evidence == {"layers": 16, "bare_layers": 16, "attention_layers": 0}
    (finding,) = found(RULE, attention())
    assert finding.evidence["layers"] == 16


def test_does_not_fire_with_normalization():
    assert found(RULE, net(norm="BatchNormalization")) == []
    assert found(RULE, attention(norm=True)) == []


def test_does_not_fire_where_it_was_folded():
    assert found(RULE, net(bias=True)) == []
    assert found(RULE, net(norm="scale")) == []


def test_does_not_fire_on_small_or_shallow_models():
    assert found(RULE, net(layers=10)) == []
    assert found(RULE, net(layers=10), min_layers=10, min_params=1) != []


@pytest.mark.parametrize(
    "path",
    [
        "stripped/resnet50.stripped", "stripped/mobilenet_v2.stripped", "models/resnet_tiny_qdq_int8",
        "models/light_vgg19", "stripped/t5_small_encoder.stripped", "stripped/llama_gqa_small.stripped",
        "models/ddddocr_det.stripped", "stripped/mamba_tiny.stripped",
    ],
)  # fmt: skip
def test_does_not_fire_on_known_architectures(path):
    assert found(RULE, f"tests/data/{path}.onnx", min_layers=1, min_params=1) == []
