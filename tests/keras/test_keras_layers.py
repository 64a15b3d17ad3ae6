"""Every class of layers over its options, against Keras itself."""

from __future__ import annotations

import keras_models as made
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from py_autodoc.keras.layers.activation import FORMULAS

pytestmark = [pytest.mark.slow, *made.QUIET, pytest.mark.usefixtures("in_thread")]
keras = made.keras()
L = keras.layers
FEW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
SOME = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
WORDS = ("valid", "same")
FORMATS = ("channels_last", "channels_first")


def one(
    layer, *shapes, dtype="float32", feed=None, tolerance=1e-5, forms=("keras", "h5"), batch=None, **call
):
    """A model of one layer."""
    inputs = [
        keras.Input(
            shape[1:] if batch is None else None,
            batch_shape=None if batch is None else (batch, *shape[1:]),
            dtype=dtype,
            name=f"in{at}",
        )
        for at, shape in enumerate(shapes)
    ]
    out = layer(inputs if len(inputs) > 1 else inputs[0], **call)
    return made.saved(keras.Model(inputs, out), feed, tolerance, forms=forms)


sizes = st.integers(1, 4)


@st.composite
def windows(draw, dims):
    """Settings of a convolution and the shape of its input."""
    kernel = tuple(draw(sizes) for _ in range(dims))
    moved = draw(st.booleans())
    strides = tuple(draw(st.integers(1, 3)) for _ in range(dims)) if moved else (1,) * dims
    dilation = (1,) * dims if moved else tuple(draw(st.integers(1, 3)) for _ in range(dims))
    space = tuple((k - 1) * d + 1 + draw(st.integers(0, 5)) for k, d in zip(kernel, dilation, strict=True))
    first = draw(st.sampled_from(FORMATS))
    groups = draw(st.sampled_from([1, 2]))
    channels = groups * draw(st.integers(1, 2))
    shape = (None, channels, *space) if first == FORMATS[1] else (None, *space, channels)
    return {
        "kernel_size": kernel, "strides": strides, "dilation_rate": dilation,
        "padding": draw(st.sampled_from(WORDS)),
        "data_format": first, "use_bias": draw(st.booleans()),
    }, groups, shape  # fmt: skip


@pytest.mark.parametrize("dims", [1, 2, 3])
@SOME
@given(data=st.data())
def test_convolution(dims, data):
    options, groups, shape = data.draw(windows(dims))
    one(getattr(L, f"Conv{dims}D")(2 * groups, groups=groups, **options), shape, forms=("keras",))


@FEW
@given(kernel=sizes, dilation=st.integers(1, 3), strides=st.integers(1, 2), n=st.integers(10, 14))
def test_causal_convolution(kernel, dilation, strides, n):
    assume(strides == 1 or dilation == 1)
    one(L.Conv1D(3, kernel, strides, "causal", dilation_rate=dilation), (None, n, 2))


@pytest.mark.parametrize("dims", [1, 2])
@FEW
@given(data=st.data(), each=st.integers(1, 3), points=st.booleans())
def test_depthwise_and_separable(dims, data, each, points):
    options, _, shape = data.draw(windows(dims))
    # TensorFlow and Keras take only equal strides here.
    options["strides"] = (options["strides"][0],) * dims
    kind = f"{'Separable' if points else 'Depthwise'}Conv{dims}D"
    given_filters = (3,) if points else ()
    one(getattr(L, kind)(*given_filters, depth_multiplier=each, **options), shape, forms=("h5",))


@pytest.mark.parametrize("dims", [1, 2, 3])
@FEW
@given(data=st.data())
def test_transposed_convolution(dims, data):
    kernel = tuple(data.draw(st.integers(1, 5)) for _ in range(dims))
    strides = tuple(data.draw(st.integers(1, 3)) for _ in range(dims))
    padding = data.draw(st.sampled_from(WORDS))
    # Keras on torch differs from TensorFlow where the strides are longer than the kernel, and says so.
    assume(all(k >= s for k, s in zip(kernel, strides, strict=True)))
    # … and where it would have to pad one side more.
    assume(padding == "valid" or all((k - s) % 2 == 0 for k, s in zip(kernel, strides, strict=True)))
    space = tuple(data.draw(st.integers(1, 5)) for _ in range(dims))
    one(getattr(L, f"Conv{dims}DTranspose")(3, kernel, strides, padding), (None, *space, 2), forms=("keras",))


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@SOME
@given(data=st.data())
def test_pools(kind, dims, data):
    pool = tuple(data.draw(sizes) for _ in range(dims))
    strides = data.draw(st.one_of(st.none(), st.tuples(*[st.integers(1, 3)] * dims)))
    space = tuple(k + data.draw(st.integers(0, 5)) for k in pool)
    padding, form = data.draw(st.sampled_from(WORDS)), data.draw(st.sampled_from(FORMATS))
    if kind == "Average" and padding == "same":
        # Keras on torch repeats the edge where it pads one side more; see the models of TensorFlow.
        steps = strides or pool
        missing = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(space, steps, pool, strict=True)]
        assume(all(one % 2 == 0 for one in missing))
    shape = (None, 2, *space) if form == FORMATS[1] else (None, *space, 2)
    one(getattr(L, f"{kind}Pooling{dims}D")(pool, strides, padding, form), shape, forms=("keras",))


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("keep", [False, True])
def test_global_pools(kind, dims, form, keep):
    shape = (None, *range(3, 3 + dims), 2) if form == FORMATS[0] else (None, 2, *range(3, 3 + dims))
    one(getattr(L, f"Global{kind}Pooling{dims}D")(data_format=form, keepdims=keep), shape, forms=("h5",))


