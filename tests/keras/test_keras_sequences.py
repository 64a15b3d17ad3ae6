"""Recurrent layers, masks, attention and layers around layers, against Keras itself."""

from __future__ import annotations

import keras_models as made
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = [pytest.mark.slow, *made.QUIET, pytest.mark.usefixtures("in_thread")]
keras = made.keras()
L = keras.layers
SOME = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
TOKENS = np.array([[1, 2, 0, 3, 0, 0], [0, 0, 3, 1, 2, 3]], "int32")


@st.composite
def cells(draw, kind):
    """A recurrent layer and its settings."""
    more = {
        "use_bias": draw(st.booleans()),
        "activation": draw(st.sampled_from(["tanh", "relu", "elu", "gelu"])),
    }
    if kind != "SimpleRNN":
        more["recurrent_activation"] = draw(st.sampled_from(["sigmoid", "hard_sigmoid", "silu"]))
    if kind == "GRU":
        more["reset_after"] = draw(st.booleans())
    return {
        **more,
        "go_backwards": draw(st.booleans()),
        "return_sequences": draw(st.booleans()),
        "unroll": draw(st.booleans()),
    }


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@SOME
@given(data=st.data())
def test_recurrent_layers(kind, data):
    """With and without states given and asked for; operators of ONNX and single steps."""
    options = data.draw(cells(kind))
    entry = keras.Input((4, 3), name="x")
    inputs, states = [entry], []
    if data.draw(st.booleans()):
        states = [keras.Input((2,), name=f"s{at}") for at in range(2 if kind == "LSTM" else 1)]
        inputs += states
    out = getattr(L, kind)(2, return_state=data.draw(st.booleans()), **options)(
        entry, **({"initial_state": states} if states else {})
    )
    made.saved(keras.Model(inputs, out), forms=("keras",))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sequences", [False, True])
def test_gaps_in_a_sequence(kind, backwards, sequences):
    """Steps that do not count in the middle and at the begin: no length could say that."""
    entry = keras.Input((6,), dtype="int32", name="x")
    x = L.Embedding(4, 3, mask_zero=True)(entry)
    layer = getattr(L, kind)(2, go_backwards=backwards, return_sequences=sequences, return_state=True)
    results = made.saved(keras.Model(entry, layer(x)), feed={"x": TOKENS})
    assert "Scan" in made.operators(results[0])


@pytest.mark.parametrize("mode", ["concat", "sum", "ave", "mul", None])
@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_both_ways(mode, sequences, masked):
    entry = keras.Input((6,), dtype="int32", name="x")
    x = L.Embedding(4, 3, mask_zero=masked)(entry)
    layer = L.Bidirectional(L.LSTM(2, return_sequences=sequences, return_state=True), merge_mode=mode)
    made.saved(keras.Model(entry, list(layer(x))), feed={"x": TOKENS})


def test_both_ways_by_two_layers(tmp_path):
    entry = keras.Input((5, 3), name="x")
    states = [keras.Input((2,), name=f"s{at}") for at in range(3)]
    x = L.Bidirectional(
        L.GRU(2, return_sequences=True), backward_layer=L.LSTM(2, go_backwards=True, return_sequences=True)
    )(entry)
    y = L.Bidirectional(L.SimpleRNN(2))(x, initial_state=states[:2])
    result, _ = made.both(keras.Model([entry, *states[:2]], y), tmp_path)
    inner = {record.scope.partition(".")[2].rstrip("_0123456789") for record in result.tags.records.values()}
    assert {"forward_gru", "lstm", "forward_simple_rnn", "backward_simple_rnn"} <= inner


def test_cells(tmp_path):
    entry = keras.Input((5, 3), name="x")
    stack = L.RNN([L.LSTMCell(3), L.GRUCell(2), L.SimpleRNNCell(4)], return_sequences=True)(entry)
    model = keras.Model(entry, [stack, L.RNN(L.GRUCell(2, reset_after=False), return_state=True)(entry)[0]])
    made.both(model, tmp_path)


def test_a_chain_of_recurrent_layers_stays_in_one_order(tmp_path):
    entry = keras.Input((None, 3), name="x")
    x = L.LSTM(4, return_sequences=True)(entry)
    x = L.Dense(4, activation="relu")(L.GRU(3, return_sequences=True)(x))
    result, _ = made.both(keras.Model(entry, L.LSTM(2)(x)), tmp_path)
    assert made.operators(result).count("Transpose") == 1


def test_free_lengths(tmp_path):
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = L.Embedding(5, 4, mask_zero=True)(tokens)
    x = L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)
    x = L.LayerNormalization()(L.Conv1D(4, 3, strides=2, padding="same")(x))
    x = L.TimeDistributed(L.Dense(2))(x)
    made.both(keras.Model(tokens, [x, L.GlobalMaxPooling1D()(x)]), tmp_path, {"tokens": np.abs(TOKENS) + 1})


