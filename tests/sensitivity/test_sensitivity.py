"""Layers quantized one at a time in one session, against requantizing the model for each of them."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.sensitivity import sensitivity
from py_autodoc.sensitivity.layers import layers_of

pytest.importorskip("onnxruntime")
DATA = Path("tests/data/quant")
DIGITS, DIGITS_DATA = DATA / "digits_cnn.onnx", DATA / "digits.npz"


def spearman(a, b):
    ranks = [np.argsort(np.argsort(np.asarray(one))) for one in (a, b)]
    return np.corrcoef(*ranks)[0, 1]


def requantized(path, samples, layer, folder):
    """The model with one layer quantized by ONNX Runtime's own tool: its input and weight, nothing else."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Rows(CalibrationDataReader):
        def __init__(self):
            self.left = iter(samples)

        def get_next(self):
            return next(self.left, None)

    named = onnx.load(path)
    for node in named.graph.node:
        node.name = node.output[0]
    del named.graph.value_info[:]
    onnx.save(named, folder / "named.onnx")
    quantize_static(
        folder / "named.onnx", folder / "one.onnx", Rows(), quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, nodes_to_quantize=[layer],
        extra_options={"OpTypesToExcludeOutputQuantization": ["Conv", "Gemm", "MatMul"]},
    )  # fmt: skip
    return folder / "one.onnx"


def error_of(path, other, samples):
    """Relative error of the first output, every operator as it stands in the file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    sessions = [onnxruntime.InferenceSession(one, options) for one in (path, other)]
    a, b = ([session.run(None, one)[0].astype(float) for one in samples] for session in sessions)
    noise = sum(((x - y) ** 2).sum() for x, y in zip(a, b, strict=True))
    return float(np.sqrt(noise / sum((x**2).sum() for x in a)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data", "name"),
    [
        ("digits_cnn", "digits", "image"),
        ("strww_fp32", "strww", "input_1"),
        ("resnet8_fp32_bn", "", "input_1"),
    ],
)
def test_ranks_as_requantizing_one_layer_after_the_other(model, data, name, tmp_path):
    """Spearman's correlation with the truth: input and weight of the layer quantized, all others float."""
    path = DATA / f"{model}.onnx"
    if data:
        rows = np.load(DATA / f"{data}.npz")[name][:24]
    else:
        rows = np.random.default_rng(0).uniform(0, 255, (12, 32, 32, 3)).astype(np.float32)
    samples = [{name: one[None]} for one in rows]
    found = sensitivity(path, {name: rows})
    errors = [
        error_of(path, requantized(path, samples, layer.output, tmp_path), samples) for layer in found.layers
    ]
    ours = [layer.quality.relative_error for layer in found.layers]
    assert spearman(ours, errors) >= 0.95
    assert np.allclose(ours, errors, rtol=0.5)
    assert np.median(np.abs(np.divide(ours, errors) - 1)) < 0.02


def test_digits():
    found = sensitivity(DIGITS, DIGITS_DATA, samples=32)
    assert (found.metric, found.samples, found.data, found.measured) == ("kl", 32, "digits.npz", 7)
    assert found.float_error < 1e-5
    assert [one.rank for one in found.layers] == list(range(1, 8))
    assert [one.quality.kl for one in found.layers] == sorted(
        (one.quality.kl for one in found.layers), reverse=True
    )
    assert 30 < found.all_quantized.sqnr_db < 45
    # All layers quantized hurt more than any alone; none quantized is the float model.
    assert found.all_quantized.relative_error > max(one.quality.relative_error for one in found.layers)
    assert found.curve[0].quality == found.all_quantized
    assert found.curve[-1].quality.relative_error < 1e-5
    sizes = [point.weight_bytes for point in found.curve]
    assert sizes == sorted(sizes)
    assert sizes[-1] - sizes[0] == sum(one.weight_values for one in found.layers) * 3
    assert {one.name for one in found.layers} >= {"stem", "fc"}


def test_a_target_names_the_layers_to_keep():
    found = sensitivity(DIGITS, DIGITS_DATA, samples=16, weights="s4", auto="sqnr>=25", hardware="l4")
    assert found.choice.reached
    kept = found.choice.point.float_layers
    assert 0 < kept < 7
    assert found.choice.point.quality.sqnr_db >= 25
    assert [
        one.output for one in found.layers[: found.choice.point.float_layers]
    ] == found.choice.float_layers
    assert [one.layer for one in found.sensitive_layers] == [one.name for one in found.layers][
        : found.choice.point.float_layers
    ]
    times = [point.latency_ms for point in found.curve]
    assert times == sorted(times)
    assert times[0] < times[-1]
    assert "NVIDIA L4" in found.device
    missed = sensitivity(DIGITS, DIGITS_DATA, samples=4, auto="sqnr>=500")
    assert not missed.choice.reached


def test_coarser_weights_hurt_more():
    errors = [
        sensitivity(DIGITS, DIGITS_DATA, samples=8, weights=kind).all_quantized.relative_error
        for kind in ("s8", "s7", "s4")
    ]
    assert errors == sorted(errors)
    assert errors[2] > 5 * errors[0]