@pytest.mark.parametrize("name", sorted(set(FORMULAS) - {"glu"}))
def test_every_activation(name, tmp_path):
    """By name in another layer, as a layer, and for a tensor that lies channels first."""
    entry = keras.Input((4, 5, 3))
    x = L.Conv2D(4, 2, activation=name)(entry)
    model = keras.Model(
        entry, [x, L.Activation(name)(entry), L.Dense(3, activation=name)(L.Flatten()(entry))]
    )
    made.both(model, tmp_path, tolerance=2e-5)


def test_glu_halves_the_features(tmp_path):
    entry = keras.Input((4, 6))
    made.both(keras.Model(entry, L.Activation("glu")(entry)), tmp_path)


@pytest.mark.parametrize("opset", [18, 19, 20, 21, 22, 23])
def test_each_version_of_the_operators(opset, tmp_path):
    entry = keras.Input((8, 8, 4))
    x = L.GroupNormalization(2)(L.Conv2D(4, 3, padding="same", activation="gelu")(entry))
    x = L.UpSampling2D(2)(L.AveragePooling2D(2)(L.LayerNormalization()(x)))
    x = L.GlobalAveragePooling2D()(L.ZeroPadding2D()(x))
    made.both(keras.Model(entry, L.Softmax()(x)), tmp_path, opset=opset)


@SOME
@given(data=st.data())
def test_rectifiers(data):
    kind = data.draw(st.sampled_from(["ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax"]))
    number = st.sampled_from([0.0, 0.25, 0.5])
    layer = {
        "ReLU": lambda: L.ReLU(
            max_value=data.draw(st.sampled_from([None, 1.0, 6.0])),
            negative_slope=data.draw(number),
            threshold=data.draw(number),
        ),
        "LeakyReLU": lambda: L.LeakyReLU(negative_slope=data.draw(number)),
        "ELU": lambda: L.ELU(alpha=0.5 + data.draw(number)),
        "PReLU": lambda: L.PReLU(shared_axes=data.draw(st.sampled_from([None, [1], [1, 2], [3]]))),
        "Softmax": lambda: L.Softmax(axis=data.draw(st.sampled_from([-1, 1, 2, [1, 3]]))),
    }[kind]()
    entry = keras.Input((4, 5, 3))
    turned = data.draw(st.booleans())
    out = layer(L.Conv2D(3, 1)(entry) if turned else entry)
    made.saved(keras.Model(entry, out), forms=("keras",))


@SOME
@given(data=st.data())
def test_normalizations(data):
    kind = data.draw(st.sampled_from(["Batch", "Layer", "Group", "RMS", "Unit"]))
    rank = data.draw(st.integers(2, 5))
    shape = (*(None, 4, 5, 3, 2)[: rank - 1], 4)
    flags = {"scale": data.draw(st.booleans()), "center": data.draw(st.booleans())}
    epsilon = data.draw(st.sampled_from([1e-3, 1e-5]))
    axis = data.draw(st.integers(1, rank - 1))
    several = sorted(data.draw(st.sets(st.integers(1, rank - 1), min_size=1)))
    # Keras on torch takes neighbouring axes for the last ones; see the models of TensorFlow.
    assume(kind != "Layer" or several[-1] == rank - 1 or several[-1] - several[0] != len(several) - 1)
    layer = {
        "Batch": lambda: L.BatchNormalization(axis=axis, epsilon=epsilon, **flags),
        "Layer": lambda: L.LayerNormalization(axis=several, epsilon=epsilon, **flags),
        "Group": lambda: L.GroupNormalization(
            groups=data.draw(st.sampled_from([1, 2, -1])), epsilon=epsilon, **flags
        ),
        "RMS": lambda: L.RMSNormalization(axis=-1, epsilon=epsilon),
        "Unit": lambda: L.UnitNormalization(axis=several),
    }[kind]()
    one(layer, shape, tolerance=3e-5, forms=("h5",), batch=2)


@pytest.mark.parametrize("axis", [-1, 1, (1, 2), None])
@pytest.mark.parametrize("invert", [False, True])
def test_normalization_of_data(axis, invert, tmp_path):
    layer = L.Normalization(axis=axis, invert=invert)
    layer.adapt(np.random.default_rng(0).normal(2, 3, (20, 4, 5)).astype("f4"))
    entry = keras.Input((4, 5))
    made.both(keras.Model(entry, layer(entry)), tmp_path, vary=False)


