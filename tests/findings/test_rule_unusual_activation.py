"""unusual-activation: operators, and Mish written out."""

from __future__ import annotations

from rule_help import Net, found

RULE = "unusual-activation"


def net(*kinds):
    """A convolution before each activation; ``mish`` is written out."""
    made = Net(1, 64, 8, 8)
    at = "x"
    for kind in kinds:
        at = made.conv(at, 64)
        if kind == "mish":
            at = made.op("Mul", at, made.op("Tanh", made.op("Softplus", at)))
        else:
            at = made.op(kind, at)
    return made.model(at)


def test_fires():
    (finding,) = found(RULE, net("Elu", "Elu", "Elu", "Selu", "Relu"))
    assert finding.severity == "low"
    assert finding.evidence == {
        "activations": 5, "unusual": 4, "share": 0.8, "operators": ["Elu", "Selu"],
    }  # fmt: skip
    (finding,) = found(RULE, net("mish", "Relu", "Relu", "Relu"))
    assert (finding.severity, finding.evidence["operators"]) == ("info", ["Mish"])


def test_fires_on_a_sine_behind_a_layer():
    (finding,) = found(RULE, net("Sin", "Sin", "Relu", "Relu"))
    assert finding.evidence["unusual"] == 2


def test_does_not_fire_on_usual_ones():
    assert found(RULE, net("Relu", "LeakyRelu", "HardSwish", "Gelu", "Tanh", "Softplus")) == []
    made = Net(1, 64, 8, 8)
    at = made.op("Sin", "x")
    for _ in range(3):
        at = made.relu(made.conv(at, 64))
    assert found(RULE, made.model(at)) == []


def test_does_not_fire_on_small_models():
    made = Net(1, 8, 8, 8)
    assert found(RULE, made.model(made.op("Elu", made.conv("x", 8)))) == []
    assert len(found(RULE, made.model(made.op("Elu", made.conv("x", 8))), min_params=1)) == 1


def test_does_not_fire_on_rotary_embeddings():
    assert found(RULE, "tests/data/stripped/llama_gqa_small.stripped.onnx") == []