def test_groups_measure_the_same():
    whole = sensitivity(DIGITS, DIGITS_DATA, samples=4)
    grouped = sensitivity(DIGITS, DIGITS_DATA, samples=4, memory=600_000)
    errors = [{one.output: one.quality.relative_error for one in found.layers} for found in (whole, grouped)]
    assert errors[0].keys() == errors[1].keys()
    # Sums in another order now and then round to another integer.
    assert all(errors[1][name] == pytest.approx(value, rel=0.05) for name, value in errors[0].items())
    assert (grouped.curve, grouped.all_quantized) == ([], None)
    with pytest.raises(AutodocError, match="scores of all layers"):
        sensitivity(DIGITS, DIGITS_DATA, samples=4, memory=600_000, auto="sqnr>=30")


def test_the_time_that_is_given():
    found = sensitivity(DIGITS, DIGITS_DATA, samples=4, budget=0.0)
    assert found.measured < 7
    assert [one.quality is None for one in found.layers] == [False] * found.measured + [True] * (
        7 - found.measured
    )
    assert all(one.rank is None for one in found.layers[found.measured :])


def test_progress():
    seen = []
    sensitivity(DIGITS, DIGITS_DATA, samples=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(at, 7) for at in range(1, 8)]


def product(opset=17, dtype=np.float32, op="MatMul"):
    weight = numpy_helper.from_array(np.eye(4, dtype=dtype), "w")
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", kind, [1, 4])],
        [helper.make_tensor_value_info("y", kind, [1, 4])], [weight],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (product(dtype=np.float16), "no convolution or product with float32 weights"),
        (product(op="Add"), "no convolution or product with float32 weights"),
    ],
)
def test_models_without_layers(model, said, tmp_path):
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(AutodocError, match=said):
        sensitivity(tmp_path / "m.onnx")


def test_an_opset_without_quantizers_is_raised(tmp_path):
    onnx.save(product(9), tmp_path / "m.onnx")
    assert [layer.op for layer in sensitivity(tmp_path / "m.onnx").layers] == ["MatMul"]


def test_an_opset_that_cannot_be_raised(tmp_path, monkeypatch):
    onnx.save(product(9), tmp_path / "m.onnx")
    monkeypatch.setattr("py_autodoc.sensitivity.api.raise_opset", lambda proto, version: False)
    with pytest.raises(AutodocError, match="has opset 9, which cannot be converted; quantization needs 10"):
        sensitivity(tmp_path / "m.onnx")


@pytest.mark.parametrize("kind", ["Constant", "Transpose"])
def test_weights_that_nodes_give_are_layers(kind, tmp_path):
    model = product()
    weight = model.graph.initializer[0]
    weight.name = "stored"
    if kind == "Constant":
        node = helper.make_node("Constant", [], ["w"], value=weight)
        del model.graph.initializer[:]
    else:
        node = helper.make_node("Transpose", ["stored"], ["w"], perm=[1, 0])
    model.graph.node.insert(0, node)
    onnx.save(model, tmp_path / "m.onnx")
    assert [layer.output for layer in sensitivity(tmp_path / "m.onnx").layers] == ["y"]


def test_a_quantized_model_is_refused():
    with pytest.raises(AutodocError, match="is already quantized"):
        sensitivity("tests/data/models/resnet_tiny_qdq_int8.onnx")


@pytest.mark.parametrize(
    "option", [{"weights": "s9"}, {"activations": "f"}, {"output": "none"}, {"auto": "x"}]
)
def test_options_that_are_unknown(option):
    with pytest.raises(AutodocError):
        sensitivity(DIGITS, DIGITS_DATA, **option)


def test_weights_among_the_inputs_and_shared_ones(tmp_path):
    model = product()
    model.graph.node.append(helper.make_node("MatMul", ["y", "w"], ["z"]))
    model.graph.output[0].name = "z"
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 4]))
    onnx.save(model, tmp_path / "m.onnx")
    assert [one.weight for one in layers_of(model, "m")] == ["w", "w"]
    found = sensitivity(tmp_path / "m.onnx")
    assert sorted(one.output for one in found.layers) == ["y", "z"]
    assert found.measured == 2
    assert found.curve[0].weight_bytes == 16


def test_the_command(tmp_path):
    from py_autodoc.cli.app import app

    def run(*args):
        return CliRunner().invoke(app, ["sensitivity", str(DIGITS), *map(str, args)])

    data = ("--data", DIGITS_DATA, "--samples", 4)
    told = run(*data)
    assert told.exit_code == 0
    assert "7 of 7 layers measured" in told.stdout
    assert "l1.b1 (Conv)" in told.stdout
    outs = run(*data, "--out-json", tmp_path / "s.json", "--out-html", tmp_path / "s.html")
    assert outs.exit_code == 0
    read = json.loads((tmp_path / "s.json").read_text())
    assert (read["schema"], len(read["layers"])) == ("autodoc.sensitivity/1", 7)
    assert "Error if quantized alone" in (tmp_path / "s.html").read_text()
    assert run(*data, "--auto", "sqnr>=500").exit_code == 5
    assert "synthetic" in run("--samples", 1).stderr
    assert run("--data", tmp_path / "none.npz").exit_code == 1
