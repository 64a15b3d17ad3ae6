"""A file cannot say that its external data are a payload of the file: no mark that comes with it counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc import errors
from py_autodoc.compare.topology import same_topology
from py_autodoc.extract import extract
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes
from py_autodoc.graph.protobuf.structure_scan import INLINE_BYTES, MARK_KEY, PAYLOAD_MARK
from py_autodoc.graph.tensor_data.weight_reader import read_weights
from py_autodoc.ort import check_weights
from py_autodoc.outputs.inputs import data_files
from py_autodoc.tags.validate import PASSED, validate

FLOAT = TensorProto.FLOAT
OUTSIDE = "../secret.bin"
OTHER_PROCESS = "from py_autodoc.graph.protobuf.structure_scan import PAYLOAD_MARK as m; print(m, end='')"


@pytest.fixture(scope="module")
def learnt() -> str:
    """The mark of another process."""
    done = subprocess.run([sys.executable, "-c", OTHER_PROCESS], capture_output=True, text=True, check=True)
    return done.stdout


def outside(location: str = OUTSIDE, mark: str = "autodoc:raw_data", name: str = "w") -> TensorProto:
    tensor = TensorProto(name=name, data_type=FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("checksum", mark), ("offset", "0"), ("length", "64")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def graph_of(nodes: list[onnx.NodeProto], weights: list[TensorProto]) -> onnx.GraphProto:
    ports = [helper.make_tensor_value_info(name, FLOAT, [4, 4]) for name in ("x", "y")]
    return helper.make_graph(nodes, "g", ports[:1], ports[1:], weights)


def model_of(graph: onnx.GraphProto, functions: list[onnx.FunctionProto] = []) -> onnx.ModelProto:  # noqa: B006
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("made", 1)]
    return helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=9)


def constant(tensor: TensorProto, name: str = "w") -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=tensor)


def product() -> onnx.NodeProto:
    return helper.make_node("MatMul", ["x", "w"], ["y"])


def as_initializer(tensor: TensorProto) -> onnx.ModelProto:
    return model_of(graph_of([product()], [tensor]))


def as_constant(tensor: TensorProto) -> onnx.ModelProto:
    return model_of(graph_of([constant(tensor), product()], []))


def in_a_list(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("Made", ["x"], ["y"], domain="made")
    attribute = node.attribute.add(name="values", type=onnx.AttributeProto.TENSORS)
    attribute.tensors.append(tensor)
    return model_of(graph_of([node], []))


def under_another_type(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("Made", ["x"], ["y"], domain="made")
    node.attribute.add(name="a", type=onnx.AttributeProto.INT).t.CopyFrom(tensor)
    return model_of(graph_of([node], []))


def in_a_graph_of_another_type(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("Made", ["x"], ["y"], domain="made")
    node.attribute.add(name="a", type=onnx.AttributeProto.INTS).g.CopyFrom(as_initializer(tensor).graph)
    return model_of(graph_of([node], []))


def sparse(tensor: TensorProto) -> onnx.ModelProto:
    model = model_of(graph_of([product()], []))
    values = model.graph.sparse_initializer.add(dims=[4, 4])
    values.values.CopyFrom(tensor)
    values.indices.CopyFrom(helper.make_tensor("i", TensorProto.INT64, [16], list(range(16))))
    return model


def sparse_indices(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["w"])
    attribute = node.attribute.add(name="sparse_value", type=onnx.AttributeProto.SPARSE_TENSOR)
    attribute.sparse_tensor.dims.extend([4, 4])
    attribute.sparse_tensor.values.CopyFrom(helper.make_tensor("w", FLOAT, [8], [1.0] * 8))
    attribute.sparse_tensor.indices.CopyFrom(tensor)
    return model_of(graph_of([node, product()], []))


def in_a_branch(tensor: TensorProto) -> onnx.ModelProto:
    out = helper.make_tensor_value_info("z", FLOAT, [4, 4])
    inner = helper.make_graph([helper.make_node("Identity", ["w"], ["z"])], "b", [], [out], [tensor])
    plain = helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "c", [], [out])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=plain)
    model = model_of(graph_of([node], []))
    model.graph.initializer.append(helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    return model


def in_a_function(tensor: TensorProto) -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", 17)]
    body = [constant(tensor), product()]
    function = helper.make_function("made", "F", ["x"], ["y"], body, opsets)
    return model_of(graph_of([helper.make_node("F", ["x"], ["y"], domain="made")], []), [function])


def as_a_default(tensor: TensorProto) -> onnx.ModelProto:
    model = in_a_function(helper.make_tensor("w", FLOAT, [4, 4], [0.0] * 16))
    attribute = model.functions[0].attribute_proto.add(name="a", type=onnx.AttributeProto.TENSOR)
    attribute.t.CopyFrom(tensor)
    return model


def in_training(tensor: TensorProto) -> onnx.ModelProto:
    model = model_of(graph_of([helper.make_node("Identity", ["x"], ["y"])], []))
    model.training_info.add().algorithm.CopyFrom(as_initializer(tensor).graph)
    return model


PLACES: list[Callable[[TensorProto], onnx.ModelProto]] = [
    as_initializer, as_constant, in_a_list, under_another_type, in_a_graph_of_another_type, sparse,
    sparse_indices, in_a_branch, in_a_function, as_a_default, in_training,
]  # fmt: skip
MARKS = ["autodoc:raw_data", "autodoc:float_data:16", "raw_data", "other process"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for models, beside a file that none of them may reach."""
    np.arange(16, dtype=np.float32).tofile(tmp_path / "secret.bin")
    (tmp_path / "inner").mkdir()
    return tmp_path / "inner"


