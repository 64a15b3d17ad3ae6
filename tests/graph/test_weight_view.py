"""One constant at a time: its statistics and values against numpy on the whole array."""

from __future__ import annotations

import math
import tracemalloc

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import CorruptModel, ExternalDataError, InputError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.tensor_data.tensor_decoding import code_values
from py_autodoc.graph.tensor_data.weight_distribution import BINS, MAX_BUFFERED_BYTES, PROBABILITIES
from py_autodoc.graph.tensor_data.weight_view import MAX_FIRST_VALUES, view_weight

F = TensorProto.FLOAT


def holder(*tensors, sparse=(), nodes=()):
    info = helper.make_tensor_value_info
    identity = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph(
        [*nodes, identity], "g", [info("x", F, [1])], [info("y", F, [1])], tensors, sparse_initializer=sparse
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def view(source, name="w", check=None):
    """The view of the constant of that name in a path or a model."""
    given = str(source) if hasattr(source, "parent") else source.SerializeToString()
    loaded = load(given) if isinstance(given, str) else load_bytes(given)
    model = build(loaded)
    (number,) = [t.id for t in model.tensors if t.name == name and t.is_constant]
    return view_weight(loaded, model, given, number, check)


def agree(found, values):
    """``found`` says of ``values`` what numpy says."""
    flat = np.asarray(values).reshape(-1)
    wide = flat if flat.dtype.kind in "iu" else flat.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    facts, spread = found.facts, found.spread
    assert (facts.elements, facts.zero) == (flat.size, np.count_nonzero(wide == 0))
    assert facts.nan + facts.inf == flat.size - finite.size
    if not finite.size:
        assert (spread.histogram, spread.quantiles, spread.distinct) == (None,) * 3
        return
    assert (facts.minimum, facts.maximum) == (finite.min(), finite.max())
    edges, counts = spread.histogram.edges, spread.histogram.counts
    assert len(edges) == len(counts) + 1 <= BINS + 1
    assert sum(counts) == finite.size
    for place, count in enumerate(counts):
        low, high = edges[place], edges[place + 1]
        last = place == len(counts) - 1 and not spread.histogram.integers
        inside = (finite >= low) & ((finite <= high) if last else (finite < high))
        # An edge may be rounded by one bit; numpy decides then.
        assert abs(int(inside.sum()) - count) <= (
            0 if spread.histogram.integers else np.sum(finite == high) + np.sum(finite == low)
        )
    expected = np.quantile(finite, PROBABILITIES, method="inverted_cdf")
    assert list(spread.quantiles) == expected.tolist()
    distinct = np.unique(finite).size
    assert spread.distinct == (distinct if distinct <= 1024 or BITS[found.dtype] <= 16 else None)


NUMPY = [
    np.float32,
    np.float64,
    np.float16,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
]


@pytest.mark.parametrize("count", [0, 1, 50, 300_000])
@pytest.mark.parametrize("dtype", NUMPY, ids=lambda t: t.__name__)
def test_numpy_types(dtype, count):
    values = (np.random.default_rng(count).normal(0, 30, count)).astype(np.float64)
    values = (np.abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)
    found = view(holder(numpy_helper.from_array(values, "w")))
    agree(found, values)
    assert found.first.tolist() == values[:MAX_FIRST_VALUES].tolist()


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda t: np.dtype(t).name
)
def test_what_is_not_finite_is_counted_and_left_out(dtype):
    values = np.arange(5000).astype(dtype)
    values[[3, 40, 4000]] = np.nan, np.inf, -np.inf
    found = view(holder(numpy_helper.from_array(values, "w")))
    assert (found.facts.nan, found.facts.inf) == (1, 2)
    agree(found, values)
    nothing = view(holder(numpy_helper.from_array(np.full(3000, np.nan, dtype), "w")))
    agree(nothing, np.full(3000, np.nan))


SMALL = {
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
    TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TensorProto.BFLOAT16: ml_dtypes.bfloat16,
}


