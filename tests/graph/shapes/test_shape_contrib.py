"""Operators of ONNX Runtime that are not fused attention: shapes and types of what the runtime computes."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from shape_help import BOOL, F16, I32, I64, U8, F, graph, one, proto, types_of

MS = "com.microsoft"
I16 = onnx.TensorProto.INT16


def session(model: onnx.ModelProto) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def single(op, inputs, consts, outputs, order=(), **attributes):
    names = [name if name in inputs or name in consts else "" for name in order or (*inputs, *consts)]
    node = onnx.helper.make_node(op, names, list(outputs), domain=MS, **attributes)
    return proto(graph([node], inputs, list(outputs), consts), 17)


def array(spec, seed=0):
    dtype, shape = spec if isinstance(spec, tuple) else (F, spec)
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    random = np.random.default_rng(seed)
    if np.dtype(kind).kind == "f":
        return random.standard_normal(shape).astype(kind)
    return random.integers(0, 3, shape).astype(kind)


SCALE, ZERO = np.float32(0.1), np.uint8(3)
QCONV = ("x", "s", "z", "w", "s", "z", "s", "z")
KERNEL = np.ones((4, 3, 3, 3), np.uint8)
RUN = {
    "BiasGelu": ({"x": [2, 3, 4], "b": [4]}, {}, {}),
    "FastGelu": ({"x": [2, 3, 4]}, {}, {}),
    "Gelu": ({"x": [2, 3, 4]}, {}, {}),
    "QuickGelu": ({"x": [2, 3, 4]}, {}, {}),
    "Inverse": ({"x": [2, 3, 3]}, {}, {}),
    "Trilu": ({"x": [2, 3, 4]}, {}, {}),
    "CDist": ({"a": [5, 4], "b": [3, 4]}, {}, {"metric": "euclidean"}),
    "GatherND": ({"x": [3, 4, 5], "i": (I64, [6, 2])}, {}, {}),
    "MatMulInteger16": ({"a": (I16, [2, 3, 4]), "b": (I16, [4, 5])}, {}, {}),
    "QLinearConv": (
        {"x": (U8, [2, 3, 8, 9])}, {"s": SCALE, "z": ZERO, "w": KERNEL}, {"strides": [2, 2], "order": QCONV}
    ),
    "QLinearConv of channels last": (
        {"x": (U8, [2, 8, 9, 3])},
        {"s": SCALE, "z": ZERO, "w": KERNEL},
        {"channels_last": 1, "pads": [1, 0, 1, 0], "dilations": [1, 2], "order": QCONV},
    ),
    "GatherBlockQuantized": (
        {"i": (I64, [2, 5])},
        {"w": np.ones((20, 16), np.uint8), "s": np.ones((20, 2), np.float32)},
        {"bits": 4, "block_size": 16, "order": ("w", "i", "s")},
    ),
    "NGramRepeatBlock": (
        {"i": (I64, [2, 6]), "x": [2, 10]}, {}, {"ngram_size": 2},
    ),
    "RotaryEmbedding": (
        {"x": [1, 3, 16], "p": (I64, [1, 3])},
        {"c": np.ones((8, 4), np.float32), "d": np.ones((8, 4), np.float32)},
        {"num_heads": 2},
    ),
    "Range": ({}, {"a": np.float32(1), "b": np.float32(9), "c": np.float32(3)}, {}),
}  # fmt: skip
"""Operator → inputs, constants, attributes of a node that ONNX Runtime runs."""


@pytest.mark.parametrize("name", RUN)
def test_shape_and_type_are_those_of_the_runtime(name):
    inputs, consts, attributes = RUN[name]
    model = single(name.split()[0], inputs, consts, ["y"], **attributes)
    found = types_of(model)
    made = session(model).run(None, {key: array(spec) for key, spec in inputs.items()})[0]
    assert found.shape("y") == made.shape
    assert found.dtype("y") == onnx.helper.np_dtype_to_tensor_dtype(made.dtype)
    assert not found.codes


OTHER = {
    "BiasAdd": {"x": ["b", "s", 8], "a": [8], "k": ["b", "s", 8]},
    "BiasSplitGelu": {"x": ["b", "s", 8], "a": [8]},
    "GroupNorm": {"x": ["b", 4, 4, 8], "g": [8], "a": [8]},
    "SkipGroupNorm": {"x": ["b", 4, 4, 8], "g": [8], "a": [8], "k": ["b", 4, 4, 8]},
    "RestorePadding": {"x": ["t", 8], "p": (I32, ["b", "s"])},
}
"""Operator that the CPU lacks → inputs."""


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_shape_is_what_the_tools_of_the_runtime_infer(name):
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference  # which imports torch

    attributes = {"groups": 2, "channels_last": 1, "activation": 0} if "Group" in name else {}
    model = single(name, OTHER[name], {}, ["y"], **attributes)
    found = types_of(model)
    expected = SymbolicShapeInference.infer_shapes(model, auto_merge=True).graph.output[0].type.tensor_type
    assert found.shape("y") == tuple(dim.dim_param or dim.dim_value for dim in expected.shape.dim)
    assert found.dtype("y") == expected.elem_type
    assert not found.codes


WINDOWS = [{}, {"strides": [2, 1], "pads": [1, 0, 2, 1]}, {"group": 2}, {"auto_pad": "SAME_UPPER"}]


@pytest.mark.parametrize("attributes", WINDOWS)
@pytest.mark.parametrize("op", ["NhwcConv", "NhwcFusedConv"])
def test_channels_last_are_those_of_a_convolution(op, attributes):
    """Of the convolution between two transpositions, as ONNX Runtime computes it."""
    weight = [4, 4 // attributes.get("group", 1), 3, 3]
    nodes = [
        onnx.helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
        onnx.helper.make_node("Conv", ["t", "w"], ["c"], **attributes),
        onnx.helper.make_node("Transpose", ["c"], ["y"], perm=[0, 2, 3, 1]),
    ]
    inputs = {"x": [2, 8, 9, 4], "w": weight}
    plain = session(proto(graph(nodes, inputs, ["y"], {}), 17))
    (made,) = plain.run(None, {key: array(spec) for key, spec in inputs.items()})
    assert inferred(op, inputs, **attributes) == [(made.shape, F)]


def test_padding_goes_and_returns():
    nodes = [
        onnx.helper.make_node("RemovePadding", ["x", "n"], ["y", "p", "c", "m"], domain=MS),
        onnx.helper.make_node("RestorePadding", ["y", "p"], ["z"], domain=MS),
    ]
    inputs = {"x": ["b", "s", 8], "n": (I32, ["b"])}
    found = types_of(proto(graph(nodes, inputs, ["y", "p", "c", "m", "z"], {}), 17))
    assert found.shape("z") == ("b", "s", 8)
    count, width = found.shape("y")
    assert (count in ("b", "s"), width) == (False, 8)
    assert [found.shape(name) for name in "pcm"] == [("b", "s"), ("b + 1",), (1,)]
    assert {found.dtype(name) for name in "pcm"} == {I32}
    assert not found.codes
    assert inferred("RemovePadding", {"x": None, "n": (I32, ["b"])})[0][0] is None


def inferred(op, inputs, outputs=("y",), order=None, **attributes):
    found = one(op, inputs, {}, outputs, domain=MS, order=order, **attributes)
    assert not found.codes
    return [(found.shape(name), found.dtype(name)) for name in outputs]


def test_masks_of_dropouts():
    x = {"x": (F16, ["b", 8])}
    assert inferred("BiasDropout", {**x, "a": (F16, [8])}, ("y", "m")) == [(("b", 8), F16), (("b", 8), BOOL)]
    assert inferred("BitmaskDropout", x) == [(("b", 8), F16)]


def test_two_rotated_tensors():
    names = ("e", "q", "r", "k", "t")
    inputs = {name: (F16, ["b", 4, "s", 8]) for name in names} | {
        "e": ["b", "s", 8],
        "k": (F16, ["b", 2, "s", 8]),
    }
    assert inferred("GemmaRotaryEmbedding", inputs, ("y", "z"), order=("e", "q", "r", "k", "t")) == [
        (("b", 4, "s", 8), F16),
        (("b", 2, "s", 8), F16),
    ]


def test_operators_of_training():
    """As numpy computes them: the runtime has them on other devices only."""
    a, b = np.zeros((2, 1, 4)), np.zeros((3, 4))
    for op in ("ComplexMul", "ComplexMulConj"):
        assert inferred(op, {"a": [2, 1, 4], "b": [3, 4]}) == [(np.broadcast(a, b).shape, F)]
    table, index = np.zeros((10, 4)), np.zeros((2, 3), int)
    assert inferred("TorchEmbedding", {"w": [10, 4], "i": (I64, [2, 3])}) == [(table[index].shape, F)]
    assert inferred("IsAllFinite", {"a": [2], "b": [3]}) == [((), BOOL)]
    for keep in (0, 1):
        shape = np.zeros((2, 3, 4)).sum(axis=1, keepdims=bool(keep)).shape
        found = inferred("ReduceSumInteger", {"x": (U8, [2, 3, 4])}, axes=[1], keepdims=keep)
        assert found == [(shape, I32)]


def test_a_range_of_unknown_length():
    ((shape, dtype),) = inferred("Range", {"a": (I64, []), "b": (I64, [])})
    assert (len(shape), dtype) == (1, I64)


def test_a_group_of_nothing():
    found = one("NhwcConv", {"x": ["n", 8, 8, 3], "w": [4, 3, 3, 3]}, {}, domain=MS, group=0)
    assert found.codes == ["bad-attribute"]
    assert found.shape("y") is None
    unknown = one("NhwcConv", {"x": None, "w": [4, 3, 3, 3]}, {}, domain=MS)
    assert unknown.shape("y") is None
