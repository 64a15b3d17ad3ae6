"""Broken, hostile and odd models: attention and the verdict give up on none of them."""

from __future__ import annotations

import pytest
from corpus import CASES, Error

from py_autodoc.blocks.architecture.classify_architecture import classify_architecture
from py_autodoc.blocks.architecture.context_length import context_limits
from py_autodoc.blocks.attention_layers.attention import find_attention
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.shapes import infer

READABLE = [case for case in CASES if not isinstance(case.expect, Error) and case.name != "chain-300k"]


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case.id)
def test_never_raises(case, tmp_path):
    loaded = load(case.make(tmp_path))
    model = build(loaded)
    types = infer(loaded, model, {}, {})
    found = []
    for graph in model.graphs:
        flow = DataflowGraph(model, types, graph.id)
        layers = find_attention(flow)
        context_limits(flow, layers)
        found += layers
    made = classify_architecture(model, types, (), found, ())
    assert 0 <= made.confidence <= 1
    assert made.evidence
