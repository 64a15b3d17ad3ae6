"""Which constants are weights: what reads them decides, whatever prepares them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from costs.harness import MS, analyse, model_with
from py_autodoc.costs.params import ParamTable, count_params

RNG = np.random.default_rng(0)


def const(name: str, *shape: int, dtype: Any = np.float32) -> onnx.TensorProto:
    if np.dtype(dtype).kind == "f":
        return numpy_helper.from_array(RNG.standard_normal(shape).astype(dtype), name)
    return numpy_helper.from_array(RNG.integers(0, 100, shape).astype(dtype), name)


def ints(name: str, *values: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def node(op: str, ins: str, out: str, domain: str = "", **attrs: Any) -> onnx.NodeProto:
    names = ["" if name == "_" else name for name in ins.split()]
    return helper.make_node(op, names, out.split(), name=out, domain=domain, **attrs)


def count(nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto], x: Any = (2, 6, 8)) -> ParamTable:
    inputs = {"x": x} if not isinstance(x, dict) else x
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(k, TensorProto.INT64 if k == "ids" else TensorProto.FLOAT, v)
            for k, v in inputs.items()
        ],
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
        constants,
    )
    done = analyse(model_with(graph, 21))
    assert done.types.contradiction is None
    return count_params(done.model, done.types)


def layer(x: str, out: str) -> tuple[onnx.NodeProto, onnx.TensorProto]:
    """A product with 64 weights."""
    return node("MatMul", f"{x} w_{out}", out), const(f"w_{out}", 8, 8)


# ------------------------------------------------------------------ quantized weights


INT8 = const("q", 8, 8, dtype=np.int8)
SCALE = const("s", 8)


@pytest.mark.parametrize(
    ("nodes", "scales"),
    [
        ([node("Cast", "q", "f", to=1), node("Mul", "f s", "w"), node("MatMul", "x w", "y")], 8),
        ([node("Cast", "q", "f", to=1), node("Mul", "s f", "w"), node("Transpose", "w", "t"),
          node("Gemm", "x2 t", "y")], 8),
        ([node("Cast", "q", "f", to=1), node("MatMul", "x f", "m"), node("Mul", "m s", "y")], 8),
        ([node("Cast", "q", "f", to=1), node("Div", "f s", "w"), node("Slice", "w from to", "c"),
          node("MatMul", "c x2t", "y")], 8),
        ([node("DequantizeLinear", "q s _", "w", axis=1), node("Concat", "w w", "c", axis=1),
          node("MatMul", "x c", "y")], 8),
        ([node("DynamicQuantizeLinear", "x", "a as az"), node("MatMulInteger", "a q az", "i"),
          node("Cast", "i", "f", to=1), node("Mul", "as s", "k"), node("Mul", "f k", "y")], 8),
    ],
)  # fmt: skip
def test_integers_that_are_scaled_or_multiplied_are_weights(nodes, scales):
    every = {t.name: t for t in (INT8, SCALE, ints("from", 0, 0), ints("to", 4, 8))}
    used = {name for n in nodes for name in n.input}
    inputs = {
        name: shape for name, shape in {"x": (2, 6, 8), "x2": (6, 8), "x2t": (8, 6)}.items() if name in used
    }
    table = count(nodes, [t for name, t in every.items() if name in used], inputs)
    assert table.total == 64
    assert table.other_constants["scales"] == scales


def test_nibbles_taken_from_bytes_count_each():
    nodes = [
        node("BitwiseAnd", "q low", "a"),
        node("BitShift", "q four", "b", direction="RIGHT"),
        node("Concat", "a b", "c", axis=0),
        node("Cast", "c", "f", to=1),
        node("Sub", "f z", "d"),
        node("Mul", "d s", "w"),
        node("MatMul", "x w", "y"),
    ]
    constants = [const("q", 4, 8, dtype=np.uint8), const("s", 8), const("z", 8)]
    constants += [numpy_helper.from_array(np.array(v, np.uint8), n) for n, v in (("low", 15), ("four", 4))]
    table = count(nodes, constants)
    assert table.total == 64
    assert table.other_constants["scales"] == 8
    assert table.other_constants["zero_points"] == 8


@pytest.mark.parametrize(
    ("attrs", "bits"),
    [
        ({}, (4, 4, 4)),
        ({"expert_weight_bits": 8}, (8, 8, 8)),
        ({"expert_weight_bits": 2}, (2, 2, 2)),
        ({"expert_weight_bits": 4, "fc2_expert_weight_bits": 8}, (4, 8, 4)),
        ({"expert_weight_bits": 8, "fc1_expert_weight_bits": 2, "fc3_expert_weight_bits": 2}, (2, 8, 2)),
        ({"quant_type": "fp4"}, (4, 4, 4)),
        ({"quant_type": "fp8", "expert_weight_bits": 8}, (8, 8, 8)),
    ],
)
def test_every_projection_of_experts_has_bits_of_its_own(attrs, bits):
    """4 experts of 8 × 16, 16 × 8 and 8 × 16 weights."""
    experts, d, inner = 4, 8, 16
    it = node("QMoE", "x r f1 s1 _ f2 s2 _ f3 s3", "y", MS, k=2, **attrs)
    constants = [
        const("f1", experts, inner, d * bits[0] // 8, dtype=np.uint8), const("s1", experts, inner),
        const("f2", experts, d, inner * bits[1] // 8, dtype=np.uint8), const("s2", experts, d),
        const("f3", experts, inner, d * bits[2] // 8, dtype=np.uint8), const("s3", experts, inner),
    ]  # fmt: skip
    table = count([it], constants, {"x": (6, d), "r": (6, experts)})
    assert table.total == 3 * experts * d * inner
    assert table.other_constants == {"scales": experts * (2 * inner + d)}


def test_fused_products_of_n_bits_hold_their_weights_biases_and_norms():
    mlp = node("MatMulNBitsMlp", "x _ n g gs gb u us ub", "y", MS, K=32, N=64, bits=4, block_size=32,
               activation="silu")  # fmt: skip
    constants = [const("n", 32), const("gb", 64), const("ub", 64)]
    for name in "gu":
        constants += [const(name, 64, 1, 16, dtype=np.uint8), const(name + "s", 64, 1)]
    table = count([mlp], constants, (2, 6, 32))
    assert table.total == 2 * 32 * 64 + 32 + 2 * 64
    assert table.other_constants == {"scales": 128}
    qkv = node(
        "MatMulNBitsQkv",
        "x _ n q qs _ k ks _ v vs _",
        "a b c",
        MS,
        K=32,
        Nq=64,
        Nkv=16,
        bits=4,
        block_size=32,
    )
    constants = [const("n", 32)]
    for name, size in (("q", 64), ("k", 16), ("v", 16)):
        constants += [const(name, size, 1, 16, dtype=np.uint8), const(name + "s", size, 1)]
    assert count([qkv], constants, (2, 6, 32)).total == 32 * (64 + 16 + 16) + 32


def test_integers_that_only_choose_or_compare_are_no_weights():
    nodes = [
        node("Gather", "x i", "g", axis=1),
        node("Cast", "m", "f", to=1),
        node("Add", "g f", "a"),
        node("MatMul", "a w", "y"),
    ]
    constants = [ints("i", *range(6)), const("m", 6, 8, dtype=np.uint8), const("w", 8, 8)]
    assert count(nodes, constants).total == 64


# ------------------------------------------------------------------ what elementwise operators read


def attention(bias: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Four heads of x (2, 4, 6, 8): scores (2, 4, 6, 6), through ``bias`` to ``biased``, softmax, product."""
    return [
        node("Transpose", "x", "k", perm=[0, 1, 3, 2]),
        node("MatMul", "x k", "scores"),
        *bias,
        node("Softmax", "biased", "p", axis=-1),
        node("MatMul", "p x", "o"),
        node("MatMul", "o w", "y"),
    ]


