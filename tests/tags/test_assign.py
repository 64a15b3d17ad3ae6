"""The rule by which nodes get modules, on small graphs with made-up evidence."""

from __future__ import annotations

import numpy as np
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.tags import Frame, Namer, Tags, assign, walk
from py_autodoc.tags.paths import parent


def value(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, None)


def model(nodes, weights=(), functions=(), outputs=("out",)):
    made = [numpy_helper.from_array(np.zeros(size, np.float32), name) for name, size in weights]
    graph = helper.make_graph(
        nodes, "g", [value("x"), value("c", TensorProto.BOOL)], [value(o) for o in outputs], made
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return onnx_ir.from_proto(helper.make_model(graph, functions=list(functions), opset_imports=imports))


def node(name, inputs, outputs, op="Relu", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


class Told:
    exact = True

    def __init__(self, frames, parameters=None, rewritten=(), owned=()):
        self.known, self.read, self.made, self.owned = frames, parameters or {}, set(rewritten), set(owned)

    def frames(self, node):
        found = self.known.get(node.name)
        return [Frame(*f) if isinstance(f, tuple) else Frame(f) for f in found] if found else None

    def frames_of(self, node, path):
        return None

    def parameters(self, node):
        return self.read.get(node.name, ())

    def owning_module(self, name):
        return parent(name) if name in self.owned else None

    def rewritten(self, node):
        return node.name in self.made


CLASSES = {"": "m.Net", "a": "m.A", "a.n": "m.N", "a.w": "m.W", "b": "m.B", "b.n": "m.N"}


def tags(graph, told, aliases=None) -> Tags:
    return assign(graph, Namer(CLASSES, aliases or {}), told)


def rows(found):
    return {n.name: (r.scope, r.via) for n, r in found.records.items()}


def test_between_known_nodes():
    graph = model([node("1", "x", "p"), node("2", "p", "q"), node("3", "q", "r"), node("4", "r", "out")])
    found = tags(graph, Told({"1": ["", "a", "a.n"], "4": ["", "a", "a.w"]}))
    assert rows(found) == {
        "1": ("a.n", "trace"),
        "2": ("a", "context"),
        "3": ("a", "context"),
        "4": ("a.w", "trace"),
    }
    assert found.coverage.traced == 0.5
    assert found.coverage.inferred == 0.5
    assert found.coverage.unknown == 0
    assert found.records[next(iter(found.records))].tag == "/Net/A/N"


def test_a_constant_follows_its_readers():
    nodes = [
        node("k", "", "k", "Constant", value_float=1.0),
        node("1", "x k", "p", "Add"),
        node("2", "p k", "out", "Add"),
    ]
    assert rows(tags(model(nodes), Told({"1": ["", "a", "a.n"], "2": ["", "b", "b.n"]})))["k"] == (
        "",
        "context",
    )
    assert rows(tags(model(nodes), Told({"1": ["", "a", "a.n"], "2": ["", "a", "a.w"]})))["k"] == (
        "a",
        "context",
    )


def test_nothing_known_is_said_to_be_unknown():
    found = tags(model([node("1", "x", "out")]), Told({}))
    assert rows(found) == {"1": ("", "root")}
    assert found.coverage.unknown == 1


def test_parameters_tell_the_module():
    nodes = [node("1", "x w", "out", "Add")]
    told = Told({}, {"1": ["a.n.bias", "a.w.bias"]})
    assert rows(tags(model(nodes, [("w", 2)]), told)) == {"1": ("a", "param")}


FUSED = [node("1", "x a.w.weight a.n.bias", "out", "Conv")]


def test_a_merged_node_belongs_to_the_owner_of_the_larger_weight():
    graph = model(FUSED, [("a.w.weight", 8), ("a.n.bias", 2)])
    told = Told({"1": ["", "a", ("a.n", 2)]}, {"1": ["a.n.bias"]}, ["1"], ["a.w.weight", "a.n.bias"])
    found = tags(graph, told)
    (record,) = found.records.values()
    assert (record.scope, record.via, record.scopes) == ("a.w", "fused", ("a.n", "a.w"))
    assert record.call == {"a.w": 2}
    assert record.tag == "/Net/A/W"


def test_no_merging_where_nothing_was_rewritten():
    graph = model(FUSED, [("a.w.weight", 8), ("a.n.bias", 2)])
    told = Told({"1": ["", "a", "a.n"]}, {}, [], ["a.w.weight", "a.n.bias"])
    assert rows(tags(graph, told)) == {"1": ("a.n", "trace")}


def test_an_equal_initializer_of_another_module_is_no_origin():
    """Exporters keep one of two equal initializers: the other module's node reads a foreign name."""
    nodes = [node("1", "x a.n.weight", "p", "Mul"), node("2", "p a.n.weight", "out", "Mul")]
    told = Told({"1": ["", "a", "a.n"], "2": ["", "b", "b.n"]}, {}, ["1", "2"], ["a.n.weight"])
    assert rows(tags(model(nodes, [("a.n.weight", 4)]), told)) == {
        "1": ("a.n", "trace"),
        "2": ("b.n", "trace"),
    }


def test_a_parameter_read_by_the_module_itself_is_no_origin():
    told = Told({"1": ["", "a", "a.n"]}, {"1": ["a.w.weight"]}, ["1"], ["a.w.weight"])
    graph = model([node("1", "x a.w.weight", "out", "Mul")], [("a.w.weight", 4)])
    assert rows(tags(graph, told)) == {"1": ("a.n", "trace")}


def test_aliases_and_calls():
    graph = model([node("1", "x", "p"), node("2", "p", "q"), node("3", "q", "out")])
    told = Told({"1": ["", "b", "b.n"], "2": ["", ("b", 1), ("b.n", 1)], "3": ["", ("z", 2), ("z.n", 2)]})
    found = tags(graph, told, {"z": "b"})
    assert [r.scope for r in found.records.values()] == ["b.n"] * 3
    assert [dict(r.call) for r in found.records.values()] == [{}, {"b": 1, "b.n": 1}, {"b": 2, "b.n": 2}]
    assert [len(found.below("z", call)) for call in range(4)] == [1, 1, 1, 0]
    assert found.calls("b.n") == 3
    assert found.calls("a") == 0


def test_a_module_called_inside_another():
    found = tags(model([node("1", "x", "out")]), Told({"1": ["", "a", "b.n"]}))
    (record,) = found.records.values()
    assert record.stack == ("", "a", "b.n")
    assert record.inside("a")
    assert record.inside("b")
    assert not record.inside("a.n")


def branch(name, nodes, output):
    return helper.make_graph(nodes, name, [], [value(output)])


def test_bodies():
    yes = branch(
        "yes", [node("y1", "x w", "yp", "Add"), node("y2", "yp", "yq"), node("y3", "yq", "yr")], "yr"
    )
    no = branch("no", [node("n1", "x", "np")], "np")
    nodes = [
        node("0", "x", "h"),
        node("if", "c", "z", "If", then_branch=yes, else_branch=no),
        node("9", "z h", "out", "Add"),
    ]
    told = Told({"0": ["", "b"], "if": ["", "b"], "9": [""]}, {"y1": ["a.n.weight", "a.w.weight"]})
    found = rows(tags(model(nodes, [("w", 1)]), told))
    assert found["y1"] == ("a", "param")
    assert found["y2"] == found["y3"] == ("a", "context")
    assert found["n1"] == ("b", "context")


def test_the_end_of_a_branch_is_not_part_of_the_module_before_it():
    yes = branch("yes", [node("y1", "x", "yp"), node("y2", "yp", "yq"), node("y3", "yq", "yr")], "yr")
    nodes = [
        node("if", "c", "out", "If", then_branch=yes, else_branch=branch("no", [node("n1", "x", "np")], "np"))
    ]
    told = Told({"if": [""]}, {"y1": ["a.w.weight"], "y2": ["a.n.weight"]})
    assert rows(tags(model(nodes), told))["y3"] == ("a", "context")


def test_a_function_lies_where_it_is_called():
    function = helper.make_function(
        "own", "F", ["i"], ["o"], [node("f", "i", "o")], [helper.make_opsetid("", 18)]
    )
    nodes = [
        helper.make_node("F", ["x"], ["p"], domain="own", name="1"),
        helper.make_node("F", ["p"], ["out"], domain="own", name="2"),
    ]
    told = Told({"1": ["", "a", "a.n"], "2": ["", "a", "a.w"]})
    assert rows(tags(model(nodes, functions=[function]), told))["f"] == ("a", "context")


@pytest.mark.slow
def test_a_long_chain():
    size = 8_000
    nodes = [node(str(i), f"t{i}" if i else "x", f"t{i + 1}") for i in range(size)]
    graph = model(nodes, outputs=(f"t{size}",))
    found = tags(graph, Told({"0": ["", "a", "a.n"], str(size - 1): ["", "a", "a.w"]}))
    assert {r.scope for r in found.records.values()} == {"a", "a.n", "a.w"}
    assert sum(1 for _ in walk(graph)) == size
