"""Valid but odd models run in every command that runs models; damaged ones give one line."""

from __future__ import annotations

import json
import sys

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.errors import InputError
from py_autodoc.graph.ir.name_sanitizer import bounded_name
from py_autodoc.ort import one_line
from py_autodoc.quantize import quantize
from py_autodoc.runner import InferenceRunner
from py_autodoc.runner.memory import process_memory
from py_autodoc.samples import read_arrays
from py_autodoc.sensitivity import sensitivity
from py_autodoc.verify import verify
from py_autodoc.verify.capture import values_of
from py_autodoc.verify.lines import verification_lines

node = helper.make_node
WEIGHT = numpy_helper.from_array(np.random.default_rng(0).normal(0, 1, (4, 4)).astype("f4"), "w")


def value(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(dims))


def saved(path, nodes, outputs, inputs=None, weights=(WEIGHT,), change=None):
    ends = [value("x", 2, 4)] if inputs is None else inputs
    graph = helper.make_graph(nodes, "g", ends, outputs, list(weights))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = made.SerializeToString()
    path.write_bytes(data if change is None else data.replace(*change))
    return path


LONG = ["a" * 600, "é" * 3000, "x" * 12_000]


@pytest.fixture(params=[*LONG, "unsorted", "not-utf8"])
def odd(request, tmp_path):
    """Two products: names that are too long, nodes out of order, a name that is not UTF-8."""
    path = tmp_path / "m.onnx"
    kind = request.param
    if kind == "unsorted":
        nodes = [node("MatMul", ["h", "w"], ["y"]), node("MatMul", ["x", "w"], ["h"])]
        return saved(path, nodes, [value("y", 2, 4)])
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("MatMul", ["h", "w"], ["y"])]
    if kind == "not-utf8":
        return saved(path, nodes, [value("y", 2, 4)], change=(b"\x01h", b"\x01\xff"))
    for one in nodes:
        for ends in (one.input, one.output):
            ends[:] = [kind + name for name in ends]
    weight = numpy_helper.from_array(numpy_helper.to_array(WEIGHT), f"{kind}w")
    return saved(path, nodes, [value(f"{kind}y", 2, 4)], [value(f"{kind}x", 2, 4)], [weight])


def test_every_command_runs_it(odd, tmp_path):
    assert verify(odd, odd).verdict == "agrees"
    assert len(sensitivity(odd).layers) == 2
    done = CliRunner().invoke(app, ["run", str(odd), "--runs", "1", "--warmup", "0"])
    assert done.exit_code == 0, done.stderr
    out = tmp_path / "out.onnx"
    for method in ("dynamic", "static"):
        extra = ["--random-data"] if method == "static" else []
        done = CliRunner().invoke(app, ["quantize", str(odd), str(out), "--method", method, *extra])
        assert done.exit_code == 0, done.stderr
        names = [[one.name for one in model.graph.input] for model in (onnx.load(odd), onnx.load(out))]
        assert names[0] == names[1]


@pytest.mark.skipif(sys.platform == "win32", reason="the memory of processes is not known there")
@pytest.mark.parametrize("name", ["x", *LONG], ids=len)
def test_the_memory_of_a_run_is_known_whatever_its_inputs_are_called(tmp_path, name):
    ends = [value(f"{name}x", 2, 4), helper.make_tensor_value_info(f"{name}s", TensorProto.STRING, [1])]
    path = saved(tmp_path / "m.onnx", [node("MatMul", [f"{name}x", "w"], ["y"])], [value("y", 2, 4)], ends)
    runner = InferenceRunner(path)
    found = process_memory(path, runner.samples(None, 1, 0)[0][0])
    assert found is not None
    assert found.peak_bytes > 0


def test_samples_by_the_names_of_the_file(tmp_path):
    name = LONG[0] + "x"
    path = saved(
        tmp_path / "m.onnx", [node("MatMul", [name, "w"], ["y"])], [value("y", 2, 4)], [value(name, 2, 4)]
    )
    np.savez(tmp_path / "s.npz", **{name: np.ones((2, 4), np.float32), "other": np.ones(3)})
    assert verify(path, path, tmp_path / "s.npz").data == "s.npz"


