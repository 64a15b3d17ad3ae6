"""What stands at the ends of a network: embeddings and heads; and recurrent layers."""

from __future__ import annotations

import pytest
from graph_maker import G, flows, flows_of
from onnx import TensorProto, helper

from py_autodoc.blocks.layer_blocks.embedding import find_embeddings
from py_autodoc.blocks.layer_blocks.head import find_heads
from py_autodoc.blocks.layer_blocks.recurrent import find_recurrent


def embedding(g: G, *outputs: str):
    (block,) = find_embeddings(g.flow(*outputs))
    return block


def test_token_embedding():
    g = G(ids=(1, 5))
    block = embedding(g, g.op("Gather", g.weight(100, 8), "ids"))
    assert block.variant == "token"
    assert dict(block.facts) == {"rows": 100, "size": 8, "tables": 1}


def test_sum_of_three_tables():
    g = G(ids=(1, 5), ids_type=(1, 5))
    token = g.op("Gather", g.weight(100, 8), "ids")
    kind = g.op("Gather", g.weight(2, 8), "ids_type")
    length = g.op("Gather", g.op("Shape", "ids"), g.value(1, "int64"))
    counted = g.op("Unsqueeze", g.op("Range", g.value(0, "int64"), length, g.value(1, "int64")), g.ints(0))
    position = g.op("Gather", g.weight(64, 8), counted)
    block = embedding(g, g.op("Add", g.op("Add", token, kind), position))
    assert (block.variant, block.facts["tables"], block.facts["rows"]) == ("token+position+type", 3, 100)


def test_constant_positions():
    g = G(ids=(1, 5))
    block = embedding(g, g.op("Add", g.op("Gather", g.weight(100, 8), "ids"), g.weight(1, 5, 8)))
    assert block.variant == "token+position"
    g = G(ids=(1, 5))
    block = embedding(g, g.op("Add", g.op("Gather", g.weight(100, 8), "ids"), g.weight(8)))
    assert (block.variant, len(block.nodes)) == ("token", 1)


def test_one_hot():
    g = G(ids=(1, 5))
    hot = g.op("OneHot", "ids", g.value(100, "int64"), g.value([0.0, 1.0]))
    assert embedding(g, g.op("MatMul", hot, g.weight(100, 8))).variant == "one-hot"


def test_fused():
    g = G(ids=(1, 5))
    ids = g.op("Cast", "ids", to=TensorProto.INT32)
    tables = [g.weight(100, 8), g.weight(64, 8)]
    y = g.op(
        "EmbedLayerNormalization", ids, "", *tables, "", g.weight(8), g.weight(8), domain="com.microsoft"
    )
    assert embedding(g, y).variant == "token+position"


def test_patches():
    g = G(x=(1, 3, 16, 16))
    h = g.conv("x", 3, 8, 4, strides=[4, 4], pads=[0, 0, 0, 0])
    h = g.op("Transpose", g.op("Reshape", h, g.ints(1, 8, 16)), perm=[0, 2, 1])
    block = embedding(g, g.op("Add", g.op("Concat", g.weight(1, 1, 8), h, axis=1), g.weight(1, 17, 8)))
    assert (block.variant, len(block.nodes)) == ("patch+position", 5)
    assert dict(block.facts) == {"kernel": "4x4", "channels": 3, "size": 8}


@pytest.mark.parametrize(
    "near",
    [
        lambda g: g.op("Gather", "x", "ids", axis=1),
        lambda g: g.op("Gather", g.weight(7), "ids"),
        lambda g: g.op("Gather", g.value([[1, 2], [3, 4]], "int64"), "ids"),
        lambda g: g.op("Gather", g.weight(3, 100), "ids", axis=1),
        lambda g: g.op("Relu", g.conv("x", 3, 8, 4, strides=[4, 4], pads=[0, 0, 0, 0])),
        lambda g: g.op("Reshape", g.conv("x", 3, 8, 3, strides=[2, 2]), g.ints(1, 8, -1)),
    ],
)
def test_no_embeddings(near):
    """Data picked from, vectors, integers, columns; a strided convolution that stays an image."""
    g = G(x=(1, 3, 16, 16), ids=(1, 2))
    assert find_embeddings(g.flow(near(g))) == []


# ---------------------------------------------------------------- heads


def head(g: G, *outputs: str):
    (block,) = find_heads(g.flow(*outputs))
    return block


def test_classifier():
    g = G(x=(1, 8, 4, 4))
    pooled = g.op("Flatten", g.op("GlobalAveragePool", "x"))
    block = head(g, g.op("Softmax", g.op("Gemm", pooled, g.weight(8, 10), g.weight(10))))
    assert (block.variant, block.facts["classes"], block.facts["activation"]) == ("classifier", 10, "Softmax")
    assert len(block.nodes) >= 3


