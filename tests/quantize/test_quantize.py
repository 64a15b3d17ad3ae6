"""Quantized models: they run, keep their tags, and are close to the float ones. Nothing else is touched."""

import hashlib
import json
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.clipping import clipping_pairs
from py_autodoc.quantize.kept_float import has_mask
from py_autodoc.quantize.kernels import saturates
from py_autodoc.quantize.lines import quantization_lines
from py_autodoc.quantize.prepare import prepare_model
from py_autodoc.tags import load_tags, tag_file

pytest.importorskip("onnxruntime")
DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")
RESNET8, BERT = Path("tests/data/quant/resnet8_fp32_bn.onnx"), Path("tests/data/models/bert_tiny.onnx")
TARGET = "cpu-vnni"
"""Given, so that results are the same on every machine; scores compare what the file says.

Operators of integers run as this machine computes them, also one by one.
"""
SATURATED = {"qoperator": 10, "dynamic": 25}
"""At least so many dB where their sums of u8 and s8 saturate: 12.9 and 27.8 were measured."""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("fields", "least", "ops"),
    [
        ({}, 30, {"QuantizeLinear", "DequantizeLinear"}),
        ({"format": "qoperator"}, 30, {"QLinearConv", "QGemm"}),
        ({"activations": "s8"}, 28, {"QuantizeLinear"}),
        ({"weights": "s7"}, 24, {"QuantizeLinear"}),
        ({"target": "cpu-avx2"}, 28, {"QuantizeLinear"}),
        ({"target": "tensorrt"}, 28, {"QuantizeLinear"}),
        ({"calibration": "percentile"}, 25, {"QuantizeLinear"}),
        ({"per_channel": False}, 25, {"QuantizeLinear"}),
        ({"method": "dynamic"}, 35, {"MatMulInteger", "DynamicQuantizeLinear"}),
        ({"method": "fp16"}, 50, {"Cast"}),
    ],
)
def test_methods_on_digits(fields, least, ops, tmp_path):
    before, out = digest(DIGITS), tmp_path / "q.onnx"
    found = quantize(DIGITS, out, DATA, Recipe(**{"target": TARGET, **fields}), samples=64)
    assert digest(DIGITS) == before
    made = onnx.load(out)
    assert ops & {node.op_type for node in made.graph.node}
    if saturates():
        least = SATURATED.get(fields.get("format") or fields.get("method"), least)
    assert found.outputs[0].error.sqnr_db > least
    assert found.outputs[0].agreement == 1.0
    assert found.nodes == len(made.graph.node)
    onnx.checker.check_model(made)
    assert found.tagged >= 0.99
    noted = json.loads(next(one.value for one in made.metadata_props if "quantization" in one.key))
    assert noted["recipe"]["method"] == found.recipe.method
    assert set(noted["versions"]) == {"onnx", "onnxruntime", "onnx-autodoc"}


def test_a_file_that_we_wrote(tmp_path):
    runner = CliRunner()
    done = runner.invoke(app, ["rebatch", str(DIGITS), str(tmp_path / "r.onnx"), "--batch", "2"])
    assert done.exit_code == 0
    quantize(tmp_path / "r.onnx", tmp_path / "q.onnx", None, Recipe(target=TARGET), random_data=True)
    onnx.checker.check_model(str(tmp_path / "q.onnx"))
    keys = [one.key for one in onnx.load(tmp_path / "q.onnx").metadata_props]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["static", "dynamic", "int8-weights", "int4-weights", "fp16"])
def test_tags_of_surviving_nodes_are_those_of_the_original(method, tmp_path):
    """By the tensor that a node gives, which the tools keep."""
    out = tmp_path / "q.onnx"
    found = quantize(BERT, out, None, Recipe(method=method, target=TARGET), random_data=True, samples=4)
    assert found.outputs[0].error.sqnr_db > (15 if method == "int4-weights" else 20)
    tags = []
    tag_file(BERT, tmp_path / "tagged.onnx")
    for path in (tmp_path / "tagged.onnx", out):
        _, held = load_tags(path)
        tags.append({node.outputs[0].name: one.tag for node, one in held.records.items()})
    shared = tags[0].keys() & tags[1].keys()
    assert len(shared) > 20
    same = sum(tags[0][name] == tags[1][name] for name in shared)
    assert same / len(shared) >= 0.99


