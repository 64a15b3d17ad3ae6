"""Signed activations between Q and DQ: optimized sessions compute them as the reference of u8 does."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from reference_cases import S8, U8, codes

from py_autodoc.opdocs.integer_operations import find_operations
from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.reference import evaluate
from py_autodoc.quantize.reference.saturation import as_unsigned

KERNEL = "pairs" if current_runtime() == "cpu-avx2" else "exact"
pytestmark = pytest.mark.skipif(current_runtime() == "cpu-arm", reason="ARM keeps signed activations")


def qdq(op_type, x, weight, zeros, y_scale, **attributes):
    """Q → DQ → operator → Q → DQ of one scale 1, in floats; x is the input of the model."""
    x_zero, w_zero, y_zero = zeros
    stored = {"one": np.float32(1), "s": y_scale, "xz": x_zero, "wz": w_zero, "yz": y_zero, "w": weight}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one", "xz"], ["x_q"]),
        helper.make_node("DequantizeLinear", ["x_q", "one", "xz"], ["x_f"]),
        helper.make_node("DequantizeLinear", ["w", "one", "wz"], ["w_f"]),
        helper.make_node(op_type, ["x_f", "w_f"], ["y_f"], "it", **attributes),
        helper.make_node("QuantizeLinear", ["y_f", "s", "yz"], ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "s", "yz"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def run(model, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


@pytest.mark.parametrize(
    "types", [(S8, S8), (S8, U8), (U8, S8), (U8, U8)], ids=["s8s8", "s8u8", "u8s8", "u8u8"]
)
@pytest.mark.parametrize("op_type", ["Conv", "MatMul"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None, database=None)
def test_an_optimized_session_is_the_reference_of_u8(op_type, types, seed):
    dice = np.random.default_rng(seed)
    a_type, b_type = types
    attributes = {}
    if op_type == "Conv":
        group = int(dice.choice([1, 2]))
        shape = (group * int(dice.integers(1, 4)), int(dice.integers(1, 4)), 3, 2)
        weight = codes(dice, b_type, shape)
        x_codes = codes(dice, a_type, (1, group * shape[1], 6, 5))
        attributes = {"group": group, "kernel_shape": [3, 2], "pads": [1, 0, 0, 1]}
    else:
        depth = int(dice.integers(1, 40))
        weight, x_codes = codes(dice, b_type, (depth, 7)), codes(dice, a_type, (3, depth))
    zeros = [np.asarray(codes(dice, one, ()), one) for one in (a_type, b_type, a_type)]
    zeros[1] = np.zeros((), S8) if b_type == S8 else zeros[1]
    y_scale = np.float32(60 * 60 * weight[0].size ** 0.5 / 40)
    x = x_codes.astype(np.float32) - np.float32(zeros[0])
    model = qdq(op_type, x, weight, zeros, y_scale, **attributes)
    (operation,) = (one for one in find_operations(model).operations if one.name == "it")
    assert operation.unsigned == (frozenset({0}) if a_type == S8 else frozenset())
    one = np.float32(1)
    inputs = [x_codes, one, zeros[0], weight, one, zeros[1], y_scale, zeros[2]]
    unsigned = as_unsigned(operation.op_type, inputs, operation.unsigned)
    (found,) = evaluate(operation.op_type, unsigned, operation.attributes, KERNEL)
    expected = run(model, x)
    np.testing.assert_array_equal(
        (found.astype(np.int32) - int(zeros[2])).astype(np.float32) * y_scale, expected
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None, database=None)
def test_real_values_stay(seed):
    dice = np.random.default_rng(seed)
    one = np.float32(1)
    zeros = [np.asarray(codes(dice, S8, ()), S8) for _ in range(3)]
    a, b = codes(dice, S8, (3, 8)), codes(dice, S8, (8, 5))
    inputs = [a, one, zeros[0], b, one, zeros[1], np.float32(300), zeros[2]]
    for operands in ((), (0,), (3,), (0, 3)):
        unsigned = as_unsigned("QLinearMatMul", inputs, operands)
        assert [unsigned[at].dtype for at in (0, 3)] == [U8 if at in operands else S8 for at in (0, 3)]
        np.testing.assert_array_equal(
            evaluate("QLinearMatMul", unsigned)[0], evaluate("QLinearMatMul", inputs)[0]
        )


def test_both_signed_operands_saturate_only_as_unsigned():
    one, zero = np.float32(1), np.zeros((), S8)
    inputs = [np.full((1, 4), 127, S8), one, zero, np.full((4, 1), 127, S8), one, zero, np.float32(999), zero]
    exact = evaluate("QLinearMatMul", inputs, {}, "pairs")[0]
    assert exact == evaluate("QLinearMatMul", inputs)[0]
    assert evaluate("QLinearMatMul", as_unsigned("QLinearMatMul", inputs, (0,)), {}, "pairs")[0] < exact
    assert evaluate("QLinearMatMul", as_unsigned("QLinearMatMul", inputs, (0, 3)), {}, "pairs")[0] == exact
