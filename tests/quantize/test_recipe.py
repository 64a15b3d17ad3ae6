"""Recipes: defaults by target, and what is refused."""

import msgspec
import pytest

from py_autodoc.errors import AutodocError
from py_autodoc.quantize.recipe import STATIC_OPS, Recipe, complete_recipe, read_recipe


@pytest.mark.parametrize(
    ("target", "activations", "weights"),
    [("cpu-vnni", "u8", "s8"), ("cpu-avx2", "u8", "s7"), ("cpu-arm", "u8", "s8"), ("tensorrt", "s8", "s8")],
)
def test_number_formats_by_target(target, activations, weights):
    found = complete_recipe(Recipe(target=target))
    assert (found.activations, found.weights, found.format, found.per_channel) == (
        activations, weights, "qdq", True,
    )  # fmt: skip
    assert not complete_recipe(Recipe(method="dynamic", target="cpu-vnni")).per_channel


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"target": "tensorrt", "format": "qoperator"}, "TensorRT reads"),
        ({"target": "tensorrt", "activations": "u8"}, "TensorRT reads"),
        ({"target": "tensorrt", "method": "dynamic"}, "TensorRT does not support ONNX Runtime's dynamic"),
        ({"target": "cpu-avx2", "weights": "s8"}, "saturate their sums"),
        (
            {"target": "cpu-vnni", "format": "qoperator", "activations": "s8", "weights": "u8"},
            "No operators exist for s8 activations and u8 weights",
        ),
        ({"target": "tensorrt", "weights": "u8"}, "TensorRT reads"),
        ({"target": "cpu-avx2", "method": "dynamic", "weights": "s8"}, "saturate their sums"),
        (
            {"target": "cpu-avx2", "method": "dynamic", "activations": "s8", "weights": "s8"},
            "saturate their sums",
        ),
        ({"target": "cpu-avx2", "activations": "s8", "weights": "s8"}, "makes s8 activations .* unsigned"),
        (
            {"target": "cpu-vnni", "activations": "u16", "format": "qoperator"},
            "No operators exist for 16-bit activations",
        ),
        ({"target": "cpu-vnni", "method": "dynamic", "format": "qoperator"}, "uses its own operators"),
        ({"method": "fp16", "ops": ["Conv"]}, "no choice of operators"),
        ({"method": "magic"}, "'magic' is unknown"),
        ({"weights": "s5"}, "'s5' is unknown"),
        ({"block_size": 33}, "power of two"),
    ],
)
def test_what_is_refused_says_why(fields, why):
    with pytest.raises(AutodocError, match=why) as found:
        complete_recipe(Recipe(**fields))
    assert found.value.hint or "block_size" in str(found.value)


def test_operators_by_default_and_by_request():
    assert complete_recipe(Recipe(target="cpu-vnni")).ops == list(STATIC_OPS)
    assert complete_recipe(Recipe(method="dynamic", target="cpu-vnni")).ops == ["MatMul", "Gemm"]
    assert complete_recipe(Recipe(target="cpu-vnni", ops=["Conv"])).ops == ["Conv"]
    assert complete_recipe(Recipe(target="cpu-vnni", ops=["Conv", "all"])).ops == ["all"]
    assert complete_recipe(Recipe(method="fp16", target="cpu-vnni")).ops == []


def test_saturation_can_be_accepted():
    assert complete_recipe(Recipe(target="cpu-avx2", weights="s8", allow_saturation=True)).weights == "s8"
    assert complete_recipe(Recipe(target="cpu-avx2", weights="s7")).weights == "s7"
    signed = Recipe(target="cpu-avx2", activations="s8", weights="s8", allow_saturation=True)
    assert complete_recipe(signed).activations == "s8"


@pytest.mark.parametrize(
    "fields",
    [
        {"target": "cpu-avx2", "activations": "s8", "weights": "s7"},
        {"target": "cpu-avx2", "activations": "s8", "weights": "s8", "format": "qoperator"},
        {"target": "cpu-arm", "activations": "s8", "weights": "s8"},
        {"target": "cpu-avx2", "activations": "s8", "weights": "u8"},
    ],
)
def test_exact_number_formats_are_accepted(fields):
    """Small weights, operators of s8 and s8, and s8 activations with u8 weights do not saturate."""
    assert complete_recipe(Recipe(**fields)).weights == fields["weights"]


def test_recipes_in_files(tmp_path):
    wanted = Recipe(method="dynamic", exclude=["op=Gemm"], per_channel=True)
    (tmp_path / "r.json").write_bytes(msgspec.json.encode(wanted))
    assert read_recipe(tmp_path / "r.json") == wanted
    (tmp_path / "bad.json").write_text('{"methods": "static"}')
    with pytest.raises(AutodocError, match="unknown field `methods`"):
        read_recipe(tmp_path / "bad.json")
    (tmp_path / "worse.json").write_text("{")
    with pytest.raises(AutodocError, match="is not valid JSON"):
        read_recipe(tmp_path / "worse.json")


def test_a_recipe_in_toml(tmp_path):
    pytest.importorskip("tomllib")
    (tmp_path / "r.toml").write_text('method = "static"\ntarget = "cpu-avx2"\nexclude = ["fc"]\n')
    assert read_recipe(tmp_path / "r.toml") == Recipe(target="cpu-avx2", exclude=["fc"])
