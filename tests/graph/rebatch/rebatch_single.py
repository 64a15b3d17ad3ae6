"""One operator a model: what a rule lets through is proved by running it, where ONNX Runtime's CPU has it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto
from rebatch_cases import MS, Maker

I8, U8, I32, F16, BOOL = (getattr(TensorProto, n) for n in ("INT8", "UINT8", "INT32", "FLOAT16", "BOOL"))
ML = "ai.onnx.ml"
Case = Callable[[Maker], str | list[str]]
SINGLE: dict[str, tuple[int, Case]] = {}
"""Name → (opset, maker of the nodes)."""


def case(*names: str, opset: int = 21) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        SINGLE[names[0] if names else fn.__name__] = (opset, fn)
        return fn

    return add


def made(name: str) -> onnx.ModelProto:
    opset, fn = SINGLE[name]
    m = Maker(opset, 10)
    ends = fn(m)
    ends = ends if isinstance(ends, list) else [ends]
    model = m.done(*ends, shapes=[[1]] * len(ends))
    for info in model.graph.output:  # no shapes: ONNX Runtime finds them itself
        info.type.tensor_type.ClearField("shape")
        info.type.ClearField("tensor_type")
    model.opset_import.append(onnx.helper.make_opsetid(ML, 3))
    return model


UNARY = (
    "Asinh", "Atan", "Ceil", "Celu", "Cosh", "Elu", "Erf", "Floor", "HardSwish", "LeakyRelu", "LogSoftmax",
    "Hardmax", "Mish", "Round", "Selu", "Shrink", "Sign", "Sinh", "Softsign", "Tan", "ThresholdedRelu",
)  # fmt: skip


@case("elements", opset=22)
def elements(m):
    x = m.x("x", 1, 3, 4)
    return [m(kind, x) for kind in UNARY]


@case("angles")
def angles(m):
    low = m("Tanh", m.x("x", 1, 3, 4))
    high = m("Add", m("Abs", low), m.c(np.float32(1.5)))
    return [m("Acos", low), m("Asin", low), m("Atanh", low), m("Acosh", high)]


@case("whole_numbers")
def whole_numbers(m):
    x, y = m.x("x", 1, 3, 4, dtype=I32), m.x("y", 1, 3, 4, dtype=I32)
    kinds = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "GreaterOrEqual", "LessOrEqual")
    return [*(m(kind, x, y) for kind in kinds), m("BitwiseNot", x)]


@case("truth")
def truth(m):
    x = m.x("x", 1, 3, 4)
    a, b = m("Greater", x, m.c(np.float32(0))), m("IsNaN", m("Sqrt", x))
    return [m("Or", a, b), m("Xor", a, b), m("IsInf", m("Log", m("Relu", x)))]


@case("joined_elements")
def joined_elements(m):
    x, y = m.x("x", 1, 3, 4), m.x("y", 1, 3, 4)
    return [m("Mean", x, y, m.w(4)), m("PRelu", x, m.w(3, 1)), m("CastLike", x, y)]


@case("reduced", opset=18)
def reduced(m):
    x, axes = m("Abs", m.x("x", 1, 3, 4)), m.c([2])
    kinds = ("L1", "L2", "LogSum", "LogSumExp", "Prod", "SumSquare")
    return [*(m(f"Reduce{kind}", x, axes) for kind in kinds), m("ArgMin", x, axis=1)]


@case("along_an_axis")
def along_an_axis(m):
    x = m.x("x", 1, 3, 4)
    return [m("LpNormalization", x, axis=1), m("MeanVarianceNormalization", m.x("y", 1, 3, 4), axes=[1, 2])]


@case("matrices")
def matrices(m):
    x = m.x("x", 1, 4, 4)
    return [m("Det", x), m("Trilu", x), m("Inverse", x, domain=MS), m("Trilu", x, domain=MS)]


@case("pictures")
def pictures(m):
    x = m.x("x", 1, 4, 6, 6)
    return [
        m("GlobalLpPool", x), m("LpPool", x, kernel_shape=[2, 2]), m("DepthToSpace", x, blocksize=2),
        m("SpaceToDepth", x, blocksize=2), m("InstanceNormalization", x, m.w(4), m.w(4)),
        m("GroupNormalization", x, m.w(4), m.w(4), num_groups=2),
    ]  # fmt: skip


@case("columns_to_image", opset=18)
def columns_to_image(m):
    return m("Col2Im", m.x("x", 1, 8, 9), m.c([4, 4]), m.c([2, 2]))


@case("upsampled", opset=9)
def upsampled(m):
    return m("Upsample", m.x("x", 1, 2, 3, 3), m.c(np.array([1, 1, 2, 2], np.float32)))


@case("deformed", opset=19)
def deformed(m):
    x, offsets = m.x("x", 1, 2, 5, 5), m.x("o", 1, 18, 3, 3)
    return [m("DeformConv", x, m.w(4, 2, 3, 3), offsets, m.w(4), m.x("k", 1, 9, 3, 3))]


@case("deformed_alike", opset=19)
def deformed_alike(m):
    """Offsets that are stored are those of every picture."""
    return m("DeformConv", m.x("x", 1, 2, 5, 5), m.w(4, 2, 3, 3), m.w(1, 18, 3, 3))


@case("sampled", opset=20)
def sampled(m):
    x, grid = m.x("x", 1, 2, 5, 5), m("Tanh", m.x("g", 1, 3, 4, 2))
    return [m("GridSample", x, grid), m("GridSample", x, grid, domain=MS)]


@case("frames", opset=17)
def frames(m):
    return m("STFT", m.x("x", 1, 32, 1), m.c(8), m.w(16), m.c(16))


@case("frequencies", opset=17)
def frequencies(m):
    return m("DFT", m.x("x", 1, 8, 2, 1), axis=1)


@case("places", opset=18)
def places(m):
    x = m.x("x", 1, 3, 4)
    index = m("Mod", m("Abs", m.x("i", 1, 2, 4, dtype=TensorProto.INT64)), m.c(3))
    hot = m("OneHot", m("ArgMax", x, axis=1, keepdims=0), m.c(3), m.c(np.array([0.0, 1.0], np.float32)))
    turned = m("ReverseSequence", x, m.c([3]), batch_axis=0, time_axis=1)
    return [m("ScatterElements", x, index, m.x("u", 1, 2, 4), axis=1, reduction="add"), hot, turned]


@case("steps")
def steps(m):
    x = m.x("x", 3, 1, 4)
    return m("RNN", x, m.w(1, 5, 4), m.w(1, 5, 5), m.w(1, 10), hidden_size=5, outputs=2)


@case("normalized", opset=23)
def normalized(m):
    return m("RMSNormalization", m.x("x", 1, 3, 4), m.w(4))


@case("flattened")
def flattened(m):
    return m("Flatten", m.x("x", 1, 3, 4), axis=2)


@case("rotated", opset=23)
def rotated(m):
    return m("RotaryEmbedding", m.x("x", 1, 2, 3, 8), m.w(1, 3, 4), m.w(1, 3, 4))


@case("rotated_by_position", opset=23)
def rotated_by_position(m):
    spots = m.x("p", 1, 3, dtype=TensorProto.INT64)
    return m("RotaryEmbedding", m.x("x", 1, 2, 3, 8), m.w(32, 4), m.w(32, 4), spots)


@case("ms_rotated")
def ms_rotated(m):
    spots = m.x("p", 1, 3, dtype=TensorProto.INT64)
    return m("RotaryEmbedding", m.x("x", 1, 2, 3, 8), spots, m.w(32, 4), m.w(32, 4), domain=MS)


# Attention and experts of ONNX Runtime


def _grouped(m: Maker, past: int, new: int) -> list[str]:
    q, k, v = m.x("q", 1, new, 32), m.x("k", 1, new, 16), m.x("v", 1, new, 16)
    cache = [m.x("pk", 1, 2, past, 8), m.x("pv", 1, 2, past, 8)]
    seen = m.c(np.array([past + new - 1], np.int32), np.int32)
    total = m.c(np.array(past + new, np.int32), np.int32)
    made: list[str] = m(
        "GroupQueryAttention", q, k, v, *cache, seen, total, outputs=3, domain=MS, num_heads=4, kv_num_heads=2
    )
    return made


@case("grouped_with_a_full_cache")
def grouped_with_a_full_cache(m):
    """One token after five."""
    return _grouped(m, 5, 1)


@case("grouped_with_rotation")
def grouped_with_rotation(m):
    q, k, v = m.x("q", 1, 1, 64), m.x("k", 1, 1, 32), m.x("v", 1, 1, 32)
    cache = [m.x("pk", 1, 2, 5, 16), m.x("pv", 1, 2, 5, 16)]
    seen, total = m.c(np.array([5], np.int32), np.int32), m.c(np.array(6, np.int32), np.int32)
    tables = [m.w(16, 8), m.w(16, 8)]
    return m(
        "GroupQueryAttention", q, k, v, *cache, seen, total, *tables, outputs=3, domain=MS, num_heads=4,
        kv_num_heads=2, do_rotary=1,
    )  # fmt: skip


@case("multi_head_with_a_cache")
def multi_head_with_a_cache(m):
    q, k, v = m.x("q", 1, 1, 8), m.x("k", 1, 1, 8), m.x("v", 1, 1, 8)
    cache = [m.x("pk", 1, 2, 4, 4), m.x("pv", 1, 2, 4, 4)]
    return m(
        "MultiHeadAttention", q, k, v, "", "", m.x("bias", 1, 2, 1, 5), *cache, outputs=3, domain=MS,
        num_heads=2,
    )  # fmt: skip


@case("packed_with_a_cache")
def packed_with_a_cache(m):
    x, past = m.x("x", 1, 1, 8), m.x("past", 2, 1, 2, 4, 4)
    return m(
        "Attention", x, m.w(8, 24), m.w(24), "", past, outputs=2, domain=MS, num_heads=2, unidirectional=1
    )


@case("quantized_attention")
def quantized_attention(m):
    x, random = m.x("x", 1, 4, 8, dtype=U8), np.random.default_rng(1)
    weight = m.c(random.integers(-20, 20, (8, 24)).astype(np.int8), np.int8)
    scale, zero = m.c(np.float32(0.02)), m.c(np.uint8(10), np.uint8)
    mask = m.x("mask", 1, 4, dtype=I32)
    return m(
        "QAttention", x, weight, m.w(24), scale, scale, mask, zero, m.c(np.int8(0), np.int8), domain=MS,
        num_heads=2,
    )  # fmt: skip


@case("quantized_attention_with_a_cache")
def quantized_attention_with_a_cache(m):
    x, random = m.x("x", 1, 1, 8, dtype=U8), np.random.default_rng(1)
    weight = m.c(random.integers(-20, 20, (8, 24)).astype(np.int8), np.int8)
    scale, zero = m.c(np.float32(0.02)), m.c(np.uint8(10), np.uint8)
    past = m.x("past", 2, 1, 2, 3, 4)
    return m(
        "QAttention", x, weight, m.w(24), scale, scale, "", zero, m.c(np.int8(0), np.int8), past, outputs=2,
        domain=MS, num_heads=2, unidirectional=1,
    )  # fmt: skip


def _routed(m: Maker, shape: tuple[int, ...]) -> tuple[str, str]:
    """Tokens, and which experts they go to."""
    x = m.x("x", *shape)
    flat = x if len(shape) == 2 else m("Reshape", x, m.c([-1, shape[-1]]))
    return x, m("MatMul", flat, m.w(shape[-1], 4))


@case("experts")
def experts(m):
    x, routes = _routed(m, (1, 3, 8))
    return m("MoE", x, routes, m.w(4, 16, 8), m.w(4, 16), m.w(4, 8, 16), m.w(4, 8), domain=MS, k=2)


@case("experts_of_rows")
def experts_of_rows(m):
    x, routes = _routed(m, (1, 8))
    return m("MoE", x, routes, m.w(4, 16, 8), m.w(4, 16), m.w(4, 8, 16), m.w(4, 8), domain=MS, k=1)


@case("quantized_experts")
def quantized_experts(m):
    x, routes = _routed(m, (1, 3, 32))
    random = np.random.default_rng(1)

    def stored(*shape: int) -> str:
        return m.c(random.integers(0, 255, shape).astype(np.uint8), np.uint8)

    return m(
        "QMoE", x, routes, stored(4, 64, 16), m("Abs", m.w(4, 64)), m.w(4, 64), stored(4, 32, 32),
        m("Abs", m.w(4, 32)), m.w(4, 32), domain=MS, k=2, expert_weight_bits=4,
    )  # fmt: skip


# Others of ONNX Runtime


@case("gelus")
def gelus(m):
    x = m.x("x", 1, 3, 8)
    return [
        m("FastGelu", x, m.w(8), domain=MS), m("Gelu", x, domain=MS), m("QuickGelu", x, domain=MS),
        m("SkipSimplifiedLayerNormalization", x, m.x("y", 1, 3, 8), m.w(8), domain=MS),
    ]  # fmt: skip


@case("fused")
def fused(m):
    x = m.x("x", 1, 2, 5, 5)
    conv = m("FusedConv", x, m.w(3, 2, 3, 3), m.w(3), m.x("z", 1, 3, 3, 3), domain=MS, activation="Relu")
    return [conv, m("FusedGemm", m.x("y", 1, 4), m.w(4, 3), m.w(3), domain=MS, activation="Relu")]


@case("embedded")
def embedded(m):
    ids, kinds = m.x("ids", 1, 5, dtype=I32), m.x("segment", 1, 5, dtype=I32)
    tables = [m.w(20, 8), m.w(16, 8), m.w(2, 8), m.w(8), m.w(8)]
    return m(
        "EmbedLayerNormalization", ids, kinds, *tables, m.x("mask", 1, 5, dtype=I32), outputs=2, domain=MS
    )


def _quantized(m: Maker, name: str, *shape: int) -> tuple[str, str, str]:
    return m.x(name, *shape, dtype=U8), m.c(np.float32(0.05)), m.c(np.uint8(8), np.uint8)


@case("quantized_elements")
def quantized_elements(m):
    a, b, scales = _quantized(m, "x", 1, 3, 4), _quantized(m, "y", 1, 3, 4), _quantized(m, "z", 1, 3, 4)[1:]
    kinds = ("QLinearAdd", "QLinearMul")
    two = [m(kind, *a, *b, *scales, domain=MS) for kind in kinds]
    one = [m("QLinearSigmoid", *a, *scales, domain=MS), m("QLinearLeakyRelu", *a, *scales, domain=MS)]
    soft = m("QLinearSoftmax", *a, *scales, domain=MS, axis=-1, opset=13)
    return [*two, *one, soft, m("QLinearConcat", *scales, *a, *b, domain=MS, axis=2)]


@case("quantized_pictures")
def quantized_pictures(m):
    x = _quantized(m, "x", 1, 2, 5, 5)
    random, scales = np.random.default_rng(1), (m.c(np.float32(0.1)), m.c(np.uint8(3), np.uint8))
    weight = m.c(random.integers(0, 20, (3, 2, 3, 3)).astype(np.uint8), np.uint8)
    flat = m.c(random.integers(0, 20, (5, 4)).astype(np.uint8), np.uint8)
    return [
        m("QLinearConv", *x, weight, *scales, *scales), m("QLinearMatMul", *x, flat, *scales, *scales),
        m("ConvInteger", x[0], weight, x[2], scales[1]), m("MatMulInteger", x[0], flat, x[2], scales[1]),
        m("QLinearGlobalAveragePool", *x, *scales, domain=MS, channels_last=0),
        m("QLinearAveragePool", *x, *scales, domain=MS, kernel_shape=[2, 2]),
        m("MatMulIntegerToFloat", x[0], flat, x[1], scales[0], x[2], scales[1], domain=MS),
    ]  # fmt: skip


@case("quantized_rows")
def quantized_rows(m):
    x, random = _quantized(m, "x", 1, 6), np.random.default_rng(1)
    weight = m.c(random.integers(0, 20, (6, 4)).astype(np.uint8), np.uint8)
    scales = m.c(np.float32(0.1)), m.c(np.uint8(3), np.uint8)
    return m("QGemm", *x, weight, *scales, domain=MS)


@case("four_bits")
def four_bits(m):
    random = np.random.default_rng(1)
    packed = m.c(random.integers(0, 255, (8, 2, 8)).astype(np.uint8), np.uint8)
    x = m.x("x", 1, 3, 32)
    return m("MatMulNBits", x, packed, m.w(16), domain=MS, K=32, N=8, bits=4, block_size=16)


@case("rows_of_four_bits")
def rows_of_four_bits(m):
    random = np.random.default_rng(1)
    packed = m.c(random.integers(0, 255, (20, 16)).astype(np.uint8), np.uint8)
    ids = m.x("ids", 1, 5, dtype=TensorProto.INT64)
    return m("GatherBlockQuantized", packed, ids, m.w(20, 2), domain=MS, bits=4, block_size=16)


# Classical machine learning


@case("classical")
def classical(m):
    x = m.x("x", 1, 4)
    scaled = m("Scaler", x, domain=ML, offset=[0.1, 0.2, 0.3, 0.4], scale=[1.0, 2.0, 3.0, 4.0])
    line = m("LinearRegressor", scaled, domain=ML, coefficients=[0.1] * 8, intercepts=[0.5, 0.6], targets=2)
    label = m(
        "LinearClassifier", x, domain=ML, outputs=2, coefficients=[0.3, -0.2, 0.1, 0.4, -0.3, 0.2, -0.1, 0.5],
        intercepts=[0.0, 0.1], classlabels_ints=[0, 1],
    )  # fmt: skip
    tree = m(
        "TreeEnsembleRegressor", x, domain=ML, n_targets=1, nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2],
        nodes_featureids=[1, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.1, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0],
        target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0],
    )  # fmt: skip
    return [
        line, *label, tree, m("Normalizer", x, domain=ML, norm="L2"),
        m("Binarizer", x, domain=ML, threshold=0.1),
        m("Imputer", x, domain=ML, imputed_value_floats=[0.5] * 4, replaced_value_float=0.0),
    ]  # fmt: skip
