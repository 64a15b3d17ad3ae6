"""Operators with their costs worked out by hand: op, inputs → MACs, FLOPs, bytes read, bytes written.

A number is written as the product it comes from. ``F`` is the size of a float. ``...`` = not checked,
``None`` = unknown.
"""

from __future__ import annotations

import numpy as np

from costs.harness import ML, MS, Case

# fmt: off

F = 4
C = Case


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


IMAGE = (1, 3, 8, 8)  # 192 elements

CONV = [
    # Y (1,16,6,6) = 576 outputs, each 3·3·3 products
    C("Conv", [IMAGE, (16, 3, 3, 3)], 576 * 27, 2 * 576 * 27, F * (192 + 432), F * 576),
    C("Conv", [IMAGE, (16, 3, 3, 3), (16,)], 576 * 27, 2 * 576 * 27 + 576, F * (192 + 432 + 16), F * 576,
      name="bias"),
    C("Conv", [IMAGE, (16, 3, 3, 3)], 16 * 16 * 27, 2 * 16 * 16 * 27, F * 624, F * 256, {"strides": [2, 2],
      "pads": [1, 1, 1, 1]}, name="strided"),
    # window of 5: 4×4 outputs
    C("Conv", [IMAGE, (16, 3, 3, 3)], 16 * 16 * 27, 2 * 16 * 16 * 27, ..., F * 256, {"dilations": [2, 2]},
      name="dilated"),
    C("Conv", [(2, 8, 5, 5), (8, 1, 3, 3)], 2 * 8 * 9 * 9, 2 * 2 * 8 * 9 * 9, ..., F * 144, {"group": 8},
      name="depthwise"),
    C("Conv", [(1, 8, 5, 5), (4, 4, 1, 1)], 4 * 25 * 4, 2 * 400, ..., F * 100, {"group": 2}, name="grouped"),
    C("Conv", [(1, 4, 10), (6, 4, 3)], 6 * 8 * 12, 2 * 576, F * (40 + 72), F * 48, name="1d"),
    C("Conv", [(1, 2, 4, 4, 4), (3, 2, 2, 2, 2)], 3 * 27 * 16, 2 * 1296, ..., F * 81, name="3d"),
    C("Conv", [IMAGE, (16, 3, 3, 3)], None, None, None, None, {"group": 0}, name="group-0"),
    C("Conv", [("f16", IMAGE), ("f16", (16, 3, 3, 3))], 576 * 27, 2 * 576 * 27, 2 * 624, 2 * 576,
      name="half"),
    C("ConvInteger", [("u8", IMAGE), ("u8", (16, 3, 3, 3))], 576 * 27, 2 * 576 * 27, 624, 4 * 576),
    C("ConvInteger", [("u8", IMAGE), ("u8", (16, 3, 3, 3)), ("u8", ())], 576 * 27, 2 * 576 * 27, 625, 4 *
      576, name="zero-point"),
    C("QLinearConv", [("u8", IMAGE), (), ("u8", ()), ("i8", (16, 3, 3, 3)), (), ("i8", ()), (), ("u8", ()),
      ("i32", (16,))], 576 * 27, 2 * 576 * 27 + 576 + 5 * 576, 192 + 432 + 3 * 4 + 3 + 64, 576),
    # each of 1·8·4·4 inputs is spread over 4·3·3 outputs: Y (1,4,6,6)
    C("ConvTranspose", [(1, 8, 4, 4), (8, 4, 3, 3)], 128 * 36, 2 * 128 * 36, F * (128 + 288), F * 144),
    C("ConvTranspose", [(1, 8, 4, 4), (8, 2, 3, 3), (4,)], 128 * 18, 2 * 128 * 18 + 144, ..., F * 144,
      {"group": 2}, name="grouped"),
    C("ConvTranspose", [(1, 8, 4, 4), (8, 4, 2, 2)], 128 * 16, 2 * 128 * 16, ..., F * 256, {"strides": [2,
      2]}, name="strided"),
    # Y (1,5,3,3) = 45 outputs; 1·2·4·9 = 72 samples of 7 FLOPs
    C("DeformConv", [(1, 2, 4, 4), (5, 2, 2, 2), (1, 8, 3, 3)], 45 * 8, 2 * 360 + 72 * 7, ..., F * 45),
    C("DeformConv", [(1, 2, 4, 4), (5, 2, 2, 2), (1, 8, 3, 3), (5,), (1, 4, 3, 3)], 45 * 8, 2 * 360 + 45 +
      72 * 8, ..., F * 45, name="mask"),
    C("CausalConvWithState", [(2, 6, 10), (6, 1, 4), (6,), (2, 6, 3)], 120 * 4, 2 * 480 + 120 + 2 * 120,
      ..., F * (120 + 36), {"activation": "silu"}, outs=[(2, 6, 10), (2, 6, 3)], opset=27),
    C("FusedConv", [IMAGE, (16, 3, 3, 3), (16,)], 576 * 27, 2 * 576 * 27 + 2 * 576, ..., F * 576,
      {"activation": "Relu"}, outs=[(1, 16, 6, 6)], domain=MS),
    C("FusedConv", [IMAGE, (16, 3, 3, 3), (16,), (1, 16, 6, 6)], 576 * 27, 2 * 576 * 27 + 2 * 576, ..., F *
      576, outs=[(1, 16, 6, 6)], domain=MS, name="residual"),
    C("NhwcConv", [(1, 8, 8, 3), (16, 3, 3, 3)], 576 * 27, 2 * 576 * 27, ..., F * 576, outs=[(1, 6, 6, 16)],
      domain=MS),
]

