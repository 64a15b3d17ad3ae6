"""The architecture verdict: test models, small graphs by hand, and graphs of which nothing is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_maker import G, flows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from test_attention_forms import B, D, S, T, layer, qkv, scores
from written_out import F32, HEADS, SIZE, WIDTH, Builder

from py_autodoc import analyze, to_markdown, units
from py_autodoc.blocks.architecture.attention_dependencies import independent_stacks, upstream_masks
from py_autodoc.blocks.architecture.classify_architecture import classify_architecture
from py_autodoc.blocks.attention_layers.attention import find_attention
from py_autodoc.report.document.architecture_text import architecture_line
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import run_analysis

DATA = Path(__file__).parent.parent / "data"
BY_FAMILY = {
    "transformer-encoder": (
        "bert_base bert_base_dyn bert_tiny distilbert vit_b16 swin_t whisper_tiny_encoder "
        "t5_small_encoder clip_b32"
    ),
    "transformer-decoder": "gpt2 llama_gqa_small llama32_narrow",
    "detector": "detr_r50 ddddocr_det",
    "segmenter": "segformer_b0 ppocr_v4_det",
    "state-space": "mamba_tiny",
    "hybrid": "silero_vad_half",
    "unknown": "trt_loop trt_qdq_conv",
    "cnn": (
        "resnet50 resnet50_dyn resnet_tiny resnet_tiny_qdq_int8 convnext_tiny mobilenet_v2 "
        "light_bvlc_alexnet light_resnet50 light_squeezenet light_vgg19 ppocr_cls_v2 basic_pitch_nmp "
        "swift_f0 dnsmos_sig_bak_ovr mnist_cntk magika_standard_v3_3 trt_residual_block"
    ),
}
FAMILIES = {name: family for family, names in BY_FAMILY.items() for name in names.split()}
LINES = {
    "bert_base": "12 self-attention layers, none causal",
    "resnet50": "53 convolutions have 99.9 % of the MACs of layers with weights",
    "vit_b16": "patch embedding (vision): 16×16 convolution on the input, with a stride of the same size",
    "detr_r50": "outputs with boxes (1×100×4) and scores (1×100×3) of the same candidates",
    "ddddocr_det": "3,549 candidates of 6 values, from each cell of the grids 52×52, 26×26, 13×13",
    "clip_b32": "2 independent towers: 12 layers of width 768; 12 layers of width 512",
    "gpt2": "output of 50,257 scores per position, one for each row of the token table",
    "mamba_tiny": "2 layers with the decay exp(Δ·A), Δ from a Softplus; no attention",
    "convnext_tiny": "no other layers mix positions: no attention, no recurrence",
    "segformer_b0": "upsampled output of 1×150×128×128 for an image of 1×3×512×512",
}


def judged(flows):
    main = flows[0]
    found = [layer_ for flow in flows for layer_ in find_attention(flow)]
    return classify_architecture(main.model, main.types, (), found, ())


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name):
    made = judged(flows_of(name))
    assert made.family == FAMILIES[name]
    assert made.evidence
    assert (made.confidence > 0) == (made.family != "unknown")


@pytest.mark.parametrize("name", LINES)
def test_evidence(name):
    assert LINES[name] in judged(flows_of(name)).evidence


def test_unread_masks_lower_the_confidence():
    assert judged(flows_of("gpt2")).confidence < 0.8 < judged(flows_of("bert_base")).confidence


# ------------------------------------------------------------------ by hand


def made_of(g, *outputs):
    return judged([g.flow(*outputs)])


def block(g, x, memory=None, mask=None):
    q, k, v = qkv(g, x, memory)
    made = scores(g, q, k)
    if mask is not None:
        made = g.op("Add", made, g.value(mask))
    return layer(g, g.op("Softmax", made, axis=-1), v, x)


LOWER = np.triu(np.full((S, S), -1e9), 1)


def test_decoder():
    g = G(x=(B, S, D))
    made = made_of(g, block(g, block(g, "x", mask=LOWER), mask=LOWER))
    assert (made.family, made.evidence[0]) == ("transformer-decoder", "2 self-attention layers, all causal")


def test_encoder_decoder():
    g = G(x=(B, S, D), source=(B, S, D))
    memory = block(g, block(g, "source"))
    x = "x"
    for _ in range(2):
        q, k, v = qkv(g, block(g, x, mask=LOWER), memory, length=S)
        x = layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, x)
    made = made_of(g, x)
    assert made.family == "encoder-decoder"
    assert "4 self-attention layers, 2 of them causal; 2 cross-attention layers" in made.evidence


def test_decoder_half():
    g = G(x=(B, S, D), memory=(B, T, D))
    made = made_of(g, block(g, block(g, "x", mask=LOWER), memory="memory"))
    assert made.family == "transformer-decoder"


def test_two_towers():
    g = G(x=(B, S, D), y=(B, S, D))
    out = g.op("MatMul", block(g, "x"), g.op("Transpose", block(g, "y", mask=LOWER), perm=[0, 2, 1]))
    assert made_of(g, out).family == "transformer-encoder"


def test_cross_attention_inside_a_tower():
    """GroupViT: learned groups attend to the patches; the text has a tower of its own."""
    g = G(x=(B, S, D), y=(B, S, D))
    image = block(g, block(g, "x"))
    groups = g.op("Expand", g.weight(1, S, D), g.ints(B, S, D))
    q, k, v = qkv(g, groups, image, length=S)
    image = block(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, groups))
    text = block(g, block(g, "y", mask=LOWER), mask=LOWER)
    made = made_of(g, g.op("MatMul", image, g.op("Transpose", text, perm=[0, 2, 1])))
    assert made.family == "transformer-encoder"
    assert any("2 independent towers" in line for line in made.evidence)


def test_encoder_feeding_a_decoder():
    g = G(x=(B, S, D))
    assert made_of(g, block(g, block(g, "x"), mask=LOWER)).family == "transformer-decoder"


def test_text_that_conditions_what_is_not_causal():
    """CLIPSeg: the embedding of the text scales the features of the image."""
    g = G(x=(B, S, D), y=(B, S, D))
    text = g.op("ReduceMean", block(g, block(g, "y", mask=LOWER), mask=LOWER), g.ints(1), keepdims=1)
    made = made_of(g, block(g, g.op("Mul", block(g, "x"), text)))
    assert (made.family, made.confidence) == ("transformer-encoder", 0.7)


def test_mlp():
    g = G(x=(B, D))
    made = made_of(g, g.dense(g.op("Relu", g.dense("x", D, 64)), 64, 10))
    assert (made.family, made.evidence[0]) == (
        "mlp",
        "2 dense layers have 100 % of the MACs of layers with weights",
    )


@pytest.mark.parametrize("mixed_by", ["cumsum", "transposed", "pooled"])
def test_words_that_something_unknown_mixes_are_no_mlp(mixed_by):
    g = G(words=(B, S))
    x = g.op("Gather", g.weight(50, D), g.op("Cast", "words", to=7))
    if mixed_by == "pooled":
        x = g.op("ReduceMean", x, g.ints(1), keepdims=0)
    for _ in range(3):
        if mixed_by == "cumsum":
            x = g.op("Mul", x, g.op("CumSum", x, g.ints(1)))
        if mixed_by == "transposed":
            turned = g.dense(g.op("Transpose", x, perm=[0, 2, 1]), S, S)
            x = g.op("Transpose", turned, perm=[0, 2, 1])
        x = g.op("Relu", g.dense(x, D, D))
    made = made_of(g, x)
    if mixed_by == "cumsum":
        assert made.family == "unknown"
        assert "the operators that mix the positions of the sequence are not recognised" in made.evidence
    else:
        assert made.family == "mlp"


def test_recurrent():
    g = G(x=(T, B, D))
    y, _, _ = g.op("LSTM", "x", g.weight(1, 4 * D, D), g.weight(1, 4 * D, D), outputs=3, hidden_size=D)
    assert made_of(g, g.dense(g.op("Squeeze", y, g.ints(1)), D, 3)).family == "recurrent"


def test_classical():
    g = G(x=(B, D))
    out = g.op("TreeEnsembleRegressor", "x", domain="ai.onnx.ml", n_targets=1)
    model = g.model(out)
    model.opset_import.add(domain="ai.onnx.ml", version=3)
    made = run_analysis(model).structure.verdict
    assert made.family == "classical-ml"


def test_suppression_makes_a_detector():
    g = G(x=(1, 3, 32, 32))
    maps = g.conv(g.conv("x", 3, 8), 8, 5)
    flat = g.op("Transpose", g.op("Reshape", maps, g.ints(1, 5, -1)), perm=[0, 2, 1])
    boxes, confidence = g.op("Split", flat, g.ints(4, 1), outputs=2, axis=2)
    kept = g.op("NonMaxSuppression", boxes, g.op("Transpose", confidence, perm=[0, 2, 1]))
    made = made_of(g, kept)
    assert (made.family, made.evidence[0]) == ("detector", "1 NonMaxSuppression on candidate boxes")


def test_image_to_image_is_no_segmenter():
    g = G(x=(1, 3, 32, 32))
    half = g.conv(g.conv("x", 3, 8, strides=[2, 2]), 8, 8)
    up = g.op("Resize", half, "", g.value([1, 1, 2, 2]), mode="nearest")
    assert made_of(g, g.conv(g.conv(up, 8, 8), 8, 3)).family == "cnn"


def test_super_resolution_is_no_segmenter():
    g = G(x=(1, 1, 16, 16))
    up = g.op("DepthToSpace", g.conv(g.conv(g.conv("x", 1, 8), 8, 8), 8, 8), blocksize=2)
    assert made_of(g, up).family == "cnn"


def test_segmenter():
    g = G(x=(1, 3, 32, 32))
    half = g.conv(g.conv("x", 3, 8, strides=[2, 2]), 8, 8)
    up = g.op("Resize", half, "", g.value([1, 1, 2, 2]), mode="nearest")
    assert made_of(g, g.op("Softmax", g.conv(up, 8, 21), axis=1)).family == "segmenter"


@pytest.mark.parametrize("op", ["Relu", "Add"])
def test_unknown(op):
    g = G(x=(B, D))
    made = made_of(g, g.op(op, *(["x"] if op == "Relu" else ["x", "x"])))
    assert (made.family, made.confidence, made.evidence) == ("unknown", 0.0, ("no layers with weights",))


def test_operators_of_other_domains_make_it_less_sure():
    g = G(x=(B, D))
    sure = made_of(g, g.dense(g.dense("x", D, D), D, D)).confidence
    g = G(x=(B, D))
    odd = g.op("Mystery", g.dense(g.dense("x", D, D), D, D), domain="acme")
    made = made_of(g, odd)
    assert made.confidence < sure
    assert "1 operator of other domains, with unknown cost" in made.evidence


def test_upstream_and_towers():
    (flow,) = flows_of("detr_r50")
    layers = find_attention(flow)
    masks = upstream_masks(flow, layers)
    crossing = [i for i, made in enumerate(layers) if made.kind == "cross"]
    assert masks[crossing[0]].bit_count() == 7  # the encoder and the decoder's first self-attention
    assert len(independent_stacks(masks)) == 1
    (flow,) = flows_of("clip_b32")
    assert [len(group) for group in independent_stacks(upstream_masks(flow, find_attention(flow)))] == [
        12,
        12,
    ]


@given(st.lists(st.integers(0, 2**12), max_size=12))
@settings(max_examples=50, deadline=None)
def test_towers_part_the_layers(masks):
    masks = [mask & ((1 << i) - 1) for i, mask in enumerate(masks)]
    groups = independent_stacks(masks)
    assert sorted(i for group in groups for i in group) == list(range(len(masks)))
    where = {i: n for n, group in enumerate(groups) for i in group}
    assert all(where[i] == where[j] for i, mask in enumerate(masks) for j in range(i) if mask >> j & 1)


# ------------------------------------------------------------------ report and summary


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "stripped/bert_base.stripped.onnx",
            "transformer encoder · 12 attention layers · 12 heads × 64 · hidden 768 · context 512",
        ),
        (
            "stripped/llama_gqa_small.stripped.onnx",
            "probably transformer decoder · 8 attention layers · 8 heads × 64 (2 for keys) · hidden 512",
        ),
        (
            "stripped/detr_r50.stripped.onnx",
            "detector · 18 attention layers (6 cross) · 8 heads × 32 · hidden 256",
        ),
        ("stripped/swin_t.stripped.onnx", "transformer encoder · 12 attention layers · 4 configurations"),
        ("models/trt_loop.onnx", "not recognised · no layers with weights"),
    ],
)
def test_line_of_the_summary(path, line):
    report = build_report(run_analysis(DATA / path), max_layers=0)
    assert architecture_line(report) == line
    assert report.architecture.family == run_analysis(DATA / path).structure.verdict.family


def cached_chunks(tokens: bool, queries: int, masked: bool, scores: int = 0, bias: bool = True) -> bytes:
    """Two layers whose positions attend to cached keys and their own; convolutions as in a Conformer."""
    made = Builder()
    if tokens:
        x = made.op("Gather", made.table(300, WIDTH), made.given("ids", [1, queries]))
    else:
        x = made.op("MatMul", made.given("x", [1, queries, 80], F32), made.table(80, WIDTH))
    mask = made.given("mask", [1, 1, queries, 24 + queries], F32) if masked else ""

    def near(x: str) -> str:
        turned, kernel = made.op("Transpose", x, perm=[0, 2, 1]), made.table(WIDTH, 1, 3)
        mixed = made.op("Conv", turned, kernel, group=WIDTH, pads=[1, 1])
        return made.op("Add", x, made.op("Transpose", mixed, perm=[0, 2, 1]))

    for number in range(2):
        x = near(x)
        parts = [made.op("MatMul", x, made.table(WIDTH, WIDTH)) for _ in range(3)]
        parts = [made.op("Reshape", t, made.fixed([0, 0, HEADS, SIZE])) for t in parts]
        q, k, v = (made.op("Transpose", t, perm=[0, 2, 1, 3]) for t in parts)
        k, v = (
            made.op("Concat", made.given(f"past_{name}{number}", [1, HEADS, 24, SIZE], F32), t, axis=2)
            for name, t in (("k", k), ("v", v))
        )
        seen = made.op("MatMul", q, made.op("Transpose", k, perm=[0, 1, 3, 2]))
        seen = made.op("Add", seen, mask) if masked else seen
        mixed = made.op("MatMul", made.op("Softmax", seen, axis=-1), v)
        mixed = made.op("Reshape", made.op("Transpose", mixed, perm=[0, 2, 1, 3]), made.fixed([0, 0, WIDTH]))
        x = made.op("Add", x, made.op("MatMul", mixed, made.table(WIDTH, WIDTH)))
        x = near(x)
    if scores:
        x = made.op("MatMul", x, made.table(WIDTH, scores))
        x = made.op("Add", x, made.table(scores)) if bias else x
    return made.model(x)


@pytest.mark.parametrize(
    ("settings", "family"),
    [
        ({"tokens": False, "queries": 16, "masked": False}, "transformer-encoder"),
        ({"tokens": False, "queries": 16, "masked": True}, "transformer-encoder"),
        ({"tokens": False, "queries": 16, "masked": True, "scores": 5000}, "transformer-encoder"),
        (
            {"tokens": False, "queries": 16, "masked": True, "scores": 5000, "bias": False},
            "transformer-decoder",
        ),
        ({"tokens": False, "queries": 1, "masked": False}, "transformer-decoder"),
        ({"tokens": True, "queries": 16, "masked": True, "scores": 300}, "transformer-decoder"),
    ],
)
def test_a_cache_alone_makes_no_decoder(settings, family):
    """A streaming encoder keeps keys of earlier chunks, and its positions see all of their own."""
    verdict = analyze(cached_chunks(**settings)).architecture
    assert verdict.family == family
    assert not (family == "transformer-decoder" and "none causal" in " ".join(verdict.evidence))


def recurrent_in(where: str, count: int = 1) -> bytes:
    """A dense layer and LSTMs in the branches of an If, or one in a loop that runs 50 times."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [10, 1, 32])
    weights = [
        numpy_helper.from_array(np.zeros(shape, np.float32), name)
        for name, shape in (("w", (1, 128, 32)), ("r", (1, 128, 32)), ("d", (32, 512)), ("e", (512, 32)))
    ]
    lstm = helper.make_node("LSTM", ["x0", "w", "r"], ["y4"], hidden_size=32)
    flat = helper.make_node("Squeeze", ["y4", "one"], ["out"])
    weights.append(numpy_helper.from_array(np.asarray([1]), "one"))
    nodes = [helper.make_node("MatMul", ["x", "d"], ["x1"]), helper.make_node("MatMul", ["x1", "e"], ["x0"])]
    inner = [lstm, flat]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    inputs = [x]
    if where == "main":
        nodes += [lstm, helper.make_node("Squeeze", ["y4", "one"], ["y"])]
    elif where == "branches":
        inputs.append(helper.make_tensor_value_info("fast", TensorProto.BOOL, []))
        graphs = [
            helper.make_graph(
                inner, f"b{n}", [], [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)]
            )
            for n in range(2)
        ]
        nodes.append(helper.make_node("If", ["fast"], ["y"], then_branch=graphs[0], else_branch=graphs[1]))
    else:
        weights += [numpy_helper.from_array(np.asarray(count), "n")]
        body = helper.make_graph(
            [
                helper.make_node("LSTM", ["state", "w", "r"], ["y4"], hidden_size=32),
                helper.make_node("Squeeze", ["y4", "one"], ["out"]),
                helper.make_node("Identity", ["go"], ["going"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                helper.make_tensor_value_info("state", TensorProto.FLOAT, [10, 1, 32]),
            ],
            [
                helper.make_tensor_value_info("going", TensorProto.BOOL, []),
                helper.make_tensor_value_info("out", TensorProto.FLOAT, [10, 1, 32]),
            ],
        )
        nodes.append(helper.make_node("Loop", ["n", "", "x0"], ["y"], body=body))
    graph = helper.make_graph(nodes, "g", inputs, [result], weights)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


@pytest.mark.parametrize(("where", "count"), [("main", 1), ("branches", 1), ("loop", 1), ("loop", 50)])
def test_shares_are_those_of_the_totals(where, count):
    """One of two branches runs, and a loop runs as often as it says."""
    report = analyze(recurrent_in(where, count))
    (line,) = [line for line in report.architecture.evidence if "recurrent layer" in line]
    rows = {row.type: row.macs for row in report.metrics.by_op}
    share = rows["LSTM"] / report.metrics.total_macs
    assert line.startswith(f"1 recurrent layer with {units.share(share, 1)}")


@pytest.mark.parametrize("name", ["light_resnet50", "bert_tiny", "light_vgg19", "ddddocr_det.stripped"])
def test_a_card_has_one_number_for_a_repeat(name):
    report = analyze(str(DATA / "models" / f"{name}.onnx"))
    (said,) = [line for line in report.architecture.evidence if "is repeated" in line]
    times = said.partition(" is repeated ")[2].partition(" ")[0]
    lines = [line for line in to_markdown(report).splitlines() if "is repeated" in line]
    assert lines
    assert all(f"is repeated {times} times in a row" in line for line in lines)
