"""What ``compare`` tells by structure: text, JSON by its schema, Markdown, conditions, weights."""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.compare.contract import comparison_schema
from py_autodoc.compare.gate import WORDS, condition
from py_autodoc.compare.measures import MEASURES, percent, relative
from py_autodoc.errors import OptionError
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
FLOAT, INT8 = MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny_qdq_int8.onnx"
VGG, RESNET = MODELS / "light_vgg19.onnx", MODELS / "light_resnet50.onnx"


def compare(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def saved(path: Path, *, width=16, extra=False, act="Relu", weight=0.5, name="mm", axis=-1) -> Path:
    info = helper.make_tensor_value_info
    rng = np.random.default_rng(0)
    first = numpy_helper.from_array(rng.normal(size=(8, width)).astype(np.float32), "w1")
    second = numpy_helper.from_array(np.full((width, 4), weight, np.float32), "w2")
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], f"{name}1"),
        helper.make_node(act, ["a"], ["b"], f"{name}act"),
        helper.make_node("MatMul", ["b", "w2"], ["c"], f"{name}2"),
        helper.make_node("Softmax", ["c"], ["y"], f"{name}soft", axis=axis),
    ]
    if extra:
        nodes[3].input[0] = "d"
        nodes.insert(3, helper.make_node("Sin", ["c"], ["d"], f"{name}extra"))
    graph = helper.make_graph(nodes, "g", [info("x", 1, [2, 8])], [info("y", 1, [2, 4])], [first, second])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def test_a_quantized_twin_is_told_in_few_lines():
    code, out, err = compare(FLOAT, INT8)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert len(lines) <= 11
    assert lines[0].startswith("Same architecture: 24 of 24 core operators correspond")
    assert "quantized to int8 (QDQ)" in lines[0]
    assert re.search(r"^  precision .*float32 → int8 \(QDQ\)", out, re.MULTILINE)


def test_a_model_and_itself_are_the_same():
    code, out, _ = compare(FLOAT, FLOAT)
    assert code == 0
    assert out.startswith(
        "Same architecture, nothing changed: 24 of 24 core operators correspond; "
        "values of weights were not compared.\n"
    )


def test_other_architectures_are_told_without_a_list():
    code, out, _ = compare(RESNET, VGG)
    assert code == 1
    assert out.startswith("Different architectures:")
    assert len(out.splitlines()) <= 9


def test_each_kind_of_change_is_told(tmp_path):
    a = saved(tmp_path / "a.onnx")
    assert compare(a, saved(tmp_path / "same.onnx", name="other"))[0] == 0
    out = compare(a, saved(tmp_path / "b.onnx", extra=True))[1]
    assert "  added      1 node: 1 Sin" in out
    assert "  removed    1 node: 1 Sin" in compare(tmp_path / "b.onnx", a)[1]
    out = compare(a, saved(tmp_path / "c.onnx", act="Tanh"))[1]
    assert "activation Relu → Tanh (mm1)" in out
    out = compare(a, saved(tmp_path / "d.onnx", axis=0))[1]
    assert "axis 1 → 0 (mmsoft)" in out
    assert compare(a, saved(tmp_path / "f.onnx", axis=1))[0] == 0
    out = compare(a, saved(tmp_path / "e.onnx", width=32))[1]
    assert "weight 8×16 → 8×32 (mm1)" in out


