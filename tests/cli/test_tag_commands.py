"""``tags``, ``validate``, ``compare`` and ``extract`` on a small tagged model."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.render.csv import guard_formula
from py_autodoc.tags import load_tags, sidecar, write_sidecar, write_tags
from py_autodoc.tags.model import NodeTag, Tags
from py_autodoc.tags.model_files import to_ir
from py_autodoc.tags.naming import Namer

CLASSES = {"": "net.Net", "a": "net.Block", "a.norm": "torch.nn.LayerNorm", "b": "net.Block"}


def run(*args):
    done = CliRunner().invoke(app, [str(a) for a in args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def model(tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "mm"),
        helper.make_node("Relu", ["m"], ["r"], "relu"),
        helper.make_node("Sigmoid", ["r"], ["s"], "sigmoid"),
        helper.make_node("Add", ["s", "x"], ["y"], "add"),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy"]
    weight = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], [weight])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    path = tmp_path / "net.onnx"
    onnx.save(proto, path)
    given = to_ir(proto)
    namer = Namer(CLASSES)
    scopes = ["a", "a.norm", "b", ""]
    records = {n: NodeTag(s, namer.tag(s), "trace") for n, s in zip(given.graph, scopes, strict=True)}
    tags = Tags(records, namer, "dynamo", called=frozenset(scopes))
    write_tags(proto, tags)
    onnx.save(proto, path)
    write_sidecar(f"{path}.json", sidecar(given, tags))
    return path


def changed(path, out, edit):
    proto = onnx.load(path)
    edit(proto)
    onnx.save(proto, out)
    return out


def test_tags_as_text(model):
    code, out, err = run("tags", model)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "4 nodes: recorded 100 %, inferred 0 %, unknown 0 % (source: nodes)"
    rows = [line.split()[:3] for line in lines[3:]]
    assert rows == [
        ["4", "1", "/Net"],
        ["2", "1", "/Net/Block.a"],
        ["1", "1", "/Net/Block.a/LayerNorm"],
        ["1", "1", "/Net/Block.b"],
    ]
    detailed = run("tags", model, "--output", "detailed")[1]
    assert "relu  Relu  /Net/Block.a/LayerNorm  [trace: a.norm]\n" in detailed


def test_tags_as_data(model):
    found = json.loads(run("tags", model, "--output", "json", "--filter", "*/Block.a*")[1])
    assert [row["tag"] for row in found["tags"]] == ["/Net/Block.a", "/Net/Block.a/LayerNorm"]
    assert [row["node"] for row in found["nodes"]] == ["mm", "relu"]
    assert found["coverage"]["shares"] == {"traced": 1.0, "inferred": 0.0, "unknown": 0.0}
    rows = list(csv.DictReader(io.StringIO(run("tags", model, "--output", "csv")[1])))
    assert [row["tag"] for row in rows] == ["/Net/Block.a", "/Net/Block.a/LayerNorm", "/Net/Block.b", "/Net"]


def test_restore(model, tmp_path):
    def drop(proto):
        for node in proto.graph.node:
            del node.metadata_props[:]
            node.doc_string = ""

    bare = changed(model, tmp_path / "bare.onnx", drop)
    code, out, err = run("tags", bare, "--restore", tmp_path / "again.onnx")
    assert (code, out) == (0, "")
    assert "recorded 100 %" in err
    before = [record.tag for record in load_tags(model)[1].records.values()]
    assert [record.tag for record in load_tags(tmp_path / "again.onnx")[1].records.values()] == before

    def forget(proto):
        drop(proto)
        del proto.metadata_props[:]

    none = changed(model, tmp_path / "none.onnx", forget)
    assert run("tags", none, "--restore", tmp_path / "x.onnx")[0] == 1
    assert run("tags", none, "--assign", tmp_path / "x.onnx")[0] == 1
    assert "has no tags" in run("tags", none)[2]
    assert not (tmp_path / "x.onnx").exists()


def test_a_model_in_order(model):
    code, out, _ = run("validate", model)
    assert code == 0, out
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 8
    assert all(check["status"] == "passed" for check in json.loads(run("validate", model, "--json")[1]))


def _metadata(key, value):
    def edit(proto):
        entry = next(entry for entry in proto.graph.node[1].metadata_props if entry.key == key)
        entry.value = value

    return edit


def _unknown_attribute(proto):
    proto.graph.node[1].attribute.append(helper.make_attribute("hierarchy_tag", "/Net"))


def _another_node(proto):
    proto.graph.node[1].name = "renamed"


@pytest.mark.parametrize(
    ("edit", "failed"),
    [
        (_unknown_attribute, {"onnx", "analysis"}),
        (_metadata("autodoc.tag", "/Net/Block.b"), {"tags-consistent", "tags-distinct", "sidecar"}),
        (_metadata("autodoc.tag", "Net/ Block"), {"tags-form", "tags-consistent", "sidecar"}),
        (_metadata("autodoc.tag", ""), {"tags-complete", "tags-form", "tags-consistent", "sidecar"}),
        (_metadata("autodoc.via", "guess"), {"tags-complete"}),
        (_another_node, {"sidecar"}),
    ],
)
def test_what_is_wrong_is_told(model, edit, failed):
    changed(model, model, edit)
    code, out, _ = run("validate", model, "--json")
    checks = json.loads(out)
    assert code == 1
    assert {check["name"] for check in checks if check["status"] == "failed"} == failed
    assert all(check["faults"] for check in checks if check["status"] == "failed")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "autodoc.hierarchy/1"}'])
def test_a_broken_sidecar(model, text):
    model.with_name("net.onnx.json").write_text(text)
    code, out, _ = run("validate", model)
    assert code == 1
    assert "FAILED   sidecar" in out


def test_no_tags_is_no_fault(model, tmp_path):
    code, out, _ = run("validate", "tests/data/models/ppocr_v4_det.onnx")
    assert code == 0
    assert out.count("the model has no tags") == 5


def test_compare(model, tmp_path):
    assert run("compare", model, model)[0] == 0
    assert run("compare", model, model, "--tags")[1] == "The modules are the same: 4 tags.\n"

    def more(proto):
        proto.graph.node[1].op_type = "Tanh"
        del proto.graph.node[2]
        proto.graph.node[2].input[0] = "r"

    other = changed(model, tmp_path / "other.onnx", more)
    code, out, _ = run("compare", model, other, "--tags")
    assert code == 1
    assert "Tags that are the same: 2" in out
    assert "  /Net/Block.a/LayerNorm  1 → 1 nodes (Relu -1, Tanh +1)" in out
    assert "Only in the first: 1\n  /Net/Block.b  1 → – nodes (Sigmoid -1)" in out
    code, out, _ = run("compare", model, other, "--topology", "--json")
    assert code == 1
    assert json.loads(out)["topology"][0]["what"] == "operator"


def test_extract(model, tmp_path):
    out = tmp_path / "block.onnx"
    code, text, err = run("extract", model, out, "--tag", "/Net/Block.a")
    assert (code, text) == (0, "")
    assert "block.onnx: 2 nodes (+ 0 for constants), 1 inputs, 1 outputs" in err
    facts = json.loads(run("extract", model, out, "--tensor", "s", "--json")[1])
    assert facts["operations"] == ["sigmoid"]
    assert facts["external_inputs"] == ["r"]
    assert facts["files"] == ["block.onnx"]
    code, _, err = run("extract", model, out)
    assert code == 1
    assert "Pass one of --tag, --node and --tensor." in err
    code, _, err = run("extract", model, out, "--tag", "/Net/Block.c")
    assert code == 1
    assert "Did you mean /Net/Block" in err


def test_no_cell_of_the_table_is_a_formula(tmp_path):
    """Names of nodes, operators and modules; every table goes through one writer."""
    cases = json.loads(Path("tests/data/formula_cases.json").read_text("utf-8"))["formulas"]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    nodes, before = [], "x"
    for number, text in enumerate(cases):
        after = "y" if number == len(cases) - 1 else f"{text}{number}"
        node = helper.make_node("Relu", [before], [after], f"{text}{number}")
        for key, value in (("autodoc.tag", f"{text}/Net"), ("autodoc.scope", text)):
            node.metadata_props.add(key=key, value=value)
        nodes.append(node)
        before = after
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:])), path)
    rows = list(csv.reader(io.StringIO(run("tags", path, "--output", "csv")[1], newline="")))
    assert len(rows) == len(cases) + 1
    for row, text in zip(rows[1:], cases, strict=True):
        assert row[0].startswith(f"'{text}")
        assert all(not cell or guard_formula(cell) == cell for cell in row)
