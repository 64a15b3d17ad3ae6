"""Structural blocks in the payload say what the report's say."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest

from py_autodoc.report.builders.block_section import MODULE, blocks
from py_autodoc.report.module_tree.scope_tree import scope_tree
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload import block_columns

DATA = Path(__file__).resolve().parents[1] / "data"
MODELS = [
    "models/silero_vad_half.onnx",
    "models/ppocr_v4_det.onnx",
    "stripped/bert_base.stripped.onnx",
    "stripped/llama_gqa_small.stripped.onnx",
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda name: Path(name).stem)
def analysis(request):
    return run_analysis(DATA / request.param, Options(assume=True))


def test_are_those_of_the_report(analysis):
    columns = block_columns.block_columns(analysis)
    report = [b for b in blocks(analysis, scope_tree(analysis.model)) if b.kind != MODULE]
    assert len(report) > 3
    assert len(columns.what) == len(report) == len(columns.offsets) - 1
    for place, block in enumerate(report):
        kind = columns.kinds[columns.what[place]]
        assert (kind.kind, kind.variant, kind.how) == (block.kind, block.variant, block.how)
        assert kind.confidence == block.confidence
        assert [(k, type(v), v) for k, v in kind.facts.items()] == [
            (k, type(v), v) for k, v in block.facts.items()
        ]
        steps = columns.nodes[columns.offsets[place] : columns.offsets[place + 1]]
        assert list(accumulate(steps)) == block.nodes


def test_alike_blocks_share_their_kind(analysis):
    columns = block_columns.block_columns(analysis)
    assert sorted(set(columns.what)) == list(range(len(columns.kinds)))
    assert len(columns.kinds) < len(columns.what)


def test_too_much_is_left_out_as_a_whole(analysis, monkeypatch):
    monkeypatch.setattr(block_columns, "MAX_NODES", 5)
    assert block_columns.block_columns(analysis) is None
