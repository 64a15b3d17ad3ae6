"""The viewer's payload: columns that agree with each other and with the report."""

from __future__ import annotations

import msgspec
import pytest
from builders import branches, linear, loop

from py_autodoc.report.builders.node_numbers import column_in_inference
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.schema import GraphPayload
from py_autodoc.report.viewer_payload.build_payload import build_payload


def payload(source, **options):
    analysis = run_analysis(source, Options(**options))
    return analysis, build_payload(analysis)


def row(columns, offsets, i):
    return columns[offsets[i] : offsets[i + 1]]


@pytest.mark.parametrize("name", ["bert_tiny", "silero_vad_half", "trt_loop", "ppocr_v4_det"])
def test_columns_agree(name):
    analysis, found = payload(f"tests/data/models/{name}.onnx", assume=True)
    model, nodes, tensors = analysis.model, found.nodes, found.tensors
    for node in model.nodes:
        op = found.ops[nodes.op[node.id]]
        assert (op.type, op.domain) == (node.op_type, node.domain or "ai.onnx")
        assert row(nodes.inputs, nodes.input_offsets, node.id) == list(node.inputs)
        assert row(nodes.outputs, nodes.output_offsets, node.id) == list(node.outputs)
    for tensor in model.tensors:
        shape = analysis.types.shapes[tensor.id]
        assert found.shapes[tensors.shape[tensor.id]] == (None if shape is None else list(shape))
        assert tensors.producer[tensor.id] == tensor.producer
    lists = [nodes.name, nodes.scope, nodes.graph, nodes.params, nodes.macs, nodes.activation_bytes]
    assert {len(column) for column in lists} == {len(model.nodes)}
    assert all(parent < i for i, parent in enumerate(found.scopes.parent))
    # An entry is a shape and, where sizes are free, the expressions it came from: each pair once.
    written = found.expressions.shapes if found.expressions else [[]] * len(found.shapes)
    pairs = {(s if s is None else tuple(s), tuple(t)) for s, t in zip(found.shapes, written, strict=True)}
    assert found.batch is None
    assert found.expressions or len(pairs) == len(found.shapes)
    report = build_report(analysis)
    assert found.metrics == report.metrics
    assert found.diagnostics == report.diagnostics
    assert found.risk_signals == report.risk_signals
    assert all(0 <= i < len(model.nodes) for signal in found.risk_signals for i in signal.nodes)
    assert msgspec.json.decode(msgspec.json.encode(found), type=GraphPayload) == found


@pytest.mark.parametrize("source", [linear(), branches(), loop(5), loop(None)])
def test_columns_add_up_to_the_totals(source):
    _, found = payload(source.SerializeToString())
    for cost, total in (("macs", found.metrics.total_macs), ("flops", found.metrics.total_flops)):
        assert sum(n for n in column_in_inference(found.nodes, cost) if n) == total
    assert sum(found.nodes.params) == found.metrics.total_params
    for node, number in enumerate(column_in_inference(found.nodes, "macs")):
        assert number is not None or found.nodes.reason[str(node)]


def test_bodies_are_boxes_below_their_control_node():
    analysis, found = payload(branches().SerializeToString())
    gate = next(node for node in analysis.model.nodes if node.op_type == "If")
    boxes = [scope for scope in found.graphs.scope if scope >= 0]
    assert len(boxes) == 2
    for box in boxes:
        assert found.scopes.origin[box] == "subgraph"
        assert found.scopes.parent[box] == found.nodes.scope[gate.id]
    inside = {found.nodes.graph[i]: found.nodes.scope[i] for i in range(len(found.nodes.op))}
    for graph, scope in inside.items():
        if graph:
            top = scope
            while found.scopes.parent[top] != found.nodes.scope[gate.id]:
                top = found.scopes.parent[top]
            assert top == found.graphs.scope[graph]


def test_runs_are_marked():
    _, found = payload(loop(5).SerializeToString())
    inner = {i for i, graph in enumerate(found.nodes.graph) if graph}
    assert found.nodes.runs == {str(i): 5 for i in inner}
    assert not found.nodes.runs_unknown
    _, found = payload(loop(None).SerializeToString())
    assert set(found.nodes.runs_unknown) == inner
    assert not found.nodes.runs


def test_recorded_scopes_carry_classes():
    _, found = payload("tests/data/models/bert_tiny.onnx")
    scopes = dict(zip(found.scopes.label, found.scopes.type, strict=True))
    assert scopes["encoder"] == "BertEncoder"
    made = {"Mask": "structure", "BertLayer ×2": "repeat"}
    for label, origin in zip(found.scopes.label, found.scopes.origin, strict=True):
        assert origin in (made.get(label, "scope"), "plumbing")
