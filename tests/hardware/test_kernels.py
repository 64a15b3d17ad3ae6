"""What a fusing runtime runs as one."""

import numpy as np
import pytest
from graphs import Graph, convnet, transformer
from onnx import TensorProto, helper

from py_autodoc.report.pipeline.analysis import run_analysis

DATA = "tests/data"


def kernels(model, options=None):
    """(kind, operators, reads, writes) of each kernel."""
    analysis = run_analysis(model, options)
    found, nodes, tensors = analysis.kernels, analysis.model.nodes, analysis.model.tensors
    assert sorted(n for members in found.members for n in members) == [
        n for n, kernel in enumerate(found.node) if kernel >= 0
    ]
    rows = []
    for kernel, members in enumerate(found.members):
        assert found.node[found.anchor[kernel]] == kernel
        rows.append(
            (
                found.kind[kernel],
                [nodes[n].op_type for n in sorted(members)],
                {tensors[t].name for t in found.reads[kernel]},
                {tensors[t].name for t in found.writes[kernel]},
            )
        )
    return rows


def ops(model, options=None):
    return [(kind, names) for kind, names, _, _ in kernels(model, options)]


def test_a_convolution_takes_what_follows_it():
    g = Graph(x=[1, 8, 16, 16])
    first = g.op("Relu", g.batch_norm(g.conv("x", 8, 8), 8))
    g.op("Clip", g.op("Add", g.batch_norm(g.conv(first, 8, 8), 8), "x"), g.scalar(0.0), g.scalar(6.0))
    rows = kernels(g.model())
    assert [(kind, names) for kind, names, _, _ in rows] == [
        (2, ["Conv", "BatchNormalization", "Relu"]),
        (2, ["Conv", "BatchNormalization", "Add", "Clip"]),
    ]
    assert {"x", first} <= rows[1][2]
    assert [len(writes) for *_, writes in rows] == [1, 1]


@pytest.mark.parametrize(
    "activation",
    [
        lambda g, y: g.gelu(y),
        lambda g, y: g.op("Mul", y, g.op("Sigmoid", y)),
        lambda g, y: g.op("Mul", y, g.op("Tanh", g.op("Softplus", y))),
        lambda g, y: g.op("Gelu", y),
        lambda g, y: g.op("HardSwish", y),
    ],
)
def test_a_product_takes_its_bias_and_activation(activation):
    g = Graph(x=[4, 7, 32])
    activation(g, g.linear("x", 32, 64))
    (row,) = kernels(g.model())
    assert row[0] == 1
    assert len(row[3]) == 1


def test_a_product_behind_a_reshape_takes_its_bias():
    g = Graph(x=[4, 7, 32])
    flat = g.op("MatMul", g.op("Reshape", "x", g.ints(28, 32)), g.weight(32, 64))
    g.op("Add", g.op("Reshape", flat, g.ints(4, 7, 64)), g.weight(64))
    ((kind, names, reads, _),) = kernels(g.model())
    assert (kind, names) == (1, ["MatMul", "Add"])
    assert "x" in reads


def test_a_sum_of_another_size_is_a_kernel_of_its_own():
    g = Graph(x=[1, 32], y=[16, 32])
    g.op("Add", g.op("MatMul", "x", g.weight(32, 32)), "y")
    assert ops(g.model()) == [(1, ["MatMul"]), (0, ["Add"])]


def test_products_of_one_tensor_run_side_by_side():
    g = Graph(x=[4, 32], y=[4, 32])
    a, b, c = g.linear("x", 32, 32), g.linear("x", 32, 8), g.linear("y", 32, 8)
    rows = kernels(g.model(a, b, c))
    assert [(kind, names) for kind, names, _, _ in rows] == [
        (1, ["MatMul", "Add", "MatMul", "Add"]),
        (1, ["MatMul", "Add"]),
    ]
    assert rows[0][3] == {a, b}


def test_written_out_norms_are_one_kernel_each():
    g = Graph(x=[4, 32])
    g.layer_norm(g.layer_norm("x", 32), 32)
    found = ops(g.model())
    assert [kind for kind, _ in found] == [0, 0]
    assert [names.count("ReduceMean") for _, names in found] == [2, 2]


