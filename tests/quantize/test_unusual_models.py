"""Models that the tools do not take as they are: half precision, outputs no node computes, maps, text."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import InputError
from py_autodoc.quantize import Recipe, quantize

pytest.importorskip("onnxruntime")
VALUES = np.random.default_rng(0).standard_normal((16, 8))
PRODUCT = helper.make_node("MatMul", ["x", "W"], ["y"], "product")
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
METHODS = ["static", "dynamic", "int8-weights", "fp16"]


def value(name, kind=TensorProto.FLOAT, shape=(2, 16)):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, inputs, outputs, weight=np.float32, opset=17):
    initializer = numpy_helper.from_array(VALUES.astype(weight), "W")
    graph = helper.make_graph(nodes, "g", inputs, outputs, [initializer])
    opsets = [helper.make_opsetid("", opset), OPSETS[1]]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def quantized(path, method):
    out = path.with_name("out.onnx")
    result = quantize(path, out, None, Recipe(method=method), samples=2, random_data=True)
    return result, onnx.load(out)


@pytest.mark.parametrize("method", ["static", "dynamic"])
@pytest.mark.parametrize("whole", [True, False])
def test_half_precision_is_refused_with_the_name_and_the_way_out(tmp_path, method, whole):
    path, half = tmp_path / "theirs.onnx", TensorProto.FLOAT16
    nodes, kind = [PRODUCT], half
    if not whole:
        nodes = [
            helper.make_node("Cast", ["x"], ["h"], to=half),
            helper.make_node("MatMul", ["h", "W"], ["p"]),
            helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT),
        ]
        kind = TensorProto.FLOAT
    save(path, nodes, [value("x", kind)], [value("y", kind, (2, 8))], np.float16)
    with pytest.raises(InputError, match=r"^theirs\.onnx: .*float16.*float32") as caught:
        quantized(path, method)
    assert "float32" in caught.value.hint


def test_a_layer_in_half_precision_stays_among_quantized_ones(tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["a"], "full"),
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["W"], ["w16"], to=TensorProto.FLOAT16),
        helper.make_node("MatMul", ["h", "w16"], ["p"], "half"),
        helper.make_node("Cast", ["p"], ["b"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    save(tmp_path / "mixed.onnx", nodes, [value("x")], [value("y", shape=(2, 8))])
    result, _ = quantized(tmp_path / "mixed.onnx", "static")
    assert result.outputs[0].error.sqnr_db > 30


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("extra", ["x", "W"])
def test_outputs_that_no_node_computes_stay_what_they_are(tmp_path, method, extra):
    shape = (2, 16) if extra == "x" else VALUES.shape
    # First in the list, so that the order is seen.
    outputs = [value(extra, shape=shape), value("y", shape=(2, 8))]
    save(tmp_path / "theirs.onnx", [PRODUCT], [value("x")], outputs)
    result, written = quantized(tmp_path / "theirs.onnx", method)
    assert [output.name for output in written.graph.output] == [extra, "y"]
    exact = {output.name: output.error.exact for output in result.outputs}
    assert exact == {extra: True, "y": False}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("labels", ["ints", "texts"])
def test_sequences_of_maps_are_compared_and_kept(tmp_path, method, labels):
    kind, key = (
        ({"classlabels_int64s": range(8)}, TensorProto.INT64)
        if labels == "ints"
        else ({"classlabels_strings": list("abcdefgh")}, TensorProto.STRING)
    )
    zipped = helper.make_node("ZipMap", ["y"], ["z"], domain="ai.onnx.ml", **kind)
    one = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    declared = helper.make_value_info("z", helper.make_sequence_type_proto(one))
    save(tmp_path / "theirs.onnx", [PRODUCT, zipped], [value("x")], [declared])
    result, written = quantized(tmp_path / "theirs.onnx", method)
    assert written.graph.output[0].type == declared.type
    assert result.outputs[0].error.sqnr_db > 30


@pytest.mark.parametrize("method", METHODS)
def test_text_beside_products_is_fed_and_passed_on(tmp_path, method):
    texts = [value("s", TensorProto.STRING, (2,)), value("t", TensorProto.STRING, (2,))]
    nodes = [PRODUCT, helper.make_node("Identity", ["s"], ["t"])]
    save(tmp_path / "theirs.onnx", nodes, [value("x"), texts[0]], [value("y", shape=(2, 8)), texts[1]])
    result, _ = quantized(tmp_path / "theirs.onnx", method)
    assert [output.error.exact for output in result.outputs] == [False, True]
