"""Models written as text give the report of the same model as a protobuf; others are one error."""

from __future__ import annotations

import hashlib
import random

import onnx
import pytest
from click.testing import CliRunner
from google.protobuf import json_format, text_format

import py_autodoc
from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError, CorruptModel, LimitError
from py_autodoc.graph.loading import text_models
from py_autodoc.graph.loading.text_models import text_model

MODEL = "tests/data/models/mnist_cntk.onnx"
TEXT = """<ir_version: 8, opset_import: ["" : 17], producer_name: "me">
agraph (float[N, 4] x) => (float[N, 4] y) <float[4] b = {1.0, 2.0, 3.0, 4.0}> {
  # a comment with > and "quotes
  t = Relu(x)
  y = Add(t, b)
}
"""


def written(kind, proto):
    if kind == "json":
        return json_format.MessageToJson(proto)
    if kind == "textproto":
        return text_format.MessageToString(proto)
    return onnx.printer.to_text(proto)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("kind", ["json", "textproto"])
def test_the_report_is_that_of_the_protobuf(kind, mark, tmp_path):
    path = tmp_path / f"m.{kind}"
    path.write_text(mark + written(kind, onnx.load(MODEL)), encoding="utf-8")
    made, expected = py_autodoc.analyze(path, hash=True), py_autodoc.analyze(MODEL)
    assert made.model.name == f"m.{kind}"
    assert made.model.file_bytes == path.stat().st_size
    assert made.model.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    for field in ("metrics", "graph", "layers", "blocks", "coverage", "memory"):
        assert getattr(made, field) == getattr(expected, field), field


def test_syntax_of_onnx(tmp_path):
    (tmp_path / "m.onnxtxt").write_text(TEXT, encoding="utf-8")
    report = py_autodoc.analyze(tmp_path / "m.onnxtxt", bindings={"N": 2})
    assert [layer.type for layer in report.layers] == ["Relu", "Add"]
    assert (report.metrics.total_params, report.model.producer_name) == (4, "me")
    (tmp_path / "graph.txt").write_text(TEXT.partition(">\n")[2], encoding="utf-8")
    assert py_autodoc.analyze(tmp_path / "graph.txt").graph.num_nodes == 2


def test_weights_in_the_text_are_read(tmp_path):
    (tmp_path / "m.json").write_text(written("json", onnx.load(MODEL)), encoding="utf-8")
    made = py_autodoc.analyze(tmp_path / "m.json", read_weights=True, batch_size=1)
    assert made.risk_signals == py_autodoc.analyze(MODEL, read_weights=True, batch_size=1).risk_signals


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "json"), ("<html></html>", "html"), ("<net><layers/></net>", "xml"),
        ("# Title\n\nsome words", "text"), ('{"schema_version": "1.0", "graph": {}}', "json"),
    ],
)  # fmt: skip
def test_other_texts_are_told_as_before(text, kind, tmp_path):
    path = tmp_path / "m.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AutodocError) as found:
        py_autodoc.analyze(path)
    assert found.value.code == f"not-a-model-{kind}"


@pytest.mark.parametrize(
    "text",
    [
        '{"irVersion": "8", "graph": {"node": [{"opTyp": "Relu"}]}}', '{"irVersion": ', "ir_version: x",
        "graph { node { op_type: 3 } }", TEXT.replace("Relu(x)", "Relu(x"),
        'ir_version: 8\ngraph { name: "\\xff',
    ],
)  # fmt: skip
def test_damaged_texts_are_one_line(text, tmp_path):
    path = tmp_path / "m.txt"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["analyze", str(path)])
    assert done.exit_code == 1
    assert done.stderr.startswith("error: m.txt: cannot be parsed as a model in text: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("depth", [101, 5_000, 200_000])
@pytest.mark.parametrize("kind", ["json", "textproto", "onnxtxt"])
def test_depth_is_limited_before_parsing(kind, depth, tmp_path, monkeypatch):
    inner = {
        "json": ('{"graph":{"node":[{"attribute":[' + '{"g":{"node":[{"attribute":[' * depth),
        "textproto": "graph {" + "node { attribute { g {" * depth,
        "onnxtxt": "g (float[1] x) => (float[1] y) {"
        + "y = If (x) <then_branch = g () => (y) { # >>>>\n" * depth,
    }[kind]
    for name in ("_from_json", "_from_protobuf_text", "_from_onnx_text"):
        monkeypatch.setattr(text_models, name, lambda text: pytest.fail("it was parsed"))
    (tmp_path / "m.txt").write_text(inner, encoding="utf-8")
    with pytest.raises(LimitError):
        text_model(tmp_path / "m.txt")


def test_size_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(text_models, "MAX_BYTES", 100)
    (tmp_path / "m.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(LimitError, match="the limit is 100"):
        text_model(tmp_path / "m.txt")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "m.txt").write_bytes(b'ir_version: 8\nproducer_name: "\xff"\n')
    with pytest.raises(CorruptModel, match="not UTF-8"):
        text_model(tmp_path / "m.txt")


def test_mutated_texts_never_fail_otherwise(tmp_path):
    chance = random.Random(3)
    small = onnx.parser.parse_model(TEXT)
    texts = [TEXT, written("json", small), written("textproto", small)]
    path = tmp_path / "m.txt"
    for _ in range(300):
        text = list(chance.choice(texts))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 3)] = chance.choice(
                ["", "{", "}", "<", '"', "9" * 30, "\0", "#"]
            )
        path.write_text("".join(text), encoding="utf-8")
        try:
            made = text_model(path)
        except AutodocError:
            continue
        assert made is None or isinstance(made, bytes)


def test_an_ort_file_says_how_it_is_converted(tmp_path):
    (tmp_path / "m.ort").write_bytes(b"\x18\0\0\0ORTM" + bytes(64))
    with pytest.raises(AutodocError) as found:
        py_autodoc.analyze(tmp_path / "m.ort")
    assert "session.save_model_format" in found.value.hint
    assert found.value.code == "not-a-model-ort"


def test_readers_of_protobufs_alone_name_the_format(tmp_path):
    """The corpus of broken files cannot hold this one: `analyze` reads it."""
    from py_autodoc.graph.loading.load import load

    (tmp_path / "m.txt").write_text("ir_version: 9\ngraph {\n}\n", encoding="utf-8")
    with pytest.raises(AutodocError) as found:
        load(tmp_path / "m.txt")
    assert found.value.code == "not-a-model-text-format"
    assert py_autodoc.analyze(tmp_path / "m.txt").graph.num_nodes == 0
