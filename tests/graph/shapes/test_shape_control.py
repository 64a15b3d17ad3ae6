"""Bodies of If, Loop, Scan and SequenceMap; sequences and optionals; declared shapes."""

import numpy as np
import onnx
import pytest
from onnx import helper
from shape_help import BOOL, I64, F, graph, info, proto, run, types_of

i64 = lambda *v: np.array(v, np.int64)  # noqa: E731


def n(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def body(nodes, inputs, outputs, consts=None):
    return graph(nodes, inputs, outputs.split(), consts or {})


def branch(*nodes):
    return body(list(nodes), {}, nodes[-1].output[0])


def test_branches_see_captured_values_and_agree():
    node = n("If", "c", "y", then_branch=branch(n("Relu", "x", "a")), else_branch=branch(n("Neg", "x", "b")))
    r = run([node], {"x": ["n", 4], "c": (BOOL, [])})
    assert (r.shape("a"), r.shape("y"), r.dtype("y")) == (("n", 4), ("n", 4), F)


def test_branches_that_differ_leave_only_what_they_share():
    other = branch(n("Concat", "x x", "b", axis=0))
    node = n("If", "c", "y", then_branch=branch(n("Relu", "x", "a")), else_branch=other)
    assert run([node], {"x": [2, 4], "c": (BOOL, [])}).shape("y") == ("if_0_0", 4)
    r = run([node], {"x": [2, 4]}, {"c": np.array(False)})
    assert r.shape("y") == (4, 4)
    flat = n(
        "If", "c", "y", then_branch=branch(n("Flatten", "x", "a")), else_branch=branch(n("Size", "x", "b"))
    )
    assert run([flat], {"x": [2, 4], "c": (BOOL, [])}).shape("y") is None


def loop(nodes, outs, state, consts=None):
    inputs = {"it": (I64, []), "cond": (BOOL, []), **state}
    nodes = [*nodes, n("Identity", "cond", "cond_out")]
    return body(nodes, inputs, f"cond_out {outs}", consts)


def test_loop_with_stable_state_and_scan_output():
    b = loop([n("Relu", "s", "t"), n("ReduceSum", "s", "r", keepdims=0)], "t r", {"s": None})
    node = helper.make_node("Loop", ["m", "", "x"], ["y", "z"], body=b)
    r = run([node], {"x": ["n", 4]}, {"m": np.int64(7)}, ("y", "z"))
    assert (r.shape("t"), r.shape("y"), r.shape("z")) == (("n", 4), ("n", 4), (7,))
    r = run([node], {"x": ["n", 4], "m": (I64, [])}, {}, ("y", "z"))
    assert (r.shape("y"), r.shape("z")) == (("n", 4), ("loop_0_0",))


def test_loop_whose_state_grows():
    b = loop([n("Concat", "s s", "t", axis=0)], "t", {"s": None})
    node = helper.make_node("Loop", ["m", "", "x"], ["y"], body=b)
    r = run([node], {"x": [1, 4]}, {"m": np.int64(3)})
    (size, four) = r.shape("y")
    assert four == 4
    assert isinstance(size, str)
    assert isinstance(r.shape("s")[0], str)


def test_loop_that_may_stop_early_has_no_known_length():
    b = body(
        [n("Relu", "s", "t"), n("Less", "it k", "go")],
        {"it": (I64, []), "cond": (BOOL, []), "s": None},
        "go t t",
        {"k": np.int64(2)},
    )
    node = helper.make_node("Loop", ["m", "", "x"], ["y", "z"], body=b)
    assert run([node], {"x": [2]}, {"m": np.int64(7)}, ("y", "z")).shape("z") == ("loop_0_0", 2)


def test_sizes_made_in_a_body_do_not_leave_it():
    b = loop([n("NonZero", "s", "z"), n("Identity", "s", "t")], "t z", {"s": None})
    node = helper.make_node("Loop", ["m", "", "x"], ["y", "q"], body=b)
    r = run([node], {"x": ["n"]}, {"m": np.int64(7)}, ("y", "q"))
    assert r.shape("z")[1].startswith("nonzero")
    assert r.shape("q") == (7, 1, "loop_0_1_2")


def test_scan():
    b = body([n("Add", "h e", "o"), n("Relu", "e", "f")], {"h": None, "e": None}, "o f")
    node = n("Scan", "h0 x", "h1 y", num_scan_inputs=1, body=b, scan_input_axes=[1], scan_output_axes=[1])
    r = run([node], {"h0": ["b", 4], "x": ["b", "t", 4]}, {}, ("h1", "y"))
    assert (r.shape("e"), r.shape("h1"), r.shape("y")) == (("b", 4), ("b", 4), ("b", "t", 4))


def test_sequences_know_their_items():
    nodes = [
        n("SplitToSequence", "x s", "q", axis=0),
        n("SequenceAt", "q one", "y"),
        n("SequenceLength", "q", "k"),
        n("ConcatFromSequence", "q", "c", axis=0),
        n("ConcatFromSequence", "q2", "st", axis=0, new_axis=1),
        n("SequenceInsert", "q y", "q3"),
        n("SequenceErase", "q3 zero", "q4"),
        n("ConcatFromSequence", "q4", "d", axis=0),
    ]
    nodes.insert(0, n("SequenceConstruct", "x x x", "q2"))
    r = run(
        nodes,
        {"x": [6, 3]},
        {"s": i64(2, 4), "one": np.int64(1), "zero": np.int64(0)},
        ("y", "k", "c", "st", "d"),
    )
    assert (r.shape("y"), r.value("k"), r.shape("c"), r.shape("st"), r.shape("d")) == (
        (4, 3),
        2,
        (6, 3),
        (3, 6, 3),
        (8, 3),
    )
    assert r.shape("q") is None


def test_sequence_map_and_optional():
    b = body([n("Transpose", "e", "o")], {"e": None}, "o")
    nodes = [
        n("SequenceConstruct", "x z", "q"),
        n("SequenceMap", "q", "m", body=b),
        n("SequenceAt", "m one", "y"),
        n("Optional", "x", "opt"),
        n("OptionalGetElement", "opt", "g"),
        n("OptionalHasElement", "opt", "h"),
    ]
    r = run(nodes, {"x": ["n", 3], "z": ["m", 3]}, {"one": np.int64(1)}, ("y", "g", "h"))
    assert r.shape("y")[0] == 3
    assert isinstance(r.shape("y")[1], str)
    assert (r.shape("g"), r.dtype("h")) == (("n", 3), BOOL)


def test_sequence_among_the_graph_inputs():
    item = helper.make_tensor_type_proto(F, [2, 3])
    value = onnx.helper.make_value_info("q", helper.make_sequence_type_proto(item))
    g = helper.make_graph(
        [n("SequenceAt", "q i", "y")], "g", [value, info("i", (I64, []))], [info("y", None)]
    )
    assert types_of(proto(g)).shape("y") == (2, 3)


def custom():
    nodes = [helper.make_node("Mystery", ["x"], ["m"], domain="my.ops"), n("Relu", "m", "y")]
    return proto(graph(nodes, {"x": ["n", 4]}, ["y"], {}, value_info=[info("m", ["n", 8])]))


def test_declared_shapes_help_where_no_rule_exists():
    r = types_of(custom())
    assert r.shape("y") == ("n", 8)
    assert r.dtype("y") == F


def test_declared_shapes_are_not_used_once_sizes_change():
    assert types_of(custom(), {"n": 2}).shape("y") is None
    assert types_of(custom(), {"n": 2}).dtype("y") == F


def test_stale_value_info_does_not_survive():
    g = graph(
        [n("Relu", "x", "m"), n("Relu", "m", "y")], {"x": [1, 3]}, ["y"], {}, value_info=[info("m", [1, 3])]
    )
    g.output[0].CopyFrom(info("y", [1, 3]))
    r = types_of(proto(g), None, {"x": [8, 3]})
    assert (r.shape("m"), r.shape("y")) == ((8, 3), (8, 3))
    g.value_info[0].CopyFrom(info("m", [5, 3]))
    assert types_of(proto(g)).shape("m") == (1, 3)


def nested(depth):
    if not depth:
        return [n("Concat", "c c", "o0", axis=0)]
    b = body(
        [*nested(depth - 1), n("Identity", "cond", "co")],
        {"it": (I64, []), "cond": (BOOL, []), "c": None},
        f"co o{depth - 1}",
    )
    return [helper.make_node("Loop", ["n", "", "c"], [f"o{depth}"], body=b)]


def test_work_in_nested_loops_is_bounded():
    r = run(nested(20), {"c": [4, 2], "n": (I64, [])}, {}, ("o20",))
    shape = r.shape("o20")
    assert shape is None or not isinstance(shape[0], int)


@pytest.mark.slow
def test_a_long_chain_needs_no_recursion():
    nodes = [n("Relu", f"x{i}", f"x{i + 1}") for i in range(20_000)]
    assert run(nodes, {"x0": ["n", 2]}, {}, ("x20000",)).shape("x20000") == ("n", 2)