def test_long_names_are_cut_the_same_everywhere():
    assert bounded_name(LONG[2]) == bounded_name(LONG[2]) != bounded_name(LONG[2] + "x")
    assert len(bounded_name(LONG[2])) <= 512
    assert bounded_name("short") == "short"


def test_sequences_are_compared(tmp_path):
    kinds = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    paths = []
    for number, op in enumerate(("Relu", "Neg")):
        nodes = [
            node("MatMul", ["x", "w"], ["p"]),
            node(op, ["p"], ["h"]),
            node("SequenceConstruct", ["h", "w"], ["y"]),
        ]
        paths.append(saved(tmp_path / f"{number}.onnx", nodes, [helper.make_value_info("y", kinds)]))
    assert verify(paths[0], paths[0]).verdict == "agrees"
    assert verify(paths[0], paths[1]).verdict == "diverges"


def test_values_of_any_result():
    assert values_of([np.ones((1, 2)), np.ones(3)]).shape == (7, 1)
    assert not np.array_equal(values_of([np.ones(1), np.ones(3)]), values_of([np.ones(3), np.ones(1)]))
    assert values_of([{1: 0.5, 2: 0.25}]).size == 9
    assert values_of(None).size == 0
    assert list(values_of(np.array(["a"], object))) == ["a"]
    assert values_of([{"a": 0.5}]).reshape(-1).tolist() == [4, 1, "a", 1, 0.5]
    assert values_of([]).shape == (0, 1)


def test_results_without_values(tmp_path):
    path = saved(
        tmp_path / "m.onnx", [node("MatMul", ["x", "w"], ["y"])], [value("y", 0, 4)], [value("x", 0, 4)]
    )
    with pytest.raises(InputError, match=r"m.onnx: y has no values"):
        sensitivity(path)
    assert verify(path, path).verdict == "agrees"


DAMAGED = {
    "short": TensorProto(name="w", data_type=1, dims=[4, 4], raw_data=bytes(13)),
    "long": TensorProto(name="w", data_type=1, dims=[4, 4], raw_data=bytes(6400)),
    "negative": TensorProto(name="w", data_type=1, dims=[4, -4], raw_data=bytes(64)),
    "type": TensorProto(name="w", data_type=99, dims=[4, 4], raw_data=bytes(64)),
}


@pytest.mark.parametrize("kind", [*DAMAGED, "constant", "quantizer", "undefined"])
@pytest.mark.parametrize("command", ["quantize", "sensitivity", "verify", "run", "opdocs"])
def test_a_damaged_model_is_one_line(tmp_path, command, kind):
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    if kind == "constant":
        nodes.append(node("Constant", [], [], value=WEIGHT))
    if kind == "quantizer":
        nodes.append(node("QuantizeLinear", ["y", "w"], []))
    if kind == "undefined":
        nodes = [node("Add", ["x", "nobody"], ["h"]), node("MatMul", ["h", "w"], ["y"])]
    path = saved(tmp_path / "m.onnx", nodes, [value("y", 2, 4)], weights=[DAMAGED.get(kind, WEIGHT)])
    out = str(tmp_path / "out")
    given = {
        "quantize": [str(path), f"{out}.onnx", "--method", "dynamic"],
        "verify": [str(path), "--against", str(path)],
        "opdocs": [str(path), "--out", out],
    }
    done = CliRunner().invoke(app, [command, *given.get(command, [str(path)])])
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "m.onnx" in errors[0]
    assert "internal error" not in errors[0]
    assert done.exit_code in (1, 2)
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]


def test_quantize_names_the_damaged_weight(tmp_path):
    path = saved(
        tmp_path / "m.onnx",
        [node("MatMul", ["x", "w"], ["y"])],
        [value("y", 2, 4)],
        weights=[DAMAGED["long"]],
    )
    with pytest.raises(InputError) as caught:
        quantize(path, tmp_path / "o.onnx", random_data=True)
    assert "w" in str(caught.value)
    assert not json.dumps(str(caught.value)).count("\\n")


