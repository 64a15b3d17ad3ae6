"""The framework: guard, order, bounds, settings, and that every rule is documented and tested."""

from __future__ import annotations

import ast
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import helper
from rule_help import model, whole

from py_autodoc import analyze
from py_autodoc.errors import InputError, OptionError, PathError, RequirementError
from py_autodoc.findings import registry, thresholds
from py_autodoc.findings.docs import SECTIONS, document
from py_autodoc.findings.registry import SEVERITIES, Finding, Rule, rules
from py_autodoc.findings.run import MAX_FINDINGS, MAX_NODES
from py_autodoc.findings.thresholds import settings
from py_autodoc.limits import THRESHOLDS_FILE
from py_autodoc.report.pipeline.analysis import Options, run_analysis

RULES = sorted(rules())
HERE = Path(__file__).parent


def chain(count=3):
    """``count`` Relu nodes."""
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(count)]
    return model(nodes, [("x0", [2])], [(f"x{count}", [2])])


@pytest.fixture
def registered(monkeypatch):
    """Adds rules for one test."""
    monkeypatch.setattr(registry, "_RULES", dict(registry._RULES))

    def add(id, check, severities=SEVERITIES, **limits):
        registry._RULES[id] = Rule(id, "A test", severities, check, limits, sys.modules[__name__])

    return add


def test_a_rule_that_fails_costs_only_itself(registered):
    def broken(ctx):
        yield Finding("high", "Never seen.", "None.")
        raise ZeroDivisionError("x")

    registered("aa-broken", broken)
    registered("ab-fine", lambda ctx: [Finding("low", "Seen.", "Do.", (0,), {"n": 1})])
    analysis = run_analysis(chain())
    assert [item.rule for item in analysis.findings if item.rule.startswith("a")] == ["ab-fine"]
    (note,) = [d for d in analysis.diagnostics if d.code == "rule-failed"]
    assert note.severity == "warning"
    assert "aa-broken failed (ZeroDivisionError)" in note.message
    assert not analysis.partial


def test_a_severity_that_was_not_declared_is_a_failure(registered):
    registered("aa-loud", lambda ctx: [Finding("high", "x.", "y.")], ("low",))
    assert "rule-failed" in {d.code for d in run_analysis(chain()).diagnostics}


def test_worst_first_then_by_rule(registered):
    def some(*severities):
        return lambda ctx: [Finding(s, f"{s}.", "Do.") for s in severities]

    registered("zz-one", some("info", "high", "low"))
    registered("aa-two", some("low", "medium"))
    order = [(f.severity, f.rule) for f in run_analysis(chain()).findings if f.rule in ("zz-one", "aa-two")]
    assert order == [
        ("high", "zz-one"), ("medium", "aa-two"), ("low", "aa-two"), ("low", "zz-one"), ("info", "zz-one"),
    ]  # fmt: skip


def test_nodes_and_findings_are_bounded(registered):
    def many(ctx):
        nodes = (*ctx.flow.order, *ctx.flow.order)
        yield from (Finding("info", "x.", "y.", nodes) for _ in range(MAX_FINDINGS + 5))
        yield Finding("high", "The last.", "y.", nodes[:2])

    registered("aa-many", many)
    report = analyze(chain(MAX_NODES + 7))
    mine = [signal for signal in report.risk_signals if signal.id == "aa-many"]
    assert len(mine) == MAX_FINDINGS
    assert (mine[0].severity, mine[0].nodes, mine[0].evidence) == ("high", [0, 1], {})
    assert mine[1].nodes == list(range(MAX_NODES))
    assert mine[1].evidence == {"nodes_total": MAX_NODES + 7}
    assert "findings-cut" in {d.code for d in report.diagnostics}


def test_settings_reach_the_rules(registered):
    registered(
        "aa-sized", lambda ctx: [Finding("low", f"{ctx.thresholds['aa-sized']}.", "y.")], size=3, part=0.5
    )

    def message(overrides):
        found = [f for f in whole(chain(), overrides).findings if f.rule == "aa-sized"]
        return [(f.severity, f.message) for f in found]

    assert message(None) == [("low", "{'size': 3, 'part': 0.5}.")]
    assert message({"aa-sized": {"size": 7, "part": 1}}) == [("low", "{'size': 7, 'part': 1}.")]
    assert message({"aa-sized": {"severity": "high"}})[0][0] == "high"
    assert message({"aa-sized": {"enabled": False}}) == []
    assert message({"aa-sized": {"enabled": True}, "floor": "low"}) != []
    assert message({"floor": "medium"}) == []
    assert message({"floor": "medium", "aa-sized": {"severity": "medium"}}) != []


