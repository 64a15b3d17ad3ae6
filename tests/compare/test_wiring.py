"""What counterparts read: another source is a change, another order of equal sums or another name is none."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.compare.align import AlignmentVerdict, align
from py_autodoc.compare.changes import Change
from py_autodoc.compare.summary import rows
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
HALVES = numpy_helper.from_array(np.array([4, 4], np.int64), "halves")


def n(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), f"{op}_{outputs.split()[0]}", **attributes)


def saved(path, nodes, outputs="y"):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, [2, 8]), info("z", TensorProto.FLOAT, [2, 8])],
        [info(name, TensorProto.FLOAT, None) for name in outputs.split()],
        [HALVES],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def compared(folder, left, right, outputs="y"):
    models = saved(folder / "a.onnx", left, outputs), saved(folder / "b.onnx", right, outputs)
    return align(*(run_analysis(str(path)) for path in models))


ENDS = [n("Relu", "x", "a"), n("Exp", "z", "b")]
SPLIT = [n("Split", "x halves", "a b", axis=1)]
REWIRED = {
    "order of a difference": (ENDS, "Sub", "a b", "b a", "Relu_a, Exp_b", "Exp_b, Relu_a"),
    "order of parts": (ENDS, "Concat", "a b", "b a", "Relu_a, Exp_b", "Exp_b, Relu_a"),
    "halves": (SPLIT, "Sub", "a b", "b a", "Split_a output 0, Split_a output 1",
               "Split_a output 1, Split_a output 0"),
    "one half twice": (SPLIT, "Add", "a b", "a a", "Split_a output 1", "Split_a output 0"),
    "another source": (ENDS, "Add", "a b", "a x", "Exp_b", "x"),
    "an input": (ENDS, "Add", "a x", "a z", "x", "z"),
}  # fmt: skip


@pytest.mark.parametrize("name", REWIRED)
def test_another_source_is_a_change(name, tmp_path):
    before, op, first, second, left, right = REWIRED[name]
    options = {"axis": 1} if op == "Concat" else {}
    found = compared(
        tmp_path, [*before, n(op, first, "y", **options)], [*before, n(op, second, "y", **options)]
    )
    told = [one for pair in found.pairs for one in pair.details]
    assert [(one.kind, one.left, one.right) for one in told] == [(Change.INPUTS, left, right)]
    assert found.verdict is AlignmentVerdict.SIMILAR
    assert not found.same
    assert [(row.kind, row.what) for row in rows(found) if row.kind == "inputs"] == [
        ("inputs", f"reads {left} → {right} ({op}_y)")
    ]


@pytest.mark.parametrize("op", ["Add", "Mul", "Max", "And"])
def test_the_order_of_a_sum_is_none(op, tmp_path):
    before = ENDS
    if op == "And":
        before = [*ENDS, n("Cast", "a", "p", to=9), n("Cast", "b", "q", to=9)]
    first, second = ("p q", "q p") if op == "And" else ("a b", "b a")
    assert compared(tmp_path, [*before, n(op, first, "y")], [*before, n(op, second, "y")]).same


def test_something_between_is_added_and_changes_no_wire(tmp_path):
    left = [*ENDS, n("Sub", "a b", "y")]
    right = [*ENDS, n("Sin", "a", "s"), n("Cos", "s", "c"), n("Sub", "c b", "y")]
    found = compared(tmp_path, left, right)
    assert len(found.only_right) == 2
    assert not any(pair.details for pair in found.pairs)


def test_outputs_that_change_places(tmp_path):
    found = compared(
        tmp_path,
        [n("Relu", "x", "y"), n("Exp", "z", "w")],
        [n("Relu", "x", "w"), n("Exp", "z", "y")],
        "y w",
    )
    assert [(one.what, one.left, one.right) for one in found.interface] == [
        ("output y from", "Relu_y", "Exp_y"),
        ("output w from", "Exp_w", "Relu_w"),
    ]
    parts = [[n("Split", "x halves", out, axis=1)] for out in ("y w", "w y")]
    found = compared(tmp_path, *parts, "y w")
    assert [one.left for one in found.interface] == ["Split_y output 0", "Split_y output 1"]


def test_inputs_in_another_order_are_paired_by_name_and_said(tmp_path):
    path = saved(tmp_path / "a.onnx", [*ENDS, n("Sub", "a b", "y")])
    model = onnx.load(path)
    puts = list(model.graph.input)[::-1]
    del model.graph.input[:]
    model.graph.input.extend(puts)
    onnx.save(model, tmp_path / "b.onnx")
    found = align(run_analysis(str(path)), run_analysis(str(tmp_path / "b.onnx")))
    assert [(one.what, one.left, one.right) for one in found.interface] == [
        ("order of inputs", "x, z", "z, x")
    ]
    assert not found.same
    assert all(not pair.details for pair in found.pairs)


def test_a_pipeline_can_refuse_it(tmp_path):
    paths = [saved(tmp_path / f"{wires[0]}.onnx", [*ENDS, n("Sub", wires, "y")]) for wires in ("a b", "b a")]
    for word in ("inputs", "architecture"):
        done = CliRunner().invoke(app, ["compare", *map(str, paths), "--fail-on", word])
        assert done.exit_code == 5, done.output
        assert word in done.stdout


def _bodies_turned(model):
    for node in model.graph.node:
        attributes = sorted(node.attribute, key=lambda one: one.name, reverse=True)
        del node.attribute[:]
        node.attribute.extend(attributes)


@pytest.mark.parametrize("name", ["silero_vad_half", "bert_tiny", "resnet_tiny", "mamba_tiny"])
def test_equal_branches_are_not_paired_crosswise(name, tmp_path):
    """In another order, with bodies stored the other way round."""
    model = onnx.load(MODELS / f"{name}.onnx", load_external_data=False)
    _bodies_turned(model)
    draw = random.Random(1)
    made, rest = set(), list(model.graph.node)
    outputs = {name for node in rest for name in node.output}

    def reads(graph):
        for node in graph.node:
            yield from node.input
            for one in node.attribute:
                yield from reads(one.g)

    needs = {id(node): set(node.input) | {r for a in node.attribute for r in reads(a.g)} for node in rest}
    order = []
    while rest:
        free = [node for node in rest if not (needs[id(node)] & outputs) - made]
        node = draw.choice(free)
        rest.remove(node)
        order.append(node)
        made.update(node.output)
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in order]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, tmp_path / "shuffled.onnx")
    options = Options(assume=True)
    found = align(
        run_analysis(str(MODELS / f"{name}.onnx"), options),
        run_analysis(str(tmp_path / "shuffled.onnx"), options),
    )
    assert [one for pair in found.pairs for one in pair.details] == []
    assert found.same
