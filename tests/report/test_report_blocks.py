"""Blocks of the report: modules and recognised structures, their sums, and how they nest."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from builders import loop, model, weight
from onnx import helper

from py_autodoc import analyze
from py_autodoc.report.document.block_counts import block_counts
from py_autodoc.report.module_tree.containment import structural_parents, with_bodies
from py_autodoc.report.pipeline.analysis import run_analysis

DATA = "tests/data"


@pytest.fixture(scope="module")
def bert():
    return analyze(f"{DATA}/stripped/bert_base.stripped.onnx")


def mlp():
    """x + W₂·relu(W₁·x), named like one module."""
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="/block/up/MatMul"),
        helper.make_node("Relu", ["a"], ["b"], name="/block/Relu"),
        helper.make_node("MatMul", ["b", "w2"], ["c"], name="/block/down/MatMul"),
        helper.make_node("Add", ["c", "x"], ["y"], name="/Add"),
    ]
    weights = [weight("w1", 4, 16), weight("w2", 16, 4)]
    return model(nodes, [("x", [2, 4])], [("y", [2, 4])], weights)


def test_structures_come_after_modules_and_know_what_holds_them():
    report = analyze(mlp())
    rows = [(b.id, b.parent, b.kind, b.name, b.how, b.nodes) for b in report.blocks]
    assert rows == [
        (0, None, "module", "block", "name", [0, 1, 2]),
        (1, 0, "module", "block/up", "name", [0]),
        (2, 0, "module", "block/down", "name", [2]),
        (3, None, "residual", "residual 1", "structure", [0, 1, 2, 3]),
        (4, 0, "mlp", "mlp 1", "structure", [0, 1, 2]),
    ]


def test_sums_are_those_of_the_layers():
    report = analyze(mlp())
    found = {block.kind: block for block in report.blocks if block.kind != "module"}
    first, relu, second, add = report.layers
    assert found["mlp"].macs == first.macs + second.macs == 2 * 4 * 16 * 2
    assert found["mlp"].params == 128
    assert found["mlp"].weight_bytes == 512
    assert found["residual"].flops == first.flops + relu.flops + second.flops + add.flops
    assert found["residual"].read_bytes == sum(layer.read_bytes for layer in report.layers)
    assert found["residual"].write_bytes == sum(layer.write_bytes for layer in report.layers)
    assert found["mlp"].facts["hidden"] == 16


def test_every_block_of_a_large_model_adds_up(bert):
    layers = {layer.id: layer for layer in bert.layers}
    for block in bert.blocks:
        inside = [layers[number] for number in block.nodes]
        assert block.params == sum(layer.params for layer in inside)
        assert block.macs == sum(layer.macs or 0 for layer in inside)
        assert block.flops == sum(layer.flops or 0 for layer in inside)
        assert block.weight_bytes == sum(layer.weight_bytes or 0 for layer in inside)
        assert block.read_bytes == sum(layer.read_bytes or 0 for layer in inside)


def test_parents_hold_their_children(bert):
    for place, block in enumerate(bert.blocks):
        assert block.id == place
        if block.parent is not None:
            parent = bert.blocks[block.parent]
            assert set(block.nodes) <= set(parent.nodes)
            assert parent.id != block.id
            if block.kind == "module":
                assert (parent.kind, parent.id < block.id) == ("module", True)


def test_counts_of_bert(bert):
    counts = Counter(block.kind for block in bert.blocks if block.kind != "module")
    assert counts == {"attention": 12, "mlp": 12, "residual": 24, "normalization": 25, "embedding": 1}
    line = block_counts(bert.blocks)
    assert line == "12 attention · 12 mlp · 24 residual · 25 normalization · 1 embedding"


def test_attention_is_a_block_with_its_sizes(bert):
    layers = [block for block in bert.blocks if block.kind == "attention"]
    assert {(b.facts["heads"], b.facts["head_dim"], b.variant) for b in layers} == {(12, 64, "unfused")}
    assert all(bert.blocks[block.parent].kind in ("residual", "module") for block in layers)


def test_a_model_without_names_has_structures():
    report = analyze(f"{DATA}/models/ppocr_v4_det.onnx")
    counts = Counter(block.kind for block in report.blocks)
    assert (counts["residual"], counts["squeeze-excite"], counts["depthwise-separable"]) == (8, 10, 14)
    gates = [block for block in report.blocks if block.kind == "squeeze-excite"]
    inner = Counter(block.kind for block in report.blocks if block.parent in {gate.id for gate in gates})
    assert inner == {"conv": 20}


def test_free_sizes_leave_sums_unknown_not_zero():
    report = analyze(f"{DATA}/stripped/resnet50_dyn.stripped.onnx")
    assert report.metrics.total_macs is None
    residuals = [block for block in report.blocks if block.kind == "residual"]
    assert len(residuals) == 16
    assert {block.macs for block in residuals} == {None}
    assert all(block.params > 0 for block in residuals)


def test_the_body_of_a_loop_belongs_to_its_node():
    model = run_analysis(loop(5).SerializeToString()).model
    (outer,) = [node.id for node in model.nodes if node.op_type == "Loop"]
    (step,) = [node.id for node in model.nodes if node.name == "step"]
    inside = with_bodies(model, [outer])
    assert {outer, step} <= set(inside)
    assert all(model.nodes[n].op_type != "Constant" for n in inside)
    assert with_bodies(model, [step]) == [step]


def test_blocks_survive_the_wire(bert):
    again = type(bert).from_json(bert.to_json())
    assert again.blocks == bert.blocks
    assert msgspec.json.decode(bert.to_json())["blocks"][-1]["kind"] in ("normalization", "residual", "mlp")


def test_nesting_takes_the_smallest_holder_and_leaves_equals_alone():
    sets = [[1, 2, 3, 4, 5], [2, 3, 4], [3], [4, 5, 6], [2, 3, 4], []]
    parents = structural_parents(sets)
    assert parents[:2] == [-1, 0]
    assert parents[2] in (1, 4)
    assert parents[3] == -1
    assert parents[4] == 0
    assert parents[5] == -1