def refused(path: Path, code: str = "external-outside") -> None:
    """Every reader says that the data lie outside, and none reads them."""
    loaded = load(path)
    assert code in {note.code for note in loaded.diagnostics}
    with suppress(errors.InputError):  # onnx_ir has no sparse attributes
        assert next(check for check in validate(path) if check.name == "weights").status != PASSED
    with pytest.raises(errors.InputError) as fault:
        check_weights(path)
    assert fault.value.code == code
    with pytest.raises(errors.InputError) as fault:
        same_topology(path, path)
    assert fault.value.code in (code, "graph-inconsistent")
    for fact in read_weights(loaded, build(loaded), str(path))[0]:
        assert fact.maximum != 15.0


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_mark_of_the_file_is_none(
    place: Callable[[TensorProto], onnx.ModelProto], mark: str, folder: Path, learnt: str
) -> None:
    mark = f"{learnt}raw_data" if mark == "other process" else mark
    path = folder / "m.onnx"
    for location in (OUTSIDE, str(folder.parent / "secret.bin")):
        path.write_bytes(place(outside(location, mark)).SerializeToString())
        assert load(path).facts.external_files
        refused(path)


@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_no_special_file_is_opened(kind: str, folder: Path) -> None:
    """A FIFO would hang, and a device would never end."""
    if kind == "fifo":
        if not hasattr(os, "mkfifo"):
            pytest.skip("no FIFO")
        os.mkfifo(folder / "w.bin")
    elif kind == "device":
        (folder / "w.bin").symlink_to("/dev/zero")
    else:
        (folder / "w.bin").mkdir()
    path = folder / "m.onnx"
    path.write_bytes(as_initializer(outside("w.bin")).SerializeToString())
    refused(path, "external-outside" if kind == "device" else "external-missing")


def test_the_mark_differs_between_processes_and_has_one_length(learnt: str) -> None:
    assert learnt != PAYLOAD_MARK
    assert len(learnt) == len(PAYLOAD_MARK)


def test_even_the_right_mark_needs_to_be_the_whole_of_the_external_data(folder: Path) -> None:
    tensor = outside(mark=f"{PAYLOAD_MARK}raw_data")
    tensor.external_data.add(key="basepath", value="x")
    path = folder / "m.onnx"
    path.write_bytes(as_initializer(tensor).SerializeToString())
    refused(path)


def large() -> TensorProto:
    return helper.make_tensor("w", FLOAT, [32, 32], np.zeros(INLINE_BYTES, np.uint8).tobytes(), raw=True)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("field", ["t", "values"])
def test_tensors_that_parsers_merge_are_refused(order: tuple[int, int], field: str, folder: Path) -> None:
    """Of two tensors in one field, one has a payload that is moved, the other says where data lie."""
    tensors = [large().SerializeToString(), outside().SerializeToString()]
    first, second = (tensors[index] for index in order)
    if field == "t":
        attribute = encode_bytes(1, b"value") + encode_bytes(5, first) + encode_bytes(5, second)
        attribute += b"\xa0\x01\x04"
    else:
        inner = encode_bytes(1, first) + encode_bytes(1, second)
        attribute = encode_bytes(1, b"sparse_value") + encode_bytes(22, inner) + b"\xa0\x01\x0b"
    node = encode_bytes(2, b"w") + encode_bytes(4, b"Constant") + encode_bytes(5, attribute)
    model = model_of(graph_of([], []))
    model.graph.node.append(onnx.NodeProto.FromString(encode_bytes(4, b"Constant")))
    graph = encode_bytes(1, node) + graph_of([product()], []).SerializeToString()
    model.ClearField("graph")
    data = model.SerializeToString() + encode_bytes(7, graph)
    assert onnx.ModelProto.FromString(data).graph.node  # a parser accepts it
    (folder / "m.onnx").write_bytes(data)
    with pytest.raises(errors.CorruptModel, match="twice"):
        load(folder / "m.onnx")
    with pytest.raises(errors.CorruptModel, match="twice"):
        check_weights(folder / "m.onnx")


