"""The operation reference of real models: numbers, files, pages, and what is refused."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.opdocs import opdocs
from py_autodoc.opdocs.contract import operations_schema
from py_autodoc.opdocs.integer_operations import find_operations
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.reference import evaluate

pytest.importorskip("onnxruntime")
DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")
WAKEWORD, WORDS = Path("tests/data/quant/strww_fp32.onnx"), Path("tests/data/quant/strww.npz")
FORMS = {"qdq": {}, "qoperator": {"format": "qoperator"}, "integer": {"method": "dynamic"}}


@pytest.fixture(scope="module", params=FORMS)
def made(request, tmp_path_factory):
    """(form, quantized file, folder, result) of the digits model."""
    folder = tmp_path_factory.mktemp(request.param)
    file, out = folder / "q.onnx", folder / "reference"
    recipe = Recipe(target="cpu-vnni", **FORMS[request.param])
    quantize(DIGITS, file, DATA, recipe, samples=32)
    return request.param, file, out, opdocs(file, out, DATA, samples=4)


def test_every_output_is_that_of_onnx_runtime(made):
    form, _, _, result = made
    compared = [one.against_runtime for one in result.operations]
    assert all(one is not None and one.differing == 0 and one.values > 0 for one in compared)
    expected = {"qdq": "QLinearConv", "qoperator": "QLinearConv", "integer": "MatMulInteger"}[form]
    assert expected in {one.op_type for one in result.operations}


def test_the_json_keeps_the_schema(made):
    document = json.loads((made[2] / "operations.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, operations_schema())
    stored = json.loads(Path("py_autodoc/opdocs/operations.schema.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(operations_schema()))


def test_all_files_are_there(made):
    _, _, out, result = made
    for one in result.operations:
        for name in (one.c, one.vectors, one.picture):
            assert name is not None
            assert (out / name).stat().st_size
    assert (out / result.picture).read_text(encoding="utf-8").startswith("<?xml")
    assert not [one for one in out.rglob("*") if one.name.startswith(".")]


def test_vectors_are_what_the_reference_gives(made):
    _, _, out, result = made
    for one in result.operations:
        with np.load(out / one.vectors) as arrays:
            held = dict(arrays)
        operands = {operand.role: operand for operand in one.operands}
        assert set(held) <= {*operands, "y_scale", "y_zero_point"}
        assert list(held["y"].shape) == operands["y"].shape
        if one.op_type in ("QuantizeLinear", "DequantizeLinear"):
            side = operands["y"] if one.op_type[0] == "Q" else operands["x"]
            scale, zero = np.float32(side.scale[0]), np.array(side.zero_point[0], side.type)
            again = evaluate(one.op_type, [held["x"], scale, zero], {})[0]
            np.testing.assert_array_equal(again, held["y"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_c_files_compile(made, tmp_path):
    _, _, out, result = made
    files = [str(out / one.c) for one in result.operations]
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_accumulators_and_multipliers(made):
    for one in made[3].operations:
        found_ = one.accumulator
        if found_ is None:
            continue
        if found_.worst is not None:
            assert found_.worst[0] <= found_.measured[0] <= found_.measured[1] <= found_.worst[1]
            assert -(2 ** (found_.worst_bits - 1)) <= found_.worst[0]
            assert found_.worst[1] < 2 ** (found_.worst_bits - 1)
            narrow = found_.worst_bits - 1
            assert found_.worst[0] < -(2 ** (narrow - 1)) or found_.worst[1] >= 2 ** (narrow - 1)
        if one.requantization is not None:
            assert len(one.requantization.q31) == one.requantization.channels
            reals = [value * 2.0**-shift for value, shift in one.requantization.q31]
            assert min(reals) == pytest.approx(one.requantization.real[0], rel=1e-8)
            assert max(reals) == pytest.approx(one.requantization.real[1], rel=1e-8)
            rates = {variant.name: variant for variant in one.requantization.variants}
            assert rates["q31"].differing <= rates["q7"].differing
            assert all(variant.largest <= 1 for name, variant in rates.items() if name != "q7")


def test_where_codes_come_from(made):
    form, _, _, result = made
    if form == "integer":
        return
    by_number = {one.number: one for one in result.operations}
    linked = [
        (one, operand) for one in result.operations for operand in one.operands if operand.source is not None
    ]
    assert len(linked) >= 8
    for one, operand in linked:
        before = by_number[operand.source]
        assert before.number < one.number
        last = before.operands[-1]
        assert last.role == "y"
        if last.scale is not None and operand.scale is not None:
            assert (last.scale, last.zero_point, last.type) == (
                operand.scale,
                operand.zero_point,
                operand.type,
            )


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


def test_the_page_needs_nothing_else(made):
    text = (made[2] / "operations.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert "script" not in page.tags
    assert page.tags.count("math") >= len(made[3].operations)
    assert all(one.startswith(("data:", "#")) for one in page.addresses)
    policy = re.search(r"style-src 'sha256-([^']+)'", text)
    assert policy is not None


def test_markdown_links_exist(made):
    text = (made[2] / "operations.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    for one in links:
        if one.startswith("#"):
            assert f'<a id="{one[1:]}"></a>' in text
        else:
            assert (made[2] / one).is_file(), one
    assert text.count("```math") == sum(len(one.formulas) for one in made[3].operations)


@pytest.mark.slow
def test_a_streaming_model(tmp_path):
    file = tmp_path / "q.onnx"
    quantize(WAKEWORD, file, WORDS, Recipe(target="cpu-vnni"), samples=16)
    result = opdocs(file, tmp_path / "out", WORDS, samples=3)
    assert sum(one.against_runtime.differing for one in result.operations) == 0
    assert result.kernel in ("exact", "pairs")


def qdq(op_type, names=("a",), after=(), out_zero=0, x_scale=None, **attributes):
    """DQ → operator → … → Q, in 8 bits."""
    nodes, stored = [], []
    for name in names:
        scale = np.float32(0.1) if x_scale is None else x_scale
        stored += [numpy_helper.from_array(np.asarray(scale, np.float32), f"{name}_s")]
        stored += [numpy_helper.from_array(np.zeros(np.shape(scale), np.uint8), f"{name}_z")]
        nodes.append(helper.make_node("DequantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_f"]))
    nodes.append(helper.make_node(op_type, [f"{name}_f" for name in names], ["f0"], "op", **attributes))
    for at, one in enumerate(after):
        nodes.append(helper.make_node(one, [f"f{at}"], [f"f{at + 1}"]))
    stored += [
        numpy_helper.from_array(np.float32(0.2), "y_s"),
        numpy_helper.from_array(np.uint8(out_zero), "y_z"),
    ]
    nodes.append(helper.make_node("QuantizeLinear", [f"f{len(after)}", "y_s", "y_z"], ["y"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.UINT8, [1, 4, 6, 6]) for name in names]
    graph = helper.make_graph(
        nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.UINT8, None)], stored
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (qdq("Add", ("a", "b")), "QLinearAdd"),
        (qdq("Mul", ("a", "b")), "QLinearMul"),
        (qdq("Sigmoid"), "QLinearSigmoid"),
        (qdq("LeakyRelu", alpha=0.2), "QLinearLeakyRelu"),
        (qdq("Softmax", axis=1), "QLinearSoftmax"),
        (qdq("GlobalAveragePool"), "QLinearGlobalAveragePool"),
        (qdq("AveragePool", kernel_shape=[2, 2]), "QLinearAveragePool"),
        (qdq("Concat", ("a", "b"), axis=1), "QLinearConcat"),
        (qdq("Add", ("a", "b"), ("Relu",)), "QLinearAdd"),
        (qdq("Add", ("a", "b"), ("Relu",), 3), "Relu differs from the output's range"),
        (qdq("Add", ("a", "b"), ("Exp",)), "its result is read by Exp in float"),
        (qdq("Add", ("a", "b"), x_scale=[0.1] * 4), "a data tensor has a scale for each channel"),
    ],
)
def test_groups(model, expected):
    made = find_operations(model)
    if expected[0] == "Q":
        assert [one.op_type for one in made.operations] == [expected]
        assert not made.floats
    else:
        assert {why for _, why in made.floats.values()} == {expected}


@pytest.mark.parametrize(
    "op_type", ["Add", "Mul", "Sigmoid", "LeakyRelu", "Softmax", "Concat", "AveragePool"]
)
def test_groups_run_as_told(op_type, tmp_path):
    attributes = {"Softmax": {"axis": 1}, "Concat": {"axis": 1}, "AveragePool": {"kernel_shape": [2, 2]}}
    names = ("a", "b") if op_type in ("Add", "Mul", "Concat") else ("a",)
    file = tmp_path / "m.onnx"
    onnx.save(qdq(op_type, names, **attributes.get(op_type, {})), file)
    result = opdocs(file, tmp_path / "out", samples=2)
    assert result.operations[0].against_runtime.differing == 0


def test_names_stay_inert(tmp_path):
    model = qdq("Sigmoid")
    bad = '<script>alert(1)</script>"`|](x)'
    model.graph.node[1].name = bad
    file = tmp_path / "m.onnx"
    onnx.save(model, file)
    opdocs(file, tmp_path / "out")
    page = _Page()
    page.feed((tmp_path / "out/operations.html").read_text(encoding="utf-8"))
    assert "script" not in page.tags
    for one in (tmp_path / "out").rglob("*.svg"):
        assert "<script" not in one.read_text(encoding="utf-8")
    for one in (tmp_path / "out").rglob("*.c"):
        assert bad not in one.read_text(encoding="utf-8")


def test_a_float_model_is_refused(tmp_path):
    with pytest.raises(AutodocError, match="has no quantized operation"):
        opdocs(DIGITS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(AutodocError, match="not empty"):
        opdocs(DIGITS, tmp_path)


def test_the_command(tmp_path):
    file = tmp_path / "m.onnx"
    onnx.save(qdq("Sigmoid"), file)
    done = CliRunner().invoke(app, ["opdocs", str(file), "--out", str(tmp_path / "out"), "--no-vectors"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("1 quantized operation; no operator computes in float.\n")
    assert not (tmp_path / "out/vectors").exists()
    again = CliRunner().invoke(app, ["opdocs", str(file), "--out", str(tmp_path / "out")])
    assert again.exit_code == 3
    assert again.stderr.startswith("error: out: the folder is not empty.")
