"""What ONNX Runtime's 8-bit kernels compute on this machine, found by asking it."""

from __future__ import annotations

from functools import cache

import numpy as np

from py_autodoc.ort import onnxruntime

_ACTIVATION, _WEIGHT = 255, 127


@cache
def saturates() -> bool:
    """Return True if sums of unsigned activations and signed weights saturate at 16 bits on this machine.

    The installed ONNX Runtime adds two products, once in a process. The instruction sets that the system
    reports are no answer: an emulator reports those of its host, and macOS and Windows have no such list.

    Raises: RequirementError: ONNX Runtime is missing.
    """
    runtime = onnxruntime("The choice of integer kernels")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(_two_products(), options, providers=["CPUExecutionProvider"])
    (total,) = session.run(None, {"x": np.full((1, 2), _ACTIVATION, np.uint8)})
    return int(total[0, 0]) != 2 * _ACTIVATION * _WEIGHT


def _two_products() -> bytes:
    """Return a model with one sum of two u8·s8 products, which needs 17 bits."""
    from onnx import TensorProto, helper

    weights = helper.make_tensor("w", TensorProto.INT8, [2, 1], [_WEIGHT, _WEIGHT])
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 2])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())
