"""What is said of rules that a user changed: in the report, the payload, the page and the texts."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from py_autodoc.cli.summary import print_summary
from py_autodoc.findings.thresholds import settings
from py_autodoc.render import html
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.pipeline.rule_settings import describe_rule_settings
from py_autodoc.report.viewer_payload.build_payload import build_payload

MODEL = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"
CHANGES = {"floor": "low", "compute-bottleneck": {"enabled": False}, "deep-chain": {"min_layers": 4}}
LINE = (
    "Rules changed (mine.json): findings below low are not shown; compute-bottleneck does not run; "
    "deep-chain.min_layers = 4."
)


@pytest.fixture
def changed(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(CHANGES))
    return run_analysis(str(MODEL), Options(thresholds=settings(file)))


def test_rules_as_they_come_say_nothing():
    for options in (
        Options(),
        Options(thresholds=settings()),
        Options(thresholds=settings({"deep-chain": {}})),
    ):
        analysis = run_analysis(str(MODEL), options)
        assert build_payload(analysis).rule_settings is None
        assert describe_rule_settings(build_report(analysis).rule_settings) == ""


def test_report_and_payload_hold_what_was_changed_and_by_which_file(changed):
    report = build_report(changed)
    assert report.rule_settings == build_payload(changed).rule_settings
    found = report.rule_settings
    assert (found.source, found.floor, found.disabled) == ("mine.json", "low", ["compute-bottleneck"])
    assert found.thresholds == {"deep-chain": {"min_layers": 4}}
    again = Report.from_json(report.to_json())
    assert again.rule_settings == found


def test_a_value_that_is_the_default_is_no_change(tmp_path):
    file = tmp_path / "same.json"
    default = settings().thresholds["deep-chain"]["min_layers"]
    file.write_text(json.dumps({"deep-chain": {"min_layers": default}}))
    found = build_report(run_analysis(str(MODEL), Options(thresholds=settings(file)))).rule_settings
    assert (found.source, found.thresholds) == ("same.json", {})
    assert describe_rule_settings(found) == "Rules changed (same.json): nothing."


def test_reading_weights_is_said():
    report = build_report(run_analysis(str(MODEL), Options(read_weights=True)))
    assert report.rule_settings.read_weights
    assert describe_rule_settings(report.rule_settings) == "Rules changed: every weight was read."


def test_texts_say_it(changed, capsys):
    report = build_report(changed)
    assert describe_rule_settings(report.rule_settings) == LINE
    assert LINE in report._repr_html_()
    print_summary(report, 120)
    assert LINE in re.sub(r"\s+", " ", capsys.readouterr().out)


def test_the_page_carries_it(changed, monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")
    (packed,) = re.findall(r'id="autodoc-model"[^>]*>\s*([\w+/=]{100,})', html.html_page(changed))
    bundle = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert bundle["payload"]["rule_settings"]["thresholds"] == {"deep-chain": {"min_layers": 4}}
