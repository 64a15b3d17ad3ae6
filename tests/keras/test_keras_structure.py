"""How models are put together: nested, shared, with several inputs and outputs; where axes are turned."""

from __future__ import annotations

from collections import Counter

import keras_models as made
import numpy as np
import onnx
import onnxruntime
import pytest

from py_autodoc.errors import InputError, OptionError
from py_autodoc.extract.write_sub_model import extract
from py_autodoc.keras import convert
from py_autodoc.tags import load_tags

pytestmark = [pytest.mark.slow, *made.QUIET, pytest.mark.usefixtures("in_thread")]
keras = made.keras()
L = keras.layers


def residual(x, filters, stride):
    y = L.ReLU()(L.BatchNormalization()(L.Conv2D(filters, 3, stride, padding="same")(x)))
    y = L.BatchNormalization()(L.Conv2D(filters, 3, padding="same")(y))
    return L.ReLU()(L.Add()([y, L.Conv2D(filters, 1, stride, padding="same")(x)]))


def test_a_chain_of_convolutions_is_turned_at_its_ends_only(tmp_path):
    entry = keras.Input((16, 16, 3))
    x = residual(residual(entry, 4, 1), 6, 2)
    x = L.Concatenate()([x, L.MaxPooling2D(3, 1, "same")(x)])
    x = L.ZeroPadding2D()(L.UpSampling2D()(L.PReLU(shared_axes=[1, 2])(x)))
    x = L.Cropping2D()(L.DepthwiseConv2D(3)(x))
    x = L.Multiply()([x, L.Activation("sigmoid")(L.GlobalAveragePooling2D(keepdims=True)(x))])
    result, _ = made.both(keras.Model(entry, x), tmp_path)
    operators = made.operators(result)
    assert operators.count("Transpose") == 2
    assert operators[0] == operators[-1] == "Transpose"
    assert operators.count("BatchNormalization") == 4


def test_channels_that_weigh_themselves_turn_nothing(tmp_path):
    entry = keras.Input((8, 8, 3))
    x = L.Conv2D(4, 3)(entry)
    y = L.Reshape((1, 1, 4))(L.GlobalAveragePooling2D()(x))
    y = L.Conv2D(4, 1, activation="sigmoid")(L.Conv2D(2, 1, activation="swish")(y))
    result, _ = made.both(keras.Model(entry, L.Multiply()([x, y])), tmp_path)
    assert made.operators(result).count("Transpose") == 2
    alone = keras.Input((4,))
    made.both(keras.Model(alone, L.Dense(2)(L.Reshape((1, 1, 4))(alone))), tmp_path)


def test_turning_that_cancels_is_left_out(tmp_path):
    entry = keras.Input((4, 6, 3))
    x = L.Permute((3, 1, 2))(L.Conv2D(2, 1)(entry))
    result, _ = made.both(keras.Model(entry, L.Permute((2, 3, 1))(L.Activation("tanh")(x))), tmp_path)
    assert made.operators(result) == ["Transpose", "Conv", "Tanh", "Transpose"]
    channels = keras.Input((3, 8, 8))
    x = L.MaxPooling2D(data_format="channels_first")(L.Conv2D(4, 3, data_format="channels_first")(channels))
    result, _ = made.both(keras.Model(channels, L.BatchNormalization(axis=1)(x)), tmp_path)
    assert "Transpose" not in made.operators(result)


def test_flatten_after_a_convolution(tmp_path):
    entry = keras.Input((4, 4, 2))
    spread = L.Dense(3)(L.Flatten()(L.Conv2D(3, 2)(entry)))
    point = L.Dense(3)(L.Flatten()(L.Conv2D(3, 4)(entry)))
    result, _ = made.both(keras.Model(entry, [spread, point]), tmp_path)
    assert made.operators(result).count("Transpose") == 2  # the input, and before the first Flatten


def nested():
    image, word = keras.Input((6, 6, 2), name="image"), keras.Input((4,), name="word")
    block = keras.Sequential(
        [L.Conv2D(3, 3, name="first"), L.BatchNormalization(name="first_norm")], name="stem"
    )
    inner = keras.Input((4, 4, 3), name="hidden")
    side = keras.Model(inner, {"b": L.Flatten()(inner), "a": L.GlobalMaxPooling2D()(inner)}, name="side")
    outer = keras.Input((6, 6, 2))
    whole = keras.Model(outer, side(block(outer)), name="whole")
    made_ = whole(image)
    shared = L.Dense(4, name="shared")
    x = L.Concatenate(name="joined")([made_["a"], shared(word)])
    y = shared(shared(L.Dense(4, name="again")(made_["b"])))
    return keras.Model(
        {"pic": image, "word": word}, {"one": x, "two": y, "three": x + 1.0, "four": word}, name="all"
    )