# The twins of com.microsoft; nothing is declared, so that the shapes are inferred as well.
CONTRIB_LAYERS = [
    C("CausalConvWithState", [(2, 6, 10), (6, 1, 4), (6,), (2, 6, 3)], 120 * 4, 2 * 480 + 120 + 2 * 120,
      ..., F * (120 + 36), {"activation": "silu"}, n_outs=2, domain=MS),
    C("LinearAttention", [(1, 6, 8), (1, 6, 8), (1, 6, 8)], 6 * 16 * 4, 2 * 384 + 6 * 8, ..., ...,
      {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}, n_outs=2, domain=MS),
    # one query head reads for two key heads: 2·4·4 written, 2·4·4 read, scaled
    C("LinearAttention", [(1, 6, 4), (1, 6, 8), (1, 6, 8)], 6 * 16 * 4, 2 * 384 + 6 * 8, ..., ...,
      {"q_num_heads": 1, "kv_num_heads": 2, "update_rule": "linear"}, n_outs=2, domain=MS, name="inverse"),
    C("QOrderedMatMul", [("i8", (2, 3, 8)), (), ("i8", (8, 16)), (), (), (16,)], 96 * 8, 2 * 768 + 6 * 96,
      ..., 96, domain=MS),
    C("QOrderedMatMul", [("i8", (2, 3, 8)), (), ("i8", (16, 8)), (), ()], 96 * 8, 2 * 768 + 5 * 96, ..., 96,
      {"order_B": 0}, domain=MS, name="transposed"),
    C("QOrderedGelu", [("i8", (2, 6)), (), ()], 0, 12 * (2 + 5 + 5), ..., 12, domain=MS),
    C("QuantizeWithOrder", [(2, 6), ()], 0, 12 * 5, ..., 12, domain=MS),
    C("DequantizeWithOrder", [("i8", (2, 6)), ()], 0, 12 * 2, ..., F * 12, {"to": 1}, domain=MS),
    # two heads of 4: 3·8·8 per token, then 2·(2·6·6) scores of 4 + 4
    C("QOrderedAttention", [("i8", (1, 6, 8)), (), (), (), (), *[("i8", (8, 8))] * 3, (), (), (), (8,), (8,),
      (8,), (), (), ()], 6 * 192 + 72 * 8, ..., ..., 48, {"num_heads": 2}, domain=MS),
    # two norms, dot, ×; a gate for each of 2·3·2
    C("EngramGate", [(2, 3, 2, 8), (2, 3, 2, 8), (2, 3, 8), (2, 8), (2, 8)], 0, 96 * (2 * 4 + 3) + 12 * 7,
      ..., F * 96, domain=MS),
    C("HyperConnectionPreMix", [(2, 3, 4, 8), (2, 3, 4)], 0, 2 * 192, ..., F * 48, domain=MS),
    C("HyperConnectionPostMix", [(2, 3, 4, 8), (2, 3, 8), (2, 3, 4), (2, 3, 4, 4)], 192 * 4, 2 * 768 +
      2 * 192, ..., F * 192, domain=MS),
    C("LinearAttentionGate", [(2, 3, 4), (4,), (4,), (2, 3, 4)], 0, 24 * (2 + 3) + 24, ..., 2 * F * 24,
      n_outs=2, domain=MS),
    # 6 queries of 2 heads, 5 selected keys, 4 + 4 products each
    C("DynamicSparseAttention", [(1, 6, 8), (1, 6, 4), (1, 6, 4), (1, 1, 3, 4), (1, 1, 3, 4), None, None,
      ("i32", (6, 5)), ("i32", (6,))], 2 * 6 * 5 * 8, ..., ..., F * (48 + 36 + 36), {"num_heads": 2,
      "kv_num_heads": 1, "attention_mode": "selected_only"}, n_outs=3, domain=MS),
    C("MRotaryEmbedding", [(2, 6, 64), ("i64", (3, 2, 6)), (32, 8), (32, 8)], 0, 3 * 768, ..., F * 768,
      {"mrope_section": [2, 3, 3], "num_heads": 4}, domain=MS),
    # gate and up: 12·64·32 each; SiLU and × on 12·64; 2·2·64·32 to dequantize
    C("MatMulNBitsMlp", [(2, 6, 32), None, None, ("u8", (64, 1, 16)), (64, 1), None, ("u8", (64, 1, 16)),
      (64, 1)], 2 * 12 * 64 * 32, 4 * 12 * 64 * 32 + 3 * 768 + 4 * 2048, ..., F * 768, {"K": 32, "N": 64,
      "bits": 4, "block_size": 32, "activation": "silu"}, domain=MS),
    C("MatMulNBitsQkv", [(2, 6, 32), None, None, ("u8", (64, 1, 16)), (64, 1), None, ("u8", (16, 1, 16)),
      (16, 1), None, ("u8", (16, 1, 16)), (16, 1)], 12 * 32 * 96, 2 * 12 * 32 * 96 + 2 * 32 * 96, ...,
      F * 12 * 96, {"K": 32, "Nq": 64, "Nkv": 16, "bits": 4, "block_size": 32}, n_outs=3, domain=MS),
    C("MatMulBlockQuantizedFp4Weight", [("f16", (6, 64)), ("u8", (32, 32)), ("u8", (32, 4)), ()],
      6 * 64 * 32, 2 * 6 * 64 * 32 + 2 * 2048, ..., 2 * 192, domain=MS),
    C("BeamSearch", [("i32", (2, 5)), ("i32", (1,)), None, ("i32", (1,)), ("i32", (1,))], 0, 0, 0, 0,
      domain=MS),
    C("ReorderInput", [(1, 16, 8, 8)], 0, 0, F * 1024, F * 1024, domain="com.microsoft.nchwc"),
    C("Conv", [(1, 16, 8, 8), (32, 16, 3, 3), (32,)], 32 * 64 * 144, 2 * 32 * 64 * 144 + 2048 + 2048, ...,
      F * 2048, {"pads": [1, 1, 1, 1], "activation": "Relu"}, domain="com.microsoft.nchwc", name="blocked"),
]

