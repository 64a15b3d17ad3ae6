"""Made models at a size: as they are at another one, or with what must be refused of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Case = Callable[[int], onnx.ModelProto]
"""Size → the model as its author would write it at that size, with the same weights."""
GOOD: dict[str, tuple[Case, int, tuple[int, ...]]] = {}
"""Name → (maker, size of the file, sizes that are wanted)."""
BAD: dict[str, tuple[Case, int, int, str]] = {}
"""Name → (maker, size of the file, size that is wanted, what the refusal must say)."""
I64 = TensorProto.INT64


class Maker:
    """A small model, node by node, whose weights depend on their number alone."""

    def __init__(self, opset: int = 17) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.opset = opset

    def x(self, *shape: int, name: str = "x", dtype: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        return name

    def w(self, *shape: int) -> str:
        random = np.random.default_rng(len(self.weights))
        return self.c((random.standard_normal(shape) * 0.4).astype(np.float32))

    def c(self, value: object) -> str:
        array = np.asarray(value)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def __call__(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def done(self, *names: str) -> onnx.ModelProto:
        infos = [onnx.ValueInfoProto(name=name) for name in names]
        graph = helper.make_graph(self.nodes, "made", self.inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        typed = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        for info, found in zip(model.graph.output, typed.graph.output, strict=True):
            info.CopyFrom(found)
        return model


def good(size: int, *wanted: int) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        GOOD[fn.__name__] = (fn, size, wanted)
        return fn

    return add


def bad(size: int, wanted: int, says: str) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        BAD[fn.__name__] = (fn, size, wanted, says)
        return fn

    return add


def table(rows: int, *rest: int) -> np.ndarray:
    """The first rows of a table of positions."""
    random = np.random.default_rng(99)
    return random.standard_normal((64, *rest)).astype(np.float32)[:rows]


# Possible


@good(12, 8, 5, 1)
def positions_are_cut(n):
    m = Maker()
    h = m("Add", m.x(1, n, 8), m.c(table(n, 8)[None]))
    return m.done(m("MatMul", h, m.w(8, 4)))


@good(12, 8, 5)
def causal_masks_are_cut(n):
    m = Maker()
    x, parts = m.x(1, n, 8), []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        parts.append(m("Transpose", m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([1, n, 2, 4])), perm=order))
    mask = np.triu(np.full((n, n), -1e9, np.float32), 1)
    scores = m("Softmax", m("Add", m("MatMul", parts[0], parts[1]), m.c(mask)), axis=-1)
    h = m("Transpose", m("MatMul", scores, parts[2]), perm=[0, 2, 1, 3])
    return m.done(m("MatMul", m("Reshape", h, m.c([1, n, 8])), m.w(8, 8)))


@good(12, 6, 20)
def heads_in_front_of_positions(n):
    """[1, n, 8] → [n, 2, 4] → [2, n, 4] → [2·n, 4] → back."""
    m = Maker()
    h = m("Transpose", m("Reshape", m.x(1, n, 8), m.c([n, 2, 4])), perm=[1, 0, 2])
    h = m("MatMul", m("Reshape", h, m.c([2 * n, 4])), m.w(4, 4))
    h = m("Transpose", m("Reshape", h, m.c([2, n, 4])), perm=[1, 0, 2])
    return m.done(m("Reshape", h, m.c([1, n, 8])))


@good(16, 8, 32)
def flattened_picture_comes_apart(n):
    m = Maker()
    h = m("Conv", m.x(1, 3, n, n), m.w(6, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    h = m("Transpose", m("Reshape", h, m.c([1, 6, n * n // 4])), perm=[0, 2, 1])
    h = m("Transpose", m("MatMul", h, m.w(6, 6)), perm=[0, 2, 1])
    return m.done(m("Conv", m("Reshape", h, m.c([1, 6, n // 2, n // 2])), m.w(2, 6, 3, 3)))


@good(16, 8, 24)
def windows_of_a_stored_size(n):
    """Windows of 4 × 4 with a table of their own: 16 = 4·4 is read by what the table says."""
    m = Maker()
    k = n // 4
    h = m("Reshape", m.x(1, n, n, 6), m.c([1, k, 4, k, 4, 6]))
    h = m("Reshape", m("Transpose", h, perm=[0, 1, 3, 2, 4, 5]), m.c([k * k, 16, 6]))
    h = m("MatMul", m("Softmax", m.w(16, 16), axis=-1), h)
    h = m("Transpose", m("Reshape", h, m.c([1, k, k, 4, 4, 6])), perm=[0, 1, 3, 2, 4, 5])
    return m.done(m("Reshape", h, m.c([1, n, n, 6])))


@good(16, 8, 40)
def sizes_of_a_skip(n):
    m = Maker()
    a = m("Conv", m.x(1, 3, n, n), m.w(4, 3, 3, 3), pads=[1, 1, 1, 1])
    b = m("Conv", a, m.w(4, 4, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    return m.done(m("Concat", a, m("Resize", b, "", "", m.c([1, 4, n, n]), mode="nearest"), axis=1))


@good(16, 8, 24)
def window_over_everything(n):
    m = Maker()
    h = m("Conv", m.x(1, 3, n, n), m.w(4, 3, 3, 3), pads=[1, 1, 1, 1])
    h = m("AveragePool", h, kernel_shape=[n, n])
    return m.done(m("Gemm", m("Reshape", h, m.c([1, 4])), m.w(4, 5)))


@good(12, 8, 20)
def places_counted_from_the_end(n):
    m = Maker()
    x = m.x(1, n, 6)
    last = m("Gather", x, m.c(n - 1), axis=1)
    rest = m("Slice", x, m.c([0]), m.c([n - 1]), m.c([1]))
    first = m("Slice", x, m.c([1]), m.c([n]), m.c([1]))
    return m.done(last, m("Add", rest, first))


@good(12, 7, 1)
def class_token_in_front(n):
    m = Maker()
    h = m("Concat", m.w(1, 1, 8), m.x(1, n, 8), axis=1)
    h = m("Add", h, m.c(table(n + 1, 8)[None]))
    return m.done(m("Gather", h, m.c(0), axis=1), h)


@good(12, 6, 20)
def mask_picked_place_by_place(n):
    """As PyTorch's newer exporter writes a padding mask."""
    m = Maker()
    spots = np.stack([np.zeros(n, np.int64), np.arange(n)], -1).reshape(1, 1, 1, n, 2)
    picked = m("GatherND", m.x(1, n), m.c(spots))
    return m.done(m("Mul", picked, m.w(1, 1, 1, 1)))


