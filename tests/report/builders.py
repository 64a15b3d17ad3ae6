"""Small models made in the test."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

F, INT = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, initializers=(), opset=20, **extra) -> onnx.ModelProto:
    """A model of float tensors; ``inputs``/``outputs`` are (name, shape)."""
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info(name, F, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, F, shape) for name, shape in outputs],
        initializer=list(initializers),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9, **extra)


def weight(name, *shape):
    """A float initializer of zeros."""
    size = 1
    for d in shape:
        size *= d
    return helper.make_tensor(name, F, shape, [0.0] * size)


def linear() -> onnx.ModelProto:
    """x[2,4] · w[4,3] + b[3], named like a module tree."""
    return model(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="/block/fc/MatMul"),
            helper.make_node("Add", ["h", "b"], ["y"], name="/block/fc/Add"),
            helper.make_node("Relu", ["y"], ["z"], name="/Relu"),
        ],
        [("x", [2, 4])],
        [("z", [2, 3])],
        [weight("w", 4, 3), weight("b", 3)],
        producer_name="tests",
    )


def branches() -> onnx.ModelProto:
    """An If whose branches cost 24 and 48 MACs, behind a computed condition."""

    def branch(name, columns):
        nodes = [
            helper.make_node("MatMul", ["x", f"w_{name}"], [f"{name}_h"], name=f"/gate/{name}/MatMul"),
            helper.make_node("ReduceSum", [f"{name}_h"], [f"{name}_y"], keepdims=0),
        ]
        out = helper.make_tensor_value_info(f"{name}_y", F, [])
        return helper.make_graph(nodes, name, [], [out], initializer=[weight(f"w_{name}", 4, columns)])

    return model(
        [
            helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0, name="/sum"),
            helper.make_node("Greater", ["s", "zero"], ["c"]),
            helper.make_node(
                "If", ["c"], ["y"], name="/gate/If", then_branch=branch("a", 3), else_branch=branch("b", 6)
            ),
        ],
        [("x", [2, 4])],
        [("y", [])],
        [weight("zero")],
    )


def loop(trips: int | None = 5) -> onnx.ModelProto:
    """A Loop around x·w (32 MACs an iteration); ``trips`` None: the count is an input."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["cond"], ["cond_out"]),
            helper.make_node("MatMul", ["state", "w"], ["next"], name="step"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT, []),
            helper.make_tensor_value_info("cond", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", F, [2, 4]),
        ],
        [
            helper.make_tensor_value_info("cond_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", F, [2, 4]),
        ],
        initializer=[weight("w", 4, 4)],
    )
    proto = model(
        [helper.make_node("Loop", ["n", "", "x"], ["y"], name="repeat", body=body)],
        [("x", [2, 4])],
        [("y", [2, 4])],
        [] if trips is None else [helper.make_tensor("n", INT, [], [trips])],
    )
    if trips is None:
        proto.graph.input.append(helper.make_tensor_value_info("n", INT, []))
    return proto
