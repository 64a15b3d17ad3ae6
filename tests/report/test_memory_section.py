"""The memory section of the report, the viewer's columns and the lines on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import branches, linear, loop, model
from onnx import helper

from py_autodoc.cli.memory_lines import memory_lines
from py_autodoc.report.api import analyze
from py_autodoc.report.builders.memory_section import MAX_LIVE
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline import analysis as stages
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
STRIPPED = DATA / "stripped"
TRUTH = json.loads((DATA / "truth.json").read_text(encoding="utf-8"))


def stripped(name):
    return analyze(STRIPPED / f"{name}.stripped.onnx", assume=True)


def test_linear_by_hand():
    memory = analyze(linear()).memory
    # x 2×4 and h 2×3 floats; Add and Relu write over h
    assert (memory.peak.bytes, memory.peak_simple.bytes) == (56, 56)
    assert (memory.steps, memory.input_bytes) == (3, 32)
    assert (memory.peak.step, memory.peak.nodes) == (0, [0])
    assert [(t.name, t.bytes, t.node, t.first_step, t.last_step) for t in memory.peak.tensors] == [
        ("x", 32, None, -1, 0),
        ("h", 24, 0, 0, 1),
    ]
    assert memory.curve.simple_bytes == [56, 48, 48]
    assert memory.curve.inplace_bytes == [56, 24, 24]
    assert [(row.elem_type, row.bytes, row.params) for row in memory.weights.by_dtype] == [
        ("float32", 60, 15)
    ]
    assert [(row.type, row.bytes) for row in memory.weights.by_op] == [("MatMul", 48), ("Add", 12)]
    assert [(t.name, t.shape, t.node) for t in memory.weights.largest] == [("w", [4, 3], 0), ("b", [3], 1)]
    assert (memory.activations.bytes, memory.activations.unknown) == (72, 0)
    assert memory.kv_cache.source == "none"
    assert memory.kv_cache.bytes_per_token is None
    assert memory.kv_cache.reason


@pytest.mark.parametrize("name", ["resnet50", "gpt2", "bert_base", "segformer_b0"])
def test_totals_agree_with_the_metrics_and_the_record(name):
    report = stripped(name)
    memory, metrics = report.memory, report.metrics
    truth = TRUTH[name]["peak"]
    assert memory.peak.bytes == metrics.peak_activation_bytes == truth["liveness_inplace"]
    assert memory.peak_simple.bytes == metrics.peak_activation_bytes_simple == truth["liveness_simple"]
    for peak in (memory.peak, memory.peak_simple):
        assert sum(t.bytes for t in peak.tensors) + peak.others_bytes == peak.bytes
        assert len(peak.tensors) <= MAX_LIVE
    curve = memory.curve
    assert len(curve.step) == len(curve.node) <= 256
    assert max(curve.inplace_bytes) == memory.peak.bytes
    assert max(curve.simple_bytes) == memory.peak_simple.bytes
    weights = memory.weights
    assert weights.bytes == metrics.weight_bytes
    assert sum(row.bytes for row in weights.by_dtype) == weights.bytes
    assert sum(row.bytes for row in weights.by_op) == weights.bytes
    assert weights.inline_bytes + weights.external_bytes + weights.generated_bytes == weights.bytes
    assert memory.activations.bytes == sum(row.bytes for row in memory.activations.by_op)
    assert memory.activations.bytes == sum(layer.activation_bytes for layer in report.layers)


@pytest.mark.parametrize(
    ("name", "layers", "kv_heads", "head_dim", "per_token", "context"),
    [
        # layers × (K + V) × kv heads × head size × 4 bytes, from the configurations they were built with
        ("gpt2", 12, 12, 64, 12 * 2 * 12 * 64 * 4, 1024),
        ("llama_gqa_small", 8, 2, 64, 8 * 2 * 2 * 64 * 4, None),
        ("llama32_narrow", 32, 2, 16, 32 * 2 * 2 * 16 * 4, None),
    ],
)
def test_decoders_exported_without_a_past_are_estimated(name, layers, kv_heads, head_dim, per_token, context):
    report = stripped(name)
    assert [value.elem_type for value in report.graph.inputs] == ["int64"]  # tokens alone
    cache = report.memory.kv_cache
    assert cache.source == "estimated"
    assert 0.5 <= cache.confidence <= 0.9
    assert (cache.num_layers, cache.kv_heads, cache.head_dim) == (layers, kv_heads, head_dim)
    assert (cache.bytes_per_token, cache.context_length) == (per_token, context)
    assert cache.context_bytes == (None if context is None else context * per_token)
    assert bool(cache.context_reason) == (context is None)
    assert cache.sequence_axis is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["bert_base", "bert_base_dyn", "distilbert", "vit_b16", "whisper_tiny_encoder", "t5_small_encoder",
     "clip_b32", "detr_r50", "swin_t", "segformer_b0", "mamba_tiny", "resnet50"],
)  # fmt: skip
def test_encoders_and_others_have_no_cache(name):
    cache = stripped(name).memory.kv_cache
    assert (cache.source, cache.bytes_per_token, cache.confidence, cache.layers) == ("none", None, None, [])
    assert cache.reason


def test_the_whole_curve_is_in_the_payload():
    analysis = run_analysis(STRIPPED / "gpt2.stripped.onnx", Options())
    payload, report = build_payload(analysis), build_report(analysis)
    assert payload.memory == report.memory
    time = payload.timeline
    assert len(time.node) == len(time.simple_bytes) == len(time.inplace_bytes) == report.memory.steps
    assert len(time.tensor_last) == len(payload.tensors.name)
    assert max(time.inplace_bytes) == payload.metrics.peak_activation_bytes
    # what the columns say is alive adds up to the curve
    step_of = {node: step for step, node in enumerate(time.node)}
    size = analysis.sizes.bytes
    at = report.memory.peak_simple.step
    alive = [
        tensor
        for tensor, last in enumerate(time.tensor_last)
        if last >= at and step_of.get(payload.tensors.producer[tensor], -1) <= at
    ]
    assert sum(size[tensor] for tensor in alive) == time.simple_bytes[at]


@pytest.mark.parametrize("source", [branches(), loop(5)])
def test_bodies_are_on_top_of_their_node(source):
    analysis = run_analysis(source.SerializeToString(), Options())
    payload = build_payload(analysis)
    time, peak = payload.timeline, payload.memory.peak
    assert [analysis.model.nodes[time.node[step]].op_type in ("If", "Loop") for step in time.body_step] == [
        True
    ]
    assert sum(t.bytes for t in peak.tensors) == peak.bytes
    inside = [t for t in peak.tensors if t.subgraph]
    assert bool(inside) == (len(peak.nodes) > 1)


def test_a_stage_that_fails_costs_only_its_part(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(stages, "breakdown", broken)
    monkeypatch.setattr(stages, "kv_cache", broken)
    analysis = run_analysis(linear().SerializeToString(), Options())
    assert analysis.partial
    memory = build_report(analysis).memory
    assert (memory.weights, memory.activations, memory.kv_cache) == (None, None, None)
    assert memory.peak.bytes == 56
    assert build_payload(analysis).memory == memory


def test_lines_on_a_terminal():
    lines = dict(memory_lines(stripped("gpt2")))
    assert lines["Peak"] == "181 MB at node_linear (step 455 of 455)"
    assert lines["Live at peak"].startswith("val_888 154 MB (constant) · linear 25.7 MB")
    assert lines["Weights"].startswith("float32 498 MB")
    assert lines["KV cache"].startswith(
        "73.7 kB per token (12 layers, 12 heads × 64, float32) · 75.5 MB for 1,024"
    )
    resnet = dict(memory_lines(stripped("resnet50")))
    assert "9.63 MB without reuse" in resnet["Peak"]
    assert "KV cache" not in resnet
    unknown = dict(memory_lines(analyze(STRIPPED / "bert_base_dyn.stripped.onnx")))
    assert unknown["Peak"].startswith("—")
    assert "xs_0" in unknown["Peak"]


def test_names_cannot_style_the_terminal():
    nodes = [helper.make_node("Relu", ["x"], ["\x1b[31mred"], name="\x1b]0;title\x07")]
    hostile = model(nodes, [("x", [4])], [("\x1b[31mred", [4])])
    assert all("\x1b" not in text and "\x07" not in text for _, text in memory_lines(analyze(hostile)))


def test_a_model_without_nodes():
    memory = analyze(model([], [("x", [4])], [("x", [4])])).memory
    assert (memory.steps, memory.peak.step, memory.peak.nodes) == (0, -1, [])
    assert memory.activations.bytes == 0
    assert memory.weights.bytes == 0