MATMUL = [
    C("MatMul", [(4, 8), (8, 16)], 4 * 8 * 16, 1024, F * (32 + 128), F * 64),
    C("MatMul", [(2, 3, 4, 8), (8, 16)], 6 * 4 * 8 * 16, 2 * 3072, ..., F * 384, name="batch"),
    C("MatMul", [(4, 8), (5, 8, 16)], 5 * 4 * 8 * 16, 2 * 2560, ..., F * 320, name="batch-of-b"),
    C("MatMul", [(2, 1, 4, 8), (3, 8, 16)], 6 * 512, 2 * 3072, ..., F * 384, name="broadcast"),
    C("MatMul", [(8,), (8, 16)], 128, 256, ..., F * 16, name="vector"),
    C("MatMul", [(8,), (8,)], 8, 16, F * 16, F, name="dot"),
    C("MatMul", [("batch", 8), (8, 16)], None, None, None, None, name="symbolic"),
    C("MatMul", [(0, 8), (8, 16)], 0, 0, F * 128, 0, name="empty"),
    C("MatMulInteger", [("u8", (4, 8)), ("i8", (8, 16))], 512, 1024, 32 + 128, 4 * 64),
    C("QLinearMatMul", [("u8", (4, 8)), (), ("u8", ()), ("i8", (8, 16)), (), ("i8", ()), (), ("u8", ())],
      512, 1024 + 5 * 64, 32 + 128 + 12 + 3, 64),
    C("Gemm", [(4, 8), (8, 16)], 512, 1024, F * 160, F * 64),
    C("Gemm", [(4, 8), (16, 8), (16,)], 512, 1024 + 64, F * (32 + 128 + 16), F * 64, {"transB": 1},
      name="transB"),
    C("Gemm", [(8, 4), (16, 8)], 512, 1024, ..., F * 64, {"transA": 1, "transB": 1}, name="transAB"),
    C("Gemm", [(4, 8), (8, 16), (16,)], 512, 1024 + 64 + 64 + 16, ..., F * 64, {"alpha": 0.5, "beta": 2.0},
      name="scaled"),
    C("Einsum", [(2, 4, 8), (2, 8, 16)], 2 * 4 * 8 * 16, 2048, ..., F * 128, {"equation": "bij,bjk->bik"}),
    C("Einsum", [(2, 3, 4, 8), (8, 16)], 6 * 4 * 8 * 16, 2 * 3072, ..., F * 384, {"equation":
      "...j,jk->...k"}, name="ellipsis"),
    C("Einsum", [(4, 5), (5, 6), (6, 7)], 4 * 5 * 6 * 7 * 2, 4 * 840, ..., F * 28, {"equation":
      "ij,jk,kl->il"}, name="three"),
    C("Einsum", [(4, 5)], 0, 20, F * 20, F * 4, {"equation": "ij->i"}, name="sum"),
    C("Einsum", [(4, 5)], 0, 0, F * 20, F * 20, {"equation": "ij->ji"}, name="transpose"),
    C("Einsum", [(4, 5), (4, 5)], 20, 40, ..., F, {"equation": "ij,ij->"}, name="inner"),
    C("FusedMatMul", [(4, 8), (8, 16)], 512, 1024 + 64, ..., F * 64, {"alpha": 0.125}, outs=[(4, 16)],
      domain=MS),
    C("FusedMatMul", [(8, 4), (8, 16)], 512, 1024, ..., F * 64, {"transA": 1}, outs=[(4, 16)], domain=MS,
      name="transA"),
    C("TransposeMatMul", [(4, 8), (16, 8)], 512, 1024, ..., F * 64, {"transB": 1}, outs=[(4, 16)], domain=MS),
    C("FusedGemm", [(4, 8), (8, 16), (16,)], 512, 1024 + 64 + 64, ..., F * 64, {"activation": "Relu"},
      outs=[(4, 16)], domain=MS),
    C("GemmFastGelu", [(2, 4, 8), (8, 16), (16,)], 1024, 2048 + 9 * 128, ..., F * 128, outs=[(2, 4, 16)],
      domain=MS),
    # B (32, 64) in blocks of 32: (32, 2, 16) bytes, 64 scales
    C("MatMulNBits", [(2, 5, 64), ("u8", (32, 2, 16)), (64,)], 10 * 32 * 64, 2 * 20480 + 2 * 2048, F * (640
      + 64) + 1024, F * 320, {"K": 64, "N": 32, "bits": 4, "block_size": 32}, outs=[(2, 5, 32)], domain=MS),
    C("MatMulNBits", [(2, 5, 64), ("u8", (32, 2, 16)), (64,)], None, None, None, None, {"K": 0, "N": 32,
      "bits": 4, "block_size": 32}, outs=[(2, 5, 32)], domain=MS, name="K-0"),
    C("MatMulBnb4", [(5, 64), ("u8", (1024,)), (32,)], 5 * 32 * 64, 2 * 10240 + 2048, ..., F * 160, {"K":
      64, "N": 32, "block_size": 64, "quant_type": 1}, outs=[(5, 32)], domain=MS),
    C("QGemm", [("u8", (4, 8)), (), ("u8", ()), ("i8", (8, 16)), (), ("i8", ()), ("i32", (16,)), (), ("u8",
      ())], 512, 1024 + 6 * 64, ..., 64, outs=[("u8", (4, 16))], domain=MS),
    C("DynamicQuantizeMatMul", [(4, 8), ("i8", (8, 16)), (1,), ("i8", (1,)), (16,)], 512, 1024 + 7 * 32 + 2
      * 64, ..., F * 64, outs=[(4, 16)], domain=MS),
    C("MatMulIntegerToFloat", [("u8", (4, 8)), ("i8", (8, 16)), (), ()], 512, 1024 + 64, ..., F * 64,
      outs=[(4, 16)], domain=MS),
]

