"""What parts of repeats are called where the model has no names."""

from __future__ import annotations

import onnx
import pytest

from py_autodoc.blocks.results import RecognisedBlock
from py_autodoc.report.builders.repeat_section import repeats
from py_autodoc.report.encode.block_titles import Titles, block_title
from py_autodoc.report.pipeline.analysis import run_analysis


def nameless(path: str) -> onnx.ModelProto:
    proto = onnx.load(path, load_external_data=False)
    for number, node in enumerate(proto.graph.node):
        node.name = f"n{number}"
        del node.metadata_props[:]
    return proto


@pytest.mark.parametrize(
    ("model", "name", "count"),
    [
        ("bert_base", "Transformer layer", 12),
        ("llama_gqa_small", "Transformer layer", 8),
        ("resnet50", "Residual", 5),
    ],
)
def test_a_repeat_is_called_what_it_is(model, name, count):
    first = repeats(run_analysis(nameless(f"tests/data/stripped/{model}.stripped.onnx")))[0]
    assert (first.name, first.count) == (name, count)


def test_names_of_the_model_come_first():
    first = repeats(run_analysis("tests/data/stripped/bert_base.stripped.onnx"))[0]
    assert first.name == "BertLayer"


def test_a_small_block_does_not_stand_for_the_whole_part():
    titles = Titles(
        [
            RecognisedBlock("mlp", (1, 2), 2),
            RecognisedBlock("attention", (7, 8), 7),
            RecognisedBlock("residual", (0, 9), 9, "gated"),
        ]
    )
    assert titles.instance_title((0, 1, 2, 3, 4)) == ""
    assert titles.instance_title((1, 2, 3)) == "MLP"
    assert titles.instance_title((7, 8)) == "Attention layer"
    assert titles.instance_title((1, 2, 7, 8)) == "Transformer layer"
    assert titles.instance_title((0, 9)) == "Residual (gated)"
    assert titles.instance_title((0, 1)) == "", "a block that reaches out of the part is none of it"
    assert block_title(RecognisedBlock("residual", (0,), 0, "plain")) == "Residual"


@pytest.mark.parametrize(
    ("inside", "title"),
    [
        (["attention"], "Attention block"),
        (["attention", "normalization"], "Attention block"),
        (["mlp"], "Feed-forward block"),
        (["gated-mlp", "normalization"], "Feed-forward block"),
        (["moe"], "Feed-forward block"),
        (["attention", "mlp"], "Transformer layer"),
        (["state-space", "normalization"], "State-space layer"),
        (["conv", "mlp"], "Residual (pre-activation)"),
        (["conv"], "Residual (pre-activation)"),
        ([], "Residual (pre-activation)"),
    ],
)
def test_a_residual_is_named_by_what_is_in_it(inside, title):
    whole = RecognisedBlock("residual", tuple(range(9)), 8, "pre-activation")
    parts = [RecognisedBlock(kind, (at, at + 1), at) for at, kind in enumerate(inside)]
    assert Titles([whole, *parts]).of(whole) == title


def test_a_residual_around_cross_attention_says_so():
    """Its keys and values come from outside."""
    whole = RecognisedBlock("residual", (0, 1, 2), 2, "plain")
    cross = RecognisedBlock("attention", (0, 1, 7), 0, facts={"kind": "cross"})
    assert Titles([whole, cross]).of(whole) == "Cross-attention block"
