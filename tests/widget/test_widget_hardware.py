"""``Autodoc(model, hardware=…)``: the device goes to the viewer and into the report."""

import gzip
import json

import pytest

from py_autodoc import Autodoc, analyze
from py_autodoc.errors import OptionError
from py_autodoc.report.document.report import Report

pytestmark = pytest.mark.slow

MODEL = "tests/data/stripped/bert_base_dyn.stripped.onnx"


def part(widget):
    return json.loads(gzip.decompress(widget._bundle))["payload"]["hardware"]


def test_the_choice_is_in_the_payload_and_in_the_report():
    widget = Autodoc(MODEL, hardware="l4", precision="fp16")
    assert (part(widget)["chosen"], part(widget)["precision"]) == ("l4", "fp16")
    assert widget.report.hardware_estimates.device == "l4"
    before = widget.report.hardware_estimates.estimated_latency_ms
    widget.dims = {"batch": 16}
    assert widget.report.hardware_estimates.estimated_latency_ms > 2 * before


def test_a_report_takes_a_device():
    report = analyze(MODEL, assume=True)
    assert report.hardware_estimates is None
    widget = Autodoc(report, hardware="t4")
    assert part(widget)["chosen"] == widget.report.hardware_estimates.device == "t4"


def test_a_report_from_json_takes_a_device_and_keeps_its_own():
    text = analyze(MODEL, assume=True, hardware="l4").to_json()
    assert part(Autodoc(Report.from_json(text, model=MODEL)))["chosen"] == "l4"
    assert part(Autodoc(Report.from_json(text, model=MODEL), hardware="t4"))["chosen"] == "t4"


def test_a_mistyped_device():
    with pytest.raises(OptionError, match="rtx-4090"):
        Autodoc(MODEL, hardware="rtx-409")


@pytest.mark.parametrize("none", [{}, {"hardware": None, "precision": None}, {"hardware": ""}])
def test_none_is_chosen(none):
    assert part(Autodoc(MODEL, **none))["chosen"] == ""


def test_a_device_by_its_file_and_no_precision(tmp_path):
    path = tmp_path / "own.json"
    path.write_text('{"name": "own", "memory_bandwidth_bytes_per_s": 1e12, "peak_fp32_flops": 1e14}')
    assert part(Autodoc(MODEL, hardware=path, precision=None))["chosen"] == "custom:own"
