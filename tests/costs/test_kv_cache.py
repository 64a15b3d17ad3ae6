"""The KV cache: which inputs hold it, what a token takes, and when there is none."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper

from costs.cached import F16, Maker, attend, concat_decoder, concat_layer, fused_decoder, heads
from costs.harness import MS, analyse, model_with
from py_autodoc.costs.cache_inputs import MAX_CANDIDATES
from py_autodoc.costs.kv_cache import AttentionSize, KVCache, kv_cache

CAUSAL = AttentionSize(kv_heads=4, head_dim=64, value_dim=64, causal=True, kind="self", dtype=10)


def cache_of(proto: onnx.ModelProto, context: int | None = None, **bind: int) -> KVCache:
    done = analyse(proto, bind)
    return kv_cache(done.model, done.types, (), context)


def test_grouped_heads_grown_by_concat() -> None:
    # 3 layers × (K + V) × 4 kv heads × 4 wide × 4 bytes
    found = cache_of(concat_decoder(layers=3, q=16, kv=4, d=4))
    assert (found.source, len(found.layers), found.confidence) == ("inputs", 3, 1.0)
    assert (found.kv_heads, found.head_dim, found.value_dim, found.axis) == (4, 4, 4, 2)
    assert found.bytes_per_token == 3 * 2 * 4 * 4 * 4
    assert (found.context, found.context_bytes) == (None, None)
    assert "context" in found.context_reason


def test_one_shared_head_in_half_precision() -> None:
    found = cache_of(concat_decoder(layers=1, q=16, kv=1, d=4, dtype=F16), context=2048)
    assert (found.kv_heads, found.bytes_per_token) == (1, 2 * 4 * 2)
    assert (found.context, found.context_bytes) == (2048, 2048 * 16)


def test_a_binding_is_no_context() -> None:
    found = cache_of(concat_decoder(1, 16, 4, 4), batch=3, past=9)
    assert found.bytes_per_token == 2 * 4 * 4 * 4
    assert found.context is None


def test_a_fixed_past_is_the_context_with_the_new_token() -> None:
    found = cache_of(concat_decoder(1, 16, 4, 4, past=31), batch=1)
    assert (found.context, found.context_bytes) == (32, 32 * 128)


@pytest.mark.parametrize(
    ("op", "past", "domain", "attrs"),
    [
        ("GroupQueryAttention", (3, 4), MS, {"num_heads": 4, "kv_num_heads": 2}),
        ("MultiHeadAttention", (6, 7), MS, {"num_heads": 4}),
        ("DecoderMaskedMultiHeadAttention", (5, 6), MS, {"num_heads": 4}),
        ("Attention", (4,), MS, {"num_heads": 4, "unidirectional": 1}),
        ("DecoderMaskedSelfAttention", (4,), MS, {"num_heads": 4}),
        ("Attention", (4, 5), "", {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1}),
    ],
)
def test_fused_operators(op: str, past: tuple[int, ...], domain: str, attrs: dict[str, int]) -> None:
    # 2 layers × (K + V) × 2 kv heads × 16 wide × 2 bytes
    found = cache_of(fused_decoder(op, past, domain, **attrs))
    assert (found.source, len(found.layers), found.bytes_per_token) == ("inputs", 2, 2 * 2 * 2 * 16 * 2)
    assert (found.kv_heads, found.head_dim, found.value_dim, found.dtype) == (2, 16, 16, F16)
    assert found.axis == (3 if len(past) == 1 else 2)
    assert all(len(layer.inputs) == len(past) for layer in found.layers)


def test_a_combined_past_is_taken_apart() -> None:
    """GPT-2 as older exporters write it: past (2, B, N, P, H), present stacked again."""
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    m.feed("past", [2, "batch", 16, "past", 4])
    for place, side in enumerate("kv"):
        m.op("Gather", ["past", m.scalar(f"i{side}", place)], f"p{side}", axis=0)
        heads(m, "x", side, 16, 4)
        m.op("Concat", [f"p{side}", side], f"now_{side}", axis=-2)
        m.op("Unsqueeze", [f"now_{side}", m.ints(f"front{side}", 0)], f"u{side}")
    heads(m, "x", "q", 16, 4)
    attend(m, "q", "now_k", "now_v", "")
    m.op("Concat", ["uk", "uv"], "present", axis=0)
    m.give("present")
    m.give("ctx")
    found = cache_of(m.model())
    assert (found.source, len(found.layers), found.axis) == ("inputs", 1, 3)
    assert (found.kv_heads, found.bytes_per_token) == (16, 2 * 16 * 4 * 4)


@pytest.mark.parametrize("form", ["TensorScatter", "ScatterElements", "ScatterND", "coordinates"])
def test_static_caches_are_written_into(form: str) -> None:
    m = Maker()
    m.feed("x", [1, 1, 8])
    heads(m, "x", "q", 16, 4)
    for side in "kv":
        cache = m.feed(f"p{side}", [1, 16, 40, 4])
        heads(m, "x", side, 16, 4)
        if form == "TensorScatter":
            m.op(form, [cache, side, m.ints(f"at{side}", 3)], f"now_{side}", axis=2)
        elif form == "ScatterElements":
            m.feed(f"at{side}", [1, 16, 1, 4], TensorProto.INT64)
            m.op(form, [cache, f"at{side}", side], f"now_{side}", axis=2)
        elif form == "ScatterND":  # as index_put is exported: the written axis comes first
            m.feed(f"at{side}", [1, 1], TensorProto.INT64)
            m.op("Transpose", [cache], f"t{side}", perm=[2, 0, 1, 3])
            m.op("Transpose", [side], f"n{side}", perm=[2, 0, 1, 3])
            m.op(form, [f"t{side}", f"at{side}", f"n{side}"], f"s{side}")
            m.op("Transpose", [f"s{side}"], f"now_{side}", perm=[1, 2, 0, 3])
        else:
            m.feed(f"at{side}", [1, 16, 1, 3], TensorProto.INT64)
            m.op("ScatterND", [cache, f"at{side}", side], f"now_{side}")
        m.give(f"now_{side}", [1, 16, 40, 4])
    attend(m, "q", "now_k", "now_v", "")
    m.give("ctx")
    found = cache_of(m.model())
    assert (found.source, found.axis, found.kv_heads, found.head_dim) == ("inputs", 2, 16, 4)
    assert (found.bytes_per_token, found.context, found.context_bytes) == (512, 40, 40 * 512)


def test_keys_kept_transposed() -> None:
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    m.feed("pk", ["batch", 16, 4, "past"])
    m.feed("pv", ["batch", "past", 16, 4])
    heads(m, "x", "q", 16, 4)
    heads(m, "x", "k", 16, 4)
    heads(m, "x", "v", 16, 4, transposed="")
    m.op("Transpose", ["k"], "kt", perm=[0, 1, 3, 2])
    m.op("Concat", ["pk", "kt"], "now_k", axis=3)
    m.op("Concat", ["pv", "v"], "now_v", axis=1)
    m.op("Transpose", ["now_v"], "vt", perm=[0, 2, 1, 3])
    m.op("MatMul", ["q", "now_k"], "qk")
    m.op("Softmax", ["qk"], "p")
    m.op("MatMul", ["p", "vt"], "ctx")
    for name in ("now_k", "now_v", "ctx"):
        m.give(name)
    found = cache_of(m.model())
    assert (found.kv_heads, found.head_dim, found.value_dim, found.axis) == (16, 4, 4, 3)
    assert found.bytes_per_token == 2 * 16 * 4 * 4


def test_a_cache_that_grows_in_the_branch_of_an_if() -> None:
    """One decoder for the first and the later steps: the branch with a past reads outer inputs."""
    with_past, without = Maker(), Maker()
    concat_layer(with_past, "a", 16, 4, 4)
    heads(without, "x", "ja", 4, 4)
    for out in ("jk", "jv", "jc"):
        without.op("Identity", ["ja"], out)
        without.give(out)
    branches = {
        "then_branch": helper.make_graph(with_past.nodes, "past", [], with_past.outputs, with_past.weights),
        "else_branch": helper.make_graph(without.nodes, "first", [], without.outputs, without.weights),
    }
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    m.feed("use", [], TensorProto.BOOL)
    m.inputs.extend(with_past.inputs)
    m.nodes.append(helper.make_node("If", ["use"], ["ok", "ov", "oc"], **branches))
    for name in ("ok", "ov", "oc"):
        m.give(name)
    found = cache_of(m.model())
    assert (found.source, len(found.layers), found.bytes_per_token) == ("inputs", 1, 2 * 4 * 4 * 4)


def test_layers_of_different_width_and_length() -> None:
    """Local layers keep 8 positions, global ones all: the full size counts each for itself."""
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    concat_layer(m, "a", 16, 4, 4, past=7)
    concat_layer(m, "b", 16, 2, 4)
    found = cache_of(m.model(), context=100)
    assert (found.kv_heads, found.head_dim) == (None, 4)
    assert found.bytes_per_token == 2 * 4 * 4 * 4 + 2 * 2 * 4 * 4
    assert (found.context, found.context_bytes) == (100, 8 * 128 + 100 * 64)


def test_free_sizes_are_unknown_with_a_reason() -> None:
    proto = concat_decoder(1, 16, 4, 4)
    proto.graph.input[1].type.tensor_type.shape.dim[1].ClearField("dim_value")
    proto.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "heads"
    found = cache_of(proto, context=10)
    assert (found.source, found.bytes_per_token, found.context_bytes) == ("inputs", None, None)
    assert "pk0" in found.reason


def test_heads_folded_into_the_batch_are_not_guessed() -> None:
    m = Maker()
    m.feed("x", ["bn", 1, 8])
    for side in "qkv":
        m.op("MatMul", ["x", m.weight(f"w{side}", 8, 4)], side)
    for side in "kv":
        m.feed(f"p{side}", ["bn", "past", 4])
        m.op("Concat", [f"p{side}", side], f"now_{side}", axis=1)
        m.give(f"now_{side}")
    attend(m, "q", "now_k", "now_v", "", perm=(0, 2, 1))
    m.give("ctx")
    found = cache_of(m.model())
    assert (found.source, found.bytes_per_token) == ("inputs", None)
    assert "layout" in found.reason


def test_buffers_and_states_are_no_cache() -> None:
    """A feature buffer grown by Concat and then projected; a convolution's state."""
    m = Maker()
    m.feed("x", [1, 4, 8])
    m.feed("buffer", [1, 12, 8])
    m.op("Relu", ["x"], "new")
    m.op("Concat", ["buffer", "new"], "all", axis=1)
    for side in "qkv":
        m.op("MatMul", ["all", m.weight(f"w{side}", 8, 4)], side)
    attend(m, "q", "k", "v", "", perm=(0, 2, 1))
    m.feed("state", [1, 8, 3])
    m.op("Transpose", ["x"], "xt", perm=[0, 2, 1])
    m.op("Concat", ["state", "xt"], "window", axis=2)
    m.op("Conv", ["window", m.weight("kernel", 8, 8, 4)], "conv")
    for name in ("all", "ctx", "window", "conv"):
        m.give(name)
    found = cache_of(m.model())
    assert found.source == "none"
    assert found.bytes_per_token is None
    assert found.reason