@pytest.mark.parametrize("count", [3, 40_001])
@pytest.mark.parametrize("kind", SMALL, ids=TensorProto.DataType.Name)
def test_packed_and_small_types(kind, count):
    source = np.random.default_rng(1).normal(0, 3, count)
    values = np.clip(source, 0 if kind == TensorProto.UINT4 else -6, 6).astype(SMALL[kind])
    found = view(holder(numpy_helper.from_array(values, "w")))
    agree(found, values.astype(np.int64 if "INT" in TensorProto.DataType.Name(kind) else np.float64))
    assert found.first.tolist() == values[:MAX_FIRST_VALUES].astype(np.float64).tolist()


@pytest.mark.parametrize(
    "kind", [k for k, bits in BITS.items() if bits <= 16 and k not in (24, 25, 26, 27, 28)]
)
def test_every_code_has_its_value(kind):
    values = code_values(kind)
    assert values.size == 1 << BITS[kind]
    known = np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.size, bool)
    assert np.unique(values[known]).size > values.size // 3


def test_booleans():
    values = np.random.default_rng(0).random(9000) < 0.25
    found = view(holder(numpy_helper.from_array(values, "w")))
    assert found.spread.histogram.edges == (0, 1, 2)
    assert found.spread.histogram.counts == (int((~values).sum()), int(values.sum()))
    assert found.spread.distinct == 2


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (np.int64, [-(2**63), 2**63 - 1, 5]),
        (np.int64, [2**62, 2**62 + 1, 2**62 + 7]),
        (np.uint64, [0, 2**64 - 1]),
        (np.uint64, [2**64 - 3, 2**64 - 1]),
        (np.int32, [-(2**31), 2**31 - 1]),
    ],
)
def test_large_integers_are_exact(dtype, values):
    array = np.resize(np.array(values, dtype), 4000)
    found = view(holder(numpy_helper.from_array(array, "w")))
    assert (found.facts.minimum, found.facts.maximum) == (min(values), max(values))
    edges, counts = found.spread.histogram.edges, found.spread.histogram.counts
    assert edges[0] == min(values)
    assert edges[-1] > max(values)
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        assert count == sum(low <= int(v) < high for v in array.tolist())
    assert found.spread.distinct == len(values)


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, 1.7e308, 0.0],
        [1e16, 1e16 + 2],
        [5e-324, 1e-323],
        [3.5, 3.5],
        [0.0, -0.0],
    ],
    ids=str,
)
def test_odd_spans_of_doubles(values):
    array = np.resize(np.array(values), 1000)
    found = view(holder(numpy_helper.from_array(array, "w")))
    histogram = found.spread.histogram
    assert sum(histogram.counts) == 1000
    assert (histogram.edges[0], histogram.edges[-1]) == (min(values), max(values))
    assert all(math.isfinite(edge) for edge in histogram.edges)
    assert found.spread.distinct == np.unique(array).size


def test_complex_numbers_have_counts_only():
    array = np.resize(np.array([1 + 2j, 0, np.nan]), 3000).astype(np.complex64)
    found = view(holder(numpy_helper.from_array(array, "w")))
    assert (found.facts.zero, found.facts.nan) == (1000, 1000)
    assert found.facts.minimum is None
    assert found.spread.histogram is None
    assert found.first[0] == 1 + 2j


def test_text():
    found = view(holder(helper.make_tensor("w", TensorProto.STRING, [2], [b"a", b"\xff"])))
    assert (found.first, found.facts, found.stored) == (["a", "\\xff"], None, 2)
    long = view(holder(helper.make_tensor("w", TensorProto.STRING, [2000], [b"word"] * 2000)))
    assert (long.first, long.stored) == ([], 2000)


@pytest.mark.parametrize("flat", [True, False])
def test_sparse_initializers(flat):
    values = numpy_helper.from_array(np.array([1.5, -2, 4], np.float32), "w")
    places = [1, 5, 11] if flat else [[0, 1], [1, 1], [2, 3]]
    indices = numpy_helper.from_array(np.array(places, np.int64))
    proto = helper.make_sparse_tensor(values, indices, [3, 4])
    found = view(holder(sparse=[proto]))
    assert found.sparse
    assert (found.shape, found.stored, found.indices) == ((3, 4), 3, (1, 5, 11))
    assert found.first.tolist() == [1.5, -2, 4]
    assert found.facts.minimum == -2


