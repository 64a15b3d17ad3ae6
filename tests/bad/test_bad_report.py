"""The whole report over the corpus of bad models: a typed error, or a report that says what is odd."""

from __future__ import annotations

import json
import math

import jsonschema
import pytest
from corpus import CASES, Diag, Error, Ok, params

from py_autodoc import analyze
from py_autodoc.report.builders.node_details import node_details
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.openapi_spec.openapi import report_schema
from py_autodoc.report.pipeline.analysis import FAILED, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

SLOW = {"chain-300k"}
"""Honest but large: its own test, without the schema check of every layer."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    paths = {}

    def get(case):
        if case.id not in paths:
            paths[case.id] = case.make(tmp_path_factory.mktemp("bad"))
        return paths[case.id]

    return get


@pytest.fixture(scope="module")
def validator():
    return jsonschema.Draft202012Validator(report_schema())


def _no_constant(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("case", params([c for c in CASES if c.name not in SLOW]))
def test_case(case, made, validator, monkeypatch, tmp_path):
    path = made(case)
    monkeypatch.chdir(tmp_path)
    if isinstance(case.expect, Error):
        with pytest.raises(case.expect.cls) as caught:
            analyze(path)
        assert caught.value.code == case.expect.code
        return
    analysis = run_analysis(path)
    report = build_report(analysis)
    text = report.to_json()
    data = json.loads(text, parse_constant=_no_constant)
    validator.validate(data)
    assert str(path.parent) not in text
    codes = {note.code for note in report.diagnostics}
    assert not {FAILED, "rule-failed", "structure-gave-up"} & codes
    if isinstance(case.expect, Diag):
        assert set(case.expect.codes) <= codes
    else:
        assert isinstance(case.expect, Ok)
    assert _numbers_are_honest(data)
    assert list(tmp_path.iterdir()) == []
    _viewer_has_all(analysis)


def _viewer_has_all(analysis):
    """The payload and every node's details exist, bounded, wherever a report does."""
    payload = build_payload(analysis)
    nodes = len(analysis.model.nodes)
    assert len(payload.nodes.op) == len(payload.nodes.macs) == len(payload.nodes.scope) == nodes
    assert payload.nodes.input_offsets[-1] == len(payload.nodes.inputs)
    assert all(parent < i for i, parent in enumerate(payload.scopes.parent))
    for node in range(min(nodes, 50)):
        details = node_details(analysis.loaded, analysis.model, analysis.types, node)
        assert details.id == node
        assert len(details.name) <= 512


@pytest.mark.slow
def test_long_chain(made):
    case = next(case for case in CASES if case.name == "chain-300k")
    analysis = run_analysis(made(case))
    assert len(build_payload(analysis).nodes.op) == 300_000
    assert not [note for note in analysis.model.diagnostics if note.severity != "info"]
    assert not {FAILED, "rule-failed", "structure-gave-up"} & {note.code for note in analysis.diagnostics}


def _numbers_are_honest(data) -> bool:
    """No negative count and nothing that is not finite, anywhere."""
    numbers = ("params", "macs", "flops", "read_bytes", "write_bytes", "activation_bytes", "weight_bytes")
    for layer in data["layers"]:
        for key in numbers:
            value = layer[key]
            assert value is None or (isinstance(value, int) and value >= 0)
            assert value is not None or layer["reason"] or key in ("activation_bytes", "weight_bytes")
    for value in data["metrics"].values():
        assert not isinstance(value, float) or math.isfinite(value)
        assert not isinstance(value, int) or value >= 0
    return True
