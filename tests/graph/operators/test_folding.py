"""The operators that values are followed through are those that are declared, no fewer and no more."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from py_autodoc.graph.shapes.shape_context import FOLDS, ShapeContext
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MODELS = sorted((Path(__file__).parents[2] / "data" / "models").glob("*.onnx"))
I64, BOOL = np.int64, np.bool_
A, B = np.array([[6, 2], [4, 8]], I64), np.array([[2, 1], [2, 4]], I64)
TRUTH = np.array([[True, False], [False, True]])
OF_TRUTH = {"And", "Or", "Xor", "Not"}
OF_ONE = {
    "Abs", "BitwiseNot", "Ceil", "Exp", "Flatten", "Floor", "Identity", "Log", "Neg", "Reciprocal", "Relu",
    "Round", "Shape", "Sign", "Size", "Sqrt", "Squeeze", "Transpose",
}  # fmt: skip
OTHERS = {
    "Cast": ((A,), {"to": TensorProto.FLOAT}),
    "CastLike": ((A, B.astype(np.float32)), {}),
    "Clip": ((A, np.array(3, I64)), {}),
    "Concat": ((A, B), {"axis": 0}),
    "Constant": ((), {"value_ints": [1, 2]}),
    "ConstantOfShape": ((np.array([2], I64),), {}),
    "CumSum": ((A, np.array(0, I64)), {}),
    "Expand": ((A, np.array([2, 2, 2], I64)), {}),
    "Gather": ((A, np.array([0], I64)), {"axis": 1}),
    "NonZero": ((A,), {}),
    "Range": ((np.array(1, I64), np.array(5, I64), np.array(2, I64)), {}),
    "Reshape": ((A, np.array([4], I64)), {}),
    "ScatterND": ((A, np.array([[0]], I64), B[:1]), {}),
    "Slice": ((A, np.array([0], I64), np.array([1], I64)), {}),
    "Split": ((A,), {"num_outputs": 2}),
    "Tile": ((A, np.array([1, 2], I64)), {}),
    "Unsqueeze": ((A, np.array([0], I64)), {}),
    "Where": ((TRUTH, A, B), {}),
}
FLOATS = {"Ceil", "Exp", "Floor", "Log", "Reciprocal", "Round", "Sqrt"}


def inferred(nodes, arrays, outputs):
    """The types of a model whose values are all in the file, but for an input that nothing reads."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])]
    values = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    stored = [numpy_helper.from_array(array, f"c{i}") for i, array in enumerate(arrays)]
    graph = helper.make_graph(nodes, "g", inputs, values, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    analysis = run_analysis(model.SerializeToString(), Options())
    names = {tensor.name: tensor.id for tensor in analysis.model.tensors}
    return analysis.types.values, names


@pytest.mark.parametrize("op", sorted(op for _, op in FOLDS - {("", "If"), ("", "SequenceLength")}))
def test_values_go_through_what_is_declared(op):
    if op in OTHERS:
        arrays, attributes = OTHERS[op]
    else:
        one, other = (TRUTH, ~TRUTH) if op in OF_TRUTH else (A, B)
        one = one.astype(np.float32) if op in FLOATS else one
        alone = op in OF_ONE or op == "Not" or op.startswith("Reduce")
        arrays, attributes = ((one,) if alone else (one, other)), {}
    outputs = ["y", "z"] if op == "Split" else ["y"]
    node = helper.make_node(op, [f"c{i}" for i in range(len(arrays))], outputs, **attributes)
    values, names = inferred([node], arrays, outputs)
    found = values.get(names["y"])
    assert found is not None
    if op != "Constant":
        model = helper.make_model(
            helper.make_graph(
                [node], "g",
                [helper.make_tensor_value_info(f"c{i}", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                 for i, a in enumerate(arrays)],
                [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
            ),
            opset_imports=[helper.make_opsetid("", 18)],
        )  # fmt: skip
        wanted = ReferenceEvaluator(model).run(None, {f"c{i}": array for i, array in enumerate(arrays)})[0]
        np.testing.assert_allclose(found.astype(float), np.asarray(wanted).astype(float), rtol=1e-6)


def test_values_go_through_one_branch_and_the_length_of_a_sequence():
    branch = helper.make_graph(
        [helper.make_node("Identity", ["c0"], ["b"])], "b",
        [], [helper.make_tensor_value_info("b", TensorProto.INT64, [2, 2])],
    )  # fmt: skip
    nodes = [
        helper.make_node("If", ["c1"], ["y"], then_branch=branch, else_branch=branch),
        helper.make_node("SequenceConstruct", ["c0", "c0", "c0"], ["s"]),
        helper.make_node("SequenceLength", ["s"], ["z"]),
    ]
    values, names = inferred(nodes, (A, np.array(True)), ["y", "z"])
    assert values[names["y"]].tolist() == A.tolist()
    assert values[names["z"]] == 3


@pytest.mark.parametrize("path", MODELS[::4], ids=lambda path: path.stem)
def test_nothing_else_gets_a_value(path, monkeypatch):
    folded = set()
    plain = ShapeContext.set_value

    def noted(op, i, value):
        if value is not None:
            folded.add((op.node.domain, op.node.op_type))
        plain(op, i, value)

    monkeypatch.setattr(ShapeContext, "set_value", noted)
    run_analysis(path, Options(assume=True))
    assert folded <= FOLDS
