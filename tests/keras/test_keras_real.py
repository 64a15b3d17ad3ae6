"""Files that Keras 2 wrote, against what TensorFlow computed from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import keras_models as made
import numpy as np
import pytest

from py_autodoc.keras import convert

pytestmark = pytest.mark.slow

DATA = Path("tests/data/keras")
TINY = {
    "pretrainedResnet": (31, {"Transpose": 1, "Conv": 9, "BatchNormalization": 7}),
    "str_ww_ref_model": (20, {"Transpose": 1, "Conv": 8, "BatchNormalization": 4}),
    "vww_96": (86, {"Transpose": 1, "Conv": 27, "BatchNormalization": 27}),
    "ad01": (28, {"Transpose": 0, "Gemm": 10, "BatchNormalization": 9}),
}


@pytest.mark.parametrize("name", TINY)
def test_the_models_of_mlperf_tiny(name, tmp_path):
    result = made.checked(convert(DATA / f"{name}.h5", tmp_path / "m.onnx"))
    oracle = np.load(DATA / f"{name}.npz")
    (given,) = result.model.graph.inputs
    (got,) = made.run(result.path, {given.name: oracle["x"]})
    made.close([got], [oracle["y"]])
    nodes, counts = TINY[name]
    assert result.coverage.nodes == nodes
    counted = Counter(made.operators(result))
    assert {kind: counted[kind] for kind in counts} == counts
    assert result.source["parameters"] > 10_000
    assert result.source["keras"].startswith("2.")


def test_names_and_tags_are_those_of_the_layers(tmp_path):
    result = convert(DATA / "pretrainedResnet.h5", tmp_path / "m.onnx")
    graph = result.model.graph
    assert [(one.name, [str(size) for size in one.shape]) for one in (*graph.inputs, *graph.outputs)] == [
        ("input_1", ["batch", "32", "32", "3"]),
        ("dense", ["batch", "10"]),
    ]
    by_name = {node.name: node for node in graph}
    conv = by_name["conv2d_4/Conv"]
    assert conv.metadata_props["autodoc.tag"] == "/Functional/Conv2D.conv2d_4"
    assert conv.metadata_props["autodoc.scope"] == "conv2d_4"
    assert conv.inputs[1].name == "conv2d_4/kernel"
    modules = result.sidecar["modules"]
    assert sorted(modules["conv2d_4"]["direct_parameters"]) == ["bias", "kernel"]
    assert modules["conv2d_4"]["class"] == "keras.layers.Conv2D"
    assert modules[""]["children"]["batch_normalization"] == "keras.layers.BatchNormalization"
    assert modules["input_1"]["status"] == "folded"
    assert "conv2d_4.kernel" in modules[""]["parameters"]


@pytest.mark.parametrize("form", ["h5", "keras"])
@pytest.mark.parametrize("name", ["tf2_nested", "tf2_recurrent", "tf2_masks", "tf2_windows"])
def test_layers_as_tensorflow_computes_them(name, form, tmp_path):
    """Padding, masks, recurrent layers, frozen and nested models: written by Keras 2."""
    result = made.checked(convert(DATA / f"{name}.{form}", tmp_path / "m.onnx"))
    oracle = np.load(DATA / f"{name}.npz")
    want = [oracle[f"y{at}"] for at in range(len([key for key in oracle if key[0] == "y"]))]
    made.close(made.run(result.path, dict(oracle)), want)


def test_a_nested_model_called_twice(tmp_path):
    result = convert(DATA / "tf2_nested.h5", tmp_path / "m.onnx")
    records = list(result.tags.records.values())
    inside = [record for record in records if record.inside("alive")]
    tags = {record.tag for record in inside}
    assert all(tag.startswith("/Functional/Functional.alive/") for tag in tags)
    assert {record.call.get("alive", 0) for record in inside} == {0, 1}
    assert result.tags.calls("shared") == 2
    # One layer, one tag; its calls are told apart.
    places = Counter((record.tag, record.call.get(record.scope, 0)) for record in inside)
    assert {tag for tag, _ in places} == tags
    assert {call for _, call in places} == {0, 1}