@SOME
@given(data=st.data())
def test_attention_with_heads(data):
    query, value = keras.Input((4, 5), name="q"), keras.Input((6, 3), name="v")
    inputs, call = [query, value], {}
    if data.draw(st.booleans()):
        inputs.append(keras.Input((6, 2), name="k"))
        call["key"] = inputs[-1]
    if data.draw(st.booleans()):
        inputs.append(keras.Input((4, 6), dtype="int32", name="m"))
        call["attention_mask"] = inputs[-1]
    call["use_causal_mask"] = data.draw(st.booleans())
    call["return_attention_scores"] = data.draw(st.booleans())
    layer = L.MultiHeadAttention(
        data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4)), data.draw(st.sampled_from([None, 3])),
        use_bias=data.draw(st.booleans()), output_shape=data.draw(st.sampled_from([None, 4])), dropout=0.1,
    )  # fmt: skip
    model = keras.Model(inputs, layer(query, value, **call))
    feed = made.feed_of(model)
    if "m" in feed:
        feed["m"] = (feed["m"] > 1).astype("int32")
        feed["m"][..., 0] = 1  # a query that may see nothing is not defined
    made.saved(model, feed, forms=("keras",))


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_plain_attention(additive, scale, count, tmp_path):
    inputs = [keras.Input((4, 5), name=f"x{at}") for at in range(count)]
    layers = (
        [L.AdditiveAttention(use_scale=scale)]
        if additive
        else [L.Attention(scale, mode) for mode in ("dot", "concat")]
    )
    outputs = [layer(inputs, use_causal_mask=causal) for layer in layers for causal in (False, True)]
    made.both(keras.Model(inputs, outputs), tmp_path)


def test_attention_over_a_masked_sequence(tmp_path):
    entry = keras.Input((6,), dtype="int32", name="x")
    x = L.Embedding(4, 4, mask_zero=True)(entry)
    outputs = [
        L.Attention()([x, x]),
        L.GlobalAveragePooling1D()(L.Dense(3)(x)),
        L.Masking(0.0)(x),
        L.Concatenate()([x, x]),
    ]
    made.both(keras.Model(entry, outputs), tmp_path, {"x": TOKENS})
    # By itself: this layer takes the mask from the tensor that others read too.
    y = L.MultiHeadAttention(2, 3, name="heads")(L.Embedding(4, 4, mask_zero=True)(entry), keras.ops.exp(x))
    result, _ = made.both(keras.Model(entry, y), tmp_path, {"x": TOKENS})
    tags = {record.tag for record in result.tags.records.values()}
    heads = "/Functional/MultiHeadAttention.heads"
    assert {f"{heads}/EinsumDense.{one}" for one in ("query", "key", "value", "attention_output")} <= tags


@pytest.mark.parametrize(
    ("inner", "shape"),
    [
        (lambda: L.Dense(3), (4, 5)),
        (lambda: L.Conv2D(3, 2, padding="same"), (3, 4, 5, 2)),
        (lambda: L.Flatten(), (3, 4, 5)),
        (lambda: L.LSTM(2), (3, 4, 5)),
        (lambda: L.BatchNormalization(), (3, 4)),
        (lambda: keras.Sequential([L.Conv1D(2, 2), L.GlobalMaxPooling1D(), L.Dense(2)]), (3, 4, 2)),
    ],
)  # fmt: skip
def test_a_layer_for_each_step(inner, shape, tmp_path):
    entry = keras.Input(shape, name="x")
    made.both(keras.Model(entry, L.TimeDistributed(inner())(entry)), tmp_path)


def test_repeating_and_embedding(tmp_path):
    entry = keras.Input((3,), name="x")
    numbers = keras.Input((2,), name="ids")
    made.both(
        keras.Model([entry, numbers], [L.RepeatVector(4)(entry), L.Embedding(5, 3)(numbers)]),
        tmp_path,
        {"x": np.ones((2, 3), "f4"), "ids": np.array([[0, 4], [2, 1]], "f4")},
    )


def test_masks_of_joined_sequences(tmp_path):
    """Keras 3 counts a step that counts in one of them, and writes the masks down as operations."""
    first, second = (keras.Input((6,), dtype="int32", name=name) for name in "ab")
    x, y = (L.Embedding(4, 4, mask_zero=True)(one) for one in (first, second))
    bare = L.Embedding(4, 4)(second)
    joined = [
        L.Add()([x, y]),
        L.Concatenate()([x, y]),
        L.Concatenate()([x, bare]),
        L.Add()([x, bare]),
        L.Masking()(bare),
    ]
    joined.append(L.Concatenate(axis=1)([x, y]))
    outputs = [L.LSTM(2)(one) for one in joined] + [L.Attention()([one, one]) for one in joined]
    feed = {"a": TOKENS, "b": TOKENS[::-1, ::-1].copy()}
    made.both(keras.Model([first, second], outputs), tmp_path, feed)


def test_a_sequential_model_inside_that_takes_whole_numbers(tmp_path):
    entry = keras.Input((6,), dtype="int32", name="x")
    inner = keras.Sequential([L.Embedding(4, 3, mask_zero=True), L.GRU(2)])
    made.both(keras.Model(entry, L.Dense(2)(inner(entry))), tmp_path, {"x": TOKENS})
