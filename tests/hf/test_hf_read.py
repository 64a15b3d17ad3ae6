"""Metadata that is damaged, hostile or of another version: warnings, never a crash."""

from __future__ import annotations

import base64
import gzip
import json
import lzma
from collections.abc import Mapping
from contextlib import suppress

import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_autodoc.errors import CorruptModel, InputError, NotAModel, OutputError, PathError
from py_autodoc.graph.protobuf.metadata import model_metadata
from py_autodoc.graph.protobuf.protobuf_wire import encode_bytes
from py_autodoc.hf import keys
from py_autodoc.hf.read import HfMetadata, is_file_name, read_metadata
from py_autodoc.hf.unpack_processor import fill, write_processor
from py_autodoc.packed import DamagedValue, checksum, pack_file, pack_json, unpack, unpack_json

pytestmark = pytest.mark.slow

FILES = {"tokenizer.json": b'{"a": 1}' * 5000, "spiece.model": bytes(range(256)) * 8}


def entries(**changed):
    values = {
        keys.VERSION: "2.0",
        keys.TIMESTAMP: "2024-01-15T10:30:00Z",
        keys.CONFIG: pack_json({"architectures": ["X"], "model_type": "x"}),
        keys.PROCESSOR_CONFIG: pack_json({"tokenizer": {"model_max_length": 8}}),
        keys.GENERATION_CONFIG: pack_json({"max_length": 3}),
        keys.TASK: "text-classification",
        keys.TASK_SOURCE: "registry",
        keys.EXPORTER: pack_json({"onnx-autodoc": "1"}),
        **{keys.FILE + name: pack_file(data) for name, data in FILES.items()},
    }
    values[keys.CHECKSUMS] = pack_json({key: checksum(value) for key, value in values.items()})
    return {**values, **changed}


def zipped(data, end=None):
    """A value in gzip, without the time: each process that collects these tests must name them alike."""
    return "gz:" + base64.urlsafe_b64encode(gzip.compress(data, mtime=0)[:end]).decode()


def test_all_of_it():
    found = read_metadata(entries())
    assert found.present
    assert (found.schema, found.task, found.task_source) == ("2.0", "text-classification", "registry")
    assert found.config == {"architectures": ["X"], "model_type": "x"}
    assert found.processor_config == {"tokenizer": {"model_max_length": 8}}
    assert found.generation_config == {"max_length": 3}
    assert found.created == "2024-01-15T10:30:00Z"
    assert found.exporter == {"onnx-autodoc": "1"}
    assert dict(found.files) == FILES
    assert found.warnings == ()
    assert read_metadata({"producer": "x", "autodoc.hierarchy": "y"}) == HfMetadata()
    assert not read_metadata({}).present


def model_with(props, weights=0):
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [weights], b"\0" * 4 * weights, raw=True)
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph(
        [node], "g", [value], [onnx.helper.make_tensor_value_info("y", 1, [1])], [tensor]
    )
    model = onnx.helper.make_model(graph)
    onnx.helper.set_model_props(model, props)
    return model


def test_from_a_file_a_protobuf_and_an_ir_model(tmp_path):
    model = model_with({**entries(), "other": "1"})
    path = tmp_path / "a.onnx"
    onnx.save(model, path)
    expected = read_metadata(entries())
    for source in (path, str(path), model, ir.from_proto(model)):
        found = read_metadata(source)
        assert (found.config, found.task, dict(found.files)) == (expected.config, expected.task, FILES)
        assert found.warnings == ()


def test_the_weights_are_not_read(tmp_path, monkeypatch):
    from py_autodoc.graph.protobuf import metadata

    path = tmp_path / "a.onnx"
    onnx.save(model_with(entries(), weights=4_000_000), path)
    sources = []
    real = metadata.WireSource
    monkeypatch.setattr(metadata, "WireSource", lambda *a: sources.append(real(*a)) or sources[-1])
    assert read_metadata(path).task == "text-classification"
    assert path.stat().st_size > 16_000_000
    assert sources[0].bytes_read < 1_000_000


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "a.onnx"
    path.write_text("hello, this is no model at all\n")
    with pytest.raises(NotAModel):
        read_metadata(path)
    with pytest.raises(PathError):
        read_metadata(tmp_path / "missing.onnx")
    onnx.save(model_with(entries()), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CorruptModel, match=r"a\.onnx"):
        read_metadata(path)


def test_of_two_entries_with_one_key_the_last_counts(tmp_path):
    path = tmp_path / "a.onnx"
    entry = [onnx.StringStringEntryProto(key="hf_x", value=v).SerializeToString() for v in ("1", "2")]
    odd = encode_bytes(2, b"v") + encode_bytes(1, b"k")  # the value before the key
    path.write_bytes(
        model_with({}).SerializeToString() + b"".join(encode_bytes(14, one) for one in (*entry, odd))
    )
    assert model_metadata(path) == {"hf_x": "2", "k": "v"}
    assert model_metadata(path, "hf_") == {"hf_x": "2"}


