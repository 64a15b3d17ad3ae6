"""Settings that mean the same, judged by ONNX Runtime: equal outputs are no change, different ones are."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, version_converter

from py_autodoc.compare.align import align
from py_autodoc.report.pipeline.analysis import Options, run_analysis

ort = pytest.importorskip("onnxruntime")
Form = dict[str, Any]


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def model(form: Form, shape: list[int | str]) -> onnx.ModelProto:
    """One operator between two Relus; ``inputs`` are constants by position, ``wiring`` where x goes."""
    form = dict(form)
    op, opset = form.pop("op"), form.pop("opset", 18)
    constants, outputs = form.pop("inputs", {}), form.pop("outputs", 1)
    names = [""] * (max((0, *constants)) + 1)
    x = form.pop("x", 0)
    names += [""] * (x + 1 - len(names))
    names[x] = "h"
    initializers = []
    for position, value in constants.items():
        names[position] = f"c{position}"
        initializers.append(numpy_helper.from_array(np.asarray(value), f"c{position}"))
    outs = [f"r{i}" for i in range(outputs)]
    nodes = [
        helper.make_node("Abs", ["x"], ["h"]),
        helper.make_node(op, names, outs, "it", **form),
        *(helper.make_node("Neg", [name], [f"y{i}"]) for i, name in enumerate(outs)),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [
            helper.make_tensor_value_info(f"y{i}", TensorProto.INT64 if op == "TopK" and i else 1, None)
            for i in range(outputs)
        ],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def outputs_of(proto: onnx.ModelProto, shape: list[int]) -> list[np.ndarray]:
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    return session.run(None, {"x": x})


def same_results(protos: tuple[onnx.ModelProto, onnx.ModelProto], shape: list[int]) -> bool:
    left, right = (outputs_of(proto, shape) for proto in protos)
    return all(a.shape == b.shape and np.allclose(a, b, atol=1e-6) for a, b in zip(left, right, strict=True))


def changes(left: onnx.ModelProto, right: onnx.ModelProto) -> list[str]:
    alignment = align(*(run_analysis(proto, Options(assume=True)) for proto in (left, right)))
    found = [
        f"{detail.what}: {detail.left} → {detail.right}"
        for pair in alignment.pairs
        for detail in pair.details
    ]
    return found + [f"only {n}" for n in (*alignment.only_left, *alignment.only_right)]


F = np.float32
I = np.int64  # noqa: E741
KERNEL = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(F)
POINT = KERNEL[:, :, 1:2, 1:2]
UP = np.random.default_rng(2).normal(size=(3, 4, 3, 3)).astype(F)
IMAGE = [1, 3, 8, 9]
FORMS: dict[str, tuple[list[int], list[Form]]] = {
    "softmax": (
        [2, 3, 4],
        [
            {"op": "Softmax"},
            {"op": "Softmax", "axis": -1},
            {"op": "Softmax", "axis": 2},
            {"op": "Softmax", "axis": 1},
            {"op": "Softmax", "opset": 11},
            {"op": "Softmax", "opset": 11, "axis": 2},
            {"op": "Softmax", "opset": 11, "axis": -2},
        ],
    ),
    "softmax of one": ([2, 3, 1, 1], [{"op": "Softmax", "axis": 1}, {"op": "Softmax", "opset": 11}]),
    "reduce": (
        [2, 3, 4],
        [
            {"op": "ReduceSum", "opset": 11},
            {"op": "ReduceSum", "opset": 11, "axes": [0, 1, 2]},
            {"op": "ReduceSum", "opset": 13},
            {"op": "ReduceSum", "opset": 13, "inputs": {1: ints(-1, 0, 1)}},
            {"op": "ReduceSum", "opset": 13, "inputs": {1: ints(1)}},
            {"op": "ReduceSum", "opset": 11, "axes": [-2], "keepdims": 1},
            {"op": "ReduceSum", "opset": 13, "noop_with_empty_axes": 1},
        ],
    ),
    "reduce 18": (
        [2, 3, 3],
        [
            {"op": "ReduceMax", "inputs": {1: ints(2)}},
            {"op": "ReduceMax", "opset": 13, "axes": [-1]},
            {"op": "ReduceMax", "opset": 13, "axes": [1]},
        ],
    ),
    "concat": (
        [2, 2],
        [
            {"op": "Concat", "axis": 1, "inputs": {1: np.eye(2, dtype=F)}},
            {"op": "Concat", "axis": -1, "inputs": {1: np.eye(2, dtype=F)}},
            {"op": "Concat", "axis": 0, "inputs": {1: np.eye(2, dtype=F)}},
        ],
    ),
    "gather": (
        [3, 3],
        [
            {"op": "Gather", "inputs": {1: ints(0, 2)}},
            {"op": "Gather", "axis": -2, "inputs": {1: ints(0, 2)}},
            {"op": "Gather", "axis": 1, "inputs": {1: ints(0, 2)}},
            {"op": "Gather", "axis": 0, "inputs": {1: ints(0, 1)}},
        ],
    ),
    "slice": (
        [6, 6],
        [
            {"op": "Slice", "opset": 9, "starts": [1, 0], "ends": [5, 99]},
            {"op": "Slice", "opset": 9, "starts": [1], "ends": [-1], "axes": [0]},
            {"op": "Slice", "inputs": {1: ints(-5), 2: ints(5), 3: ints(-2)}},
            {"op": "Slice", "inputs": {1: ints(1), 2: ints(5), 3: ints(1)}},
            {
                "op": "Slice",
                "inputs": {1: ints(1), 2: ints(5), 3: ints(0), 4: ints(1)},
            },
            {
                "op": "Slice",
                "inputs": {1: ints(4), 2: ints(0), 3: ints(0), 4: ints(-1)},
            },
        ],
    ),
    "split": (
        [6, 4],
        [
            {"op": "Split", "outputs": 2, "num_outputs": 2},
            {"op": "Split", "outputs": 2, "opset": 11, "axis": -2},
            {"op": "Split", "outputs": 2, "opset": 11, "split": [3, 3]},
            {"op": "Split", "outputs": 2, "opset": 13, "inputs": {1: ints(3, 3)}},
            {"op": "Split", "outputs": 2, "opset": 13, "inputs": {1: ints(2, 4)}},
        ],
    ),
    "clip": (
        [20],
        [
            {"op": "Clip", "opset": 6, "min": 0.5},
            {"op": "Clip", "inputs": {1: F(0.5)}},
            {"op": "Clip", "inputs": {1: F(0.5), 2: np.finfo(F).max}},
            {"op": "Clip", "inputs": {1: F(0.5), 2: F(1)}},
            {"op": "Clip", "opset": 6, "min": 0.5, "max": 1.0},
        ],
    ),
    "pad": (
        [2, 3],
        [
            {"op": "Pad", "opset": 9, "pads": [0, 1, 0, 2]},
            {"op": "Pad", "opset": 13, "mode": "constant", "inputs": {1: ints(0, 1, 0, 2), 2: F(0)}},
            {"op": "Pad", "inputs": {1: ints(1, 2), 3: ints(-1)}},
            {"op": "Pad", "inputs": {1: ints(0, 2, 0, 1)}},
            {"op": "Pad", "inputs": {1: ints(0, 1, 0, 2), 2: F(3)}},
            {"op": "Pad", "mode": "edge", "inputs": {1: ints(0, 1, 0, 2)}},
        ],
    ),
    "top k": (
        [4, 4],
        [
            {"op": "TopK", "outputs": 2, "inputs": {1: ints(2)}},
            {"op": "TopK", "outputs": 2, "axis": 1, "largest": 1, "sorted": 1, "inputs": {1: ints(2)}},
            {"op": "TopK", "outputs": 2, "axis": -2, "inputs": {1: ints(2)}},
            {"op": "TopK", "outputs": 2, "largest": 0, "inputs": {1: ints(2)}},
        ],
    ),
    "conv": (
        IMAGE,
        [
            {"op": "Conv", "pads": [1, 1, 1, 1], "inputs": {1: KERNEL}},
            {"op": "Conv", "auto_pad": "SAME_UPPER", "inputs": {1: KERNEL}},
            {
                "op": "Conv", "auto_pad": "SAME_LOWER", "kernel_shape": [3, 3], "strides": [1, 1], "group": 1,
                "dilations": [1, 1], "inputs": {1: KERNEL},
            },
            {"op": "Conv", "pads": [0, 2, 2, 0], "inputs": {1: KERNEL}},
        ],
    ),
    "conv with stride": (
        IMAGE,
        [
            {"op": "Conv", "strides": [2, 2], "pads": [0, 1, 1, 1], "inputs": {1: KERNEL}},
            {"op": "Conv", "strides": [2, 2], "auto_pad": "SAME_UPPER", "inputs": {1: KERNEL}},
            {"op": "Conv", "strides": [2, 2], "auto_pad": "SAME_LOWER", "inputs": {1: KERNEL}},
            {"op": "Conv", "strides": [2, 2], "pads": [1, 1, 1, 1], "inputs": {1: KERNEL}},
        ],
    ),
    "conv valid": (
        IMAGE,
        [
            {"op": "Conv", "auto_pad": "VALID", "inputs": {1: KERNEL}},
            {"op": "Conv", "inputs": {1: KERNEL}},
            {"op": "Conv", "auto_pad": "NOTSET", "pads": [0, 0, 0, 0], "inputs": {1: KERNEL}},
        ],
    ),
    "conv of points": (
        IMAGE,
        [
            {"op": "Conv", "inputs": {1: POINT}},
            {"op": "Conv", "dilations": [3, 3], "inputs": {1: POINT}},
        ],
    ),
    "transposed conv": (
        IMAGE,
        [
            {"op": "ConvTranspose", "strides": [2, 2], "auto_pad": "SAME_UPPER", "inputs": {1: UP}},
            {"op": "ConvTranspose", "strides": [2, 2], "auto_pad": "SAME_LOWER", "inputs": {1: UP}},
            {"op": "ConvTranspose", "strides": [2, 2], "pads": [0, 0, 1, 1], "inputs": {1: UP}},
            {"op": "ConvTranspose", "strides": [2, 2], "pads": [1, 1, 0, 0], "inputs": {1: UP}},
            {"op": "ConvTranspose", "strides": [2, 2], "output_shape": [16, 18], "inputs": {1: UP}},
        ],
    ),
    "pool": (
        IMAGE,
        [
            {"op": "MaxPool", "kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
            {"op": "MaxPool", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 1, 1, 1]},
            {"op": "MaxPool", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 0, 1]},
            {"op": "MaxPool", "kernel_shape": [2, 3], "strides": [2, 2], "pads": [0, 1, 0, 1]},
            {
                "op": "MaxPool", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 1, 1, 1],
                "ceil_mode": 1, "storage_order": 1, "dilations": [1, 1],
            },
        ],
    ),
    "average": (
        IMAGE,
        [
            {"op": "AveragePool", "kernel_shape": [2, 3]},
            {"op": "AveragePool", "kernel_shape": [2, 3], "count_include_pad": 1},
            {"op": "AveragePool", "kernel_shape": [2, 3], "ceil_mode": 1, "auto_pad": "VALID"},
        ],
    ),
    "padded average": (
        IMAGE,
        [
            {"op": "AveragePool", "kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
            {"op": "AveragePool", "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
            {"op": "AveragePool", "kernel_shape": [3, 3], "auto_pad": "SAME_LOWER"},
        ],
    ),
    "resize": (
        [1, 1, 4, 4],
        [
            {"op": "Upsample", "opset": 9, "inputs": {1: np.array([1, 1, 2, 2], F)}},
            {"op": "Upsample", "opset": 7, "scales": [1.0, 1.0, 2.0, 2.0], "mode": "nearest"},
            {"op": "Resize", "opset": 10, "inputs": {1: np.array([1, 1, 2, 2], F)}},
            {"op": "Resize", "inputs": {2: np.array([1, 1, 2, 2], F)}},
            {"op": "Resize", "inputs": {3: ints(1, 1, 8, 8)}},
            {"op": "Resize", "axes": [-2, -1], "inputs": {3: ints(8, 8)}},
            {
                "op": "Resize", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor",
                "cubic_coeff_a": -0.5, "inputs": {2: np.array([1, 1, 2, 2], F)},
            },
            {
                "op": "Resize", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil",
                "inputs": {2: np.array([1, 1, 2, 2], F)},
            },
            {"op": "Resize", "mode": "linear", "inputs": {2: np.array([1, 1, 2, 2], F)}},
            {
                "op": "Resize", "mode": "linear", "coordinate_transformation_mode": "align_corners",
                "inputs": {2: np.array([1, 1, 2, 2], F)},
            },
            {
                "op": "Resize", "mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel",
                "nearest_mode": "floor", "inputs": {3: ints(1, 1, 8, 8)},
            },
        ],
    ),
    "shrink": (
        [1, 1, 6, 6],
        [
            {"op": "Resize", "mode": "linear", "inputs": {2: np.array([1, 1, 0.5, 0.5], F)}},
            {"op": "Resize", "mode": "linear", "antialias": 1, "inputs": {2: np.array([1, 1, 0.5, 0.5], F)}},
            {"op": "Resize", "opset": 10, "mode": "linear", "inputs": {1: np.array([1, 1, 0.5, 0.5], F)}},
            {
                "op": "Resize", "mode": "linear", "coordinate_transformation_mode": "asymmetric",
                "inputs": {3: ints(1, 1, 3, 3)},
            },
        ],
    ),
    "gemm": (
        [2, 3],
        [
            {"op": "Gemm", "inputs": {1: KERNEL[0, 0]}},
            {"op": "Gemm", "alpha": 1.0, "beta": 0.5, "inputs": {1: KERNEL[0, 0]}},
            {"op": "Gemm", "alpha": 2.0, "inputs": {1: KERNEL[0, 0]}},
            {"op": "Gemm", "transB": 1, "inputs": {1: KERNEL[0, 0]}},
        ],
    ),
    "flatten": (
        [2, 3, 4],
        [{"op": "Flatten"}, {"op": "Flatten", "axis": -2}, {"op": "Flatten", "axis": 2}],
    ),
    "transpose": (
        [3, 3],
        [{"op": "Transpose"}, {"op": "Transpose", "perm": [1, 0]}, {"op": "Transpose", "perm": [0, 1]}],
    ),
    "norm": (
        [2, 3, 4],
        [
            {"op": "LayerNormalization", "inputs": {1: np.ones(4, F)}},
            {"op": "LayerNormalization", "axis": 2, "epsilon": 1e-5, "inputs": {1: np.ones(4, F)}},
            {"op": "LayerNormalization", "epsilon": 0.5, "inputs": {1: np.ones(4, F)}},
        ],
    ),
    "batch norm": (
        IMAGE,
        [
            {"op": "BatchNormalization", "inputs": {i: np.full(3, i, F) for i in (1, 2, 3, 4)}},
            {
                "op": "BatchNormalization", "momentum": 0.1, "opset": 9,
                "inputs": {i: np.full(3, i, F) for i in (1, 2, 3, 4)},
            },
            {
                "op": "BatchNormalization", "epsilon": 0.5,
                "inputs": {i: np.full(3, i, F) for i in (1, 2, 3, 4)},
            },
        ],
    ),
    "sum with a number": (
        [5],
        [
            {"op": "Add", "inputs": {1: F(2)}},
            {"op": "Add", "x": 1, "inputs": {0: np.array([2], F)}},
            {"op": "Add", "inputs": {1: F(3)}},
        ],
    ),
    "difference with a number": (
        [5],
        [{"op": "Sub", "inputs": {1: F(2)}}, {"op": "Sub", "x": 1, "inputs": {0: F(2)}}],
    ),
    "einsum": (
        [3, 3],
        [
            {"op": "Einsum", "equation": "ij->ji"},
            {"op": "Einsum", "equation": " ab -> ba"},
            {"op": "Einsum", "equation": "ji"},
            {"op": "Einsum", "equation": "ab"},
            {"op": "Einsum", "equation": "ii->i"},
        ],
    ),
    "cumulative sum": (
        [3, 3],
        [
            {"op": "CumSum", "inputs": {1: I(1)}},
            {"op": "CumSum", "reverse": 0, "inputs": {1: np.array(-1, I)}},
            {"op": "CumSum", "inputs": {1: I(0)}},
            {"op": "CumSum", "exclusive": 1, "inputs": {1: I(1)}},
        ],
    ),
    "triangle": (
        [3, 3],
        [
            {"op": "Trilu"},
            {"op": "Trilu", "upper": 1, "inputs": {1: I(0)}},
            {"op": "Trilu", "inputs": {1: I(1)}},
            {"op": "Trilu", "upper": 0},
        ],
    ),
}  # fmt: skip
PAIRS = [
    pytest.param(shape, left, right, id=f"{name} {i}-{j}")
    for name, (shape, forms) in FORMS.items()
    for i, left in enumerate(forms)
    for j, right in enumerate(forms)
    if i < j
]


@pytest.mark.parametrize(("shape", "left", "right"), PAIRS)
def test_a_change_is_reported_if_and_only_if_the_results_differ(shape, left, right):
    protos = model(left, shape), model(right, shape)
    equal = same_results(protos, shape)
    found = changes(*protos)
    assert bool(found) is not equal, found


NEWER = [
    ({"op": "Softmax", "opset": 11, "axis": 2}, [2, 3, 4], 13),
    ({"op": "ReduceSum", "opset": 11, "axes": [-1]}, [2, 3, 4], 13),
    ({"op": "ReduceMean", "opset": 13, "axes": [1]}, [2, 3, 4], 18),
    ({"op": "Split", "opset": 11, "outputs": 2, "split": [2, 4]}, [6, 2], 13),
    ({"op": "Split", "opset": 13, "outputs": 2}, [6, 2], 18),
    ({"op": "Clip", "opset": 6, "min": 0.1, "max": 0.7}, [9], 12),
    ({"op": "Clip", "opset": 6, "max": 0.7}, [9], 12),
    ({"op": "Dropout", "opset": 7, "ratio": 0.3}, [9], 13),
    ({"op": "Pad", "opset": 9, "pads": [1, 0, 0, 1], "value": 2.0}, [2, 2], 13),
    ({"op": "Slice", "opset": 9, "starts": [1], "ends": [3], "axes": [1]}, [4, 4], 11),
    ({"op": "TopK", "outputs": 2, "opset": 9, "axis": 1, "k": 2}, [4, 4], 11),
    ({"op": "Upsample", "opset": 8, "scales": [1.0, 1.0, 2.0, 2.0]}, [1, 1, 3, 3], 9),
    ({"op": "MaxPool", "opset": 8, "kernel_shape": [2, 2]}, [1, 1, 4, 4], 12),
    ({"op": "Squeeze", "opset": 11, "axes": [0, 2]}, [1, 3, 1], 13),
    ({"op": "Unsqueeze", "opset": 11, "axes": [-1]}, [3], 13),
]


@pytest.mark.parametrize(("form", "shape", "opset"), NEWER, ids=lambda value: str(value)[:40])
def test_a_model_converted_to_a_newer_opset_has_no_changes(form, shape, opset):
    old = model(form, shape)
    new = version_converter.convert_version(old, opset)
    try:
        assert same_results((old, new), shape)
    except Exception as fault:
        if "NOT_IMPLEMENTED" not in str(fault):
            raise
    assert changes(old, new) == []


def pooled(op: str, axes: np.ndarray | None, keepdims: int = 1) -> onnx.ModelProto:
    """A pool over the image, by either operator, and a flat result."""
    constants = [] if axes is None else [numpy_helper.from_array(axes, "axes")]
    given = {} if axes is None else {"keepdims": keepdims}
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node(op, ["a", *(constant.name for constant in constants)], ["p"], **given),
        *([helper.make_node("Flatten", ["p"], ["f"])] if keepdims else []),
        helper.make_node("Neg", ["f" if keepdims else "p"], ["y0"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", 1, ["n", 4, 4, 4])], [info("y0", 1, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("axes", [ints(2, 3), ints(-1, -2), ints(1, 2), ints(1, 3)], ids=str)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("kinds", [("GlobalAveragePool", "ReduceMean"), ("GlobalMaxPool", "ReduceMax")])
def test_a_reduction_over_the_image_is_a_pool(kinds, keepdims, axes):
    protos = pooled(kinds[0], None), pooled(kinds[1], axes, keepdims)
    assert bool(changes(*protos)) is not same_results(protos, [2, 4, 4, 4])


WHOLE: dict[str, Any] = {"kernel_shape": [4, 4]}


def windowed(op: str, image: list[int | str], **settings: Any) -> onnx.ModelProto:
    """A pool and a flat result, for images of a fixed size."""
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node(op, ["a"], ["p"], **settings),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Neg", ["f"], ["y0"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", 1, image)], [info("y0", 1, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)


@pytest.mark.parametrize("kind", ["Average", "Max"])
@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        (WHOLE, [2, 4, 4, 4]),
        (WHOLE | {"strides": [4, 4]}, [2, 4, 4, 4]),
        (WHOLE | {"strides": [2, 2], "pads": [0, 0, 1, 1]}, [2, 4, 4, 4]),
        (WHOLE | {"strides": [9, 9], "pads": [1, 1, 0, 0]}, [2, 4, 4, 4]),
        (WHOLE, [2, 4, 4, 5]),
        ({"kernel_shape": [2, 2], "dilations": [3, 3]}, [2, 4, 4, 4]),
        ({"kernel_shape": [4]}, [2, 4, 4]),
        ({"kernel_shape": [3], "strides": [4]}, [2, 4, 4]),
        ({"kernel_shape": [3, 4, 2]}, [2, 1, 3, 4, 2]),
    ],
    ids=str,
)
def test_a_window_over_the_whole_image_is_a_global_pool(kind, settings, shape):
    image = ["n", *shape[1:]]
    protos = windowed(f"{kind}Pool", image, **settings), windowed(f"Global{kind}Pool", image)
    assert bool(changes(*protos)) is not same_results(protos, shape)


def test_a_window_that_no_longer_covers_the_image_keeps_its_counterpart():
    alignment = align(
        *(
            run_analysis(windowed("AveragePool", ["n", 4, size, size], **WHOLE), Options(assume=True))
            for size in (4, 5)
        )
    )
    assert (alignment.only_left, alignment.only_right) == ((), ())
    assert any(pair.details for pair in alignment.pairs)


def broadcast(axis: int) -> onnx.ModelProto:
    """Sums over a square: a vector is added to each row or to each column."""
    nodes = [
        helper.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0),
        helper.make_node("Unsqueeze", ["s", "axis"], ["u"]),
        helper.make_node("Add", ["x", "u"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.array([0]), "axes"),
        numpy_helper.from_array(np.array([axis]), "axis"),
    ]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 3])] for name in "xy"]
    graph = helper.make_graph(nodes, "g", *ports, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize(("left", "right"), [(0, 1), (0, -2), (1, -1), (0, -1)])
def test_the_axis_along_which_values_are_broadcast_is_a_setting(left, right):
    protos = broadcast(left), broadcast(right)
    assert bool(changes(*protos)) is not same_results(protos, [3, 3])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"op": "Slice", "inputs": {1: ints(0), 2: ints(4)}}, {"op": "Abs"}),
        (
            {"op": "Slice", "inputs": {1: ints(0), 2: ints(4)}},
            {"op": "Slice", "inputs": {1: ints(0), 2: ints(99)}},
        ),
    ],
)
def test_sizes_that_the_file_leaves_open_decide_nothing(left, right):
    """With four rows both slices take all, with five they do not."""
    protos = model(left, ["rows", 2]), model(right, ["rows", 2])
    assert not same_results(protos, [5, 2])
    assert changes(*protos)


def test_sizes_that_the_file_fixes_decide_beside_an_open_batch():
    shape: list[int | str] = ["batch", 3, 8, 9]
    forms = [FORMS["conv with stride"][1][i] for i in (0, 1, 2)]
    left, same, other = (model(form, shape) for form in forms)
    assert same_results((left, same), [2, 3, 8, 9])
    assert changes(left, same) == []
    assert changes(left, other)