def test_models_without_a_common_output_do_not_agree(tmp_path):
    pair = [node("Relu", ["x"], ["y"]), node("MatMul", ["y", "w"], ["q"])]
    two = saved(tmp_path / "two.onnx", pair, [value("y", 2, 4), value("q", 2, 4)])
    one = saved(tmp_path / "one.onnx", [node("Relu", ["x"], ["other"])], [value("other", 2, 4)], weights=())
    for model, reference, only in ((two, one, (["y", "q"], ["other"])), (one, two, (["other"], ["y", "q"]))):
        found = verify(model, reference)
        assert (found.verdict, found.outputs) == ("not compared", [])
        assert (found.outputs_only_model, found.outputs_only_reference) == only
    ran = CliRunner().invoke(app, ["verify", str(two), "--against", str(one)])
    assert ran.exit_code == 5
    assert "agrees" not in ran.stdout
    assert "only in two.onnx: y, q" in ran.stdout
    # Inner tensors alone are no outputs either.
    inner = verify(saved(tmp_path / "in.onnx", pair, [value("q", 2, 4)]), {"y": np.zeros((2, 4), "f4")})
    assert inner.verdict != "agrees"


def test_outputs_are_paired_by_name_and_then_by_their_order(tmp_path):
    steps = [node("Relu", ["x"], ["a"]), node("MatMul", ["x", "w"], ["b"]), node("Neg", ["x"], ["c"])]
    shown = {name: value(name, 2, 4) for name in "abc"}
    model = saved(tmp_path / "m.onnx", steps, [shown["a"], shown["b"]])
    other = saved(tmp_path / "r.onnx", steps, [shown["b"], shown["c"]])
    assert [(one.name, one.reference) for one in verify(model, other).outputs] == [("a", "c"), ("b", "b")]
    more = saved(tmp_path / "more.onnx", steps, [shown["b"], shown["c"], shown["a"]])
    found = verify(model, more)
    assert (found.verdict, found.outputs_only_reference) == ("agrees", ["c"])


@pytest.mark.parametrize("names", [("h", "h_out"), ("c", "c_o"), ("state", "new_state")])
def test_synthetic_states_show_the_weights_that_read_them(tmp_path, names):
    state, after = names
    paths = []
    for factor in (1, -50):
        weights = [WEIGHT, numpy_helper.from_array(factor * numpy_helper.to_array(WEIGHT), "u")]
        steps = [
            node("MatMul", ["x", "w"], ["a"]), node("MatMul", [state, "u"], ["b"]),
            node("Add", ["a", "b"], ["sum"]), node("Tanh", ["sum"], [after]),
        ]  # fmt: skip
        ends = [value("x", 2, 4), value(state, 2, 4)]
        paths.append(saved(tmp_path / f"{factor}.onnx", steps, [value(after, 2, 4)], ends, weights))
    assert verify(*paths).verdict == "diverges"
    assert verify(paths[0], paths[0]).verdict == "agrees"


@pytest.mark.parametrize(("length", "said"), [("-5", "is negative (-5)"), ("x", "is not a number")])
def test_external_data_of_an_impossible_length(tmp_path, length, said):
    weight = onnx.TensorProto(name="w", data_type=1, dims=[4, 4], data_location=1)
    for key, text in (("location", "w.bin"), ("length", length)):
        weight.external_data.add(key=key, value=text)
    (tmp_path / "w.bin").write_bytes(bytes(64))
    path = saved(
        tmp_path / "m.onnx", [node("MatMul", ["x", "w"], ["y"])], [value("y", 2, 4)], weights=[weight]
    )
    for command in (["validate"], ["run"]):
        ran = CliRunner().invoke(app, [*command, str(path)])
        assert ran.exit_code == 1
        assert f"m.onnx: w: The length of its external data {said}." in ran.stderr
    weight.external_data[1].value = "64"
    (tmp_path / "w.bin").unlink()
    saved(path, [node("MatMul", ["x", "w"], ["y"])], [value("y", 2, 4)], weights=[weight])
    ran = CliRunner().invoke(app, ["run", str(path)])
    assert ran.exit_code == 1
    assert "m.onnx: w.bin: The file with the data of 1 tensor is not there." in ran.stderr


