"""Stored reports compare as the models do from which they were made."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import onnx
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.compare.contract import comparison_schema

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
PAIRS = (
    ("resnet_tiny", "resnet_tiny_qdq_int8"),
    ("resnet_tiny", "bert_tiny"),
    ("mamba_tiny", "mamba_tiny"),
    ("trt_loop", "silero_vad_half"),
)


def run(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(map(str, args)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("registry")

    def write(name: str) -> Path:
        path = folder / f"{name}.json"
        if not path.exists():
            assert run("analyze", MODELS / f"{name}.onnx", "--assume", "--out-json", path)[0] == 0
        return path

    return write


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_reports_have_the_verdict_and_the_figures_of_their_models(stored, left, right):
    models = MODELS / f"{left}.onnx", MODELS / f"{right}.onnx"
    code, text, _ = run("compare", *models, "--json")
    expected = json.loads(text)
    for files in ((stored(left), stored(right)), (models[0], stored(right)), (stored(left), models[1])):
        found_code, text, err = run("compare", *files, "--json")
        assert (found_code, err) == (code, "")
        found = json.loads(text)
        jsonschema.Draft202012Validator(comparison_schema()).validate(found)
        assert found["alignment"]["verdict"] == expected["alignment"]["verdict"]
        assert found["alignment"]["file"] == expected["alignment"]["file"]
        ports = [
            [(change["kind"], change["what"]) for change in side["alignment"]["interface"]]
            for side in (found, expected)
        ]
        assert ports[0] == ports[1]  # their sizes are those of the report
        assert found["alignment"]["not_compared"][0] == "values of weights and other constants"
        for mine, theirs in zip(found["variants"], expected["variants"], strict=True):
            assert mine["metrics"] == theirs["metrics"]
            assert mine["size_bytes"] == theirs["size_bytes"]
            assert mine["precision"] == theirs["precision"]
        kinds = {change["kind"] for pair in found["alignment"]["pairs"] for change in pair["changes"]}
        theirs = {change["kind"] for pair in expected["alignment"]["pairs"] for change in pair["changes"]}
        assert kinds <= theirs


def test_a_change_of_the_graph_and_of_a_port_is_seen_in_reports(tmp_path):
    model = onnx.load(MODELS / "resnet_tiny.onnx", load_external_data=False)
    node = next(node for node in model.graph.node if node.op_type == "MaxPool")
    next(a for a in node.attribute if a.name == "kernel_shape").ints[:] = [2, 3]
    next(a for a in node.attribute if a.name == "pads").ints[:] = [0, 1, 1, 1]
    relu = next(node for node in model.graph.node if node.op_type == "Relu")
    relu.op_type = "Sigmoid"
    end = next(node for node in model.graph.node if model.graph.output[0].name in node.output)
    model.graph.output[0].name = end.output[0] = "other"
    onnx.save(model, tmp_path / "b.onnx")
    for name, path in (("a", MODELS / "resnet_tiny.onnx"), ("b", tmp_path / "b.onnx")):
        assert run("analyze", path, "--out-json", tmp_path / f"{name}.json")[0] == 0
    files = tmp_path / "a.json", tmp_path / "b.json"
    code, out, _ = run("compare", *files)
    assert code == 1
    assert "kernel_shape [3, 3] → [2, 3]" in out
    assert "Relu → Sigmoid" in out
    assert "name of output" in out
    assert run("compare", *files, "--fail-on", "interface")[0] == 5
    assert run("compare", files[0], files[0])[0] == 0
    assert run("compare", *files, "--out-md", tmp_path / "c.md")[0] == 1
    assert "A report does not show" in (tmp_path / "c.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "option", [["--weights"], ["--topology"], ["--structure"], ["--tags"], ["--beside", "p.html"]]
)
def test_what_needs_the_models_says_so(stored, option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("compare", stored("resnet_tiny"), MODELS / "resnet_tiny.onnx", *option)
    assert code == 2
    assert f"{option[0]} needs the models; resnet_tiny.json is a report." in err


def test_a_report_that_leaves_out_layers_and_other_documents_are_refused(tmp_path):
    cut = tmp_path / "cut.json"
    run("analyze", MODELS / "resnet_tiny.onnx", "--max-layers", "3", "--out-json", cut)
    code, _, err = run("compare", cut, MODELS / "resnet_tiny.onnx")
    assert (code, "leaves out 35 layers" in err) == (2, True)
    other = tmp_path / "comparison.json"
    run("compare", MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny.onnx", "--out-json", other)
    code, _, err = run("compare", other, MODELS / "resnet_tiny.onnx")
    assert (code, "schema version 'autodoc.comparison" in err) == (2, True)
