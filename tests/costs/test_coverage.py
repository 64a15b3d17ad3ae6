"""What a coverage below 1 is put down to."""

from __future__ import annotations

import onnx
import pytest

from py_autodoc import analyze
from py_autodoc.report.pipeline.analysis import Options, run_analysis

CODE = "partial-coverage"
HEAD = '<ir_version: 9, opset_import: ["" : 17, "odd" : 1]>'


def model(inputs: str, body: str) -> bytes:
    return onnx.parser.parse_model(f"{HEAD} g ({inputs}) => (float[a, b] y) {{ {body} }}").SerializeToString()


def told(source: bytes, **options) -> list[tuple[str, str, int | None]]:
    found = run_analysis(source, Options(**options)).diagnostics
    return [(d.severity, d.message, d.node) for d in found if d.code == CODE]


def test_everything_known_is_not_mentioned():
    assert told(model("float[2, 3] x, float[3, 4] w", "y = MatMul(x, w)")) == []


def test_free_sizes_are_named_as_such():
    (one,) = told(model("float[n, 3] x, float[3, m] w", "t = MatMul(x, w) y = Relu(t)"))
    assert one == (
        "info",
        "The costs of 2 nodes are unknown, 1 of them with MACs. 2 nodes: dimensions have no value (m, n).",
        -1,
    )
    assert told(model("float[n, 3] x, float[3, m] w", "y = MatMul(x, w)"), bindings={"n": 2, "m": 5}) == []


def test_the_node_that_leaves_the_others_open_is_named():
    body = "i = NonZero(x) j = Cast <to = 1> (i) k = MatMul(w, j) y = Relu(k)"
    severity, message, node = told(model("float[2, 3] x, float[3, 2] w", body))[0]
    assert severity == "warning"
    assert message == (
        "The costs of 2 nodes are unknown, 1 of them with MACs. "
        "2 nodes: NonZero: output sizes of NonZero that the graph does not give."
    )
    assert node == 0


def test_an_operator_without_a_rule_is_a_reason_of_its_own():
    body = "s = odd.Thing(x) t = odd.Thing(s) i = NonZero(w) j = Cast <to = 1> (i) y = MatMul(j, w)"
    (_, message, _) = told(model("float[2, 3] x, float[3, 2] w", body))[0]
    first, second = message.split(". ", 1)[1].split("; ")
    assert "NonZero" in first  # with MACs behind it: before the others
    assert "odd::Thing" in second


@pytest.mark.parametrize(
    "name", ["models/silero_vad_half", "models/swift_f0", "stripped/bert_base_dyn.stripped"]
)
def test_every_report_that_does_not_cover_all_says_why(name):
    report = analyze(f"tests/data/{name}.onnx")
    assert report.coverage.nodes < 1
    (one,) = [d for d in report.diagnostics if d.code == CODE]
    unknown = report.coverage.nodes_total - report.coverage.nodes_known
    assert one.message.startswith(f"The costs of {unknown:,} nodes are unknown")
