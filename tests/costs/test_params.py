"""What counts as a parameter, who owns it, what it weighs."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from costs.harness import ML, MS, Analysed, analyse, model_with
from py_autodoc.costs.params import ParamTable, count_params


def tensor(name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ones(shape, dtype), name)


def run(
    nodes: list[onnx.NodeProto],
    initializers: list[onnx.TensorProto],
    inputs: dict[str, tuple[int, ...]],
    out: str,
) -> tuple[Analysed, ParamTable]:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in inputs.items()],
        [onnx.ValueInfoProto(name=out)],
        initializers,
    )
    done = analyse(model_with(graph, 21))
    return done, count_params(done.model, done.types)


def node(op: str, ins: list[str], out: str, **attrs: Any) -> onnx.NodeProto:
    return helper.make_node(op, ins, [out], name=out, **attrs)


def owned(done: Analysed, table: ParamTable) -> dict[str, int]:
    return {n.name: p for n, p in zip(done.model.nodes, table.params, strict=True) if p}


def test_tied_weights_count_once_for_the_first_user() -> None:
    done, table = run(
        [node("MatMul", ["x", "w"], "a"), node("MatMul", ["a", "w"], "y")],
        [tensor("w", (8, 8))],
        {"x": (4, 8)},
        "y",
    )
    assert (table.total, table.weight_bytes) == (64, 256)
    assert owned(done, table) == {"a": 64}


def test_two_tensors_of_one_external_region_are_tied() -> None:
    weights = []
    for name in ("w", "v"):
        t = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=[8, 8], data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", "w.bin"), ("offset", "4096"), ("length", "256")):
            t.external_data.add(key=key, value=value)
        weights.append(t)
    _, table = run(
        [node("MatMul", ["x", "w"], "a"), node("MatMul", ["a", "v"], "y")], weights, {"x": (4, 8)}, "y"
    )
    assert (table.total, table.weight_bytes) == (64, 256)


def test_constant_nodes_hold_parameters() -> None:
    constant = node("Constant", [], "w", value=tensor("", (8, 8)))
    done, table = run([constant, node("MatMul", ["x", "w"], "y")], [], {"x": (4, 8)}, "y")
    assert owned(done, table) == {"y": 64}


def test_an_unused_weight_is_still_the_models() -> None:
    _, table = run([node("Relu", ["x"], "y")], [tensor("w", (3, 3))], {"x": (4, 8)}, "y")
    assert (table.total, table.unused) == (9, 9)


def test_integers_masks_and_text_are_listed_apart() -> None:
    nodes = [node("Reshape", ["x", "s"], "a"), node("Where", ["m", "a", "w"], "y")]
    constants = [
        tensor("s", (2,), np.int64),
        tensor("m", (4, 8), bool),
        tensor("w", (1, 8)),
    ]
    constants.append(helper.make_tensor("t", TensorProto.STRING, [3], [b"a", b"b", b"c"]))
    _, table = run(nodes, constants, {"x": (8, 4)}, "y")
    assert table.total == 8
    assert table.other_constants == {"integer_constants": 2, "masks": 32, "text": 3}


@pytest.mark.parametrize("middle", [[], ["Transpose"], ["Identity", "Cast"]])
def test_the_user_behind_a_dequantizelinear_owns_the_weight(middle: list[str]) -> None:
    nodes = [node("DequantizeLinear", ["q", "s", "z"], "d")]
    last = "d"
    for op in middle:
        nodes.append(node(op, [last], op, **({"to": 1} if op == "Cast" else {})))
        last = op
    nodes.append(node("MatMul", ["x", last], "y"))
    constants = [tensor("q", (8, 8), np.int8), tensor("s", ()), tensor("z", (), np.int8)]
    done, table = run(nodes, constants, {"x": (4, 8)}, "y")
    assert owned(done, table) == {"y": 64}
    assert table.other_constants == {"scales": 1, "zero_points": 1}
    assert table.weight_bytes == 64 + 4 + 1


def test_packed_int4_counts_elements() -> None:
    packed = helper.make_tensor("q", TensorProto.INT4, [3, 5], np.ones((3, 5), np.int8))
    _, table = run(
        [node("DequantizeLinear", ["q", "s"], "d"), node("MatMul", ["x", "d"], "y")],
        [packed, tensor("s", ())],
        {"x": (4, 3)},
        "y",
    )
    assert (table.total, table.weight_bytes) == (15, 8 + 4)


def test_matmulnbits_counts_the_weights_in_its_bytes() -> None:
    n = node("MatMulNBits", ["x", "b", "s"], "y", domain=MS, K=64, N=32, bits=4, block_size=32)
    _, table = run([n], [tensor("b", (32, 2, 16), np.uint8), tensor("s", (64,))], {"x": (4, 64)}, "y")
    assert table.total == 64 * 32
    assert table.other_constants == {"scales": 64}
    assert table.weight_bytes == 1024 + 256


@pytest.mark.parametrize(("k", "n"), [(1 << 40, 1 << 40), ("a", 3), (-1, 4)])
def test_matmulnbits_with_absurd_sizes_counts_what_is_stored(k: Any, n: Any) -> None:
    it = node("MatMulNBits", ["x", "b", "s"], "y", domain=MS, K=k, N=n, bits=4, block_size=32)
    _, table = run([it], [tensor("b", (32, 2, 16), np.uint8), tensor("s", (64,))], {"x": (4, 64)}, "y")
    assert table.total == 1024


@pytest.mark.parametrize(
    ("op", "ins", "count"),
    [
        ("MatMulInteger", ["x", "w"], 64),
        ("QLinearMatMul", ["x", "f", "z", "w", "f", "z", "f", "z"], 64),
        ("Gather", ["w", "i"], 0),  # a table of numbers that nothing dequantizes
    ],
)
def test_integer_weights_by_operator(op: str, ins: list[str], count: int) -> None:
    every = {
        "w": tensor("w", (8, 8), np.int8),
        "f": tensor("f", ()),
        "z": tensor("z", (), np.int8),
        "i": tensor("i", (2,), np.int64),
    }
    _, table = run([node(op, ins, "y")], [t for name, t in every.items() if name in ins], {"x": (4, 8)}, "y")
    assert table.total == count


def test_a_quantized_embedding_counts_through_its_gather() -> None:
    nodes = [node("Gather", ["w", "i"], "g"), node("DequantizeLinear", ["g", "s"], "y")]
    done, table = run(
        nodes, [tensor("w", (10, 8), np.int8), tensor("i", (2,), np.int64), tensor("s", ())], {"x": (1,)}, "y"
    )
    assert owned(done, table) == {"g": 80}


@pytest.mark.parametrize(
    ("nodes", "count"),
    [
        ([node("Conv", ["x", "w"], "y")], 432),
        ([node("Identity", ["w"], "v"), node("Conv", ["x", "v"], "y")], 432),
        ([node("Add", ["x", "w"], "y")], 0),
    ],
)
def test_generated_weights(nodes: list[onnx.NodeProto], count: int) -> None:
    made = node("ConstantOfShape", ["s"], "w", value=tensor("", (1,)))
    shape = numpy_helper.from_array(np.array([16, 3, 3, 3], np.int64), "s")
    _, table = run([made, *nodes], [shape], {"x": (1, 3, 3, 3)}, "y")
    assert table.total == count
    assert table.weight_bytes == 32 + 4 * count


def test_sparse_weights_count_stored_values() -> None:
    values, indices = tensor("w", (5,)), numpy_helper.from_array(np.arange(5, dtype=np.int64), "i")
    graph = helper.make_graph(
        [node("Relu", ["w"], "y")], "g", [], [onnx.ValueInfoProto(name="y")],
        sparse_initializer=[helper.make_sparse_tensor(values, indices, [8, 8])],
    )  # fmt: skip
    done = analyse(model_with(graph))
    table = count_params(done.model, done.types)
    assert (table.total, table.weight_bytes) == (5, 20 + 40)


def test_both_branches_of_an_if_hold_parameters() -> None:
    def branch(name: str, size: int) -> onnx.GraphProto:
        out = helper.make_tensor_value_info("o" + name, TensorProto.FLOAT, None)
        return helper.make_graph(
            [node("MatMul", ["x", name], "o" + name)], name, [], [out], [tensor(name, (8, size))]
        )

    it = node("If", ["c"], "y", then_branch=branch("a", 2), else_branch=branch("b", 3))
    done, table = run([it], [tensor("c", (), bool)], {"x": (4, 8)}, "y")
    assert table.total == 16 + 24
    assert owned(done, table) == {"oa": 16, "ob": 24}


def test_classical_models_keep_parameters_in_attributes() -> None:
    it = node(
        "LinearRegressor", ["x"], "y", domain=ML, coefficients=[0.5] * 6, intercepts=[1.0, 2.0], targets=2
    )
    done, table = run([it], [], {"x": (4, 3)}, "y")
    assert owned(done, table) == {"y": 8}
    assert table.weight_bytes == 32


def test_quantized_attention_owns_its_weight_but_not_its_scales() -> None:
    ins = ["x", "w", "b", "xs", "ws", "", "xz", "wz"]
    it = node("QAttention", ins, "y", domain=MS, num_heads=2)
    constants = [tensor("w", (8, 24), np.int8), tensor("b", (24,)), tensor("xs", ()), tensor("ws", ())]
    constants += [tensor("xz", (), np.uint8), tensor("wz", (), np.int8)]
    _, table = run([it], constants, {"x": (2, 4, 8)}, "y")
    assert table.total == 8 * 24 + 24
    assert table.other_constants == {"scales": 2, "zero_points": 2}


@pytest.mark.parametrize(
    ("op", "ins", "integers", "scales", "zero_points"),
    [
        ("QLinearConcat", ["s1", "z1", "x", "s2", "z2", "w", "s3", "z3"], 8, 3, 3),
        ("QLinearWhere", ["c", "x", "s1", "z1", "w", "s2", "z2", "s3", "z3"], 8, 3, 3),
        ("QLinearReduceMean", ["x", "s1", "z1", "s2", "z2"], 0, 2, 2),
    ],
)
def test_scales_and_zero_points_of_quantized_operators_are_no_parameters(
    op: str, ins: list[str], integers: int, scales: int, zero_points: int
) -> None:
    constants = [tensor(it, ()) for it in ins if it[0] == "s"]
    constants += [tensor(it, (), np.uint8) for it in ins if it[0] == "z"]
    if integers:
        constants.append(tensor("w", (2, 4), np.uint8))
    _, table = run([node(op, ins, "y", domain=MS)], constants, {"x": (2, 4), "c": (2, 4)}, "y")
    assert table.total == 0
    other = {"integer_constants": integers} if integers else {}
    assert table.other_constants == {"scales": scales, "zero_points": zero_points, **other}


def test_a_four_bit_embedding_counts_two_weights_a_byte() -> None:
    it = node("GatherBlockQuantized", ["w", "i", "s"], "y", domain=MS, bits=4)
    constants = [tensor("w", (100, 16), np.uint8), tensor("i", (3,), np.int64), tensor("s", (100, 1))]
    _, table = run([it], constants, {"x": (1,)}, "y")
    assert table.total == 100 * 32
    assert table.other_constants == {"integer_constants": 3, "scales": 100}