def test_an_unreturned_concat_is_no_cache() -> None:
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    concat_layer(m, "a", 16, 4, 4)
    del m.outputs[:2]
    assert cache_of(m.model()).source == "none"


def vocabulary_model(causal_output: bool = True) -> onnx.ModelProto:
    """Tokens → embedding (50 × 8) → scores over 50 tokens, or the hidden states."""
    m = Maker()
    m.feed("ids", ["batch", "seq"], TensorProto.INT64)
    m.op("Gather", [m.weight("table", 50, 8), "ids"], "h")
    if causal_output:
        m.op("MatMul", ["h", m.weight("head", 8, 50)], "y")
    else:
        m.op("Relu", ["h"], "y")
    m.give("y")
    return m.model()


def estimate(proto: onnx.ModelProto, *layers: AttentionSize, context: int | None = None) -> KVCache:
    done = analyse(proto)
    return kv_cache(done.model, done.types, layers, context)


def test_causal_attention_gives_an_estimate() -> None:
    found = estimate(vocabulary_model(), CAUSAL, CAUSAL, context=1000)
    assert (found.source, found.confidence) == ("estimated", 0.9)
    assert found.bytes_per_token == 2 * 4 * (64 + 64) * 2
    assert (found.context, found.context_bytes) == (1000, 2048 * 1000)
    assert found.axis is None
    unsure = estimate(vocabulary_model(), AttentionSize(4, 64, 32, True, "self", 10, confidence=0.6))
    assert (unsure.confidence, unsure.bytes_per_token) == (0.6, 4 * (64 + 32) * 2)


