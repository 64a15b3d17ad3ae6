"""The guard around the recognisers."""

from __future__ import annotations

import pytest
from test_repeats import load, stack
from variants import analysed

import py_autodoc
from py_autodoc.blocks import analyse

RECOGNISERS = {
    "find_attention": "attention",
    "find_normalizations": "normalizations",
    "find_conv_blocks": "convolutions",
    "find_residuals": "residuals",
    "find_mlps": "MLPs",
    "find_embeddings": "embeddings",
    "find_heads": "heads",
    "find_recurrent": "recurrent layers",
    "find_repeats": "repeats",
    "classify_architecture": "verdict",
}


def failing(fault):
    def recogniser(*_):
        raise fault

    return recogniser


@pytest.mark.parametrize("function", RECOGNISERS)
def test_one_that_fails_is_named_and_the_others_go_on(function, monkeypatch):
    model = load("models/bert_tiny.onnx").SerializeToString()
    whole = py_autodoc.analyze(model)
    monkeypatch.setattr(analyse, function, failing(KeyError("odd")))
    found = analysed(load("models/bert_tiny.onnx"))
    assert found.structure.gave_up == (f"{RECOGNISERS[function]} (KeyError)",)
    assert not found.partial
    others = [found.structure.blocks, found.structure.attention, found.structure.repeats]
    assert sum(map(bool, others)) >= 2
    report = py_autodoc.analyze(model)
    assert [d.code for d in report.diagnostics] == ["structure-gave-up"]
    assert report.diagnostics[0].severity == "info"
    assert report.metrics.total_params == whole.metrics.total_params


def test_every_body_is_searched_and_failures_in_them_are_one_line(monkeypatch):
    seen = []

    def recogniser(flow):
        seen.append(flow.graph)
        raise ValueError

    monkeypatch.setattr(analyse, "find_residuals", recogniser)
    found = analysed(load("models/silero_vad_half.onnx"))
    assert set(seen) <= {graph.id for graph in found.model.graphs}
    assert len(seen) > 1
    assert found.structure.gave_up == (f"residuals (ValueError, in {len(seen)} graphs)",)


def test_memory_errors_pass(monkeypatch):
    monkeypatch.setattr(analyse, "find_repeats", failing(MemoryError()))
    with pytest.raises(MemoryError):
        analysed(stack(2))
