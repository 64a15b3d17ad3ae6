"""Facts beyond the score: sizes of mixtures, evidence of detectors, titles of fused blocks."""

from __future__ import annotations

import zipfile

import pytest
from test_zoo import ZOO, analysed

from py_autodoc.report.box_tree.grouping import build_box_tree
from py_autodoc.report.document.architecture_text import architecture_line
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MIXTURES = {
    "mixtral_batched_mm.ts": ("picked", 4, 2, 128),
    "mixtral_batched_mm.dy": ("picked", 4, 2, 128),
    "mixtral_eager.ts": ("picked", 4, 2, 128),
    "qwen2moe_eager.tsd": ("picked", 4, 2, 32),
    "deepseek_v3_batched_mm.ts": ("picked", 8, 2, 32),
    "phimoe_eager.ts": ("picked", 4, 2, 48),
    "phimoe_batched_mm.dy": ("picked", 4, 2, 48),
    "switch.ts": ("separate", 4, 1, 48),
    "moe_mixtral.dy": ("separate", 4, 2, 96),
    "moe_deepseek3.dy": ("separate", 4, 2, 96),
    "moe_stacked.dy": ("separate", 4, 2, 96),
    "moe_soft.dy": ("separate", 4, None, 96),
}
"""Variant, experts, chosen of them, hidden size."""
EVIDENCE = {
    "yolov3_raw.ts": "30 predictions per cell by 1×1 convolutions on the grids 16×16, 8×8, 4×4",
    "yolov8.ts": "336 candidates of 9 values, from each cell of the grids 16×16, 8×8, 4×4",
    "yolov8.q8dyn": "336 candidates of 9 values, from each cell of the grids 16×16, 8×8, 4×4",
    "yolov8_raw.ts": "69 predictions per cell by 1×1 convolutions on the grids 16×16, 8×8, 4×4",
    "yolov10.dy": "the best 50 candidates of 6 values, from the grids 16×16, 8×8, 4×4",
    "retinanet.ts": "outputs with boxes (1×3069×4) and scores (1×3069×5) of the same candidates",
    "retinanet_maps.ts": "box and score maps of 36 + 45 channels for each of the grids "
    "16×16, 8×8, 4×4, 2×2, 1×1",
    "fcos.ts": "box and score maps of 1 + 4 + 5 channels for each of the grids 16×16, 8×8, 4×4",
    "centernet.ts": "only local maxima of a map are kept: it is compared with its MaxPool",
}


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures(name):
    for block in (b for b in analysed(name).structure.blocks if b.kind == "moe"):
        facts = block.facts
        found = (block.variant, facts["experts"], facts["top_k"], facts["hidden"])
        assert found == MIXTURES[name]


@pytest.mark.parametrize("name", ["mixtral_batched_mm.ts", "mixtral_eager.ts", "qwen2moe_eager.tsd"])
def test_a_mixture_holds_its_products_and_no_attention(name):
    found = analysed(name)
    inside = {node for b in found.structure.blocks if b.kind == "moe" for node in b.nodes}
    attention = {node for layer in found.structure.attention for node in layer.nodes}
    assert not inside & attention
    assert sum(found.model.nodes[n].op_type == "MatMul" for n in inside) >= 2 * 3


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_of_detectors(name):
    assert EVIDENCE[name] in analysed(name).structure.verdict.evidence


@pytest.mark.parametrize("name", ["yolov3_raw.ts", "yolov8_raw.ts", "retinanet_maps.ts", "fcos.ts"])
def test_maps_of_a_detector_are_no_segmentation(name):
    assert {b.variant for b in analysed(name).structure.blocks if b.kind == "head"} <= {"detection"}


@pytest.mark.parametrize(
    "name", ["deberta_v3.ts", "xlnet.ts", "trxl.ts", "beit.ts", "swinv2.dy", "w2v2_bert.dy"]
)
def test_relative_scores_are_a_bias(name):
    assert all(layer.relative_bias for layer in analysed(name).structure.attention)


@pytest.mark.parametrize("name", ["trxl.ts", "bloom.dyd", "gpt2.ts", "falcon_mq.dy", "mixtral_eager.ts"])
def test_decoders_are_causal_with_relative_scores_and_without(name):
    assert all(layer.causal for layer in analysed(name).structure.attention)


def test_the_line_of_a_multi_query_model():
    with zipfile.ZipFile(ZOO) as zoo:
        report = build_report(run_analysis(zoo.read("falcon_mq.dy.onnx"), Options(assume=True)))
    assert "2 causal attention layers · 4 heads × 16 (1 for keys) · hidden 64" in architecture_line(report)


def test_a_box_around_a_fused_attention_is_called_after_it():
    tree = build_box_tree(analysed("bertd.fused"))
    model = analysed("bertd.fused").model
    around = {
        tree.label[tree.node[n.id]] for n in model.nodes if n.op_type == "Attention" and tree.node[n.id] >= 0
    }
    assert not any(label.startswith("Residual") for label in around)
