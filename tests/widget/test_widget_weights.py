"""Values of constants over the widget's messages."""

from __future__ import annotations

import base64
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import py_autodoc
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget import weight_messages
from py_autodoc.widget.weight_messages import TYPE, answer_weights

pytestmark = pytest.mark.slow

RESNET = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"


class Line:
    """What a widget has for messages."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.hear: Any = None

    def on_msg(self, hear: Any) -> None:
        self.hear = hear

    def send(self, content: dict[str, Any]) -> None:
        json.dumps(content, allow_nan=False)
        self.sent.append(content)


def ask(source: Any, **content: Any) -> list[dict[str, Any]]:
    line = Line()
    analysis = None if isinstance(source, py_autodoc.Report) else run_analysis(source, Options())
    answer_weights(line, lambda: (source, analysis))
    line.hear(line, {"type": TYPE, "id": "a", **content}, [])
    return line.sent


@pytest.mark.parametrize("form", [str(RESNET), RESNET, RESNET.read_bytes()], ids=type)
def test_an_answer(form):
    (answer,) = ask(form, tensor=0)
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    assert answer["value"] == py_autodoc.read_weights(RESNET, 0).to_dict()


@pytest.mark.parametrize("form", [str, Path.read_bytes, py_autodoc.analyze], ids=["path", "bytes", "report"])
def test_all_values_as_a_file(form):
    (answer,) = ask(form(RESNET), tensor=0, format="npy")
    saved = np.load(io.BytesIO(base64.b64decode(answer["value"]["data"])), allow_pickle=False)
    assert np.array_equal(saved, py_autodoc.read_array(RESNET, 0))
    assert list(saved.shape) == answer["value"]["shape"]


@pytest.mark.parametrize("form", ["npz", None, ["npy"], 1, "../npy"])
def test_other_formats_are_refused(form):
    (answer,) = ask(str(RESNET), tensor=0, format=form)
    assert answer["problem"]["code"] == "bad-request"


def test_a_report_answers_for_its_model():
    (answer,) = ask(py_autodoc.analyze(RESNET), tensor=0)
    assert answer["value"]["tensor"] == 0
    (again,) = ask(py_autodoc.Report.from_json(py_autodoc.analyze(RESNET).to_json(), model=RESNET), tensor=0)
    assert again["value"] == answer["value"]
    (none,) = ask(py_autodoc.Report.from_json(py_autodoc.analyze(RESNET).to_json()), tensor=0)
    assert none["problem"]["code"] == "model-not-at-hand"


@pytest.mark.parametrize("tensor", [None, "0", True, 1.5, -1, 10**9])
def test_nonsense_is_answered_with_a_problem(tensor):
    (answer,) = ask(str(RESNET), tensor=tensor)
    assert answer["problem"]["detail"]
    assert "value" not in answer


def test_other_messages_are_not_for_us():
    line = Line()
    answer_weights(line, lambda: (None, None))
    for content in ({}, {"type": "other"}, "text", None):
        line.hear(line, content, [])
    assert line.sent == []


def test_a_model_that_changed(tmp_path):
    path = tmp_path / "m.onnx"
    shutil.copy(RESNET, path)
    line = Line()
    analysis = run_analysis(path, Options())
    answer_weights(line, lambda: (path, analysis))
    shutil.copy(RESNET.parent / "bert_tiny.onnx", path)
    line.hear(line, {"type": TYPE, "id": "a", "tensor": 0}, [])
    (answer,) = line.sent
    assert answer["problem"]["code"] == "file-changed"
    assert str(tmp_path) not in json.dumps(answer)


def test_an_interrupted_kernel_says_so(monkeypatch):
    def interrupted(*_args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(weight_messages, "constant_values", interrupted)
    (answer,) = ask(str(RESNET), tensor=0)
    assert answer["problem"]["code"] == "interrupted"
