"""Structure-only loading."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import CorruptModel, LimitError, NotAModel, PathError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.protobuf.probe import probe
from py_autodoc.graph.protobuf.structure_scan import INLINE_BYTES
from py_autodoc.graph.protobuf.tensor_protos import external_entries, payload_reference
from py_autodoc.limits import LIBRARY

DATA = Path(__file__).parent.parent / "data"
FILES = sorted((DATA / "models").glob("*.onnx")) + sorted((DATA / "stripped").glob("*.onnx"))


def gemm_model(weight):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 64])],
        [weight],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def save(proto, path):
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_same_structure_as_the_plain_parse(path):
    plain = onnx.load(path, load_external_data=False)
    loaded = load(path)
    pairs = list(zip(loaded.proto.graph.node, plain.graph.node, strict=True))
    assert all(ours.op_type == theirs.op_type for ours, theirs in pairs)
    same = [(ours, theirs) for ours, theirs in pairs if theirs.ByteSize() < 2048]
    assert all(ours == theirs for ours, theirs in same)
    assert [(t.name, tuple(t.dims), t.data_type) for t in loaded.proto.graph.initializer] == [
        (t.name, tuple(t.dims), t.data_type) for t in plain.graph.initializer
    ]
    assert loaded.counts.nodes >= len(plain.graph.node)
    assert loaded.facts.bytes == path.stat().st_size


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_moved_tensors_point_at_their_bytes(path):
    plain = {t.name: t for t in onnx.load(path, load_external_data=False).graph.initializer}
    content = path.read_bytes()
    for tensor in load(path).proto.graph.initializer:
        entries = external_entries(tensor)
        moved, _ = payload_reference(entries)
        if moved and "offset" in entries:
            offset, length = int(entries["offset"]), int(entries["length"])
            raw = plain[tensor.name].raw_data
            if moved == "raw_data":
                assert content[offset : offset + length] == raw
            assert length >= INLINE_BYTES
        elif tensor.data_location != TensorProto.EXTERNAL:
            assert tensor == plain[tensor.name]


def test_weights_are_not_read(tmp_path):
    weight = numpy_helper.from_array(np.zeros((2048, 2048), np.float32), "w")
    path = save(gemm_model(weight), tmp_path / "m.onnx")
    loaded = load(path)
    assert loaded.facts.bytes > 16 << 20
    assert loaded.facts.structure_bytes < 1000
    assert loaded.counts.bytes_read < 50_000
    assert loaded.counts.moved == 1
    assert len(loaded.proto.SerializeToString()) < 1000
    model = build(loaded)
    (held,) = [t for t in model.tensors if t.kind == TensorKind.INITIALIZER]
    assert held.shape == (2048, 2048)
    assert held.storage.bytes == 16 << 20
    assert held.storage.location == ""
    assert path.read_bytes()[held.storage.offset :][: held.storage.length] == weight.raw_data


@pytest.mark.parametrize(
    ("dtype", "field", "held", "counted"),
    [
        (TensorProto.FLOAT, "float_data", 1.5, True),
        (TensorProto.DOUBLE, "double_data", 1.5, True),
        (TensorProto.INT64, "int64_data", 77, False),
        (TensorProto.INT32, "int32_data", 77, False),
        (TensorProto.UINT64, "uint64_data", 77, False),
    ],
)
def test_typed_payloads_stay_in_the_file(tmp_path, dtype, field, held, counted):
    weight = TensorProto(name="w", data_type=dtype, dims=[100, 100])
    getattr(weight, field).extend([held] * 10_000)
    loaded = load(save(gemm_model(weight), tmp_path / "m.onnx"))
    (tensor,) = loaded.proto.graph.initializer
    assert not len(getattr(tensor, field))
    assert payload_reference(external_entries(tensor)) == (field, 10_000 if counted else None)
    model = build(loaded)
    assert model.tensors[0].storage.bytes == 10_000 * (4 if dtype in (1, 6) else 8)
    assert not model.diagnostics


def test_too_few_typed_values_are_noticed(tmp_path):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[100, 100])
    weight.float_data.extend([1.0] * 9_999)
    model = build(load(save(gemm_model(weight), tmp_path / "m.onnx")))
    assert [note.code for note in model.diagnostics] == ["data-size-mismatch"]


def test_unpacked_floats_are_counted(tmp_path):
    body = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2000]).SerializeToString()
    body += b"\x25\x00\x00\x80\x3f" * 2000
    model = gemm_model(TensorProto.FromString(body))
    packed = model.SerializeToString()
    plain = model.graph.initializer[0].SerializeToString()
    assert plain in packed
    model.graph.ClearField("initializer")
    from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes

    graph = model.graph.SerializeToString() + encode_bytes(5, body)
    model.ClearField("graph")
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString() + encode_bytes(7, graph))
    loaded = load(path)
    entries = external_entries(loaded.proto.graph.initializer[0])
    assert payload_reference(entries) == ("float_data", 2000)
    assert "offset" not in entries


def test_strings_are_bounded(tmp_path):
    weight = TensorProto(name="w", data_type=TensorProto.STRING, dims=[10_000])
    weight.string_data.extend([b"word"] * 10_000)
    loaded = load(save(gemm_model(weight), tmp_path / "m.onnx"))
    assert loaded.facts.structure_bytes < 2000
    assert build(loaded).tensors[0].storage.bytes == 40_000


def test_bytes_and_file_agree():
    for path in FILES:
        loaded, held = load(path), load_bytes(path.read_bytes(), path.name)
        assert loaded.facts.identity == held.facts.identity
        assert loaded.proto == held.proto


def test_identity_survives_a_copy_and_a_new_name(tmp_path):
    copy = tmp_path / "another-name-of-other-length.onnx"
    shutil.copy(DATA / "models" / "resnet_tiny.onnx", copy)
    assert load(copy).facts.identity == load(DATA / "models" / "resnet_tiny.onnx").facts.identity


def test_identity_changes_with_the_structure(tmp_path):
    path = DATA / "models" / "resnet_tiny.onnx"
    proto = onnx.load(path)
    proto.graph.node[3].op_type = "Relv"
    assert load(save(proto, tmp_path / path.name)).facts.identity != load(path).facts.identity


def test_name_carries_no_path():
    assert load(FILES[0]).facts.name == FILES[0].name
    assert str(DATA) not in str(load(FILES[0]).proto)


def test_external_facts():
    facts = load(DATA / "models" / "resnet_tiny_ext.onnx").facts
    assert facts.external_files == ("resnet_tiny_ext.bin",)
    assert 0 < facts.external_bytes <= (DATA / "models" / "resnet_tiny_ext.bin").stat().st_size


def test_probe_counts(tmp_path):
    path = DATA / "models" / "silero_vad_half.onnx"
    census = probe(path)

    def count(graph):
        bodies = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
        return len(graph.node) + sum(map(count, bodies))

    assert census.nodes == count(onnx.load(path).graph)
    assert census.depth == 3
    assert census.file_bytes == path.stat().st_size


@pytest.mark.parametrize("which", ["nodes", "structure_bytes", "file_bytes", "messages", "depth"])
def test_limits(which):
    path = DATA / "models" / "silero_vad_half.onnx"
    with pytest.raises(LimitError) as caught:
        load(path, replace(LIBRARY, **{which: 1}))
    assert caught.value.which == which
    assert caught.value.value > caught.value.limit == 1
    with pytest.raises(LimitError):
        load_bytes(path.read_bytes(), path.name, replace(LIBRARY, **{which: 1}))


def test_paths():
    with pytest.raises(PathError, match="no such file"):
        load("nowhere.onnx")
    with pytest.raises(PathError, match="directory"):
        load(DATA)
    with pytest.raises(PathError):
        load("a\0b")
    with pytest.raises(PathError, match="not a regular file"):
        load("/dev/null")


@pytest.mark.skipif(sys.platform != "linux", reason="root may read everything")
def test_changed_while_reading(tmp_path, monkeypatch):
    path = save(gemm_model(numpy_helper.from_array(np.zeros((64, 64), np.float32), "w")), tmp_path / "m.onnx")
    from py_autodoc.graph.loading import load as module

    original = module.scan_source

    def meddle(source, name, limits):
        scan = original(source, name, limits)
        path.write_bytes(path.read_bytes() + b"\x08\x01")
        return scan

    monkeypatch.setattr(module, "scan_source", meddle)
    with pytest.raises(CorruptModel, match="changed while it was read"):
        load(path)


def test_a_tensorflow_graph_is_named():
    with pytest.raises(NotAModel):
        load_bytes(b"\x0a\x20\x0a\x05input\x12\x0bPlaceholder" + bytes(16))


@pytest.mark.parametrize("field", [5, 9])
def test_bombs_of_empty_messages(field):
    """Two bytes of file, a hundred of memory: empty attributes, empty metadata."""
    from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes

    count = 300_000
    node = encode_bytes(4, b"Relu") + bytes([field << 3 | 2, 0]) * count
    data = b"\x08\x09" + encode_bytes(7, encode_bytes(1, node))
    with pytest.raises(LimitError) as caught:
        load_bytes(data, limits=replace(LIBRARY, messages=count - 1))
    assert caught.value.which == "messages"