def test_normalizations_are_folded_without_a_change_of_results():
    import onnxruntime

    model = onnx.load(RESNET8)
    float_model = model.SerializeToString()
    assert prepare_model(model, "m") == 7
    assert not any(node.op_type == "BatchNormalization" for node in model.graph.node)
    onnx.checker.check_model(model)
    x = np.random.default_rng(0).uniform(0, 255, (2, 32, 32, 3)).astype(np.float32)
    results = [
        onnxruntime.InferenceSession(one).run(None, {"input_1": x})[0]
        for one in (float_model, model.SerializeToString())
    ]
    assert np.allclose(*results, atol=1e-5)


@pytest.mark.parametrize("exclude", ["node_linear", "logits", "fc", "op=Gemm"])
def test_nodes_that_stay_float(exclude, tmp_path):
    """By name, by the tensor, by module and by query."""
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(exclude=[exclude], target=TARGET), samples=8)
    assert found.excluded == ["node_linear"]
    gemm = next(node for node in onnx.load(tmp_path / "q.onnx").graph.node if node.op_type == "Gemm")
    assert "quantized" not in gemm.input[1]


def test_exclude_that_means_nothing(tmp_path):
    with pytest.raises(AutodocError, match="matches no node"):
        quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(exclude=["op=LSTM"]), samples=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("model", "data", "recipe", "said"),
    [
        (DIGITS, None, Recipe(), "needs samples of real inputs"),
        ("tests/data/models/resnet_tiny_qdq_int8.onnx", None, Recipe(method="fp16"), "already quantized"),
        (DIGITS, DATA, Recipe(method="int4-weights"), "no operators that int4-weights quantizes"),
        (DIGITS, {"image": np.full((2, 1, 8, 8), np.nan)}, Recipe(), "NaN or infinity"),
        (DIGITS, {"image": np.zeros((2, 1, 9, 9))}, Recipe(), "the model takes image"),
        (DIGITS, DATA, Recipe(method="magic"), "Unknown method 'magic'"),
    ],
)
def test_bad_input_leaves_nothing(model, data, recipe, said, tmp_path):
    with pytest.raises(AutodocError, match=said):
        quantize(model, tmp_path / "q.onnx", data, recipe)
    assert not list(tmp_path.iterdir())


def test_a_plugin(monkeypatch, tmp_path):
    from py_autodoc.quantize import choices, methods

    seen = []

    def mine(source, target, recipe, samples, exclude):
        seen.append((recipe.method, len(samples), exclude))
        target.write_bytes(source.read_bytes())

    class Entry:
        name = "mine"

        def load(self):
            return mine

    for module in (choices, methods):
        monkeypatch.setattr(module, "entry_points", lambda group: [Entry()])
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(method="mine"), samples=3)
    assert seen == [("mine", 3, [])]
    assert found.outputs[0].error.exact or found.outputs[0].error.sqnr_db > 100


def test_pairs_that_can_clip():
    def model(values):
        weight = numpy_helper.from_array(np.array(values, np.int8), "w")
        nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["y"], name="product")]
        inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, len(values)])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, [1, len(values[0])])]
        return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, [weight]))

    found = clipping_pairs(model([[65, 127], [64, -127], [-64, 1], [64, 2]]))
    assert (found.pairs, found.clipping) == (4, 1)
    assert (found.worst_layer, found.worst_share) == ("product", 0.25)
    exact = clipping_pairs(model([[65], [64]]))
    assert (exact.clipping, exact.pairs) == (1, 1)  # 255 · 129 = 32,895
    assert clipping_pairs(model([[64], [64]])).clipping == 0  # 255 · 128 = 32,640


