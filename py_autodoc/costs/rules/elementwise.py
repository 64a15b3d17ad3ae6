"""Elementwise operators: a fixed number of FLOPs per output element (weights.PER_ELEMENT)."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import GELU_ERF, GELU_TANH, PER_ELEMENT
from py_autodoc.costs.registry import Cost, NodeView, cost
from py_autodoc.costs.rules._make import per_output

for _op, _flops in PER_ELEMENT.items():
    cost("", _op)(per_output(_flops))


@cost("", "Gelu")
def gelu(v: NodeView) -> Cost:
    """ONNX Gelu-20: the erf form, or the tanh form with ``approximate="tanh"``."""
    per_element = GELU_TANH if v.attr("approximate", "none") in ("tanh", b"tanh") else GELU_ERF
    return Cost(0, per_element * v.out_numel())


@cost("", "Sum", "Max", "Min", "Mean")
def variadic(v: NodeView) -> Cost:
    """N inputs take n − 1 operations per element; Mean takes one more for its division."""
    input_count = sum(v.has(i) for i in range(v.n_inputs))
    operations = max(input_count - 1, 0) + (v.op == "Mean")
    return Cost(0, operations * v.out_numel())
