"""The playground: edits act as a model written with them would, can be undone, and are exported as such."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.playground import Playground
from py_autodoc.playground.edits import MOST, Edits, History
from py_autodoc.playground.points import clamps_in
from py_autodoc.quantize import Recipe, quantize

DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")
RECIPE = Recipe(target="cpu-vnni")


@pytest.fixture(scope="module")
def digits():
    return Playground(DIGITS, DATA, recipe=RECIPE, count=8)


@pytest.fixture
def play(digits):
    digits._history = History()
    digits.shown = 0
    return digits


def run(path, sample, fuse=False):
    options = onnxruntime.SessionOptions()
    if not fuse:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"]).run(None, sample)[0]


def test_without_edits_it_is_the_quantized_model(play, tmp_path):
    quantize(DIGITS, tmp_path / "q.onnx", DATA, RECIPE, samples=8)
    expected = run(tmp_path / "q.onnx", play.samples[0])
    np.testing.assert_array_equal(play.outputs["logits"], expected)


def test_all_in_float_is_the_float_model(play):
    play.set_precision([*play.points.data, *play.points.weights], "float")
    expected = run(DIGITS, play.samples[0])
    np.testing.assert_allclose(play.outputs["logits"], expected, rtol=2e-3, atol=2e-3)
    np.testing.assert_array_equal(play.outputs["logits"], play.float_outputs["logits"])
    assert play.score().sqnr_db is None
    assert set(play.errors().values()) == {0.0}


def changed(play, tensor, factor):
    """The model with one scale changed in the file, by hand."""
    model = onnx.ModelProto()
    model.CopyFrom(play.proto)
    point = play.points.data[tensor]
    scale = np.float32(point.scale * factor)
    model.graph.initializer.append(numpy_helper.from_array(scale, "own"))
    for node in model.graph.node:
        if node.output[0] in (point.codes, *point.outputs):
            node.input[1] = "own"
    return model


@pytest.mark.parametrize("factor", [0.25, 0.9, 3.0])
def test_another_scale_is_that_of_a_changed_file(play, factor, tmp_path):
    for tensor in ("relu_1", "getitem_3"):
        play.reset()
        play.set_scale(tensor, play.points.data[tensor].scale * factor)
        onnx.save(changed(play, tensor, factor), tmp_path / "m.onnx")
        np.testing.assert_array_equal(play.outputs["logits"], run(tmp_path / "m.onnx", play.samples[0]))


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
@given(st.integers(0, 2**32 - 1))
def test_what_is_exported_is_what_was_seen(digits, tmp_path, seed):
    dice = np.random.default_rng(seed)
    digits._history = History()
    for tensor in dice.permutation(list(digits.points.data))[: dice.integers(0, 4)]:
        scale, zero = digits.of(str(tensor))
        digits.set_scale(str(tensor), scale * float(np.exp(dice.uniform(-0.7, 0.7))))
        if dice.random() < 0.5:
            digits.set_zero_point(str(tensor), int(np.clip(zero + dice.integers(-9, 9), 0, 255)))
    for codes in dice.permutation(list(digits.points.weights))[: dice.integers(0, 3)]:
        digits.set_scale(str(codes), float(np.exp(dice.uniform(-0.7, 0.7))))
    for name in dice.permutation([*digits.points.layers, *digits.points.data])[: dice.integers(0, 4)]:
        digits.set_precision(str(name), "float")
    out = tmp_path / "edited.onnx"
    digits.export(out, force=True)
    onnx.checker.check_model(str(out), full_check=True)
    expected = digits.outputs["logits"]
    # Biases are rounded to the new scales of their products.
    np.testing.assert_allclose(
        run(out, digits.samples[0]), expected, rtol=0.02, atol=0.02 * np.abs(expected).max()
    )
    run(out, digits.samples[0], fuse=True)


def test_export_keeps_what_was_not_edited_to_the_bit(play, tmp_path):
    play.set_precision(
        "node_linear" if "node_linear" in play.points.layers else next(iter(play.points.layers)), "float"
    )
    play.export(tmp_path / "e.onnx")
    np.testing.assert_allclose(
        run(tmp_path / "e.onnx", play.samples[0]), play.outputs["logits"], rtol=1e-5, atol=1e-5
    )
    made = onnx.load(tmp_path / "e.onnx")
    assert any(
        one.key == "onnx_autodoc.edits" and "float_weights" in one.value for one in made.metadata_props
    )
    before = sum(node.op_type == "QuantizeLinear" for node in play.proto.graph.node)
    assert sum(node.op_type == "QuantizeLinear" for node in made.graph.node) == before - 1
    with pytest.raises(AutodocError, match="input"):
        play.export(DIGITS, force=True)


def test_finer_scales_clip_and_coarser_ones_round(play):
    tensor = "relu_1"
    scale, _ = play.of(tensor)
    usual = play.histogram(tensor)
    play.set_scale(tensor, scale / 8)
    fine = play.histogram(tensor)
    assert usual.clipped < 0.01 < fine.clipped
    play.set_scale(tensor, scale * 30)
    coarse = play.histogram(tensor)
    assert coarse.clipped == 0
    assert (coarse.after > 0).sum() < (usual.after > 0).sum()
    assert usual.before.sum() == play.values(tensor).size


def test_errors_grow_behind_an_edit_only(play):
    before = play.errors()
    names = list(before)
    play.set_scale("relu_2", play.of("relu_2")[0] * 20)
    after = play.errors()
    assert after["relu_1"] == before["relu_1"]
    assert after["logits"] > before["logits"]
    assert len(names) == len(play.points.data) - 1 + ("logits" not in play.points.data)
    heat = play.heat()
    assert set(heat) <= {node.name for node in play.proto.graph.node}
    assert heat


def test_undo_and_redo(play):
    first = play.outputs["logits"]
    play.set_scale("relu_1", 0.5)
    second = play.outputs["logits"]
    play.set_scale("relu_1", 0.7, instead=True)
    play.set_zero_point("getitem_3", 3)
    assert play.undo()
    assert play.of("relu_1")[0] == pytest.approx(0.7)
    assert play.undo()
    np.testing.assert_array_equal(play.outputs["logits"], first)
    assert not play.undo()
    assert play.redo()
    assert play.redo()
    assert not play.redo()
    assert play.of("getitem_3")[1] == 3
    assert (second != first).any()


def test_history_is_bounded():
    history = History()
    for at in range(MOST + 50):
        history.push(Edits().with_weight("w", float(at)))
    count = 0
    while history.undo():
        count += 1
    assert count == MOST - 1


def test_modules_and_layers(play):
    inside = play.layers_in("/Net")
    assert inside == list(play.points.layers)
    play.set_precision("/Net", "float")
    assert play.edits.float_weights == frozenset(play.points.weights)
    play.set_precision(inside[0], "int8")
    held = play.points.layers[inside[0]]
    assert held.weight not in play.edits.float_weights
    assert held.data not in play.edits.float_data


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda play: play.set_scale("relu_1", 0.0), "A scale must be above 0"),
        (lambda play: play.set_scale("relu_1", float("nan")), "A scale must be a number, not nan"),
        (lambda play: play.set_scale("relu_1", "0.1"), "A scale must be a number, not 0.1"),
        (lambda play: play.set_scale("relu_1", None), "A scale must be a number, not None"),
        (lambda play: play.set_scale("relu_1", 1e-60), "A scale must be above 0"),
        (lambda play: play.set_scale("relu_1", 1e-45), "A scale must be above 0"),  # subnormal
        (lambda play: play.set_scale("relu_1", 1e37), "within the range of float32"),
        (lambda play: play.set_scale(next(iter(play.points.weights)), 1e-40), "A scale must be above 0"),
        (lambda play: play.set_zero_point("relu_1", 1.5), "must be an integer from 0 to 255 here, not 1.5"),
        (lambda play: play.set_zero_point("relu_1", float("inf")), "A zero point must be a number, not inf"),
        (lambda play: play.set_zero_point("relu_1", True), "A zero point must be a number, not True"),
        (
            lambda play: play.set_scale("relu_11", 1.0),
            "No quantized tensor is called 'relu_11'. Did you mean",
        ),
        (lambda play: play.set_zero_point("relu_1", 256), "must be an integer from 0 to 255 here, not 256"),
        (lambda play: play.set_precision("nothing", "float"), "Nothing quantized is called 'nothing'"),
        (lambda play: play.set_precision("/Net", "int4"), "A precision must be float or int8"),
    ],
)
def test_wrong_edits_change_nothing(play, call, said):
    with pytest.raises(AutodocError) as fault:
        call(play)
    assert said in str(fault.value)
    assert play.edits == Edits()


def test_a_qdq_model_with_its_reference(tmp_path):
    file = tmp_path / "q.onnx"
    quantize(DIGITS, file, DATA, RECIPE, samples=8)
    alone, beside = Playground(file, DATA, count=4), Playground(file, DATA, reference=DIGITS, count=4)
    codes = next(iter(alone.points.weights))
    real, used = alone.weight(codes)
    np.testing.assert_array_equal(real, used)
    real, used = beside.weight(codes)
    assert 0 < np.abs(real - used).max() < np.abs(real).max() / 50
    assert beside.score(every=True).sqnr_db == pytest.approx(alone.score(every=True).sqnr_db, abs=6)
    np.testing.assert_array_equal(alone.outputs["logits"], beside.outputs["logits"])


def test_limits_of_clip():
    nodes = [
        helper.make_node("Constant", [], ["six"], value=numpy_helper.from_array(np.float32(6))),
        helper.make_node("Clip", ["x", "zero", "six"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Clip", ["b"], ["c"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, [1])], [info("c", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.float32(0), "zero")],
    )  # fmt: skip
    assert clamps_in(helper.make_model(graph)) == {"a": (0.0, 6.0), "b": (0.0, None), "c": (None, None)}


def test_a_clip_that_was_taken_out_stays(tmp_path):
    info = helper.make_tensor_value_info
    dice = np.random.default_rng(0)
    stored = [
        numpy_helper.from_array(dice.normal(size=(3, 3)).astype(np.float32) * 4, "w"),
        numpy_helper.from_array(np.float32(0), "low"), numpy_helper.from_array(np.float32(6), "high"),
    ]  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "product"),
        helper.make_node("Clip", ["m", "low", "high"], ["c"], "clip"),
        helper.make_node("MatMul", ["c", "w"], ["y"], "again"),
    ]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [4, 3])], [info("y", 1, [4, 3])], stored)
    file = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), file)
    samples = {"x": dice.normal(size=(8, 4, 3)).astype(np.float32)}
    play = Playground(file, samples, recipe=RECIPE)
    play.set_precision([*play.points.data, *play.points.weights], "float")
    expected = run(file, play.samples[0])
    np.testing.assert_allclose(play.outputs["y"], expected, rtol=1e-5)
    play.export(tmp_path / "e.onnx")
    np.testing.assert_allclose(run(tmp_path / "e.onnx", play.samples[0]), expected, rtol=1e-5)


def test_what_cannot_be_played_with(tmp_path):
    with pytest.raises(AutodocError, match="Static quantization needs samples"):
        Playground(DIGITS)
    quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(target="cpu-vnni", format="qoperator"), samples=4)
    with pytest.raises(AutodocError, match=r"has no scales that can be changed|is already quantized"):
        Playground(tmp_path / "q.onnx", DATA)