# b·h·s·t scores, each 1 scale + 5 softmax
ATTENTION = [
    C("Attention", [(2, 4, 6, 8), (2, 4, 10, 8), (2, 4, 10, 8)], 480 * 16, 2 * 7680 + 6 * 480, F * (384 +
      640 + 640), F * 384, name="4d"),
    C("Attention", [(2, 6, 32), (2, 10, 32), (2, 10, 32)], 480 * 16, 2 * 7680 + 6 * 480, ..., F * 384,
      {"q_num_heads": 4, "kv_num_heads": 4}, name="3d"),
    # 4 query heads share 2 key heads of size 8
    C("Attention", [(2, 6, 32), (2, 10, 16), (2, 10, 16)], 480 * 16, 2 * 7680 + 7 * 480, ..., F * 384,
      {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1}, name="grouped"),
    # 7 cached + 1 new keys, value heads of 12
    C("Attention", [(1, 4, 1, 8), (1, 4, 1, 8), (1, 4, 1, 12), None, (1, 4, 7, 8), (1, 4, 7, 12)], 4 * 8 *
      20, 2 * 640 + 6 * 32, ..., F * (48 + 256 + 384), n_outs=3, name="cache"),
    C("Attention", [(2, 4, 6, 8), (2, 4, 10, 8), (2, 4, 10, 8), (6, 10)], 480 * 16, 2 * 7680 + (6 + 1 + 3) *
      480, ..., ..., {"softcap": 50.0}, name="mask-softcap"),
    C("Attention", [(2, 6, 30), (2, 10, 30), (2, 10, 30)], None, None, None, None, {"q_num_heads": 4,
      "kv_num_heads": 4}, outs=[(2, 6, 30)], name="heads-do-not-fit"),
    C("FlexAttention", [(2, 4, 6, 8), (2, 2, 10, 8), (2, 2, 10, 8)], 480 * 16, 2 * 7680 + 6 * 480, ..., F *
      384, outs=[(2, 4, 6, 8)], domain="ai.onnx.preview"),
    # 6 tokens, 2 heads of 4×4: k⊗v and qᵀS, 16 each; the output is scaled
    C("LinearAttention", [(1, 6, 8), (1, 6, 8), (1, 6, 8)], 6 * 16 * 4, 2 * 384 + 6 * 8, ..., ...,
      {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}, outs=[(1, 6, 8), (1, 2, 4, 4)],
      opset=27),
    # the gated delta rule also reads Sᵀk, decays S and does 2 more on each value
    C("LinearAttention", [(1, 6, 8), (1, 6, 8), (1, 6, 8), None, (1, 6, 2), (1, 6, 2)], 6 * 16 * 6, 2 * 576
      + 6 * (8 + 2 * 8 + 2 * 16) + 12, ..., ..., {"q_num_heads": 2, "kv_num_heads": 2}, outs=[(1, 6, 8), (1,
      2, 4, 4)], opset=27, name="gated-delta"),
    C("RotaryEmbedding", [(1, 4, 6, 8), (1, 6, 4), (1, 6, 4)], 0, 3 * 192, ..., F * 192),
    C("RotaryEmbedding", [(1, 4, 6, 8), (1, 6, 2), (1, 6, 2)], 0, 3 * 96, ..., F * 192,
      {"rotary_embedding_dim": 4}, name="partial"),
    # X (2,6,32) · W (32,96) + bias, then 2·4·6·6 scores of heads of 8
    C("Attention", [(2, 6, 32), (32, 96), (96,)], 12 * 3072 + 288 * 16, 2 * (36864 + 4608) + 12 * 96 + 288 *
      6, F * (384 + 3072 + 96), F * 384, {"num_heads": 4}, outs=[(2, 6, 32)], domain=MS, name="contrib"),
    C("Attention", [(2, 6, 32), (32, 96), (96,), None, (2, 2, 4, 5, 8)], 12 * 3072 + 2 * 4 * 6 * 11 * 16,
      ..., ..., ..., {"num_heads": 4}, outs=[(2, 6, 32), (2, 2, 4, 11, 8)], domain=MS, name="contrib-past"),
    C("QAttention", [("u8", (2, 6, 32)), ("i8", (32, 96)), (96,), (), ()], 12 * 3072 + 288 * 16, ..., ..., F
      * 384, {"num_heads": 4}, outs=[(2, 6, 32)], domain=MS),
    C("MultiHeadAttention", [(2, 6, 32), (2, 10, 32), (2, 10, 32)], 480 * 16, 2 * 7680 + 6 * 480, ..., F *
      384, {"num_heads": 4}, outs=[(2, 6, 32)], domain=MS),
    C("MultiHeadAttention", [(2, 6, 4, 3, 8)], 288 * 16, 2 * 4608 + 6 * 288, ..., F * 384, {"num_heads": 4},
      outs=[(2, 6, 32)], domain=MS, name="packed"),
    C("MultiHeadAttention", [(2, 6, 32), (2, 4, 10, 8), (2, 4, 10, 8)], 480 * 16, ..., ..., ...,
      {"num_heads": 4}, outs=[(2, 6, 32)], domain=MS, name="4d-keys"),
    # one new token on 7 cached: 8 keys
    C("GroupQueryAttention", [(1, 1, 32), (1, 1, 16), (1, 1, 16), (1, 2, 7, 8), (1, 2, 7, 8), ("i32", (1,)),
      ("i32", (1,))], 4 * 8 * 16, 2 * 512 + 6 * 32 + 3 * 6 * 8, ..., ..., {"num_heads": 4, "kv_num_heads":
      2, "do_rotary": 1}, outs=[(1, 1, 32), (1, 2, 8, 8), (1, 2, 8, 8)], domain=MS),
    C("GroupQueryAttention", [(1, 5, 64), None, None, None, None, ("i32", (1,)), ("i32", (1,))], 4 * 25 *
      16, ..., ..., ..., {"num_heads": 4, "kv_num_heads": 2}, outs=[(1, 5, 32)], domain=MS, name="packed"),
    C("DecoderMaskedMultiHeadAttention", [(2, 1, 32), (2, 1, 32), (2, 1, 32), None, None, (2, 4, 7, 8), (2,
      4, 7, 8)], 2 * 4 * 8 * 16, ..., ..., ..., {"num_heads": 4}, outs=[(2, 1, 32)], domain=MS),
    C("PackedAttention", [(9, 32), (32, 96), (96,), ("i32", (2, 6)), ("i32", (3,))], 9 * 3072 + 288 * 16,
      ..., ..., F * 288, {"num_heads": 4}, outs=[(9, 32)], domain=MS),
    C("PackedMultiHeadAttention", [(9, 32), (9, 32), (9, 32), None, ("i32", (2, 6)), ("i32", (3,))], 288 *
      16, ..., ..., ..., {"num_heads": 4}, outs=[(9, 32)], domain=MS),
    C("GatedRelativePositionBias", [(1, 5, 16), (16,), (1, 2, 5, 5), (8, 8), (8,), (1, 2, 1, 1)], 5 * 2 * 8
      * 8, ..., ..., F * 50, {"num_heads": 2}, outs=[(1, 2, 5, 5)], domain=MS),
    C("RotaryEmbedding", [(1, 6, 32), ("i64", (1, 6)), (10, 4), (10, 4)], 0, 3 * 192, ..., F * 192,
      outs=[(1, 6, 32)], domain=MS, name="contrib"),
]

