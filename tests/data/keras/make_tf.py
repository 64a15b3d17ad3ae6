"""Makes ``tf2_*.h5``, ``tf2_*.keras`` and their ``.npz`` with TensorFlow and Keras 2.

    pip install tensorflow-cpu tf_keras
    TF_USE_LEGACY_KERAS=1 python tests/data/keras/make_tf.py

Each ``.npz`` holds the inputs by name and the outputs as ``y0``, ``y1``, …: what TensorFlow computed.
Tests only read the files.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers as L

HERE = Path(__file__).parent
RNG = np.random.default_rng(0)


def varied(model):
    """Weights that tell each other apart: moving moments too."""
    model.set_weights(
        [
            RNG.uniform(0.1, 0.6, w.shape).astype(w.dtype)
            * (1 if w.ndim < 2 else RNG.choice([-1, 1], w.shape))
            for w in model.get_weights()
        ]
    )
    return model


def save(name, model, feed, zipped=False):
    model = varied(model)
    outputs = model(feed if len(feed) > 1 else next(iter(feed.values())))
    flat = tf.nest.flatten(outputs)
    for form in ("h5", "keras") if zipped else ("h5",):
        model.save(HERE / f"{name}.{form}")
    np.savez(HERE / f"{name}.npz", **feed, **{f"y{i}": np.asarray(one) for i, one in enumerate(flat)})
    print(name, [one.shape for one in flat])


def nested():
    image = keras.Input((9, 7, 3), name="image")
    frozen = keras.Sequential(
        [L.Conv2D(4, 3, strides=2, padding="same"), L.BatchNormalization(), L.ReLU(6.0)], name="frozen"
    )
    frozen.trainable = False
    alive_in = keras.Input((5, 4, 4))
    alive = keras.Model(
        alive_in,
        [L.ReLU()(L.BatchNormalization(scale=False)(L.Conv2D(4, 1)(alive_in))), L.MaxPool2D()(alive_in)],
        name="alive",
    )
    x = frozen(image)
    a, b = alive(x)
    c, d = alive(a)
    shared = L.Dense(3, activation="hard_sigmoid", name="shared")
    e, f = shared(L.GlobalAveragePooling2D()(c)), shared(L.GlobalMaxPooling2D()(b))
    out = L.Concatenate()([L.Flatten()(d), L.Add()([e, f]), L.Dot(1)([e, f])])
    return keras.Model(image, [out, L.Softmax()(e)], name="nested"), {"image": RNG.random((2, 9, 7, 3), "f4")}


def recurrent():
    tokens = keras.Input((6,), name="tokens", dtype="int32")
    series = keras.Input((5, 3), name="series")
    e = L.Embedding(12, 4, mask_zero=True)(tokens)
    plain, *states = L.LSTM(3, return_sequences=True, return_state=True)(series)
    outputs = [
        L.LSTM(3)(e),
        L.Bidirectional(L.GRU(2, return_sequences=True))(e),
        L.GRU(3, reset_after=False, return_sequences=True)(e),
        L.GlobalAveragePooling1D()(e),
        L.GRU(4, go_backwards=True, return_sequences=True)(series),
        L.GRU(2, reset_after=False)(plain),
        L.LSTM(3, recurrent_activation="hard_sigmoid")(plain, initial_state=states),
        L.SimpleRNN(2, activation="relu", return_sequences=True)(L.Masking(0.5)(series)),
        L.Bidirectional(L.LSTM(2), merge_mode="ave")(series),
        L.TimeDistributed(L.Dense(2, activation="tanh"))(plain),
        L.RNN([L.LSTMCell(3), L.GRUCell(2)])(series),
        L.Attention(use_scale=True)([e, e]),
        L.AdditiveAttention()([plain, series]),
        L.MultiHeadAttention(2, 3, name="mha")(plain, series),
    ]
    feed = {
        "tokens": np.array([[1, 4, 0, 3, 0, 0], [0, 2, 5, 11, 1, 7]], "i4"),
        "series": RNG.random((2, 5, 3), "f4"),
    }
    feed["series"][1, 2] = 0.5
    return keras.Model([tokens, series], outputs, name="recurrent"), feed


def masks():
    first, second = (keras.Input((6,), name=name, dtype="int32") for name in ("first", "second"))
    x, y = (L.Embedding(4, 4, mask_zero=True)(one) for one in (first, second))
    bare = L.Embedding(4, 4)(second)
    joined = [L.Add()([x, y]), L.Concatenate()([x, y])]
    joined += [L.Multiply()([x, bare]), L.Concatenate(axis=1)([x, y])]
    outputs = [L.LSTM(2)(one) for one in joined] + [L.Attention()([one, one]) for one in joined]
    rows = np.array([[1, 2, 0, 3, 0, 0], [0, 0, 3, 1, 2, 3]], "i4")
    feed = {"first": rows, "second": rows[::-1, ::-1].copy()}
    return keras.Model([first, second], outputs, name="masks"), feed


def windows():
    x = keras.Input((7, 10, 2), name="x")
    line = keras.Input((9, 3), name="line")
    cube = keras.Input((4, 5, 6, 2), name="cube")
    outputs = [
        L.AveragePooling2D(3, 2, "same")(x),
        L.AveragePooling2D((2, 4), (1, 3), "same")(x),
        L.MaxPooling2D((3, 2), 2, "same")(x),
        L.Conv2D(3, (3, 4), (2, 3), "same")(x),
        L.Conv2D(4, 3, padding="same", dilation_rate=2, groups=2)(x),
        L.DepthwiseConv2D((2, 3), 2, "same", depth_multiplier=2, activation="elu")(x),
        L.SeparableConv2D(3, 4, padding="same", activation="swish")(x),
        L.Conv2DTranspose(3, 3, 2, "same")(x),
        L.Conv2DTranspose(3, 4, 2, "same")(x),
        L.Conv2DTranspose(3, (2, 5), (3, 2), "valid")(x),
        L.Conv2DTranspose(3, 3, 2, "same", output_padding=1)(x),
        L.Conv2DTranspose(2, 3, 1, "same")(x),
        L.UpSampling2D((2, 3), interpolation="bilinear")(x),
        L.UpSampling2D(2)(x),
        L.ZeroPadding2D(((1, 0), (2, 3)))(x),
        L.Cropping2D(((1, 0), (2, 3)))(x),
        L.LeakyReLU()(x),
        L.PReLU(shared_axes=[1, 2])(x),
        L.ThresholdedReLU(0.4)(x),
        L.LayerNormalization(axis=[1, 3])(x),
        L.LayerNormalization(axis=1)(x),
        L.LayerNormalization(axis=[1, 2], scale=False)(x),
        L.Conv2DTranspose(3, 2, 3, "valid")(x),
        L.Conv2DTranspose(3, (2, 3), (3, 4), "same")(x),
        L.GroupNormalization(groups=1)(x),
        L.UnitNormalization(axis=[1, 2])(x),
        L.Conv1D(4, 3, padding="causal", dilation_rate=2)(line),
        L.Conv1D(4, 4, strides=2, padding="same", activation="gelu")(line),
        L.Conv1DTranspose(2, 3, strides=2, padding="same")(line),
        L.SeparableConv1D(2, 3, padding="same")(line),
        L.AveragePooling1D(4, 3, "same")(line),
        L.Conv3D(3, (2, 3, 2), (1, 2, 2), "same", activation="selu")(cube),
        L.AveragePooling3D(2, 2, "same")(cube),
        L.MaxPooling3D((1, 2, 3), 2, "same")(cube),
        L.Conv3DTranspose(2, 2, 2, "same")(cube),
    ]
    feed = {
        "x": RNG.normal(size=(2, 7, 10, 2)).astype("f4"),
        "line": RNG.normal(size=(2, 9, 3)).astype("f4"),
        "cube": RNG.normal(size=(1, 4, 5, 6, 2)).astype("f4"),
    }
    feed["cube"] = np.repeat(feed["cube"], 2, 0)
    return keras.Model([x, line, cube], outputs, name="windows"), feed


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["nested", "recurrent", "masks", "windows"]
    for each in wanted:
        save(
            f"tf2_{each}",
            *{"nested": nested, "recurrent": recurrent, "masks": masks, "windows": windows}[each](),
            zipped=True,
        )
