"""What only prepares sizes and weights stands with what needs it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.report.box_tree import grouping
from py_autodoc.report.box_tree.grouping import PLUMBING, build_box_tree
from py_autodoc.report.module_tree.module_calls import cyclic_levels, execution_orders
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
value = helper.make_tensor_value_info


def tensor(name: str, *numbers: float, kind: int = TensorProto.INT64) -> onnx.TensorProto:
    return helper.make_tensor(name, kind, [len(numbers)], numbers)


def model(nodes, outputs, weights=(), inputs=("x",)) -> onnx.ModelProto:
    made = [helper.make_node(op, i, o, name or f"{at}") for at, (op, i, o, name) in enumerate(nodes)]
    graph = helper.make_graph(
        made,
        "g",
        [value(name, TensorProto.FLOAT, [2, 3, 4]) for name in inputs],
        [value(name, TensorProto.FLOAT, None) for name in outputs],
        list(weights),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def boxes(proto: onnx.ModelProto) -> list[tuple[list[str], list[str]]]:
    """(labels from the top down, operators) of the boxes of plumbing."""
    analysis = run_analysis(proto, Options())
    tree = build_box_tree(analysis)
    return [
        (tree.path(s), [n.op_type for n in analysis.model.nodes if tree.node[n.id] == s])
        for s, origin in enumerate(tree.origin)
        if origin == PLUMBING
    ]


SIZE = [
    ("Shape", ["x"], ["s"], None),
    ("Gather", ["s", "zero"], ["n"], None),
    ("Concat", ["n", "rest"], ["t"], None),
]
NUMBERS = [tensor("zero", 0), tensor("rest", -1)]


def concat(proto: onnx.ModelProto) -> onnx.ModelProto:
    for node in proto.graph.node:
        if node.op_type == "Concat":
            node.attribute.append(helper.make_attribute("axis", 0))
    return proto


def test_a_size_folds_into_the_node_that_it_is_for():
    proto = model([*SIZE, ("Reshape", ["x", "t"], ["r"], None), ("Relu", ["r"], ["y"], None)], ["y"], NUMBERS)
    assert boxes(concat(proto)) == [(["Reshape + sizes"], ["Shape", "Gather", "Concat", "Reshape"])]


def test_a_size_that_several_need_is_one_box_beside_them():
    nodes = [*SIZE, ("Reshape", ["x", "t"], ["r"], None), ("Relu", ["r"], ["p"], None)]
    proto = model([*nodes, ("Reshape", ["p", "t"], ["y"], None)], ["y"], NUMBERS)
    assert boxes(concat(proto)) == [(["Sizes"], ["Shape", "Gather", "Concat"])]


def test_no_box_of_sizes_waits_for_itself():
    """The second size is taken from what the first one made: one box would be before and behind it."""
    nodes = [
        *SIZE,
        ("Reshape", ["x", "t"], ["r"], None),
        ("Relu", ["r"], ["p"], None),
        ("Shape", ["p"], ["u"], None),
        ("Mul", ["u", "u"], ["v"], None),
        ("Reshape", ["p", "t"], ["q"], None),
        ("Expand", ["q", "v"], ["a"], None),
        ("Expand", ["q", "v"], ["b"], None),
    ]
    found = boxes(concat(model(nodes, ["a", "b"], NUMBERS)))
    assert found == [(["Sizes"], ["Shape", "Gather", "Concat"]), (["Sizes"], ["Shape", "Mul"])]


def test_a_module_of_sizes_alone_is_none():
    """A list of layers records what the loop over it computes."""
    named = [(op, inputs, outputs, f"/layers/{op}") for op, inputs, outputs, _ in SIZE]
    rest = [("Reshape", ["x", "t"], ["r"], "/a/Reshape"), ("Relu", ["r"], ["p"], "/a/Relu")]
    last = [("Reshape", ["p", "t"], ["q"], "/b/Reshape"), ("Relu", ["q"], ["y"], "/b/Relu")]
    analysis = run_analysis(concat(model([*named, *rest, *last], ["y"], NUMBERS)), Options())
    tree = build_box_tree(analysis)
    assert "layers" not in tree.label
    assert boxes(concat(model([*named, *rest, *last], ["y"], NUMBERS))) == [
        (["Sizes"], ["Shape", "Gather", "Concat"])
    ]


def test_weights_that_the_graph_computes_fold_into_their_layer():
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [1.0] * 16), tensor("k", 2.0, kind=1)]
    nodes = [
        ("Mul", ["w", "k"], ["m"], None),
        ("Transpose", ["m"], ["t"], None),
        ("MatMul", ["x", "t"], ["a"], None),
        ("Relu", ["a"], ["y"], None),
    ]
    assert boxes(model(nodes, ["y"], weights)) == [(["MatMul + weights"], ["Mul", "Transpose", "MatMul"])]


def test_weights_fold_in_a_module_of_nothing_else():
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [1.0] * 16)]
    nodes = [("Transpose", ["w"], ["t"], "/fc/Transpose"), ("MatMul", ["x", "t"], ["y"], "/fc/MatMul")]
    found = boxes(model(nodes, ["y"], weights))
    assert found == [(["fc", "MatMul + weights"], ["Transpose", "MatMul"])]


SCALE = helper.make_tensor("w", TensorProto.FLOAT, [4], [1.0] * 4)


def test_a_single_node_of_weights_that_one_module_reads_is_a_box():
    """A normalization of weights, in a module of its own, that all layers read."""
    nodes = [
        ("Relu", ["w"], ["n"], None),
        ("Add", ["x", "n"], ["a"], None),
        ("Mul", ["a", "n"], ["b"], None),
        ("Relu", ["b"], ["y"], None),
    ]
    proto = model(nodes, ["y"], [SCALE])
    for node, module in zip(proto.graph.node, ("norm", "layer", "layer", "head"), strict=True):
        for key, told in (("name_scopes", ["", module, "op"]), ("class_hierarchy", ["Net", module, "op"])):
            node.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=str(told))
    assert boxes(proto) == [(["norm", "Weights"], ["Relu"])]


def test_a_single_node_of_weights_that_several_read_stays_a_node():
    nodes = [
        ("Relu", ["w"], ["n"], None),
        ("Add", ["x", "n"], ["a"], None),
        ("Mul", ["a", "n"], ["y"], None),
    ]
    assert boxes(model(nodes, ["y"], [SCALE])) == []


def _layers(reader: str) -> list[tuple[str, list[str], list[str], str]]:
    """Two modules, each of which adds ``reader`` to its input."""
    return [
        ("Add", ["x", reader], ["a"], "/one/Add"),
        ("Relu", ["a"], ["b"], "/one/Relu"),
        ("Mul", ["b", reader], ["c"], "/two/Mul"),
        ("Relu", ["c"], ["y"], "/two/Relu"),
    ]


def test_a_constant_node_that_only_boxes_read_is_a_box():
    nodes = [("Relu", ["w"], ["n"], None), *_layers("n")]
    assert boxes(model(nodes, ["y"], [SCALE])) == [(["Weights"], ["Relu"])]


def test_constants_that_feed_each_other_are_one_box_with_the_name_of_their_module():
    """Positions from a module, put in order by nodes outside of it: no part of it has an edge."""
    nodes = [
        ("Sin", ["w"], ["s"], "/positions/Sin"),
        ("Cos", ["s"], ["p"], "/positions/Cos"),
        ("Shape", ["p"], ["size"], None),
        ("Reshape", ["p", "size"], ["r"], None),
        ("Neg", ["r"], ["n"], None),
        *_layers("n"),
    ]
    analysis = run_analysis(model(nodes, ["y"], [SCALE]), Options())
    tree = build_box_tree(analysis)
    outermost = {tree.path(tree.node[node.id])[0] for node in analysis.model.nodes}
    assert outermost == {"positions", "one", "two"}


def test_constants_of_a_loose_node_share_its_box():
    """A row of a computed table is added to what a layer returns."""
    nodes = [
        ("Sin", ["w"], ["t"], "/table/Sin"),
        ("Shape", ["w"], ["size"], "/table/Shape"),
        ("Reshape", ["t", "size"], ["p"], "/table/Reshape"),
        ("Relu", ["x"], ["a"], "/one/Relu"),
        ("Abs", ["a"], ["b"], "/one/Abs"),
        ("Gather", ["p", "ids"], ["r"], "/Gather"),
        ("Add", ["b", "r"], ["c"], "/Add"),
        ("Relu", ["c"], ["d"], "/two/Relu"),
        ("Abs", ["d"], ["y"], "/two/Abs"),
    ]
    found = boxes(model(nodes, ["y"], [SCALE, tensor("ids", 0)]))
    assert (["Add + weights"], ["Gather", "Add"]) in found


def test_constants_that_only_other_modules_read_are_drawn_beside_these():
    nodes = [
        ("Relu", ["x"], ["v"], "/backbone/Relu"),
        ("Abs", ["v"], ["u"], "/backbone/Abs"),
        ("Sin", ["w"], ["s"], "/backbone/table/Sin"),
        ("Cos", ["s"], ["p"], "/backbone/table/Cos"),
        ("Shape", ["p"], ["size"], "/backbone/Shape"),
        ("Reshape", ["p", "size"], ["n"], "/backbone/Reshape"),
        ("Add", ["u", "n"], ["a"], "/one/Add"),
        ("Relu", ["a"], ["b"], "/one/Relu"),
        ("Mul", ["b", "n"], ["c"], "/two/Mul"),
        ("Relu", ["c"], ["y"], "/two/Relu"),
    ]
    analysis = run_analysis(model(nodes, ["y"], [SCALE]), Options())
    tree = build_box_tree(analysis)
    paths = {node.op_type: tree.path(tree.node[node.id]) for node in analysis.model.nodes}
    assert paths["Reshape"][0] == paths["Sin"][0] == "Weights"
    assert paths["Abs"] == ["backbone"]


def test_a_table_made_in_the_first_layer_and_read_by_all_stays_acyclic():
    """The sizes of the rotary table read part of it; the layers form a chain."""
    nodes = [
        ("Sin", ["w"], ["t"], "/h.0/Sin"),
        ("Shape", ["t"], ["size"], "/h.0/Shape"),
        ("Reshape", ["t", "size"], ["n"], "/h.0/Reshape"),
    ]
    last = "x"
    for layer in range(3):
        nodes += [
            ("Add", [last, "n"], [f"a{layer}"], f"/h.{layer}/Add"),
            ("Relu", [f"a{layer}"], [f"b{layer}"], f"/h.{layer}/Relu"),
        ]
        last = f"b{layer}"
    nodes.append(("Neg", [last], ["y"], None))
    analysis = run_analysis(model(nodes, ["y"], [SCALE]), Options())
    tree = build_box_tree(analysis)
    builder = grouping._BoxTreeBuilder(analysis.model, analysis.types, tree, analysis.params.params)
    orders = execution_orders(analysis.model, builder._readers)
    assert cyclic_levels(tree, builder._readers, orders) == []


def test_a_lookup_table_that_boxes_read_keeps_its_edges():
    table = helper.make_tensor("w", TensorProto.FLOAT, [9, 4], [1.0] * 36)
    nodes = [("Gather", ["w", "ids"], ["p"], None), *_layers("p")]
    assert boxes(model(nodes, ["y"], [table, tensor("ids", 0, 1, 2)])) == []


def test_recorded_modules_keep_their_nodes():
    """A table of positions is a module, though its rows are always the same."""
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [9, 4], [1.0] * 36), tensor("ids", 0, 1, 2)]
    nodes = [("Gather", ["w", "ids"], ["p"], "/positions/Gather"), ("Add", ["x", "p"], ["y"], "/join/Add")]
    analysis = run_analysis(model(nodes, ["y"], weights), Options())
    tree = build_box_tree(analysis)
    assert [tree.path(scope) for scope in tree.node] == [["positions"], ["join"]]


def test_an_output_and_a_body_stay():
    proto = model([("Shape", ["x"], ["y"], None)], ["y"])
    assert boxes(proto) == []


def test_a_model_without_inputs_is_not_all_weights():
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [1.0] * 16)]
    nodes = [("Transpose", ["w"], ["t"], None), ("Relu", ["t"], ["r"], None), ("Neg", ["r"], ["y"], None)]
    assert boxes(model(nodes, ["y"], weights, inputs=())) == []


@pytest.mark.parametrize("name", ["densenet121", "inception_v1", "inception_v2", "shufflenet"])
def test_files_that_make_their_weights_show_none_beside_their_layers(name):
    """Every node of weights is in a box with the one that reads it; the table lists them all, with costs."""
    analysis = run_analysis(LIGHT / f"light_{name}.onnx", Options())
    tree, graph = build_box_tree(analysis), analysis.model
    payload = build_payload(analysis)
    makers = [node for node in graph.nodes if node.op_type == "ConstantOfShape"]
    assert len(makers) > 50
    for node in makers:
        readers = [r for t in node.outputs for r in graph.tensors[t].consumers]
        if len(readers) == 1:
            assert tree.node[node.id] == tree.node[readers[0]]
    assert len(payload.nodes.op) == len(graph.nodes)
    assert sum(payload.nodes.params) == payload.metrics.total_params


@pytest.mark.parametrize("name", ["bert_tiny", "mamba_tiny", "resnet_tiny_qdq_int8"])
def test_costs_stay_where_the_report_counts_them(name):
    """What moves into a recorded module's box has no learned numbers of another one."""
    analysis = run_analysis(DATA / f"models/{name}.onnx", Options(assume=True))
    tree = build_box_tree(analysis)
    for node in analysis.model.nodes:
        if analysis.params.params[node.id] and "scope" in node.origins:
            labels = [label for label in tree.path(tree.node[node.id]) if label in node.scope]
            assert [label for label in node.scope if label in labels] == labels
