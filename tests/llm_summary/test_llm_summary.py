"""Summaries by a language model: grounded, redacted, inert, and gone without harm when the service fails."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from stub import serving

from py_autodoc.cli.app import app
from py_autodoc.llm_summary.facts import facts
from py_autodoc.llm_summary.grounding import MARK, mark_unsupported
from py_autodoc.llm_summary.summarize import plain_text
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).resolve().parents[1] / "data"
TINY, INT8 = DATA / "models/resnet_tiny.onnx", DATA / "models/resnet_tiny_qdq_int8.onnx"
DECODER = DATA / "models/mamba_tiny.onnx"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent anywhere."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith("ONNX_AUTODOC_"):
            monkeypatch.delenv(name)


def analyze(*args):
    done = CliRunner().invoke(app, ["analyze", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def asking(service, *more):
    return ("--llm-summary", "--llm-url", service.url, "--llm-model", "small", *more)


FACTS = {
    "parameters": 109_482_240, "macs": 11_174_680_000, "weight_bytes": 436_500_000, "latency_ms": 4.13,
    "coverage": 0.987, "shape": [1, 3, 224, 224], "opset": 17, "text": "12 heads of 64",
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "109 M parameters", "109M parameters", "109.5 million", "109,482,240 parameters", "11.2 GMACs",
        "11.17 G MACs", "11 billion", "436.5 MB", "437 MB", "416.3 MiB", "4.1 ms", "4.13ms", "4130 µs",
        "98.7 %", "98.7%", "99 percent", "224×224", "1x3x224x224", "opset 17",
        "int8 weights of Conv2d", "12 heads",
        "1. First\n2. Second", "n9999 is the heaviest", "1.1e10 MACs",
    ],
)  # fmt: skip
def test_numbers_of_the_facts_are_grounded(text):
    assert mark_unsupported(text, FACTS) == (text, [])


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("110 M parameters", ["110 M"]), ("109 parameters", ["109"]), ("109 G", ["109 G"]),
        ("436.6 MB", ["436.6 MB"]), ("4.2 ms", ["4.2 ms"]), ("97 %", ["97 %"]), ("225", ["225"]),
        ("It takes 5 ms, or 5 ms.", ["5 ms"]), ("about 3.5 times", ["3.5"]), ("109,482,241", ["109,482,241"]),
        ("a price of $7", ["7"]), ("4.13 s", ["4.13 s"]),
    ],
)  # fmt: skip
def test_other_numbers_are_marked(text, missing):
    found, told = mark_unsupported(text, FACTS)
    assert told == missing
    assert found.count(MARK) >= 1
    assert found.replace(f" {MARK}", "") == text


@given(st.text(max_size=200))
def test_marking_only_adds_marks(text):
    found, told = mark_unsupported(text, FACTS)
    assert bool(told) is (f" {MARK}" in found and found != text)
    if MARK not in text:
        assert found.replace(f" {MARK}", "") == text


@given(st.integers(1, 10**15), st.integers(0, 3))
def test_rounded_numbers_stay_grounded(value, places):
    for letter, scale in (("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        text = f"{value / scale:.{places}f} {letter}"
        assert mark_unsupported(text, {"v": value})[1] == [], text


@given(st.text(max_size=400))
def test_plain_text_has_nothing_that_acts(text):
    made = plain_text(f"see https://evil.example/{text} \x1b[31m\u202e javascript:alert(1) {text}")
    assert not re.search(
        r"https?://|javascript:|[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", made
    )


def test_the_summary_is_in_every_document(tmp_path):
    text = (
        "A **small** net with 55,672 [parameters](https://evil.example).\n\n"
        "<script>alert(1)</script> It has 999 G MACs."
    )
    with serving(text=text) as service:
        out = {kind: tmp_path / f"r.{kind}" for kind in ("json", "md")}
        code, _, err = analyze(TINY, "--out-json", out["json"], "--out-md", out["md"], *asking(service))
    assert (code, err.count("error")) == (0, 0), err
    report = json.loads(out["json"].read_text("utf-8"))
    told = report["llm_summary"]
    assert told["unsupported_numbers"][-1] == "999 G"
    assert told["service"] == service.url.removeprefix("http://")
    assert f"999 G {MARK}" in told["detailed"]
    card = out["md"].read_text("utf-8")
    assert "Summary by a language model" in card
    assert "not measured" in card
    assert "<script>" not in card
    assert "**small**" not in card
    assert "evil.example" not in card
    # The summary by rules is there in any case.
    assert "For a decision" in card


def test_on_a_terminal_and_in_a_pdf(tmp_path):
    from py_autodoc.cli.summary import print_summary
    from py_autodoc.report.document.report import Report

    with serving(text="Brief \x1b[31mred.\n\nMore.") as service:
        code, out, _ = analyze(TINY, *asking(service))
        assert code == 0
        path = tmp_path / "r.pdf"
        assert analyze(TINY, "--out-pdf", path, *asking(service))[0] == 0
    report = Report.from_json(out)
    assert report.llm_summary is not None
    assert report.llm_summary.short == "Brief red."
    assert path.read_bytes().startswith(b"%PDF")
    print_summary(report)


def renamed(path: Path, source: Path) -> tuple[Path, set[str]]:
    """A copy in which every text of the file is one that nobody else writes; those texts."""
    model = onnx.load(source, load_external_data=False)
    words: dict[str, str] = {}

    def word(text: str) -> str:
        return words.setdefault(text, f"Zq{len(words)}Private") if text else text

    def graph(part: onnx.GraphProto) -> None:
        part.name, part.doc_string = word(part.name or "g"), word("doc of " + part.name)
        for node in part.node:
            node.name, node.doc_string = word(node.name or f"node {id(node)}"), word("doc of a node")
            node.input[:] = [word(name) for name in node.input]
            node.output[:] = [word(name) for name in node.output]
            del node.metadata_props[:]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graph(attribute.g)
        for values in (part.input, part.output, part.value_info):
            for value in values:
                value.name = word(value.name)
                for size in value.type.tensor_type.shape.dim:
                    if size.dim_param:
                        size.dim_param = word(size.dim_param)
        for weight in part.initializer:
            weight.name = word(weight.name)

    graph(model.graph)
    model.producer_name, model.domain, model.doc_string = word("producer"), word("domain"), word("model doc")
    del model.metadata_props[:]
    entry = model.metadata_props.add()
    entry.key, entry.value = word("key"), word("value")
    # An operator of somebody's own.
    node = model.graph.node.add()
    node.op_type, node.domain = word("operator"), word("its domain")
    node.input.append(model.graph.input[0].name)
    node.output.append(word("its output"))
    model.opset_import.append(onnx.helper.make_opsetid(node.domain, 1))
    onnx.save(model, path)
    return path, set(words.values()) | {path.stem}


@pytest.mark.parametrize("source", [TINY, INT8, DECODER], ids=lambda path: path.stem)
def test_redacted_names_are_not_sent(tmp_path, source):
    path, names = renamed(tmp_path / "ZqSecretModel.onnx", source)
    assert len(names) > 20
    with serving() as service:
        analyze(path, "--assume", "--redact-names", "--out-json", "-", *asking(service))
        assert service.heard
        for _, headers, body in service.heard:
            sent = body.decode("utf-8") + repr(headers)
            assert not [name for name in names if name in sent]
            assert "Private" not in sent
        told = service.facts()
        assert told["heaviest_layers"][0]["name"].startswith("n")
        assert "custom operator" in told["operators"] or len(told["operators"]) == 20
        # Without redaction the same search finds them: it can fail.
        analyze(path, "--assume", "--out-json", "-", *asking(service))
        sent = service.heard[-1][2].decode("utf-8")
        assert [name for name in names if name in sent]


@pytest.mark.parametrize("redact", [False, True])
def test_what_is_sent_is_bounded(redact):
    model = DATA / "stripped/bert_base.stripped.onnx"
    report = build_report(run_analysis(str(model), Options(assume=True)))
    assert len(json.dumps(facts(report, redact))) < 30_000


def test_numbers_that_are_sent_are_those_of_the_report():
    report = build_report(run_analysis(str(TINY), Options()))
    totals = facts(report)["totals"]
    assert totals["macs"] == report.metrics.total_macs
    assert totals["flops"] == report.metrics.total_flops
    assert totals["parameters"] == report.metrics.total_params
    assert totals["peak_activation_bytes"] == report.metrics.peak_activation_bytes


def test_a_failing_service_loses_only_its_summary(tmp_path):
    path = tmp_path / "card.md"
    with serving(failures=[(401, {})]) as service:
        code, _, err = analyze(TINY, "--out-md", path, *asking(service))
    assert code == 4
    assert err.splitlines()[0] == (
        f"error: No summary from {service.url.removeprefix('http://')}: it refuses the key (HTTP 401). "
        "The summary by rules is complete."
    )
    card = path.read_text("utf-8")
    assert "For a decision" in card
    assert "language model" not in card


def test_mistakes_are_told_before_the_model_is_read(tmp_path):
    missing = tmp_path / "none.onnx"
    code, _, err = analyze(TINY, "--llm-summary")
    assert (code, "--llm-url" in err) == (4, True)  # only the summary is lost
    code, _, err = analyze(TINY, "--redact-names")
    assert (code, "Add --llm-summary." in err) == (1, True)
    code, _, err = analyze(TINY, TINY, "--llm-summary")
    assert (code, "one model" in err) == (1, True)
    with serving() as service:
        code, _, err = analyze(missing, *asking(service))
        assert code == 1
        assert not service.heard


def test_nothing_is_asked_without_the_option(monkeypatch):
    with serving() as service:
        monkeypatch.setenv("ONNX_AUTODOC_LLM_URL", service.url)
        monkeypatch.setenv("ONNX_AUTODOC_LLM_MODEL", "small")
        code, out, _ = analyze(TINY)
        assert code == 0
        assert json.loads(out)["llm_summary"] is None
        assert not service.heard
