"""What a report remembers of its model, and what can be shown of one that remembers nothing."""

import copy
import pickle
from pathlib import Path

import msgspec
import onnx
import pytest

import py_autodoc
from py_autodoc.errors import InputError
from py_autodoc.report.analysis import Options, run
from py_autodoc.report.origin import analysis_of
from py_autodoc.report.payload import build_payload
from py_autodoc.report.report import Report
from py_autodoc.report.revive import CODE, payload_of

DATA = Path(__file__).parents[1] / "data"
RESNET = DATA / "models" / "resnet_tiny.onnx"
MODELS = [
    RESNET,
    DATA / "stripped" / "bert_base_dyn.stripped.onnx",
    DATA / "models" / "ppocr_v4_det.onnx",
    DATA / "models" / "trt_loop.onnx",
    DATA / "models" / "silero_vad_half.onnx",
]


def edges(payload):
    """Pairs of nodes joined by a tensor, Constant nodes left out."""
    columns, producer = payload.nodes, payload.tensors.producer
    hidden, found = set(columns.constant), set()
    for node in range(len(columns.op)):
        for tensor in columns.inputs[columns.input_offsets[node] : columns.input_offsets[node + 1]]:
            if tensor >= 0 and producer[tensor] >= 0 and not {node, producer[tensor]} & hidden:
                found.add((producer[tensor], node))
    return found


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_a_report_from_json_holds_the_graph(model):
    wanted = build_payload(run(model, Options(assume=True)))
    report = Report.from_json(py_autodoc.analyze(model, assume=True).to_json())
    found = payload_of(report)
    shown = set(range(len(wanted.nodes.op))) - set(wanted.nodes.constant)
    assert set(range(len(found.nodes.op))) - set(found.nodes.constant) == shown
    assert edges(found) == edges(wanted)
    for node in shown:
        assert found.ops[found.nodes.op[node]] == wanted.ops[wanted.nodes.op[node]]
        for column in ("name", "params", "weight_bytes", "macs", "flops", "read_bytes", "activation_bytes"):
            assert getattr(found.nodes, column)[node] == getattr(wanted.nodes, column)[node]
    assert found.nodes.reason == {k: v for k, v in wanted.nodes.reason.items() if int(k) in shown}
    assert found.metrics == wanted.metrics
    msgspec.convert(msgspec.to_builtins(found), type(found))


def test_modules_and_folds_come_back():
    path = DATA / "stripped" / "bert_base_dyn.stripped.onnx"
    wanted = build_payload(run(path, Options(assume=True)))
    found = payload_of(Report.from_json(py_autodoc.analyze(path, assume=True).to_json()))

    def rows(payload):
        tree = payload.scopes
        above = [tree.label[parent] if parent >= 0 else "" for parent in tree.parent]
        return sorted(zip(above, tree.label, tree.type, tree.origin, strict=True))

    assert [row for row in rows(wanted) if row[3] not in ("structure", "plumbing")] == rows(found)
    assert all(parent < scope for scope, parent in enumerate(found.scopes.parent))
    assert "repeat" in found.scopes.origin


def test_what_is_missing_is_told():
    report = Report.from_json(py_autodoc.analyze(RESNET, max_layers=3).to_json())
    payload = payload_of(report, "Why.")
    note = payload.diagnostics[-1]
    assert (note.code, note.severity) == (CODE, "warning")
    assert note.message.startswith("Why. Shown from the report alone")
    assert "35 layers" in note.message
    assert len(payload.nodes.op) - len(payload.nodes.constant) == 3


def test_ids_that_would_take_all_memory_are_refused():
    report = py_autodoc.analyze(RESNET)
    layers = [msgspec.structs.replace(report.layers[0], id=10**12)]
    with pytest.raises(InputError, match="outside the model"):
        payload_of(msgspec.structs.replace(report, layers=layers))
    with pytest.raises(InputError, match="repeat"):
        payload_of(msgspec.structs.replace(report, layers=[report.layers[0]] * 2))


@pytest.mark.parametrize(
    "source", [RESNET, RESNET.read_bytes(), onnx.load(RESNET)], ids=["path", "bytes", "proto"]
)
def test_a_report_remembers_its_model(source):
    report = py_autodoc.analyze(source)
    analysis, reason = analysis_of(report)
    assert (analysis.totals.macs, reason) == (report.metrics.total_macs, "")


def test_what_it_remembers_is_no_part_of_it():
    report = py_autodoc.analyze(RESNET)
    again = Report.from_json(report.to_json())
    assert again == report
    assert "origin" not in report.to_dict()
    assert analysis_of(again) == (None, "The report was read without its model.")
    assert copy.copy(report) == report


def test_a_model_that_changed_is_not_taken(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(RESNET.read_bytes())
    report = py_autodoc.analyze(path)
    path.write_bytes((DATA / "models" / "bert_tiny.onnx").read_bytes())
    assert analysis_of(report) == (None, "The model has changed since the report was made.")
    path.unlink()
    analysis, reason = analysis_of(report)
    assert analysis is None
    assert "m.onnx" in reason


def test_a_report_of_a_file_can_be_pickled():
    report = py_autodoc.analyze(RESNET)
    assert pickle.loads(pickle.dumps(report)) == report
