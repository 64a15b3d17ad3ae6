"""Made models: those whose batch can be changed, and those where items would mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MS = "com.microsoft"


class Maker:
    """A small model, node by node."""

    def __init__(self, opset: int = 17, ir: int = 8) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.opset, self.ir, self.count = opset, ir, 0
        self.random = np.random.default_rng(7)

    def x(self, name: str, *shape: int | str, dtype: int = F) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        return name

    def w(self, *shape: int, scale: float = 0.4) -> str:
        return self.c((self.random.standard_normal(shape) * scale).astype(np.float32))

    def c(self, value: Any, dtype: Any = None) -> str:
        array = np.asarray(value, dtype or (np.int64 if np.asarray(value).dtype.kind == "i" else None))
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def __call__(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        made = [f"{kind.lower()}{self.count}" + ("" if i == 0 else f"_{i}") for i in range(outputs)]
        self.count += 1
        self.nodes.append(
            helper.make_node(kind, list(inputs), made, name=made[0], domain=domain, **attributes)
        )
        return made[0] if outputs == 1 else made

    def done(
        self, *outputs: str, shapes: Sequence[Sequence[int]] | None = None, dtype: int = F
    ) -> onnx.ModelProto:
        infos = []
        for i, name in enumerate(outputs):
            if shapes is not None:
                infos.append(helper.make_tensor_value_info(name, dtype, list(shapes[i])))
            else:
                infos.append(onnx.ValueInfoProto(name=name))
        graph = helper.make_graph(self.nodes, "made", self.inputs, infos, self.weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=self.ir)
        if shapes is None:
            typed = onnx.shape_inference.infer_shapes(model)
            for info, found in zip(model.graph.output, typed.graph.output, strict=True):
                info.CopyFrom(found)
                if not info.type.HasField("tensor_type"):
                    info.type.tensor_type.elem_type = dtype
        return model


Case = Callable[[], onnx.ModelProto]
GOOD: dict[str, Case] = {}
BAD: dict[str, tuple[Case, str]] = {}
"""Name → (maker, what the refusal must name)."""


def good(fn: Case) -> Case:
    GOOD[fn.__name__] = fn
    return fn


def bad(says: str) -> Callable[[Case], Case]:
    def add(fn: Case) -> Case:
        BAD[fn.__name__] = (fn, says)
        return fn

    return add


# Possible


@good
def mlp():
    m = Maker()
    h = m("Relu", m("Gemm", m.x("x", 1, 6), m.w(6, 5), m.w(5)))
    return m.done(m("Softmax", m("MatMul", h, m.w(5, 4)), axis=-1))


@good
def cnn_with_number_in_reshape():
    m = Maker()
    h = m("Relu", m("Conv", m.x("x", 1, 3, 8, 8), m.w(4, 3, 3, 3), m.w(4), pads=[1] * 4))
    h = m("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
    return m.done(m("Gemm", m("Reshape", h, m.c([1, 64])), m.w(64, 5), m.w(5)))


@good
def channel_shuffle():
    m = Maker()
    h = m("Reshape", m.x("x", 1, 6, 4, 4), m.c([1, 2, 3, 4, 4]))
    h = m("Reshape", m("Transpose", h, perm=[0, 2, 1, 3, 4]), m.c([1, 6, 4, 4]))
    return m.done(m("Conv", h, m.w(2, 6, 3, 3)))


@good
def batch_first_attention():
    m = Maker()
    x, parts = m.x("x", 1, 5, 8), []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        h = m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([1, 5, 2, 4]))
        parts.append(m("Transpose", h, perm=order))
    p = m("Softmax", m("Add", m("MatMul", parts[0], parts[1]), m.w(1, 1, 5, 5)), axis=-1)
    h = m("Transpose", m("MatMul", p, parts[2]), perm=[0, 2, 1, 3])
    return m.done(m("MatMul", m("Reshape", h, m.c([1, 5, 8])), m.w(8, 8)))


@good
def heads_folded_with_the_batch():
    """[1, 5, 8] → [2, 5, 4]: heads on the first axis, in front of which the batch folds."""
    m = Maker()
    x, parts = m.x("x", 1, 5, 8), []
    for _ in range(3):
        h = m("Transpose", m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([1, 5, 2, 4])), perm=[0, 2, 1, 3])
        parts.append(m("Reshape", h, m.c([2, 5, 4])))
    scores = m("MatMul", parts[0], m("Transpose", parts[1], perm=[0, 2, 1]))
    h = m("MatMul", m("Softmax", scores, axis=-1), parts[2])
    h = m("Transpose", m("Reshape", h, m.c([1, 2, 5, 4])), perm=[0, 2, 1, 3])
    return m.done(m("Reshape", h, m.c([1, 5, 8])))


@good
def sequence_first_attention():
    """As torch.nn.MultiheadAttention writes it: [5, 1, 8], heads on the axis of the batch."""
    m = Maker()
    x = m("Transpose", m.x("x", 1, 5, 8), perm=[1, 0, 2])
    parts = []
    for _ in range(3):
        h = m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([5, 2, 4]))
        parts.append(m("Transpose", h, perm=[1, 0, 2]))
    scores = m("MatMul", parts[0], m("Transpose", parts[1], perm=[0, 2, 1]))
    h = m("Transpose", m("MatMul", m("Softmax", scores, axis=-1), parts[2]), perm=[1, 0, 2])
    h = m("Gemm", m("Reshape", h, m.c([5, 8])), m.w(8, 8), m.w(8))
    h = m("Reshape", h, m.c([5, 1, 8]))
    return m.done(m("Transpose", h, perm=[1, 0, 2]))


@good
def class_token_and_positions():
    m = Maker()
    x = m.x("x", 1, 4, 8)
    h = m("Concat", m.w(1, 1, 8), x, axis=1)
    h = m("Add", h, m.w(1, 5, 8))
    h = m("LayerNormalization", h, m.w(8), m.w(8), axis=-1)
    return m.done(m("Gather", h, m.c(1), axis=1))


@good
def window_partition():
    """Swin: windows folded behind the batch, a mask per window, and back."""
    m = Maker()
    h = m("Reshape", m.x("x", 1, 4, 4, 6), m.c([1, 2, 2, 2, 2, 6]))
    h = m("Reshape", m("Transpose", h, perm=[0, 1, 3, 2, 4, 5]), m.c([4, 4, 6]))
    scores = m("MatMul", h, m("Transpose", h, perm=[0, 2, 1]))
    scores = m("Add", scores, m.w(4, 4, 4))
    h = m("MatMul", m("Softmax", scores, axis=-1), h)
    h = m("Transpose", m("Reshape", h, m.c([1, 2, 2, 2, 2, 6])), perm=[0, 1, 3, 2, 4, 5])
    return m.done(m("Reshape", h, m.c([1, 4, 4, 6])))


@good
def recurrent_with_states():
    m = Maker()
    x = m("Transpose", m.x("x", 1, 7, 4), perm=[1, 0, 2])
    h, c = m.x("h", 1, 1, 3), m.x("c", 1, 1, 3)
    y, h2, c2 = m("LSTM", x, m.w(1, 12, 4), m.w(1, 12, 3), m.w(1, 24), "", h, c, outputs=3, hidden_size=3)
    y = m("Transpose", m("Squeeze", y, m.c([1])), perm=[1, 0, 2])
    return m.done(y, h2, c2)


@good
def stored_initial_state():
    m = Maker()
    x = m("Transpose", m.x("x", 1, 7, 4), perm=[1, 0, 2])
    _, h = m("GRU", x, m.w(1, 9, 4), m.w(1, 9, 3), m.w(1, 18), "", m.w(1, 1, 3), outputs=2, hidden_size=3)
    return m.done(m("Squeeze", h, m.c([0])))


@good
def cache_of_keys():
    m = Maker()
    x, past = m.x("x", 1, 1, 8), m.x("past", 1, 2, 6, 4)
    k = m("Transpose", m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([1, 1, 2, 4])), perm=[0, 2, 1, 3])
    keys = m("Concat", past, k, axis=2)
    q = m("Transpose", m("Reshape", m("MatMul", x, m.w(8, 8)), m.c([1, 1, 2, 4])), perm=[0, 2, 1, 3])
    scores = m("Softmax", m("MatMul", q, m("Transpose", keys, perm=[0, 1, 3, 2])), axis=-1)
    h = m("Transpose", m("MatMul", scores, keys), perm=[0, 2, 1, 3])
    return m.done(m("Reshape", h, m.c([1, 1, 8])), keys)


@good
def shapes_computed_from_the_input():
    """As TorchScript writes it: nothing has to change."""
    m = Maker()
    x = m.x("x", 1, 3, 4, 4)
    size = m("Unsqueeze", m("Gather", m("Shape", x), m.c(0), axis=0), m.c([0]))
    return m.done(m("Reshape", x, m("Concat", size, m.c([48]), axis=0)), shapes=[[1, 48]])


@good
def expand_over_the_batch():
    m = Maker()
    x = m.x("x", 1, 4, 6)
    token = m("Expand", m.w(1, 1, 6), m.c([1, 1, 6]))
    return m.done(m("Concat", token, x, axis=1))


@good
def resize_with_sizes():
    m = Maker()
    x = m.x("x", 1, 2, 4, 4)
    y = m("Resize", x, "", "", m.c([1, 2, 8, 8]), mode="nearest")
    return m.done(m("Conv", y, m.w(3, 2, 3, 3)))


@good
def flatten_to_tokens():
    m = Maker()
    x = m.x("x", 1, 5, 8)
    h = m("Gemm", m("Reshape", x, m.c([5, 8])), m.w(8, 6), m.w(6))
    return m.done(m("Reshape", h, m.c([1, 5, 6])))


@good
def squeeze_drops_the_batch():
    m = Maker()
    return m.done(m("MatMul", m("Squeeze", m.x("x", 1, 5, 8), m.c([0])), m.w(8, 3)))


@good
def squeeze_of_everything():
    m = Maker()
    h = m("Squeeze", m("GlobalAveragePool", m.x("x", 1, 5, 4, 4)))
    return m.done(m("MatMul", m("Unsqueeze", h, m.c([0])), m.w(5, 3)), shapes=[[1, 3]])


@good
def picks_the_only_item():
    m = Maker()
    return m.done(m("Relu", m("Gather", m.x("x", 1, 5, 8), m.c(0), axis=0)))


@good
def slice_takes_the_only_item():
    m = Maker()
    h = m("Slice", m.x("x", 1, 5, 8), m.c([0, 1]), m.c([1, 4]), m.c([0, 1]))
    return m.done(m("MatMul", h, m.w(8, 2)))


@good
def pooled_by_index():
    """x[0, argmax(ids)], as CLIP takes the end of a text."""
    m = Maker()
    x, ids = m.x("x", 1, 6, 4), m.x("ids", 1, 6, dtype=I64)
    top = m("Unsqueeze", m("ArgMax", ids, axis=1, keepdims=1), m.c([0]))
    top = m("Reshape", top, m.c([1, 1]))
    at = m("Concat", m.c([[0]]), top, axis=1)
    return m.done(m("GatherND", x, at))


@good
def strided_windows():
    """as_strided: indices into a flattened image."""
    m = Maker()
    flat = m("Reshape", m.x("x", 1, 4, 4), m.c([16]))
    places = np.array([[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13]]])
    return m.done(m("Gather", flat, m.c(places), axis=0))


@good
def einsum_attention():
    m = Maker()
    x = m.x("x", 1, 5, 2, 4)
    p = m("Softmax", m("Einsum", x, x, equation="bqhd,bkhd->bhqk"), axis=-1)
    return m.done(m("Einsum", p, x, equation="bhqk,bkhd->bqhd"))


@good
def branch_on_a_constant():
    m = Maker()
    x = m.x("x", 1, 4)
    then = helper.make_graph(
        [helper.make_node("Mul", [x, x], ["t"])], "t", [], [helper.make_tensor_value_info("t", F, [1, 4])]
    )
    other = helper.make_graph(
        [helper.make_node("Relu", [x], ["t"])], "e", [], [helper.make_tensor_value_info("t", F, [1, 4])]
    )
    return m.done(m("If", m.c(True, bool), then_branch=then, else_branch=other), shapes=[[1, 4]])


@good
def loop_of_a_fixed_count():
    m = Maker()
    x, w = m.x("x", 1, 4), m.w(4, 4)
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", w], ["p"]),
            helper.make_node("Tanh", ["p"], ["h2"]),
            helper.make_node("Identity", ["c"], ["c2"]),
            helper.make_node("Identity", ["h2"], ["out"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", I64, []),
            helper.make_tensor_value_info("c", BOOL, []),
            helper.make_tensor_value_info("h", F, [1, 4]),
        ],
        [
            helper.make_tensor_value_info("c2", BOOL, []),
            helper.make_tensor_value_info("h2", F, [1, 4]),
            helper.make_tensor_value_info("out", F, [1, 4]),
        ],
    )
    last, every = m("Loop", m.c(3), m.c(True, bool), x, outputs=2, body=body)
    return m.done(last, every, shapes=[[1, 4], [3, 1, 4]])


@good
def scan_over_time():
    """The state begins as a stored tensor and holds the batch from the first step on."""
    m = Maker()
    x = m("Transpose", m.x("x", 1, 5, 4), perm=[1, 0, 2])
    w = m.w(4, 4)
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["s", w], ["p"]),
            helper.make_node("Add", ["p", "t"], ["q"]),
            helper.make_node("Tanh", ["q"], ["s2"]),
            helper.make_node("Identity", ["s2"], ["y"]),
        ],
        "body",
        [helper.make_tensor_value_info("s", F, [1, 4]), helper.make_tensor_value_info("t", F, [1, 4])],
        [helper.make_tensor_value_info("s2", F, [1, 4]), helper.make_tensor_value_info("y", F, [1, 4])],
    )
    last, every = m("Scan", m.w(1, 4), x, outputs=2, body=body, num_scan_inputs=1)
    return m.done(last, m("Transpose", every, perm=[1, 0, 2]), shapes=[[1, 4], [1, 5, 4]])


@good
def boxes_are_selected():
    m = Maker()
    boxes = m("Sigmoid", m.x("x", 1, 12, 4))
    scores = m("Sigmoid", m.x("s", 1, 2, 12))
    found = m("NonMaxSuppression", boxes, scores, m.c([4]), m.c([0.3], np.float32), m.c([0.2], np.float32))
    return m.done(found, shapes=[["found", 3]], dtype=I64)


@good
def ort_attention():
    m = Maker()
    x = m.x("x", 1, 5, 8)
    y = m(
        "Attention",
        x,
        m.w(8, 24),
        m.w(24),
        m.x("mask", 1, 5, dtype=TensorProto.INT32),
        domain=MS,
        num_heads=2,
    )
    return m.done(y, shapes=[[1, 5, 8]])


@good
def ort_multi_head_attention():
    m = Maker()
    q, k = m.x("q", 1, 5, 8), m.x("k", 1, 6, 8)
    y = m("MultiHeadAttention", q, k, m("MatMul", k, m.w(8, 8)), m.w(24), domain=MS, num_heads=2)
    return m.done(y, shapes=[[1, 5, 8]])


@good
def ort_multi_head_attention_with_stored_keys():
    """Learned queries: what all items share is repeated."""
    m = Maker()
    k = m.x("k", 1, 6, 8)
    y = m("MultiHeadAttention", m.w(1, 3, 8), k, k, domain=MS, num_heads=2)
    return m.done(y, shapes=[[1, 3, 8]])


@good
def ort_grouped_attention():
    m = Maker()
    q, k, v = m.x("q", 1, 4, 32), m.x("k", 1, 4, 16), m.x("v", 1, 4, 16)
    lens = m.c(np.array([3], np.int32), np.int32)
    total = m.c(np.array(4, np.int32), np.int32)
    past = [m.x("pk", 1, 2, 0, 8), m.x("pv", 1, 2, 0, 8)]
    y = m(
        "GroupQueryAttention", q, k, v, *past, lens, total, outputs=3, domain=MS, num_heads=4, kv_num_heads=2
    )
    return m.done(*y, shapes=[[1, 4, 32], [1, 2, 4, 8], [1, 2, 4, 8]])


@good
def ort_fused_matmul_transposed():
    m = Maker()
    x = m.x("x", 1, 2, 5, 4)
    y = m("FusedMatMul", x, x, domain=MS, transB=1, alpha=0.5)
    z = m("FusedMatMul", y, x, domain=MS, transA=1)
    return m.done(z, shapes=[[1, 2, 5, 4]])


@good
def ort_fused_matmul_batch_transposed():
    m = Maker()
    a = m("Transpose", m.x("x", 1, 2, 5, 4), perm=[2, 0, 1, 3])
    y = m("FusedMatMul", a, m.w(1, 1, 4, 3), domain=MS, transBatchA=1)
    return m.done(y, shapes=[[1, 2, 5, 3]])


@good
def ort_skip_layer_norm():
    m = Maker()
    x = m.x("x", 1, 5, 8)
    y = m("SkipLayerNormalization", x, m("MatMul", x, m.w(8, 8)), m.w(8), m.w(8), domain=MS)
    return m.done(m("BiasGelu", y, m.w(8), domain=MS), shapes=[[1, 5, 8]])


@good
def onnx_attention():
    m = Maker(23, 11)
    q, k = m.x("q", 1, 5, 8), m.x("k", 1, 6, 8)
    y = m("Attention", q, k, k, m.w(5, 6), q_num_heads=2, kv_num_heads=2)
    return m.done(y, shapes=[[1, 5, 8]])


@good
def frames_cut_item_by_item():
    """Frames folded with the batch, and cut along that axis."""
    m = Maker()
    h = m("Reshape", m.x("x", 1, 6, 4), m.c([6, 4]))
    h = m("Slice", m("MatMul", h, m.w(4, 4)), m.c([1]), m.c([5]), m.c([0]))
    return m.done(m("Reshape", m("Relu", h), m.c([1, 4, 4])))


@good
def frames_joined_item_by_item():
    m = Maker()
    x = m.x("x", 1, 6, 4)
    a = m("Reshape", x, m.c([6, 4]))
    b = m("Reshape", m("MatMul", x, m.w(4, 4)), m.c([6, 4]))
    return m.done(m("Reshape", m("Concat", a, b, axis=0), m.c([1, 12, 4])))


@good
def quantized_weights():
    m = Maker()
    x = m.x("x", 1, 6)
    s, z = m.c(np.float32(0.05)), m.c(np.uint8(128), np.uint8)
    q = m("DequantizeLinear", m("QuantizeLinear", x, s, z), s, z)
    w = m.c(m.random.integers(-9, 9, (6, 3)).astype(np.int8), np.int8)
    scales = m.c(np.array([0.1, 0.2, 0.3], np.float32))
    return m.done(
        m("MatMul", q, m("DequantizeLinear", w, scales, m.c(np.zeros(3, np.int8), np.int8), axis=1))
    )


@good
def put_into_a_slice():
    """y[:, 1:3] = x, as ScatterND writes it along an axis in front of the batch."""
    m = Maker()
    x = m("Transpose", m.x("x", 1, 4, 3), perm=[1, 0, 2])
    u = m("Slice", m("Relu", x), m.c([0]), m.c([2]), m.c([0]))
    return m.done(m("Transpose", m("ScatterND", x, m.c([[1], [2]]), u), perm=[1, 0, 2]))


@good
def put_at_an_item():
    """The first part of each index is the item, which can only be 0."""
    m = Maker(18)
    x = m.x("x", 1, 4, 3)
    u = m("Slice", m("Relu", x), m.c([0]), m.c([2]), m.c([1]))
    return m.done(m("ScatterND", x, m.c([[[0, 1], [0, 3]]]), u))


@good
def unbatched_grey_image():
    """[6, 6] inside: the output comes out folded."""
    m = Maker()
    h = m("Reshape", m.x("x", 1, 6, 6), m.c([6, 6]))
    return m.done(m("MatMul", h, m.w(6, 4)))


@good
def padded_and_topk():
    m = Maker()
    h = m("Pad", m.x("x", 1, 2, 5), m.c([0, 0, 1, 0, 0, 1]))
    values, places = m("TopK", h, m.c([3]), outputs=2, axis=-1)
    return m.done(values, m("Cast", places, to=F))


# Impossible: items would mix


@bad("Softmax")
def softmax_over_the_batch():
    m = Maker()
    return m.done(m("Softmax", m.x("x", 1, 4), axis=0))


@bad("CumSum")
def cumulative_sum_over_the_batch():
    m = Maker()
    return m.done(m("CumSum", m.x("x", 1, 4), m.c(0)))


@bad("ReduceMean")
def mean_over_the_batch():
    m = Maker(17)
    return m.done(m("ReduceMean", m.x("x", 1, 4), axes=[0], keepdims=1))


@bad("ReduceMean")
def mean_over_everything():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("Sub", x, m("ReduceMean", x)))


@bad("Einsum")
def einsum_over_the_batch():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("Einsum", x, x, equation="bi,bj->ij"))


@bad("BatchNormalization")
def batch_norm_in_training():
    m = Maker()
    y = m("BatchNormalization", m.x("x", 1, 3, 4), m.w(3), m.w(3), m.w(3), m.w(3), outputs=3, training_mode=1)
    return m.done(y[0])


@bad("Conv")
def weights_of_each_item():
    m = Maker()
    kernel = m("Reshape", m("MatMul", m.x("z", 1, 4), m.w(4, 18)), m.c([2, 1, 3, 3]))
    return m.done(m("Conv", m.x("x", 1, 1, 6, 6), kernel))


@bad("size 1")
def unbatched_image():
    """[3, 6, 6]: the 1 comes from Unsqueeze, the image has channels only."""
    m = Maker()
    h = m("Unsqueeze", m.x("x", 3, 6, 6), m.c([0]))
    return m.done(m("Squeeze", m("Conv", h, m.w(3, 3, 1, 1)), m.c([0])))


@bad("If")
def branch_on_data():
    m = Maker()
    x = m.x("x", 1, 4)
    shape = helper.make_tensor_value_info("t", F, [1, 4])
    then = helper.make_graph([helper.make_node("Mul", [x, x], ["t"])], "t", [], [shape])
    other = helper.make_graph([helper.make_node("Relu", [x], ["t"])], "e", [], [shape])
    truth = m("Greater", m("ReduceMax", x, axes=[1], keepdims=0), m.c(np.float32(0.5)))
    return m.done(m("If", truth, then_branch=then, else_branch=other), shapes=[[1, 4]])


@bad("NonZero")
def places_of_what_is_not_zero():
    m = Maker()
    return m.done(m("NonZero", m.x("x", 1, 4)), shapes=[[2, "n"]], dtype=I64)


@bad("MatMul")
def gram_matrix():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("MatMul", x, m("Transpose", x, perm=[1, 0])))


@bad("MatMul")
def two_towers():
    m = Maker()
    a = m("MatMul", m.x("image", 1, 6), m.w(6, 4))
    b = m("MatMul", m.x("text", 1, 5), m.w(5, 4))
    return m.done(m("MatMul", a, m("Transpose", b, perm=[1, 0])))


@bad("Div")
def loss_over_the_batch():
    """A mean made of a sum over features and a division by the batch size."""
    m = Maker()
    x = m.x("x", 1, 4)
    n = m("Cast", m("Gather", m("Shape", x), m.c(0), axis=0), to=F)
    return m.done(m("Div", x, n))


@bad("LayerNormalization")
def normalized_over_everything():
    m = Maker()
    return m.done(m("LayerNormalization", m.x("x", 1, 4), m.w(1, 4), m.w(1, 4), axis=0))


@bad("MeanVarianceNormalization")
def statistics_over_the_batch():
    m = Maker()
    return m.done(m("MeanVarianceNormalization", m.x("x", 1, 3, 4, 4)))


@bad("Softmax")
def old_softmax():
    """Before opset 13 all axes from the one given are one."""
    m = Maker(11)
    return m.done(m("Softmax", m.x("x", 1, 4, 3), axis=0))


@bad("MaxPool")
def indices_of_a_pool():
    """They count through all items."""
    m = Maker()
    values, places = m("MaxPool", m.x("x", 1, 2, 4, 4), outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    return m.done(values, m("Cast", places, to=F))


@bad("Concat")
def joined_to_a_stored_item():
    m = Maker()
    return m.done(m("Concat", m.x("x", 1, 4), m.w(2, 4), axis=0))


@bad("Pad")
def padded_along_the_batch():
    m = Maker()
    return m.done(m("Pad", m.x("x", 1, 4), m.c([1, 0, 1, 0])))


@bad("Pad")
def shifted_along_the_batch():
    """One is added in front and one taken away behind: the size stays."""
    m = Maker()
    return m.done(m("Pad", m.x("x", 1, 4), m.c([1, 0, -1, 0])))


@bad("ReduceMax")
def loop_ended_by_data():
    m = Maker()
    x = m.x("x", 1, 4)
    body = helper.make_graph(
        [
            helper.make_node("Add", ["h", "h"], ["h2"]),
            helper.make_node("ReduceMax", ["h2"], ["top"], keepdims=0),
            helper.make_node("Less", ["top", "limit"], ["c2"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", I64, []),
            helper.make_tensor_value_info("c", BOOL, []),
            helper.make_tensor_value_info("h", F, [1, 4]),
        ],
        [helper.make_tensor_value_info("c2", BOOL, []), helper.make_tensor_value_info("h2", F, [1, 4])],
        [numpy_helper.from_array(np.float32(9), "limit")],
    )
    return m.done(m("Loop", m.c(9), m.c(True, bool), x, body=body), shapes=[[1, 4]])


@bad("ReduceMax")
def mask_by_the_longest():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("Div", x, m("ReduceMax", x, keepdims=1)))


@bad("RandomNormalLike")
def noise():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("Add", x, m("RandomNormalLike", x)))


@bad("Scan")
def scan_over_the_batch():
    m = Maker()
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "t"], ["s2"]), helper.make_node("Identity", ["s2"], ["y"])],
        "body",
        [info("s", F, [4]), info("t", F, [4])],
        [info("s2", F, [4]), info("y", F, [4])],
    )
    out = m("Scan", m.w(4), m.x("x", 1, 4), outputs=2, body=body, num_scan_inputs=1)
    return m.done(*out, shapes=[[4], [1, 4]])


@bad("Gather")
def boxes_taken_of_each_item():
    """What is selected goes on: rows of all items, as many as the data decide."""
    m = Maker()
    boxes, scores = m("Sigmoid", m.x("x", 1, 12, 4)), m("Sigmoid", m.x("s", 1, 2, 12))
    found = m("NonMaxSuppression", boxes, scores, m.c([4]), m.c([0.3], np.float32), m.c([0.2], np.float32))
    return m.done(m("Gather", found, m.c(2), axis=1), shapes=[["n"]], dtype=I64)


@bad("output")
def size_is_an_output():
    m = Maker()
    x = m.x("x", 1, 4)
    return m.done(m("Relu", x), m("Shape", x))


@bad("RotaryEmbedding")
def positions_that_are_no_rows():
    m = Maker()
    x, at = m.x("x", 1, 2, 4, 8), m.x("at", 1, dtype=I64)
    y = m("RotaryEmbedding", x, at, m.w(16, 4), m.w(16, 4), domain=MS)
    return m.done(y, shapes=[[1, 2, 4, 8]])


@bad("QuantizeLinear")
def scale_of_each_item():
    m = Maker()
    x = m.x("x", 1, 4)
    scale = m("ReduceMax", m("Abs", x), axes=[1], keepdims=0)
    return m.done(m("DequantizeLinear", m("QuantizeLinear", x, scale), scale))


@good
def old_file():
    """IR version 3, where every initializer is an input."""
    m = Maker(11, 3)
    h = m("Reshape", m("Concat", m.w(1, 1, 6), m.x("x", 1, 4, 6), axis=1), m.c([1, 30]))
    model = m.done(m("MatMul", h, m.w(30, 4)), shapes=[[1, 4]])
    for tensor in model.graph.initializer:
        model.graph.input.append(
            helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        )
    return model


@good
def fixed_to_four():
    """Conv says that the first axis is the batch."""
    m = Maker()
    h = m("Relu", m("Conv", m.x("x", 4, 3, 8, 8), m.w(4, 3, 3, 3)))
    return m.done(m("Gemm", m("Reshape", h, m.c([4, 144])), m.w(144, 5), m.w(5)), shapes=[[4, 5]])


@bad("size 1")
def no_axis_of_one():
    """Whether 5 are items or tokens of one, nothing says."""
    m = Maker()
    return m.done(m("MatMul", m.x("x", 5, 8), m.w(8, 3)), shapes=[[5, 3]])