def test_a_written_out_softmax_is_one_kernel():
    g = Graph(x=[4, 32])
    axes = g.ints(-1)
    shifted = g.op("Exp", g.op("Sub", "x", g.op("ReduceMax", "x", axes)))
    g.op("Div", shifted, g.op("ReduceSum", shifted, axes))
    assert ops(g.model()) == [(0, ["ReduceMax", "Sub", "Exp", "ReduceSum", "Div"])]


def test_a_norm_is_not_part_of_the_product_before_it():
    g = Graph(x=[4, 32])
    y = g.linear("x", 32, 32)
    mean = g.op("ReduceMean", g.op("Pow", y, g.scalar(2.0)), g.ints(-1))
    g.op("Div", y, g.op("Sqrt", g.op("Add", mean, g.scalar(1e-6))))
    rows = kernels(g.model())
    assert [(kind, names) for kind, names, _, _ in rows] == [
        (1, ["MatMul", "Add"]),
        (0, ["Pow", "ReduceMean", "Add", "Sqrt", "Div"]),
    ]
    assert rows[0][3] == {y}


def test_chains_of_small_work_are_one_kernel():
    g = Graph(x=[4, 32], y=[4, 32])
    g.op("Concat", g.op("Exp", g.op("Mul", "x", "y")), "y", axis=1)
    rows = kernels(g.model())
    assert [(kind, names) for kind, names, _, _ in rows] == [(0, ["Mul", "Exp", "Concat"])]
    assert rows[0][2:] == ({"x", "y"}, {"Concat_3"})


def test_two_fused_norms_are_two_kernels():
    g = Graph(x=[4, 32])
    g.op("Softmax", g.op("LayerNormalization", "x", g.weight(32)))
    assert len(ops(g.model())) == 2


def test_an_encoder_layer():
    assert [kind for kind, _ in ops(transformer())] == [1, 6, 1, 0, 1, 1, 0]


def test_attention_is_one_kernel_from_the_heads_to_the_context():
    g = Graph(x=[2, 16, 32], mask=[2, 1, 1, 16])
    g.attention("x", 32, 4, "mask")
    rows = kernels(g.model())
    assert [kind for kind, *_ in rows] == [1, 6, 1]
    assert {"MatMul", "Div", "Add", "Softmax"} <= set(rows[1][1])
    assert "mask" in rows[1][2]
    assert len(rows[1][3]) == 1
    # Merging the heads is read in place by the product.
    assert rows[2][1] == ["MatMul", "Add"]


def test_convolutions_by_group_and_channel():
    assert [kind for kind, _ in ops(convnet())] == [2, 2, 2, 4, 3, 0, 2, 0, 1]


def test_products_of_batches():
    g = Graph(a=[3, 4, 5], b=[3, 5, 6])
    g.op("MatMul", "a", "b")
    assert ops(g.model()) == [(5, ["MatMul"])]


def test_quantize_and_dequantize_fold():
    g = Graph(x=[4, 32])
    w = g.op("DequantizeLinear", g.weight(32, 32, dtype=np.int8), g.scalar(0.1), g.scalar(0, np.int8))
    y = g.quantized(g.op("MatMul", g.quantized("x"), w))
    g.op("MatMul", y, g.weight(32, 8))
    rows = kernels(g.model())
    assert [(kind, names) for kind, names, _, _ in rows] == [
        (0, ["QuantizeLinear"]),
        (1, ["MatMul", "QuantizeLinear"]),
        (1, ["MatMul"]),
    ]
    assert "w0" in rows[1][2]  # the integers, not what they become


def test_views_and_what_depends_on_sizes_alone_run_nothing():
    g = Graph(x=[2, 3, 4])
    shape = g.op("Concat", g.op("Gather", g.op("Shape", "x"), g.ints(0)), g.ints(-1), axis=0)
    y = g.op("Identity", g.op("Flatten", g.op("Unsqueeze", g.op("Reshape", "x", shape), g.ints(0))))
    g.op("Relu", g.op("Squeeze", y, g.ints(0)))
    assert ops(g.model()) == [(0, ["Relu"])]


