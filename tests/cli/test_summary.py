"""The summary on a terminal: what it says, at which width, and that a model cannot steer it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import onnx
import pytest
from onnx import helper

from py_autodoc import analyze
from py_autodoc.cli.summary import print_summary

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"
F = onnx.TensorProto.FLOAT


def summary(source, width=80, **options) -> str:
    report = analyze(source, **options)
    stream, sys.stdout = sys.stdout, io.StringIO()
    try:
        print_summary(report, width)
        text = sys.stdout.getvalue()
    finally:
        sys.stdout = stream
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [
        ("models/mnist_cntk", 80, {}),
        ("stripped/bert_base_dyn.stripped", 80, {}),
        ("stripped/bert_base_dyn.stripped", 120, {"assume": True}),
        ("models/trt_loop", 80, {}),
    ],
    ids=["small", "free-dims", "wide", "loop"],
)
def test_snapshot(request, name, width, options):
    text = summary(f"tests/data/{name}.onnx", width, **options)
    path = SNAPSHOTS / f"summary-{request.node.callspec.id}.txt"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"wrote {path.name}: look at it, then run again")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("name", ["silero_vad_half", "magika_standard_v3_3", "resnet_tiny_qdq_int8"])
def test_no_line_is_wider_than_the_terminal(name, width):
    text = summary(f"tests/data/models/{name}.onnx", width)
    assert max(map(len, text.splitlines())) <= width


def test_hostile_names_are_inert():
    name = "[bold red]x[/] \x1b]0;title\x07\u202egnp.\n=cmd"
    graph = helper.make_graph(
        [
            helper.make_node("Relu", [name], ["y"], name=name),
            helper.make_node(name, ["y"], ["z"], name="[/]"),
        ],
        name,
        [helper.make_tensor_value_info(name, F, [name, 3])],
        [helper.make_tensor_value_info("z", F, None)],
    )
    model = helper.make_model(graph, producer_name=name, opset_imports=[helper.make_opsetid("", 20)])
    text = summary(model, 120)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[bold red]x[/]" in text
    assert sum(line.startswith("=cmd") for line in text.splitlines()) == 0


def test_unknown_totals_are_not_zero():
    text = summary("tests/data/stripped/bert_base_dyn.stripped.onnx")
    assert "--bind batch=1 --bind seq=128" in text
    numbers = text.splitlines()[
        text.splitlines().index(next(x for x in text.splitlines() if "MACs" in x)) + 1
    ]
    assert numbers.split() == ["109", "M", "—", "—", "436", "MB", "—", "needs", "values"]


def test_hashes_are_shown_when_they_were_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    report = analyze("tests/data/models/mnist_cntk.onnx", hash=True)
    shown = summary("tests/data/models/mnist_cntk.onnx", hash=True)
    assert f"sha256  {report.model.sha256}" in shown
    assert "sha256" not in summary("tests/data/models/mnist_cntk.onnx")