def test_models_in_models(tmp_path):
    model = nested()
    feed = {
        "image": np.random.default_rng(0).normal(size=(2, 6, 6, 2)).astype("f4"),
        "word": np.ones((2, 4), "f4"),
    }
    made.varied(model)
    found = model({"pic": feed["image"], "word": feed["word"]})
    want = [np.asarray(found[key].detach()) for key in sorted(found)]
    for result in made.both(model, tmp_path, feed, vary=False, want=want):
        scopes = {record.scope for record in result.tags.records.values()}
        assert {"whole.stem.first", "whole.stem.first_norm", "whole.side.flatten", "shared"} <= {
            scope.replace(scope.rpartition(".")[2], "flatten") if "flatten" in scope else scope
            for scope in scopes
        }
        (norm,) = [node for node in result.model.graph if node.op_type == "BatchNormalization"]
        assert norm.metadata_props["autodoc.tag"] == (
            "/Functional/Functional.whole/Sequential.stem/BatchNormalization.first_norm"
        )
        calls = [
            record.call.get("shared", 0)
            for record in result.tags.records.values()
            if record.scope == "shared"
        ]
        assert sorted(calls) == [0, 1, 2]
        assert result.model.graph.inputs[0].name in ("image", "word")
        assert len(result.model.graph.outputs) == 4


def test_shared_layers_have_one_tag_and_several_calls(tmp_path):
    a, b = keras.Input((8, 8, 3), name="a"), keras.Input((8, 8, 3), name="b")
    tower = keras.Sequential([L.Conv2D(4, 3, name="c"), L.GlobalAveragePooling2D(name="g")], name="tower")
    result, _ = made.both(keras.Model([a, b], L.Subtract()([tower(a), tower(b)])), tmp_path)
    _, tags = load_tags(result.path)
    places = Counter((record.tag, record.call.get(record.scope, 0)) for record in tags.records.values())
    assert (
        places["/Functional/Sequential.tower/Conv2D.c", 0]
        == places["/Functional/Sequential.tower/Conv2D.c", 1]
        == 2
    )
    assert result.source["parameters"] == 3 * 3 * 3 * 4 + 4
    weights = [name for name in result.model.graph.initializers if name.endswith("kernel")]
    assert len(weights) == 1


def test_layers_of_one_class_have_their_names_in_their_tags(tmp_path):
    entry = keras.Input((3,))
    x = entry
    for name in ("ab", "a", "with space", "ünï", "x%y"):
        x = L.Dense(3, name=name)(x)
    result, _ = made.both(keras.Model(entry, x), tmp_path)
    tags = result.tags.by_tag()
    assert len(tags) == 5
    assert "/Functional/Dense.a" in tags
    assert not any(char.isspace() for tag in tags for char in tag)


