"""What ONNX Runtime computes element by element on a CPU has a time of its own, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import Graph

from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import device
from py_autodoc.hardware.profile import find_profile
from py_autodoc.hardware.runtimes import IDS, ORT, runs_on, runtime, usual
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in


def seconds(model: Any, where: str = "core-i9-10940x", name: str = ORT.id) -> float:
    analysis, one, runs = run_analysis(model), device(find_profile(where)), runtime(name)
    assert one is not None
    found = estimate(kernels_in(analysis, runs), estimate_inputs(analysis), one, "fp32", runs.model).seconds
    assert found is not None
    return found


def single(operator: str, *inputs: Any, shape: tuple[int, ...] = (16, 64, 64), **settings: Any) -> Any:
    g = Graph(x=list(shape))
    return g.model(g.op(operator, "x", *(make(g) for make in inputs), **settings))


def axis(number: int) -> Any:
    return lambda g: g.scalar(number, np.int64)


SLOW = {
    "cumsum along rows": (single("CumSum", axis(2)), single("CumSum", axis(1))),
    "softmax across rows": (single("Softmax", axis=1), single("Softmax", axis=2)),
    "pow": (single("Pow", lambda g: g.scalar(1.5)), single("Pow", lambda g: g.scalar(2.0))),
    "softplus": (single("Softplus"), single("Relu")),
    "resize": (
        single(
            "Resize",
            lambda g: "",
            lambda g: "",
            lambda g: g.ints(1, 8, 64, 64),
            shape=(1, 8, 32, 32),
            mode="cubic",
        ),
        single(
            "Resize",
            lambda g: "",
            lambda g: "",
            lambda g: g.ints(1, 8, 64, 64),
            shape=(1, 8, 32, 32),
            mode="linear",
        ),
    ),
    "pad in rows": (
        single("Pad", lambda g: g.ints(0, 0, 1, 0, 0, 1), shape=(256, 64, 4)),
        single("Pad", lambda g: g.ints(0, 1, 0, 0, 1, 0), shape=(256, 64, 4)),
    ),
    "einsum of pairs": (
        single("Einsum", lambda g: g.weight(16, 64, 64), equation="abc,abc->abc"),
        single("Mul", lambda g: g.weight(16, 64, 64)),
    ),
    "tiny products": (
        single("MatMul", lambda g: g.weight(4096, 2, 2), shape=(4096, 2, 2)),
        single("MatMul", lambda g: g.weight(4, 64, 64), shape=(4, 64, 64)),
    ),
    "convolution of volumes": (
        single("Conv", lambda g: g.weight(8, 1, 3, 3, 3), shape=(1, 1, 24, 24, 24), pads=[1] * 6),
        single("Conv", lambda g: g.weight(8, 1, 27, 1), shape=(1, 1, 24, 576), pads=[13, 0, 13, 0]),
    ),
}
"""Of each pair the first took at least twice as long as the second, with as much memory and arithmetic."""


@pytest.mark.parametrize("name", SLOW)
def test_slow_operators(name: str) -> None:
    slow, fast = map(seconds, SLOW[name])
    assert slow > 1.5 * fast


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("where", ["core-i9-10940x", "l4"])
def test_only_on_cpus_and_in_onnx_runtime(name: str, where: str) -> None:
    analysis = run_analysis(SLOW[name][0])
    for other in IDS:
        listed = kernels_in(analysis, runtime(other)).by_element
        assert bool(listed) == (other == ORT.id)
    if where == "l4":
        kernels, one = kernels_in(analysis, ORT), device(find_profile(where))
        assert one is not None
        inputs = estimate_inputs(analysis)
        with_list = estimate(kernels, inputs, one, "fp32", ORT.model).seconds
        kernels.by_element = {}
        assert estimate(kernels, inputs, one, "fp32", ORT.model).seconds == with_list


def test_each_device_has_the_runtime_that_exists_for_it() -> None:
    names = {}
    for where in ("l4", "jetson-nano", "raspberry-pi-5", "xeon-8480-plus", "mi300x", "apple-m2", "tpu-v5e"):
        one = device(find_profile(where))
        assert one is not None
        names[where] = usual(one).id
        assert runs_on(runtime("tensorrt"), one) == (one.vendor == "nvidia")
    assert names == {
        "l4": "tensorrt", "jetson-nano": "tensorrt", "raspberry-pi-5": "ort-cuda",
        "xeon-8480-plus": "ort-cuda", "mi300x": "vendor", "apple-m2": "vendor", "tpu-v5e": "vendor",
    }  # fmt: skip
