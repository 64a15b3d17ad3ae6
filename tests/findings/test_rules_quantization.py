"""Rules on quantization: non-quantizable, float-islands."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper
from rule_help import F, found, model, weight

node = helper.make_node
INT8, UINT8 = TensorProto.INT8, TensorProto.UINT8
SCALES = [
    helper.make_tensor("s", F, [], [0.1]),
    helper.make_tensor("z", UINT8, [], [0]),
    helper.make_tensor("zw", INT8, [], [0]),
]


# non-quantizable


def speech(hidden, dense=64):
    """An LSTM and a MatMul."""
    nodes = [
        node("LSTM", ["x", "w", "r"], ["h"], hidden_size=hidden, name="lstm"),
        node("MatMul", ["h", "v"], ["y"]),
    ]
    weights = [weight("w", 1, 4 * hidden, 64), weight("r", 1, 4 * hidden, hidden), weight("v", hidden, dense)]
    return model(nodes, [("x", [10, 1, 64])], [("y", None)], weights)


def test_recurrent_layers():
    (finding,) = found("non-quantizable", speech(256))
    assert finding.severity == "low"
    assert finding.nodes == (0,)
    assert finding.evidence["operators"] == ["LSTM"]
    assert finding.evidence["basis"] == "macs"
    assert finding.evidence["share"] > 0.9


def test_a_smaller_part_is_info():
    (finding,) = found("non-quantizable", speech(64, dense=4096))
    assert finding.severity == "info"


def test_small_models_and_plain_layers_are_left_alone():
    assert found("non-quantizable", speech(32)) == []
    plain = model(
        [node("Conv", ["x", "w"], ["y"])],
        [("x", [1, 256, 8, 8])],
        [("y", None)],
        [weight("w", 256, 256, 3, 3)],
    )
    assert found("non-quantizable", plain) == []


def test_a_layer_in_a_body():
    def body(name):
        out = helper.make_tensor_value_info(f"{name}_y", F, None)
        return helper.make_graph([node("MatMul", ["x", f"w{name}"], [f"{name}_y"])], name, [], [out])

    nodes = [
        node("ReduceSum", ["x"], ["t"], keepdims=0),
        node("Cast", ["t"], ["c"], to=TensorProto.BOOL),
        node("If", ["c"], ["y"], then_branch=body("a"), else_branch=body("b")),
    ]
    weights = [weight("wa", 512, 512), weight("wb", 512, 512)]
    (finding,) = found("non-quantizable", model(nodes, [("x", [1, 512])], [("y", None)], weights))
    assert finding.evidence["operators"] == ["MatMul in a body"]


# float-islands


def qdq(*states, side=256, rows=1):
    """Layers one after the other: ``int`` quantized, ``float``, ``weight`` with a quantized weight only."""
    nodes, weights, last = [], list(SCALES), "x"
    for i, state in enumerate(states):
        held = f"w{i}"
        weights.append(weight(held, side, side, kind=F if state == "float" else INT8))
        if state != "float":
            nodes.append(node("DequantizeLinear", [held, "s", "zw"], [f"{held}f"]))
            held += "f"
        if state == "int":
            nodes += [
                node("QuantizeLinear", [last, "s", "z"], [f"q{i}"]),
                node("DequantizeLinear", [f"q{i}", "s", "z"], [f"d{i}"]),
            ]
            last = f"d{i}"
        nodes.append(node("MatMul", [last, held], [f"h{i}"], name=f"fc{i}"))
        last = f"h{i}"
    return model(nodes, [("x", [rows, side])], [(last, None)], weights)


@pytest.mark.parametrize("rows", [1, "batch"])
def test_an_island(rows):
    (finding,) = found("float-islands", qdq("int", "float", "int", "int", rows=rows))
    assert finding.severity == "medium"
    assert len(finding.nodes) == 1
    assert finding.evidence["share"] == 0.25
    assert finding.evidence["quantized_layers"] == 3
    (finding,) = found("float-islands", qdq("int", "float", *["int"] * 8, rows=rows))
    assert finding.severity == "low"


@pytest.mark.parametrize(
    "states",
    [
        ("int",) * 4,
        ("float", "int", "int"),
        ("int", "int", "float"),
        ("int", "weight", "int"),
        ("weight",) * 4,
        ("float",) * 4,
    ],
)
def test_no_island(states):
    assert found("float-islands", qdq(*states)) == []


def qlinear(middle):
    """QLinearConv → ConvTranspose in float → QLinearConv, or three QLinearConv."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"])]

    def conv(source, kernel, result):
        nodes.append(node("QLinearConv", [source, "s", "z", kernel, "s", "zw", "s", "z"], [result]))

    conv("q", "w0", "a")
    if middle == "float":
        nodes.append(node("DequantizeLinear", ["a", "s", "z"], ["af"]))
        nodes.append(node("Exp", ["af"], ["ae"]))
        nodes.append(node("ConvTranspose", ["ae", "wf"], ["bf"], name="up"))
        nodes.append(node("QuantizeLinear", ["bf", "s", "z"], ["b"]))
    else:
        conv("a", "w1", "b")
    conv("b", "w2", "c")
    nodes.append(node("DequantizeLinear", ["c", "s", "z"], ["y"]))
    kinds = {"w0": INT8, "w1": INT8, "w2": INT8, "wf": F}
    weights = [weight(name, 16, 16, 1, 1, kind=kind) for name, kind in kinds.items()]
    return model(nodes, [("x", [1, 16, 8, 8])], [("y", None)], [*SCALES, *weights])


def test_an_island_between_integer_operators():
    (finding,) = found("float-islands", qlinear("float"))
    assert finding.nodes == (4,)
    assert found("float-islands", qlinear("int")) == []


def test_products_of_activations_in_a_dynamically_quantized_model():
    """Dynamic quantization leaves attention's own products in float by design."""
    nodes, last = [], "x"
    for i in range(3):
        nodes += [node("DynamicQuantizeLinear", [last], [f"q{i}", f"s{i}", f"z{i}"]),
                  node("MatMulInteger", [f"q{i}", f"w{i}", f"z{i}"], [f"i{i}"]),
                  node("Cast", [f"i{i}"], [f"c{i}"], to=F),
                  node("MatMul", [f"c{i}", f"c{i}"], [f"p{i}"])]  # fmt: skip
        last = f"p{i}"
    weights = [weight(f"w{i}", 64, 64, kind=INT8) for i in range(3)]
    assert found("float-islands", model(nodes, [("x", [64, 64])], [(last, None)], weights)) == []
