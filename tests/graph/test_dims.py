"""Names of dimensions, bindings and assumptions."""

import pytest
from onnx import helper
from shapes.shape_help import F16, I64, graph, proto, types_of

from py_autodoc.errors import OptionError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.symbolic_dims import dim_names


def add_model(a, b=None, dtype=None):
    inputs = {"x": a} if b is None else {"x": a, "z": b}
    nodes = [helper.make_node("Add", ["x", "z" if b else "x"], ["y"])]
    return proto(graph(nodes, inputs, ["y"], {}))


def test_bindings_from_the_command_line():
    assert dim_names.parse_bindings(["batch=4", "*=1", "a=b=2"]) == {"batch": 4, "*": 1, "a=b": 2}
    for bad in ("batch", "=3", "batch=", "batch=x", "batch=-1", "batch=1e3", "batch=٣", "b=" + "9" * 40):
        with pytest.raises(OptionError):
            dim_names.parse_bindings([bad])


def test_input_shapes_from_the_command_line():
    assert dim_names.parse_input_shapes(["x=1x3x224x224", "s=[2,3]"]) == {"x": (1, 3, 224, 224), "s": (2, 3)}
    with pytest.raises(OptionError):
        dim_names.parse_input_shapes(["x=1xax3"])


def test_symbols_keep_their_order_and_take_values():
    r = types_of(add_model(["batch", "seq + 1"], ["batch", 1]))
    assert r.types.symbols == ("batch", "seq")
    assert r.shape("y") == ("batch", "seq + 1")
    r = types_of(add_model(["batch", "seq + 1"], ["batch", 1]), {"seq": 4, "*": 2})
    assert r.shape("y") == (2, 5)
    assert r.types.bindings == {"batch": 2, "seq": 4}


def test_a_size_for_an_input_binds_its_name_elsewhere():
    r = types_of(add_model(["n", 4], ["n", 1]), None, {"x": [3, 4]})
    assert (r.shape("z"), r.shape("y")) == ((3, 1), (3, 4))


@pytest.mark.parametrize(
    ("bindings", "shapes", "part"),
    [
        ({"bacth": 1}, {}, "Did you mean batch"),
        ({"batch": -1}, {}, "not usable"),
        ({}, {"xx": [1, 2]}, "Did you mean x"),
        ({}, {"x": [1, 2, 3]}, "2 dimensions, not 3"),
        ({}, {"x": [1, -2]}, "cannot have"),
        ({"batch": 2}, {"x": [3, 4]}, "two sizes: 2 and, by the shape of input 'x', 3"),
    ],
)
def test_options_that_do_not_fit_are_named(bindings, shapes, part):
    with pytest.raises(OptionError) as caught:
        types_of(add_model(["batch", "seq"]), bindings, shapes)
    assert part in str(caught.value)


def test_unknown_sizes_are_never_taken_for_equal():
    model = add_model(["?", "?"], ["?", "-1"])
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = -1
    model.graph.input[1].type.tensor_type.shape.dim[1].ClearField("dim_param")
    r = types_of(model)
    assert r.types.symbols == ("x_d0", "x_d1", "z_d0", "z_d1")
    assert r.shape("x") == ("x_d0", "x_d1")
    assert types_of(model, {"*": 7}).shape("y") == (7, 7)
    assert types_of(model, {"x_d0": 2, "x_d1": 3, "z_d0": 1, "z_d1": 3}).shape("y") == (2, 3)


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('x')", "9**9**9**9", "a" * 100_000, "Max(1, s0)", "batch size", "d.0", "αβ"],
)
def test_odd_names_are_atoms(text):
    r = types_of(add_model([text, 4]))
    (symbol,) = r.types.symbols
    assert r.shape("y")[1] == 4
    assert r.shape("y")[0] == symbol
    assert len(symbol) <= 100
    assert types_of(add_model([text, 4]), {symbol: 5}).shape("y") == (5, 4)
    plain = text in ("batch size", "d.0")
    assert ("opaque-dim" in r.codes) is not plain
    assert symbol == text or len(text) > 64


def test_an_atom_inside_an_expression_gets_a_safe_name():
    nodes = [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)]
    r = types_of(proto(graph(nodes, {"x": ["batch size", 2]}, ["y"], {})))
    assert r.shape("y") == ("2*batch_size", 2)


def test_a_generated_name_does_not_meet_a_real_one():
    model = add_model([None, "x_d0"])
    assert types_of(model).types.symbols == ("x_d0_2", "x_d0")


@pytest.mark.parametrize(
    ("name", "spec", "wanted"),
    [
        ("input_ids", (I64, ["batch", "sequence_length"]), {"batch": 1, "sequence_length": 128}),
        ("input_ids", (I64, [None, None]), {"input_ids_d0": 1, "input_ids_d1": 128}),
        ("pixel_values", ["N", 3, None, None], {"N": 1, "pixel_values_d2": 224, "pixel_values_d3": 224}),
        ("image", [None, "height", "width", 3], {"image_d0": 1, "height": 224, "width": 224}),
        ("audio", [None, None], {"audio_d0": 1, "audio_d1": 16000}),
        ("input", ["batch", "sequence"], {"batch": 1, "sequence": 16000}),
        ("mask", ["batch", "sequence"], {"batch": 1, "sequence": 128}),
        (
            "past_key",
            (F16, ["batch", 8, "past_sequence_length", 64]),
            {"batch": 1, "past_sequence_length": 0},
        ),
        ("m", (I64, ["b", "past_len + seq"]), {"b": 1, "past_len": 0, "seq": 128}),
        ("hidden", [None, None, 768], {"hidden_d0": 1, "hidden_d1": 128}),
        ("x", ["foo", "bar", "baz", 7, 7], {"foo": 1, "bar": 1, "baz": 1}),
        ("x", ["weird name", 2], {"weird name": 1}),
    ],
)
def test_assumed_sizes(name, spec, wanted):
    model = proto(graph([helper.make_node("Identity", [name], ["y"])], {name: spec}, ["y"], {}))
    built = build(load_bytes(model.SerializeToString(), "m"))
    assert dim_names.typical_sizes(built) == wanted
    types_of(model, dim_names.typical_sizes(built))


def test_ids_say_what_a_shared_symbol_means():
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    model = proto(graph(nodes, {"x": ["b", "seq"], "ids": (I64, ["b", "seq"])}, ["y"], {}))
    assert dim_names.typical_sizes(build(load_bytes(model.SerializeToString(), "m"))) == {"b": 1, "seq": 128}
