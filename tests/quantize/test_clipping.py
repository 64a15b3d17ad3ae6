"""The pairs of weights that can saturate, against the reference with every pair of activations."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from reference_cases import MICROSOFT, S8, U8, U16, codes

from py_autodoc.quantize.clipping import clipping_pairs
from py_autodoc.quantize.reference.operators import ACCUMULATORS
from py_autodoc.quantize.reference.saturation import FACTORS

ONE = np.asarray(1, np.float32)


def model(nodes, constants, inputs=(), outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs],
        [helper.make_tensor_value_info(name, TensorProto.UINT8, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph)


def node_inputs(op_type, data, weight, zeros):
    """Inputs of an operator in its order; scales are 1."""
    x_zero, w_zero, y_zero = zeros
    return {
        "QLinearConv": [data, ONE, x_zero, weight, ONE, w_zero, ONE, y_zero],
        "QLinearMatMul": [data, ONE, x_zero, weight, ONE, w_zero, ONE, y_zero],
        "QGemm": [data, ONE, x_zero, weight, ONE, w_zero, None, ONE, y_zero],
        "ConvInteger": [data, weight, x_zero, w_zero],
        "MatMulInteger": [data, weight, x_zero, w_zero],
        "MatMulIntegerToFloat": [data, weight, ONE, ONE, x_zero, w_zero],
        "DynamicQuantizeMatMul": [data, weight, ONE, w_zero],
    }[op_type]


def activations(count, dtype):
    """[n, count]: two values at the ends of the type, for all pairs and ends; all others are 0."""
    info = np.iinfo(dtype)
    rows = []
    for pair in combinations(range(count), 2):
        for ends in product((info.min, info.max), repeat=2):
            row = np.zeros(count, dtype)
            row[list(pair)] = ends
            rows.append((pair, row))
    return [pair for pair, _ in rows], np.array([row for _, row in rows]).reshape(-1, count)


def saturating(op_type, weight, a_type, attributes, dice):
    """The number of (output, pair of inputs) that the reference saturates for some of their codes."""
    group = attributes.get("group", 1)
    if op_type in ("QLinearConv", "ConvInteger"):
        shape = (weight.shape[1] * group, *weight.shape[2:])
    else:
        shape = (weight.shape[-1] if attributes.get("transB") else weight.shape[-2],)
    pairs, rows = activations(int(np.prod(shape)), a_type)
    if not pairs:
        return 0
    data = rows.reshape(-1, *shape)
    if attributes.get("channels_last"):
        data = np.moveaxis(data, 1, -1)
    if op_type == "DynamicQuantizeMatMul":
        data = data.astype(np.float32)  # 0 to 255, so that its codes are itself
    zeros = [np.asarray(codes(dice, one, ()), one) for one in (a_type, weight.dtype, U8)]
    inputs = node_inputs(op_type, data, weight, zeros)
    found, exact = (ACCUMULATORS[op_type](inputs, attributes, kernel) for kernel in ("pairs", "exact"))
    differs = (found != exact).reshape(len(pairs), -1)  # one position: an output is a filter or a column
    return len(
        {(pair, int(out)) for pair, row in zip(pairs, differs, strict=True) for out in np.flatnonzero(row)}
    )


PRODUCTS = sorted(set(FACTORS) & set(ACCUMULATORS))


@pytest.mark.parametrize("op_type", PRODUCTS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None, database=None)
def test_the_count_is_that_of_the_reference(op_type, seed):
    dice = np.random.default_rng(seed)
    a_type, b_type = (U8, S8) if dice.random() < 0.6 else (dice.choice([U8, S8]), dice.choice([U8, S8]))
    a_type = U8 if op_type == "DynamicQuantizeMatMul" else a_type
    attributes = {}
    if op_type in ("QLinearConv", "ConvInteger"):
        group, per_group = int(dice.choice([1, 1, 2, 3])), int(dice.integers(1, 4))
        filters = group * int(dice.integers(1, 3))
        kernel = dice.integers(1, 3, int(dice.integers(1, 4)))
        weight = codes(dice, b_type, (filters, per_group, *(int(one) for one in kernel)))
        attributes = {"group": group}
        if op_type == "QLinearConv" and dice.random() < 0.2:
            attributes["channels_last"] = 1
        outputs = weight.shape[0]
    else:
        weight = codes(dice, b_type, tuple(int(one) for one in dice.integers(1, 9, 2)))
        if op_type == "QGemm" and dice.random() < 0.5:
            attributes = {"transB": 1}
        outputs = weight.shape[0 if attributes.get("transB") else 1]
    zeros = ["x_zero", "w_zero", "y_zero"]
    names = node_inputs(op_type, "x", "w", zeros)
    names = ["" if one is None else "one" if one is ONE else one for one in names]
    domain = "com.microsoft" if op_type in MICROSOFT or "channels_last" in attributes else ""
    node = helper.make_node(op_type, names, ["y"], name="it", domain=domain, **attributes)
    constants = {"w": weight, "one": ONE, "x_zero": np.zeros((), a_type), "w_zero": np.zeros((), b_type)}
    found = clipping_pairs(model([node], constants))
    assert found.clipping == saturating(op_type, weight, a_type, attributes, dice)
    if found.clipping:
        assert found.pairs == outputs * (weight.size // outputs // 2)
        assert (found.worst_layer, found.worst_share) == ("it", found.share)


@given(st.integers(-128, 127), st.integers(-128, 127))
@settings(max_examples=300, deadline=None, database=None)
def test_signs_matter(first, second):
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    found = clipping_pairs(model([node], {"w": np.array([[first], [second]], S8)}))
    least = 255 * (min(first, 0) + min(second, 0))
    most = 255 * (max(first, 0) + max(second, 0))
    assert (found.pairs, found.clipping) == (1, int(least < -32768 or most > 32767))


def test_all_pairs_of_two_weights():
    ends = np.arange(-128, 128, dtype=np.int8)
    weight = np.stack([np.repeat(ends, 256), np.tile(ends, 256)])
    found = clipping_pairs(model([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], {"w": weight}))
    assert (found.pairs, found.clipping) == (65_536, 16_257)


def linear(name, value_type, source="Q"):
    """Nodes and constants of Q → DQ, or of DQ alone on an input of the model."""
    nodes = [helper.make_node("DequantizeLinear", [f"{name}_q", "s", f"{name}_z"], [f"{name}_f"])]
    if source == "Q":
        nodes.insert(0, helper.make_node("QuantizeLinear", [name, "s", f"{name}_z"], [f"{name}_q"]))
    return nodes, {f"{name}_z": np.zeros((), value_type)}


def between(op_type, a_type, weight, *, after=("QuantizeLinear",), source="Q", **attributes):
    """A float operator between Q and DQ."""
    nodes, constants = linear("x", a_type, source)
    more, zero = linear("w", weight.dtype, "stored")
    constants |= {**zero, "w_q": weight, "s": ONE, "y_z": np.zeros((), U8)}
    nodes += [*more, helper.make_node(op_type, ["x_f", "w_f"], ["f0"], name="it", **attributes)]
    for at, step in enumerate(after):
        names = [f"f{at}", "s", "y_z"] if step == "QuantizeLinear" else [f"f{at}"]
        nodes.append(helper.make_node(step, names, [f"f{at + 1}"]))
    kind = {U8: TensorProto.UINT8, S8: TensorProto.INT8, U16: TensorProto.UINT16}[a_type]
    inputs = [("x", TensorProto.FLOAT)] if source == "Q" else [("x_q", kind)]
    return model(nodes, constants, inputs, (f"f{len(after)}",))


FILTER = np.full((2, 2, 3, 1), 127, S8)
RIGHT = np.full((4, 3), -128, S8)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (between("Conv", U8, FILTER), 6),
        (between("Conv", S8, FILTER), 6),  # rewritten to u8
        (between("Conv", S8, FILTER, source="input"), 0),
        (between("Conv", U8, FILTER, source="input"), 6),
        (between("Conv", U8, FILTER, after=("Relu", "QuantizeLinear")), 6),
        (between("Conv", U8, FILTER, after=()), 0),  # computed in float
        (between("Conv", U8, FILTER, after=("Exp", "QuantizeLinear")), 0),
        (between("Conv", U16, FILTER), 0),
        (between("Conv", U8, FILTER.view(U8)), 0),
        (between("Conv", S8, FILTER.view(U8)), 0),
        (between("Conv", U8, FILTER[:, :1], group=2), 0),
        (between("Conv", U8, np.repeat(FILTER[:, :1], 2, 0), group=2), 4),
        (between("MatMul", U8, RIGHT), 6),
        (between("MatMul", U8, RIGHT, after=()), 6),
        (between("MatMul", S8, RIGHT), 6),
        (between("Gemm", U8, RIGHT, transB=1), 4),
        (between("Gemm", S8, RIGHT, after=(), transB=1), 4),
    ],
)
def test_between_q_and_dq(made, expected):
    assert clipping_pairs(made).clipping == expected


def test_signed_codes_that_two_read_stay_signed():
    made = between("Conv", S8, FILTER)
    made.graph.node.append(helper.make_node("DequantizeLinear", ["x_q", "s", "x_z"], ["again"]))
    assert clipping_pairs(made).clipping == 0


def test_float_products_of_quantized_weights_are_not_counted():
    nodes, constants = linear("w", S8, "stored")
    nodes.append(helper.make_node("MatMul", ["x", "w_f"], ["y"]))
    found = clipping_pairs(model(nodes, {**constants, "w_q": RIGHT, "s": ONE}, [("x", TensorProto.FLOAT)]))
    assert (found.pairs, found.clipping) == (0, 0)


def test_both_matrices_of_a_recurrent_layer():
    names = ["x", "w", "r", "", "", "", "", "", "s", "w_z", "s", "r_z"]
    node = helper.make_node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=2)
    constants = {
        "w": np.full((1, 6, 8), 127, S8),
        "r": np.full((1, 2, 8), 1, S8),
        "w_z": np.zeros(1, S8),
        "r_z": np.zeros(1, S8),
    }
    found = clipping_pairs(model([node], constants))
    assert (found.pairs, found.clipping) == (8 * 3 + 8, 8 * 3)


def test_constant_data_and_computed_weights():
    names = ["a", "s", "a_z", "b", "s", "b_z", "s", "y_z"]
    node = helper.make_node("QLinearMatMul", names, ["y"])
    stored = {"a": np.full((3, 5), 255, U8), "s": ONE, "a_z": np.zeros((), U8), "b_z": np.zeros((), S8)}
    found = clipping_pairs(model([node], stored))
    assert (found.pairs, found.clipping) == (6, 6)


def test_dynamic_codes_are_unsigned():
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["x_q", "x_s", "x_z"]),
        helper.make_node("MatMulInteger", ["x_q", "w", "x_z", "w_z"], ["y"]),
    ]
    made = model(nodes, {"w": RIGHT, "w_z": np.zeros((), S8)}, [("x", TensorProto.FLOAT)])
    assert clipping_pairs(made).clipping == 6
    filters = [helper.make_node("ConvInteger", ["x_q", "k", "x_z", "w_z"], ["y"])]
    made = model([nodes[0], *filters], {"k": FILTER, "w_z": np.zeros((), S8)}, [("x", TensorProto.FLOAT)])
    assert clipping_pairs(made).pairs == 0


def test_weights_of_few_bits_never_saturate():
    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=4, N=3, bits=8)
    assert clipping_pairs(model([node], {"w": np.full((3, 1, 4), 255, U8), "s": ONE})).pairs == 0
