"""Bytes by type and operator, on graphs counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from costs.harness import MS, Analysed, analyse, model_with
from py_autodoc.costs.breakdown import MemoryBreakdown, breakdown
from py_autodoc.costs.params import ParamTable, count_params
from py_autodoc.costs.tensor_sizes import TensorSizes

F32, U8, I4, U4, F16 = (
    TensorProto.FLOAT,
    TensorProto.UINT8,
    TensorProto.INT4,
    TensorProto.UINT4,
    TensorProto.FLOAT16,
)


def split(proto: onnx.ModelProto, **bind: int) -> tuple[Analysed, ParamTable, MemoryBreakdown]:
    done = analyse(proto, bind)
    sizes = TensorSizes(done.model, done.types)
    params = count_params(done.model, done.types, sizes)
    found = breakdown(done.model, sizes, params, done.costs.nodes)
    check(params, found)
    return done, params, found


def check(params: ParamTable, found: MemoryBreakdown) -> None:
    """Every way of splitting the weights adds up to the same totals."""
    for parts in (found.by_dtype, found.by_op, found.by_origin):
        shares = list(parts.values())  # type: ignore[attr-defined]
        assert sum(share.params for share in shares) == params.total
        assert sum(share.tensors for share in shares) == len(params.constants)
        if params.weight_bytes is not None:
            assert sum(share.bytes for share in shares) == params.weight_bytes
    assert sum(row.nodes for row in found.produced.values()) == found.produced_total.nodes
    assert sum(row.bytes or 0 for row in found.produced.values()) == (found.produced_total.bytes or 0)


def graph(nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], **inputs: Any) -> onnx.ModelProto:
    ins = [helper.make_tensor_value_info(name, F32, shape) for name, shape in inputs.items()]
    return model_with(helper.make_graph(nodes, "g", ins, [onnx.ValueInfoProto(name="y")], weights), 24)


def floats(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.zeros(shape, np.float32), name)


def packed(name: str, dtype: int, *shape: int) -> onnx.TensorProto:
    count = int(np.prod(shape))
    return TensorProto(name=name, data_type=dtype, dims=shape, raw_data=bytes((count + 1) // 2))


def test_a_tied_weight_counts_once_for_its_first_user() -> None:
    nodes = [
        helper.make_node("Gather", ["w", "i"], ["e"]),
        helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["e", "t"], ["y"]),
    ]
    ids = numpy_helper.from_array(np.zeros(3, np.int64), "i")
    _, _, found = split(graph(nodes, [floats("w", 50, 8), ids], x=[1]))
    assert found.by_dtype[F32, 0].bytes == 50 * 8 * 4
    assert found.by_op["", "Gather"].bytes == 1600 + 24
    assert ("", "MatMul") not in found.by_op
    # e 3×8, t 8×50, y 3×50 floats
    assert {op: row.bytes for (_, op), row in found.produced.items()} == {
        "Gather": 96, "Transpose": 1600, "MatMul": 600,
    }  # fmt: skip


def test_shared_external_storage_counts_once() -> None:
    weights = []
    for name in ("w", "v"):
        t = TensorProto(name=name, data_type=F32, dims=[8, 8], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "data.bin"), ("offset", "0"), ("length", "256")):
            t.external_data.add(key=key, value=value)
        weights.append(t)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "v"], ["b"])]
    nodes.append(helper.make_node("Add", ["b", "c"], ["y"]))
    _, params, found = split(graph(nodes, [*weights, floats("c", 8)], x=[4, 8]))
    assert params.weight_bytes == 256 + 32
    assert (found.by_origin["external"].bytes, found.by_origin["inline"].bytes) == (256, 32)
    assert found.by_op["", "MatMul"].tensors == 1


def test_four_bit_types_weigh_half_a_byte() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=1),
        helper.make_node("MatMul", ["x", "f"], ["h"]),
        helper.make_node("DequantizeLinear", ["odd", "one"], ["o"]),
        helper.make_node("Add", ["h", "o"], ["y"]),
    ]
    weights = [packed("w", I4, 8, 3), floats("s", 3), packed("odd", U4, 1, 3), floats("one")]
    _, params, found = split(graph(nodes, weights, x=[4, 8]))
    assert (found.by_dtype[I4, 0].bytes, found.by_dtype[I4, 0].params) == (12, 24)
    assert (found.by_dtype[U4, 0].bytes, found.by_dtype[U4, 0].params) == (2, 3)
    assert found.by_dtype[F32, 0].params == 0  # scales
    assert found.by_op["", "MatMul"].bytes == 12
    assert found.by_op["", "DequantizeLinear"].bytes == 3 * 4 + 4
    assert params.total == 27


def test_weights_packed_into_bytes_say_so() -> None:
    nodes = [
        helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain=MS, K=64, N=16, bits=4, block_size=32)
    ]
    weight = numpy_helper.from_array(np.zeros((16, 2, 16), np.uint8), "w")
    _, _, found = split(graph(nodes, [weight, floats("s", 32)], x=[4, 64]))
    share = found.by_dtype[U8, 4]
    assert (share.bytes, share.params) == (512, 1024)
    assert found.by_op[MS, "MatMulNBits"].bytes == 512 + 128


def test_a_four_bit_table_holds_one_weight_an_element() -> None:
    nodes = [
        helper.make_node("GatherBlockQuantized", ["w", "i", "s"], ["y"], domain=MS, bits=4, block_size=32)
    ]
    ids = numpy_helper.from_array(np.zeros(3, np.int64), "i")
    _, params, found = split(graph(nodes, [packed("w", U4, 10, 32), floats("s", 10, 1), ids], x=[1]))
    assert params.total == 320
    assert (found.by_dtype[U4, 0].bytes, found.by_dtype[U4, 0].params) == (160, 320)


def test_generated_weights_have_a_place_of_their_own() -> None:
    shape = numpy_helper.from_array(np.array([8, 8], np.int64), "shape")
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    _, _, found = split(graph(nodes, [shape], x=[4, 8]))
    assert found.by_origin["generated"].bytes == 256
    assert found.by_op["", "MatMul"].bytes == 256


def test_constants_nobody_uses_have_no_operator() -> None:
    _, params, found = split(graph([helper.make_node("Relu", ["x"], ["y"])], [floats("w", 5)], x=[4]))
    assert found.by_op["", ""].bytes == 20
    assert params.unused == 5


def test_text_weighs_what_is_stored() -> None:
    words = helper.make_tensor("words", TensorProto.STRING, [2], [b"a", b"bc"])
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    _, params, found = split(graph(nodes, [words, floats("w", 4)], x=[4]))
    assert params.weight_bytes == 3 + 16
    assert found.by_dtype[TensorProto.STRING, 0].bytes == 3
    assert found.by_dtype[F32, 0].bytes == 16


def test_a_body_counts_as_often_as_it_runs() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[10] x) => (float[10] y) {
      n = Constant <value_int = 5> ()
      go = Constant <value = bool {1}> ()
      y = Loop (n, go, x) <body = b (int64 i, bool ok, float[10] state) => (bool ok2, float[10] next) {
        ok2 = Identity(ok)
        next = Sin(state)
      }>
    }"""
    _, _, found = split(onnx.parser.parse_model(text))
    assert {op: row.bytes for (_, op), row in found.produced.items()} == {
        "Loop": 40,
        "Identity": 5,
        "Sin": 200,
    }


