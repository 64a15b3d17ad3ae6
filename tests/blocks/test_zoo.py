"""A score over architectures: what is recognised in models whose configuration is known."""

from __future__ import annotations

import zipfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from zoo_truth import TRUTH, Truth

from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis

ZOO = Path(__file__).parent.parent / "data" / "zoo.zip"


@cache
def analysed(name: str) -> Analysis:
    with zipfile.ZipFile(ZOO) as zoo:
        return run_analysis(zoo.read(f"{name}.onnx"), Options(assume=True))


def recognised(name: str) -> Truth:
    """What the analysis says of a model, as a row of the table."""
    found = analysed(name).structure
    kinds = Counter(block.kind for block in found.blocks)
    return Truth(
        found.verdict.family,
        dict(Counter((layer.kind, layer.heads or 0, layer.kv_heads or 0) for layer in found.attention)),
        kinds["residual"],
        kinds["moe"],
        "+".join(sorted({layer.scheme for layer in found.quantized if layer.scheme and layer.weighted})),
    )


def judged(name: str) -> dict[str, tuple[object, object]]:
    """Field → (found, true) where they differ."""
    found, true = recognised(name)._asdict(), TRUTH[name]._asdict()
    return {key: (found[key], true[key]) for key in true if true[key] is not None and found[key] != true[key]}


@pytest.mark.parametrize("name", TRUTH)
def test_recognised(name):
    assert judged(name) == {}


@pytest.mark.parametrize("name", TRUTH)
def test_no_recogniser_gave_up(name):
    assert analysed(name).structure.gave_up == ()


def test_every_model_has_a_row():
    with zipfile.ZipFile(ZOO) as zoo:
        assert {name.removesuffix(".onnx") for name in zoo.namelist()} == set(TRUTH)


def test_score(capsys):
    """One point a fact that the configuration tells."""
    facts = {name: sum(value is not None for value in true) for name, true in TRUTH.items()}
    wrong = {name: judged(name) for name in TRUTH}
    points, most = sum(facts.values()) - sum(map(len, wrong.values())), sum(facts.values())
    with capsys.disabled():
        print(f"\nrecognition: {points} of {most} facts of {len(TRUTH)} models")
    assert points == most
