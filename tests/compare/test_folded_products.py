"""Products with the constants after them folded in, judged by ONNX Runtime: equal results, equal weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from py_autodoc.compare.changes import Change
from py_autodoc.compare.weights import align_with_weights
from py_autodoc.report.pipeline.analysis import run_analysis

ort = pytest.importorskip("onnxruntime")


def normalized(folded: bool, biased: bool, factor: float = 1.0, shift: float = 0.0) -> onnx.ModelProto:
    """A convolution and its BatchNormalization, or with that folded in."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(4, 3, 3, 3)).astype(np.float32)
    scale, offset, mean, variance = (rng.uniform(0.5, 2, 4).astype(np.float32) for _ in range(4))
    bias = rng.normal(size=4).astype(np.float32) if biased else np.zeros(4, np.float32)
    gain = scale / np.sqrt(variance + np.float32(1e-5))
    arrays = {"w": weight, "c": bias, "s": scale, "o": offset, "m": mean, "v": variance}
    if folded:
        arrays = {
            "w": weight * gain[:, None, None, None] * factor,
            "c": offset + (bias - mean) * gain + shift,
        }
    nodes = [helper.make_node("Conv", ["x", "w", *(["c"] if biased or folded else [])], ["h"], "conv")]
    if not folded:
        nodes.append(helper.make_node("BatchNormalization", ["h", "s", "o", "m", "v"], ["n"], "norm"))
    nodes.append(helper.make_node("Relu", [nodes[-1].output[0]], ["y"], "relu"))
    ports = (
        [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", 1, None)],
    )
    constants = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", *ports, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("first_folded", [False, True])
@pytest.mark.parametrize(
    ("factor", "shift", "expected"), [(1.0, 0.0, set()), (1.01, 0.0, {"weight"}), (1.0, 0.1, {"bias"})]
)
def test_a_folded_normalization_has_the_values_of_one_that_is_not(
    tmp_path, biased, first_folded, factor, shift, expected
):
    models = [normalized(False, biased), normalized(True, biased, factor, shift)]
    sides = []
    for name, model in zip("ab", models[::-1] if first_folded else models, strict=True):
        path = tmp_path / f"{name}.onnx"
        onnx.save(model, path)
        sides.append((run_analysis(str(path)), str(path)))
    alignment = align_with_weights(*sides)
    details = [detail for pair in alignment.pairs for detail in pair.details]
    assert {detail.what for detail in details if detail.distance is not None} == expected
    assert [detail.what for detail in details if detail.distance is None] == ["nodes"]


CHANNELS = 5
Arrays = dict[str, np.ndarray]


class Following:
    """A product with constants after it, beside the same product with these folded in."""

    def __init__(self, product: str, after: str, **settings: Any) -> None:
        rng = np.random.default_rng(3)
        image = product.startswith("Conv")
        size = {"Conv": (CHANNELS, 3, 2, 2), "ConvTranspose": (3, CHANNELS, 2, 2)}.get(product, (3, CHANNELS))
        self.weight = rng.normal(size=size[::-1] if settings.get("transB") else size).astype(np.float32)
        self.product, self.after, self.settings = product, after, settings
        self.x = rng.normal(size=(2, 3, 6, 6) if image else (2, 3)).astype(np.float32)
        per_channel = (CHANNELS, 1, 1) if image else (CHANNELS,)
        self.constant = rng.uniform(0.5, 2, per_channel).astype(np.float32)
        self.norm = {name: rng.uniform(0.5, 2, CHANNELS).astype(np.float32) for name in "somv"}
        self.bias = rng.normal(size=CHANNELS).astype(np.float32)
        self.axis = {"Conv": 0, "ConvTranspose": 1}.get(product, 0 if settings.get("transB") else 1)

    def nodes_after(self, name: str) -> tuple[list[onnx.NodeProto], Arrays]:
        if self.after == "BatchNormalization":
            return [helper.make_node(self.after, [name, *"somv"], ["n"], "after")], self.norm
        operands = ["k", name] if self.after == "SubFrom" else [name, "k"]
        return [helper.make_node(self.after.removesuffix("From"), operands, ["n"], "after")], {
            "k": self.constant
        }

    def model(self, folded: bool, factor: float = 1.0) -> onnx.ModelProto:
        gain, shift = self.affine() if folded else (np.ones(CHANNELS), np.zeros(CHANNELS))
        shape = [1] * self.weight.ndim
        shape[self.axis] = -1
        arrays: Arrays = {"w": self.weight * gain.reshape(shape) * factor, "b": self.bias * gain + shift}
        biased = self.product != "MatMul"
        if not biased:
            arrays["b"] = arrays["b"] - self.bias * gain
        nodes = [
            helper.make_node(
                self.product, ["x", "w", *(["b"] if biased else [])], ["h"], "product", **self.settings
            )
        ]
        if not folded:
            following, constants = self.nodes_after("h")
            nodes += following
            arrays |= constants
        elif not biased and shift.any():
            nodes.append(helper.make_node("Gemm", ["x", "w", "b"], ["h"], "product"))
            nodes.pop(0)
        nodes.append(helper.make_node("Relu", [nodes[-1].output[0]], ["y"], "relu"))
        ports = (
            [helper.make_tensor_value_info("x", 1, self.x.shape)],
            [helper.make_tensor_value_info("y", 1, None)],
        )
        used = {name for node in nodes for name in node.input}
        stored = [numpy_helper.from_array(a.astype(np.float32), n) for n, a in arrays.items() if n in used]
        graph = helper.make_graph(nodes, "g", *ports, stored)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)

    def affine(self) -> tuple[np.ndarray, np.ndarray]:
        k, one = self.constant.ravel(), np.ones(CHANNELS)
        if self.after == "BatchNormalization":
            gain = self.norm["s"] / np.sqrt(self.norm["v"] + 1e-5)
            return gain, self.norm["o"] - self.norm["m"] * gain
        return {
            "Add": (one, k),
            "Sub": (one, -k),
            "SubFrom": (-one, k),
            "Mul": (k, 0 * k),
            "Div": (1 / k, 0 * k),
        }[self.after]