def test_the_command(tmp_path):
    def run(*args):
        return CliRunner().invoke(app, ["quantize", *map(str, args)])

    out = tmp_path / "q.onnx"
    done = run(
        DIGITS, out, "--data", DATA, "--samples", 16, "--target", TARGET, "--out-json", tmp_path / "q.json"
    )
    assert done.exit_code == 0
    assert "times smaller than digits_cnn.onnx" in done.stdout
    assert json.loads((tmp_path / "q.json").read_text())["recipe"]["target"] == TARGET
    assert run(DIGITS, out, "--data", DATA, "--target", TARGET, "--samples", 2).exit_code == 0
    assert run(DIGITS, DIGITS, "--data", DATA).exit_code == 3
    refused = run(DIGITS, out, "--data", DATA, "--target", "tensorrt", "--format", "qoperator")
    assert refused.exit_code == 1
    assert "TensorRT reads" in refused.stderr
    assert run(tmp_path / "none.onnx", out).exit_code == 1


def external(path, folder):
    """A copy with its weights beside it."""
    out = folder / path.name
    onnx.save(onnx.load(path), out, save_as_external_data=True, location="weights.bin", size_threshold=512)
    return out


@pytest.mark.parametrize(
    ("model", "recipe"),
    [
        (RESNET8, Recipe()),
        (RESNET8, Recipe(format="qoperator")),
        (BERT, Recipe(method="dynamic")),
        (BERT, Recipe(method="int4-weights")),
        (BERT, Recipe(method="fp16")),
    ],
)
def test_models_over_the_limit_of_a_protobuf(model, recipe, tmp_path, monkeypatch):
    """With a limit that they pass: weights go through files, and into one beside the result."""
    monkeypatch.setattr("py_autodoc.tags.model_files.LARGE", 20_000)
    (tmp_path / "source").mkdir()
    source = external(model, tmp_path / "source")
    before = [digest(one) for one in sorted(source.parent.iterdir())]
    recipe = msgspec.structs.replace(recipe, target=TARGET)
    found = quantize(source, tmp_path / "q.onnx", None, recipe, random_data=True, samples=2)
    assert [digest(one) for one in sorted(source.parent.iterdir())] == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["q.onnx", "q.onnx.data", "source"]
    small = quantize(model, tmp_path / "s.onnx", None, recipe, random_data=True, samples=2)
    assert found.outputs[0].error.sqnr_db == pytest.approx(small.outputs[0].error.sqnr_db, abs=0.01)
    assert found.tagged == small.tagged
    size = sum((tmp_path / one).stat().st_size for one in ("q.onnx", "q.onnx.data"))
    assert found.bytes_after == size
    onnx.checker.check_model(str(tmp_path / "q.onnx"))


def test_data_beside_the_result_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.setattr("py_autodoc.tags.model_files.LARGE", 20_000)
    (tmp_path / "q.onnx.data").write_text("mine")
    with pytest.raises(AutodocError, match=r"q\.onnx\.data"):
        quantize(RESNET8, tmp_path / "q.onnx", None, Recipe(target=TARGET), random_data=True, samples=2)
    assert [one.name for one in tmp_path.iterdir()] == ["q.onnx.data"]
    assert (tmp_path / "q.onnx.data").read_text() == "mine"


def test_no_room_for_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr("py_autodoc.tags.model_files.LARGE", 20_000)
    usage = type("Usage", (), {"free": 100})()
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(AutodocError, match="Temporary files need about"):
        quantize(RESNET8, tmp_path / "q.onnx", None, Recipe(target=TARGET), random_data=True, samples=2)
    assert not list(tmp_path.iterdir())