@pytest.mark.parametrize("wide", [1 << 32 | 1, (1 << 63) | 1])
def test_the_place_of_data_is_read_as_parsers_do(wide: int, folder: Path) -> None:
    from py_autodoc.graph.protobuf.protobuf_wire import encode_varint

    tensor = outside()
    tensor.ClearField("data_location")
    tensor.raw_data = bytes(INLINE_BYTES)
    body = tensor.SerializeToString() + encode_varint(14 << 3) + encode_varint(wide)
    if TensorProto.FromString(body).data_location != TensorProto.EXTERNAL:
        pytest.skip("this parser keeps the number")
    graph = graph_of([product()], []).SerializeToString() + encode_bytes(5, body)
    model = model_of(graph_of([], []))
    model.ClearField("graph")
    (folder / "m.onnx").write_bytes(model.SerializeToString() + encode_bytes(7, graph))
    refused(folder / "m.onnx")


def test_what_a_tensor_in_the_file_says_about_other_files_has_no_meaning(folder: Path) -> None:
    """Its own offset would else be that of a payload in pieces."""
    tensor = helper.make_tensor("w", FLOAT, [40, 40], np.ones(1600, np.float32).tobytes(), raw=True)
    for key, value in (("location", OUTSIDE), ("offset", "7"), (MARK_KEY, "x"), ("key", "y")):
        tensor.external_data.add(key=key, value=value)
    loaded = load_bytes(as_initializer(tensor).SerializeToString())
    (moved,) = loaded.proto.graph.initializer
    assert [entry.key for entry in moved.external_data] == ["location", MARK_KEY, "offset", "length"]
    assert loaded.facts.external_files == ()
    model = build(loaded)
    assert not model.diagnostics
    (fact,) = read_weights(loaded, model, as_initializer(tensor).SerializeToString())[0]
    assert fact.maximum == 1.0


def test_names_that_are_not_text_and_addresses_are_outside(folder: Path) -> None:
    """Others would open these bytes, not the text that is shown for them; and read their own memory."""
    shown = folder / "\\xff"
    shown.mkdir()
    np.ones(16, np.float32).tofile(shown / "w.bin")
    plain = as_initializer(outside("AA/w.bin", "")).SerializeToString()
    path = folder / "m.onnx"
    path.write_bytes(plain.replace(b"\x08AA/w.bin", b"\x08\xffA/w.bin"))
    refused(path)
    (folder / "*" / "_ORT_MEM_ADDR_").mkdir(parents=True)
    np.ones(16, np.float32).tofile(folder / "*" / "_ORT_MEM_ADDR_" / "*")
    path.write_bytes(as_initializer(outside("*/_ORT_MEM_ADDR_/*", "")).SerializeToString())
    refused(path)


def test_marked_files_stay_files_of_the_model(folder: Path) -> None:
    """They are never overwritten, and an extraction reads them where they are, or says that it cannot."""
    np.ones(16, np.float32).tofile(folder / "w.bin")
    path = folder / "m.onnx"
    path.write_bytes(as_initializer(outside("w.bin")).SerializeToString())
    assert data_files(str(path)) == [str(folder / "w.bin")]
    assert load(path).diagnostics == ()
    extract(path, folder / "part.onnx", outputs=["y"])
    (weight,) = onnx.load(folder / "part.onnx").graph.initializer
    assert onnx.numpy_helper.to_array(weight).max() == 1.0
    path.write_bytes(as_initializer(outside()).SerializeToString())
    with pytest.raises(errors.ExternalDataError, match="outside"):
        extract(path, folder / "other.onnx", outputs=["y"])
    assert not (folder / "other.onnx").exists()


def test_functions_read_from_the_folder_of_the_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is checked is what is read, wherever the command runs."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    np.zeros(16, np.float32).tofile("w.bin")
    for name, value in (("a", 1.0), ("b", 2.0)):
        (folder / name).mkdir()
        np.full(16, value, np.float32).tofile(folder / name / "w.bin")
        data = in_a_function(outside("w.bin", "")).SerializeToString()
        (folder / name / "m.onnx").write_bytes(data)
    paths = folder / "a" / "m.onnx", folder / "b" / "m.onnx"
    assert [difference.what for difference in same_topology(*paths)] == ["bytes"]
    assert same_topology(paths[0], paths[0]) == []
