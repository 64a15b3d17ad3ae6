"""A profile that is dropped onto the widget, attributed by the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from test_widget_weights import Line

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget.profiles import TYPE, answer_profiles

pytestmark = pytest.mark.slow
MODEL = "tests/data/quant/digits_cnn.onnx"


def ask(files: Any, analysis: Any) -> dict[str, Any]:
    line = Line()
    answer_profiles(line, lambda: (MODEL, analysis))
    line.hear(line, {"type": TYPE, "id": "a", "files": files}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_a_table_of_times() -> None:
    analysis = run_analysis(MODEL, Options())
    conv = next(node for node in analysis.model.nodes if node.op_type == "Conv")
    text = f"name,ms\n{analysis.model.tensors[conv.outputs[0]].name},0.5\nelsewhere,0.5\n"
    found = ask([{"name": "t.csv", "text": text}], analysis)["value"]
    assert found["values"] == {str(conv.id): 0.5}
    assert found["times"]["lost"] == [{"name": "elsewhere", "ms": 0.5}]
    assert "50.0%" in found["lines"][0]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ([{"name": "t", "text": "nothing"}], "bad-profile"),
        ([{"name": "t", "text": '{"a": 1}'}], "profile-of-another-model"),
        ([{"name": "t"}], "bad-request"),
        ("t", "bad-request"),
        ([], "bad-request"),
    ],
)
def test_what_is_no_profile(files: Any, code: str) -> None:
    assert ask(files, run_analysis(MODEL, Options()))["problem"]["code"] == code


def test_without_the_model() -> None:
    assert ask([{"name": "t", "text": "{}"}], None)["problem"]["code"] == "model-not-at-hand"
