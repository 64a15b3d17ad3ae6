"""Evaluations beside a comparison: how they are read, what is compared, which variants are worth having."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.cli.app import app
from py_autodoc.compare.contract import comparison_schema
from py_autodoc.compare.evaluation import lower_is_better, read_evaluation
from py_autodoc.compare.impact import ImpactPoint, _dominates
from py_autodoc.errors import OptionError

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
FLOAT, INT8 = MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny_qdq_int8.onnx"


def compare(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def evaluation(path: Path, quality=0.931, latency=14.5, name="top1", **more) -> Path:
    told = {
        "model_id": "resnet", "task_type": "free text",
        "eval": {"primary_metric_name": name, "primary_metric_value": quality, "metrics": {name: quality}},
        "perf": {"latency_ms_p50": latency, "throughput_qps": 680}, **more,
    }  # fmt: skip
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


@pytest.fixture
def both(tmp_path):
    a = evaluation(tmp_path / "a.json")
    b = evaluation(tmp_path / "b.json", 0.927, 4.5)
    return FLOAT, INT8, "--eval-metrics", a, "--eval-metrics", b


def test_the_document_has_values_deltas_and_the_front(both):
    code, out, _ = compare(*both, "--json")
    found = json.loads(out)
    jsonschema.Draft202012Validator(comparison_schema()).validate(found)
    assert code == 1
    first, other = found["variants"]
    assert first["metrics"]["top1"] == 0.931
    assert other["deltas_vs_baseline"]["top1"] == pytest.approx(-0.004)
    assert other["deltas_vs_baseline"]["latency_ms_p50"] == pytest.approx(-10)
    assert (first["evaluation"], other["evaluation"]) == ("a.json", "b.json")
    impact = found["impact"]
    assert (impact["quality_metric"], impact["lower_is_better"]) == ("top1", False)
    assert impact["front_of"] == ["size", "latency_ms_p50", "top1"]
    assert impact["variants"][1]["speedup"] == pytest.approx(14.5 / 4.5)
    assert impact["variants"][1]["size_ratio"] == other["size_bytes"] / first["size_bytes"]
    assert [one["on_front"] for one in impact["variants"]] == [True, True]
    assert sum(other["precision_breakdown"].values()) == other["metrics"]["params"]


def test_a_variant_that_is_worse_in_everything_is_not_on_the_front(tmp_path):
    a = evaluation(tmp_path / "a.json", 0.9, 20.0)
    b = evaluation(tmp_path / "b.json", 0.95, 4.0)
    found = json.loads(compare(FLOAT, INT8, "--eval-metrics", a, "--eval-metrics", b, "--json")[1])
    assert [one["on_front"] for one in found["impact"]["variants"]] == [False, True]
    # Of a loss less is better.
    a = evaluation(tmp_path / "a.json", 0.9, 20.0, "val_loss")
    b = evaluation(tmp_path / "b.json", 0.95, 4.0, "val_loss")
    found = json.loads(compare(FLOAT, INT8, "--eval-metrics", a, "--eval-metrics", b, "--json")[1])
    assert found["impact"]["lower_is_better"]
    assert [one["on_front"] for one in found["impact"]["variants"]] == [True, True]


def test_measured_and_estimated_times_are_not_mixed(tmp_path):
    a = evaluation(tmp_path / "a.json")
    b = evaluation(tmp_path / "b.json", perf={})
    args = (FLOAT, INT8, "--eval-metrics", a, "--eval-metrics", b, "--json")
    found = json.loads(compare(*args)[1])["impact"]
    assert found["latency_metric"] is None
    assert [one["latency_ms"] for one in found["variants"]] == [None, None]
    found = json.loads(compare(*args, "--hardware", "l4")[1])
    assert found["impact"]["latency_metric"] == "estimated_latency_ms"
    for one, variant in zip(found["impact"]["variants"], found["variants"], strict=True):
        assert one["latency_ms"] == variant["hardware_estimates"]["estimated_latency_ms"]


def test_text_and_markdown_show_them(both, tmp_path):
    _, out, _ = compare(*both)
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "0.927 (−0.004)" in rows["top1"]
    assert "4.5 (−69.0 %)" in rows["latency_ms_p50"]
    assert "680 (same)" in rows["throughput_qps"]
    assert (
        "On the Pareto front (size, latency_ms_p50, top1): resnet_tiny.onnx, resnet_tiny_qdq_int8.onnx."
        in out
    )
    card = tmp_path / "c.md"
    compare(*both, "--out-md", card)
    text = card.read_text("utf-8")
    assert "## Precision by layer" in text
    assert "−0.004" in text
    assert "On the Pareto front" in text


def test_variants_in_short(both, tmp_path):
    found = json.loads(compare(*both, "--json")[1])
    counts = [one["core_operators"] for one in found["impact"]["variants"]]
    assert counts == [{"float32": 24}, {"int8 (QDQ)": 18, "int8": 6}]
    assert [sum(one.values()) for one in counts] == found["alignment"]["core_operators"]
    card = tmp_path / "c.md"
    compare(*both, "--out-md", card)
    text = card.read_text("utf-8")
    rows = {line.split("|")[1].strip(): line.split("|")[2:4] for line in text.splitlines() if "|" in line}
    variants = {name: [cell.strip() for cell in cells] for name, cells in rows.items()}
    assert variants["Core operators"] == ["24", "24"]
    assert variants["int8 (QDQ)"] == ["–", "18 (75 %)"]
    assert variants["Size"] == ["359 kB", "200 kB (0.559×)"]
    assert variants["Speedup (latency\\_ms\\_p50)"] == ["1×", "3.22×"]
    assert "0.927 (−0.004)" in text
    # Two models that differ in none of this have no such table.
    assert compare(FLOAT, FLOAT, "--out-md", card, "--force")[0] == 0
    assert "## Variants" not in card.read_text("utf-8")


def test_the_baseline_is_chosen_by_its_precision(both):
    found = json.loads(compare(*both, "--baseline-precision", "int8", "--json")[1])
    first, other = found["variants"]
    assert first["precision"] == found["baseline_precision"] == "int8"
    assert (first["evaluation"], other["evaluation"]) == ("b.json", "a.json")
    assert other["deltas_vs_baseline"]["top1"] == pytest.approx(0.004)
    code, _, err = compare(*both, "--baseline-precision", "fp8")
    assert (code, "They are fp32, int8" in err) == (2, True)
    code, _, err = compare(FLOAT, FLOAT, "--baseline-precision", "fp32")
    assert (code, "2 models are" in err) == (2, True)


def test_names_of_ours_are_kept(tmp_path):
    a = evaluation(tmp_path / "a.json", 1.0, name="params")
    found = json.loads(compare(FLOAT, INT8, "--eval-metrics", a, "--eval-metrics", a, "--json")[1])
    metrics = found["variants"][0]["metrics"]
    assert metrics["eval.params"] == 1.0
    assert metrics["params"] > 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "truncated"),
        ("[]", "Expected `object`"),
        ('{"eval": {"metrics": {"top1": "high"}}}', "$.eval.metrics[...]"),
        ('{"perf": {"latency_ms_p50": []}}', "$.perf[...]"),
        ('{"eval": 3}', "$.eval"),
        ("[" * 5000, "nested deeper"),
        ('{"perf": {"": 1}}', "perf has a name"),
        ('{"perf": {"a\\nb": 1}}', "perf has a name"),
        ('{"perf": {"x": 1e999}}', "out of range"),
        (
            '{"eval": {"primary_metric_name": "a", "primary_metric_value": 1, "metrics": {"a": 2}}}',
            "Use the same value in both",
        ),
    ],
)  # fmt: skip
def test_what_is_no_evaluation_is_refused_with_its_place(tmp_path, text, said):
    path = tmp_path / "e.json"
    path.write_text(text, encoding="utf-8")
    code, _, err = compare(FLOAT, INT8, "--eval-metrics", path, "--eval-metrics", path)
    assert code == 2
    assert "e.json" in err
    assert said in err
    assert err.count("\n") == 1


def test_as_many_as_models(both):
    code, _, err = compare(*both[:4])
    assert (code, "with 1 evaluation" in err) == (2, True)
    code, _, err = compare(*both[:2], "--eval-metrics", "no.json", "--eval-metrics", "no.json")
    assert (code, "no.json: no such file" in err) == (2, True)
    code, _, err = compare(*both, "--topology")
    assert (code, "--eval-metrics cannot be combined with" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("top1", False), ("f1_macro", False), ("mAP_50_95", False), ("loss", True), ("val_loss", True),
        ("WER", True), ("perplexity", True), ("latency_ms_p50", True), ("vram_used_bytes", True),
        ("rmse", True),
        ("throughput_qps", False), ("accuracy", False), ("bleu", False),
        ("answer_f1", False),
    ],
)  # fmt: skip
def test_less_is_better_by_name(name, expected):
    assert lower_is_better(name) is expected


points = st.builds(
    ImpactPoint, st.integers(1, 5), st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)
)


@given(points, points, st.booleans())
def test_two_variants_never_beat_each_other(a, b, fewer):
    assert not (_dominates(a, b, fewer) and _dominates(b, a, fewer))
    assert not _dominates(a, a, fewer)


def test_parts_may_be_missing(tmp_path):
    path = tmp_path / "e.json"
    path.write_text('{"perf": {"x": 1}, "anything": [1]}', encoding="utf-8")
    found = read_evaluation(str(path))
    assert (found.primary, dict(found.metrics), dict(found.perf)) == (None, {}, {"x": 1})
    path.write_bytes(b" " * (2 << 20))
    with pytest.raises(OptionError, match="too large for an evaluation"):
        read_evaluation(str(path))


def ran(path: Path, *models: Path) -> Path:
    done = CliRunner().invoke(
        app, ["run", *map(str, models), "--runs", "2", "--warmup", "0", "--out-json", str(path)]
    )
    assert done.exit_code == 0, done.output
    return path


def test_what_run_wrote_is_taken_for_the_models_that_it_names(tmp_path):
    pytest.importorskip("onnxruntime")
    path = ran(tmp_path / "run.json", INT8, FLOAT)
    code, out, _ = compare(FLOAT, INT8, "--eval-metrics", path, "--json")
    assert code == 1
    measured = {Path(one["model"]).name: one for one in json.loads(path.read_text())["variants"]}
    for variant in json.loads(out)["variants"]:
        source = measured[variant["model_path"]]
        assert variant["metrics"]["latency_ms_p50"] == source["latency"]["p50_ms"]
        assert variant["metrics"]["latency_ms_p90"] == source["latency"]["p90_ms"]
        assert variant["metrics"]["memory_peak_bytes"] == source["memory"]["peak_bytes"]
    assert json.loads(out)["impact"]["latency_metric"] == "latency_ms_p50"
    one = ran(tmp_path / "one.json", INT8)
    code, _, err = compare(FLOAT, INT8, "--eval-metrics", one)
    assert (
        code,
        "No evaluation is of resnet_tiny.onnx; `run` measured resnet_tiny_qdq_int8.onnx." in err,
    ) == (2, True)
    mixed = evaluation(tmp_path / "a.json")
    code, out, _ = compare(FLOAT, INT8, "--eval-metrics", mixed, "--eval-metrics", one, "--json")
    assert json.loads(out)["variants"][1]["evaluation"] == "one.json"


@pytest.mark.parametrize("order", ["after", "before"])
def test_several_files_may_follow_one_option(tmp_path, order):
    files = [evaluation(tmp_path / "a.json"), evaluation(tmp_path / "b.json", 0.9, 4.5)]
    given = (["--eval-metrics", *files], [FLOAT, INT8])
    code, out, _ = compare(
        *[item for part in (given[::-1] if order == "after" else given) for item in part], "--json"
    )
    assert code == 1
    assert [variant["evaluation"] for variant in json.loads(out)["variants"]] == ["a.json", "b.json"]
    code, _, err = compare(FLOAT, "--eval-metrics", *files)
    assert (code, "1 model to compare" in err) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"top1": 0.9}',
        '{"eval": {}, "perf": {}}',
        '{"eval": {"metrics": {"top1": null}}}',
        '{"eval": {"primary_metric_name": "top1"}}',
    ],
)
def test_an_evaluation_without_a_number_is_an_error(tmp_path, text):
    path = tmp_path / "e.json"
    path.write_text(text, encoding="utf-8")
    code, _, err = compare(
        FLOAT, INT8, "--eval-metrics", path, "--eval-metrics", evaluation(tmp_path / "b.json")
    )
    assert code == 2
    assert "e.json has no measurement" in err
    assert "perf" in err
