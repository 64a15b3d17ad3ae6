"""What a loop cuts out step by step has a size."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.builders.shared_parts import build_metrics
from py_autodoc.report.pipeline.analysis import Options, run_analysis

F, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
STEP = 2 * 16 * 64 + 2 * 32 * 64 + 2 * 64 * 64 + 2 * 64 * 50
"""MACs of one step of the decoder below at batch 2."""


def info(name, kind=F, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def greedy(trips=12, length=20, batch=2, counter="iteration", width=1) -> bytes:
    """A recurrent decoder that reads ``memory[:, t:t + width]`` and feeds the best token back."""
    values = {
        "table": np.zeros((50, 32)), "into": np.zeros((32, 64)), "again": np.zeros((64, 64)),
        "out": np.zeros((64, 50)), "from_memory": np.zeros((16, 64)),
    }  # fmt: skip
    constants = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in values.items()]
    for name, value in {
        "width": width,
        "one": 1,
        "axis": [1],
        "first": [0],
        "start": 0,
        "trips": trips,
    }.items():
        constants.append(numpy_helper.from_array(np.array(value, np.int64), name))
    t = "t" if counter == "iteration" else "i"
    nodes = [
        helper.make_node("Unsqueeze", [t, "first"], ["begin"]),
        helper.make_node("Add", [t, "width"], ["behind"]),
        helper.make_node("Unsqueeze", ["behind", "first"], ["end"]),
        helper.make_node("Slice", ["memory", "begin", "end", "axis"], ["piece"], name="slice"),
        helper.make_node("ReduceMax", ["piece"], ["now"], axes=[1], keepdims=0),
        helper.make_node("MatMul", ["now", "from_memory"], ["m"]),
        helper.make_node("Gather", ["table", "token"], ["e"]),
        helper.make_node("MatMul", ["e", "into"], ["a"]),
        helper.make_node("MatMul", ["h", "again"], ["b"]),
        helper.make_node("Sum", ["a", "b", "m"], ["s"]),
        helper.make_node("Tanh", ["s"], ["h2"]),
        helper.make_node("MatMul", ["h2", "out"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["token2"], axis=1, keepdims=0),
        helper.make_node("Identity", ["go"], ["go2"]),
        helper.make_node("Add", ["i", "one"], ["i2"]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [info("t", INT, []), info("go", BOOL, []), info("h"), info("token", INT), info("i", INT, [])],
        [info("go2", BOOL, []), info("h2"), info("token2", INT), info("i2", INT, []), info("scores")],
    )
    loop = helper.make_node(
        "Loop", ["trips", "", "h0", "token0", "start"], ["h9", "token9", "i9", "all"], body=body
    )
    graph = helper.make_graph(
        [loop],
        "g",
        [info("memory", F, [batch, length, 16]), info("h0", F, [batch, 64]), info("token0", INT, [batch])],
        [info("all")],
        constants,
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()


@pytest.mark.parametrize("counter", ["iteration", "carried"])
@pytest.mark.parametrize("width", [1, 3])
def test_costs_of_a_greedy_decoder_are_whole(counter, width):
    found = run_analysis(greedy(counter=counter, width=width))
    assert found.totals.nodes_known == found.totals.nodes_total
    assert found.totals.macs == 12 * STEP
    assert found.diagnostics == ()


def test_as_an_expression():
    found = run_analysis(greedy(batch="n"))
    assert build_metrics(found).total_macs_expr == f"{12 * STEP // 2}*n"
    assert run_analysis(greedy(batch="n"), Options(bindings={"n": 2})).totals.macs == 12 * STEP


def test_a_loop_that_walks_beyond_the_end_leaves_the_piece_open():
    found = run_analysis(greedy(trips=30, length=20))
    (piece,) = [t for t in found.model.tensors if t.name == "piece"]
    assert not isinstance(found.types.shapes[piece.id][1], int)
    (one,) = [d for d in found.diagnostics if d.code == "partial-coverage"]
    assert "Slice “slice”" in one.message


def test_a_count_that_may_be_negative_names_nothing():
    data = onnx.load_from_string(greedy(counter="carried"))
    for tensor in data.graph.initializer:
        if tensor.name == "start":
            tensor.CopyFrom(numpy_helper.from_array(np.array(-5, np.int64), "start"))
    found = run_analysis(data.SerializeToString())
    assert found.totals.nodes_known < found.totals.nodes_total