def test_json_keeps_its_contract(tmp_path):
    code, out, _ = compare(FLOAT, INT8, "--out-json", "-")
    assert code == 1
    found = json.loads(out)
    schema = json.loads(files("py_autodoc.compare").joinpath("comparison.schema.json").read_text("utf-8"))
    assert schema == comparison_schema()
    jsonschema.Draft202012Validator(schema).validate(found)
    assert json.loads(CliRunner().invoke(app, ["schema", "--comparison"]).stdout) == schema
    reports = [build_report(run_analysis(str(path), Options(assume=True))) for path in (FLOAT, INT8)]
    ids = [{layer.id for layer in report.layers} for report in reports]
    alignment = found["alignment"]
    for side, name in enumerate(("left", "right")):
        told = [i for pair in alignment["pairs"] for i in pair[name]] + alignment[f"only_{name}"]
        assert sorted(told) == sorted(ids[side])
    base, other = found["variants"]
    assert found["baseline_precision"] == base["precision"] == "fp32"
    assert (other["precision"], other["quantization_scheme"]) == ("int8", "QDQ")
    assert base["deltas_vs_baseline"] is None
    for one in MEASURES:
        assert other["deltas_vs_baseline"][one.id] == other["metrics"][one.id] - base["metrics"][one.id]
    for variant, report in zip(found["variants"], reports, strict=True):
        assert variant["metrics"]["macs"] == report.metrics.total_macs
        assert variant["metrics"]["params"] == report.metrics.total_params
        assert variant["size_bytes"] == report.model.file_bytes + report.model.external_bytes
    assert compare(FLOAT, INT8, "--json")[1] == out


def test_sums_that_leave_something_out_are_no_numbers(tmp_path):
    """A node without a cost rule: what is known of the rest is a lower bound and meets no condition."""
    whole, partly = saved(tmp_path / "whole.onnx"), saved(tmp_path / "partly.onnx", extra=True)
    model = onnx.load(partly)
    model.graph.node[3].domain, model.graph.node[3].op_type = "vendor", "Mystery"
    model.graph.value_info.append(helper.make_tensor_value_info("d", 1, [2, 4]))
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    onnx.save(model, partly)
    code, out, err = compare(whole, partly, "--fail-on", "macs>1T", "--fail-on", "flops>+500%")
    assert code == 5
    assert "macs is not wholly known" in err
    assert "flops is not wholly known" in err
    (line,) = [line for line in out.splitlines() if line.startswith("MACs")]
    assert line.endswith("≥ 384"), line
    base, other = json.loads(compare(whole, partly, "--json")[1])["variants"]
    assert base["lower_bounds"] == {}
    assert base["metrics"]["macs"] == 384
    assert other["metrics"]["macs"] is None
    assert other["deltas_vs_baseline"]["macs"] is None
    assert other["lower_bounds"]["macs"] == 384
    assert other["lower_bounds"]["flops"] > 0
    # The other way round: what the first leaves out cannot be told as a change.
    code, _, err = compare(partly, whole, "--fail-on", "macs>+5%")
    assert code == 5
    assert "macs is not wholly known" in err
    assert compare(partly, whole, "--fail-on", "macs>1M")[0] == 0


def test_changes_of_any_size_have_a_share():
    assert relative(1, 10**400) == math.inf
    assert relative(1, -(10**400)) == -math.inf
    assert percent(relative(1, 10**400)) == "—"
    assert relative(0, 5) is None
    assert relative(4, 5) == 0.25


def test_the_blocks_add_up():
    found = json.loads(compare(FLOAT, INT8, "--json")[1])
    blocks, variants = found["alignment"]["blocks"], found["variants"]
    assert sum(one["pairs"] for one in blocks) == len(found["alignment"]["pairs"])
    for side, name in enumerate(("macs_left", "macs_right")):
        assert sum(one[name] for one in blocks) == variants[side]["metrics"]["macs"]


def test_several_models_are_compared_with_the_first(tmp_path):
    a, b = saved(tmp_path / "a.onnx"), saved(tmp_path / "b.onnx", act="Tanh")
    c = saved(tmp_path / "c.onnx", name="renamed")
    found = json.loads(compare(a, b, c, "--out-json", "-")[1])
    assert [one["model_path"] for one in found["variants"]] == ["a.onnx", "b.onnx", "c.onnx"]
    assert [(one["left"], one["right"]) for one in found["other_alignments"]] == [(0, 2)]
    assert not any(pair["changes"] for pair in found["other_alignments"][0]["pairs"])
    out = compare(a, b, c)[1]
    assert out.index("a.onnx and b.onnx") < out.index("a.onnx and c.onnx")


