"""Products with weights in blocks, and what computes in float beside quantized operations."""

import ctypes
import json
import logging
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.opdocs import opdocs
from py_autodoc.opdocs.tables import summary
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.reference.block_weights import matmul_nbits

pytest.importorskip("onnxruntime")
MS = "com.microsoft"


def blocks(bits, block, columns, points, rows=5, order=None):
    """A product with random packed weights."""
    random = np.random.default_rng(bits + columns)
    count = -(-columns // block)
    stored = {
        "w": random.integers(0, 256, (rows, count, block * bits // 8), dtype=np.uint8),
        "s": random.standard_normal(rows * count).astype(np.float32) / 10,
        "bias": random.standard_normal(rows).astype(np.float32),
    }
    if points:
        stored["z"] = random.integers(0, 256, rows * -(-count * bits // 8), dtype=np.uint8)
    if order is not None:
        stored["order"] = order
    names = ["x", "w", "s", "z" if points else "", "order" if order is not None else "", "bias"]
    settings = {"K": columns, "N": rows, "bits": bits, "block_size": block}
    graph = helper.make_graph(
        [
            helper.make_node("MatMulNBits", names, ["p"], "product", domain=MS, **settings),
            helper.make_node("HardSwish", ["p"], ["h"], "swish"),
            helper.make_node("Transpose", ["h"], ["y"], "turn", perm=[1, 0]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, columns])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 3])],
        [numpy_helper.from_array(value, name) for name, value in stored.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


CASES = [(4, 16, 48, False), (4, 16, 48, True), (4, 32, 40, True), (8, 16, 32, True), (2, 16, 32, True)]


@pytest.mark.parametrize(("bits", "block", "columns", "points"), CASES)
def test_a_product_is_described_as_the_runtime_computes_it(bits, block, columns, points, tmp_path):
    onnx.save(blocks(bits, block, columns, points), tmp_path / "m.onnx")
    made = opdocs(tmp_path / "m.onnx", tmp_path / "out", samples=2)
    (operation,) = made.operations
    assert (operation.form, operation.products_per_output) == ("weights", columns)
    assert (operation.against_runtime.differing, operation.against_runtime.values) == (0, 30)
    weight = next(one for one in operation.operands if one.role == "w")
    assert (weight.type, weight.shape) == (f"uint{bits}, packed", [5, columns])
    assert 0 <= weight.codes[0] < weight.codes[1] < 2**bits
    if not points:
        assert weight.zero_point == [2 ** (bits - 1)] * 2
    assert [(one.node, one.op_type) for one in made.floats] == [("swish", "HardSwish")]
    assert "1 operator computes in float: 1 HardSwish" in summary(made)[0]
    assert json.loads((tmp_path / "out/operations.json").read_text())["operations"][0]["form"] == "weights"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None or sys.platform == "win32", reason="gcc is not installed")
@pytest.mark.parametrize(("bits", "block", "columns", "points"), CASES)
def test_the_c_code_equals_the_vectors(bits, block, columns, points, tmp_path):
    onnx.save(blocks(bits, block, columns, points), tmp_path / "m.onnx")
    opdocs(tmp_path / "m.onnx", tmp_path / "out")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-ffp-contract=off"]
    source, library = tmp_path / "out/c/op_001.c", tmp_path / "op.so"
    subprocess.run(["gcc", *flags, "-o", str(library), str(source), "-lm"], check=True)
    arrays = dict(np.load(tmp_path / "out/vectors/op_001.npz"))
    y = arrays.pop("y")
    found = np.zeros_like(y)
    pointers = [
        np.ascontiguousarray(one).ctypes.data_as(ctypes.c_void_p) for one in (*arrays.values(), found)
    ]
    ctypes.CDLL(str(library)).op_001(*pointers)
    np.testing.assert_allclose(found, y, rtol=1e-4, atol=1e-5)


def test_a_difference_beyond_rounding_counts(tmp_path, monkeypatch):
    def off(inputs, attributes):
        return matmul_nbits(inputs, attributes) * np.float32(1.001)

    monkeypatch.setattr("py_autodoc.opdocs.replay.matmul_nbits", off)
    onnx.save(blocks(8, 16, 256, True), tmp_path / "m.onnx")
    made = opdocs(tmp_path / "m.onnx", tmp_path / "out", samples=2)
    assert 0 < made.operations[0].against_runtime.differing <= 30
    assert made.operations[0].against_runtime.largest > 0


def test_reordered_weights_are_named(tmp_path):
    order = np.arange(32, dtype=np.int32) // 16
    onnx.save(blocks(4, 16, 32, False, order=order), tmp_path / "m.onnx")
    with pytest.raises(AutodocError, match="weight-only quantization"):
        opdocs(tmp_path / "m.onnx", tmp_path / "out")


def test_everything_that_stays_float_is_listed(tmp_path):
    model, data = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"
    quantize(model, tmp_path / "q.onnx", data, Recipe(), samples=8, compare=False)
    made = opdocs(tmp_path / "q.onnx", tmp_path / "out", data, samples=2)
    written = onnx.load(tmp_path / "q.onnx").graph.node
    described = {name for one in made.operations for name in one.nodes}
    computing = {"Conv", "Gemm", "MatMul", "Relu", "Add", "GlobalAveragePool", "ReduceMean", "Softmax"}
    expected = {node.name for node in written if node.op_type in computing and node.name not in described}
    assert {one.node for one in made.floats if one.op_type in computing} == expected


def test_a_subgraph_is_named(tmp_path):
    inner = helper.make_graph(
        [
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"], "inner_quantizer"),
            helper.make_node("DequantizeLinear", ["q", "qs", "qz"], ["d"], "inner_dequantizer"),
            helper.make_node("Relu", ["d"], ["r"], "inner_relu"),
        ],
        "inner",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, [2])],
    )
    one = numpy_helper.from_array(np.float32(1), "one")
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one"], ["k"], "outer"),
        helper.make_node("If", ["c"], ["y"], "branch", then_branch=inner, else_branch=inner),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]),
         helper.make_tensor_value_info("k", TensorProto.UINT8, [2])],
        [one],
    )  # fmt: skip
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        tmp_path / "m.onnx",
    )
    made = opdocs(tmp_path / "m.onnx", tmp_path / "out")
    reasons = {one.node: one.reason for one in made.floats}
    assert reasons["inner_quantizer"] == "it is in a subgraph, which is not described"
    assert reasons["inner_relu"] == "it is in a subgraph and computes in float"


def test_weights_in_blocks_leave_the_logging_of_the_process_alone(tmp_path):
    """A tool of ONNX Runtime sets up the root logger when it is imported."""
    root = logging.getLogger()
    before = list(root.handlers), root.level
    sys.modules.pop("onnxruntime.quantization.matmul_nbits_quantizer", None)
    for handler in before[0]:
        root.removeHandler(handler)
    try:
        recipe = Recipe(method="int4-weights")
        quantize("tests/data/models/bert_tiny.onnx", tmp_path / "q.onnx", None, recipe, random_data=True)
        assert (root.handlers, root.level) == ([], before[1])
    finally:
        root.handlers[:], root.level = before