def test_the_branch_that_is_left_out_produces_nothing() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[10] x, bool c) => (float[10] y) {
      y = If (c) <then_branch = t () => (float[10] p) { p = Relu(x) },
                  else_branch = e () => (float[10] q) { r = Sigmoid(x) q = Tanh(r) }>
    }"""
    _, _, found = split(onnx.parser.parse_model(text))
    assert sorted(op for _, op in found.produced) == ["If", "Sigmoid", "Tanh"]


def test_unknown_sizes_are_left_out_and_counted() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[n] x, float[3] z) => (float[n] y, float[3] w) { y = Relu(x) a = Relu(x) w = Sin(z) }"""
    _, _, found = split(onnx.parser.parse_model(text))
    relu = found.produced["", "Relu"]
    assert (relu.nodes, relu.bytes, relu.unknown) == (2, None, 2)
    assert (found.produced_total.bytes, found.produced_total.unknown) == (12, 2)


def test_the_largest() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[10] x) => (float[30] y) {
      s = Constant <value_ints = [2, 5]> ()
      a = Sin(x)
      v = Reshape(a, s)
      u = Reshape(v, s)
      y = Concat <axis = 0> (a, x, a)
    }"""
    done, _, found = split(onnx.parser.parse_model(text))
    names = [done.model.tensors[t].name for t in found.largest_activations]
    assert names == ["y", "x", "a"]  # views of a are no memory of their own
    weights = [floats(f"w{i}", i + 1) for i in range(20)]
    nodes = [helper.make_node("Sum", ["x", *(w.name for w in weights)], ["y"])]
    done, _, found = split(graph(nodes, weights, x=[1]))
    assert [done.model.tensors[c.tensor].name for c in found.largest_weights] == [
        f"w{i}" for i in range(19, 9, -1)
    ]
    assert [c.bytes for c in found.largest_weights] == [4 * i for i in range(20, 10, -1)]
