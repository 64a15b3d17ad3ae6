"""Models that parse but are wrong, hostile or merely unusual."""

import numpy as np
from make_models import (
    F,
    external,
    good,
    model,
    raw_model,
    raw_node,
    raw_text,
    raw_value,
    relu,
    tensor,
    value,
    with_weight,
)
from onnx import TensorProto, helper, numpy_helper

I64 = TensorProto.INT64


def ints(name, *held):
    return numpy_helper.from_array(np.array(held, np.int64), name)


def trailing():
    return good().SerializeToString() + b"garbage at the end"


def bad_utf8():
    nodes = raw_node("Relu", ["x"], ["y"], name="NAME").replace(b"NAME", b"\xff\xfeNA")
    nodes = nodes.replace(b"Relu", b"Re\xc3\x28")
    return raw_model(nodes + raw_text(2, "g") + raw_value(11, "x") + raw_value(12, "y"))


def odd_names():
    names = ["nul\0here", "\u202egnp.exe", "two\nlines", "🧨" * 3, "x" * 5_000_000]
    nodes = [relu(names[i - 1] if i else "x", names[i], name=names[i]) for i in range(len(names))]
    return model(nodes, outputs=[value(names[-1], None)])


def unknown_dtype():
    return with_weight(tensor("w", 99, [4, 4], bytes(64)))


def negative_dim():
    return with_weight(tensor("w", F, [4, -54], b""))


def dim_overflow():
    return with_weight(tensor("w", F, [1 << 40, 1 << 40], b""))


def no_data():
    return with_weight(tensor("w", F, [300_000, 300_000]))


def short_data():
    return with_weight(tensor("w", F, [4, 4], bytes(12)))


def empty_nodes():
    return raw_model(b"\x0a\x00" * 5_000_000)


def _huge(op, inputs, initializers, **attributes):
    node = helper.make_node(op, inputs, ["y"], name="huge", **attributes)
    return model([node], initializers=initializers)


def huge_fill():
    return _huge("ConstantOfShape", ["s"], [ints("s", 1 << 20, 1 << 22)])


def huge_expand():
    return _huge("Expand", ["x", "s"], [ints("s", 1 << 20, 1 << 20, 4)])


def huge_range():
    scalars = [numpy_helper.from_array(np.int64(v), n) for n, v in (("a", 0), ("b", 1 << 42), ("c", 1))]
    return _huge("Range", ["a", "b", "c"], scalars)


def huge_tile():
    return _huge("Tile", ["x", "s"], [ints("s", 1 << 20, 1 << 20)])


def huge_pad():
    return _huge("Pad", ["x", "s"], [ints("s", 0, 0, 1 << 20, 1 << 21)])


def huge_one_hot():
    depth = numpy_helper.from_array(np.int64(1 << 40), "d")
    values = numpy_helper.from_array(np.array([0, 1], np.float32), "v")
    return _huge("OneHot", ["i", "d", "v"], [ints("i", 1, 2, 3), depth, values])


def endless_loop():
    body = helper.make_graph(
        [helper.make_node("Identity", ["ci"], ["co"]), relu("vi", "vo")],
        "body",
        [value("it", (), I64), value("ci", (), TensorProto.BOOL), value("vi")],
        [value("co", (), TensorProto.BOOL), value("vo")],
    )
    trips = numpy_helper.from_array(np.int64(1 << 62), "n")
    go = numpy_helper.from_array(np.array(True), "go")
    loop = helper.make_node("Loop", ["n", "go", "x"], ["y"], body=body, name="loop")
    return model([loop], initializers=[trips, go])


def open_branch():
    """An If on an input: a branch with arithmetic, and one without."""
    branches = [
        helper.make_graph([relu("x", "t")], "then", [], [value("t")]),
        helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [value("e")]),
    ]
    node = helper.make_node("If", ["go"], ["y"], then_branch=branches[0], else_branch=branches[1], name="if")
    made = model([node])
    made.graph.input.append(value("go", (), TensorProto.BOOL))
    return made


def circle():
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        relu("a", "b", name="second"),
        relu("b"),
    ]
    return model(nodes)


def self_reader():
    return model([helper.make_node("Add", ["x", "y"], ["y"], name="me")])


def same_node_names():
    return model([relu("x", "h", name="twin"), relu("h", "y", name="twin")])


def same_output_names():
    return model([relu("x", "y", name="a"), helper.make_node("Neg", ["x"], ["y"], name="b")])


def undefined_input():
    return model([helper.make_node("Add", ["x", "ghost"], ["y"], name="add")])


def not_sorted():
    return model([relu("h", "y", name="late"), relu("x", "h", name="early")])