def test_files_are_written_and_known_again(tmp_path):
    json_path, page = tmp_path / "c.json", tmp_path / "c.md"
    for _ in range(2):
        code, out, err = compare(FLOAT, INT8, "--out-json", json_path, "--out-md", page)
        assert (code, err) == (1, "")
        assert out
    assert page.read_text("utf-8").startswith("# Comparison of resnet\\_tiny.onnx and resnet\\_tiny")
    page.write_text("mine", "utf-8")
    assert compare(FLOAT, INT8, "--out-md", page)[0] == 3
    assert page.read_text("utf-8") == "mine"
    assert compare(FLOAT, INT8, "--out-md", FLOAT)[0] == 3


def test_names_are_inert_in_markdown_and_on_a_terminal(tmp_path):
    evil = "<script>x</script>|[a](http://e.x)`\x1b[31m\n# h"
    a = saved(tmp_path / "a.onnx", name=evil)
    b = saved(tmp_path / "b.onnx", name=evil, act="Tanh")
    page, text = compare(a, b, "--out-md", "-")[1], compare(a, b)[1]
    assert "activation" in page
    for said in (page, text):
        assert "\x1b" not in said
    assert "<script" not in re.sub(r"\\<", "", page)
    assert not re.search(r"(?<!\\)\[a", page)
    assert "\n# h" not in page.partition("\n")[2]
    assert "http://" not in page


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("architecture", 0),
        ("macs>+5%", 0),
        ("params>+0%", 0),
        ("removed", 0),
        ("size<-10%", 5),
        ("size>1k", 5),
        ("size>1G", 0),
        ("precision", 5),
        ("nodes>+10", 5),
        ("nodes>+100", 0),
        ("Nodes >= +73", 5),
    ],
)
def test_conditions_fail_the_run(text, code):
    found, out, err = compare(FLOAT, INT8, "--fail-on", text)
    assert found == code
    assert out
    assert bool(err) == (code == 5)
    if code:
        assert text in err


def test_failed_conditions_are_in_the_documents():
    code, out, err = compare(FLOAT, VGG, "--fail-on", "architecture", "--json")
    assert code == 5
    assert json.loads(out)["failed"] == [
        {"condition": "architecture", "model_path": VGG.name, "reason": "different architectures"}
    ]
    assert err == f"error: {VGG.name}: architecture: different architectures.\n"
    assert "**Does not pass:**" in compare(FLOAT, VGG, "--fail-on", "architecture", "--out-md", "-")[1]


@pytest.mark.parametrize("text", ["", "macs", "macs>", "makcs>5%", ">5", "macs>+5%%", "size=3", "a" * 500])
def test_what_is_no_condition_is_refused_in_one_line(text):
    code, out, err = compare(FLOAT, INT8, "--fail-on", text)
    assert (code, out) == (2, "")
    assert "--fail-on" in err
    assert err.count("\n") == 1


@given(st.text(max_size=30))
def test_conditions_are_read_or_refused(text):
    try:
        made = condition(text)
    except OptionError:
        return
    assert made.name in (*WORDS, *(one.id for one in MEASURES))


@pytest.mark.parametrize(
    "args",
    [
        [FLOAT, INT8, VGG, "--topology"],
        [FLOAT, INT8, VGG, "--beside", "x.html"],
        [FLOAT, INT8, "--tags", "--weights"],
        [FLOAT, INT8, "--structure", "--fail-on", "macs>1"],
        [FLOAT, INT8, "--out-json", "-", "--out-md", "-"],
        [FLOAT, "no.onnx"],
    ],
)
def test_trouble_is_two(args):
    code, out, err = compare(*args)
    assert (code, out, err.count("\n")) == (2, "", 1)


# Weights


def changes_of(out):
    pairs = json.loads(out)["alignment"]["pairs"]
    return [change for pair in pairs for change in pair["changes"]]


def test_weights_are_compared_where_asked(tmp_path):
    a, b = saved(tmp_path / "a.onnx"), saved(tmp_path / "b.onnx", weight=0.25)
    assert compare(a, b)[0] == 0
    code, out, _ = compare(a, b, "--weights", "--json")
    assert code == 1
    (change,) = changes_of(out)
    assert change["kind"] == "weights"
    assert (change["distance"], change["largest"]) == pytest.approx((0.5, 0.25))
    assert compare(a, a, "--weights")[0] == 0


