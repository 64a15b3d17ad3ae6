"""``validate`` of JSON reports: those we write pass, and a changed number is found."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc import analyze
from py_autodoc.cli.app import app

DATA = Path(__file__).parents[1] / "data"
MODELS = [
    "stripped/resnet50.stripped.onnx",
    "stripped/bert_base_dyn.stripped.onnx",
    "stripped/gpt2.stripped.onnx",
    "models/resnet_tiny_qdq_int8.onnx",
    "models/trt_loop.onnx",
    "models/silero_vad_half.onnx",
]


@cache
def written(name):
    return analyze(DATA / name).to_json()


def validate(path, text):
    path.write_text(text, "utf-8")
    result = CliRunner().invoke(app, ["validate", str(path), "--json"])
    failed = {}
    if result.stdout.startswith("["):
        failed = {c["name"]: c["faults"] for c in json.loads(result.stdout) if c["status"] == "failed"}
    return result, failed


@pytest.mark.parametrize("name", MODELS)
def test_reports_are_in_order(name, tmp_path):
    result, failed = validate(tmp_path / "r.json", written(name))
    assert (result.exit_code, failed) == (0, {})
    names = [check["name"] for check in json.loads(result.stdout)]
    assert names == ["schema", "counts", "totals", "references", "shares"]


def test_the_cache_a_token_stands_at_the_attention_too(tmp_path):
    report = copy.deepcopy(json.loads(written("stripped/gpt2.stripped.onnx")))
    found = report["metrics"]["attention"]["kv_cache_bytes_per_token"]
    assert found == report["memory"]["kv_cache"]["bytes_per_token"] == 12 * 2 * 768 * 4
    report["metrics"]["attention"]["kv_cache_bytes_per_token"] += 1
    assert "kv_cache_bytes_per_token" in validate(tmp_path / "r.json", json.dumps(report))[1]["totals"][0]


def test_with_layers_cut_sums_of_layers_are_not_compared(tmp_path):
    text = analyze(DATA / MODELS[0], max_layers=10).to_json()
    assert json.loads(text)["layers_omitted"] > 0
    assert validate(tmp_path / "r.json", text)[1] == {}


CHANGES = {
    "total": (
        lambda r: r["metrics"].update(total_macs=r["metrics"]["total_macs"] + 1),
        "totals",
        "total_macs",
    ),
    "flops": (lambda r: r["layers"][0].update(flops=r["layers"][0]["flops"] + 1), "totals", "total_flops"),
    "bytes": (lambda r: r["layers"][0].update(read_bytes=None), "totals", "read_bytes"),
    "runs": (lambda r: r["layers"][0].update(runs=2, repeat=2), "totals", "total_macs"),
    "operator": (lambda r: r["metrics"]["by_op"][0].update(macs=1), "totals", "by_op"),
    "params": (lambda r: r["metrics"].update(total_params=7), "totals", "total_params"),
    "stored": (
        lambda r: r["metrics"]["precision_breakdown"].update(int8=7),
        "totals",
        "precision_breakdown",
    ),
    "quantized": (lambda r: r["metrics"].update(is_quantized=True), "totals", "is_quantized"),
    "nodes": (lambda r: r["graph"].update(num_nodes=3), "counts", "num_nodes"),
    "lost": (lambda r: r["layers"].pop(), "counts", "layers"),
    "twice": (lambda r: r["layers"][1].update(id=r["layers"][0]["id"]), "counts", "id of another"),
    "block": (lambda r: r["blocks"][0].update(nodes=[999_999]), "references", "999999"),
    "parent": (lambda r: r["blocks"][0].update(parent=-4), "references", "parent"),
    "share": (lambda r: r["coverage"].update(shapes=1.5), "shares", "shapes"),
    "known": (lambda r: r["coverage"].update(nodes_known=1), "shares", "coverage.nodes"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_add_up_is_found(change, tmp_path):
    edit, check, told = CHANGES[change]
    report = copy.deepcopy(json.loads(written(MODELS[0])))
    edit(report)
    result, failed = validate(tmp_path / "r.json", json.dumps(report))
    assert result.exit_code == 1
    assert told in " ".join(failed[check])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "not a JSON report"),
        ("{}", "schema_version"),
        ('{"schema_version": "9.0"}', "schema version '9.0'"),
        ('{"schema_version": "1.1"}', "generator"),
        ("{" + '"a":[' * 100, "nested deeper"),
        ('\ufeff {"schema_version": 3}', "$.schema_version"),
    ],
)
def test_what_is_no_report_is_one_line(text, code, tmp_path):
    result, _ = validate(tmp_path / "r.json", text)
    assert result.exit_code == 1
    assert code in result.stderr
    assert "r.json" in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2
    assert str(tmp_path) not in result.stderr


def test_a_field_of_another_type_is_named(tmp_path):
    report = copy.deepcopy(json.loads(written(MODELS[0])))
    report["layers"][3]["macs"] = "many"
    result, _ = validate(tmp_path / "r.json", json.dumps(report))
    assert result.exit_code == 1
    assert "$.layers[3].macs" in result.stderr


@pytest.mark.parametrize(
    ("model", "quantized", "stored"),
    [
        ("resnet_tiny", False, {"float32"}),
        ("resnet_tiny_qdq_int8", True, {"int8", "int32"}),
    ],
)
def test_parameters_by_the_type_they_are_stored_in(model, quantized, stored):
    metrics = analyze(f"tests/data/models/{model}.onnx").metrics
    assert metrics.is_quantized is quantized
    assert metrics.precision_breakdown is not None
    assert set(metrics.precision_breakdown) == stored
    assert sum(metrics.precision_breakdown.values()) == metrics.total_params