def product(op, weight):
    """A product behind one operator."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["l"], domain="my.ops" if op == "Magic" else ""),
         helper.make_node("MatMul", ["l", "w"], ["y"])],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(np.full((4, 4), weight, np.float32), "w")],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("op", "weight", "said"),
    [
        ("Relu", np.nan, "the weight w holds NaN or infinity"),
        ("Log", 1.0, "tensors inside the model are NaN or infinite"),
        ("Magic", 1.0, "^m.onnx: ONNX Runtime refuses the model: my.ops:Magic"),
    ],
)
def test_models_that_cannot_be_quantized(op, weight, said, tmp_path):
    onnx.save(product(op, weight), tmp_path / "m.onnx")
    with pytest.raises(AutodocError, match=said):
        quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", {"x": -np.ones((2, 4))}, Recipe(target=TARGET))
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]


def masked(dtype):
    """Attention scores with a mask of minus infinity, whose softmax has one type, between two products."""
    one = TensorProto.FLOAT
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.normal(size=(8, 8)).astype(np.float32), name) for name in ("w", "v")
    ]
    weights += [
        numpy_helper.from_array(np.float32(-np.inf), "low"),
        numpy_helper.from_array(np.tril(np.ones((8, 8), bool)), "keep"),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("Where", ["keep", "scores", "low"], ["hidden"]),
        helper.make_node("Cast", ["hidden"], ["wide"], to=dtype),
        helper.make_node("Softmax", ["wide"], ["attended"]),
        helper.make_node("Cast", ["attended"], ["narrow"], to=one),
        helper.make_node("MatMul", ["narrow", "v"], ["y"]),
    ]
    sizes = [8, 8]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", one, sizes)],
        [helper.make_tensor_value_info("y", one, sizes)], weights,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_masks_of_infinity_stay_float(dtype, tmp_path):
    onnx.save(masked(dtype), tmp_path / "m.onnx")
    data = {"x": np.random.default_rng(1).normal(size=(4, 8, 8)).astype(np.float32)}
    every = Recipe(target=TARGET, ops=["all"])
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, every)
    assert found.outputs[0].error.sqnr_db > 25
    assert found.findings[0] == "3 nodes with values of masks, infinite or large, stay in float32."
    made = onnx.load(tmp_path / "q.onnx")
    feeds = {one: node.op_type for node in made.graph.node for one in node.output}
    where = next(node for node in made.graph.node if node.op_type == "Where")
    assert where.input[2] == "low"
    softmax = next(node for node in made.graph.node if node.op_type == "Softmax")
    assert feeds[softmax.input[0]] == "Cast"
    assert any(node.op_type == "QuantizeLinear" for node in made.graph.node)
    with pytest.raises(AutodocError, match=r"cannot keep Where in float .* Use --format qdq\."):
        quantize(
            tmp_path / "m.onnx",
            tmp_path / "p.onnx",
            data,
            Recipe(target=TARGET, ops=["all"], format="qoperator"),
        )
    assert not (tmp_path / "p.onnx").exists()


def test_infinite_weights_of_products_are_refused(tmp_path):
    onnx.save(product("Relu", -np.inf), tmp_path / "m.onnx")
    with pytest.raises(AutodocError, match="the weight w holds NaN or infinity"):
        quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", {"x": np.ones((2, 4))}, Recipe(target=TARGET))


def test_values_that_do_not_fit(tmp_path):
    with pytest.raises(AutodocError, match="do not fit float32"):
        quantize(DIGITS, tmp_path / "q.onnx", {"image": np.full((2, 1, 8, 8), 1e300)}, Recipe(target=TARGET))


def test_an_old_opset_is_raised_for_scales_per_channel(tmp_path):
    model = product("Relu", 0.5)
    model.opset_import[0].version = 11
    del model.opset_import[1:]
    model.graph.node[1].metadata_props.add(key="owner", value="me")
    onnx.save(model, tmp_path / "m.onnx")
    data = {"x": np.ones((2, 4), np.float32)}
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, Recipe(target=TARGET))
    assert (found.changes.opset_before, found.changes.opset) == (11, 13)
    assert (found.form.weights_per_channel, found.form.weights_per_tensor) == (1, 0)
    assert found.outputs[0].error.relative_error < 0.05
    made = onnx.load(tmp_path / "q.onnx")
    onnx.checker.check_model(made)
    matmul = next(node for node in made.graph.node if node.op_type == "MatMul")
    assert any(entry.key == "owner" for entry in matmul.metadata_props)
    assert "Opset raised from 11 to 13." in list(quantization_lines(found))


def test_an_opset_that_cannot_be_raised(tmp_path, monkeypatch):
    """One scale per weight, and said so; a request for more is refused."""
    model = product("Relu", 0.5)
    model.opset_import[0].version = 12
    onnx.save(model, tmp_path / "m.onnx")
    data = {"x": np.ones((2, 4), np.float32)}
    monkeypatch.setattr("py_autodoc.quantize.prepare.raise_opset", lambda proto, version: False)
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, Recipe(target=TARGET))
    assert found.recipe.per_channel is False
    assert (found.form.weights_per_channel, found.form.weights_per_tensor) == (0, 1)
    assert "one scale per weight" in list(quantization_lines(found))[1]
    with pytest.raises(AutodocError, match="scales per channel need 13"):
        quantize(tmp_path / "m.onnx", tmp_path / "p.onnx", data, Recipe(target=TARGET, per_channel=True))


def attention(mask):
    """Products around a Softmax; ``mask`` gives nodes from ``scores`` to ``hidden`` and their tensors."""
    rng = np.random.default_rng(0)
    nodes, tensors = mask
    weights = [numpy_helper.from_array(rng.normal(size=(8, 8)).astype(np.float32), name) for name in "wv"]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        *nodes,
        helper.make_node("Softmax", ["hidden"], ["attended"]),
        helper.make_node("MatMul", ["attended", "v"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in ("x", "y")]
    extra = [helper.make_tensor_value_info("seen", TensorProto.FLOAT, [8, 8])]
    read = {name for node in nodes for name in node.input}
    inputs = [values[0], *(one for one in extra if one.name in read)]
    graph = helper.make_graph(nodes, "g", inputs, [values[1]], [*weights, *tensors])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def hidden(value, dtype=np.float32):
    """A mask of the upper triangle."""
    return np.triu(np.full((8, 8), value, dtype), 1)


def added(value):
    return (
        [helper.make_node("Add", ["scores", "mask"], ["hidden"])],
        [numpy_helper.from_array(hidden(value), "mask")],
    )


def in_a_constant(value):
    tensor = numpy_helper.from_array(hidden(value))
    return (
        [
            helper.make_node("Constant", [], ["mask"], value=tensor),
            helper.make_node("Add", ["scores", "mask"], ["hidden"]),
        ],
        [],
    )


def of_halves(value):
    return (
        [
            helper.make_node("Cast", ["half"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["mask", "scores"], ["hidden"]),
        ],
        [numpy_helper.from_array(hidden(value, np.float16), "half")],
    )


def selected(value):
    return (
        [helper.make_node("Where", ["keep", "scores", "low"], ["hidden"])],
        [
            numpy_helper.from_array(np.float32(value), "low"),
            numpy_helper.from_array(np.tril(np.ones((8, 8), bool)), "keep"),
        ],
    )


def from_an_input(value):
    """(1 - seen) · value, as BERT does."""
    return (
        [
            helper.make_node("Sub", ["one", "seen"], ["unseen"]),
            helper.make_node("Mul", ["unseen", "low"], ["mask"]),
            helper.make_node("Add", ["scores", "mask"], ["hidden"]),
        ],
        [numpy_helper.from_array(np.float32(one), name) for one, name in ((1, "one"), (value, "low"))],
    )


@pytest.mark.parametrize(
    ("mask", "value"),
    [
        (added, np.finfo(np.float32).min),
        (added, -1e9),
        (in_a_constant, -1e4),
        (of_halves, -65504),
        (selected, np.finfo(np.float32).min),
        (selected, -1e4),
        (from_an_input, -1e4),
        (from_an_input, np.finfo(np.float32).min),
    ],
)
@pytest.mark.parametrize("ops", [[], ["all"]])
def test_finite_masks_stay_float(mask, value, ops, tmp_path):
    onnx.save(attention(mask(value)), tmp_path / "m.onnx")
    rng = np.random.default_rng(1)
    data = {"x": rng.normal(size=(4, 8, 8)).astype(np.float32)}
    if mask is from_an_input:
        data["seen"] = np.tile(np.tril(np.ones((8, 8), np.float32)), (4, 1, 1))
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, Recipe(target=TARGET, ops=ops))
    assert found.outputs[0].error.sqnr_db > 25
    assert found.form.quantized == {"MatMul": 2}
    assert any("values of masks" in one for one in found.findings) == bool(ops)


def test_a_mask_that_is_an_input_stays_float(tmp_path):
    onnx.save(attention(([helper.make_node("Add", ["scores", "seen"], ["hidden"])], [])), tmp_path / "m.onnx")
    rng = np.random.default_rng(1)
    data = {"x": rng.normal(size=(4, 8, 8)).astype(np.float32), "seen": np.tile(hidden(-1e9), (4, 1, 1))}
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, Recipe(target=TARGET, ops=["all"]))
    assert found.outputs[0].error.sqnr_db > 25


@pytest.mark.parametrize(
    ("values", "masked"),
    [
        ([0.5, -2.0, -1e9], True),
        ([0.5, -1e9, -2e9], True),
        ([1.0, np.inf], True),
        ([1e4, 9e3, 100.0], False),  # heavy tails are no masks
        ([0.001, 5.0], False),
        ([-1e9, -1e9], False),
        ([], False),
    ],
)
def test_what_a_mask_is(values, masked):
    assert has_mask(np.array(values, np.float32)) is masked


def stored_otherwise(kind):
    """A product and its bias whose weight is stored in a node, or passes one."""
    weight, bias = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32), np.ones(4, np.float32)
    tensors = [numpy_helper.from_array(bias, "b")]
    if kind == "Constant":
        nodes = [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(weight))]
    else:
        tensors.append(
            numpy_helper.from_array(weight.astype(np.float16 if kind == "Cast" else np.float32), "s")
        )
        more = {"Cast": {"to": TensorProto.FLOAT}, "Transpose": {"perm": [1, 0]}}.get(kind, {})
        nodes = [helper.make_node(kind, ["s"], ["w"], **more)]
    nodes += [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("kind", ["Constant", "Identity", "Cast", "Transpose"])
@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_weights_that_nodes_give(kind, method, tmp_path):
    onnx.save(stored_otherwise(kind), tmp_path / "m.onnx")
    data = {"x": np.random.default_rng(1).normal(size=(4, 2, 4)).astype(np.float32)}
    recipe = Recipe(target=TARGET, method=method)
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", data, recipe)
    assert found.form.quantized == {"MatMul": 1}
    assert found.changes.lifted_weights == 1
    assert found.outputs[0].error_target.sqnr_db > 25


def test_a_model_of_paddle(tmp_path):
    """Opset 11, every weight in a Constant node."""
    model = "tests/data/models/ppocr_cls_v2.onnx"
    found = quantize(model, tmp_path / "q.onnx", None, Recipe(target=TARGET), random_data=True, samples=1)
    assert found.form.float_products == {}
    assert found.form.weights_per_tensor == 0
    assert found.form.weights_per_channel == sum(found.form.quantized.values()) == 54
    assert 0.6 * found.bytes_before > found.bytes_after


def test_u8_weights_have_one_scale_per_channel_if_said_so(tmp_path):
    for per_channel in (None, False):
        recipe = Recipe(target=TARGET, weights="u8", per_channel=per_channel)
        found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=8)
        assert found.recipe.per_channel is (per_channel is None)
        assert bool(found.form.weights_per_channel) is found.recipe.per_channel
        scales = "one scale per channel" if found.recipe.per_channel else "one scale per weight"
        assert scales in list(quantization_lines(found))[1]


def test_entropy_has_other_ranges_than_minmax(tmp_path):
    def scale(calibration):
        recipe = Recipe(target=TARGET, calibration=calibration)
        quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=4, compare=False)
        tensors = onnx.load(tmp_path / "q.onnx").graph.initializer
        return sum(numpy_helper.to_array(one).sum() for one in tensors if one.name.endswith("_scale"))

    assert scale("entropy") < 0.99 * scale("minmax")


def test_types_of_operators(tmp_path):
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(target=TARGET, ops=["Conv"]), samples=4)
    assert found.form.float_products == {"Gemm": 1}
    with pytest.raises(AutodocError, match="cannot quantize operators of type 'Convv'"):
        quantize(DIGITS, tmp_path / "p.onnx", DATA, Recipe(target=TARGET, ops=["Convv"]), samples=4)
