"""What is said beside the file: owner, requirements, serving, prices; and labels that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc.cli.app import app
from py_autodoc.errors import OptionError
from py_autodoc.report.pipeline.card_facts import card_facts

DATA = Path(__file__).parents[1] / "data/stripped"
RESNET, LLAMA = str(DATA / "resnet50.stripped.onnx"), str(DATA / "llama_gqa_small.stripped.onnx")
CARD = """
[card]
owner = "Vision team"
intended-use = "Sorting parcels"
limits = ["Not tested below 5 lux", "No text on labels"]
license = "apache-2.0"

[[card.evaluation]]
metric = "accuracy"
value = 0.931
dataset = "belt-2026"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: object) -> tuple[dict, str]:
    done = invoke("analyze", *arguments, "--assume", "--out-json", "r.json", "--out-md", "r.md", "--force")
    assert done.exit_code == 0, done.stderr
    return json.loads(Path("r.json").read_bytes()), Path("r.md").read_text("utf-8")


def test_a_card_says_what_the_owner_says(tmp_path):
    Path("autodoc.toml").write_text(CARD, encoding="utf-8")
    report, card = document(RESNET)
    assert report["card"]["evaluation"][0]["value"] == 0.931
    for text in (
        "Use and evaluation",
        "Vision team",
        "Not tested below 5 lux",
        "0.931",
        "license: apache-2.0",
    ):
        assert text in card
    assert "none of it was checked" in card
    report, card = document(RESNET, "--owner", "Ann", "--evaluation", "F1@test=0.5", "--limitation", "dark")
    assert report["card"]["owner"] == "Ann"
    assert report["card"]["intended_use"] == "Sorting parcels"
    assert [(one["metric"], one["dataset"], one["value"]) for one in report["card"]["evaluation"]] == [
        ("F1", "test", 0.5)
    ]


def test_without_statements_there_is_no_section():
    Path("autodoc.toml").write_text("[limits]\nmacs = '5G'\n", encoding="utf-8")
    report, card = document(RESNET)
    assert report["card"] is None
    assert "Use and evaluation" not in card


def test_a_policy_may_hold_a_card():
    Path("autodoc.toml").write_text(CARD + "\n[limits]\nparams = '30M'\n", encoding="utf-8")
    assert invoke("check", RESNET).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[card]\nowners = 'x'\n", "no entry 'owners'"),
        ("[card]\nowner = 3\n", "Expected `str`"),
        ("[card]\nlimits = 'one'\n", "Expected `array`"),
        ("[[card.evaluation]]\nmetric = 'a'\n", "missing required field `value`"),
        ("[other]\n", r"no table \[card\]"),
    ],
)
def test_a_wrong_card_is_refused(text, said):
    Path("c.toml").write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=said):
        card_facts("c.toml", {})


@pytest.mark.parametrize("text", ["accuracy", "=0.3", "accuracy="])
def test_a_wrong_result_is_refused(text):
    with pytest.raises(OptionError, match="METRIC=VALUE"):
        card_facts(None, {}, (), [text])


def classifier(classes: int, metadata: int) -> str:
    """A classifier of images whose metadata name so many classes."""
    weight = np.zeros((classes, 3), np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["image", "k"], ["c"]),
            helper.make_node("GlobalAveragePool", ["c"], ["p"]),
            helper.make_node("Flatten", ["p"], ["f"]),
            helper.make_node("Gemm", ["f", "w"], ["logits"], transB=1),
            helper.make_node("Softmax", ["logits"], ["scores"]),
        ],
        "g",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, classes])],
        [
            onnx.numpy_helper.from_array(weight, "w"),
            onnx.numpy_helper.from_array(np.zeros((3, 3, 3, 3), np.float32), "k"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    names = ", ".join(f"{number}: 'c{number}'" for number in range(metadata))
    helper.set_model_props(model, {"names": f"{{{names}}}", "task": "classify"})
    path = f"classes_{classes}_{metadata}.onnx"
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(("classes", "labels", "warned"), [(7, 7, False), (7, 6, True), (2, 3, True)])
def test_labels_are_counted_against_the_outputs(classes, labels, warned):
    report, _ = document(classifier(classes, labels))
    found = [item for item in report["diagnostics"] if item["code"] == "labels-mismatch"]
    assert bool(found) == warned
    assert all(str(labels) in item["message"] and str(classes) in item["message"] for item in found)


def test_labels_of_the_card_count_before_those_of_the_file():
    Path("autodoc.toml").write_text("[card]\nlabels = ['a', 'b']\n", encoding="utf-8")
    report, _ = document(classifier(7, 7))
    assert [item["code"] for item in report["diagnostics"]] == ["labels-mismatch"]


def test_requirements_and_prices():
    done = invoke(
        "recommend", RESNET, "--deployment-target", "edge", "--precision", "fp16", "--target-latency", "20ms",
        "--out-json", "q.json", "--out-md", "q.md",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found = json.loads(Path("q.json").read_bytes())
    report, card = document(RESNET, "--requirements", "q.json", "--hardware", "l4", "--price-per-hour", "3.6")
    tiers = report["system_requirements"]["tiers"]
    assert [tier["device_name"] for tier in tiers] == [
        found[tier]["device_name"] for tier in ("minimum", "recommended", "optimal")
    ]
    for text in (card, Path("q.md").read_text("utf-8")):
        assert "System requirements" in text
        assert found["recommended"]["device_name"] in text
    estimates = report["hardware_estimates"]
    million = 3.6 / 3600 * estimates["estimated_latency_ms"] / 1e3 * 1e6
    assert estimates["usd_per_million_inferences"] == pytest.approx(million)
    assert "A million inferences cost about" in card
    assert "$" not in card.partition("## Summary")[2]  # it would begin a formula
    Path("q.json").write_text("{}", encoding="utf-8")
    assert invoke("analyze", RESNET, "--requirements", "q.json").exit_code == 1


def test_a_language_model_has_a_section_of_its_service():
    report, card = document(LLAMA, "--hardware", "l4", "--precision", "fp16")
    service = report["serving"]["service"]
    assert service["users_per_replica"] > 1
    assert report["serving"]["decode_tokens_per_s"] > service["tokens_per_s_per_user"]
    assert "## Text generation" in card
    assert f"{service['users_per_replica']:,}" in card
    assert "A million tokens of answers" in card
    plain, card = document(RESNET, "--hardware", "l4")
    assert plain["serving"] is None
    assert "## Text generation" not in card
