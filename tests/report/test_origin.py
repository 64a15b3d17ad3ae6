"""What a report remembers of its model, and how one that is read from JSON gets it back."""

import copy
import pickle
from pathlib import Path

import onnx
import pytest

import py_autodoc
from py_autodoc.errors import InputError, OptionError
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.report_origin import analysis_of
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
RESNET = DATA / "models" / "resnet_tiny.onnx"
BERT = DATA / "stripped" / "bert_base_dyn.stripped.onnx"
LOOP = DATA / "models" / "trt_loop.onnx"
FIXED = DATA / "models" / "bert_tiny.onnx"
WAYS = {
    "as it comes": (RESNET, {}),
    "assumed sizes": (BERT, {"assume": True}),
    "given sizes": (BERT, {"bindings": {"batch": 2, "seq": 16}}),
    "subgraphs": (LOOP, {"assume": True}),
    "a device": (BERT, {"assume": True, "hardware": "l4", "precision": "fp16", "runtime": "ort-cuda"}),
    "another batch": (FIXED, {"batch_size": 4}),
    "rules": (
        RESNET,
        {
            "thresholds": {
                "deep-chain": {"min_layers": 4, "severity": "high"},
                "compute-bottleneck": {"enabled": False},
                "floor": "low",
            }
        },
    ),
    "weights": (RESNET, {"read_weights": True, "hash": True}),
}


@pytest.mark.parametrize(("path", "options"), WAYS.values(), ids=WAYS)
def test_a_report_from_json_and_its_model_are_the_report_and_its_model(path, options):
    """The same report again, and the same picture, from the JSON and the path."""
    report = py_autodoc.analyze(path, **options)
    again = Report.from_json(report.to_json(), model=path)
    assert again == report
    assert build_report(analysis_of(again)) == report
    assert build_payload(analysis_of(again)) == build_payload(analysis_of(report))


def test_a_resized_model_is_resized_again():
    report = py_autodoc.analyze(RESNET, resize={"xs_0": [1, 3, 96, 96]})
    assert report.resize is not None
    again = Report.from_json(report.to_json(), model=RESNET)
    assert build_report(analysis_of(again)) == report


def test_a_device_of_a_file_is_not_looked_for(tmp_path):
    device = tmp_path / "own.json"
    device.write_text('{"name": "own", "memory_bandwidth_bytes_per_s": 1e12, "peak_fp32_flops": 1e14}')
    report = py_autodoc.analyze(RESNET, hardware=device)
    assert analysis_of(report).hardware is not None
    assert analysis_of(Report.from_json(report.to_json(), model=RESNET)).hardware is None


def test_rules_of_another_version_are_named():
    report = py_autodoc.analyze(RESNET, thresholds={"deep-chain": {"min_layers": 4}})
    text = report.to_json().replace('{"deep-chain":', '{"deepest-chain":')
    assert Report.from_json(text).rule_settings.thresholds == {"deepest-chain": {"min_layers": 4}}
    with pytest.raises(OptionError, match="deepest-chain"):
        Report.from_json(text, model=RESNET)


@pytest.mark.parametrize(
    "source", [lambda: RESNET, RESNET.read_bytes, lambda: onnx.load(RESNET)], ids=["path", "bytes", "proto"]
)
def test_a_report_remembers_its_model(source):
    report = py_autodoc.analyze(source())
    assert analysis_of(report).totals.macs == report.metrics.total_macs


def test_what_it_remembers_is_no_part_of_it():
    report = py_autodoc.analyze(RESNET)
    again = Report.from_json(report.to_json())
    assert again == report
    assert "origin" not in report.to_dict()
    with pytest.raises(InputError, match="without its model") as caught:
        analysis_of(again)
    assert caught.value.code == "model-not-at-hand"
    assert "from_json(text, model=" in caught.value.hint
    assert copy.copy(report) == report


def test_a_model_that_changed_is_not_taken(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(RESNET.read_bytes())
    report = py_autodoc.analyze(path)
    path.write_bytes((DATA / "models" / "bert_tiny.onnx").read_bytes())
    for known in (report, Report.from_json(report.to_json(), model=path)):
        with pytest.raises(InputError, match="not the one that the report was made of"):
            analysis_of(known)
    path.unlink()
    with pytest.raises(InputError, match=r"cannot be read: .*m\.onnx"):
        analysis_of(report)


def test_a_report_of_a_file_can_be_pickled():
    report = py_autodoc.analyze(RESNET)
    assert pickle.loads(pickle.dumps(report)) == report
