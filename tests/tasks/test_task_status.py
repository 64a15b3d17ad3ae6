"""Faults of the client have a status of the client, in tasks as in extractions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from py_autodoc.errors import AnalysisError, OutputError
from py_autodoc.jobs.problems import problem_of

OUTPUTS = Path(__file__).parents[2] / "py_autodoc/outputs/output_files.py"
REFUSED = sorted(set(re.findall(r'_Refusal\(\s*"([a-z-]+)"', OUTPUTS.read_text("utf-8"))) - {"output-failed"})


def test_there_are_refusals():
    assert {"output-is-input", "output-exists", "output-special"} <= set(REFUSED)


@pytest.mark.parametrize("code", [*REFUSED, "output-changed", "two-in-one-file"])
def test_a_refused_name_is_the_clients(code):
    assert problem_of(OutputError(code, "x")).status in (409, 422)


@pytest.mark.parametrize("code", ["session-run", "quantizer-failed", "nothing-to-compare"])
def test_a_model_that_cannot_be_run_is_the_clients(code):
    assert problem_of(AnalysisError(code, "x")).status == 422


def test_what_the_server_fails_at_is_the_servers():
    assert problem_of(OutputError("output-failed", "x")).status == 500
    assert problem_of(AnalysisError("task-died", "x")).status == 500
