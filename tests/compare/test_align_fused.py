"""Fused operators are aligned with those that they stand for; ONNX Runtime computes the same of both."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnx import numpy_helper, parser

from py_autodoc.compare.align import AlignmentVerdict, align
from py_autodoc.report.pipeline.analysis import Options, run_analysis


def floats(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.5).astype(np.float32)


def model(text, weights):
    """A model of ai.onnx 23 and com.microsoft from the text of its graph, and its weights by name."""
    imports = '<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>'
    made = parser.parse_model(f"{imports}\n{text}")
    used = {name for node in made.graph.node for name in node.input}
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items() if name in used]
    made.graph.initializer.extend(tensors)
    return made


def results(made):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = {}
    for info in session.get_inputs():
        ids = np.random.default_rng(1).integers(0, 5, info.shape).astype(np.int32)
        given[info.name] = ids if "int" in info.type else floats(*info.shape, seed=2)
    return session.run(None, given)


def aligned(one, other):
    left, right = (run_analysis(made.SerializeToString(), Options(assume=True)) for made in (one, other))
    return align(left, right)


STEM = "a = MatMul(x, first)"
"""A product in front: the operands of what follows are not the same."""
ROWS = {
    "first": floats(8, 8),
    "last": floats(8, 4, seed=1),
    "g": 1 + floats(8, seed=2),
    "b": floats(8, seed=3),
}
X38 = "float[2,3,8] x"
SKIPS = {
    "layer": (
        "s = Add(a, x) n = LayerNormalization<epsilon = 0.001>(s, g, b)",
        "n, mean, deviation, s = com.microsoft.SkipLayerNormalization<epsilon = 0.001>(a, x, g, b)",
    ),
    "rms": (
        "s = Add(a, x) n = RMSNormalization<epsilon = 0.001>(s, g)",
        "n, mean, deviation, s = com.microsoft.SkipSimplifiedLayerNormalization<epsilon = 0.001>(a, x, g)",
    ),
}


def check(plain, fused):
    """Every core operator has its counterpart, both ways round."""
    for got, wanted in zip(results(fused), results(plain), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    found, back = aligned(plain, fused), aligned(fused, plain)
    for one in (found, back):
        assert one.units[0] == one.units[1] == one.matched
        assert (one.only_left, one.only_right) == ((), ())
        assert one.verdict == AlignmentVerdict.SAME
        assert all(pair.left and pair.right for pair in one.pairs)
    assert {(pair.right, pair.left) for pair in back.pairs} == {
        (pair.left, pair.right) for pair in found.pairs
    }
    return found


@pytest.mark.parametrize("kind", SKIPS)
def test_normalized_sums(kind):
    """The sum is an output, too: it is the first of two operators."""
    head = f"g ({X38}) => (float[2,3,4] y, float[2,3,8] z)"
    ends = "y = MatMul(n, last) z = Mul(s, a)"
    plain, fused = (model(f"{head} {{ {STEM} {text} {ends} }}", ROWS) for text in SKIPS[kind])
    check(plain, fused)


def test_embeddings():
    tables = {
        "words": floats(10, 8), "places": floats(16, 8, seed=1), "kinds": floats(5, 8, seed=4),
        "numbers": np.arange(6)[None], **ROWS,
    }  # fmt: skip
    head = "g (int32[2,6] ids, int32[2,6] seg) => (float[2,6,4] y)"
    plain = """w = Gather(words, ids) t = Gather(kinds, seg) s = Add(w, t) p = Gather(places, numbers)
        e = Add(s, p) n = LayerNormalization<epsilon = 1e-12>(e, g, b)"""
    node = "com.microsoft.EmbedLayerNormalization<epsilon = 1e-12>"
    fused = f"n, m = {node}(ids, seg, words, places, kinds, g, b)"
    check(*(model(f"{head} {{ {text} y = MatMul(n, last) }}", tables) for text in (plain, fused)))


def test_embeddings_without_segments():
    tables = {
        "words": floats(10, 8), "places": floats(16, 8, seed=1), "numbers": np.arange(6)[None], **ROWS
    }  # fmt: skip
    head = "g (int32[2,6] ids) => (float[2,6,4] y)"
    plain = """w = Gather(words, ids) p = Gather(places, numbers) e = Add(w, p)
        n = LayerNormalization<epsilon = 1e-12>(e, g, b)"""
    node = "com.microsoft.EmbedLayerNormalization<epsilon = 1e-12>"
    fused = f'n, m = {node}(ids, "", words, places, "", g, b)'
    check(*(model(f"{head} {{ {text} y = MatMul(n, last) }}", tables) for text in (plain, fused)))


PARTED = np.array([2, 3, 2, 4])
HEADS = {
    "parted": PARTED, "together": np.array([2, 3, 8]), "half": np.float32(0.5),
    "mask": np.triu(np.full((3, 3), -1e9, np.float32), 1), **ROWS,
}  # fmt: skip
SPLIT = " ".join(
    f"{name}r = Reshape({name}, parted) {name}h = Transpose<perm = [{order}]>({name}r)"
    for name, order in (("q", "0,2,1,3"), ("k", "0,2,3,1"), ("v", "0,2,1,3"))
)
JOIN = "o = Transpose<perm = [0,2,1,3]>(m) n = Reshape(o, together) y = MatMul(n, last)"


def core(mask=""):
    """Scores, perhaps with a mask, and what they weigh."""
    masked = f"u = Add(c, {mask}) p = Softmax<axis = -1>(u)" if mask else "p = Softmax<axis = -1>(c)"
    return f"r = MatMul(qh, kh) c = Mul(r, half) {masked} m = MatMul(p, vh)"


def test_attention_with_its_projections():
    weights = {name: floats(8, 8, seed=n) for n, name in enumerate(("wq", "wk", "wv"), 5)}
    packed = {"w": np.concatenate(list(weights.values()), 1), "z": np.zeros(24, np.float32)}
    head = f"g ({X38}) => (float[2,3,4] y)"
    projected = "q = MatMul(a, wq) k = MatMul(a, wk) v = MatMul(a, wv)"
    plain = f"{head} {{ {STEM} {projected} {SPLIT} {core()} {JOIN} }}"
    fused = f"{head} {{ {STEM} n = com.microsoft.Attention<num_heads = 2>(a, w, z) y = MatMul(n, last) }}"
    check(*(model(text, {**HEADS, **weights, **packed}) for text in (plain, fused)))


def test_attention_of_unequal_projections():
    """The values are narrower: the sizes of its three products are those that the node names."""
    weights = {
        "wq": floats(8, 8),
        "wk": floats(8, 8, seed=5),
        "wv": floats(8, 4, seed=6),
        "end": floats(4, 4),
    }
    packed = {"w": np.concatenate([weights[name] for name in ("wq", "wk", "wv")], 1)}
    sizes = {
        **HEADS,
        "z": np.zeros(20, np.float32),
        "narrow": np.array([2, 3, 2, 2]),
        "whole": np.array([2, 3, 4]),
    }
    head = f"g ({X38}) => (float[2,3,4] y)"
    split = SPLIT.replace("vr = Reshape(v, parted)", "vr = Reshape(v, narrow)")
    projected = "q = MatMul(a, wq) k = MatMul(a, wk) v = MatMul(a, wv)"
    join = JOIN.replace("together", "whole").replace("last", "end")
    plain = f"{head} {{ {STEM} {projected} {split} {core()} {join} }}"
    node = "com.microsoft.Attention<num_heads = 2, qkv_hidden_sizes = [8, 8, 4]>"
    fused = f"{head} {{ {STEM} n = {node}(a, w, z) y = MatMul(n, end) }}"
    check(*(model(text, {**sizes, **weights, **packed}) for text in (plain, fused)))


QKV = "float[2,3,8] q, float[2,3,8] k, float[2,3,8] v"


@pytest.mark.parametrize("mask", ["", "bias"])
def test_attention_of_given_queries(mask):
    given = f"{QKV}, float[2,2,3,3] bias" if mask else QKV
    head = f"g ({given}) => (float[2,3,4] y)"
    more = ', "", "", bias' if mask else ""
    plain = f"{head} {{ {SPLIT} {core(mask)} {JOIN} }}"
    node = f"com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v{more})"
    fused = f"{head} {{ n = {node} y = MatMul(n, last) }}"
    check(*(model(text, HEADS) for text in (plain, fused)))


@pytest.mark.parametrize("mask", ["", "bias"])
def test_attention_of_ai_onnx(mask):
    given = f"{QKV}, float[3,3] bias" if mask else QKV
    head = f"g ({given}) => (float[2,3,4] y)"
    plain = f"{head} {{ {SPLIT} {core(mask)} {JOIN} }}"
    more = ", bias" if mask else ""
    fused = (
        f"{head} {{ n = Attention<q_num_heads = 2, kv_num_heads = 2>(q, k, v{more}) y = MatMul(n, last) }}"
    )
    check(*(model(text, HEADS) for text in (plain, fused)))


IMAGES = {"w": floats(3, 3, 3, 3), "c": floats(3), "v": floats(3, 3, 1, 1, seed=1)}


def test_convolutions_that_add_a_residual():
    head = "g (float[1,3,6,6] x) => (float[1,3,6,6] y)"
    plain = "a = Conv<pads = [1,1,1,1]>(x, w, c) s = Add(a, x) r = Relu(s)"
    fused = 'r = com.microsoft.FusedConv<pads = [1,1,1,1], activation = "Relu">(x, w, c, x)'
    check(*(model(f"{head} {{ {text} y = Conv(r, v) }}", IMAGES) for text in (plain, fused)))


def test_a_fused_convolution_without_a_residual_is_one_operator():
    head = "g (float[1,3,6,6] x) => (float[1,3,6,6] y)"
    plain = "a = Conv<pads = [1,1,1,1]>(x, w, c) r = Relu(a)"
    fused = 'r = com.microsoft.FusedConv<pads = [1,1,1,1], activation = "Relu">(x, w, c)'
    found = check(*(model(f"{head} {{ {text} y = Conv(r, v) }}", IMAGES) for text in (plain, fused)))
    assert found.units == (2, 2)


def test_a_mask_that_only_one_of_them_adds_has_no_counterpart():
    head = f"g ({QKV}, float[2,2,3,3] bias) => (float[2,3,4] y)"
    plain = model(f"{head} {{ {SPLIT} {core('bias')} {JOIN} }}", HEADS)
    node = "com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)"
    fused = model(f"{head} {{ n = {node} y = MatMul(n, last) }}", HEADS)
    found = aligned(plain, fused)
    assert (found.units, found.matched) == ((5, 4), 4)


def test_a_fused_node_in_front_is_in_one_pair():
    """Its first step is the counterpart of the first operator of the other model."""
    head = f"g ({QKV}) => (float[2,3,4] y)"
    node = "com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)"
    fused = model(f"{head} {{ n = {node} y = MatMul(n, last) }}", HEADS)
    plain = model(f"{head} {{ {SPLIT} {core()} {JOIN} }}", HEADS)
    first, last = aligned(fused, plain).pairs
    assert (first.left, last.left) == ((0,), (1,))
    assert len(first.right) + len(last.right) == len(plain.graph.node)