@pytest.mark.parametrize(
    ("overrides", "code", "words"),
    [
        ({"large-embeding": {}}, "unknown-rule", "large-embedding"),
        ({"qqqq": {}}, "unknown-rule", "onnx-autodoc rule"),
        ({"large-embedding": {"min_byte": 1}}, "unknown-threshold", "min_bytes"),
        ({"large-embedding": 3}, "bad-threshold", "table"),
        ({"large-embedding": {"min_bytes": 1.5}}, "bad-threshold", "whole number"),
        ({"large-embedding": {"min_bytes": True}}, "bad-threshold", "whole number"),
        ({"large-embedding": {"min_bytes": "1"}}, "bad-threshold", "whole number"),
        ({"large-embedding": {"min_bytes": -1}}, "bad-threshold", "0 or more"),
        ({"large-embedding": {"major_share": float("nan")}}, "bad-threshold", "number"),
        ({"large-embedding": {"major_share": None}}, "bad-threshold", "number"),
        ({"large-embedding": {"severity": "loud"}}, "bad-threshold", "medium"),
        ({"large-embedding": {"enabled": 1}}, "bad-threshold", "true or false"),
        ({"floor": 3}, "bad-threshold", "medium"),
    ],
)
def test_wrong_settings_are_told(overrides, code, words):
    with pytest.raises(OptionError) as caught:
        settings(overrides)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_files(tmp_path):
    (tmp_path / "t.json").write_text('{"large-embedding": {"min_bytes": 7}, "floor": "low"}')
    chosen = settings(tmp_path / "t.json")
    assert chosen.thresholds["large-embedding"]["min_bytes"] == 7
    assert chosen.thresholds["large-embedding"]["major_share"] == 0.5
    assert chosen.floor == "low"
    assert set(chosen.thresholds) == set(RULES)
    (tmp_path / "t.toml").write_text('floor = "low"\n[large-embedding]\nmin_bytes = 7\n')
    if sys.version_info >= (3, 11):
        assert settings(str(tmp_path / "t.toml")) == replace(chosen, source="t.toml")


def test_toml_without_a_reader(tmp_path, monkeypatch):
    (tmp_path / "t.toml").write_text("")
    monkeypatch.setattr(thresholds, "find_spec", lambda name: None)
    with pytest.raises(RequirementError, match=r"t\.toml.*Python 3\.11.*json"):
        settings(tmp_path / "t.toml")


@pytest.mark.parametrize("text", ["", "[", "[1]", "{", "3", "[" * 100_000, "\udc80"])
@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_damaged_files(tmp_path, text, suffix):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    if (text, suffix) == ("", "toml"):
        assert settings(path) == replace(settings(), source="t.toml")
        return
    if (text, suffix) == ("[1]", "toml"):
        with pytest.raises(InputError):
            settings(path)
        return
    with pytest.raises(OptionError) as caught:
        settings(path)
    assert caught.value.code == "bad-threshold-file"


def test_files_that_are_none(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(PathError):
            settings(path)
    big = tmp_path / "big.json"
    big.write_text(" " * (THRESHOLDS_FILE.bytes + 1))
    with pytest.raises(OptionError, match="too large"):
        settings(big)


def test_api():
    path = "tests/data/stripped/bert_base.stripped.onnx"
    ids = {signal.id for signal in analyze(path).risk_signals}
    assert "large-embedding" in ids
    silent = analyze(path, thresholds={"large-embedding": {"enabled": False}}).risk_signals
    assert {signal.id for signal in silent} == ids - {"large-embedding"}


@pytest.mark.parametrize("id", RULES)
def test_documented(id):
    entry = rules()[id]
    doc = document(entry)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", id)
    assert entry.module.__name__.rpartition(".")[2] == id.replace("-", "_")
    assert tuple(doc.sections) == SECTIONS
    assert all(len(text) > 20 for text in doc.sections.values())
    assert doc.summary.endswith(".")
    assert "\n" not in doc.summary
    assert not doc.title.endswith(".")
    for name in doc.thresholds:
        assert f"`{name}`" in doc.sections["What it finds"], name
    for severity in doc.severities:
        assert f"`{severity}`" in doc.sections["What it finds"], severity


def calls_of_found() -> tuple[set[str], set[str]]:
    """Rules (that a test sees fire, that a test sees silent), by the calls of ``found`` in the tests."""
    fires: set[str] = set()
    silent: set[str] = set()
    for path in HERE.glob("test_rule*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        own = [
            node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RULE"
        ]
        for node in ast.walk(tree):
            calls = [
                call.args[0].value if isinstance(call.args[0], ast.Constant) else own[0]
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("found", "of", "read")
            ]
            if isinstance(node, ast.Assign):
                fires.update(calls)
            elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "[]":
                silent.update(calls)
    return fires, silent


def test_each_has_a_test_that_fires_and_one_that_must_not():
    fires, silent = calls_of_found()
    assert set(RULES) - fires == set()
    assert set(RULES) - silent == set()


def test_pages_are_generated():
    sys.path.insert(0, "scripts")
    try:
        from rule_docs import rule_pages
    finally:
        sys.path.remove("scripts")
    pages = rule_pages()
    assert {path.name for path in Path("docs/rules").glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert Path("docs/rules", name).read_text("utf-8") == text


def test_settings_are_the_same_through_json():
    defaults = {id: dict(entry.thresholds) for id, entry in rules().items()}
    assert settings(json.loads(json.dumps(defaults))) == settings()
    assert Options().thresholds is None
