"""The reference of processors without VNNI against outputs recorded on one, on every processor."""

import json
from pathlib import Path

import numpy as np
import pytest
from reference_cases import Case, by_onnx_runtime

from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.reference import evaluate
from py_autodoc.quantize.reference.operators import ACCUMULATORS, attention_projection
from py_autodoc.quantize.reference.saturation import FACTORS, saturates_pairs

FOLDER = Path("tests/data/kernels")
CASES = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))["cases"]
KINDS = list(dict.fromkeys(case["kind"] for case in CASES))


@pytest.fixture(scope="module")
def arrays():
    with np.load(FOLDER / "vectors.npz") as stored:
        return dict(stored)


def computed(case, inputs, kernel):
    if case["op"] == "QAttention":
        hidden = inputs[2].size // 3
        return attention_projection(inputs, kernel)[..., 2 * hidden :]
    return evaluate(case["op"], inputs, case["attributes"], kernel)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_equals_the_recorded_outputs(kind, arrays):
    for case in (one for one in CASES if one["kind"] == kind):
        inputs = [None if name is None else arrays[name] for name in case["inputs"]]
        expected, found = arrays[case["output"]], computed(case, inputs, "pairs")
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected)
        exact = computed(case, inputs, "exact")
        assert bool((exact != expected).any()) == case["differs_from_exact"]


def test_every_product_is_recorded():
    assert {case["op"] for case in CASES} == {*ACCUMULATORS, "QAttention"}
    assert set(FACTORS) == {*ACCUMULATORS, "QAttention", "DynamicQuantizeLSTM"}
    assert sum(case["differs_from_exact"] for case in CASES) == 148


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_kinds_that_saturate_differ(kind, arrays):
    for case in (one for one in CASES if one["kind"] == kind):
        inputs = [None if name is None else arrays[name] for name in case["inputs"]]
        (factors,) = FACTORS[case["op"]]
        a, b = inputs[factors.a], inputs[factors.b]
        a_type = a.dtype if factors.a_quantized else np.uint8
        possible = saturates_pairs(case["op"], a_type, b.dtype, b.shape, case["attributes"].get("group", 1))
        assert possible or not case["differs_from_exact"]
        assert possible == any(one["differs_from_exact"] for one in CASES if one["kind"] == kind)


@pytest.mark.skipif(current_runtime() == "cpu-arm", reason="kernels of ARM requantize by fixed point")
@pytest.mark.parametrize("kind", KINDS)
def test_the_runtime_gives_what_the_reference_of_its_kernels_gives(kind, arrays):
    pytest.importorskip("onnxruntime")
    kernel = "pairs" if current_runtime() == "cpu-avx2" else "exact"
    for case in (one for one in CASES if one["kind"] == kind):
        inputs = [None if name is None else arrays[name] for name in case["inputs"]]
        node = Case(case["op"], list(inputs), case["attributes"], frozenset(case["constant"]))
        found = by_onnx_runtime(node)[0]
        np.testing.assert_array_equal(found, computed(case, inputs, kernel))
