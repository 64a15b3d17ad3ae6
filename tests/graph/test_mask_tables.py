"""Only tables that may be masks are read, from the model and files in its folder."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.tensor_data import mask_tables as tables


def model(**constants):
    values = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    nodes = [helper.make_node("Identity", [name], [f"y_{name}"]) for name in constants]
    outputs = [helper.make_empty_tensor_value_info(f"y_{name}") for name in constants]
    graph = helper.make_graph(nodes, "g", [], outputs, initializer=values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def read(proto):
    data = proto.SerializeToString()
    loaded = load_bytes(data)
    built = build(loaded)
    return {built.tensors[t].name: v for t, v in tables.mask_tables(loaded, built, data).items()}


LOWER = np.tri(80, dtype=bool)


@pytest.mark.parametrize("shape", [(80, 80), (1, 80, 80), (1, 1, 80, 80)])
def test_booleans(shape):
    found = read(model(mask=LOWER.reshape(shape)))
    assert np.array_equal(found["mask"], LOWER.reshape(shape))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_floats_of_one_matrix_for_all(dtype):
    values = np.where(LOWER, 0, -1e4).astype(dtype)[None, None]
    assert np.array_equal(read(model(mask=values))["mask"], values)


def test_from_a_file(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model(mask=LOWER), path)
    loaded = load(path)
    built = build(loaded)
    (found,) = tables.mask_tables(loaded, built, str(path)).values()
    assert np.array_equal(found, LOWER)
    path.write_bytes(path.read_bytes() + b"\0")  # another file by now
    assert tables.mask_tables(loaded, built, str(path)) == {}
    path.unlink()
    assert tables.mask_tables(loaded, built, str(path)) == {}


@pytest.mark.parametrize("stored", ["initializer", "Constant"])
@pytest.mark.parametrize("size", [40, 80])
def test_masks_of_any_size_are_read(stored, size):
    """Some thousand elements are too many for the analysis and too few to stay in the file."""
    mask = np.tri(size, dtype=bool)[None, None]
    proto = model(mask=mask)
    if stored == "Constant":
        del proto.graph.initializer[:]
        made = helper.make_node("Constant", [], ["mask"], value=numpy_helper.from_array(mask, "mask"))
        proto.graph.node.insert(0, made)
    assert np.array_equal(read(proto)["mask"], mask)


def test_square_floats_are_read_where_they_are_added():
    mask = np.where(LOWER, 0, -1e4).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "mask"], ["y"]), helper.make_node("MatMul", ["x", "weight"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [80, 80])],
        [helper.make_empty_tensor_value_info("y")],
        initializer=[numpy_helper.from_array(mask, name) for name in ("mask", "weight")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    assert set(read(proto)) == {"mask"}


def test_weights_are_not_read():
    ones = np.ones((80, 80), np.float32)
    assert read(model(w=ones, kernel=np.ones((8, 8, 8, 8), np.float32), ids=ones.astype(np.int64))) == {}


def test_a_matrix_a_head_is_not_read():
    assert read(model(bias=np.ones((1, 4, 40, 40), np.float32), region=np.ones((4, 40, 40), bool))) == {}


def test_small_ones_are_known_anyway():
    assert read(model(mask=np.tri(8, dtype=bool))) == {}


def test_limits(monkeypatch):
    monkeypatch.setattr(tables, "MAX_BYTES", LOWER.size + 1)
    assert list(read(model(a=LOWER, b=LOWER))) == ["a"]
    monkeypatch.setattr(tables, "MAX_TABLE", (tables.MIN_ROWS - 1) * 80)
    assert read(model(a=LOWER)) == {}


@pytest.mark.parametrize("dtype", [bool, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("external", [True, False])
def test_any_type_from_any_file(tmp_path, dtype, external):
    path = tmp_path / "m.onnx"
    mask = LOWER if dtype is bool else np.where(LOWER, 0, -1e4).astype(dtype)[None, None]
    onnx.save(model(mask=mask), path, save_as_external_data=external, location="data.bin", size_threshold=16)
    loaded = load(path)
    built = build(loaded)
    (found,) = tables.mask_tables(loaded, built, str(path)).values()
    assert np.array_equal(np.asarray(found, np.float64), np.asarray(mask, np.float64))
    if external:
        (tmp_path / "data.bin").write_bytes(b"short")
        assert tables.mask_tables(loaded, built, str(path)) == {}
        (tmp_path / "data.bin").unlink()
        assert tables.mask_tables(loaded, built, str(path)) == {}


def test_external_files_outside_the_folder_are_not_opened(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "m.onnx"
    onnx.save(model(mask=LOWER), path, save_as_external_data=True, location="data.bin", size_threshold=16)
    (folder / "data.bin").rename(tmp_path / "data.bin")
    proto = onnx.load(path, load_external_data=False)
    for entry in proto.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = "../data.bin"
    path.write_bytes(proto.SerializeToString())
    loaded = load(path)
    assert tables.mask_tables(loaded, build(loaded), str(path)) == {}


def test_of_a_large_table_the_first_rows_are_read(monkeypatch):
    monkeypatch.setattr(tables, "MAX_TABLE", 40 * 80)
    assert np.array_equal(read(model(mask=LOWER))["mask"], LOWER[:40, :40])
    assert read(model(mask=np.ones((80, 90), bool))) == {}, "not square: where queries begin is unknown"


def test_lying_length():
    proto = model(mask=LOWER)
    proto.graph.initializer[0].raw_data = b"\1" * 5000
    assert read(proto) == {}
    assert proto.graph.initializer[0].data_type == TensorProto.BOOL
