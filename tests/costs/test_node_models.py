"""Every node-test model of the onnx package: a cost for each operator whose shapes are known."""

from __future__ import annotations

from collections import Counter

import pytest
from onnx_node_tests import node_cases

from costs.harness import analyse
from py_autodoc.costs.engine import totals
from py_autodoc.costs.liveness import peak_activation
from py_autodoc.costs.params import count_params
from py_autodoc.costs.tensor_sizes import TensorSizes

NEEDS_DATA = {"ImageDecoder", "Gradient"}
"""Operators whose cost no shape can tell."""


@pytest.mark.slow
def test_every_operator_of_every_model_has_a_cost() -> None:
    models = node_cases()
    assert len(models) > 1500
    missing: Counter[str] = Counter()
    for case in models:
        done = analyse(case.model)
        sizes = TensorSizes(done.model, done.types)
        assert {d.code for d in done.costs.diagnostics} <= {"loop-trip-unknown", "branch-unknown"}, case.name
        for node, entry in zip(done.model.nodes, done.costs.nodes, strict=True):
            if entry.cost is not None or node.op_type in NEEDS_DATA:
                continue
            tensors = [t for t in (*node.inputs, *node.outputs) if t >= 0]
            run_time = "run time" in entry.reason  # the axis of a DFT
            if not run_time and all(sizes.numel[t] is not None for t in tensors):
                missing[f"{case.name}: {node.op_type}: {entry.reason}"] += 1
        total = totals(done.model, done.costs.nodes)
        assert total.nodes_known + sum(total.reasons.values()) == total.nodes_total
        count_params(done.model, done.types)
        peak = peak_activation(done.model, done.types)
        assert (peak.simple is None) == bool(peak.reason)
        assert peak.simple is None or peak.inplace is None or peak.inplace <= peak.simple
    assert missing == {}
