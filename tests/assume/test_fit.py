"""Assumed sizes fit the model they are for."""

from __future__ import annotations

from pathlib import Path

import pytest
from assumed_models import MADE, NEVER, Made
from assumed_runs import fault

import py_autodoc
from py_autodoc.report.document.report import Report


def assumed(made: Made, folder: Path, **options: object) -> tuple[Path, Report]:
    path = folder / "made.onnx"
    path.write_bytes(made.bytes())
    return path, py_autodoc.analyze(path, **{"assume": True, **options})


def sizes(report: Report) -> dict[str, int | None]:
    return {dim.name: dim.value for dim in report.dims}


@pytest.mark.parametrize("name", MADE)
def test_made_models_run_at_their_assumed_sizes(name, tmp_path):
    made = MADE[name]
    path, report = assumed(made, tmp_path)
    found = sizes(report)
    assert {symbol: found[symbol] for symbol in made.sizes} == made.sizes
    assert not fault(path, found)
    assert all(dim.assumed and dim.suggested == dim.value for dim in report.dims)
    follows = {dim.name: dim.follows.factors for dim in report.dims if dim.follows is not None}
    assert {symbol: follows.get(symbol) for symbol in made.ties} == made.ties


def test_sizes_that_never_fit_are_not_shown(tmp_path):
    _, report = assumed(NEVER, tmp_path)
    (dim,) = report.dims
    assert (dim.value, dim.assumed, dim.suggested) == (None, False, None)
    (found,) = [d for d in report.diagnostics if d.code == "no-fitting-sizes"]
    assert "Reshape" in found.message
    assert found.node is not None


def test_what_belongs_together_is_bound_together(tmp_path):
    _, report = assumed(MADE["cache without names"], tmp_path, bindings={"input_ids_d1": 1, "past_key_d2": 7})
    found = {dim.name: (dim.value, dim.assumed) for dim in report.dims}
    assert found["attention_mask_d1"] == (8, False)
    assert found["past_key_d0"] == (1, True)
    _, report = assumed(MADE["vad"], tmp_path, bindings={"state_d1": 3}, assume=False)
    assert sizes(report)["input_d0"] == 3


def test_the_others_fit_the_given_sizes(tmp_path):
    _, report = assumed(MADE["a baked product"], tmp_path, bindings={"b": 5})
    assert sizes(report) == {"b": 5, "s": 2}
    _, report = assumed(MADE["patches with stored positions"], tmp_path, bindings={"H": 128})
    assert sizes(report)["W"] == 1152
    _, report = assumed(MADE["a baked product"], tmp_path, bindings={"b": 3})
    assert sizes(report) == {"b": 3, "s": None}
    assert [d.code for d in report.diagnostics if d.code == "no-fitting-sizes"]


def test_suggestions_stay_what_they_were_when_sizes_are_given(tmp_path):
    _, report = assumed(MADE["U-Net of stride 32"], tmp_path, bindings={"H": 64, "W": 64, "N": 2})
    assert {dim.name: dim.suggested for dim in report.dims} == {"N": 1, "H": 224, "W": 224}


def test_a_step_of_one_token_has_a_cache():
    """A file whose ids are one token by itself; with other lengths the cache begins empty."""
    report = py_autodoc.analyze("ui-tests/models/llama_cache.onnx", assume=True)
    assert sizes(report) == {"s16": 128}
