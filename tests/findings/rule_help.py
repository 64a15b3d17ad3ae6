"""What tests of rules share: small graphs and one rule's findings on them."""

from __future__ import annotations

from itertools import pairwise

import onnx
from onnx import TensorProto, helper

from py_autodoc.findings.registry import Finding
from py_autodoc.findings.thresholds import settings
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis

F, INT = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, initializers=(), opset=20, **extra) -> onnx.ModelProto:
    """A model; ``inputs``/``outputs`` are (name, shape) of floats or (name, shape, element type)."""

    def info(name, shape, kind=F):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        list(nodes),
        "main",
        [info(*value) for value in inputs],
        [info(*value) for value in outputs],
        initializer=list(initializers),
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **extra)


def weight(name, *shape, kind=F) -> onnx.TensorProto:
    """An initializer of that shape whose data lies in a file that is not there: rules read no weight."""
    tensor = onnx.TensorProto(name=name, data_type=kind, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    size = onnx.helper.tensor_dtype_to_np_dtype(kind).itemsize
    for d in shape:
        size *= d
    for key, value in (("location", f"{name}.bin"), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def whole(source, overrides=None, **options) -> Analysis:
    """The analysis; no rule may have failed."""
    analysis = run_analysis(source, Options(thresholds=settings(overrides), **options))
    failed = [d for d in analysis.diagnostics if d.code in ("rule-failed", "analysis-failed")]
    assert not failed, failed
    return analysis


def found(rule: str, source, *, bindings=None, **thresholds) -> list[Finding]:
    """What one rule finds, with some of its thresholds changed."""
    analysis = whole(source, {rule: thresholds} if thresholds else None, bindings=bindings or {})
    findings = [item for item in analysis.findings if item.rule == rule]
    nodes = range(len(analysis.model.nodes))
    for item in findings:
        assert item.message.endswith(".")
        assert item.recommendation.endswith(".")
        assert all(number in nodes for number in item.nodes)
        assert item.evidence
    return findings


def dense(*widths, act="Relu", rows=1, bias=False) -> onnx.ModelProto:
    """x[rows, widths[0]] through MatMuls ``fc1`` … with ``act`` (empty: nothing) between them."""
    nodes, weights, at = [], [], "x"
    for number, (k, n) in enumerate(pairwise(widths), 1):
        nodes.append(helper.make_node("MatMul", [at, f"w{number}"], [f"h{number}"], name=f"fc{number}"))
        weights.append(weight(f"w{number}", k, n))
        at = f"h{number}"
        if bias:
            nodes.append(helper.make_node("Add", [at, f"b{number}"], [f"s{number}"]))
            weights.append(weight(f"b{number}", n))
            at = f"s{number}"
        if act and number < len(widths) - 1:
            nodes.append(helper.make_node(act, [at], [f"a{number}"]))
            at = f"a{number}"
    return model(nodes, [("x", [rows, widths[0]])], [(at, [rows, widths[-1]])], weights)


class Net:
    """A convolutional network built step by step; every method gives the name of its result."""

    def __init__(self, *shape: int) -> None:
        self.shape = list(shape)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.width = {"x": shape[1]}

    def op(self, kind: str, *inputs: str, width: int | None = None, **attributes) -> str:
        """Any operator with one result; ``width``: its channels, those of its first input by default."""
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        self.width[name] = self.width.get(inputs[0], 0) if width is None else width
        return name

    def constant(self, values, kind=INT) -> str:
        """A small initializer with these values."""
        name = f"c{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, kind, [len(values)], values))
        return name

    def trained(self, *shape: int) -> str:
        """A large one, without data."""
        name = f"w{len(self.weights)}"
        self.weights.append(weight(name, *shape))
        return name

    def conv(self, x: str, width: int, kernel=3, *, bias=True, group=1, pad=None, **attributes) -> str:
        """A 2-D convolution that keeps the size (unless it has strides)."""
        inputs = [x, self.trained(width, self.width[x] // group, kernel, kernel)]
        if bias:
            inputs.append(self.trained(width))
        pads = [kernel // 2 if pad is None else pad] * 4
        return self.op("Conv", *inputs, width=width, group=group, pads=pads, **attributes)

    def relu(self, x: str) -> str:
        return self.op("Relu", x)

    def model(self, result: str) -> onnx.ModelProto:
        return model(self.nodes, [("x", self.shape)], [(result, None)], self.weights)