def test_sequential_models(tmp_path):
    for at, layers in enumerate(
        (
            [keras.Input((6, 4)), L.Conv1D(3, 2), L.Flatten(), L.Dense(2, activation="softmax")],
            [keras.Input((6,), dtype="int32"), L.Embedding(4, 3, mask_zero=True), L.LSTM(2)],
            [keras.Input((5,), batch_size=2), L.Dense(2)],
        )
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        made.both(keras.Sequential(layers), folder)


def test_operations_between_layers(tmp_path):
    a, b = keras.Input((4, 4, 3), name="a"), keras.Input((4, 4, 3), name="b")
    x, y = L.Conv2D(2, 1)(a), L.Conv2D(2, 1)(b)
    ops = keras.ops
    outputs = [
        x + y,
        2.0 * x - y / 3.0,
        ops.maximum(x, y),
        ops.exp(-x),
        ops.square(x) + ops.abs(y),
        ops.sigmoid(x) * y,
    ]
    result, _ = made.both(keras.Model([a, b], outputs), tmp_path)
    assert made.operators(result).count("Transpose") == 2 + len(outputs)


def test_a_layer_that_changes_nothing_and_outputs_that_are_inputs(tmp_path):
    entry = keras.Input((3,), name="x")
    y = L.Dropout(0.5)(entry)
    z = L.Dense(2)(y)
    result, _ = made.both(keras.Model(entry, [y, z, z, entry]), tmp_path)
    assert len({one.name for one in result.model.graph.outputs}) == 4


def test_sizes_can_be_fixed(tmp_path):
    entry = keras.Input((None, None, 3), name="picture")
    x = L.Conv2D(2, 3, 2, padding="same")(entry)
    model = made.varied(keras.Model(entry, L.GlobalMaxPooling2D()(L.MaxPooling2D(2, padding="same")(x))))
    feed = {"picture": np.random.default_rng(1).normal(size=(2, 7, 10, 3)).astype("f4")}
    want = made.outputs_of(model, feed)
    model.save(tmp_path / "m.keras")
    free = convert(tmp_path / "m.keras", tmp_path / "free.onnx")
    fixed = convert(tmp_path / "m.keras", tmp_path / "fixed.onnx", input_shapes={"picture": (2, 7, 10, 3)})
    for result in (free, fixed):
        made.close(made.run(result.path, feed), want)
    assert "auto_pad" in next(node for node in free.model.graph if node.op_type == "Conv").attributes
    assert [str(size) for size in fixed.model.graph.inputs[0].shape] == ["2", "7", "10", "3"]
    for shapes in ({"picture": (2, 7, 10, 4)}, {"": (1, 2)}):
        with pytest.raises(InputError, match="has the shape"):
            convert(tmp_path / "m.keras", tmp_path / "no.onnx", input_shapes=shapes)
    with pytest.raises(OptionError, match="no input 'other'"):
        convert(tmp_path / "m.keras", tmp_path / "no.onnx", input_shapes={"other": (1, 2)})
    assert not (tmp_path / "no.onnx").exists()


def test_half_precision_is_told(tmp_path):
    entry = keras.Input((3,))
    model = keras.Model(entry, L.Dense(2, dtype="mixed_float16")(entry))
    model.save(tmp_path / "m.keras")
    result = convert(tmp_path / "m.keras", tmp_path / "m.onnx", sidecar=False)
    assert result.warnings == ["Some layers compute in float16 in Keras; the ONNX model computes in float32."]
    assert not (tmp_path / "m.onnx.json").exists()
    assert result.sidecar_path is None


def test_metadata_and_progress(tmp_path):
    entry = keras.Input((3,))
    keras.Model(entry, L.Dense(2)(entry)).save(tmp_path / "m.keras")
    stages = []
    result = convert(
        tmp_path / "m.keras", tmp_path / "m.onnx", metadata={"who": "me"}, external_data=True,
        progress=lambda stage, share: stages.append((stage, share)),
    )  # fmt: skip
    assert result.model.metadata_props["who"] == "me"
    assert [stage for stage, _ in stages] == ["load", "export", "tag", "save", "sidecar", "done"]
    assert [share for _, share in stages] == sorted(share for _, share in stages)
    assert (tmp_path / "m.onnx.data").exists()
    with pytest.raises(OptionError, match="18 to 23"):
        convert(tmp_path / "m.keras", tmp_path / "n.onnx", opset=11)


def test_layers_whose_names_the_graph_uses_too(tmp_path):
    entry = keras.Input((4, 3), name="kernel")
    x = L.Flatten(name="constant")(L.Reshape((3, 4), name="Reshape")(entry))
    y = L.ReLU(6.0, name="constant_1")(x)
    result, _ = made.both(keras.Model(entry, [x, y, L.Rescaling(2.0, name="scale")(y)]), tmp_path)
    assert [one.name for one in result.model.graph.outputs] == ["constant", "constant_1", "scale"]


def test_every_layer_runs_by_itself(tmp_path):
    """What is cut out by tag computes what the whole model does, to the bit; loops with their bodies."""
    tokens = keras.Input((6,), dtype="int32", name="tokens")
    x = L.LSTM(3, return_sequences=True)(L.Embedding(5, 4, mask_zero=True)(tokens))
    x = L.Conv1D(4, 3, padding="same")(L.Bidirectional(L.GRU(2, return_sequences=True))(x))
    result, _ = made.both(keras.Model(tokens, L.MultiHeadAttention(2, 2)(x, x)), tmp_path)
    proto = onnx.load(result.path)
    known = {value.name for value in proto.graph.output}
    inner = [name for node in proto.graph.node for name in node.output if name not in known]
    proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in inner)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    whole = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    feed = {"tokens": np.array([[1, 2, 0, 3, 0, 0], [0, 0, 3, 1, 2, 4]], "int32")}
    values = feed | dict(zip([one.name for one in whole.get_outputs()], whole.run(None, feed), strict=True))
    tags = {record.tag for record in result.tags.records.values() if not record.scope.endswith("mask")}
    assert len(tags) >= 9
    for tag in tags:
        extract(result.path, tmp_path / "part.onnx", tag)
        part = onnxruntime.InferenceSession(str(tmp_path / "part.onnx"), options)
        got = part.run(None, {one.name: values[one.name] for one in part.get_inputs()})
        for one, value in zip(part.get_outputs(), got, strict=True):
            np.testing.assert_array_equal(value, values[one.name])