@pytest.mark.parametrize("places", [[1, 5, 12], [-1, 2, 3], [[0, 1]]])
def test_sparse_indices_that_do_not_fit(places):
    values = numpy_helper.from_array(np.ones(3, np.float32), "w")
    proto = onnx.SparseTensorProto(values=values, dims=[3, 4])
    proto.indices.CopyFrom(numpy_helper.from_array(np.array(places, np.int64)))
    with pytest.raises(CorruptModel, match="indices"):
        view(holder(sparse=[proto]))


@pytest.mark.parametrize(
    ("attribute", "value", "first"),
    [
        ("value", numpy_helper.from_array(np.arange(2000, dtype=np.int32)), list(range(MAX_FIRST_VALUES))),
        ("value_float", 2.5, [2.5]),
        ("value_ints", list(range(3000)), list(range(MAX_FIRST_VALUES))),
        ("value_strings", ["a", "ü"], ["a", "ü"]),
    ],
)
def test_constant_nodes(attribute, value, first):
    node = helper.make_node("Constant", [], ["w"], **{attribute: value})
    found = view(holder(nodes=[node]))
    assert list(found.first) == first


def external(tmp_path, data, elements, location="w.bin", kind=F):
    if data is not None:
        (tmp_path / location).write_bytes(data)
    tensor = TensorProto(name="w", data_type=kind, dims=[elements], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    path = tmp_path / "m.onnx"
    path.write_bytes(holder(tensor).SerializeToString())
    return path


def test_a_missing_file_and_the_way_out(tmp_path):
    path = external(tmp_path, None, 1000)
    with pytest.raises(ExternalDataError) as caught:
        view(path)
    assert caught.value.code == "external-missing"
    assert "'w'" in caught.value.message
    assert "w.bin" in caught.value.hint
    (tmp_path / "w.bin").write_bytes(np.ones(1000, np.float32).tobytes())
    assert view(path).facts.mean == 1


def test_what_lies_outside_is_not_read(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.bin").write_bytes(b"\1" * 4000)
    with pytest.raises(ExternalDataError) as caught:
        view(external(inner, None, 1000, "../secret.bin"))
    assert caught.value.code == "external-outside"
    (inner / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ExternalDataError, match="outside"):
        view(external(inner, None, 1000, "link.bin"))


def test_damaged_and_changed(tmp_path):
    with pytest.raises(CorruptModel, match=r"reach to byte 4,000 of 3"):
        view(external(tmp_path, b"abc", 1000))
    path = tmp_path / "m.onnx"
    path.write_bytes(holder(numpy_helper.from_array(np.ones(5000, np.float32), "w")).SerializeToString())
    loaded = load(path)
    model = build(loaded)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError) as caught:
        view_weight(loaded, model, str(path), 0)
    assert caught.value.code == "file-changed"


def test_a_file_that_is_rewritten_between_the_readings(tmp_path):
    path = external(tmp_path, np.zeros(600_000, np.float32).tobytes(), 600_000)
    calls = []

    def rewrite():
        calls.append(1)
        if len(calls) == 4:  # three chunks in the first reading
            (tmp_path / "w.bin").write_bytes(np.full(600_000, 7, np.float32).tobytes())

    with pytest.raises(InputError) as caught:
        view(path, check=rewrite)
    assert caught.value.code == "file-changed"


def test_it_stops_when_told(tmp_path):
    path = external(tmp_path, np.zeros(2_000_000, np.float32).tobytes(), 2_000_000)
    seen = []

    class Enough(Exception):
        pass

    def check():
        seen.append(1)
        if len(seen) == 3:
            raise Enough

    with pytest.raises(Enough):
        view(path, check=check)
    assert len(seen) == 3


def test_memory_is_bounded_and_quantiles_are_left_out(tmp_path):
    elements = MAX_BUFFERED_BYTES // 4 + 1000
    path = external(tmp_path, b"", elements)
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(4 * elements)
    tracemalloc.start()
    found = view(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MAX_BUFFERED_BYTES
    assert found.spread.quantiles is None
    assert found.spread.histogram.counts == (elements,)
    assert found.spread.distinct == 1
