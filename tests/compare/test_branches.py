"""Branches with the same operators and dimensions are told apart by what reads them, whatever their names."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from py_autodoc.compare.align import align
from py_autodoc.report.pipeline.analysis import Options, run_analysis

COUNT = 4


def heads(kind: str, order: list[int], depth: int, start: bool = False, end: bool = False) -> onnx.ModelProto:
    """Chains of convolutions, written and numbered in ``order``, whose readers differ as ``kind`` says."""
    constants, nodes = [], []
    source = "x"
    if start:
        nodes.append(helper.make_node("Sin", ["x"], ["s"]))
        source = "s"
    branches: dict[int, str] = {}
    for position, branch in enumerate(order):
        value = source
        for level in range(depth):
            weight = np.random.default_rng(level).normal(size=(3, 3, 3, 3)).astype(np.float32)
            constants.append(numpy_helper.from_array(weight, f"w{position}_{level}"))
            name = f"b{position}_{level}"
            nodes.append(helper.make_node("Conv", [value, f"w{position}_{level}"], [name], pads=[1] * 4))
            nodes[-1].name = f"conv{position}_{level}"
            value = name
        branches[branch] = value
    results = []
    for branch in range(COUNT):
        value, result = branches[branch], f"r{branch}"
        if kind == "operator":
            nodes.append(helper.make_node(["Sigmoid", "Tanh", "Exp", "Softplus"][branch], [value], [result]))
        elif kind == "attribute":
            nodes.append(helper.make_node("LeakyRelu", [value], [f"l{branch}"], alpha=0.1 * (branch + 1)))
            nodes.append(helper.make_node("Exp", [f"l{branch}"], [result]))
        elif kind == "constant":
            constants.append(numpy_helper.from_array(np.array(branch + 1.5, np.float32), f"k{branch}"))
            nodes.append(helper.make_node("Pow", [value, f"k{branch}"], [result]))
        else:
            nodes.append(helper.make_node("Neg", [value], [result]))
        results.append(result)
    outputs = results
    if kind != "output":
        value = results[0]
        for branch, result in enumerate(results[1:]):
            nodes.append(helper.make_node("Sub", [value, result], [f"d{branch}"]))
            value = f"d{branch}"
        if end:
            nodes.append(helper.make_node("Cos", [value], ["c"]))
            value = "c"
        outputs = [value]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", 1, [1, 3, 8, 8])], [info(name, 1, None) for name in outputs], constants
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("changed", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 9])
@pytest.mark.parametrize("kind", ["operator", "attribute", "constant", "output", "operand"])
@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 3, 0, 2]], ids=str)
def test_readers_decide_against_names_in_another_order(kind, order, depth, changed):
    protos = heads(kind, list(range(COUNT)), depth), heads(kind, order, depth, *changed)
    alignment = align(*(run_analysis(proto, Options(assume=True)) for proto in protos))
    first, second = (
        [node.id for node in side.model.nodes if node.op_type == "Conv"] for side in alignment.sides
    )
    branch = {node: order[number // depth] for number, node in enumerate(second)}
    found = {
        left: [branch[node] for node in pair.right if node in branch]
        for pair in alignment.pairs
        for left in pair.left
    }
    assert [found[node] for node in first] == [[number // depth] for number in range(len(first))]
    assert [detail for pair in alignment.pairs for detail in pair.details] == []