@pytest.mark.parametrize("after", ["BatchNormalization", "Add", "Sub", "SubFrom", "Mul", "Div"])
@pytest.mark.parametrize(
    ("product", "settings"),
    [("Conv", {}), ("ConvTranspose", {}), ("Gemm", {}), ("Gemm", {"transB": 1}), ("MatMul", {})],
    ids=str,
)
def test_constants_after_a_product_are_compared_folded_in(tmp_path, product, settings, after):
    case = Following(product, after, **settings)
    models = {"plain": case.model(False), "folded": case.model(True), "other": case.model(True, 1.01)}
    results = {
        name: ort.InferenceSession(model.SerializeToString()).run(None, {"x": case.x})[0]
        for name, model in models.items()
    }
    np.testing.assert_allclose(results["plain"], results["folded"], rtol=1e-4, atol=1e-5)
    sides = {}
    for name, model in models.items():
        onnx.save(model, tmp_path / f"{name}.onnx")
        sides[name] = (run_analysis(str(tmp_path / f"{name}.onnx")), str(tmp_path / f"{name}.onnx"))

    def values(left: str, right: str) -> set[str]:
        pairs = align_with_weights(sides[left], sides[right]).pairs
        return {d.what for pair in pairs for d in pair.details if Change.WEIGHTS & d.kind}

    assert values("plain", "folded") == values("folded", "plain") == set()
    assert values("plain", "other") == {"weight"}


def test_a_linear_layer_is_the_same_as_gemm_and_as_matmul_with_add(tmp_path):
    rng = np.random.default_rng(0)
    weight, bias = (rng.normal(size=s).astype(np.float32) for s in ((3, 5), (5,)))
    info = helper.make_tensor_value_info

    def side(name: str, nodes: list[onnx.NodeProto], weight: np.ndarray, bias: np.ndarray) -> Any:
        constants = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
        graph = helper.make_graph(nodes, "g", [info("x", 1, [2, 3])], [info("y", 1, [2, 5])], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        onnx.save(model, tmp_path / name)
        return run_analysis(str(tmp_path / name)), str(tmp_path / name)

    gemm = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    parts = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["b", "h"], ["y"])]
    turned = side("gemm.onnx", gemm, np.ascontiguousarray(weight.T), bias)

    def values(right: Any) -> set[str]:
        pairs = align_with_weights(turned, right).pairs
        return {d.what for pair in pairs for d in pair.details if Change.WEIGHTS & d.kind}

    assert values(side("parts.onnx", parts, weight, bias)) == set()
    assert values(side("weight.onnx", parts, weight * np.float32(1.01), bias)) == {"weight"}
    assert values(side("bias.onnx", parts, weight, bias + 1)) == {"bias"}
