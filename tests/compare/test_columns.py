"""The alignment as columns: what the viewer reads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import onnx
import pytest
from onnx import helper

from py_autodoc.compare.align import align
from py_autodoc.compare.columns import NOT_MATCHED, comparison_columns
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.schema import ComparisonColumns
from py_autodoc.report.viewer_payload.build_payload import build_payload

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
PAIRS = [
    ("resnet_tiny", "resnet_tiny_qdq_int8"),
    ("bert_tiny", "bert_tiny"),
    ("light_resnet50", "light_squeezenet"),
    ("silero_vad_half", "mamba_tiny"),
]


def analysed(name):
    return run_analysis(str(MODELS / f"{name}.onnx"), Options(assume=True))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_columns_say_what_the_pairs_say(left, right):
    analyses = analysed(left), analysed(right)
    found = align(*analyses)
    made = msgspec.json.decode(msgspec.json.encode(comparison_columns(found)), type=ComparisonColumns)
    for analysis, column in zip(analyses, (made.left, made.right), strict=True):
        assert len(column) == len(build_payload(analysis).nodes.name)
    assert [n for n, pair in enumerate(made.left) if pair == -1] == sorted(found.only_left)
    assert [n for n, pair in enumerate(made.right) if pair == -1] == sorted(found.only_right)
    for number, pair in enumerate(found.pairs):
        assert [n for n, at in enumerate(made.left) if at == number] == sorted(pair.left)
        kinds = {kind for bit, kind in enumerate(made.kinds) if made.changes[number] >> bit & 1}
        assert kinds == {one.kind for one in made.details.get(str(number), [])}
        for mains, nodes in ((made.main_left, pair.left), (made.main_right, pair.right)):
            assert mains[number] in nodes or not nodes
    assert all(int(number) < len(made.changes) for number in made.details)


def test_the_node_that_computes_is_the_main_one():
    left, right = analysed("resnet_tiny"), analysed("resnet_tiny_qdq_int8")
    made = comparison_columns(align(left, right))
    ops = [
        (left.model.nodes[a].op_type, right.model.nodes[b].op_type)
        for a, b in zip(made.main_left, made.main_right, strict=True)
    ]
    convolutions = sum(node.op_type == "Conv" for node in left.model.nodes)
    assert convolutions > 0
    assert Counter(ops)["Conv", "Conv"] == convolutions


def test_blocks_begin_at_what_differs():
    model = onnx.load(MODELS / "resnet_tiny.onnx", load_external_data=False)
    wide = {weight.name for weight in model.graph.initializer if list(weight.dims[2:]) == [3, 3]}
    node = next(node for node in reversed(model.graph.node) if wide & {*node.input})
    for attribute in node.attribute:
        if attribute.name == "dilations":
            attribute.CopyFrom(helper.make_attribute("dilations", [2, 2]))
    left, right = analysed("resnet_tiny"), run_analysis(model, Options(assume=True))
    made = comparison_columns(align(left, right))
    changed = [one for one in made.blocks if one.changed]
    assert changed
    assert any(left.model.nodes[one.first_left].name == node.name for one in changed)
    for one in made.blocks:
        assert (one.first_left >= 0) is (one.left is not None)
        assert (one.first_right >= 0) is (one.right is not None)


def test_constants_take_no_part():
    value = helper.make_tensor("v", 1, [4], [1.0] * 4)
    nodes = [
        helper.make_node("Constant", [], ["c"], value=value),
        helper.make_node("Add", ["x", "c"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(name, 1, [4]) for name in ("x", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", info[:1], info[1:]), opset_imports=[helper.make_opsetid("", 17)]
    )
    analysis = run_analysis(model, Options())
    made = comparison_columns(align(analysis, analysis))
    assert (made.left, made.right) == ([NOT_MATCHED, 0], [NOT_MATCHED, 0])


@pytest.mark.parametrize(
    "names",
    [
        ("resnet_tiny", "resnet_tiny_qdq_int8"),
        ("resnet_tiny_qdq_int8", "resnet_tiny"),
        ("trt_loop", "silero_vad_half"),
        ("bert_tiny", "mamba_tiny"),
    ],
)
def test_an_alignment_needs_no_more_than_a_brief_analysis(names):
    full, brief = (
        [run_analysis(str(MODELS / f"{name}.onnx"), Options(assume=True, brief=short)) for name in names]
        for short in (False, True)
    )
    assert comparison_columns(align(full[0], brief[1])) == comparison_columns(align(*full))
    assert comparison_columns(align(*brief)) == comparison_columns(align(*full))