@good(12, 6, 20)
def padded_in_front_and_beside(n):
    """As a causal convolution is padded, and along an axis that stays."""
    m = Maker()
    h = m("Pad", m.x(1, 4, n), m.c([0, 0, 2, 0, 1, 0]))
    return m.done(m("Conv", h, m.w(3, 5, 3)))


@good(12, 6, 20)
def shape_made_of_shapes(n):
    m = Maker()
    x = m.x(1, n, 8)
    size = m("Gather", m("Shape", x), m.c([1]), axis=0)
    h = m("Reshape", x, m("Concat", m.c([1]), size, m.c([2, 4]), axis=0))
    return m.done(m("MatMul", h, m.w(4, 3)))


@good(12, 6, 20)
def spread_over_queries(n):
    """[1, 1, 1, n] → [1, 1, n, n] by a stored shape."""
    m = Maker()
    bias = m(
        "Expand", m("Reshape", m("ReduceMean", m.x(1, n, 8), axes=[2]), m.c([1, 1, 1, n])), m.c([1, 1, n, n])
    )
    scores = m(
        "MatMul",
        m("Reshape", "x", m.c([1, 1, n, 8])),
        m("Reshape", m("Transpose", "x", perm=[0, 2, 1]), m.c([1, 1, 8, n])),
    )
    return m.done(m("Softmax", m("Add", scores, bias), axis=-1))


# Refused


@bad(12, 20, "has only 12 entries")
def longer_than_its_table(n):
    return positions_are_cut(n)


