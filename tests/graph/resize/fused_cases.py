"""Products, recurrent layers and fused attention at a size, with the same weights at any size."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto

sys.path.append(str(Path(__file__).parents[1] / "rebatch"))
from rebatch_cases import MS, Maker
from resize_cases import table

U8, I32, I64 = TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64
Case = Callable[[Maker, int], str | list[str]]
GOOD: dict[str, tuple[Case, int, int, tuple[int, ...]]] = {}
"""Name → (maker, opset, size of the file, sizes that are wanted)."""
BAD: dict[str, tuple[Case, int, int, int, str]] = {}
"""Name → (maker, opset, size of the file, size that is wanted, what the refusal must say)."""


def good(size: int, *wanted: int, opset: int = 21) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        GOOD[fn.__name__] = (fn, opset, size, wanted)
        return fn

    return add


def bad(size: int, wanted: int, says: str, opset: int = 21) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        BAD[fn.__name__] = (fn, opset, size, wanted, says)
        return fn

    return add


def made(fn: Case, opset: int, n: int) -> onnx.ModelProto:
    """The model at a size. Its outputs have no type: ONNX Runtime finds it."""
    m = Maker(opset, 10)
    ends = fn(m, n)
    ends = ends if isinstance(ends, list) else [ends]
    model = m.done(*ends, shapes=[[1]] * len(ends))
    for info in model.graph.output:
        info.type.ClearField("tensor_type")
    return model


def integers(m: Maker, *shape: int) -> str:
    """A stored weight of bytes that depends on its shape alone."""
    return m.c(np.random.default_rng(5).integers(0, 20, shape).astype(np.uint8), np.uint8)


def causal(n: int) -> np.ndarray:
    return np.triu(np.full((n, n), -1e9, np.float32), 1)


def heads(m: Maker, name: str, n: int, width: int) -> str:
    """[1, n, 2·width] → [1, 2, n, width]: positions of a sequence, seen by two heads."""
    parted = m("Reshape", m.x(name, 1, n, 2 * width), m.c([1, n, 2, width]))
    return m("Transpose", parted, perm=[0, 2, 1, 3])


# Attention of ai.onnx


@good(6, 4, 9, opset=23)
def attention_of_heads(m, n):
    return m("Attention", m.x("q", 1, 2, n, 4), m.x("k", 1, 2, n, 4), m.x("v", 1, 2, n, 3))


@good(6, 4, 1, opset=23)
def attention_with_a_causal_mask(m, n):
    given = [m.x(name, 1, n, width) for name, width in (("q", 8), ("k", 8), ("v", 6))]
    return m("Attention", *given, m.c(causal(n)), q_num_heads=2, kv_num_heads=2)


@good(6, 4, 1, opset=23)
def attention_over_stored_keys(m, n):
    """The queries alone move: the mask is cut along them."""
    k, v = m.w(1, 2, 5, 4), m.w(1, 2, 5, 4)
    return m("Attention", heads(m, "q", n, 4), k, v, m.c(table(n, 5)))


@good(6, 4, 9, opset=23)
def attention_with_a_given_mask(m, n):
    given = [m.x(name, 1, 2, n, 4) for name in "qkv"]
    return m("Attention", *given, m.x("mask", n, n))


@good(6, 4, 9, opset=23)
def attention_with_a_cache(m, n):
    q, k, v = (m.x(name, 1, 2, 1, 4) for name in "qkv")
    cache = m.x("pk", 1, 2, n, 4), m.x("pv", 1, 2, n, 4)
    return m("Attention", q, k, v, m.x("mask", 1, n + 1), *cache, outputs=3)


@bad(6, 4, "its mask is stored, and it has a cache", opset=23)
def a_stored_mask_beside_a_cache(m, n):
    q, k, v = (m.x(name, 1, 2, n, 4) for name in "qkv")
    cache = m.x("pk", 1, 2, 3, 4), m.x("pv", 1, 2, 3, 4)
    return m("Attention", q, k, v, m.c(table(n, n + 3)), *cache, outputs=3)


@bad(6, 9, "has only 6 entries", opset=23)
def a_mask_that_is_too_small(m, n):
    given = [heads(m, name, n, 4) for name in "qkv"]
    return m("Attention", *given, m.c(table(n, 6)))


# Attention of ONNX Runtime


@good(6, 4, 9)
def packed(m, n):
    return m(
        "Attention", m.x("x", 1, n, 8), m.w(8, 24), m.w(24), m.x("mask", 1, n, dtype=I32), domain=MS,
        num_heads=2,
    )  # fmt: skip


@good(6, 4, 9)
def packed_of_unequal_widths(m, n):
    """The values are narrower than the queries."""
    return m(
        "Attention", m.x("x", 1, n, 8), m.w(8, 20), m.w(20), domain=MS, num_heads=2,
        qkv_hidden_sizes=[8, 8, 4], unidirectional=1,
    )  # fmt: skip


@good(6, 4, 9)
def quantized(m, n):
    scale, zero = m.c(np.float32(0.02)), m.c(np.uint8(10), np.uint8)
    weight, mask = integers(m, 8, 24), m.x("mask", 1, n, dtype=I32)
    return m(
        "QAttention", m.x("x", 1, n, 8, dtype=U8), weight, m.w(24), scale, scale, mask, zero, zero, domain=MS,
        num_heads=2,
    )  # fmt: skip


@good(6, 4, 9)
def multi_head(m, n):
    given = [m.x(name, 1, n, width) for name, width in (("q", 8), ("k", 8), ("v", 6))]
    return m(
        "MultiHeadAttention", *given, m.w(22), m.x("mask", 1, n, dtype=I32), m.x("bias", 1, 2, n, n),
        domain=MS, num_heads=2,
    )  # fmt: skip


@good(6, 4, 9)
def grouped(m, n):
    """Lengths are computed from the size of the queries."""
    q, k, v = m.x("q", 1, n, 32), m.x("k", 1, n, 16), m.x("v", 1, n, 16)
    cache = [m.c(np.zeros((1, 2, 0, 8), np.float32))] * 2
    length = m("Cast", m("Slice", m("Shape", q), m.c([1]), m.c([2])), to=I32)
    seen = m("Sub", length, m.c(np.array([1], np.int32), np.int32))
    return m(
        "GroupQueryAttention", q, k, v, *cache, seen, length, outputs=3, domain=MS, num_heads=4,
        kv_num_heads=2,
    )[0]  # fmt: skip


@bad(6, 4, "its lengths or masks are stored")
def stored_lengths(m, n):
    q, k, v = m.x("q", 1, n, 32), m.x("k", 1, n, 16), m.x("v", 1, n, 16)
    seen, total = m.c(np.array([n - 1], np.int32), np.int32), m.c(np.array(n, np.int32), np.int32)
    return m(
        "GroupQueryAttention", q, k, v, "", "", seen, total, outputs=3, domain=MS, num_heads=4, kv_num_heads=2
    )[0]


@bad(6, 4, "its lengths or masks are stored")
def a_stored_attention_bias(m, n):
    given = [m.x(name, 1, n, 8) for name in "qkv"]
    return m("MultiHeadAttention", *given, "", "", m.w(1, 2, n, n), domain=MS, num_heads=2)


@bad(6, 4, "its lengths or masks are stored")
def a_stored_mask_of_packed_attention(m, n):
    mask = m.c(np.ones((1, n), np.int32), np.int32)
    return m("Attention", m.x("x", 1, n, 8), m.w(8, 24), m.w(24), mask, domain=MS, num_heads=2)


# Positions


@good(6, 4, 1, opset=23)
def rotated(m, n):
    return m("RotaryEmbedding", heads(m, "x", n, 8), m.c(table(n, 4)[None]), m.c(table(n, 4)[None]))


@good(6, 4, 1, opset=23)
def rotated_by_stored_positions(m, n):
    places = m.c(np.arange(n)[None])
    return m("RotaryEmbedding", m.x("x", 1, n, 16), m.w(32, 4), m.w(32, 4), places, num_heads=2)


@good(6, 4, 1)
def rotated_by_stored_positions_of_the_runtime(m, n):
    places = m.c(np.arange(n)[None])
    return m("RotaryEmbedding", heads(m, "x", n, 8), places, m.w(32, 4), m.w(32, 4), domain=MS)


@good(6, 4, 9)
def rotated_from_an_offset(m, n):
    return m("RotaryEmbedding", m.x("x", 1, n, 8), m.c([2]), m.w(32, 4), m.w(32, 4), domain=MS)


@good(6, 4, 9)
def embedded(m, n):
    ids, kinds = m.x("ids", 1, n, dtype=I32), m.x("segment", 1, n, dtype=I32)
    tables = [m.w(20, 8), m.w(16, 8), m.w(20, 8), m.w(8), m.w(8)]
    return m(
        "EmbedLayerNormalization", ids, kinds, *tables, m.x("mask", 1, n, dtype=I32), outputs=2, domain=MS
    )


@bad(6, 40, "has only 32 entries")
def rotated_beyond_its_tables(m, n):
    return m("RotaryEmbedding", m.x("x", 1, n, 8), m.c([0]), m.w(32, 4), m.w(32, 4), domain=MS)


@bad(6, 17, "has only 16 entries")
def embedded_beyond_its_positions(m, n):
    tables = [m.w(20, 8), m.w(16, 8), "", m.w(8), m.w(8)]
    return m("EmbedLayerNormalization", m.x("ids", 1, n, dtype=I32), "", *tables, outputs=2, domain=MS)[0]


# Products


@good(6, 4, 9)
def products_of_bytes(m, n):
    x, weight, scale, zero = m.x("x", 1, n, 8, dtype=U8), integers(m, 8, 4), m.w(1, scale=0.0), ""
    scale, zero = m.c(np.float32(0.05)), m.c(np.uint8(8), np.uint8)
    return [
        m("MatMulInteger", x, weight, zero, zero),
        m("QLinearMatMul", x, scale, zero, weight, scale, zero, scale, zero),
        m("MatMulIntegerToFloat", x, weight, scale, scale, zero, zero, domain=MS),
    ]


@good(6, 4, 9)
def products_with_vectors(m, n):
    x = m.x("x", 2, n, 8)
    return [m("MatMul", x, m.w(8)), m("MatMul", m.w(8), m("Transpose", x, perm=[0, 2, 1]))]


@good(6, 4, 9)
def products_that_are_turned(m, n):
    x = m.x("x", 2, n, 8)
    return [
        m("FusedMatMul", x, x, domain=MS, transB=1, alpha=0.5),
        m("FusedMatMul", x, m.w(2, 5, 8), domain=MS, transB=1),
        m("FusedMatMul", x, x, domain=MS, transA=1),
    ]


@good(6, 4, 9)
def products_with_turned_batches(m, n):
    """[n, 2, 8] are two matrices of n rows."""
    x = m.x("x", n, 2, 8)
    return [
        m("FusedMatMul", x, m.w(2, 8, 3), domain=MS, transBatchA=1),
        m("FusedMatMul", m.w(2, 3, 8), x, domain=MS, transBatchB=1, transB=1),
    ]


@good(6, 4, 9)
def product_with_broadcast_batches(m, n):
    return m("MatMul", m.x("x", 1, n, 8), m.w(3, 8, 4))


@good(6, 4, 9)
def products_with_packed_weights(m, n):
    x, random = m.x("x", 1, n, 32), np.random.default_rng(1)
    bits = m.c(random.integers(0, 255, (8, 2, 8)).astype(np.uint8), np.uint8)
    scale, zero = m.c(np.float32(0.05)), m.c(np.uint8(8), np.uint8)
    return [
        m("MatMulNBits", x, bits, m.w(16), domain=MS, K=32, N=8, bits=4, block_size=16),
        m("DynamicQuantizeMatMul", x, integers(m, 32, 4), scale, zero, domain=MS),
    ]


@good(6, 4, 1)
def rows_of_a_gemm(m, n):
    x = m.x("x", n, 8)
    return [
        m("Gemm", x, m.w(8, 4), m.w(4)),
        m("Gemm", x, m.w(4, 8), m.c(table(n, 4)), transB=1, beta=0.5),
        m("FusedGemm", x, m.w(8, 4), m.c(table(n, 1)), domain=MS, activation="Relu"),
    ]


@good(6, 4, 9)
def columns_of_a_gemm(m, n):
    x = m.x("x", 8, n)
    return [m("Gemm", x, m.w(8, 4), m.w(1, 4), transA=1), m("Gemm", m.w(8, 3), x, transA=1)]


@good(6, 4, 9)
def letters(m, n):
    x = m.x("x", 1, n, 8)
    return [
        m("Einsum", x, m.w(8, 4), equation="bnd, de -> bne"),
        m("Einsum", x, x, equation="bnd,bmd->bnm"),
        m("Einsum", x, x, equation="bnd,bne->bde"),
    ]


@bad(6, 4, "has an ellipsis or no output")
def letters_without_a_result(m, n):
    return m("Einsum", m.x("x", 1, n, 8), m.w(8, 4), equation="bnd,de")


@bad(6, 4, "has an ellipsis or no output")
def letters_with_an_ellipsis(m, n):
    return m("Einsum", m.x("x", 1, n, 8), m.w(8, 4), equation="...d,de->...e")


@bad(6, 4, "the index n would have both 4 and 6 entries")
def letters_of_stored_weights(m, n):
    return m("Einsum", m.x("x", 1, n, 8), m.w(n, 4), equation="bnd,ne->bde")


@bad(6, 4, "may be their number")
def a_mean_as_a_product(m, n):
    """The sum over the positions is that of a product with ones that are computed."""
    x = m.x("x", 1, 3, n)
    ones = m("Sigmoid", m("Transpose", x, perm=[0, 2, 1]))
    return m("Div", m("MatMul", x, ones), m.c(np.float32(n)))


@bad(6, 4, "may be their number")
def a_mean_by_letters(m, n):
    return m("Mul", m("Einsum", m.x("x", 1, n, 8), equation="bnd->bd"), m.c(np.float32(1 / n)))


@bad(32, 16, "its weights are stored for 32 entries")
def packed_weights_along_positions(m, n):
    bits = m.c(np.zeros((8, 2, 8), np.uint8), np.uint8)
    return m("MatMulNBits", m.x("x", 1, 3, n), bits, m.w(16), domain=MS, K=n, N=8, bits=4, block_size=16)


@bad(6, 4, "are for 6 entries, not 4")
def a_gemm_along_positions(m, n):
    return m("Gemm", m.x("x", 3, n), m.w(n, 5))


@bad(6, 4, "inner dimensions would be 4 and 6")
def two_inputs_of_which_one_moves(m, n):
    return m("MatMul", m.x("x", 1, 3, n), m.x("y", 1, 6, 3))


# Recurrent layers


@good(6, 4, 9)
def steps(m, n):
    x, hidden = m.x("x", n, 1, 4), 5
    lstm = m(
        "LSTM", x, m.w(2, 20, 4), m.w(2, 20, 5), hidden_size=hidden, direction="bidirectional", outputs=3
    )
    gru = m("GRU", x, m.w(1, 15, 4), m.w(1, 15, 5), hidden_size=hidden, outputs=2)
    return [*lstm, *gru, *m("RNN", x, m.w(1, 5, 4), m.w(1, 5, 5), hidden_size=hidden, outputs=2)]


@bad(6, 4, "its sequence lengths are stored")
def steps_of_stored_lengths(m, n):
    lengths = m.c(np.array([n], np.int32), np.int32)
    return m("GRU", m.x("x", n, 1, 4), m.w(1, 15, 4), m.w(1, 15, 5), "", lengths, hidden_size=5, outputs=2)[0]


@bad(6, 4, "an axis other than the time axis changes")
def steps_of_other_features(m, n):
    return m("GRU", m.x("x", 3, 1, n), m.w(1, 15, n), m.w(1, 15, 5), hidden_size=5, outputs=2)[0]


# Experts


@good(6, 4, 9)
def experts(m, n):
    x = m.x("x", 1, n, 8)
    routes = m("MatMul", m("Reshape", x, m.c([-1, 8])), m.w(8, 4))
    return m("MoE", x, routes, m.w(4, 16, 8), m.w(4, 16), m.w(4, 8, 16), m.w(4, 8), domain=MS, k=2)