@pytest.mark.parametrize(
    ("key", "value", "attribute"),
    [
        (keys.CONFIG, "{broken", "config"),
        (keys.CONFIG, "[1]", "config"),
        (keys.CONFIG, "[" * 100_000, "config"),
        (keys.CONFIG, "gz:not base 64!", "config"),
        (keys.CONFIG, "gz:AAAA", "config"),
        (keys.CONFIG, "gz:A", "config"),
        (keys.CONFIG, "xz:AAAA", "config"),
        (keys.CONFIG, zipped(b"{}" * 99, -9), "config"),
        (keys.CONFIG, "xz:" + base64.urlsafe_b64encode(lzma.compress(b"{}" * 99)[:-9]).decode(), "config"),
        (keys.CONFIG, "b64:/w==", "config"),
        (keys.PROCESSOR_CONFIG, "null", "processor_config"),
        (keys.GENERATION_CONFIG, "\udcff", "generation_config"),
        (keys.TASK, "Text Classification\n<script>", "task"),
        (keys.TASK, "", "task"),
        (keys.VERSION, "two", "schema"),
        (keys.TIMESTAMP, "yesterday " * 99, "created"),
    ],
)
def test_a_damaged_value_is_left_out(key, value, attribute):
    changed = {k: v for k, v in entries().items() if k != keys.CHECKSUMS}
    found = read_metadata({**changed, key: value})
    assert getattr(found, attribute) is None
    assert [key in line for line in found.warnings] == [True]
    others = {"config", "task", "processor_config", "generation_config", "schema", "created"} - {attribute}
    assert all(getattr(found, name) is not None for name in others)


def test_what_was_changed_on_the_way_is_left_out():
    found = read_metadata(entries(**{keys.TASK: "fill-mask"}))
    assert found.task is None
    assert found.task_source is None
    assert "checksum" in found.warnings[0]
    name = keys.FILE + "tokenizer.json"
    found = read_metadata(entries(**{name: entries()[name][:-8]}))
    assert list(found.files) == ["spiece.model"]
    assert len(found.warnings) == 1
    some = entries()
    del some[keys.CONFIG]
    assert read_metadata(some).warnings == (f"{keys.CONFIG} is missing.",)


@pytest.mark.parametrize("sums", ["{", "[]", "7", "gz:AAAA", '{"hf_pipeline_task": 7}'])
def test_damaged_checksums(sums):
    found = read_metadata(entries(**{keys.CHECKSUMS: sums}))
    assert found.config is not None
    assert found.warnings


def test_another_schema():
    plain = {k: v for k, v in entries().items() if k != keys.CHECKSUMS}
    assert read_metadata({**plain, keys.VERSION: "2.7"}).warnings == ()
    found = read_metadata({**plain, keys.VERSION: "3.0"})
    assert found.schema == "3.0"
    assert "3.0" in found.warnings[0]


def bomb(kind):
    zeros = b"\0" * 100_000_000
    packed = gzip.compress(zeros) if kind == "gz" else lzma.compress(zeros)
    return f"{kind}:" + base64.urlsafe_b64encode(packed).decode()


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_bombs_stop_at_the_bound(kind):
    value = bomb(kind)
    assert len(value) < 200_000
    found = read_metadata({keys.CONFIG: value})
    assert found.config is None
    assert "more than" in found.warnings[0]
    with pytest.raises(DamagedValue, match="more than 1,000 bytes"):
        unpack(value, 1000)


def test_an_xz_that_wants_much_memory_is_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    try:
        packed = lzma.compress(b"x" * 20_000, filters=filters)
    except MemoryError:
        pytest.skip("the compressor itself wants too much here")
    with pytest.raises(DamagedValue, match="xz"):
        unpack("xz:" + base64.urlsafe_b64encode(packed).decode())


