"""Small values, numbers or symbols, flow to where shapes need them."""

import numpy as np
import pytest
from onnx import helper
from shape_help import BOOL, I64, F, one, run

i64 = lambda *v: np.array(v, np.int64)  # noqa: E731


def n(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def test_view_of_a_tensor_by_its_own_shape():
    nodes = [
        n("Shape", "x", "s"),
        n("Gather", "s zero", "b"),
        n("Gather", "s one", "t"),
        n("Unsqueeze", "b ax", "b1"),
        n("Unsqueeze", "t ax", "t1"),
        n("Concat", "b1 t1 heads minus", "target", axis=0),
        n("Reshape", "x target", "y"),
    ]
    consts = {"zero": np.int64(0), "one": np.int64(1), "ax": i64(0), "heads": i64(12), "minus": i64(-1)}
    r = run(nodes, {"x": ["batch", "seq", 768]}, consts)
    assert r.shape("y") == ("batch", "seq", 12, 64)
    r = run(nodes, {"x": ["batch", "seq", 768]}, consts, bindings={"batch": 2, "seq": 5})
    assert r.shape("y") == (2, 5, 12, 64)
    assert r.value("target") == [2, 5, 12, -1]


def test_arithmetic_on_symbols():
    nodes = [
        n("Shape", "x", "s", start=0, end=1),
        n("Add", "s three", "a"),
        n("Mul", "a two", "m"),
        n("Div", "m two", "d"),
        n("Sub", "d three", "e"),
        n("Cast", "e", "f", to=F),
        n("Cast", "f", "g", to=I64),
        n("ConstantOfShape", "g", "y"),
        n("ConstantOfShape", "m", "z"),
    ]
    r = run(nodes, {"x": ["n", 2]}, {"three": i64(3), "two": i64(2)}, ("y", "z"))
    assert (r.shape("y"), r.shape("z")) == (("n",), ("2*n + 6",))


def test_product_of_a_shape():
    nodes = [n("Shape", "x", "s"), n("ReduceProd", "s", "p", keepdims=1), n("Expand", "one", "y")]
    nodes[2] = n("Expand", "one p", "y")
    assert run(nodes, {"x": ["n", 3, 4]}, {"one": np.float32(1)}).shape("y") == ("12*n",)
    nodes = [n("Size", "x", "s"), n("Reshape", "s m", "r"), n("Expand", "one r", "y")]
    assert run(nodes, {"x": ["n", 3, 4]}, {"one": np.float32(1), "m": i64(-1)}).shape("y") == ("12*n",)


def test_a_condition_on_a_symbol_that_has_one_answer():
    # exporters write Where(shape == -1, 1, shape) before Expand
    nodes = [
        n("Shape", "x", "s"),
        n("Equal", "s minus", "e"),
        n("Where", "e ones s", "t"),
        n("Expand", "v t", "y"),
    ]
    r = run(nodes, {"x": ["b", "s"]}, {"minus": i64(-1), "ones": i64(1, 1), "v": np.float32(0)})
    assert r.shape("y") == ("b", "s")


def test_undecided_conditions_stay_unknown():
    nodes = [
        n("Shape", "x", "s"),
        n("Greater", "s four", "g"),
        n("Where", "g four s", "t"),
        n("Expand", "v t", "y"),
    ]
    r = run(nodes, {"x": ["b"]}, {"four": i64(4), "v": np.float32(0)})
    assert r.shape("y") == ("expand_3_0",)
    assert run(nodes, {"x": [9]}, {"four": i64(4), "v": np.float32(0)}).shape("y") == (4,)
    # An unknown element of a shape says nothing of the other dimensions.
    nodes[3] = n("Concat", "t four", "c", axis=0)
    nodes += [n("Expand", "v c", "y")]
    assert run(nodes, {"x": ["b"]}, {"four": i64(4), "v": np.float32(0)}).shape("y") == ("expand_4_0", 4)


def test_buffers_are_cut_to_the_sequence():
    nodes = [
        n("Shape", "x", "s", start=1, end=2),
        n("Slice", "buffer zero s axis", "y"),
    ]
    consts = {"buffer": np.zeros((1, 512), np.int64), "zero": i64(0), "axis": i64(1)}
    assert run(nodes, {"x": ["b", "seq"]}, consts).shape("y") == (1, "seq")
    assert run(nodes, {"x": ["b", 700]}, consts).shape("y") == (1, 512)


@pytest.mark.parametrize(
    ("op", "inputs", "wanted", "attributes"),
    [
        ("Concat", {"a": i64(1, 2), "b": i64(3)}, [1, 2, 3], {"axis": 0}),
        ("Slice", {"a": i64(1, 2, 3), "s": i64(-1), "e": i64(-9), "x": i64(0), "st": i64(-1)}, [3, 2, 1], {}),
        ("Div", {"a": i64(-7, 7), "b": i64(2)}, [-3, 3], {}),
        ("Mod", {"a": i64(-7), "b": i64(3)}, [2], {}),
        ("Mod", {"a": i64(-7), "b": i64(3)}, [-1], {"fmod": 1}),
        ("Max", {"a": i64(1, 5), "b": i64(3), "c": i64(2)}, [3, 5], {}),
        ("Where", {"c": np.array([True, False]), "a": i64(1), "b": i64(2)}, [1, 2], {}),
        ("Cast", {"a": np.array([2.7], np.float32)}, [2], {"to": I64}),
        ("Cast", {"a": i64(0, 2)}, [False, True], {"to": BOOL}),
        ("Floor", {"a": np.array([2.7], np.float32)}, [2.0], {}),
        ("Transpose", {"a": np.array([[1, 2], [3, 4]])}, [[1, 3], [2, 4]], {}),
        ("Tile", {"a": i64(1, 2), "r": i64(2)}, [1, 2, 1, 2], {}),
        ("Expand", {"a": i64(1), "r": i64(3)}, [1, 1, 1], {}),
        ("NonZero", {"a": i64(0, 4, 0, 5)}, [[1, 3]], {}),
        ("ReduceMax", {"a": i64(4, 9, 2)}, 9, {"keepdims": 0}),
        ("CumSum", {"a": i64(1, 2, 3), "x": np.int64(0)}, [1, 3, 6], {}),
        ("ScatterND", {"a": i64(1, 2, 3), "i": np.array([[1]]), "u": i64(9)}, [1, 9, 3], {}),
        ("Clip", {"a": i64(1, 5, 9), "l": np.int64(2), "h": np.int64(6)}, [2, 5, 6], {}),
        ("Squeeze", {"a": i64(7), "x": i64(0)}, 7, {}),
        ("Not", {"a": np.array([True])}, [False], {}),
        ("Pow", {"a": i64(2, 3), "b": i64(2)}, [4, 9], {}),
    ],
)
def test_values_of_constants(op, inputs, wanted, attributes):
    r = one(op, {}, inputs, **attributes)
    assert r.value("y") == wanted


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Div", {"a": i64(1), "b": i64(0)}),
        ("Mod", {"a": i64(1), "b": i64(0)}),
        ("Pow", {"a": i64(2), "b": i64(-1)}),
        ("Gather", {"a": i64(2), "b": i64(7)}),
    ],
)
def test_no_value_where_there_is_none(op, inputs):
    assert one(op, {}, inputs).value("y") is None


def test_large_values_are_not_followed():
    r = one("Add", {}, {"a": np.zeros((32, 1), np.int64), "b": np.zeros((1, 64), np.int64)})
    assert r.shape("y") == (32, 64)
    assert r.value("y") is None
    r = one("ConstantOfShape", {}, {"s": i64(0, 2**62)})
    assert r.shape("y") == (0, 2**62)


def test_constant_nodes_of_every_kind():
    for attribute, dtype, shape in [
        ({"value_int": 3}, I64, ()),
        ({"value_ints": [1, 2]}, I64, (2,)),
        ({"value_float": 1.0}, F, ()),
        ({"value_floats": [1.0]}, F, (1,)),
        ({"value_string": "a"}, 8, ()),
        ({"value_strings": ["a", "b"]}, 8, (2,)),
    ]:
        r = one("Constant", {}, **attribute)
        assert (r.dtype("y"), r.shape("y")) == (dtype, shape)


def test_text_is_never_taken_for_a_symbol():
    nodes = [n("Constant", "", "s", value_strings=["n", "m"]), n("Identity", "s", "y")]
    r = run(nodes, {"x": ["n"]})
    assert (r.shape("y"), r.value("y")) == ((2,), None)
