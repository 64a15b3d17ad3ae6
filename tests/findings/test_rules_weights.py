"""Rules on constants and weights: unused, duplicated, foldable, bad ones."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from rule_help import INT, F, found, model, weight, whole

node = helper.make_node


def array(name, values, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, kind), name)


def read(rule, source):
    return [f for f in whole(source, read_weights=True).findings if f.rule == rule]


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(0, 1, shape)


def dense(*weights, use=None):
    """A chain of MatMuls by ``weights`` (square, all of one size), or by the names in ``use``."""
    names = use or [w.name for w in weights]
    side = weights[0].dims[0]
    nodes = [node("MatMul", [f"x{i}", name], [f"x{i + 1}"], name=f"fc{i}") for i, name in enumerate(names)]
    return model(nodes, [("x0", [2, side])], [(f"x{len(names)}", [2, side])], weights)


# unused-initializers


def test_unused():
    (finding,) = found("unused-initializers", dense(weight("a", 256, 256), weight("b", 256, 256), use=["a"]))
    assert finding.severity == "low"
    assert finding.evidence["unused_bytes"] == 256 * 256 * 4
    assert finding.evidence["largest"] == ["b"]


def test_much_unused_is_medium():
    (finding,) = found(
        "unused-initializers", dense(weight("a", 2048, 2048), weight("b", 4096, 1024), use=["a"])
    )
    assert finding.severity == "medium"


def test_small_unused_ones_are_left_alone():
    assert found("unused-initializers", dense(weight("a", 64, 64), weight("b", 64, 64), use=["a"])) == []


def test_used_in_a_body_or_returned_is_used():
    def body(name, held):
        out = helper.make_tensor_value_info(f"{name}_y", F, [2, 256])
        return helper.make_graph([node("MatMul", ["x", held], [f"{name}_y"])], name, [], [out])

    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
        node("If", ["c"], ["y"], then_branch=body("yes", "a"), else_branch=body("no", "b")),
    ]
    weights = [weight(name, 256, 256) for name in "abz"]
    graph = model(nodes, [("x", [2, 256])], [("y", [2, 256]), ("z", [256, 256])], weights)
    assert found("unused-initializers", graph) == []


# duplicated-weights


@pytest.mark.slow
@pytest.mark.parametrize("size", [256, 2048])
def test_duplicates_by_their_bytes(size):
    values = noise(size, size)
    graph = dense(array("a", values), array("b", values), array("c", noise(size, size, seed=1)))
    (finding,) = read("duplicated-weights", graph)
    assert finding.severity == ("low" if size == 256 else "medium")
    assert finding.evidence["copied_bytes"] == size * size * 4
    assert finding.evidence["largest"] == ["a = b"]
    assert finding.evidence["all_weights_compared"] is True
    assert finding.nodes == (0, 1)
    assert found("duplicated-weights", graph) == []  # weights were not read: nothing is known


def test_equal_shapes_and_uniform_values_are_no_duplicates():
    a, b = noise(256, 256), noise(256, 256, seed=1)
    assert read("duplicated-weights", dense(array("a", a), array("b", b))) == []
    ones = np.ones((256, 256))
    assert read("duplicated-weights", dense(array("a", ones), array("b", ones))) == []


def test_another_type_or_shape_is_no_duplicate():
    bits = np.arange(65_536, dtype=np.int32)
    nodes = [
        node("Gather", ["a", "i"], ["y"]),
        node("Gather", ["b", "i"], ["z"]),
        node("Gather", ["c", "i"], ["v"]),
    ]
    tensors = [
        array("a", bits, np.int32),
        array("b", bits.view(np.float32)),
        array("c", bits.reshape(256, 256), np.int32),
    ]
    graph = model(nodes, [("i", [1], INT)], [(n, None) for n in "yzv"], tensors)
    assert read("duplicated-weights", graph) == []


def test_one_stretch_of_a_file_is_stored_once(tmp_path):
    noise(256, 256).astype(np.float32).tofile(tmp_path / "w.bin")
    tensors = [weight("w", 256, 256), weight("w", 256, 256)]
    tensors[1].name = "v"
    path = tmp_path / "m.onnx"
    path.write_bytes(dense(*tensors).SerializeToString())
    assert read("duplicated-weights", path) == []


def test_small_constants_are_compared_without_reading():
    values = [array(f"w{i}", noise(31, 31)) for i in range(40)]
    (finding,) = found("duplicated-weights", dense(*values), min_bytes=100_000)
    assert finding.evidence["copies"] == 39
    assert finding.evidence["all_weights_compared"] is False
    assert found("duplicated-weights", dense(*values[:10])) == []


# foldable-constants


def transposed(count, side=512, tied=False):
    """MatMuls by weights that a Transpose turns first; ``tied``: the first is looked up as it is, too."""
    nodes, weights = [], []
    for i in range(count):
        nodes += [
            node("Transpose", [f"w{i}"], [f"t{i}"], name=f"turn{i}"),
            node("MatMul", [f"x{i}", f"t{i}"], [f"x{i + 1}"]),
        ]
        weights.append(weight(f"w{i}", side, side))
    outputs = [(f"x{count}", [2, side])]
    if tied:
        nodes.append(node("Gather", ["w0", "ids"], ["rows"]))
        outputs.append(("rows", None))
    return model(nodes, [("x0", [2, side]), ("ids", [1], INT)], outputs, weights)


def test_foldable():
    (finding,) = found("foldable-constants", transposed(3))
    assert finding.severity == "info"
    assert finding.nodes == (0, 2, 4)
    assert finding.evidence["result_bytes"] == 3 * 512 * 512 * 4
    (finding,) = found("foldable-constants", transposed(8, 1024))
    assert finding.severity == "low"


def test_a_tied_weight_is_not_to_be_folded():
    assert found("foldable-constants", transposed(1, tied=True)) == []


def test_what_follows_a_view_counts_too():
    nodes = [
        node("Transpose", ["w"], ["t"]),
        node("Reshape", ["t", "shape"], ["r"]),
        node("MatMul", ["x", "r"], ["y"]),
    ]
    shape = helper.make_tensor("shape", INT, [2], [1024, 256])
    (finding,) = found(
        "foldable-constants", model(nodes, [("x", [1, 1024])], [("y", None)], [weight("w", 512, 512), shape])
    )
    assert finding.nodes == (0,)
    assert finding.evidence["result_bytes"] == 512 * 512 * 4


def test_shape_arithmetic_and_dequantization_are_left_alone():
    nodes, last = [], "s"
    for i in range(20):
        nodes.append(node("Add", [last, "one"], [f"s{i}"]))
        last = f"s{i}"
    nodes += [
        node("ConstantOfShape", [last], ["zeros"]),
        node("DequantizeLinear", ["q", "scale"], ["w"]),
        node("Cast", ["half"], ["v"], to=F),
        node("MatMul", ["x", "w"], ["h"]),
        node("MatMul", ["h", "v"], ["y"]),
        node("Add", ["x", "zeros"], ["z"]),
    ]
    tensors = [
        helper.make_tensor("s", INT, [2], [1, 1]),
        helper.make_tensor("one", INT, [2], [1, 1]),
        helper.make_tensor("scale", F, [], [0.1]),
        weight("q", 1024, 1024, kind=TensorProto.INT8),
        weight("half", 1024, 1024, kind=TensorProto.FLOAT16),
    ]
    graph = model(nodes, [("x", [2, 1024])], [("y", None), ("z", None)], tensors)
    assert found("foldable-constants", graph) == []


# bad-weights


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_broken_values(value):
    values = noise(32, 32)
    values[3, 4] = value
    (finding,) = read("bad-weights", dense(array("a", noise(32, 32)), array("b", values)))
    assert finding.severity == "high"
    assert finding.nodes == (1,)
    assert finding.evidence["nan"] + finding.evidence["infinite"] == 1
    assert finding.evidence["names"] == ["b"]


def test_broken_values_behind_a_view():
    values = noise(32, 32).astype(np.float16)
    values[0, 0] = np.nan
    nodes = [
        node("Cast", ["w"], ["c"], to=F),
        node("Transpose", ["c"], ["t"]),
        node("MatMul", ["x", "t"], ["y"]),
    ]
    graph = model(nodes, [("x", [2, 32])], [("y", [2, 32])], [array("w", values, np.float16)])
    (finding,) = read("bad-weights", graph)
    assert finding.nodes == (2,)


def test_a_layer_of_zeros():
    graph = dense(array("a", noise(32, 32)), array("b", np.zeros((32, 32))))
    (finding,) = read("bad-weights", graph)
    assert finding.severity == "medium"
    assert finding.nodes == (1,)
    assert found("bad-weights", graph) == []  # weights were not read


def test_masks_biases_and_small_zeros_are_fine():
    mask = np.triu(np.full((64, 64), -np.inf), 1)
    nodes = [
        node("MatMul", ["x", "w"], ["h"]),
        node("Add", ["h", "bias"], ["b"]),
        node("Add", ["b", "mask"], ["m"]),
        node("Gather", ["mask", "i"], ["rows"]),
        node("MatMul", ["m", "tiny"], ["y"]),  # below the floor
    ]
    tensors = [array("w", noise(64, 64)), array("bias", np.zeros(64)), array("mask", mask)]
    tensors += [
        array("tiny", np.zeros((64, 1))),
        array("i", [0], np.int64),
    ]
    graph = model(nodes, [("x", [64, 64])], [("y", None), ("rows", None)], tensors)
    floor = {"bad-weights": {"min_elements": 65}}
    assert not [f for f in whole(graph, floor, read_weights=True).findings if f.rule == "bad-weights"]


def test_stored_zeros_of_a_quantized_weight_are_not_zero():
    nodes = [node("DequantizeLinear", ["q", "s", "z"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    tensors = [
        array("q", np.zeros((32, 32)), np.uint8),
        array("s", np.float32(0.1)),
        array("z", np.uint8(128), np.uint8),
    ]
    assert read("bad-weights", model(nodes, [("x", [2, 32])], [("y", None)], tensors)) == []
