"""Shapes given for inputs: they count as given, whatever else says something about the same dimensions."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import OptionError
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.sweep import Axes, sweep

F = TensorProto.FLOAT


def model(nodes, inputs, outputs, weights=()) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, F, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        list(weights),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def image_model(shape) -> bytes:
    kernel = numpy_helper.from_array(np.zeros((8, 3, 3, 3), np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        helper.make_node("GlobalAveragePool", ["c"], ["y"]),
    ]
    return model(nodes, {"x": shape}, ["y"], [kernel])


def mixing_model(batch) -> bytes:
    """A sum over the first dimension: another batch than the file's is refused."""
    axis = numpy_helper.from_array(np.array(0, np.int64), "axis")
    return model([helper.make_node("CumSum", ["x", "axis"], ["y"])], {"x": [batch, 4]}, ["y"], [axis])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([None, 4], [None, 4]),
        (["n", 4], ["m", 4]),
        (["batch", 4], ["batch_size", 4]),
        (["batch", None], ["n", "width"]),
        (["n", "seq"], ["m", "sequence_length"]),
    ],
)
@pytest.mark.parametrize("assume", [False, True])
def test_inputs_with_dimensions_of_their_own_take_equal_shapes(a, b, assume):
    """What must be equal is found by trying other sizes, which a given shape would contradict."""
    source = model([helper.make_node("Add", ["a", "b"], ["y"])], {"a": a, "b": b}, ["y"])
    analysis = run_analysis(source, Options(input_shapes={"a": [8, 4], "b": [8, 4]}, assume=assume))
    assert analysis.contradiction is None
    assert analysis.totals.flops == 32
    assert all(symbol.value in (8, 4) for symbol in analysis.dims.symbols)
    one = run_analysis(source, Options(input_shapes={"a": [8, 4]}, assume=True))
    assert (one.totals.flops, one.contradiction) == (32, None)


def test_one_name_takes_one_size():
    source = model([helper.make_node("Add", ["a", "b"], ["y"])], {"a": ["n", 4], "b": ["n", 4]}, ["y"])
    with pytest.raises(OptionError, match="two sizes: 8 and, by the shape of input 'b', 9"):
        run_analysis(source, Options(input_shapes={"a": [8, 4], "b": [9, 4]}))


@pytest.mark.parametrize(
    "shape", [[1, 3, 224, 224], [1, 3, "h", "w"], [1, 3, None, None], ["n", 3, "h", "w"], [1, 3, "h", 224]]
)
def test_resizing_binds_the_symbols_of_the_shape(shape):
    """Each point has the costs of its own shape, not of the sizes that another assumed."""
    source = image_model(shape)
    shapes = [[1, 3, 224, 224], [1, 3, 640, 320], [1, 3, 64, 64]]
    points = sweep(source, Axes(shapes={"x": shapes})).points
    assert [point.macs for point in points] == [8 * 27 * h * w for _, _, h, w in shapes]
    assert [point.reason for point in points] == [""] * 3
    for assume in (False, True):
        analysis = run_analysis(source, Options(resize={"x": shapes[1]}, assume=assume))
        assert analysis.totals.macs == 8 * 27 * 640 * 320
    if "h" in shape:
        bound = run_analysis(source, Options(resize={"x": shapes[1]}, bindings={"h": 640}))
        assert bound.totals.macs == 8 * 27 * 640 * 320


def test_the_batch_that_the_file_has_needs_no_other_model():
    assert run_analysis(mixing_model(2), Options(batch_size=2)).totals.flops == 8
    assert [p.flops for p in sweep(mixing_model(1), Axes(batch=[1])).points] == [4]
    first, second = sweep(mixing_model(1), Axes(batch=[1, 2])).points
    assert (first.flops, second.flops) == (4, None)
    assert "holds the batch" in second.reason
    image = image_model([1, 3, "h", "w"])
    analysis = run_analysis(image, Options(batch_size=1, input_shapes={"x": [1, 3, 8, 8]}))
    assert analysis.totals.macs == 8 * 27 * 64
    with pytest.raises(OptionError, match="cannot be combined"):
        run_analysis(image, Options(batch_size=1, input_shapes={"x": [2, 3, 8, 8]}))
    assert not run_analysis(image_model([1, 3, 8, 8]), Options(batch_size=1)).diagnostics


@pytest.mark.parametrize("kind", ["sequence", "optional"])
def test_a_symbol_of_items_can_be_bound(kind):
    """Items may differ in what has no value; a value given for the name holds for all."""
    item = helper.make_tensor_type_proto(F, ["n", 8])
    made = helper.make_sequence_type_proto if kind == "sequence" else helper.make_optional_type_proto
    weight = numpy_helper.from_array(np.ones((8, 4), np.float32), "w")
    first = numpy_helper.from_array(np.array(0, np.int64), "first")
    taken = ("SequenceAt", ["x", "first"]) if kind == "sequence" else ("OptionalGetElement", ["x"])
    nodes = [
        helper.make_node(*taken, ["a"]),
        helper.make_node("MatMul", ["a", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["y"]),
    ]
    inputs = [
        helper.make_value_info("x", made(item)),
        helper.make_tensor_value_info("b", F, ["m", 4]),
    ]
    weights = [weight, *([first] if kind == "sequence" else [])]
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name="y")], weights)
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()

    def macs(**options):
        return run_analysis(source, Options(**options)).totals.macs

    assert not macs()
    assert macs(bindings={"n": 5, "m": 5}) == macs(bindings={"n": 5}, assume=True) == 160
    assert macs(bindings={"*": 3}) == 96
    with pytest.raises(OptionError, match="'k'"):
        macs(bindings={"k": 5})
