"""Rules on what a graph computes in vain or too wide: dead-outputs, redundant-pairs, wide-arithmetic."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper
from rule_help import INT, F, found, model, weight

node = helper.make_node
DOUBLE = TensorProto.DOUBLE


# dead-outputs


def head(cut, side=256):
    """A trunk with two heads; ``cut`` takes the second from the outputs."""
    nodes = [
        node("MatMul", ["x", "a"], ["h"]),
        node("MatMul", ["h", "b"], ["y"]),
        node("MatMul", ["h", "c"], ["g"], name="second"),
        node("Relu", ["g"], ["z"]),
    ]
    outputs = [("y", [2, side]), ("z", [2, side])]
    return model(
        nodes, [("x", [2, side])], outputs[: 1 if cut else 2], [weight(n, side, side) for n in "abc"]
    )


def test_dead_nodes():
    (finding,) = found("dead-outputs", head(cut=True))
    assert finding.severity == "low"
    assert finding.nodes == (2, 3)
    assert finding.evidence["weight_bytes"] == 256 * 256 * 4
    assert 0.3 < finding.evidence["flops_share"] < 0.34
    assert found("dead-outputs", head(cut=False)) == []


def test_a_few_cheap_dead_nodes_are_left_alone():
    nodes = [node("MatMul", ["x", "a"], ["y"]), node("Identity", ["x"], ["z"])]
    assert found("dead-outputs", model(nodes, [("x", [2, 64])], [("y", None)], [weight("a", 64, 64)])) == []


def test_optional_outputs_and_custom_operators_are_alive():
    nodes = [
        node("Dropout", ["x"], ["y", "mask"]),
        node("TopK", ["y", "k"], ["values", "indices"]),
        node("Log", ["values"], ["shown"]),
        *(node("Print", ["shown"], [f"p{i}"], domain="com.example") for i in range(6)),
    ]
    constant = helper.make_tensor("k", INT, [1], [2])
    assert found("dead-outputs", model(nodes, [("x", [2, 64])], [("y", None)], [constant])) == []


def test_what_a_body_captures_is_alive():
    def body(name):
        out = helper.make_tensor_value_info(f"{name}_y", F, None)
        return helper.make_graph([node("Relu", ["h3"], [f"{name}_y"])], name, [], [out])

    nodes = [node("Sin", [f"h{i}" if i else "x"], [f"h{i + 1}"]) for i in range(3)]
    nodes += [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
        node("If", ["c"], ["y"], then_branch=body("yes"), else_branch=body("no")),
    ]
    assert found("dead-outputs", model(nodes, [("x", [2, 64])], [("y", None)])) == []


def test_an_output_that_never_changes():
    nodes = [node("Relu", ["x"], ["y"]), node("Add", ["a", "a"], ["sum"], name="still")]
    (finding,) = found(
        "dead-outputs", model(nodes, [("x", [2])], [("y", [2]), ("sum", [4])], [weight("a", 4)])
    )
    assert finding.severity == "low"
    assert finding.nodes == (1,)
    assert finding.evidence["names"] == ["sum"]


@pytest.mark.parametrize("op", ["RandomNormalLike", "Bernoulli"])
def test_chance_is_no_constant(op):
    nodes = [node("Relu", ["x"], ["y"]), node(op, ["a"], ["r"])]
    assert found("dead-outputs", model(nodes, [("x", [2])], [("y", [2]), ("r", [4])], [weight("a", 4)])) == []


def test_a_graph_without_inputs_is_meant_to_be_constant():
    assert (
        found("dead-outputs", model([node("Relu", ["a"], ["y"])], [], [("y", [4])], [weight("a", 4)])) == []
    )


# redundant-pairs


def chain(*nodes, shape=(1, 64, 64, 64), kind=F, end=None):
    """Operators one after the other, given as (op, inputs, attributes)."""
    made, last = [], "x"
    for i, (op, more, attributes) in enumerate(nodes):
        made.append(node(op, [last, *more], [f"h{i}"], name=f"n{i}", **attributes))
        last = f"h{i}"
    constants = [
        helper.make_tensor("flat", INT, [2], [1, -1]),
        helper.make_tensor("back", INT, [4], [1, 64, 64, 64]),
        helper.make_tensor("copy", INT, [2], [0, -1]),
    ]
    return model(made, [("x", list(shape), kind)], [(last, None, end or kind)], constants)


TO_LAST = ("Transpose", [], {"perm": [0, 2, 3, 1]})
TO_FIRST = ("Transpose", [], {"perm": [0, 3, 1, 2]})
RELU = ("Relu", [], {})


def cast(to):
    return ("Cast", [], {"to": to})


def test_transposes_that_undo_each_other():
    (finding,) = found("redundant-pairs", chain(RELU, TO_LAST, TO_FIRST, RELU))
    assert finding.severity == "low"
    assert finding.nodes == (1, 2)
    assert finding.evidence["kind"] == "transpose"
    assert finding.evidence["moved_bytes"] == 4 * 64**3 * 4


@pytest.mark.parametrize("between", [[RELU], [TO_LAST]])
def test_transposes_that_do_not(between):
    graph = chain(TO_LAST, *between, TO_LAST if between == [TO_LAST] else TO_FIRST, shape=(1, 64, 64, 64))
    assert found("redundant-pairs", graph) == []


def test_small_pairs_are_left_alone():
    assert found("redundant-pairs", chain(TO_LAST, TO_FIRST, shape=(1, 2, 3, 4))) == []
    assert found("redundant-pairs", chain(*[TO_LAST, TO_FIRST, RELU] * 4, shape=(1, 2, 3, 4)))


def test_pairs_of_unknown_size():
    shape = ("batch", 64, "h", "w")
    assert found("redundant-pairs", chain(TO_LAST, TO_FIRST, shape=shape)) == []
    (finding,) = found("redundant-pairs", chain(*[TO_LAST, TO_FIRST, RELU] * 4, shape=shape))
    assert finding.severity == "info"
    assert finding.evidence["moved_bytes"] is None


def test_casts_there_and_back():
    graph = chain(RELU, cast(F), cast(TensorProto.FLOAT16), RELU, kind=TensorProto.FLOAT16)
    (finding,) = found("redundant-pairs", graph)
    assert finding.evidence["kind"] == "cast"
    assert finding.nodes == (1, 2)


@pytest.mark.parametrize("to", [TensorProto.FLOAT16, TensorProto.INT32, TensorProto.BFLOAT16])
def test_a_cast_that_rounds_is_no_pair(to):
    assert found("redundant-pairs", chain(RELU, cast(to), cast(F), RELU)) == []


def test_reshape_chains():
    pair = [("Reshape", ["flat"], {}), ("Reshape", ["back"], {}), RELU]
    (finding,) = found("redundant-pairs", chain(*pair * 4))
    assert finding.severity == "info"
    assert (finding.evidence["kind"], finding.evidence["pairs"]) == ("reshape", 4)
    assert found("redundant-pairs", chain(*pair * 3)) == []


def test_a_reshape_that_copies_a_size_needs_the_one_before():
    pair = [("Reshape", ["flat"], {}), ("Reshape", ["copy"], {}), RELU]
    assert found("redundant-pairs", chain(*pair * 4)) == []


def test_quantization_is_no_pair():
    nodes = []
    for i in range(6):
        nodes.append(node("QuantizeLinear", [f"d{i}" if i else "x", "s", "z"], [f"q{i}"]))
        nodes.append(node("DequantizeLinear", [f"q{i}", "s", "z"], [f"d{i + 1}"]))
    tensors = [helper.make_tensor("s", F, [], [0.1]), helper.make_tensor("z", TensorProto.INT8, [], [0])]
    assert found("redundant-pairs", model(nodes, [("x", [1, 1024, 1024])], [("d6", None)], tensors)) == []


# wide-arithmetic


def matmul(kind, side=512, rows=8):
    nodes = [node("MatMul", ["x", "w"], ["y"], name="fc")]
    return model(
        nodes, [("x", [rows, side], kind)], [("y", None, kind)], [weight("w", side, side, kind=kind)]
    )


def test_double_layers():
    (finding,) = found("wide-arithmetic", matmul(DOUBLE))
    assert finding.severity == "medium"
    assert finding.evidence == {"count": 1, "share": 1.0, "basis": "macs", "macs": 8 * 512 * 512}


def test_double_layers_of_unknown_batch():
    (finding,) = found("wide-arithmetic", matmul(DOUBLE, rows="batch"))
    assert finding.severity == "medium"
    assert finding.evidence["basis"] == "params"


def test_small_and_narrow_layers_are_left_alone():
    assert found("wide-arithmetic", matmul(F)) == []
    assert found("wide-arithmetic", matmul(DOUBLE, side=16)) == []


@pytest.mark.parametrize("kind", [DOUBLE, INT])
def test_large_elementwise_arithmetic(kind):
    graph = model([node("Mul", ["x", "x"], ["y"])], [("x", [1024, 128], kind)], [("y", None, kind)])
    (finding,) = found("wide-arithmetic", graph)
    assert finding.severity == "low"
    assert finding.evidence["flops"] == 1024 * 128


def test_sizes_and_ids_do_not_count():
    nodes = [
        node("Gather", ["table", "ids"], ["h"]),
        node("MatMul", ["h", "w"], ["y"]),
        node("Shape", ["ids"], ["s"]),
        node("Mul", ["s", "s"], ["m"]),
        node("Equal", ["ids", "ids"], ["pad"]),
    ]
    weights = [weight("table", 1000, 256), weight("w", 256, 256)]
    outputs = [("y", None), ("m", None, INT), ("pad", None, TensorProto.BOOL)]
    assert found("wide-arithmetic", model(nodes, [("ids", [1, 512], INT)], outputs, weights)) == []
    large = model(nodes, [("ids", [512, 512], INT)], outputs, weights)
    assert found("wide-arithmetic", large) == []  # a large comparison, but a tiny share of the work