def test_a_gather_reads_what_it_writes():
    g = Graph(x=[4, 32])
    g.op("Gather", g.weight(5000, 8), g.op("ArgMax", "x", axis=1, keepdims=0))
    ((kind, names, reads, writes),) = kernels(g.model())
    assert (kind, names) == (0, ["ArgMax", "Gather"])
    assert "w0" not in reads
    assert writes <= reads


def test_parts_are_read_in_place_but_by_convolutions():
    g = Graph(x=[1, 8, 16, 16])
    a, b = g.op("Split", "x", outputs=2, axis=1, num_outputs=2)
    g.op("Mul", a, g.op("Sigmoid", b))
    ((kind, names, reads, _),) = kernels(g.model())
    assert (kind, names) == (0, ["Sigmoid", "Mul"])
    assert reads == {a, b}
    g = Graph(x=[1, 8, 16, 16])
    a, b = g.op("Split", "x", outputs=2, axis=1, num_outputs=2)
    g.op("Add", g.conv(a, 4, 4), b)
    assert [names for _, names in ops(g.model())] == [["Split"], ["Conv", "Add"]]


def test_sizes_and_axes_are_not_read():
    g = Graph(x=[8, 32])
    g.op("Relu", g.op("Slice", "x", g.ints(0), g.ints(4), g.ints(0)))
    ((_, _, reads, _),) = kernels(g.model())
    assert reads == {"Slice_1"}


def test_what_nobody_knows_has_no_model():
    g = Graph(x=[4, 1, 16])
    g.op("Relu", g.op("Mystery", "x", domain="com.example"))
    g.op("LSTM", "x", g.weight(1, 64, 16), g.weight(1, 64, 16), hidden_size=16, outputs=3)
    assert ops(g.model("Relu_2", "LSTM_3")) == [(-1, ["Mystery"]), (0, ["Relu"]), (7, ["LSTM"])]


def branch(g, name, columns):
    nodes = [helper.make_node("MatMul", ["x", g.weight(32, columns)], [name])]
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(name)])


def test_a_branch_that_is_not_counted_runs_nothing():
    g = Graph(x=[4, 32])
    test = g.op("Greater", g.op("ReduceSum", "x", keepdims=0), g.scalar(0.0))
    g.op("If", test, then_branch=branch(g, "small", 8), else_branch=branch(g, "large", 64))
    rows = kernels(g.model())
    assert [(kind, names) for kind, names, _, _ in rows] == [(0, ["ReduceSum", "Greater"]), (1, ["MatMul"])]
    assert rows[1][3] == {"large"}


def test_kernels_wait_for_older_ones_only():
    """A gate by channel: the large product of two kernels must not join the small one."""
    for model in (
        convnet(),
        transformer(),
        f"{DATA}/models/ppocr_v4_det.onnx",
        f"{DATA}/models/bert_tiny.onnx",
    ):
        analysis = run_analysis(model)
        found = analysis.kernels
        for kernel, reads in enumerate(found.reads):
            for tensor in reads:
                producer = analysis.model.tensors[tensor].producer
                made = found.node[producer] if producer >= 0 else -1
                assert made <= kernel


def test_a_long_chain_and_a_wide_fan_are_linear():
    g = Graph(x=[4])
    y = "x"
    for _ in range(3000):
        y = g.op("Relu", y)
    parts = [g.op("Transpose", y) for _ in range(3000)]
    g.op("Sum", *parts)
    assert len(ops(g.model())) == 1


def test_a_node_without_outputs_or_inputs_is_no_trouble():
    nodes = [
        helper.make_node("RandomNormal", [], ["r"], shape=[4]),
        helper.make_node("Relu", ["r"], [""]),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    model = helper.make_model(helper.make_graph(nodes, "g", [], [out]))
    assert ops(model) == [(0, ["RandomNormal", "Relu"])]
