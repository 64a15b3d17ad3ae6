"""A whole report, payload and details for every one of ONNX's backend node tests.

msgspec checks the JSON of all against the structs. The JSON Schema is made of the same structs (and compared
with them by ``generate.py --check``); it checks one in eight: in pure Python that takes most of the time.
"""

from __future__ import annotations

import msgspec
import pytest
from jsonschema import Draft202012Validator
from onnx_node_tests import node_cases

from py_autodoc.report.builders.node_details import node_details
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.openapi_spec.openapi import report_schema
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def validator():
    return Draft202012Validator(report_schema())


def test_there_are_as_many_as_onnx_has():
    assert len(node_cases()) > 1800


@pytest.mark.parametrize("part", range(8))
def test_every_node_model_has_a_report(part, validator):
    failed = {}
    for number, case in enumerate(node_cases()[part::8]):
        analysis = run_analysis(case.model, Options())
        report = build_report(analysis)
        text = report.to_json()
        if Report.from_json(text) != report:
            failed[case.name] = "the JSON is another report"
        if number % 8 == 0:
            fault = next(validator.iter_errors(msgspec.json.decode(text)), None)
            if fault is not None:
                failed[case.name] = fault.message
        build_payload(analysis)
        for node in analysis.model.nodes:
            node_details(analysis.loaded, analysis.model, analysis.types, node.id)
        for note in report.diagnostics:
            if note.severity == "error" or note.code in ("cost-rule-failed", "shape-inference-failed"):
                failed[case.name] = note.message
    assert failed == {}