def test_normalization_by_given_numbers_and_rescaling(tmp_path):
    entry = keras.Input((4, 4, 3))
    x = L.Rescaling(1 / 255, offset=-0.5)(entry)
    y = L.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 5.0, 6.0])(entry)
    z = L.Rescaling([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])(L.Conv2D(3, 1)(entry))
    made.both(keras.Model(entry, [x, y, z, L.Normalization(mean=1.0, variance=2.0)(entry)]), tmp_path)


@SOME
@given(data=st.data())
def test_moving_numbers_around(data):
    dims = data.draw(st.integers(1, 3))
    kind = data.draw(
        st.sampled_from(["ZeroPadding", "Cropping", "UpSampling", "Permute", "Reshape", "Flatten"])
    )
    form = data.draw(st.sampled_from(FORMATS)) if dims > 1 else FORMATS[0]
    space = (5, 4, 6)[:dims]
    shape = (None, 2, *space) if form == FORMATS[1] else (None, *space, 2)
    pair = st.tuples(st.integers(0, 1), st.integers(0, 2))
    margins = data.draw(pair if dims == 1 else st.tuples(*[pair] * dims))
    more = {"data_format": form} if dims > 1 else {}
    layer = {
        "ZeroPadding": lambda: getattr(L, f"ZeroPadding{dims}D")(margins, **more),
        "Cropping": lambda: getattr(L, f"Cropping{dims}D")(margins, **more),
        "UpSampling": lambda: getattr(L, f"UpSampling{dims}D")(2 if dims == 1 else (2, 3, 1)[:dims], **more),
        "Permute": lambda: L.Permute(data.draw(st.permutations(range(1, len(shape))))),
        "Reshape": lambda: L.Reshape(data.draw(st.sampled_from([(-1,), (2, -1), (-1, 5, 1), (1, 2, -1, 1)]))),
        "Flatten": lambda: L.Flatten(data_format=form),
    }[kind]()
    one(layer, shape, forms=("keras",))


@pytest.mark.parametrize("how", ["nearest", "bilinear"])
def test_larger_pictures(how):
    one(L.UpSampling2D((3, 2), interpolation=how), (None, 4, 5, 2))


@SOME
@given(data=st.data())
def test_joining(data):
    kind = data.draw(
        st.sampled_from(["Add", "Multiply", "Average", "Maximum", "Minimum", "Subtract", "Concatenate"])
    )
    rank = data.draw(st.integers(2, 4))
    full = (None, 3, 4, 5)[:rank]
    count = 2 if kind == "Subtract" else data.draw(st.integers(2, 4))
    if kind == "Concatenate":
        axis = data.draw(st.integers(1, rank - 1))
        shapes = [(*full[:axis], data.draw(sizes), *full[axis + 1 :]) for _ in range(count)]
        one(L.Concatenate(axis=data.draw(st.sampled_from([axis, axis - rank]))), *shapes, forms=("keras",))
        return
    shapes = [full] + [
        tuple(n if at == 0 or data.draw(st.booleans()) else 1 for at, n in enumerate(full))
        for _ in range(count - 1)
    ]
    one(getattr(L, kind)(), *shapes, forms=("h5",))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "axes"),
    [
        ((4,), (4,), 1),
        ((3, 4), (3, 4), 1),
        ((3, 4), (4, 5), (2, 1)),
        ((3, 4), (4,), (2, 1)),
        ((4,), (3, 4), (1, 2)),
        ((3, 4), (5, 4), -1),
    ],
)
def test_dot(first, second, axes, normalize):
    one(L.Dot(axes, normalize), (None, *first), (None, *second))


@pytest.mark.parametrize(
    ("equation", "output", "bias", "shape"),
    [("abc,cd->abd", (None, 6), "d", (5, 3)), ("...x,xy->...y", (4, 6), None, (4, 3)),
     ("abc,cde->abde", (None, 2, 3), "de", (5, 4)),
     ("ab,bc->ac", 7, "c", (3,))],
)  # fmt: skip
def test_products_by_equation(equation, output, bias, shape):
    one(L.EinsumDense(equation, output, bias_axes=bias), (None, *shape))


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3)])
def test_dense(shape):
    one(L.Dense(5, activation="tanh"), (None, *shape))
    one(L.Dense(5, use_bias=False), (None, *shape))


def test_what_does_nothing_leaves_no_node(tmp_path):
    entry = keras.Input((4, 4, 3))
    x = entry
    for layer in (
        L.Dropout(0.5),
        L.SpatialDropout2D(0.2),
        L.GaussianNoise(1.0),
        L.GaussianDropout(0.1),
        L.AlphaDropout(0.3),
        L.Identity(),
        L.ActivityRegularization(0.1),
        L.RandomFlip(),
    ):
        x = layer(x)
    result, _ = made.both(keras.Model(entry, L.Conv2D(2, 3)(x)), tmp_path)
    assert made.operators(result) == ["Transpose", "Conv", "Transpose"]
    assert result.sidecar["modules"]["dropout"]["status"] == "folded"