def test_quantized_weights_are_scaled_back():
    """Symmetric int8 by tensor: the error is below half a step."""
    weights = [
        c for c in changes_of(compare(FLOAT, INT8, "--weights", "--json")[1]) if c["kind"] == "weights"
    ]
    assert weights
    assert all(0 < one["distance"] < 0.02 for one in weights)


def test_half_precision_is_within_its_rounding(tmp_path):
    model = onnx.load(saved(tmp_path / "a.onnx"))
    for tensor in model.graph.initializer:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name)
        )
    for put in (*model.graph.input, *model.graph.output):
        put.type.tensor_type.elem_type = 10
    onnx.save(model, tmp_path / "b.onnx")
    found = changes_of(compare(tmp_path / "a.onnx", tmp_path / "b.onnx", "--weights", "--json")[1])
    kinds = [one["kind"] for one in found]
    assert kinds.count("weights") == 1  # 0.5 is the same number in both
    assert next(one["distance"] for one in found if one["kind"] == "weights") < 1e-3


def test_weights_tell_equal_layers_apart(tmp_path):
    """Two layers exchanged, every name anew: what they hold says which is which."""
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(8, 8)).astype(np.float32) for _ in range(3)]

    def chain(path, order):
        info = helper.make_tensor_value_info
        nodes, last = [], "x"
        for at, number in enumerate(order):
            nodes.append(helper.make_node("MatMul", [last, f"w{number}"], [f"t{at}"], f"n{at}"))
            last = f"t{at}"
        weights = [numpy_helper.from_array(arrays[number], f"w{number}") for number in order]
        graph = helper.make_graph(nodes, "g", [info("x", 1, [2, 8])], [info(last, 1, [2, 8])], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        return path

    a, b = chain(tmp_path / "a.onnx", [0, 1, 2]), chain(tmp_path / "b.onnx", [0, 2])
    found = json.loads(compare(a, b, "--weights", "--json")[1])["alignment"]
    assert found["only_left"] == [1]
    assert [(pair["left"], pair["right"]) for pair in found["pairs"]] == [([0], [0]), ([2], [1])]
    assert not any(pair["changes"] for pair in found["pairs"])


def test_missing_weights_are_told(tmp_path):
    a = saved(tmp_path / "a.onnx")
    model = onnx.load(a)
    onnx.save(model, tmp_path / "b.onnx", save_as_external_data=True, location="b.bin", size_threshold=0)
    assert compare(a, tmp_path / "b.onnx", "--weights")[0] == 0
    (tmp_path / "b.bin").unlink()
    found = changes_of(compare(a, tmp_path / "b.onnx", "--weights", "--json")[1])
    assert {one["what"] for one in found if one["kind"] == "weights"} == {"weight cannot be read"}


# Inputs and outputs


def test_a_freed_batch_is_a_change_of_the_interface(tmp_path):
    a = saved(tmp_path / "a.onnx")
    model = onnx.load(a)
    for put in (*model.graph.input, *model.graph.output):
        put.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, tmp_path / "b.onnx")
    code, out, _ = compare(a, tmp_path / "b.onnx", "--bind", "N=2")
    assert code == 1
    assert "  interface  input x 2×8 → N×8, output y 2×4 → N×4\n" in out
    assert compare(a, tmp_path / "b.onnx", "--fail-on", "interface")[0] == 5
    assert compare(a, a, "--fail-on", "interface")[0] == 0
    for put in (*model.graph.input, *model.graph.output):
        put.type.tensor_type.shape.dim[0].dim_param = "items"
    onnx.save(model, tmp_path / "c.onnx")
    assert compare(tmp_path / "b.onnx", tmp_path / "c.onnx")[0] == 0


def test_inputs_that_come_and_go_are_told(tmp_path):
    a = saved(tmp_path / "a.onnx")
    model = onnx.load(a)
    model.graph.output.append(helper.make_tensor_value_info("c", 1, [2, 4]))
    onnx.save(model, tmp_path / "b.onnx")
    out = compare(a, tmp_path / "b.onnx")[1]
    assert "output c — → float32 2×4" in out
