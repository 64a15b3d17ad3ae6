"""Reading weights, and the rules that need them, over the corpus of bad models: nothing raises."""

from __future__ import annotations

import pytest
from corpus import CASES, Error

from py_autodoc.report.pipeline.analysis import FAILED, Options, run_analysis


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if not isinstance(c.expect, Error) and c.name != "chain-300k"],
    ids=lambda c: c.id,
)
def test_case(case, tmp_path):
    path = case.make(tmp_path)
    analysis = run_analysis(path, Options(read_weights=True))
    codes = {note.code for note in analysis.diagnostics}
    assert not codes & {FAILED, "rule-failed"}
    for note in analysis.diagnostics:
        assert str(tmp_path) not in note.message + note.where
    for finding in analysis.findings:
        assert str(tmp_path) not in repr(finding)
