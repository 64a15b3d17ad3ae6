"""``onnx-autodoc rule`` and ``analyze --thresholds``."""

from __future__ import annotations

import json

from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.findings.registry import rules

MODEL = "tests/data/stripped/bert_base.stripped.onnx"


def run(*args):
    done = CliRunner().invoke(app, [str(a) for a in args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_list():
    code, out, err = run("rule")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(rules())
    listed = json.loads(run("rule", "--json")[1])
    assert {entry["id"]: entry["title"] for entry in listed} == {r.id: r.title for r in rules().values()}


def test_one():
    code, out, _ = run("rule", "large-embedding")
    assert code == 0
    for heading in ("What it finds", "Why it matters", "Example", "Instead", "References", "Thresholds"):
        assert f"\n{heading}\n" in out
    assert "  min_bytes = 50000000\n" in out
    entry = json.loads(run("rule", "large-embedding", "--json")[1])
    assert entry["thresholds"]["min_bytes"] == 50_000_000
    assert entry["severities"] == ["medium", "low"]
    assert list(entry["sections"]) == ["What it finds", "Why it matters", "Example", "Instead", "References"]


def test_a_mistyped_id():
    code, out, err = run("rule", "large-embeding")
    assert (code, out) == (1, "")
    assert err == "error: Unknown rule 'large-embeding'. Did you mean large-embedding?\n"
    assert run("rule", "qqqq")[2] == "error: Unknown rule 'qqqq'. Run `onnx-autodoc rule` to list them.\n"


def test_thresholds(tmp_path):
    path = tmp_path / "t.json"

    def ids(text):
        path.write_text(text)
        code, out, err = run("analyze", MODEL, "--thresholds", path)
        return {signal["id"] for signal in json.loads(out)["risk_signals"]} if code == 0 else (code, err)

    assert "large-embedding" in ids("{}")
    assert "large-embedding" not in ids('{"large-embedding": {"min_bytes": 100000000}}')
    assert ids('{"floor": "high"}') == set()
    code, err = ids('{"large-embeding": {}}')
    assert code == 1
    assert "Did you mean large-embedding?" in err
    assert err.count("\n") == 1
    assert run("analyze", MODEL, "--thresholds", tmp_path / "none.json")[0] == 1