def no_names():
    return model([relu("x", "h"), relu("h")], name="")


def empty_graph():
    return model([])


def no_graph():
    made = good()
    made.ClearField("graph")
    return made


def no_opset():
    return model([relu()], opsets=[])


def future_opset():
    return model([relu()], opsets=[("", 9999)])


def double_opset():
    return model([relu()], opsets=[("", 17), ("ai.onnx", 13)])


def unknown_op():
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example", name="frob")
    return model([node], opsets=[("", 17), ("com.example", 1)])


def self_calling():
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    inner = helper.make_node("F", ["a"], ["b"], domain="f")
    function = helper.make_function("f", "F", ["a"], ["b"], [inner], opsets)
    call = helper.make_node("F", ["x"], ["y"], domain="f", name="call")
    return model([call], functions=[function], opsets=[("", 17), ("f", 1)])


def conv(**attributes):
    """A maker of a Conv of 3→8 channels with odd attributes."""

    def make():
        weight = numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32), "w")
        node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", **attributes)
        return model([node], inputs=[value("x", (1, 3, 16, 16))], initializers=[weight])

    return make


def wrong_attribute_type():
    made = conv()()
    made.graph.node[0].attribute.append(helper.make_attribute("strides", "two by two"))
    return made


def attribute_twice():
    made = conv(strides=[1, 1])()
    made.graph.node[0].attribute.append(helper.make_attribute("strides", [2, 2]))
    return made


def reshape_two_unknown():
    return model([helper.make_node("Reshape", ["x", "s"], ["y"], name="r")], initializers=[ints("s", -1, -1)])


def matmul_mismatch():
    return model(
        [helper.make_node("MatMul", ["x", "b"], ["y"], name="mm")], inputs=[value("x"), value("b", (5, 6))]
    )


def symbol(text):
    """A maker of a model whose input has this text as a dimension."""

    def make():
        return model([relu()], inputs=[value("x", (text, 4))])

    return make


def script_names():
    bad = "<script>window.PWNED=1</script><img src=x onerror=alert(1)>"
    made = model([relu("x", "y", name=bad, doc_string=bad)], name=bad, producer_name=bad, doc_string=bad)
    made.metadata_props.add(key=bad, value=bad)
    return made


def object_names():
    names = ["__proto__", "constructor", "toString", "hasOwnProperty"]
    nodes = [relu(names[i - 1] if i else "x", names[i], name=names[i]) for i in range(len(names))]
    return model(nodes, outputs=[value(names[-1], None)])


def formula_name():
    return model([relu(name="=cmd|' /C calc'!A0")])


def deep_names():
    return model([relu("x", "h", name="/a" * 50_000), relu("h", "y", name="/../../../etc/passwd")])


def nan_and_zero_scale():
    weight = numpy_helper.from_array(np.full((4, 4), np.nan, np.float32), "w")
    scale = numpy_helper.from_array(np.float32(0), "s")
    zero = numpy_helper.from_array(np.int8(0), "z")
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
        helper.make_node("MatMul", ["d", "w"], ["y"], name="mm"),
    ]
    return model(nodes, initializers=[weight, scale, zero])


def shadowing():
    def branch(op, name):
        return helper.make_graph(
            [helper.make_node(op, ["x"], ["h"], name=name)], name, [], [value("h", None)]
        )

    nodes = [
        relu("x", "h", name="outer"),
        helper.make_node(
            "If",
            ["c"],
            ["r"],
            name="if",
            then_branch=branch("Neg", "then"),
            else_branch=branch("Abs", "else"),
        ),
        helper.make_node("Add", ["h", "r"], ["y"], name="add"),
    ]
    return model(nodes, inputs=[value("x"), value("c", (), TensorProto.BOOL)])


def wide_concat():
    node = helper.make_node("Concat", [f"x{i}" for i in range(20_000)], ["y"], axis=0, name="cat")
    return model([node], inputs=[value(f"x{i}") for i in range(20_000)])


def enormous_matmul():
    side = 10_000_000
    inputs = [value("x", (side, side)), value("b", (side, side))]
    return model([helper.make_node("MatMul", ["x", "b"], ["y"], name="mm")], inputs=inputs)


def constant_outside():
    held = external("t", [4, 4], location="/etc/passwd")
    nodes = [
        helper.make_node("Constant", [], ["w"], value=held),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    return model(nodes)


def sparse_outside():
    made = model([helper.make_node("MatMul", ["x", "w"], ["y"])])
    sparse = made.graph.sparse_initializer.add(dims=[4, 4])
    sparse.values.CopyFrom(external("w", [2], location="../../secret.bin"))
    sparse.indices.CopyFrom(ints("", 0, 1))
    return made
