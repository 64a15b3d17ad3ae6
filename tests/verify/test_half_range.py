"""Values that float16 cannot hold, which a CPU does not show."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.lines import quantization_lines
from py_autodoc.verify import verify
from py_autodoc.verify.half_range import widen
from py_autodoc.verify.lines import verification_lines

pytest.importorskip("onnxruntime")
HALF, FLOAT = TensorProto.FLOAT16, TensorProto.FLOAT
DIM = 8


def model(nodes, constants, inputs=("x",), kind=FLOAT):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, [2, DIM]) for name in inputs],
        [helper.make_tensor_value_info("y", kind, [2, DIM])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def scaled(factor, dtype=np.float32):
    """A product, its result times a factor, and back."""
    square = np.eye(DIM, dtype=dtype)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], name="first"),
        helper.make_node("Mul", ["p", "up"], ["large"], name="scale"),
        helper.make_node("Div", ["large", "up"], ["y"], name="back"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return model(nodes, {"w": square, "up": np.asarray(factor, dtype)}, kind=kind)


DATA = {"x": np.full((2, DIM), 3, np.float32)}


@pytest.mark.parametrize(
    ("factor", "overflows", "vanishing"), [(3e4, ["scale"], []), (2e3, [], []), (5e-9, [], ["scale"])]
)
def test_a_conversion_names_the_nodes_out_of_range(factor, overflows, vanishing, tmp_path):
    onnx.save(scaled(factor), tmp_path / "a.onnx")
    if vanishing:  # the converter itself replaces constants below 1e-7
        first = scaled(2e-5)
        first.graph.node[1].input[0] = "less"
        first.graph.node.insert(1, helper.make_node("Mul", ["p", "up"], ["less"], name="smaller"))
        first.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.float32(3e-5), "up"))
        onnx.save(first, tmp_path / "a.onnx")
    found = quantize(tmp_path / "a.onnx", tmp_path / "b.onnx", DATA, Recipe(method="fp16"))
    assert [one.node for one in found.half.overflows] == overflows
    assert [one.node for one in found.half.vanishing] == vanishing
    text = "\n".join(quantization_lines(found))
    assert (
        "become infinite on a GPU. Keep these nodes and those that read them in float32 with" in text
    ) == bool(overflows)
    if overflows:
        assert found.half.overflows[0].magnitude == pytest.approx(3 * factor, rel=1e-2)
        # The way out that is named works.
        assert found.half.overflows[0].readers == ["back"]
        kept = Recipe(method="fp16", exclude=["scale", "back"])
        again = quantize(tmp_path / "a.onnx", tmp_path / "c.onnx", DATA, kept)
        assert again.half.overflows == []


def test_verify_says_so_although_the_results_agree_here(tmp_path):
    onnx.save(scaled(3e4), tmp_path / "a.onnx")
    onnx.save(scaled(3e4, np.float16), tmp_path / "b.onnx")
    found = verify(tmp_path / "b.onnx", tmp_path / "a.onnx", DATA)
    assert [one.tensor for one in found.half.overflows] == ["large"]
    assert "! Values of scale (9e+04) exceed the range of float16" in "\n".join(verification_lines(found))
    assert verify(tmp_path / "a.onnx", tmp_path / "a.onnx", DATA).half is None


def test_masks_and_infinities_of_the_file_are_no_overflow(tmp_path):
    nodes = [
        helper.make_node("Add", ["x", "mask"], ["masked"], name="mask"),
        helper.make_node("Softmax", ["masked"], ["y"], name="softmax"),
    ]
    mask = np.where(np.arange(DIM) > 4, np.float32(-3.4e38), np.float32(0))
    onnx.save(model(nodes, {"mask": mask}), tmp_path / "a.onnx")
    found = quantize(tmp_path / "a.onnx", tmp_path / "b.onnx", DATA, Recipe(method="fp16"))
    assert (found.half.overflows, found.half.vanishing) == ([], [])


def test_a_divisor_of_which_some_values_become_zero(tmp_path):
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"], name="square"),
        helper.make_node("Div", ["x", "square"], ["y"], name="ratio"),
    ]
    values = np.ones((2, DIM), np.float16)
    values[0, 0] = 1e-4
    onnx.save(model(nodes, {}, kind=HALF), tmp_path / "a.onnx")
    found = verify(tmp_path / "a.onnx", tmp_path / "a.onnx", {"x": values})
    assert [(one.node, one.op) for one in found.half.vanishing] == [("square", "Mul")]


def test_a_copy_in_float32_is_one_everywhere(tmp_path):
    """Types in attributes, constants, subgraphs and functions."""
    inner = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.float16([1])))],
        "inner",
        [],
        [helper.make_tensor_value_info("k", HALF, [1])],
    )
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=HALF),
        helper.make_node("If", ["c"], ["k"], then_branch=inner, else_branch=inner),
        helper.make_node("Add", ["h", "k"], ["s"]),
        helper.make_node("Half", ["s"], ["t"], domain="local"),
        helper.make_node("Cast", ["t"], ["y"], to=FLOAT),
    ]
    one = model(nodes, {"c": True})
    body = [helper.make_node("Cast", ["a"], ["b"], to=HALF)]
    one.functions.append(
        helper.make_function("local", "Half", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    )
    one.opset_import.append(helper.make_opsetid("local", 1))
    onnx.checker.check_model(one, full_check=True)
    widen(one)
    onnx.checker.check_model(one, full_check=True)
    assert "data_type: 10" not in str(one)
    assert "elem_type: 10" not in str(one)
    assert "i: 10" not in str(one)