# T·B = 10 steps, I = 3, H = 4
RECURRENT = [
    C("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4)], 10 * (48 + 64), 2 * 1120 + 10 * 13 * 4, F * (30 + 48 +
      64), F * (5 * 2 * 4), {"hidden_size": 4}),
    C("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4), (1, 32)], 1120, 2 * 1120 + 10 * (52 + 32), ..., F * 56,
      {"hidden_size": 4}, n_outs=3, name="bias"),
    C("LSTM", [(5, 2, 3), (2, 16, 3), (2, 16, 4), (2, 32), None, None, None, (2, 12)], 2240, 2 * 2240 + 10 *
      (13 * 8 + 64 + 6 * 8), ..., F * 80, {"hidden_size": 4, "direction": "bidirectional"},
      name="bidirectional-peephole"),
    C("GRU", [(5, 2, 3), (1, 12, 3), (1, 12, 4)], 10 * (36 + 48), 2 * 840 + 10 * 11 * 4, ..., F * 40,
      {"hidden_size": 4}),
    C("GRU", [(5, 2, 3), (2, 12, 3), (2, 12, 4), (2, 24)], 1680, 2 * 1680 + 10 * (11 * 8 + 48), ..., F * 80,
      {"hidden_size": 4, "direction": "bidirectional"}, name="bidirectional"),
    C("RNN", [(5, 2, 3), (1, 4, 3), (1, 4, 4), (1, 8)], 10 * 28, 2 * 280 + 10 * (2 * 4 + 8), ..., F * 40,
      {"hidden_size": 4}),
    C("DynamicQuantizeLSTM", [(5, 2, 3), ("i8", (1, 3, 16)), ("i8", (1, 4, 16)), (1, 32), None, None, None,
      None, (1,), ("i8", (1,)), (1,), ("i8", (1,))], 1120, 2 * 1120 + 10 * (52 + 32), ..., F * 40,
      {"hidden_size": 4}, outs=[(5, 1, 2, 4)], domain=MS),
    C("LSTM", [(5, 2, 3), (16, 3), (16, 4)], None, None, None, None, {"hidden_size": 4}, outs=[(5, 1, 2,
      4)], name="wrong-rank"),
]  # fmt: skip

