"""Peak activation memory on graphs small enough to follow by hand."""

from __future__ import annotations

import onnx.parser
import pytest

from costs.harness import analyse
from py_autodoc.costs.liveness import PeakMemory, peak_activation

HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'


def peak_of(text: str) -> PeakMemory:
    done = analyse(onnx.parser.parse_model(HEAD + text))
    return peak_activation(done.model, done.types)


@pytest.mark.parametrize(
    ("body", "simple", "inplace"),
    [
        # x 40 bytes; each step holds its input and its output, b may overwrite a
        ("a = Relu(x) b = Relu(a) y = Relu(b)", 80, 80),
        # x dies after a; c takes the place of a or b
        ("a = Relu(x) b = Sigmoid(a) y = Add(a, b)", 120, 80),
        # the residual keeps x alive
        ("a = Relu(x) b = Relu(a) y = Add(x, b)", 120, 80),
        # a view costs nothing in place
        ("s = Constant <value_ints = [10]> () a = Relu(x) b = Reshape(a, s) y = Sin(b)", 80, 80),
        # an output nobody reads dies at once
        ("unused = Sin(x) y = Cos(x)", 80, 80),
        # a Transpose needs room of its own
        ("a = Relu(x) b = Transpose(a) y = Transpose(b)", 80, 80),
    ],
)
def test_straight_graphs(body: str, simple: int, inplace: int) -> None:
    peak = peak_of(f"g (float[10] x) => (float[10] y) {{ {body} }}")
    assert (peak.simple, peak.inplace) == (simple, inplace)
    assert (peak.main_simple, peak.main_inplace) == (simple, inplace)


def test_weights_are_not_activations() -> None:
    peak = peak_of(
        "g (float[10] x) => (float[10] y) { w = Constant <value_floats = [1.0]> () y = Mul(x, w) }"
    )
    assert peak.simple == 80


def test_an_if_needs_its_larger_branch() -> None:
    text = """
g (float[10] x, bool c) => (float[10] y) {
  s = Constant <value_ints = [100, 10]> ()
  z = Constant <value_ints = [0]> ()
  a = Relu(x)
  y = If (c) <
    then_branch = t () => (float[10] p) { p = Relu(a) },
    else_branch = e () => (float[10] q) { big = Expand(a, s) q = ReduceSum <keepdims = 0> (big, z) }
  >
}"""
    peak = peak_of(text)
    # a (40), the condition (1), and 100·10 floats with their sum inside; x died
    assert peak.simple == 40 + 1 + 4000 + 40
    assert peak.main_simple == 40 + 40 + 1
    assert peak.simple_node == 3


def test_a_captured_tensor_lives_until_the_body_ran() -> None:
    peak = peak_of("""
g (float[10] x, bool c) => (float[10] y) {
  a = Relu(x)
  b = Sin(x)
  d = Cos(b)
  y = If (c) <then_branch = t () => (float[10] p) { p = Add(a, d) }, else_branch = e () => (float[10] a) {  }>
}""")
    assert peak.main_simple == 1 + 3 * 40


def test_unknown_sizes_have_a_reason() -> None:
    peak = peak_of("g (float[n] x) => (float[n] y) { y = Relu(x) }")
    assert (peak.simple, peak.inplace) == (None, None)
    assert "x" in peak.reason
