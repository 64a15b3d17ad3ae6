"""Pooling: sizes are those of ONNX Runtime, costs are what it averages and compares, on random windows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from costs.harness import MS, Analysed, Case, analyse, model_of, model_with
from py_autodoc.costs.engine import totals
from py_autodoc.costs.symbolic import EvaluationError, evaluate
from py_autodoc.costs.windows import over_channels, positions_read, quotients, resampled
from py_autodoc.graph.symbolic_dims.pooling_windows import PoolingAxis, windows
from py_autodoc.report.pipeline.analysis import run_analysis

ort.set_default_logger_severity(4)
OPTIONS = ort.SessionOptions()
OPTIONS.log_severity_level = 4
OPTIONS.intra_op_num_threads = OPTIONS.inter_op_num_threads = 1
QUANTIZE = 5


def session(source: bytes) -> ort.InferenceSession:
    return ort.InferenceSession(source, OPTIONS, providers=["CPUExecutionProvider"])


@dataclass(frozen=True)
class Pool:
    op: str
    sizes: tuple[int, ...]
    attributes: dict[str, Any]
    opset: int
    last: bool = False
    """Channels last."""

    @property
    def padding(self) -> bool:
        return bool(self.attributes.get("count_include_pad"))

    def shape(self, images: int = 1, channels: int = 1) -> list[int]:
        spatial = list(self.sizes)
        return [images, *spatial, channels] if self.last else [images, channels, *spatial]


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Any pooling that ONNX Runtime builds, windows that do not fit included."""
    op = draw(st.sampled_from(["MaxPool", "AveragePool", "LpPool", "QLinearAveragePool", "NhwcMaxPool"]))
    opset = draw(st.sampled_from([7, 8, 10, 11, 12, 18, 19, 22]))
    rank = draw(st.integers(1, 3)) if op != "NhwcMaxPool" else 2
    most = (12, 9, 5)[rank - 1]

    def each(low: int, high: int, n: int = rank) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=n, max_size=n))

    kernel = each(1, most)
    found: dict[str, Any] = {"kernel_shape": kernel, "strides": each(1, most)}
    auto = draw(st.sampled_from(["NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if auto == "NOTSET":
        wide = [min(k - 1, 4) for k in kernel] * 2  # runtimes refuse padding as wide as the window
        found["pads"] = [draw(st.integers(0, w)) for w in wide]
    else:
        found["auto_pad"] = auto
    since = {"LpPool": (18, 18), "MaxPool": (10, 10), "AveragePool": (19, 10)}.get(op, (1, 1))
    same = auto.startswith("SAME")
    if opset >= since[0] and op != "QLinearAveragePool" and not same and draw(st.booleans()):
        found["dilations"] = each(1, 3)
    if opset >= since[1]:
        found["ceil_mode"] = draw(st.integers(0, 1))
    if op.endswith("AveragePool"):
        found["count_include_pad"] = draw(st.integers(0, 1))
    last = op == "NhwcMaxPool" or (op == "QLinearAveragePool" and draw(st.booleans()))
    if op == "QLinearAveragePool":
        found["channels_last"] = int(last)
    sizes = tuple(each(1, most))
    if op == "QLinearAveragePool" and last:
        # With nothing to give, ONNX Runtime divides by zero there, which ends the process.
        wide = found.get("pads", [0] * 2 * rank)
        assume(
            all(k <= s + wide[i] + wide[i + rank] for i, (k, s) in enumerate(zip(kernel, sizes, strict=True)))
        )
    return Pool(op, sizes, found, opset, last)


def model(pool: Pool, shape: list[Any]) -> onnx.ModelProto:
    """One pooling, of bytes where the operator wants them."""
    quantized = pool.op in ("QLinearAveragePool", "NhwcMaxPool")
    dtype = TensorProto.UINT8 if quantized else TensorProto.FLOAT
    inputs = ["x", "scale", "zero", "scale", "zero"] if pool.op == "QLinearAveragePool" else ["x"]
    node = helper.make_node(pool.op, inputs, ["y"], "it", domain=MS if quantized else "", **pool.attributes)
    given_ = [
        onnx.numpy_helper.from_array(np.array(1, np.float32), "scale"),
        onnx.numpy_helper.from_array(np.array(0, np.uint8), "zero"),
    ]
    x = helper.make_tensor_value_info("x", dtype, shape)
    y = helper.make_tensor_value_info("y", dtype, None)
    return model_with(helper.make_graph([node], "g", [x], [y], given_[: len(inputs) - 1]), pool.opset)


def run_ort(pool: Pool, x: np.ndarray) -> np.ndarray | None:
    """The output, None where ONNX Runtime refuses."""
    source = model(pool, pool.shape(len(x))).SerializeToString()
    try:
        return np.asarray(session(source).run(None, {"x": x})[0])
    except (ort.capi.onnxruntime_pybind11_state.Fail, ort.capi.onnxruntime_pybind11_state.RuntimeException):
        return None
    except ort.capi.onnxruntime_pybind11_state.InvalidArgument:
        return None


def images(pool: Pool) -> np.ndarray:
    """One image a position, bright only there: each window that reads the position shows it."""
    count = prod(pool.sizes)
    dtype = np.uint8 if pool.op in ("QLinearAveragePool", "NhwcMaxPool") else np.float32
    light = 250 if dtype == np.uint8 else 1
    return (np.eye(count, dtype=dtype) * light).reshape(pool.shape(count))


def brute(pool: Pool, out: tuple[int, ...]) -> int:
    """(window, element) pairs inside the input, or inside the padded input, one by one."""
    a, n = pool.attributes, len(pool.sizes)
    dilations = a.get("dilations", [1] * n)
    total = 1
    for i, (size, k, s, d, o) in enumerate(
        zip(pool.sizes, a["kernel_shape"], a["strides"], dilations, out, strict=True)
    ):
        head, tail = pads(pool, i, size, k, s)
        low, high = (-head, size + tail) if pool.padding else (0, size)
        total *= sum(low <= w * s - head + e * d < high for w, e in product(range(o), range(k)))
    return total


def pads(pool: Pool, axis: int, size: int, k: int, s: int) -> tuple[int, int]:
    auto = pool.attributes.get("auto_pad", "NOTSET")
    if auto == "NOTSET":
        both = pool.attributes["pads"]
        return both[axis], both[axis + len(pool.sizes)]
    if auto == "VALID":
        return 0, 0
    total = max(0, (-(-size // s) - 1) * s + k - size)
    half = total // 2
    return (half, total - half) if auto == "SAME_UPPER" else (total - half, half)


def flops(done: Analysed) -> int:
    cost = done.costs.nodes[done.node("it")].cost
    assert cost is not None, done.costs.nodes[0].reason
    return cost.flops


def of_elements(pool: Pool, elements: int, out: tuple[int, ...]) -> int:
    if pool.op == "LpPool":
        return 3 * elements
    return elements + (QUANTIZE * prod(out) if pool.op == "QLinearAveragePool" else 0)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(pools())
def test_sizes_and_elements_are_those_of_the_runtime(pool: Pool) -> None:
    x = images(pool)
    made = run_ort(pool, x)
    done = analyse(model(pool, pool.shape()))
    shape = done.types.shapes[done.model.nodes[0].outputs[0]]
    codes = {d.code for d in done.types.diagnostics}
    if made is None:
        # Wider strides than windows under SAME_* are in the operators' text; the runtime's MaxPool fails.
        assert "bad-shape" in codes or pool.attributes.get("auto_pad", "").startswith("SAME")
        return
    assert shape == (1, *made.shape[1:])
    out = made.shape[1:-1] if pool.last else made.shape[2:]
    assert ("empty-output" in codes) == (0 in out)
    expected = brute(pool, out)
    assert flops(done) == of_elements(pool, expected, out)
    if not pool.padding and pool.op != "QLinearAveragePool":  # whose averages may round to 0
        assert int((made > 0).sum()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("opset", [10, 19, 22])
@settings(max_examples=60, deadline=None)
@given(pool=pools())
def test_padding_counts_as_the_runtime_divides(opset: int, pool: Pool) -> None:
    attributes = {**pool.attributes, "count_include_pad": 1}
    for name in ("channels_last", "dilations") if opset < 19 else ("channels_last",):
        attributes.pop(name, None)
    pool = Pool("AveragePool", pool.sizes, attributes, opset)
    made = run_ort(pool, np.ones(pool.shape(), np.float32))
    inside = run_ort(
        Pool("LpPool", pool.sizes, {**without(attributes, "count_include_pad"), "p": 1}, 22),
        np.ones(pool.shape(), np.float32),
    )
    if made is None or inside is None or not made.size or not inside.all():
        return  # nothing is divided where a window holds no element
    reach = [(k - 1) * d + 1 for k, d in zip(attributes["kernel_shape"], dilations(pool), strict=True)]
    padded = [s + sum(pads(pool, i, s, k, t)) for i, (s, k, t) in enumerate(
        zip(pool.sizes, attributes["kernel_shape"], attributes["strides"], strict=True))]  # fmt: skip
    if any(r > p for r, p in zip(reach, padded, strict=True)) and not attributes.get("ceil_mode"):
        return  # a window beyond the padded input: versions divide differently
    divisors = np.rint(inside / made)
    assert flops(analyse(model(pool, pool.shape()))) == int(divisors.sum())


def without(attributes: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if key != name}


def dilations(pool: Pool) -> list[int]:
    return pool.attributes.get("dilations", [1] * len(pool.sizes))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(pools(), st.lists(st.integers(1, 40), min_size=3, max_size=3))
def test_expressions_are_the_numbers(pool: Pool, sizes: list[int]) -> None:
    names = [f"d{i}" for i in range(len(pool.sizes))]
    free = ["n", *names, "c"] if pool.last else ["n", "c", *names]
    found = run_analysis(model(pool, free).SerializeToString()).symbolic
    assert found is not None
    entry = found.nodes[0]
    if entry.flops is None:
        # Long expressions have no text: only then a count is missing.
        assert entry.reason
        return
    bound = {"n": 2, "c": 3, **dict(zip(names, sizes, strict=False))}
    done = analyse(model(pool, free), {found.original[s]: bound[s] for s in found.symbols})
    try:
        found.check({s: bound[s] for s in found.symbols})
    except EvaluationError:
        return  # sizes that the windows do not fit
    assert evaluate(entry.flops, bound) == flops(done)


USUAL = [
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", {"kernel_shape": [5, 5], "pads": [2, 2, 2, 2]}),
    ("MaxPool", {"kernel_shape": [13, 13], "pads": [6, 6, 6, 6]}),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("AveragePool", {"kernel_shape": [1280, 1280], "strides": [1280, 1280], "ceil_mode": 1}),
]


@pytest.mark.parametrize(("op", "attributes"), USUAL)
def test_usual_poolings_have_an_expression_that_holds(op: str, attributes: dict[str, Any]) -> None:
    pool = Pool(op, (1, 1), {"strides": [1, 1], **attributes}, 22)
    found = run_analysis(model(pool, ["n", 8, "h", "w"]).SerializeToString()).symbolic
    assert found is not None
    held = 0
    for h, w in product(range(1, 40), (7, 20, 33)):
        sizes = {"n": 2, "h": h, "w": w}
        try:
            found.check(sizes)
        except EvaluationError:
            continue
        held += 1
        assert found.nodes[0].flops is not None
        done = analyse(model(pool, [2, 8, h, w]))
        assert evaluate(found.nodes[0].flops, sizes) == flops(done)
    assert held > 80


def test_a_window_wider_than_its_map_is_no_cost() -> None:
    """EfficientNet as some exporters write it: the last average is over 1280 × 1280 of 7 × 7."""
    attributes = {"kernel_shape": [1280, 1280], "strides": [1280, 1280], "ceil_mode": 1}
    case = Case("AveragePool", [(1, 1280, 7, 7)], 0, 0, 0, 0, attributes)
    done = analyse(model_of(case))
    assert done.types.shapes[done.model.nodes[0].outputs[0]] == (1, 1280, 1, 1)
    assert totals(done.model, done.costs.nodes).flops == 1280 * 49
    assert not done.types.diagnostics


@pytest.mark.parametrize("size", [10**15, 10**15 + 7])
def test_enormous_sizes_take_no_longer(size: int) -> None:
    axis = PoolingAxis(10**12, 10**6 + 3, 5, 10**11, 10**11)
    out = windows(axis, size)
    assert isinstance(out, int)
    inside = positions_read(axis, size, out)
    assert 0 < inside < positions_read(axis, size, out, padding=True) == out * axis.kernel


@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 30), st.integers(0, 30))
def test_sums_of_quotients(n: int, m: int, a: int, b: int) -> None:
    assert quotients(n, m, a, b) == sum((a * i + b) // m for i in range(n))


@given(st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 2]))
def test_antialiased_filters(size: int, out: int, support: int) -> None:
    samples, half = 0, Fraction(1, 2)
    for i in range(out):
        centre = (i + half) * Fraction(size, out)
        reach = support * max(Fraction(size, out), 1)
        samples += min(size, floor(centre + reach + half)) - max(0, floor(centre - reach + half))
    assert resampled(size, out, support) == samples


@given(st.integers(1, 9), st.integers(1, 12))
def test_windows_over_channels_are_those_of_the_reference(size: int, channels: int) -> None:
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    pairs = sum(
        max(0, c - low) <= i <= min(channels - 1, c + high) for c, i in product(range(channels), repeat=2)
    )
    assert over_channels(size, channels) == pairs