@pytest.mark.parametrize("limit", [100, 10_000, 1 << 20])
def test_the_bound_is_exact(limit):
    for size in (limit - 1, limit, limit + 1):
        data = b"ab" * (size // 2) + b"c" * (size % 2)
        for value in (
            zipped(data),
            "xz:" + base64.urlsafe_b64encode(lzma.compress(data)).decode(),
            data.decode(),
        ):
            if size <= limit:
                assert unpack(value, limit) == data
            else:
                with pytest.raises(DamagedValue):
                    unpack(value, limit)


NAMES = [
    "../x", "a/b", "a\\b", "/etc/passwd", "C:x", "..", ".", "", ".hidden", "a\0b", "con", "NUL.json", "x.",
    "a b", "~", "é.json", "a\n", "x" * 200, "tokenizer.json\u202e", "-rf",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_leave_the_folder(name, tmp_path):
    assert not is_file_name(name)
    found = read_metadata({keys.FILE + name: "x", keys.FILE + "good.json": "{}"})
    assert list(found.files) == ["good.json"]
    assert len(found.warnings) == 1
    assert found.warnings[0].isprintable()
    assert [path.name for path in write_processor(found, tmp_path / "out")] == ["good.json"]


def test_two_names_that_are_one_on_other_systems():
    found = read_metadata({keys.FILE + "a.json": "1", keys.FILE + "A.json": "2"})
    assert len(found.files) == 1
    assert "case" in found.warnings[0]


def test_many_files_and_many_faults():
    found = read_metadata({f"{keys.FILE}f{i}": "x" for i in range(500)})
    assert len(found.files) == keys.MAX_FILES
    assert len(found.warnings) <= 21
    assert all(len(line) <= 200 for line in found.warnings)


def test_a_damaged_file_is_told_when_it_is_asked_for(tmp_path):
    found = read_metadata({keys.FILE + "a.json": "gz:AAAA"})
    with pytest.raises(InputError, match=r"a\.json"):
        found.files["a.json"]
    with pytest.raises(InputError):
        write_processor(found, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError):
        found.files["b.json"]


def test_a_folder_of_the_processor(tmp_path):
    found = read_metadata(entries())
    out = tmp_path / "out"
    written = write_processor(found, out)
    assert sorted(p.name for p in out.iterdir()) == [p.name for p in written]
    assert {name: (out / name).read_bytes() for name in FILES} == FILES
    assert json.loads((out / "config.json").read_text()) == found.config
    with pytest.raises(OutputError, match="not empty"):
        write_processor(found, out)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        write_processor(found, tmp_path / "file")
    with pytest.raises(OutputError, match="does not exist"):
        write_processor(found, tmp_path / "none" / "out")
    with pytest.raises(InputError, match="no processor files"):
        write_processor(HfMetadata(), tmp_path / "other")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "out"]


def test_all_files_together_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(keys, "MAX_TOTAL", 1000)
    with pytest.raises(InputError, match="larger"):
        write_processor(read_metadata(entries()), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(victim)
    with pytest.raises(FileExistsError):
        fill(read_metadata(entries()), folder)
    assert victim.read_text() == "mine"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_json_there_and_back(value):
    packed = pack_json(value)
    assert packed.isascii()
    assert unpack_json(packed) == value


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([1, 100, 20_000]))
def test_files_there_and_back(data, times):
    whole = data * times
    packed = pack_file(whole)
    assert unpack(packed) == whole
    assert pack_file(whole) == packed
    packed.encode("utf-8")


KEYS = [keys.VERSION, keys.CONFIG, keys.PROCESSOR_CONFIG, keys.TASK, keys.TASK_SOURCE, keys.GENERATION_CONFIG,
        keys.TIMESTAMP, keys.EXPORTER, keys.CHECKSUMS]  # fmt: skip
some_keys = st.sampled_from(KEYS) | st.text(max_size=30).map(keys.FILE.__add__) | st.text().map("hf_".__add__)
some_values = st.one_of(
    st.text(st.characters(), max_size=200),
    json_values.map(json.dumps),
    st.text(max_size=50).map("gz:".__add__),
    st.binary(max_size=100).map(zipped),
    st.binary(max_size=100).map(lambda b: "xz:" + base64.urlsafe_b64encode(b).decode()),
    st.binary(max_size=100).map(lambda b: "xz:" + base64.urlsafe_b64encode(lzma.compress(b)).decode()),
)


def look_at_all(found):
    assert isinstance(found.files, Mapping)
    for name in found.files:
        assert is_file_name(name)
        with suppress(InputError):
            assert isinstance(found.files[name], bytes)
    assert all(line.isprintable() and len(line) <= 200 for line in found.warnings)
    assert found.config is None or isinstance(found.config, dict)
    assert found.task is None or found.task.isascii()


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(some_keys, some_values, max_size=6), st.booleans())
def test_anything_may_stand_there(values, keep_good):
    look_at_all(read_metadata({**(entries() if keep_good else {}), **values}))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(entries())), st.integers(0, 10_000), st.text(max_size=3), st.booleans())
def test_a_value_with_a_wound(key, place, wound, honest):
    """``honest``: the checksums are those of the wounded values, as a forger would write them."""
    value = entries()[key]
    at = place % (len(value) + 1)
    wounded = entries(**{key: value[:at] + wound + value[at + 1 :]})
    if honest and key != keys.CHECKSUMS:
        wounded[keys.CHECKSUMS] = pack_json(
            {one: checksum(value) for one, value in wounded.items() if one != keys.CHECKSUMS}
        )
    look_at_all(read_metadata(wounded))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_file_with_a_wound(tmp_path_factory, data):
    """Of the model's bytes themselves: an error of ours or what is left."""
    whole = model_with(entries()).SerializeToString()
    at = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.mktemp("wound") / "a.onnx"
    path.write_bytes(whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :])
    try:
        found = read_metadata(path)
    except InputError as raised:
        told = raised.message
    else:
        look_at_all(found)
        told = "a.onnx"
    assert "a.onnx" in told


def test_a_stream_behind_the_first_is_not_read():
    packed = gzip.compress(b"{}") + gzip.compress(b"x" * 100)
    assert unpack("gz:" + base64.urlsafe_b64encode(packed).decode()) == b"{}"