X = (2, 3, 4)  # 24 elements
_UNARY = {
    "Abs": 1, "Acos": 1, "Acosh": 1, "Asin": 1, "Asinh": 1, "Atan": 1, "Atanh": 1, "Ceil": 1, "Cos": 1,
      "Cosh": 1,
    "Erf": 1, "Exp": 1, "Floor": 1, "Log": 1, "Neg": 1, "Reciprocal": 1, "Relu": 1, "Round": 1, "Sigmoid": 1,
    "Sign": 1, "Sin": 1, "Sinh": 1, "Sqrt": 1, "Tan": 1, "Tanh": 1, "LeakyRelu": 2, "ThresholdedRelu": 1,
    "Shrink": 2, "Softplus": 3, "Softsign": 3, "Elu": 4, "Celu": 7, "Selu": 5, "HardSigmoid": 4,
      "HardSwish": 5,
    "Mish": 5, "Gelu": 5, "Swish": 2, "Softmax": 5, "LogSoftmax": 5, "Hardmax": 1,
      "MeanVarianceNormalization": 5,
    "LpNormalization": 3,
}  # fmt: skip
_BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "Mod")
_COMPARE = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
ELEMENTWISE = [
    *(
        C(op, [X if op != "MeanVarianceNormalization" else (2, 3, 2, 2)], 0, k * 24, F * 24, F * 24)
        for op, k in _UNARY.items()
    ),
    *(
        C(op, [X, (3, 1)], 0, 24, F * (24 + 3), F * 24, {"fmod": 1} if op == "Mod" else {}, name="broadcast")
        for op in _BINARY
    ),
    *(C(op, [X, X], 0, 24, F * 48, 24) for op in _COMPARE),
    *(C(op, [("bool", X), ("bool", X)], 0, 24, 48, 24) for op in ("And", "Or", "Xor")),
    *(C(op, [("u8", X), ("u8", X)], 0, 24, 48, 24) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    C("BitShift", [("u8", X), ("u8", X)], 0, 24, 48, 24, {"direction": "LEFT"}),
    C("BitwiseNot", [("u8", X)], 0, 24, 24, 24),
    C("Not", [("bool", X)], 0, 24, 24, 24),
    C("IsNaN", [X], 0, 24, F * 24, 24),
    C("IsInf", [X], 0, 24, F * 24, 24),
    C("Mul", [X, (3, 4)], 0, 24, F * 36, F * 24, name="rank"),
    C("Clip", [X, (), ()], 0, 2 * 24, F * 26, F * 24),
    C("PRelu", [X, (4,)], 0, 2 * 24, F * 28, F * 24),
    C("SwiGLU", [X, X], 0, 3 * 24, F * 48, F * 24, outs=[X], opset=28),
    C("Sum", [X, X, X], 0, 2 * 24, F * 72, F * 24),
    C("Max", [X, X], 0, 24, F * 48, F * 24),
    C("Min", [X], 0, 0, F * 24, F * 24),
    C("Mean", [X, X, X], 0, 3 * 24, F * 72, F * 24),
    C("Gelu", [X], 0, 8 * 24, F * 24, F * 24, {"approximate": "tanh"}, name="tanh"),
    C("Add", [("str", X)] * 2, 0, 24, None, None, outs=[("str", X)], name="text"),
    C("BiasGelu", [X, (4,)], 0, 6 * 24, F * 28, F * 24, outs=[X], domain=MS),
    C("FastGelu", [X, (4,)], 0, 9 * 24, F * 28, F * 24, outs=[X], domain=MS),
    C("Gelu", [X], 0, 5 * 24, F * 24, F * 24, outs=[X], domain=MS, name="contrib"),
    C("QuickGelu", [X], 0, 3 * 24, F * 24, F * 24, outs=[X], domain=MS),
    C("BiasAdd", [X, (4,), X], 0, 2 * 24, F * 52, F * 24, outs=[X], domain=MS),
    C("BiasSplitGelu", [(2, 3, 8), (8,)], 0, 8 * 24, F * 56, F * 24, outs=[X], domain=MS),
    C("BiasSoftmax", [X, (1, 3, 4)], 0, 6 * 24, F * 36, F * 24, {"axis": 2, "is_inner_broadcast": 0},
      outs=[X], domain=MS),
]

NORM = [
    C("LayerNormalization", [(2, 6, 8), (8,), (8,)], 0, 7 * 96, F * 112, F * 96),
    C("LayerNormalization", [(2, 6, 8), (8,)], 0, 6 * 96, F * 104, F * 96, name="no-bias"),
    C("RMSNormalization", [(2, 6, 8), (8,)], 0, 4 * 96, F * 104, F * 96),
    C("BatchNormalization", [IMAGE, (3,), (3,), (3,), (3,)], 0, 2 * 192, F * 204, F * 192),
    C("BatchNormalization", [IMAGE, (3,), (3,), (3,), (3,)], 0, 7 * 192, F * 204, F * 198, {"training_mode":
      1}, n_outs=3, name="training"),
    C("InstanceNormalization", [IMAGE, (3,), (3,)], 0, 7 * 192, F * 198, F * 192),
    C("GroupNormalization", [(1, 4, 8, 8), (4,), (4,)], 0, 7 * 256, F * 264, F * 256, {"num_groups": 2}),
    # 5 channels reach beyond the 3 there are on either side: 3 squares each
    C("LRN", [IMAGE], 0, 7 * 192, F * 192, F * 192, {"size": 5}),
    C("LRN", [(1, 8, 2, 2)], 0, 4 * (34 + 4 * 8), ..., ..., {"size": 5}, name="cut"),
    C("SoftmaxCrossEntropyLoss", [(4, 10), ("i64", (4,))], 0, 5 * 40 + 2 * 4, F * 40 + 32, F),
    C("NegativeLogLikelihoodLoss", [(4, 10), ("i64", (4,))], 0, 2 * 4, ..., F),
    C("SkipLayerNormalization", [(2, 6, 8), (2, 6, 8), (8,), (8,), (8,)], 0, 9 * 96, F * 216, F * 96,
      outs=[(2, 6, 8)], domain=MS),
    C("SkipSimplifiedLayerNormalization", [(2, 6, 8), (2, 6, 8), (8,)], 0, 5 * 96, F * 200, F * 96,
      outs=[(2, 6, 8)], domain=MS),
    C("SimplifiedLayerNormalization", [(2, 6, 8), (8,)], 0, 4 * 96, F * 104, F * 96, outs=[(2, 6, 8)],
      domain=MS),
    C("GroupNorm", [(1, 8, 8, 4), (4,), (4,)], 0, 9 * 256, F * 264, F * 256, {"activation": 1, "groups": 2},
      outs=[(1, 8, 8, 4)], domain=MS),
    # rows of three tables, 2 additions, LayerNorm
    C("EmbedLayerNormalization", [("i32", (2, 6)), ("i32", (2, 6)), (100, 8), (20, 8), (2, 8), (8,), (8,)],
      0, 9 * 96, 3 * F * 96 + 2 * 48 + 2 * 32, ..., outs=[(2, 6, 8), ("i32", (2,))], domain=MS),
]

POOL = [
    C("MaxPool", [IMAGE], 0, 3 * 16 * 4, F * 192, F * 48, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    C("AveragePool", [IMAGE], 0, 3 * 36 * 9, F * 192, F * 108, {"kernel_shape": [3, 3]}),
    C("MaxPool", [IMAGE], None, None, None, None, {"kernel_shape": [0, 2]}, outs=[(1, 3, 4, 4)],
      name="kernel-0"),
    # a row of windows holds 7 + 8 positions of the 8 where the padding is 1: the first is cut
    C("MaxPool", [IMAGE], 0, 3 * 11 * 11, ..., F * 48, {"kernel_shape": [3, 3], "strides": [2, 2], "pads":
      [1, 1, 1, 1]}, name="padded"),
    C("AveragePool", [IMAGE], 0, 3 * 12 * 12, ..., F * 48, {"kernel_shape": [3, 3], "strides": [2, 2],
      "pads": [1, 1, 1, 1], "count_include_pad": 1}, name="include-pad"),
    C("AveragePool", [IMAGE], 0, 3 * 11 * 11, ..., F * 48, {"kernel_shape": [3, 3], "strides": [2, 2],
      "ceil_mode": 1, "count_include_pad": 1}, name="ceil"),
    C("AveragePool", [(1, 1280, 7, 7)], 0, 1280 * 49, ..., F * 1280, {"kernel_shape": [1280, 1280],
      "strides": [1280, 1280], "ceil_mode": 1}, name="wide-ceil"),
    C("NhwcMaxPool", [("u8", (1, 8, 8, 3))], 0, 3 * 11 * 11, 192, 48, {"kernel_shape": [3, 3], "strides": [2,
      2], "pads": [1, 1, 1, 1]}, domain=MS),
    C("QLinearAveragePool", [("u8", (1, 8, 8, 3)), (), ("u8", ()), (), ("u8", ())], 0, 3 * 121 + 5 * 48,
      ..., 48, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "channels_last": 1}, domain=MS,
      name="channels-last"),
    C("LpPool", [IMAGE], 0, 3 * 3 * 16 * 4, F * 192, F * 48, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    C("GlobalAveragePool", [IMAGE], 0, 192, F * 192, F * 3),
    C("GlobalMaxPool", [IMAGE], 0, 192, F * 192, F * 3),
    C("GlobalLpPool", [IMAGE], 0, 3 * 192, F * 192, F * 3),
    C("MaxRoiPool", [IMAGE, (5, 5)], 0, 60, ..., F * 60, {"pooled_shape": [2, 2]}),
    C("MaxRoiPool", [IMAGE, (5, 5)], 0, 5 * 3 * 3 * 16, ..., ..., {"pooled_shape": [3, 16]}, name="shared"),
    # 5·3·2·2 bins of 2·2 samples, 7 + 1 each
    C("RoiAlign", [IMAGE, (5, 4), ("i64", (5,))], 0, 60 * 4 * 8, ..., F * 60, {"output_height": 2,
      "output_width": 2, "sampling_ratio": 2}),
    C("RoiAlign", [IMAGE, (5, 4), ("i64", (5,))], 0, 60 * 8, ..., F * 60, {"output_height": 2,
      "output_width": 2}, name="adaptive"),
    C("NonMaxSuppression", [(1, 10, 4), (1, 2, 10), i64(3)], 0, 2 * 10, ..., ..., outs=[("i64", (6,
      3))]),
    C("Resize", [IMAGE, None, None, i64(1, 3, 16, 16)], 0, 0, ..., F * 768, {"mode": "nearest"},
      name="nearest"),
    C("Resize", [IMAGE, None, None, i64(1, 3, 16, 16)], 0, 7 * 768, ..., F * 768, {"mode": "linear"},
      name="linear"),
    C("Resize", [IMAGE, None, None, i64(1, 3, 16, 16)], 0, 31 * 768, ..., F * 768, {"mode": "cubic"},
      name="cubic"),
    # down: filters of 4 samples, 3 at both ends (14 of the 8 for 4 outputs), along one axis, then the other
    C("Resize", [IMAGE, None, None, i64(1, 3, 4, 4)], 0, 3 * (8 + 4) * (2 * 14 - 4), ..., F * 48, {"mode":
      "linear", "antialias": 1}, name="antialias"),
    C("Resize", [IMAGE, None, None, i64(1, 3, 8, 16)], 0, 3 * 384, ..., F * 384, {"mode": "linear"},
      name="one-axis"),
    C("GridSample", [IMAGE, (1, 5, 5, 2)], 0, 7 * 75, ..., F * 75),
    C("AffineGrid", [(1, 2, 3), i64(1, 1, 4, 4)], 0, 4 * 32, ..., F * 32),
    C("QLinearAveragePool", [("u8", IMAGE), (), ("u8", ()), (), ("u8", ())], 0, 9 * 48, ..., 48,
      {"kernel_shape": [2, 2], "strides": [2, 2]}, outs=[("u8", (1, 3, 4, 4))], domain=MS),
    C("QLinearGlobalAveragePool", [("u8", IMAGE), (), ("u8", ()), (), ("u8", ())], 0, 192, ..., 3,
      outs=[("u8", (1, 3, 1, 1))], domain=MS),
]

_REDUCE = {"ReduceSum": 1, "ReduceMean": 1, "ReduceMax": 1, "ReduceMin": 1, "ReduceProd": 1, "ReduceL1": 2,
           "ReduceL2": 2, "ReduceSumSquare": 2, "ReduceLogSum": 1, "ReduceLogSumExp": 4}  # fmt: skip
REDUCE = [
    *(C(op, [X, i64(-1)], 0, k * 24, F * 24 + 8, F * 6) for op, k in _REDUCE.items()),
    C("ArgMax", [X], 0, 24, F * 24, 8 * 12),
    C("CumSum", [X, i64(0)], 0, 24, F * 24 + 8, F * 24),
    C("TopK", [X, i64(2)], 0, 24, F * 24 + 8, (4 + 8) * 12, n_outs=2),
]

QUANT = [
    C("QuantizeLinear", [X, (), ("u8", ())], 0, 5 * 24, F * 25 + 1, 24),
    C("DequantizeLinear", [("u8", X), (), ("u8", ())], 0, 2 * 24, 24 + 5, F * 24),
    C("DequantizeLinear", [("i8", X), ()], 0, 24, 24 + 4, F * 24, name="no-zero-point"),
    C("DequantizeLinear", [("i4", (3, 5)), ()], 0, 15, 8 + 4, F * 15, name="int4"),  # 15 nibbles in 8 bytes
    C("DynamicQuantizeLinear", [X], 0, 7 * 24, F * 24, 24 + 4 + 1, n_outs=3),
    C("QLinearAdd", [("u8", X), (), ("u8", ()), ("u8", X), (), ("u8", ()), (), ("u8", ())], 0, 10 * 24, ...,
      24, outs=[("u8", X)], domain=MS),
    C("QLinearMul", [("u8", X), (), ("u8", ()), ("u8", X), (), ("u8", ()), (), ("u8", ())], 0, 10 * 24, ...,
      24, outs=[("u8", X)], domain=MS),
    C("QLinearSigmoid", [("u8", X), (), ("u8", ()), (), ("u8", ())], 0, 8 * 24, ..., 24, outs=[("u8", X)],
      domain=MS),
    C("QLinearLeakyRelu", [("u8", X), (), ("u8", ()), (), ("u8", ())], 0, 9 * 24, ..., 24, outs=[("u8", X)],
      domain=MS),
    C("QLinearSoftmax", [("u8", X), (), ("u8", ()), (), ("u8", ())], 0, 12 * 24, ..., 24, {"opset": 13},
      outs=[("u8", X)], domain=MS),
    # 6 rows of 32 nibbles: 96 bytes
    C("GatherBlockQuantized", [("u8", (100, 16)), ("i64", (2, 3)), (100, 1)], 0, 2 * 192, 96 + 48, F * 192,
      {"bits": 4}, outs=[(2, 3, 32)], domain=MS),
]

DATA = [
    C("Reshape", [X, i64(6, 4)], 0, 0, 0, 0),
    C("Squeeze", [(1, 24)], 0, 0, 0, 0),
    C("Unsqueeze", [X, i64(0)], 0, 0, 0, 0),
    C("Flatten", [X], 0, 0, 0, 0),
    C("Identity", [X], 0, 0, 0, 0),
    C("Shape", [X], 0, 0, 0, 0),
    C("Size", [X], 0, 0, 0, 0),
    C("Dropout", [X], 0, 0, 0, 0),
    C("Dropout", [X], 0, 0, 0, 24, n_outs=2, name="mask"),
    C("Dropout", [X, np.array(0.5, np.float32), np.array(True)], 0, 2 * 24, F * 24 + 5, F * 24,
      name="training"),
    C("Transpose", [X], 0, 0, F * 24, F * 24),
    C("Cast", [X], 0, 0, F * 24, 2 * 24, {"to": 10}),
    C("CastLike", [X, ("f16", (7,))], 0, 0, F * 24, 2 * 24),
    C("Concat", [X, (2, 5, 4)], 0, 0, F * 64, F * 64, {"axis": 1}),
    C("Concat", [X, (2, 5, 4), (2, 1, 4)], 0, 0, F * 72, F * 72, {"axis": 1}, name="three"),
    C("Split", [(4, 6)], 0, 0, F * 24, F * 24, {"num_outputs": 2}, n_outs=2),
    C("Pad", [(4, 6), i64(1, 1, 1, 1)], 0, 0, F * 24 + 32, F * 48),
    C("Expand", [(3, 1), i64(3, 5)], 0, 0, F * 3 + 16, F * 15),
    C("Tile", [(3, 2), i64(2, 2)], 0, 0, F * 6 + 16, F * 24),
    C("DepthToSpace", [(1, 4, 2, 2)], 0, 0, F * 16, F * 16, {"blocksize": 2}),
    C("SpaceToDepth", [(1, 1, 4, 4)], 0, 0, F * 16, F * 16, {"blocksize": 2}),
    C("Where", [("bool", X), X, X], 0, 0, 24 + 2 * F * 24, F * 24),
    C("Trilu", [(4, 4)], 0, 0, F * 16, F * 16),
    # 5 rows of 8 out of 1000, not the table
    C("Gather", [(1000, 8), ("i64", (5,))], 0, 0, F * 40 + 40, F * 40),
    C("GatherElements", [(1000, 8), ("i64", (5, 8))], 0, 0, F * 40 + 320, F * 40),
    C("GatherND", [(1000, 8), ("i64", (5, 1))], 0, 0, F * 40 + 40, F * 40),
    C("Slice", [(100, 8), i64(10), i64(20), i64(0)], 0, 0, F * 80 + 24, F * 80),
    C("ScatterND", [(100, 8), ("i64", (5, 1)), (5, 8)], 0, 0, F * 840 + 40, F * 800),
    C("ScatterElements", [(100, 8), ("i64", (5, 8)), (5, 8)], 0, 0, F * 840 + 320, F * 800),
    C("ScatterND", [(100, 8), ("i64", (5, 1)), (5, 8)], 0, 40, F * 840 + 40, F * 800, {"reduction": "add"},
      name="add"),
    C("ScatterElements", [(100, 8), ("i64", (5, 8)), (5, 8)], 0, 40, F * 840 + 320, F * 800,
      {"reduction": "max"}, name="max"),
    C("TensorScatter", [(1, 2, 64, 8), (1, 2, 1, 8), ("i64", (1,))], 0, 0, F * 16 + 8, F * 16),
    C("ConstantOfShape", [i64(3, 4)], 0, 0, 0, F * 12),
    C("EyeLike", [(4, 4)], 0, 0, 0, F * 16),
    C("OneHot", [("i64", (5,)), i64(10).reshape(()), (2,)], 0, 0, 40 + 8 + 8, F * 50),
    C("NonZero", [X], 0, 0, F * 24, ..., outs=[("i64", (3, 7))]),
    C("Col2Im", [(1, 4, 9), i64(4, 4), i64(2, 2)], 0, 36, ..., F * 16),
    C("Reshape", [("batch", 4), i64(-1)], 0, 0, 0, 0, name="symbolic"),
    C("Transpose", [("batch", 4)], 0, 0, None, None, name="symbolic"),
]
GENERATE = [
    C("Range", [i64(0).reshape(()), i64(10).reshape(()), i64(1).reshape(())], 0, 20, 0, 80),
    C("RandomNormal", [], 0, 12, 0, F * 12, {"shape": [3, 4]}),
    C("RandomUniformLike", [(3, 4)], 0, 12, 0, F * 12),
    C("HannWindow", [i64(16).reshape(())], 0, 64, 0, F * 16),
    C("Bernoulli", [X], 0, 48, F * 24, F * 24),
    C("Det", [(3, 4, 4)], 0, 3 * (2 * 64 // 3 + 4), F * 48, F * 3),
    C("Inverse", [(3, 4, 4)], 0, 3 * 2 * 64, F * 48, F * 48, outs=[(3, 4, 4)], domain=MS),
    C("DFT", [(2, 16, 1), None, i64(1).reshape(())], 0, 2 * 5 * 16 * 4 // 2, ..., F * 64, name="real"),
    C("DFT", [(2, 16, 2), None, i64(1).reshape(())], 0, 2 * 5 * 16 * 4, ..., F * 64, name="complex"),
    # 9 frames of 16: (80 - 16)/8 + 1; half of 5·16·4, and the window
    C("STFT", [(1, 80, 1), i64(8).reshape(()), (16,), i64(16).reshape(())], 0, 9 * (160 + 16), ..., F * 9 *
      9 * 2),
    C("Rfft", [(2, 16)], 0, 2 * 160, F * 32, F * 36, {"signal_ndim": 1, "normalized": 0, "onesided": 1},
      outs=[(2, 9, 2)], domain=MS),
]

MLEARN = [
    C("LinearClassifier", [(7, 4)], 7 * 12, 2 * 84 + 7 * 3, F * 28, ..., {"coefficients": [0.1] * 12,
      "intercepts": [0.0] * 3, "classlabels_ints": [0, 1, 2]}, n_outs=2, domain=ML),
    C("LinearRegressor", [(7, 4)], 28, 56 + 7, F * 28, F * 7, {"coefficients": [0.1] * 4, "intercepts":
      [0.0]}, domain=ML, outs=[(7, 1)]),
    C("SVMRegressor", [(7, 4)], 7 * (8 + 2), 2 * 70 + 7 * 2 * 2 + 7 * 8, ..., ..., {"kernel_type": "RBF",
      "support_vectors": [0.5] * 8, "coefficients": [1.0, -1.0], "n_supports": 2, "rho": [0.0]}, domain=ML,
      outs=[(7, 1)]),
    C("Scaler", [(7, 4)], 0, 56, F * 28, F * 28, {"offset": [0.0] * 4, "scale": [1.0] * 4}, domain=ML,
      outs=[(7, 4)]),
    # a tree of 3 nodes: one comparison, one leaf weight
    C("TreeEnsembleRegressor", [(7, 4)], 0, 7 * 2, ..., ..., {"nodes_treeids": [0, 0, 0], "nodes_nodeids":
      [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_values": [0.5, 0.0, 0.0], "nodes_modes":
      ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
      "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0,
      2.0]}, domain=ML, outs=[(7, 1)]),
]

EXPERTS = [
    # 6 tokens × 2 of 4 experts of 8·16 + 16·8 weights; 12 ≥ 4, so all are read
    C("MoE", [(6, 8), (6, 4), (4, 16, 8), None, (4, 8, 16)], 12 * 256, ..., F * (48 + 24 + 1024), F * 48,
      {"k": 2}, outs=[(6, 8)], domain=MS),
    # one token uses one of 4 experts: a quarter of the weights
    C("MoE", [(1, 8), (1, 4), (4, 16, 8), None, (4, 8, 16)], 256, ..., F * (8 + 4 + 256), F * 8, {"k": 1},
      outs=[(1, 8)], domain=MS, name="one-token"),
    C("QMoE", [(6, 8), (6, 4), ("u8", (4, 16, 4)), (4, 16), None, ("u8", (4, 8, 8)), (4, 8)], 12 * 256, ...,
      ..., F * 48, {"k": 2, "expert_weight_bits": 4}, outs=[(6, 8)], domain=MS),
    C("CDist", [(5, 3), (7, 3)], 105, 315, ..., F * 35, outs=[(5, 7)], domain=MS),
]

OPTIMIZERS = [
    C(op, [(), ("i64", ()), X, *[X] * states], 0, k * 24, ..., ..., outs=[X] * states,
      domain="ai.onnx.preview.training", attrs=attrs)
    for op, k, states, attrs in (
        ("Adagrad", 9, 2, {}),
        ("Momentum", 8, 2, {"alpha": 0.9, "beta": 1.0, "mode": "standard", "norm_coefficient": 0.0}),
        ("Adam", 15, 3, {}),
    )
]

CASES = [*CONV, *CONTRIB_LAYERS, *MATMUL, *ATTENTION, *RECURRENT, *ELEMENTWISE, *NORM, *POOL, *REDUCE,
         *QUANT, *DATA,
  *GENERATE,
         *MLEARN, *EXPERTS, *OPTIMIZERS]  # fmt: skip
