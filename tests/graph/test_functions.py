"""Expansion of local functions, compared with ONNX's own inliner."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.protobuf.file_counts import expansion
from py_autodoc.limits import LIBRARY

F = TensorProto.FLOAT
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]


def node(op, inputs, outputs, domain="", **kw):
    return helper.make_node(op, inputs, outputs, domain=domain, **kw)


def reference(name, attribute, kind):
    """An attribute that refers to one of the function."""
    return AttributeProto(name=name, ref_attr_name=attribute, type=kind)


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), **kw):
    return helper.make_function(
        "f", name, inputs, outputs, nodes, OPSETS, attributes=attributes, attribute_protos=defaults, **kw
    )


def model(nodes, functions, initializers=(), outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", F, [2, 3])],
        [helper.make_tensor_value_info(name, F, None) for name in outputs],
        list(initializers),
    )
    return helper.make_model(graph, functions=list(functions), opset_imports=OPSETS, ir_version=9)


X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def check(proto, wanted=None):
    """Expanded and inlined by ONNX compute the same; returns the expanded, built model.

    ``wanted`` says the results where ONNX's inliner leaves a part of the specification out.
    """
    loaded = load_bytes(proto.SerializeToString())
    assert loaded.unexpanded_calls == 0
    assert not loaded.proto.functions
    built = build(loaded)
    assert not [note for note in built.diagnostics if note.severity != "info"]
    if wanted is None:
        wanted = ReferenceEvaluator(inline_local_functions(proto)).run(None, {"x": X})
    found = ReferenceEvaluator(loaded.proto).run(None, {"x": X})
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return built


def test_two_calls_have_their_own_names():
    body = [node("Relu", ["a"], ["t"], name="act"), node("Neg", ["t"], ["b"], name="neg")]
    built = check(
        model(
            [node("F", ["x"], ["h"], "f", name="first"), node("F", ["h"], ["y"], "f")],
            [function("F", ["a"], ["b"], body)],
        )
    )
    assert [n.op_type for n in built.nodes] == ["Relu", "Neg"] * 2
    assert len({n.name for n in built.nodes}) == 4
    assert [n.scope for n in built.nodes] == [("first",)] * 2 + [("F_0",)] * 2
    assert {n.classes for n in built.nodes} == {("F",)}
    assert {n.origins for n in built.nodes} == {("function",)}
    assert built.functions == 1


def test_a_node_beside_a_call_is_not_part_of_it():
    built = check(
        model(
            [node("F", ["x"], ["h"], "f", name="first"), node("Abs", ["h"], ["y"])],
            [function("F", ["a"], ["b"], [node("Relu", ["a"], ["t"]), node("Neg", ["t"], ["b"])])],
        )
    )
    assert [(n.op_type, n.scope) for n in built.nodes] == [
        ("Relu", ("first",)),
        ("Neg", ("first",)),
        ("Abs", ()),
    ]


def test_attribute_references_and_defaults():
    body = [node("Concat", ["a", "a"], ["t"]), node("LeakyRelu", ["t"], ["b"])]
    body[0].attribute.append(reference("axis", "where", AttributeProto.INT))
    body[1].attribute.append(reference("alpha", "slope", AttributeProto.FLOAT))
    f = function("F", ["a"], ["b"], body, ["where"], [helper.make_attribute("slope", 0.5)])
    calls = [node("F", ["x"], ["h"], "f", where=1), node("F", ["h"], ["y"], "f", where=0, slope=0.25)]
    built = check(model(calls, [f]), [np.tile(np.where(X < 0, X * 0.125, X), (2, 2))])
    found = [n.attributes for n in built.nodes]
    assert found == [{"axis": 1}, {"alpha": 0.5}, {"axis": 0}, {"alpha": 0.25}]


def test_reference_that_is_not_given_is_dropped():
    body = [node("LeakyRelu", ["a"], ["b"])]
    body[0].attribute.append(reference("alpha", "slope", AttributeProto.FLOAT))
    built = build(
        load_bytes(
            model(
                [node("F", ["x"], ["y"], "f")], [function("F", ["a"], ["b"], body, ["slope"])]
            ).SerializeToString()
        )
    )
    assert built.nodes[0].attributes == {}


def test_optional_input_and_output():
    body = [node("Clip", ["a", "low", "high"], ["b"]), node("Neg", ["a"], ["c"])]
    f = function("F", ["a", "low", "high"], ["b", "c"], body)
    low = numpy_helper.from_array(np.float32(-1), "m")
    built = check(model([node("F", ["x", "m"], ["y"], "f")], [f], [low]))
    clip = built.nodes[0]
    assert clip.inputs[2] == -1
    assert built.tensors[clip.outputs[0]].name == "y"
    built = check(model([node("F", ["x", "", "m"], ["", "y"], "f")], [f], [low]))
    assert built.nodes[0].inputs[1] == -1


def test_input_passed_on_and_output_twice():
    f = function("F", ["a"], ["a", "b", "b"], [node("Neg", ["a"], ["b"])])
    check(model([node("F", ["x"], ["p", "q", "y"], "f")], [f], outputs=("p", "q", "y")), [X, -X, -X])


def test_nested_calls():
    inner = function("Inner", ["a"], ["b"], [node("Abs", ["a"], ["b"], name="abs")])
    outer = function(
        "Outer",
        ["a"],
        ["b"],
        [node("Inner", ["a"], ["t"], "f", name="one"), node("Inner", ["t"], ["b"], "f", name="two")],
    )
    built = check(model([node("Outer", ["x"], ["y"], "f", name="/enc/outer")], [inner, outer]))
    assert [n.scope for n in built.nodes] == [("enc", "outer", "one"), ("enc", "outer", "two")]
    assert built.nodes[0].origins == ("name", "function", "function")
    assert built.nodes[0].classes == ("", "Outer", "Inner")


def test_overloads():
    relu = function("F", ["a"], ["b"], [node("Relu", ["a"], ["b"])])
    neg = function("F", ["a"], ["b"], [node("Neg", ["a"], ["b"])], overload="neg")
    calls = [node("F", ["x"], ["h"], "f"), node("F", ["h"], ["y"], "f", overload="neg")]
    built = build(load_bytes(model(calls, [relu, neg]).SerializeToString()))
    assert [n.op_type for n in built.nodes] == ["Relu", "Neg"]


def branch(nodes, output):
    return helper.make_graph(nodes, "b", [], [helper.make_tensor_value_info(output, F, None)])


def test_bodies_inside_functions():
    """Captured names are the call's, the body's own names are made unique, calls in bodies expand."""
    double = function("Double", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])])
    then = branch([node("Mul", ["t", "a"], ["r"]), node("Double", ["r"], ["s"], "f")], "s")
    other = branch([node("LeakyRelu", ["a"], ["s"])], "s")
    other.node[0].attribute.append(reference("alpha", "slope", AttributeProto.FLOAT))
    choose = function(
        "Choose",
        ["a", "flag"],
        ["b"],
        [node("Neg", ["a"], ["t"]), node("If", ["flag"], ["b"], then_branch=then, else_branch=other)],
        ["slope"],
    )
    flags = [numpy_helper.from_array(np.array(v), n) for v, n in ((True, "yes"), (False, "no"))]
    built = check(
        model(
            [
                node("Choose", ["x", "yes"], ["h"], "f", slope=0.5),
                node("Choose", ["h", "no"], ["y"], "f", slope=0.25),
            ],
            [double, choose],
            flags,
        )
    )
    assert len(built.graphs) == 5
    leaky = [n.attributes["alpha"] for n in built.nodes if n.op_type == "LeakyRelu"]
    assert leaky == [0.5, 0.25]
    assert [n.op_type for n in built.nodes].count("Add") == 2


def test_call_inside_a_main_graph_body():
    double = function("Double", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])])
    flag = numpy_helper.from_array(np.array(True), "yes")
    then = branch([node("Double", ["x"], ["s"], "f")], "s")
    other = branch([node("Neg", ["x"], ["s"])], "s")
    built = check(model([node("If", ["yes"], ["y"], then_branch=then, else_branch=other)], [double], [flag]))
    assert {n.op_type for n in built.nodes} == {"If", "Add", "Neg"}


def test_unused_functions_leave_nothing():
    unused = function("F", ["a"], ["b"], [node("Neg", ["a"], ["b"])])
    built = check(model([node("Relu", ["x"], ["y"])], [unused]))
    assert len(built.nodes) == 1
    assert built.functions == 1


def test_opsets_of_functions_are_imported():
    f = helper.make_function(
        "f", "F", ["a"], ["b"], [node("Gelu", ["a"], ["b"], "com.microsoft")],
        [helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("", 18)],
    )  # fmt: skip
    built = build(load_bytes(model([node("F", ["x"], ["y"], "f")], [f]).SerializeToString()))
    assert built.opsets["com.microsoft"] == 1
    assert built.nodes[0].opset == 1
    assert [note.code for note in built.diagnostics] == ["function-opset"]


def laughs(levels, calls):
    functions = []
    for level in range(levels):
        names = ["a", *(f"v{i}" for i in range(calls - 1)), "b"]
        op, domain = (f"F{level + 1}", "f") if level < levels - 1 else ("Relu", "")
        body = [node(op, [names[i]], [names[i + 1]], domain) for i in range(calls)]
        functions.append(function(f"F{level}", ["a"], ["b"], body))
    return model([node("F0", ["x"], ["y"], "f")], functions)


def test_billion_laughs_are_left_alone():
    loaded = load_bytes(laughs(9, 10).SerializeToString())
    assert loaded.unexpanded_calls == 1
    built = build(loaded)
    assert [n.op_type for n in built.nodes] == ["F0"]
    (note,) = built.diagnostics
    assert note.code == "expansion-too-large"
    assert "1,000,000,000 nodes" in note.message
    assert not loaded.proto.functions


def test_limit_of_expanded_nodes_is_exact():
    data = laughs(3, 5).SerializeToString()
    assert load_bytes(data, limits=replace(LIBRARY, expanded_nodes=125)).unexpanded_calls == 0
    assert load_bytes(data, limits=replace(LIBRARY, expanded_nodes=124)).unexpanded_calls == 1


def test_expanded_bytes_are_bounded_too():
    big = helper.make_tensor("c", TensorProto.INT8, [3000], bytes(3000), raw=True)
    body = [node("Constant", [], ["k"], value=big), node("Add", ["a", "k"], ["b"])]
    calls = [node("F", ["x"], [f"y{i}"], "f") for i in range(100)]
    data = model(calls, [function("F", ["a"], ["b"], body)], outputs=("y0",)).SerializeToString()
    assert load_bytes(data).unexpanded_calls == 0
    assert load_bytes(data, limits=replace(LIBRARY, structure_bytes=200_000)).unexpanded_calls == 100


@pytest.mark.parametrize("length", [1, 2, 5])
def test_circles(length):
    functions = [
        function(f"F{i}", ["a"], ["b"], [node(f"F{(i + 1) % length}", ["a"], ["b"], "f")])
        for i in range(length)
    ]
    loaded = load_bytes(model([node("F0", ["x"], ["y"], "f")], functions).SerializeToString())
    assert loaded.unexpanded_calls == 1
    (note,) = loaded.diagnostics
    assert note.code == "function-cycle"
    assert note.where.count("→") == length


@pytest.mark.slow
def test_long_chain_of_functions_needs_no_recursion():
    functions = [
        function(f"F{i}", ["a"], ["b"], [node(f"F{i + 1}", ["a"], ["b"], "f")]) for i in range(3000)
    ] + [function("F3000", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]
    built = build(load_bytes(model([node("F0", ["x"], ["y"], "f")], functions).SerializeToString()))
    assert [n.op_type for n in built.nodes] == ["Relu"]
    assert len(built.nodes[0].scope) == 64


def test_expansion_counts():
    key = [("f", str(i), "") for i in range(4)]
    functions = {key[0]: (2, {key[1]: 3}), key[1]: (1, {key[2]: 10**12}), key[2]: (7, {})}
    found = expansion((5, {key[0]: 2, key[3]: 4}), functions)
    assert found.nodes == 5 + 2 * (2 + 3 * (1 + 7 * 10**12)) + 4
    assert found.calls == 6
    assert expansion((0, {key[0]: 1}), {key[0]: (0, {key[0]: 1})}).cycle == (key[0], key[0])
