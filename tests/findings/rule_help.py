"""What tests of rules share: small graphs and one rule's findings on them."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from py_autodoc.findings.registry import Finding
from py_autodoc.findings.thresholds import settings
from py_autodoc.report.analysis import Analysis, Options, run

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
    analysis = run(source, Options(thresholds=settings(overrides), **options))
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