@pytest.mark.parametrize(
    ("bias", "constants", "counted"),
    [
        ([node("Add", "scores m", "biased")], [const("m", 1, 1, 6, 6)], 0),
        ([node("Add", "m scores", "biased")], [const("m", 6, 6)], 0),
        ([node("Mul", "scores t", "a"), node("Add", "a m", "biased")],
         [const("t", 4, 1, 1), const("m", 6)], 4),
        ([node("Mul", "scores t", "a"), node("Add", "a m", "biased")],
         [const("t"), const("m", 2, 1, 1, 6)], 0),
        ([node("Add", "scores m", "biased")], [const("m", 4, 6, 6)], 144),  # learned for each head
        ([node("Add", "scores m", "biased")], [const("m", 1, 4, 6, 6)], 144),
        ([node("Slice", "m from to axes", "c"), node("Add", "scores c", "biased")],
         [const("m", 1, 1, 512, 512), ints("from", 0, 0), ints("to", 6, 6), ints("axes", 2, 3)], 0),
        ([node("Sub", "one m", "c"), node("Mul", "c far", "d"), node("Add", "scores d", "biased")],
         [const("m", 1, 1, 6, 6), const("one"), const("far")], 0),
    ],
)  # fmt: skip
def test_constants_on_scores_are_masks_unless_each_head_has_its_own(bias, constants, counted):
    table = count(attention(bias), [*constants, const("w", 8, 8)], (2, 4, 6, 8))
    assert table.total == 64 + counted


