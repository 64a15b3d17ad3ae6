"""Rules against numpy and against ONNX's own inference, on random sizes."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from shape_help import one, types_of

from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.shapes.indexing import slice_size
from py_autodoc.graph.symbolic_dims import dim_arithmetic

small = st.integers(0, 9)
end = st.one_of(st.integers(-12, 12), st.sampled_from([2**31 - 1, 2**63 - 1, -(2**63)]))


@given(small, st.integers(-12, 12), end, st.sampled_from([-3, -1, 1, 2, 5]))
def test_slices_of_numbers_are_numpys(size, start, stop, step):
    stop_ = None if step < 0 and stop < -(2**40) else stop
    assert slice_size(size, start, stop, step) == len(np.arange(size)[start:stop_:step])


@given(st.integers(1, 9), st.integers(-5, 5), end, st.sampled_from([-1, 1, 2]))
def test_slices_of_symbols_never_contradict_numbers(extra, start, stop, step):
    size = 17 + extra  # symbols are taken as at least as long as what is cut from both of their ends
    value = dim_arithmetic.substitute(slice_size("n", start, stop, step), {"n": size})
    if isinstance(value, int):
        assert value == slice_size(size, start, stop, step)


def native(model: onnx.ModelProto) -> tuple[int, ...] | None:
    try:
        done = onnx.shape_inference.infer_shapes(model, data_prop=True, strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return None
    shape = done.graph.output[0].type.tensor_type
    return tuple(d.dim_value for d in shape.shape.dim) if shape.HasField("shape") else None


def both(op, inputs, **attributes):
    """Our shape and ONNX's for one node."""
    r = one(op, inputs, {}, **attributes)
    out = r.shape("y")
    g = helper.make_graph(
        [helper.make_node(op, list(inputs), ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info(k, 1, v) for k, v in inputs.items()],
        [onnx.ValueInfoProto(name="y")],
    )
    model = helper.make_model(g, opset_imports=[helper.make_opsetid("", 21)])
    assert next(t.kind for t in r.model.tensors) == TensorKind.INPUT
    return out, native(model)


sizes = st.integers(1, 12)


windows = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3))


@settings(max_examples=60, deadline=None)
@given(sizes, sizes, windows)
def test_pooling_and_convolution(h, w, window):
    k, stride, dilation, pad = window
    pad = min(pad, k - 1)  # wider padding than the window is refused by runtimes
    reach = (k - 1) * dilation + 1
    common = {"strides": [stride, stride], "dilations": [dilation, dilation], "pads": [pad] * 4}
    fits = min(h, w) + 2 * pad >= reach
    ours, theirs = both("Conv", {"x": [1, 2, h, w], "w": [4, 2, k, k]}, **common)
    assert ours == theirs if fits else ours is None
    ours, theirs = both("MaxPool", {"x": [1, 2, h, w]}, **common, kernel_shape=[k, k])
    assert ours == theirs or not fits  # test_pooling_sizes has what runtimes do then


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4), st.lists(st.integers(1, 3), min_size=1, max_size=4)
)
def test_matmul_and_broadcast_are_numpys(a, b):
    for op, fn in (("MatMul", np.matmul), ("Add", np.add)):
        try:
            wanted = fn(np.zeros(a), np.zeros(b)).shape
        except ValueError:
            wanted = None
        ours = one(op, {"a": a, "b": b}).shape("y")
        assert ours == wanted if wanted is not None else ours is None


@pytest.mark.parametrize("name", ["x", "a//b", "x + 1"])
def test_any_symbol_survives_elementwise_operators(name):
    g = helper.make_graph(
        [helper.make_node("Relu", ["i"], ["h"]), helper.make_node("Softmax", ["h"], ["y"])],
        "g",
        [helper.make_tensor_value_info("i", 1, [name, 2])],
        [onnx.ValueInfoProto(name="y")],
    )
    r = types_of(helper.make_model(g, opset_imports=[helper.make_opsetid("", 21)]))
    assert r.shape("y") == (name, 2)
