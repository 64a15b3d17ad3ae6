"""What the rules find on the models of the tests; refresh with ``scripts/findings_table.py --write``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, "scripts")
try:
    import findings_table as made
finally:
    sys.path.remove("scripts")

SNAPSHOT = json.loads(made.SNAPSHOT.read_text("utf-8"))
MODELS = {f"{path.parent.name}/{path.stem}": path for path in made.models()}


def test_every_model_is_in_the_table():
    assert list(SNAPSHOT) == list(MODELS)
    assert len(MODELS) > 40


@pytest.mark.parametrize("name", MODELS)
def test_findings(name):
    assert made.found(MODELS[name]) == SNAPSHOT[name]


def test_every_severe_finding_is_explained():
    known = made.reasons()
    assert made.unexplained(SNAPSHOT, known) == []
    assert made.unused(SNAPSHOT, known) == []


def test_the_page_is_generated():
    assert Path("docs/findings.md").read_text("utf-8") == made.page(SNAPSHOT, made.reasons())