def test_language_model_tied_and_not():
    for tied in (True, False):
        g = G(ids=(1, 5))
        table = g.weight(64, 8)
        h = g.op("Relu", g.op("Gather", table, "ids"))
        matrix = g.op("Transpose", table, perm=[1, 0]) if tied else g.weight(8, 64)
        y = g.op("MatMul", h, matrix)
        if tied:
            block = head(g, y)
            assert (block.variant, block.facts["tied"]) == ("language-model", True)
        else:
            # Sixty-four columns may be anything.
            assert head(g, y).variant == "dense"


def test_binary_regression_and_undecided():
    g = G(x=(2, 8))
    assert head(g, g.op("Sigmoid", g.dense("x", 8, 1))).variant == "binary-classifier"
    g = G(x=(2, 8))
    assert head(g, g.dense("x", 8, 1)).variant == "regression"
    g = G(x=(2, 8))
    block = head(g, g.dense("x", 8, 3))
    assert (block.variant, block.confidence) == ("dense", 0.6)


def test_a_projection_to_its_own_width_is_no_head():
    g = G(x=(1, 5, 8))
    assert find_heads(g.flow(g.dense("x", 8, 8))) == []


def test_segmentation():
    g = G(x=(1, 8, 4, 4))
    h = g.op("Resize", g.conv("x", 8, 5, 1), "", g.value([1.0, 1.0, 4.0, 4.0]))
    block = head(g, h)
    assert (block.variant, block.facts["classes"]) == ("segmentation", 5)


def test_detection_by_pairs_scales_and_suppression():
    g = G(x=(1, 9, 8))
    block = head(g, g.dense("x", 8, 91), g.op("Sigmoid", g.dense("x", 8, 4)))
    assert (block.variant, block.facts["classes"], block.facts["queries"]) == ("detection", 91, 9)
    g = G(x=(1, 8, 8, 8), y=(1, 8, 4, 4))
    maps = [g.op("Reshape", g.conv(t, 8, 6, 1), g.ints(1, 6, -1)) for t in ("x", "y")]
    assert head(g, g.op("Concat", *maps, axis=2)).facts["scales"] == 2
    g = G(boxes=(1, 9, 4), scores=(1, 2, 9))
    assert head(g, g.op("NonMaxSuppression", "boxes", "scores")).facts["nms"] is True


HEADS = {
    "resnet50": "classifier", "vit_b16": "classifier", "swin_t": "classifier", "convnext_tiny": "classifier",
    "light_squeezenet": "classifier", "light_vgg19": "classifier", "gpt2": "language-model",
    "llama_gqa_small": "language-model", "mamba_tiny": "language-model", "segformer_b0": "segmentation",
    "detr_r50": "detection", "ddddocr_det": "detection", "ppocr_v4_det": "segmentation",
    "dnsmos_sig_bak_ovr": "dense", "bert_base": None, "t5_small_encoder": None, "whisper_tiny_encoder": None,
}  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_heads_of_known_architectures(name):
    found = [block.variant for flow in flows_of(name) for block in find_heads(flow)]
    assert found == ([HEADS[name]] if HEADS[name] else [])


# ---------------------------------------------------------------- recurrent layers


def test_operators():
    g = G(x=(5, 1, 8))
    y = g.op("LSTM", "x", g.weight(2, 64, 8), g.weight(2, 64, 16), hidden_size=16, direction="bidirectional")
    (block,) = find_recurrent(g.flow(y))
    assert (block.variant, block.facts["hidden"], block.facts["directions"]) == ("LSTM", 16, 2)


@pytest.mark.parametrize("recurrent", [True, False])
def test_a_loop_with_weights_on_its_state(recurrent):
    """A counter carried along, or frames mapped one by one, is no recurrent layer."""
    float_info = helper.make_tensor_value_info
    source = "h" if recurrent else "f"
    nodes = [helper.make_node("MatMul", [source, "u"], ["a"]), helper.make_node("Tanh", ["a"], ["b"])]
    nodes.append(helper.make_node("Add", ["h", "one"], ["count"]))
    nodes.append(helper.make_node("Identity", ["b"], ["y"]))
    body = helper.make_graph(
        nodes,
        "body",
        [float_info("h", TensorProto.FLOAT, [1, 4]), float_info("f", TensorProto.FLOAT, [1, 4])],
        [
            float_info("b" if recurrent else "count", TensorProto.FLOAT, [1, 4]),
            float_info("y", TensorProto.FLOAT, [1, 4]),
        ],
    )
    g = G(x=(6, 1, 4))
    g.constants += [
        helper.make_tensor("u", 1, [4, 4], [0.0] * 16),
        helper.make_tensor("one", 1, [1, 4], [1.0] * 4),
    ]
    last, _ = g.op("Scan", g.weight(1, 4), "x", outputs=2, body=body, num_scan_inputs=1)
    found = find_recurrent(flows(g.model(last))[0])
    assert [block.variant for block in found] == (["cell"] if recurrent else [])
    if found:
        assert (found[0].facts["hidden"], found[0].facts["loop"]) == (4, "Scan")


def test_silero_has_one_lstm_in_each_branch():
    found = [block for flow in flows_of("silero_vad_half") for block in find_recurrent(flow)]
    assert [block.variant for block in found] == ["LSTM", "LSTM"]
