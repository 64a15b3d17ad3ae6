"""Positions that are mixed by Fourier transforms, exponential sums, messages and attention in pieces."""

import numpy as np
from graph_maker import G, flows
from test_verdict import judged


def family(graph, *given):
    return judged(flows(graph.model(*given)))


def transformed(made):
    """A Fourier transform over what a norm made, or over what goes in."""
    g = G(ids=(1, 16), sound=(1, 16, 32))
    x = g.op("Gather", g.weight(50, 32), "ids")
    x = g.layer_norm(x, 32) if made else "sound"
    parts = g.op("Unsqueeze", x, g.ints(-1))
    parts = g.op("DFT", parts, "", g.ints(1))
    x = g.op("Gather", parts, g.value(0, np.int64), axis=-1)
    for _ in range(3):
        x = g.op("Relu", g.dense(x, 32, 32))
    return family(g, x)


def test_fourier_transforms_between_layers():
    assert transformed(True).family == "fourier"
    assert transformed(False).family != "fourier"


def summed(both):
    g = G(x=(1, 32), old=(1, 32))
    key, value = g.dense("x", 32, 32), g.dense("x", 32, 32)
    most = g.op("Max", "old", key)
    one = g.op("Exp", g.op("Sub", "old", most))
    other = g.op("Exp", g.op("Sub", key, most)) if both else key
    made = g.op("Add", g.op("Mul", one, value), g.op("Mul", other, value))
    return family(g, g.dense(g.op("Div", made, g.op("Add", one, other)), 32, 32))


def test_sums_weighted_by_exponentials():
    found = summed(True)
    assert found.family == "recurrent"
    assert "running maximum" in found.evidence[0]
    assert summed(False).family == "mlp"


def pieces(weighing):
    """Scores of two blocks, put into one matrix; a block of it weighs the values."""
    g = G(x=(1, 16, 32))
    q, k, v = (g.dense("x", 32, 32) for _ in range(3))
    placed = []
    for begin in (0, 8):
        rows = g.op("Slice", q, g.ints(begin), g.ints(begin + 8), g.ints(1))
        scores = g.op("MatMul", rows, g.op("Transpose", k, perm=[0, 2, 1]))
        placed.append(g.op("Pad", scores, g.ints(0, begin, 0, 0, 8 - begin, 0)))
    weights = g.op("Softmax", g.op("Add", *placed), axis=-1)
    weights = g.op("Reshape", g.op("Pad", weights, g.ints(0, 0, 0, 0, 0, 16)), g.ints(1, 32, 16))
    weights = g.op("Slice", weights, g.ints(0), g.ints(16), g.ints(1))
    made = g.op("MatMul", weights, v) if weighing else g.op("Add", v, g.op("ReduceMean", weights, keepdims=1))
    return family(g, g.dense(g.dense(made, 32, 64), 64, 32))


def test_attention_in_pieces_is_no_mlp():
    found = pieces(True)
    assert (found.family, found.confidence) == ("transformer-encoder", 0.6)
    assert pieces(False).family == "mlp"


def test_a_number_of_keypoints_at_a_quarter_is_no_segmenter():
    def maps(channels):
        g = G(x=(1, 3, 64, 64))
        x = "x"
        for step in range(3):
            x = g.op("Relu", g.conv(x, 8 if step else 3, 8, strides=[2, 2]))
        x = g.op("Resize", x, "", g.value([1, 1, 2, 2]), mode="nearest")
        return family(g, g.conv(x, 8, channels)).family

    assert maps(17) == "cnn"
    assert maps(150) == "segmenter"
