"""Repeats in the report, in the viewer's payload and in the summary."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import py_autodoc
from py_autodoc.report.builders import repeat_section as section
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parent.parent / "data"
BERT = DATA / "stripped/bert_base.stripped.onnx"
LIGHT = DATA / "models/light_resnet50.onnx"


def test_the_report_lists_layers_that_correspond():
    report = py_autodoc.analyze(BERT)
    (layers,) = report.repeats
    assert (layers.name, layers.type, layers.count, layers.size) == ("BertLayer", "BertLayer", 12, 30)
    assert layers.scopes == [f"m/encoder/layer.{i}" for i in range(12)]
    by_id = {layer.id: layer for layer in report.layers}
    for column in zip(*layers.members, strict=True):
        same = [by_id[number] for number in column]
        assert len({(layer.type, str(layer.output_shape), layer.macs) for layer in same}) == 1
    for part, scope in zip(layers.members, layers.scopes, strict=True):
        assert {by_id[number].group[: len(scope)] for number in part} == {scope}
        assert len(part) == layers.size


def test_parts_without_names_are_called_by_what_they_are():
    report = py_autodoc.analyze(LIGHT)
    assert [(repeat.name, repeat.count, repeat.scopes) for repeat in report.repeats] == [
        ("Residual", 5, []),
        ("Residual", 3, []),
        ("Residual", 2, []),
        ("Residual", 2, []),
    ]


def test_a_long_list_of_members_is_cut(monkeypatch):
    monkeypatch.setattr(section, "MAX_MEMBER_NODES", 150)
    report = build_report(run_analysis(LIGHT))
    assert [len(repeat.members) for repeat in report.repeats] == [5, 0, 0, 0]
    assert [repeat.count for repeat in report.repeats] == [5, 3, 2, 2]


@pytest.mark.parametrize("path", [BERT, LIGHT], ids=["scopes", "nodes"])
def test_the_payload_names_them(path):
    analysis = run_analysis(path)
    found, columns = analysis.structure.repeats, build_payload(analysis).repeats
    assert columns.count == [repeat.count for repeat in found]
    assert columns.size == [len(repeat.members[0]) for repeat in found]
    assert columns.name == [repeat.name for repeat in build_report(analysis).repeats]
    assert len(msgspec.json.encode(columns)) < 20 * len(analysis.model.nodes)


def test_a_model_without_repeats():
    path = DATA / "models/mnist_cntk.onnx"
    assert py_autodoc.analyze(path).repeats == []
    assert build_payload(run_analysis(path)).repeats.count == []
