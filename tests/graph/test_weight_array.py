"""All values of a constant: the array and the ``.npy`` file, against what onnx and ml_dtypes read."""

from __future__ import annotations

import io
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import CorruptModel, ExternalDataError, InputError, LimitError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.tensor_data.weight_array import numpy_type, read_array

F = TensorProto.FLOAT
NATIVE = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]
LACKING = [
    number
    for number in sorted(set(BITS) - set(NATIVE))
    if number in (TensorProto.INT4, TensorProto.UINT4)
    or (number in TensorProto.DataType.values() and number in helper.get_all_tensor_dtypes())
]


def holder(*tensors, sparse=(), nodes=()):
    info = helper.make_tensor_value_info
    identity = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph(
        [*nodes, identity], "g", [info("x", F, [1])], [info("y", F, [1])], tensors, sparse_initializer=sparse
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def read(source, name="w", **options):
    """The constant of that name in a path or a model."""
    given = str(source) if hasattr(source, "parent") else source.SerializeToString()
    loaded = load(given) if isinstance(given, str) else load_bytes(given)
    model = build(loaded)
    (number,) = [t.id for t in model.tensors if t.name == name and t.is_constant]
    return read_array(loaded, model, given, number, **options)


def raw(elem_type, elements, dims):
    """A tensor of random stored bits, 0 and 1 for booleans."""
    rng = np.random.default_rng(elem_type)
    size = (elements * BITS[elem_type] + 7) // 8
    data = rng.integers(0, 2 if elem_type == TensorProto.BOOL else 256, size, np.uint8)
    if (elements * BITS[elem_type]) % 8:
        data[-1] &= (1 << (elements * BITS[elem_type]) % 8) - 1
    return TensorProto(name="w", data_type=elem_type, dims=dims, raw_data=data.tobytes())


def same(found, expected):
    """The array and the file both hold these values, to the bit where numpy has the type."""
    array = found.array()
    saved = np.load(io.BytesIO(bytes(found.data)), allow_pickle=False)
    for got in (array, saved):
        assert got.shape == expected.shape
        assert got.dtype.isnative or got.dtype.byteorder == "<"
        if found.converted:
            assert np.array_equal(got, expected.astype(got.dtype), equal_nan=got.dtype.kind == "f")
        else:
            assert got.dtype == expected.dtype
            assert got.tobytes() == expected.tobytes()
    assert array.flags.writeable


@pytest.mark.parametrize("elem_type", NATIVE + LACKING)
@pytest.mark.parametrize(("elements", "dims"), [(7 * 3, [7, 3]), (40_000, [4, 100, 100]), (1, [])])
def test_every_type_as_onnx_reads_it(elem_type, elements, dims):
    tensor = raw(elem_type, elements, dims)
    found = read(holder(tensor))
    assert found.converted == (elem_type in LACKING)
    same(found, numpy_helper.to_array(tensor))


def test_the_types_that_numpy_lacks():
    lacking = {TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.INT4, TensorProto.UINT4}
    assert lacking <= set(LACKING)
    assert numpy_type(TensorProto.BFLOAT16) == np.dtype("<f4")
    assert numpy_type(TensorProto.FLOAT8E5M2) == np.dtype("<f4")
    assert numpy_type(TensorProto.INT4) == np.int8
    assert numpy_type(TensorProto.UINT4) == np.uint8
    assert numpy_type(TensorProto.BOOL) == np.bool_


def test_typed_fields_external_data_and_constants(tmp_path):
    values = np.random.default_rng(0).normal(0, 1, (300, 70)).astype(np.float32)
    typed = helper.make_tensor("w", F, values.shape, values.reshape(-1))
    same(read(holder(typed)), values)
    integers = np.arange(-20_000, 20_000, dtype=np.int64).reshape(200, 200)
    same(read(holder(helper.make_tensor("w", TensorProto.INT64, [200, 200], integers.reshape(-1)))), integers)
    node = helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(values))
    same(read(holder(nodes=[node])), values)
    plain = helper.make_node("Constant", [], ["w"], value_ints=[3, 1, 4])
    same(read(holder(nodes=[plain])), np.array([3, 1, 4]))
    onnx.save_model(
        holder(numpy_helper.from_array(values, "w")),
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="w.bin",
        size_threshold=0,
    )
    same(read(tmp_path / "m.onnx"), values)
    (tmp_path / "w.bin").unlink()
    with pytest.raises(ExternalDataError):
        read(tmp_path / "m.onnx")


def test_nothing_in_it():
    empty = np.zeros((0, 5), np.float16)
    same(read(holder(numpy_helper.from_array(empty, "w"))), empty)


def test_text_and_sparse_tensors_are_refused():
    text = helper.make_tensor("w", TensorProto.STRING, [1], [b"a"])
    with pytest.raises(InputError, match="holds text") as caught:
        read(holder(text))
    assert caught.value.hint
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    places = numpy_helper.from_array(np.zeros(1, np.int64), "p")
    with pytest.raises(InputError, match="is sparse"):
        read(holder(sparse=[helper.make_sparse_tensor(values, places, [4])]))


def test_a_bound_is_kept_before_anything_is_read():
    tensor = raw(TensorProto.BFLOAT16, 1000, [1000])
    assert len(read(holder(tensor), max_bytes=4000).data) == 4128
    with pytest.raises(LimitError, match="4,000 bytes") as caught:
        # Of the file, where each takes four bytes, not two.
        read(holder(tensor), max_bytes=3999, hint="Otherwise.", check=lambda: pytest.fail("read"))
    assert (caught.value.code, caught.value.hint) == ("limit-array-bytes", "Otherwise.")


@pytest.mark.parametrize("dims", [[0, 2**62, 2**62], [1] * 70])
def test_shapes_that_numpy_has_not(dims):
    elements = 0 if 0 in dims else 1
    # The analysis itself takes such a model.
    with pytest.raises(InputError, match="shape that no numpy array"):
        read(holder(TensorProto(name="w", data_type=F, dims=dims, raw_data=bytes(4 * elements))))


def test_a_shape_that_promises_too_much_takes_no_memory():
    few = helper.make_tensor("w", TensorProto.INT64, [5000], list(range(5000)))
    few.dims[:] = [1 << 40]
    model = holder(few)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptModel):
            read(model)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def test_reading_can_be_stopped():
    class Stop(Exception):
        pass

    def stop():
        raise Stop

    with pytest.raises(Stop):
        read(holder(numpy_helper.from_array(np.ones(9, np.float32), "w")), check=stop)
