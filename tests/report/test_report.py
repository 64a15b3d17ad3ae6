"""Reports of small models, by hand, and of real ones, against the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from builders import branches, linear, loop

from py_autodoc import analyze
from py_autodoc.report.openapi_spec.openapi import report_schema

MODELS = sorted(Path("tests/data/models").glob("*.onnx"))
SNAPSHOT = Path(__file__).parent.parent / "snapshots" / "linear.json"


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(Path("py_autodoc/report/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_real_models_match_the_schema(path, validator):
    report = analyze(path, assume=True)
    validator.validate(json.loads(report.to_json()))
    assert report.graph.num_nodes == len(report.layers) == report.coverage.nodes_total
    assert [layer.id for layer in report.layers] == list(dict.fromkeys(layer.id for layer in report.layers))
    assert sum(report.graph.op_counts.values()) == report.graph.num_nodes
    known = [layer for layer in report.layers if layer.counted and layer.macs is not None]
    total = sum(layer.macs * layer.runs for layer in known)
    assert report.metrics.total_macs in (total, None if total == 0 else total)
    assert sum(layer.params for layer in report.layers) <= report.metrics.total_params
    assert sum(row.macs or 0 for row in report.metrics.by_op) == total


def test_the_schema_refuses_what_is_missing(validator):
    data = json.loads(analyze(linear()).to_json())
    del data["metrics"]["total_macs"]
    assert not validator.is_valid(data)
    data["metrics"]["total_macs"] = "24"
    assert not validator.is_valid(data)


def test_schema_file_is_what_the_structs_say():
    assert json.loads(Path("py_autodoc/report/report.schema.json").read_text("utf-8")) == report_schema()


def test_linear_by_hand():
    report = analyze(linear())
    matmul, add, relu = report.layers
    assert (matmul.macs, matmul.flops, matmul.params, matmul.weight_bytes) == (24, 48, 12, 48)
    assert (matmul.read_bytes, matmul.write_bytes, matmul.activation_bytes) == (32 + 48, 24, 24)
    assert (add.macs, add.flops, add.params) == (0, 6, 3)
    assert (relu.macs, relu.flops) == (0, 6)
    assert matmul.input_shape == [2, 4]
    assert matmul.input_shapes == [[2, 4], [4, 3]]
    assert matmul.output_shape == [2, 3]
    assert (matmul.group, relu.group) == ("block/fc", "")
    assert report.metrics.total_macs == 24
    assert report.metrics.total_flops == 48 + 6 + 6
    assert report.metrics.total_params == 15
    assert report.graph.num_edges == 2
    assert [(b.name, b.nodes, b.macs, b.params) for b in report.blocks if b.kind == "module"] == [
        ("block", [0, 1], 24, 15),
        ("block/fc", [0, 1], 24, 15),
    ]


def test_linear_snapshot():
    """The whole report of a small model. Delete the file and run again to renew it after a look."""
    report = analyze(linear().SerializeToString(deterministic=True))
    same = msgspec.structs.replace(report, generator=msgspec.structs.replace(report.generator, version="0"))
    text = same.to_json(indent=2) + "\n"
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(text, encoding="utf-8")
        pytest.fail(f"wrote {SNAPSHOT.name}: look at it, then run again")
    assert text == SNAPSHOT.read_text(encoding="utf-8")


def test_the_costlier_branch_counts_and_both_are_listed():
    report = analyze(branches())
    matmuls = {layer.subgraph: layer for layer in report.layers if layer.type == "MatMul"}
    assert set(matmuls) == {"/gate/If.then_branch", "/gate/If.else_branch"}
    assert matmuls["/gate/If.then_branch"].macs == 24
    assert matmuls["/gate/If.else_branch"].macs == 48
    assert not matmuls["/gate/If.then_branch"].counted
    assert report.metrics.total_macs == 48
    assert report.metrics.total_params == 12 + 24
    order = [layer.type for layer in report.layers]
    assert order == ["ReduceSum", "Greater", "If", "MatMul", "ReduceSum", "MatMul", "ReduceSum"]
    assert [block.name for block in report.blocks if block.kind == "module"] == [
        "gate",
        "gate/If.else_branch",
        "gate/If.else_branch/b",
        "gate/If.then_branch",
        "gate/If.then_branch/a",
    ]


def test_a_loop_counts_its_trips():
    report = analyze(loop(5))
    step = next(layer for layer in report.layers if layer.name == "step")
    assert (step.macs, step.repeat) == (32, 5)
    assert report.metrics.total_macs == 160


def test_a_loop_of_unknown_length_counts_once_and_says_so():
    report = analyze(loop(None))
    step = next(layer for layer in report.layers if layer.name == "step")
    assert (step.macs, step.repeat) == (32, None)
    assert report.metrics.total_macs == 32
    assert "loop-trip-unknown" in {note.code for note in report.diagnostics}


def test_max_layers_keeps_the_heaviest_in_order():
    path = "tests/data/models/light_squeezenet.onnx"
    full, cut = analyze(path), analyze(path, max_layers=5)
    heaviest = sorted(full.layers, key=lambda layer: -layer.flops)[:5]
    assert {layer.id for layer in cut.layers} == {layer.id for layer in heaviest}
    order = [layer.id for layer in full.layers]
    assert [layer.id for layer in cut.layers] == sorted((layer.id for layer in cut.layers), key=order.index)
    assert cut.layers_omitted == len(full.layers) - 5
    assert cut.metrics == full.metrics
    assert cut.blocks == full.blocks
    assert analyze(path, max_layers=0).layers == []


def test_no_path_leaves_the_machine(tmp_path):
    path = tmp_path / "secret folder" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(linear().SerializeToString())
    text = analyze(path).to_json()
    assert "secret" not in text
    assert json.loads(text)["model"]["name"] == "m.onnx"


def test_a_stage_that_fails_leaves_a_partial_report(monkeypatch):
    from py_autodoc.graph import shapes
    from py_autodoc.report.pipeline import analysis

    def broken(*_):
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(shapes, "infer", broken)
    monkeypatch.setattr(analysis, "cost_table", broken)
    monkeypatch.setattr(analysis, "timeline", broken)
    found = analysis.run_analysis(linear().SerializeToString())
    assert found.partial
    report = analyze(linear())
    assert [note.code for note in report.diagnostics][:3] == ["analysis-failed"] * 3
    assert report.metrics.total_params == 15
    assert report.metrics.total_macs is None
    assert report.metrics.peak_activation_bytes is None
    assert report.metrics.peak_reason
    assert all(layer.reason for layer in report.layers)


def test_progress_and_stopping():
    from py_autodoc.report.pipeline.analysis import PHASES, run_analysis

    seen = []
    run_analysis(linear().SerializeToString(), progress=lambda *now: seen.append(now))
    assert [phase for phase, _, _ in seen] == [*PHASES, PHASES[-1]]
    assert all(done <= total for _, done, total in seen)

    class Stop(Exception):
        pass

    def stop(phase, done, total):
        if phase == "costs":
            raise Stop

    with pytest.raises(Stop):
        run_analysis(linear().SerializeToString(), progress=stop)