@pytest.mark.parametrize("gathered", [False, True])
def test_cosines_and_sines_of_a_rotation_are_tables(gathered):
    """x·cos + (−b, a)·sin, with tables as they are or chosen by positions."""
    nodes = [
        node("Split", "x", "a b", axis=-1, num_outputs=2),
        node("Neg", "b", "n"),
        node("Concat", "n a", "r", axis=-1),
    ]
    cos, sin = "cos", "sin"
    inputs = {"x": (2, 6, 8)}
    if gathered:
        nodes += [node("Gather", "cos ids", "c"), node("Gather", "sin ids", "s")]
        cos, sin = "c", "s"
        inputs["ids"] = (6,)
    nodes += [
        node("Mul", f"x {cos}", "m"),
        node("Mul", f"r {sin}", "o"),
        node("Add", "m o", "z"),
        node("MatMul", "z w", "y"),
    ]
    rows = 512 if gathered else 6
    table = count(nodes, [const("cos", rows, 8), const("sin", rows, 8), const("w", 8, 8)], inputs)
    assert table.total == 64
    assert table.other_constants["tables"] == 2 * rows * 8


def test_a_rotary_operator_owns_no_weights():
    it = node("RotaryEmbedding", "x ids cos sin", "r", MS)
    last, weight = layer("r", "y")
    table = count(
        [it, last], [const("cos", 64, 4), const("sin", 64, 4), weight], {"x": (2, 6, 8), "ids": (2, 6)}
    )
    assert table.total == 64


@pytest.mark.parametrize(
    ("op", "constant", "counted"),
    [
        ("Add", const("c", 8), 8),  # a bias
        ("Mul", const("c", 8), 8),  # a scale for each channel
        ("Div", const("c", 8), 8),
        ("Sub", const("c", 1, 1, 8), 8),
        ("Add", const("c", 6, 8), 48),  # learned positions
        ("Add", const("c", 1, 6, 8), 48),
        ("Mul", const("c", 6, 8), 48),  # a scale over several axes, such as of LayerNorm over an image
        ("Add", const("c"), 0),  # an epsilon
        ("Mul", const("c", 1), 0),
        ("Div", const("c", 1, 1), 0),
        ("Pow", const("c", 8), 0),
        ("Max", const("c", 8), 0),
    ],
)
def test_biases_scales_and_positions_are_weights_and_single_numbers_are_not(op, constant, counted):
    (first, a), (last, b) = layer("x", "h"), layer("e", "y")
    table = count([first, node(op, "h c", "e"), last], [constant, a, b])
    assert table.total == 128 + counted


def test_the_bias_of_a_layer_of_width_one_is_a_weight():
    table = count([node("MatMul", "x w", "m"), node("Add", "m b", "y")], [const("w", 8, 1), const("b", 1)])
    assert table.total == 9


def test_anchors_and_strides_past_the_last_layer_are_tables():
    first, weight = layer("x", "h")
    nodes = [first, node("Add", "h b", "i"), node("Sub", "grid i", "s"), node("Mul", "s stride", "y")]
    table = count(nodes, [weight, const("b", 8), const("grid", 6, 8), const("stride", 6, 1)])
    assert table.total == 72
    assert table.other_constants == {"tables": 54}