def test_an_unknown_size_makes_no_estimate() -> None:
    found = estimate(vocabulary_model(), CAUSAL, AttentionSize(None, 64, 64, True, "self", 10))
    assert (found.source, found.bytes_per_token) == ("estimated", None)
    assert "heads" in found.reason


def test_masks_that_were_not_read_rest_on_the_verdict() -> None:
    unread = AttentionSize(4, 64, 64, None, "self", 10)
    done = analyse(vocabulary_model())
    found = kv_cache(done.model, done.types, [unread, unread], decoder=0.75)
    assert (found.source, found.confidence, found.bytes_per_token) == ("estimated", 0.75, 2 * 4 * 128 * 2)
    some = kv_cache(done.model, done.types, [CAUSAL, unread])
    assert (some.confidence, len(some.layers)) == (0.5, 1)


@pytest.mark.parametrize(
    ("generates", "layers", "why"),
    [
        (True, (AttentionSize(4, 64, 64, False, "self", 10),), "not causal"),
        (True, (AttentionSize(4, 64, 64, None, "self", 10),), "it is unknown whether"),
        (True, (AttentionSize(4, 64, 64, True, "cross", 10),), "not causal"),
        (True, (), "no attention"),
        (False, (CAUSAL,), "vocabulary"),
    ],
)
def test_no_cache_has_a_reason(generates: bool, layers: tuple[AttentionSize, ...], why: str) -> None:
    found = estimate(vocabulary_model(generates), *layers)
    assert (found.source, found.bytes_per_token, found.confidence) == ("none", None, None)
    assert why in found.reason


def test_names_play_no_part() -> None:
    proto = concat_decoder(1, 16, 4, 4)
    names = {n for node in proto.graph.node for n in (*node.input, *node.output)}
    new = {name: f"t{i}" for i, name in enumerate(sorted(names))}
    for node in proto.graph.node:
        node.input[:] = [new[n] for n in node.input]
        node.output[:] = [new[n] for n in node.output]
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.initializer):
        value.name = new.get(value.name, value.name)
    renamed = cache_of(model_with(proto.graph))
    assert renamed == cache_of(concat_decoder(1, 16, 4, 4))


@pytest.mark.slow
def test_too_many_candidates_are_given_up() -> None:
    m = Maker()
    m.feed("x", ["batch", 1, 8])
    concat_layer(m, "a", 16, 4, 4)
    m.op("Relu", ["x"], "new")
    for i in range(MAX_CANDIDATES):
        m.feed(f"p{i}", ["batch", 3, 8])
        m.op("Concat", [f"p{i}", "new"], f"c{i}", axis=1)
    m.give("c0")
    found = cache_of(m.model())
    assert (found.source, found.bytes_per_token) == ("none", None)
    assert "too many" in found.reason
