"""Reading weights on request: every storage form, external data, damaged files, bounded memory."""

from __future__ import annotations

import math
import os
import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.protobuf.protobuf_wire import encode_varint
from py_autodoc.graph.tensor_data.tensor_decoding import decode, varints
from py_autodoc.graph.tensor_data.weight_reader import read_weights

DATA = Path(__file__).parent.parent / "data"
F = TensorProto.FLOAT


def holder(*tensors):
    """A model whose initializers are ``tensors``."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", F, [1])],
        [helper.make_tensor_value_info("y", F, [1])],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def read(path):
    loaded = load(path)
    model = build(loaded)
    facts, notes = read_weights(loaded, model, str(path))
    return {model.tensors[f.tensor].name: f for f in facts}, notes


def saved(tmp_path, *tensors):
    path = tmp_path / "m.onnx"
    path.write_bytes(holder(*tensors).SerializeToString())
    return path


def check(fact, values):
    """The facts against numpy on the whole array."""
    values = np.asarray(values).astype(np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    assert fact.elements == values.size
    assert (fact.nan, fact.inf) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert fact.zero == (values == 0).sum()
    if finite.size:
        assert (fact.minimum, fact.maximum) == (finite.min(), finite.max())
        assert math.isclose(fact.mean, finite.mean(), rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(fact.std, finite.std(), rel_tol=1e-9, abs_tol=1e-12)
    else:
        assert (fact.minimum, fact.maximum, fact.mean, fact.std) == (None,) * 4


def numbers(count, seed=0):
    return np.random.default_rng(seed).normal(3, 2, count).astype(np.float32)


@pytest.mark.parametrize("count", [1, 100, 5000, 600_001])
def test_raw_floats(tmp_path, count):
    values = numbers(count)
    values[0] = 0
    if count > 1:
        values[count // 2], values[-1] = np.nan, -np.inf
    facts, notes = read(saved(tmp_path, numpy_helper.from_array(values, "w")))
    check(facts["w"], values)
    assert not notes


@pytest.mark.parametrize("count", [0, 7, 3001, 300_000])
@pytest.mark.parametrize(
    "dtype",
    [
        np.float32,
        np.float64,
        np.int64,
        np.int32,
        np.uint64,
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.float16,
    ],
)
def test_typed_fields_say_the_same_as_raw_data(tmp_path, dtype, count):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    values = (np.random.default_rng(1).normal(0, 1, count) * 90).astype(dtype)
    typed = helper.make_tensor("typed", kind, [count], values.tolist())
    raw = numpy_helper.from_array(values, "raw")
    assert not typed.HasField("raw_data")
    facts, notes = read(saved(tmp_path, typed, raw))
    assert not notes
    check(facts["raw"], values)
    check(facts["typed"], values)
    assert facts["typed"].digest == facts["raw"].digest


@pytest.mark.parametrize("count", [5, 40_001])
@pytest.mark.parametrize(
    "kind",
    [
        TensorProto.BFLOAT16,
        TensorProto.FLOAT8E4M3FN,
        TensorProto.FLOAT8E4M3FNUZ,
        TensorProto.FLOAT8E5M2,
        TensorProto.FLOAT8E5M2FNUZ,
        TensorProto.INT4,
        TensorProto.UINT4,
        TensorProto.FLOAT4E2M1,
    ],
)
def test_small_types(tmp_path, kind, count):
    packed = kind in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1)
    size = (count + 1) // 2 if packed else count * (2 if kind == TensorProto.BFLOAT16 else 1)
    stored = np.random.default_rng(2).integers(0, 256, size, np.uint8).tobytes()
    tensor = TensorProto(name="w", data_type=kind, dims=[count], raw_data=stored)
    facts, notes = read(saved(tmp_path, tensor))
    assert not notes
    with np.errstate(invalid="ignore"):
        check(facts["w"], numpy_helper.to_array(tensor).astype(np.float64))


@pytest.mark.parametrize("count", [8, 40_000])
def test_packed_types_in_a_typed_field(tmp_path, count):
    values = np.random.default_rng(3).integers(-8, 8, count)
    typed = helper.make_tensor("typed", TensorProto.INT4, [count], values.tolist())
    raw = numpy_helper.from_array(values.astype(ml_dtypes.int4), "raw")
    facts, notes = read(saved(tmp_path, typed, raw))
    assert not notes
    check(facts["typed"], values)
    assert facts["raw"].digest == facts["typed"].digest


def test_complex_numbers_have_no_extremes(tmp_path):
    values = np.array([1 + 1j, 0, complex("nan"), complex("inf")] * 400, np.complex64)
    fact = read(saved(tmp_path, numpy_helper.from_array(values, "w")))[0]["w"]
    assert (fact.nan, fact.inf, fact.zero, fact.minimum, fact.mean) == (400, 400, 400, None, None)


def test_overflowing_moments_are_unknown(tmp_path):
    values = np.array([1e308, -1e308, 1e308, 1e308])
    fact = read(saved(tmp_path, numpy_helper.from_array(values, "w")))[0]["w"]
    assert (fact.minimum, fact.maximum, fact.std) == (-1e308, 1e308, None)


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_bits_come_lowest_first(bits):
    kind = {2: 25, 4: int(TensorProto.UINT4), 6: 27}[bits]
    if kind not in TensorProto.DataType.values():
        pytest.skip("this onnx has no such type")
    count = 24
    data = np.random.default_rng(4).integers(0, 256, count * bits // 8, np.uint8).tobytes()
    whole = numpy_helper.to_array(TensorProto(data_type=kind, dims=[count], raw_data=data))
    assert decode(data, kind, count).astype(np.float64).tolist() == whole.astype(np.float64).tolist()


def test_varints_across_pieces():
    values = [0, 1, 127, 128, 300, 2**31 - 1, -1, -(2**63), 2**63 - 1] * 50
    data = b"".join(encode_varint(v & (1 << 64) - 1) for v in values)
    for size in (1, 2, 7, 64, len(data)):
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        assert np.concatenate(list(varints(pieces))).tolist() == values
    for broken in (b"\x80" * 11, b"\x01\x80", b"\xff" * 10 + b"\x01"):
        with pytest.raises(ValueError):
            list(varints([broken]))


def external(name, location, count, offset=None, length=None, kind=F):
    tensor = TensorProto(name=name, data_type=kind, dims=[count], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_external_data(tmp_path):
    values = numbers(3000)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(b"12345678" + values.tobytes())
    whole = external("w", "sub/w.bin", 3000, 8, 12_000)
    again = external("again", "sub/w.bin", 3000, 8)
    facts, notes = read(saved(tmp_path, whole, again))
    assert not notes
    check(facts["w"], values)
    assert facts["again"].digest == facts["w"].digest


@pytest.mark.parametrize(
    ("location", "offset", "length", "why"),
    [
        ("gone.bin", 0, 40, "not there"),
        ("../outside.bin", 0, 40, "outside"),
        ("{outside}", 0, 40, "outside"),
        ("link.bin", 0, 40, "outside"),
        ("linked/outside.bin", 0, 40, "outside"),
        ("in.bin", 8, 40, "reach to byte"),
        ("in.bin", 1 << 62, 40, "reach to byte"),
        ("in.bin", 0, 1 << 62, "it needs 40 bytes"),
        ("in.bin", 0, 36, "it needs 40 bytes"),
        ("in.bin", -4, 40, "negative"),
        ("in.bin", "many", 40, "not a number"),
        ("in.bin", "9" * 5000, 40, "not a number"),
        ("folder", 0, 40, "cannot be read"),
        ("pipe", 0, 40, "cannot be read"),
        ("a\0b", 0, 40, "outside"),
    ],
)
def test_what_is_not_read_of_external_data(tmp_path, location, offset, length, why):
    home = tmp_path / "home"
    home.mkdir()
    outside = tmp_path / "outside.bin"
    for file in (outside, home / "in.bin"):
        file.write_bytes(b"\0" * 40)
    (home / "link.bin").symlink_to(outside)
    (home / "linked").symlink_to(tmp_path)
    (home / "folder").mkdir()
    os.mkfifo(home / "pipe")
    tensor = external("w", location.replace("{outside}", str(outside)), 10, offset, length)
    facts, notes = read(saved(home, tensor, numpy_helper.from_array(numbers(3), "other")))
    assert set(facts) == {"other"}
    (note,) = notes
    assert (note.code, note.severity) == ("weights-unread", "info")
    assert why in note.message
    assert str(tmp_path) not in note.message + note.where


def test_a_linked_model_finds_its_data_beside_the_target(tmp_path):
    blobs = tmp_path / "blobs"
    shown = tmp_path / "shown"
    blobs.mkdir()
    shown.mkdir()
    values = numbers(10)
    (blobs / "w.bin").write_bytes(values.tobytes())
    real = saved(blobs, external("w", "w.bin", 10))
    (shown / "m.onnx").symlink_to(real)
    (shown / "w.bin").symlink_to(blobs / "w.bin")
    facts, notes = read(shown / "m.onnx")
    assert not notes
    check(facts["w"], values)


def test_a_model_in_memory_has_no_folder(tmp_path):
    data = holder(
        external("w", "w.bin", 10), numpy_helper.from_array(numbers(5000), "inside")
    ).SerializeToString()
    loaded = load_bytes(data)
    model = build(loaded)
    facts, notes = read_weights(loaded, model, data)
    assert [model.tensors[f.tensor].name for f in facts] == ["inside"]
    check(facts[0], numbers(5000))
    assert [note.code for note in notes] == ["weights-unread"]


def test_a_file_that_became_shorter(tmp_path):
    path = saved(tmp_path, numpy_helper.from_array(numbers(5000), "w"))
    loaded = load(path)
    model = build(loaded)
    os.truncate(path, 3000)
    facts, notes = read_weights(loaded, model, str(path))
    assert not facts
    assert [note.message for note in notes] == ["Its values were not read: the model file changed."]
    path.unlink()
    assert not read_weights(loaded, model, str(path))[0]


@pytest.mark.parametrize(
    "tensor",
    [
        TensorProto(name="w", data_type=F, dims=[4000], raw_data=b"\0" * 15_999),
        TensorProto(name="w", data_type=F, dims=[1 << 40, 1 << 40], raw_data=b"\0" * 8000),
        TensorProto(name="w", data_type=F, dims=[-3], raw_data=b"\0" * 8000),
        TensorProto(name="w", data_type=99, dims=[1000], raw_data=b"\0" * 8000),
        TensorProto(name="w", data_type=F, dims=[5], raw_data=b"\0" * 3),
        TensorProto(name="w", data_type=F, dims=[5]),
        TensorProto(name="w", data_type=F, dims=[3], int64_data=[1, 2, 3]),
        TensorProto(name="w", data_type=F, dims=[3000], int64_data=[1 << 50] * 3000),
        TensorProto(name="w", data_type=TensorProto.INT64, dims=[4], int64_data=[1, 2, 3]),
        TensorProto(name="w", data_type=TensorProto.INT64, dims=[2000], int64_data=[1 << 40] * 3000),
    ],
    ids=lambda t: f"{t.data_type}-{list(t.dims)}",
)
def test_data_that_do_not_fit_are_not_read(tmp_path, tensor):
    facts, notes = read(saved(tmp_path, tensor))
    assert not facts
    assert [note.code for note in notes] == ["weights-unread"]


def test_many_claims_on_one_file_are_bounded(tmp_path):
    """1,000 tensors over one file, each shifted by a byte: no terabytes are read."""
    (tmp_path / "w.bin").write_bytes(b"\1" * 40_000)
    tensors = [external(f"w{i}", "w.bin", 30_000, i, kind=TensorProto.INT8) for i in range(1000)]
    facts, notes = read(saved(tmp_path, *tensors))
    assert len(facts) <= 5
    assert notes[-1].message == f"{1000 - len(facts) - 20:,} more of the same."


def test_constants_of_nodes_and_bodies(tmp_path):
    def body(name, value):
        out = helper.make_tensor_value_info(f"{name}_y", F, [2000])
        held = numpy_helper.from_array(np.full(2000, value, np.float32))
        nodes = [helper.make_node("Constant", [], [f"{name}_y"], value=held)]
        inner = numpy_helper.from_array(np.full(1500, 10 * value, np.float32), f"{name}_w")
        return helper.make_graph(nodes, name, [], [out], [inner])

    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("Constant", [], ["s"], value_float=2.0),
        helper.make_node("If", ["c"], ["y"], then_branch=body("yes", 1), else_branch=body("no", 2)),
        helper.make_node("If", ["c"], ["z"], then_branch=body("ja", 3), else_branch=body("nein", 4)),
    ]
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info(n, F, [2000]) for n in "yz"])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, ir_version=10).SerializeToString())
    facts, notes = read(path)
    assert not notes
    means = {name: fact.mean for name, fact in facts.items()}
    assert means == {
        "c": 1, "yes_y": 1, "no_y": 2, "ja_y": 3, "nein_y": 4,
        "yes_w": 10, "no_w": 20, "ja_w": 30, "nein_w": 40,
    }  # fmt: skip


@pytest.mark.parametrize("path", sorted((DATA / "models").glob("*.onnx")), ids=lambda path: path.name)
def test_equals_onnx_on_real_models(path):
    facts, _ = read(path)
    whole = onnx.load(path, load_external_data=path.name != "ddddocr_det.stripped.onnx")
    for tensor in whole.graph.initializer:
        if tensor.data_location != TensorProto.EXTERNAL and tensor.data_type != TensorProto.STRING:
            check(facts[tensor.name], numpy_helper.to_array(tensor))


@pytest.mark.parametrize("path", sorted((DATA / "stripped").glob("*.onnx")), ids=lambda path: path.name)
def test_stripped_models_say_what_is_missing(path):
    _, notes = read(path)
    assert {note.code for note in notes} == {"weights-unread"}
    assert all("not there" in note.message for note in notes[:-1])


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    size = 30_000_000
    file = tmp_path / "w.bin"
    file.write_bytes(b"")
    os.truncate(file, 8 * size)
    path = saved(tmp_path, external("w", "w.bin", size, kind=TensorProto.DOUBLE))
    loaded = load(path)
    model = build(loaded)
    tracemalloc.start()
    facts, _ = read_weights(loaded, model, str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert facts[0].zero == size
    assert peak < 64 << 20