def test_the_reason_of_a_runtime_stays():
    where = "/src/core/load_utils.h:46 void ns::Check(const std::map<std::string, int>&, bool, const T&) "
    assert one_line(ValueError(f"FAIL : Load failed:{where}Opset 99 is unknown.")) == (
        "FAIL : Load failed: Opset 99 is unknown."
    )
    long = one_line(ValueError("start " + "x " * 500 + "the reason"))
    assert len(long) < 350
    assert long.startswith("start")
    assert long.endswith("the reason")


def test_expected_values_are_checked_before_they_are_unpacked(tmp_path, monkeypatch):
    path = saved(tmp_path / "m.onnx", [node("MatMul", ["x", "w"], ["y"])], [value("y", 2, 4)])
    rows = []

    def read(file, wanted=None):
        rows.append(wanted)
        return read_arrays(file, wanted)

    monkeypatch.setattr("py_autodoc.verify.api.read_arrays", read)
    x = np.ones((3, 2, 4), "f4")
    result = x @ numpy_helper.to_array(WEIGHT)
    np.savez(tmp_path / "e.npz", x=x, y=result, other=np.zeros(10_000, "f4"))
    found = verify(path, tmp_path / "e.npz", samples=2)
    assert (found.verdict, found.samples, rows) == ("agrees", 2, [{"y": 2}])
    assert found.not_compared == {"the model does not compute other": 1}
    np.savez_compressed(tmp_path / "big.npz", x=np.zeros((1 << 20,), "f4"), y=result)
    rows.clear()
    with pytest.raises(InputError, match="x has the shape 1048576"):
        verify(path, tmp_path / "big.npz")
    assert rows == []


def texts(path, words, kind="tensor"):
    """The class of each row as a text, alone or as the key of a map."""
    labels = {"domain": "ai.onnx.ml"}
    if kind == "map":
        zipped = node("ZipMap", ["p"], ["y"], classlabels_strings=words, **labels)
        nodes = [node("MatMul", ["x", "w"], ["p"]), zipped]
        scores = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        one = helper.make_map_type_proto(TensorProto.STRING, scores)
        end = helper.make_value_info("y", helper.make_sequence_type_proto(one))
    else:
        nodes = [
            node("MatMul", ["x", "w"], ["p"]),
            node("ArgMax", ["p"], ["i"], axis=1, keepdims=0),
            node("LabelEncoder", ["i"], ["y"], keys_int64s=range(4), values_strings=words, **labels),
        ]
        end = helper.make_tensor_value_info("y", TensorProto.STRING, [8])
    graph = helper.make_graph(nodes, "g", [value("x", 8, 4)], [end], [WEIGHT])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.parametrize("kind", ["tensor", "map"])
def test_texts_are_compared(tmp_path, kind):
    same = texts(tmp_path / "a.onnx", list("abcd"), kind)
    result = verify(same, same)
    assert (result.verdict, result.outputs[0].error.exact) == ("agrees", True)
    assert result.outputs[0].error.texts == result.outputs[0].error.equal_texts > 0
    other = verify(texts(tmp_path / "b.onnx", list("abyz"), kind), same)
    error = other.outputs[0].error
    assert other.verdict == "diverges"
    assert 0 <= error.equal_texts < error.texts
    assert error.relative_error == 1 - error.equal_texts / error.texts
    assert error.sqnr_db is None
    said = f"{error.equal_texts} of {error.texts} texts equal"
    assert any(said in line for line in verification_lines(other))


def test_expected_texts_come_from_a_file(tmp_path):
    path = texts(tmp_path / "a.onnx", list("abcd"))
    x = np.random.default_rng(1).normal(0, 1, (8, 4)).astype("f4")
    right = np.array(list("abcd"))[(x @ numpy_helper.to_array(WEIGHT)).argmax(1)]
    assert verify(path, {"y": right}, {"x": x}).verdict == "agrees"
    np.savez(tmp_path / "e.npz", x=x, y=right)
    assert verify(path, tmp_path / "e.npz").verdict == "agrees"
    right[0] = "none"
    assert verify(path, {"y": right}, {"x": x}).outputs[0].error.equal_texts == 7