def test_the_scale_of_the_last_norm_is_a_weight():
    (first, weight) = layer("x", "h")
    nodes = [
        first,
        node("ReduceL2", "h", "l", keepdims=1),
        node("Div", "h l", "n"),
        node("Mul", "g n", "y"),
    ]
    assert count(nodes, [weight, const("g", 8)]).total == 72


def test_means_of_an_image_are_tables():
    nodes = [node("Sub", "x mean", "a"), node("Div", "a std", "b"), node("Conv", "b w", "y")]
    constants = [const("mean", 1, 3, 1, 1), const("std", 3, 1, 1), const("w", 4, 3, 3, 3)]
    assert count(nodes, constants, (1, 3, 8, 8)).total == 108


def test_frequencies_that_positions_are_multiplied_by_are_tables():
    nodes = [node("Cast", "ids", "f", to=1), node("MatMul", "inv f", "a"), node("Cos", "a", "y")]
    table = count(nodes, [const("inv", 1, 4, 1)], {"ids": (1, 1, 6)})
    assert (table.total, table.other_constants) == (0, {"tables": 4})
    one_hot = [node("Cast", "ids", "f", to=1), node("MatMul", "f w", "y")]
    assert count(one_hot, [const("w", 6, 8)], {"ids": (2, 6)}).total == 48


def test_a_unit_matrix_is_a_pattern():
    eye = numpy_helper.from_array(np.eye(6, dtype=np.float32), "eye")
    nodes = [
        node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t", "m"), node("Sub", "eye m", "a"),
        node("MatMul", "a x", "b"), node("MatMul", "b w", "y"),
    ]  # fmt: skip
    table = count(nodes, [eye, const("w", 8, 8)])
    assert (table.total, table.other_constants) == (64, {"masks": 36})


def test_settings_of_operators_are_no_weights():
    nodes = [
        node("Clip", "x low high", "c"),
        node("Resize", "c _ scales", "r", mode="nearest"),
        node("Pad", "r pads value", "p"),
        node("MatMul", "p w", "m"),
        node("NonMaxSuppression", "m m most iou score", "y"),
    ]
    constants = [
        const("low"), const("high"), numpy_helper.from_array(np.ones(3, np.float32), "scales"),
        ints("pads", *[0] * 6), const("value"), const("w", 8, 8), ints("most", 5), const("iou", 1),
        const("score", 1),
    ]  # fmt: skip
    table = count(nodes, constants)
    assert table.total == 64
    assert table.other_constants["settings"] == 8


def test_initial_states_are_no_weights_and_tokens_are():
    lstm = node("LSTM", "x w r b _ h c", "o", hidden_size=8)
    constants = [
        const("w", 1, 32, 8),
        const("r", 1, 32, 8),
        const("b", 1, 64),
        const("h", 1, 6, 8),
        const("c", 1, 6, 8),
    ]
    assert count([lstm], constants).total == 2 * 256 + 64
    last, weight = layer("t", "y")
    nodes = [node("Expand", "cls shape", "e"), node("Concat", "e x", "t", axis=1), last]
    assert count(nodes, [const("cls", 1, 1, 8), ints("shape", 2, 1, 8), weight]).total == 72


def test_what_an_unknown_operator_reads_is_open_and_counts():
    it = node("Thing", "x w", "y", "somewhere")
    assert count([it], [const("w", 8, 8)]).total == 64


def test_a_weight_to_one_reader_is_a_weight():
    last, weight = layer("x", "h")
    nodes = [last, node("Max", "h w_h2", "y")]
    weight.name = "w_h"
    assert count([*nodes], [weight, const("w_h2", 8)]).total == 64
    tied = [node("MatMul", "x w", "a"), node("Pow", "a w", "y")]
    assert count(tied, [const("w", 8, 8)], (8, 8)).total == 64


def test_the_count_does_not_depend_on_the_sizes_of_the_inputs():
    last, weight = layer("e", "y")
    nodes = [node("Add", "x pos", "e"), last]
    totals = set()
    for shape in ((2, 6, 8), (1, 6, 8), ("n", "s", 8), (None, None, None)):
        totals.add(count(nodes, [const("pos", 1, 6, 8), weight], shape).total)
    assert totals == {64 + 48}


# ------------------------------------------------------------------ temperatures and front ends


