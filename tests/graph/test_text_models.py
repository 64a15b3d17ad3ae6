"""Models written as text give the report of the same model as a protobuf; others are one error."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

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


DIGITS = "tests/data/quant/digits_cnn.onnx"


def in_ort_format(model: str, folder: Path) -> bytes:
    """Let ONNX Runtime write a model in its format, with the graph as it is."""
    runtime = pytest.importorskip("onnxruntime")
    options, made = runtime.SessionOptions(), folder / "made.ort"
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = str(made)
    options.add_session_config_entry("session.save_model_format", "ORT")
    runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    content = made.read_bytes()
    made.unlink()
    return content


COMMANDS = [
    ["check", "MODEL", "--max-params", "1e9"],
    ["compare", "MODEL", DIGITS],
    ["compare", DIGITS, "MODEL", "--topology"],
    ["compare", "MODEL", DIGITS, "--run"],
    ["graph", "MODEL", "--out", "OUT.svg"],
    ["metadata", "MODEL"],
    ["quantize", "MODEL", "OUT.onnx", "--random-data", "--samples", "2"],
    ["rebatch", "MODEL", "OUT.onnx", "--batch-size", "2"],
    ["recommend", "MODEL"],
    ["resize", "MODEL", "OUT.onnx", "--input-shape", "image=1x1x16x16"],
    ["run", "MODEL", "--runs", "1", "--warmup", "0"],
    ["sensitivity", "MODEL", "--samples", "1"],
    ["sweep", "MODEL", "--batch-sizes", "1,2"],
    ["tags", "MODEL"],
    ["to-torch", "MODEL", "OUT.py"],
    ["validate", "MODEL"],
    ["verify", DIGITS, "--against", "MODEL"],
]


OPENING = ("quantize", "run", "sensitivity", "verify")
"""Commands that open a session, which must not choose the format by the file's ending."""


def _kinds(arguments: list[str]) -> list[str]:
    if arguments[0] in OPENING or "--run" in arguments:
        return ["ort", "textproto"]
    if "--topology" in arguments:
        return ["textproto"]  # the others keep no order of attributes
    return [("json", "textproto", "ort")[COMMANDS.index(arguments) % 3]]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        pytest.param(arguments, kind, id="-".join([*arguments[:3], kind]))
        for arguments in COMMANDS
        for kind in _kinds(arguments)
    ],
)
def test_every_command_reads_other_formats(arguments, kind, tmp_path):
    pytest.importorskip("onnxruntime")
    if arguments[0] == "to-torch":
        pytest.importorskip("torch")
    path = tmp_path / f"digits.{kind}"
    if kind == "ort":
        path.write_bytes(in_ort_format(DIGITS, tmp_path))
    else:
        path.write_text(written(kind, onnx.load(DIGITS)), encoding="utf-8")
    names = {"MODEL": str(path)}
    line = [names.get(one, str(tmp_path / one) if one.startswith("OUT") else one) for one in arguments]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    assert ".autodoc-" not in done.output  # nobody sees the temporary file
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("OUT")) == [path.name]


@pytest.mark.parametrize("command", ["rebatch", "resize", "quantize"])
def test_a_text_is_not_replaced_by_what_is_made_of_it(command, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_text(written("textproto", onnx.load(DIGITS)), encoding="utf-8")
    before = path.read_bytes()
    options = {"rebatch": ["--batch-size", "2"], "resize": ["--input-shape", "image=1x1x16x16"]}
    line = [command, str(path), str(path), *options.get(command, ["--random-data"]), "--force"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 3
    assert (
        "is the model itself: inputs stay as they are" in done.stderr or "is an input itself" in done.stderr
    )
    assert path.read_bytes() == before


def test_a_text_with_weights_elsewhere_names_the_conversion(tmp_path):
    proto = onnx.load(DIGITS)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    structure = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    (tmp_path / "m.json").write_text(written("json", structure), encoding="utf-8")
    done = CliRunner().invoke(app, ["tags", str(tmp_path / "m.json")])
    assert done.exit_code == 1
    assert "onnx.save(onnx.load('m.json'), 'model.onnx')" in done.stderr
    assert CliRunner().invoke(app, ["check", str(tmp_path / "m.json"), "--max-params", "1e9"]).exit_code == 0


@pytest.mark.parametrize("name", ["m.json", "m.textproto", "m.onnxtxt"])
def test_a_protobuf_is_one_whatever_its_name(name, tmp_path):
    """onnx.load chooses the format by the extension."""
    pytest.importorskip("onnxruntime")
    (tmp_path / name).write_bytes(Path(DIGITS).read_bytes())
    for line in (
        ["run", str(tmp_path / name), "--runs", "1"],
        ["compare", DIGITS, str(tmp_path / name), "--topology"],
    ):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output


def test_readers_of_protobufs_alone_name_the_format(tmp_path):
    """The corpus of broken files cannot hold this one: `analyze` reads it."""
    from py_autodoc.graph.loading.load import load

    (tmp_path / "m.txt").write_text("ir_version: 9\ngraph {\n}\n", encoding="utf-8")
    with pytest.raises(AutodocError) as found:
        load(tmp_path / "m.txt")
    assert found.value.code == "not-a-model-text-format"
    assert py_autodoc.analyze(tmp_path / "m.txt").graph.num_nodes == 0


@pytest.mark.parametrize("kind", ["ort", "textproto"])
def test_the_size_is_that_of_the_file_that_was_given(kind, tmp_path):
    path = tmp_path / f"digits.{kind}"
    if kind == "ort":
        path.write_bytes(in_ort_format(DIGITS, tmp_path))
    else:
        pytest.importorskip("onnxruntime")
        path.write_text(written(kind, onnx.load(DIGITS)), encoding="utf-8")
    size = path.stat().st_size
    assert size != Path(DIGITS).stat().st_size

    def made(*line: str) -> dict:
        done = CliRunner().invoke(app, [*line, "--out-json", "-"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    assert made("compare", DIGITS, str(path))["variants"][1]["size_bytes"] == size
    variant = made("run", str(path), "--runs", "1", "--warmup", "0")["variants"][0]
    assert variant["file_bytes"] == size
    if sys.platform == "linux":
        assert variant["memory"] is not None  # the child opened the file, too
    quantized = made("quantize", str(path), str(tmp_path / "q.onnx"), "--method", "dynamic")
    assert quantized["bytes_before"] == size
    limit = ["check", str(path), "--no-annotations", "--max-size"]
    assert CliRunner().invoke(app, [*limit, str(size)]).exit_code == 0
    assert CliRunner().invoke(app, [*limit, str(size - 1)]).exit_code == 5
