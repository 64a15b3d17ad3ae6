"""Attention of the test models against the configurations that they were built with."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_maker import flows_of

from py_autodoc.blocks.attention_layers.attention import find_attention
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).parent.parent / "data"
TRUTH = json.loads((DATA / "truth.json").read_text())
NOTHING = [
    "resnet50", "resnet50_dyn", "resnet_tiny", "resnet_tiny_qdq_int8", "convnext_tiny", "mobilenet_v2",
    "mamba_tiny", "light_bvlc_alexnet", "light_resnet50", "light_squeezenet", "light_vgg19", "ppocr_v4_det",
    "ppocr_cls_v2", "basic_pitch_nmp", "swift_f0", "dnsmos_sig_bak_ovr", "mnist_cntk", "magika_standard_v3_3",
    "silero_vad_half", "ddddocr_det", "trt_loop", "trt_qdq_conv", "trt_residual_block",
]  # fmt: skip

# (kind, heads, kv heads, head size, hidden size, queries, keys): layers. From the configurations: BERT-base
# 12 × 12 heads of 64; Swin-T depths 2-2-6-2, heads 3-6-12-24; SegFormer-B0 heads 1-2-5-8, reduction 8-4-2-1 …
EXPECTED = {
    "bert_base": {("self", 12, 12, 64, 768, 128, 128): 12},
    "bert_base_dyn": {("self", 12, 12, 64, 768, "seq", "seq"): 12},
    "bert_tiny": {("self", 2, 2, 64, 128, 64, 64): 2},
    "distilbert": {("self", 12, 12, 64, 768, 128, 128): 6},
    "gpt2": {("self", 12, 12, 64, 768, 128, 128): 12},
    "vit_b16": {("self", 12, 12, 64, 768, 197, 197): 12},
    "swin_t": {
        ("self", 3, 3, 32, 96, 49, 49): 2,
        ("self", 6, 6, 32, 192, 49, 49): 2,
        ("self", 12, 12, 32, 384, 49, 49): 6,
        ("self", 24, 24, 32, 768, 49, 49): 2,
    },
    "whisper_tiny_encoder": {("self", 6, 6, 64, 384, 1500, 1500): 4},
    "t5_small_encoder": {("self", 8, 8, 64, 512, 128, 128): 6},
    "llama_gqa_small": {("self", 8, 2, 64, 512, 128, 128): 8},
    "llama32_narrow": {("self", 4, 2, 16, 64, 32, 32): 32},
    "detr_r50": {
        ("self", 8, 8, 32, 256, 400, 400): 6,
        ("self", 8, 8, 32, 256, 100, 100): 6,
        ("cross", 8, 8, 32, 256, 100, 400): 6,
    },
    "clip_b32": {("self", 12, 12, 64, 768, 50, 50): 12, ("self", 8, 8, 64, 512, 77, 77): 12},
    "segformer_b0": {
        ("self", 1, 1, 32, 32, 16384, 256): 2,
        ("self", 2, 2, 32, 64, 4096, 256): 2,
        ("self", 5, 5, 32, 160, 1024, 256): 2,
        ("self", 8, 8, 32, 256, 256, 256): 2,
    },
}
CONTEXT = {
    "bert_base": 512, "bert_base_dyn": 512, "bert_tiny": 128, "distilbert": 512, "gpt2": 1024, "vit_b16": 197,
    "whisper_tiny_encoder": 1500, "clip_b32": None, "swin_t": None, "t5_small_encoder": None,
    "llama_gqa_small": None, "llama32_narrow": None, "detr_r50": None, "segformer_b0": None,
}  # fmt: skip


def layers(name):
    return [layer for flow in flows_of(name) for layer in find_attention(flow)]


def test_every_model_is_in_a_table():
    assert {*NOTHING, *EXPECTED} >= {name for name in TRUTH if name != "resnet_tiny_ext"}


@pytest.mark.parametrize("name", EXPECTED)
def test_configuration(name):
    found = Counter(
        (a.kind, a.heads, a.kv_heads, a.head_dim, a.hidden_size, a.queries, a.keys) for a in layers(name)
    )
    assert dict(found) == EXPECTED[name]
    assert all(a.value_dim == a.head_dim and a.confidence == 1.0 for a in layers(name))


@pytest.mark.parametrize("name", NOTHING)
def test_models_without_attention(name):
    assert layers(name) == []


def test_positions():
    rotary = {name for name in EXPECTED if all(a.rotary for a in layers(name))}
    biased = {name for name in EXPECTED if all(a.relative_bias for a in layers(name))}
    assert rotary == {"llama_gqa_small", "llama32_narrow"}
    assert biased == {"t5_small_encoder", "swin_t"}
    assert not any(a.rotary for name in EXPECTED.keys() - rotary for a in layers(name))
    assert not any(a.relative_bias for name in EXPECTED.keys() - biased for a in layers(name))


def test_causal_only_with_evidence():
    """The stripped files lack the tables of some masks: these cannot be told. None is taken for causal."""
    told = {name: Counter(a.causal for a in layers(name)) for name in EXPECTED}
    assert not any(True in counts for counts in told.values())
    assert {name: counts[None] for name, counts in told.items() if counts[None]} == {
        "gpt2": 12, "llama_gqa_small": 8, "llama32_narrow": 32, "vit_b16": 12, "clip_b32": 12,
    }  # fmt: skip


def test_products_of_the_layers_are_the_parameters():
    """Cross-check by size: Q, K, V and output of each Llama layer hold hidden · (2·heads + 2·kv) · size."""
    for name, count in (("llama_gqa_small", 8), ("llama32_narrow", 32)):
        (flow,) = flows_of(name)
        sizes = Counter(
            flow.shape(t)
            for number in flow.order
            if flow.op(number) == "MatMul"
            for t in flow.weights(number)
            if len(flow.shape(t)) == 2
        )
        a = layers(name)[0]
        kv, hidden = a.kv_heads * a.head_dim, a.hidden_size
        assert sizes[hidden, a.heads * a.head_dim] == 2 * count
        assert sizes[hidden, kv] == 2 * count


@pytest.mark.parametrize("name", ["gpt2", "llama_gqa_small", "clip_b32", "vit_b16"])
def test_masks_tell_when_their_tables_are_in_reach(name):
    """With the tables that the exporter stored, decoders and the text tower are causal and ViT is not."""
    path = DATA / "stripped" / f"{name}.stripped.onnx"
    model = onnx.load(path, load_external_data=False)
    for table in model.graph.initializer:
        dims = list(table.dims)
        if table.data_type == onnx.TensorProto.BOOL and len(dims) == 4 and dims[2] == dims[3] > 1:
            lower = np.tri(dims[2], dtype=bool)
            # Decoders store a table of what is padding (nothing) before the triangle; ViT only the former.
            first = not any(list(t.dims) == dims and t.raw_data for t in model.graph.initializer)
            full = name == "vit_b16" or (name != "clip_b32" and first)
            values = np.ones_like(lower) if full else lower
            table.ClearField("external_data")
            table.data_location = onnx.TensorProto.DEFAULT
            table.raw_data = values.reshape(dims).tobytes()
    found = Counter((a.heads, a.causal) for a in run_analysis(model).structure.attention)
    assert (
        found
        == {
            "gpt2": {(12, True): 12},
            "llama_gqa_small": {(8, True): 8},
            "clip_b32": {(12, False): 12, (8, True): 12},
            "vit_b16": {(12, False): 12},
        }[name]
    )


# ------------------------------------------------------------------ report


def info(name):
    path = DATA / "stripped" / f"{name}.stripped.onnx"
    return build_report(run_analysis(path, Options(assume=False)), max_layers=0).metrics.attention


@pytest.mark.parametrize("name", EXPECTED)
def test_report(name):
    made, rows = info(name), EXPECTED[name]
    assert made.num_layers == sum(rows.values())
    assert made.cross_layers == sum(n for row, n in rows.items() if row[0] == "cross")
    assert sum(group.count for group in made.groups) == made.num_layers

    def common(at):
        values = {row[at] for row in rows}
        return values.pop() if len(values) == 1 else None

    assert (made.num_heads, made.num_kv_heads, made.head_dim, made.hidden_size) == tuple(
        map(common, (1, 2, 3, 4))
    )
    assert made.mechanism == ("GQA" if name.startswith("llama") else "MHA")
    assert made.max_sequence_length == CONTEXT[name]
    assert made.max_sequence_length_reason


def test_towers_have_contexts_of_their_own():
    assert [(g.hidden_size, g.max_sequence_length) for g in info("clip_b32").groups] == [(768, 50), (512, 77)]


def test_no_attention_is_null():
    assert build_report(run_analysis(DATA / "models" / "resnet_tiny.onnx")).metrics.attention is None