def towers(end: list[onnx.NodeProto], *constants: onnx.TensorProto) -> ParamTable:
    """Two layers of 64 weights, whose results are compared: ``scores``."""
    a, b = layer("x", "a"), layer("y", "b")
    nodes = [a[0], b[0], node("Transpose", "b", "t", perm=[1, 0]), node("MatMul", "a t", "scores"), *end]
    return count(nodes, [a[1], b[1], *constants], {"x": (2, 8), "y": (3, 8)})


ONE = numpy_helper.from_array(np.float32(2.6), "scale")


@pytest.mark.parametrize(
    ("end", "params"),
    [
        ([node("Mul", "scores scale", "z")], 129),
        ([node("Exp", "scale", "e"), node("Mul", "e scores", "z")], 129),
        ([node("Mul", "scores scale", "m"), node("Add", "m offset", "z")], 130),
        ([node("Div", "scores scale", "m"), node("Transpose", "m", "z")], 129),
        ([node("Mul", "scores scale", "m"), node("Softmax", "m", "s"), node("MatMul", "s b", "z")], 128),
        ([node("Pow", "scores scale", "z")], 128),
        ([node("Max", "scores scale", "z")], 128),
    ],
)
def test_a_temperature_of_two_towers_is_trained(end, params):
    """CLIP's logit_scale and SigLIP's bias; not the scale of an attention, an exponent or a bound."""
    offset = numpy_helper.from_array(np.float32(-10), "offset")
    needed = {name for one in end for name in one.input}
    assert towers(end, *[t for t in (ONE, offset) if t.name in needed]).total == params


def test_a_scale_before_the_product_is_one_too():
    a, b = layer("x", "a"), layer("y", "b")
    nodes = [a[0], b[0], node("Mul", "a scale", "m"), node("Transpose", "b", "t", perm=[1, 0])]
    nodes.append(node("MatMul", "m t", "z"))
    assert count(nodes, [a[1], b[1], ONE], {"x": (2, 8), "y": (3, 8)}).total == 129


def spectrum(how: str, last: str = "Log", between: str = "") -> ParamTable:
    """Samples → power of a Fourier transform → bands → logarithm → a layer of 4 × 4 weights."""
    constants = [const("mel", 9, 4), const("w", 4, 4)]
    nodes = []
    if how == "convolution":
        constants += [const("re", 9, 1, 16), const("im", 9, 1, 16)]
        for part in ("re", "im"):
            nodes += [node("Conv", f"x {part}", f"c_{part}", strides=[8])]
            nodes += [node("Mul", f"c_{part} c_{part}", f"s_{part}")]
        nodes += [node("Add", "s_re s_im", "power"), node("Transpose", "power", "frames", perm=[0, 2, 1])]
    else:
        constants += [ints("hop", 8), ints("size", 16), ints("last", -1), ints("squeeze", 1)]
        constants[-4] = numpy_helper.from_array(np.int64(8), "hop")
        constants[-3] = numpy_helper.from_array(np.int64(16), "size")
        nodes += [node("Squeeze", "x squeeze", "flat"), node("STFT", "flat hop _ size", "f")]
        nodes += [node("ReduceSumSquare", "f last", "frames", keepdims=0)]
    x = "frames"
    if between:
        nodes.append(node(between, x, "between"))
        x = "between"
    nodes += [node("MatMul", f"{x} mel", "bands"), node(last, "bands", "l"), node("MatMul", "l w", "z")]
    return count(nodes, constants, {"x": (1, 1, 64)})


@pytest.mark.parametrize("how", ["convolution", "STFT"])
def test_filters_of_a_spectrum_are_tables(how):
    table = spectrum(how)
    assert table.total == 16 + (0 if how == "STFT" else 2 * 9 * 16)  # a basis may be trained
    assert table.other_constants["tables"] == 36


@pytest.mark.parametrize("how", ["convolution", "STFT"])
@pytest.mark.parametrize(("last", "between"), [("Relu", ""), ("Log", "Relu"), ("Log", "Sigmoid")])
def test_layers_on_a_spectrum_are_trained(how, last, between):
    """Without a logarithm, or past an activation, the products may be layers."""
    assert spectrum(how, last, between).total == 16 + (36 if how == "STFT" else 36 + 2 * 9 * 16)