@bad(16, 24, "not a sequence counted from its start")
def table_over_a_picture(n):
    m = Maker()
    h = m("Conv", m.x(1, 3, n, n), m.w(8, 3, 4, 4), strides=[4, 4])
    h = m("Transpose", m("Reshape", h, m.c([1, 8, n * n // 16])), perm=[0, 2, 1])
    return m.done(m("Add", h, m.w(1, n * n // 16, 8)))


@bad(16, 8, "not a sequence counted from its start")
def smaller_table_over_a_picture(n):
    return table_over_a_picture(n)


@bad(12, 6, "are for 12 entries")
def weights_along_positions(n):
    m = Maker()
    return m.done(m("MatMul", m.w(4, n), m.x(1, n, 8)))


@bad(12, 6, "are for 48 entries")
def flattened_into_a_classifier(n):
    m = Maker()
    return m.done(m("Gemm", m("Reshape", m.x(1, n, 4), m.c([1, 4 * n])), m.w(4 * n, 3)))


@bad(12, 6, "may be their number")
def mean_by_a_stored_count(n):
    m = Maker()
    return m.done(m("Div", m("ReduceSum", m.x(1, n, 4), m.c([1]), keepdims=0), m.c(np.float32(n))))


@bad(12, 6, "may be their number")
def mean_by_a_stored_share(n):
    m = Maker()
    return m.done(m("Mul", m("ReduceSum", m.x(1, n, 4), m.c([1])), m.c(np.float32(1 / n))))


@bad(12, 6, "not a sequence counted from its start")
def table_behind_a_turn(n):
    """Position i is no longer the i-th from the front."""
    m = Maker()
    h = m("Slice", m.x(1, n, 4), m.c([-1]), m.c([-(1 << 40)]), m.c([1]), m.c([-1]))
    return m.done(m("Add", h, m.w(1, n, 4)))


@bad(12, 6, "not a sequence counted from its start")
def table_behind_two_sequences(n):
    m = Maker()
    h = m("Concat", m.x(1, n, 4), m.w(1, 3, 4), axis=1)
    return m.done(m("Add", h, m.w(1, n + 3, 4)))


@bad(12, 24, "index 6 of 12")
def half_of_the_positions(n):
    m = Maker()
    return m.done(m("Slice", m.x(1, n, 4), m.c([0]), m.c([n // 2]), m.c([1])))


@bad(16, 8, "more than one meaning")
def resized_to_a_number(n):
    """Half of the input, or 8: both run."""
    m = Maker()
    return m.done(m("Resize", m.x(1, 3, n, n), "", "", m.c([1, 3, 8, 8]), mode="nearest"))


@bad(16, 24, "more than one meaning")
def parted_without_need(n):
    """12 as 3 windows of 4, or as 4 windows of 3."""
    m = Maker()
    h = m("Reshape", m.x(1, n, 4), m.c([1, 4, n // 4, 4]))
    return m.done(m("ReduceMax", h, axes=[2]))


@bad(24, 48, "may depend on that size")
def pooled_to_a_few(n):
    """An adaptive pool to 3 × 3 is written as windows of n / 3."""
    m = Maker()
    return m.done(m("AveragePool", m.x(1, 3, n, n), kernel_shape=[n // 3] * 2, strides=[n // 3] * 2))


@bad(16, 17, "may be valid for 16 entries only")
def more_at_one_end(n):
    m = Maker()
    return m.done(m("Conv", m.x(1, 3, n, n), m.w(4, 3, 3, 3), pads=[0, 0, 1, 1], strides=[2, 2]))


@bad(14, 30, "may round up to a multiple")
def filled_up(n):
    m = Maker()
    return m.done(m("Pad", m.x(1, 3, n, n), m.c([0, 0, 0, 0, 0, 0, -n % 8, -n % 8])))


@bad(12, 6, "not a sequence counted from its start")
def table_over_repeated_positions(n):
    m = Maker()
    h = m("Reshape", m.x(1, n, 4), m.c([1, n, 4]))
    return m.done(m("Add", m("Tile", h, m.c([1, 3, 1])), m.w(1, 3 * n, 4)))


@bad(12, 6, "seems to span the whole length")
def ramp_over_the_length(n):
    m = Maker()
    return m.done(m("Add", m.x(1, n, 4), m.c(np.linspace(0, 1, n, dtype=np.float32).reshape(1, n, 1))))


@bad(12, 6, "seems to span the whole length")
def window_over_the_length(n):
    m = Maker()
    return m.done(m("Mul", m.x(1, n, 4), m.c(np.hanning(n).astype(np.float32).reshape(1, n, 1))))


@bad(12, 6, "may be derived from the input dimension 12")
def scaled_by_the_logarithm(n):
    m = Maker()
    return m.done(m("Mul", m.x(1, n, 4), m.c(np.float32(np.log(n)))))


@bad(12, 6, "may be a dimension in the file")
def places_computed_with_the_size(n):
    m = Maker()
    spot = m("ArgMax", m.x(1, n, 4), axis=1, keepdims=0)
    return m.done(m("Sub", m.c(n - 1), spot))


@bad(12, 6, "it has no rule")
def operator_without_a_rule(n):
    m = Maker()
    return m.done(m("NonZero", m.x(1, n, 4)))
