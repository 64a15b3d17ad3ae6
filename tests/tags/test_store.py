"""Tags in files: written, read, taken out, brought back; damaged and hostile ones."""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path

import onnx
import onnx_ir
import pytest

from py_autodoc.compare import same_topology
from py_autodoc.errors import AnalysisError, InputError, NotAModel, OutputError, PathError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.exporter_records import TABLE, pack_table, read_doc_string, unpack_table
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.loading.module_scopes import ScopeReader
from py_autodoc.tags import (
    NODE_KEYS,
    load_structure,
    load_tags,
    read_tags,
    restore_file,
    sidecar,
    strip_tags,
    tag_file,
    write_tags,
)

DATA = Path("tests/data/models")
DYNAMO = DATA / "bert_tiny.onnx"


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    path = tmp_path_factory.mktemp("tags") / "bert.onnx"
    return path, tag_file(DYNAMO, path)


def test_a_file_of_others(tagged):
    path, tags = tagged
    assert same_topology(DYNAMO, path) == []
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    assert tags.coverage.traced == 1
    assert "/Pick/BertModel/BertEncoder/BertLayer.1/BertAttention/BertSelfAttention" in tags.by_tag()
    for node, record in zip(proto.graph.node, tags.records.values(), strict=True):
        content = json.loads(node.doc_string)
        assert content == {
            "hierarchy_tags": [record.tag],
            "hierarchy_path": record.tag,
            "hierarchy_count": 1,
            "hierarchy_method": record.via,
        }
        props = {p.key: p.value for p in node.metadata_props}
        assert (props["autodoc.tag"], props["autodoc.scope"], props["autodoc.via"]) == (
            record.tag,
            record.scope,
            record.via,
        )
    assert strip_tags(proto) == len(proto.graph.node)
    assert proto.SerializeToString(deterministic=True) == onnx.load(DYNAMO).SerializeToString(
        deterministic=True
    )
    # The weights were copied and never parsed, and tags are a small part of the file.
    assert os.path.getsize(path) < os.path.getsize(DYNAMO) * 1.02


def test_reading_is_writing_backwards(tagged):
    path, tags = tagged
    _, again = load_tags(path)
    assert [*again.records.values()] == [*tags.records.values()]
    assert again.source == "nodes"
    model = onnx_ir.load(path)
    assert [*read_tags(model).records.values()] == [*tags.records.values()]


def test_in_place_twice_changes_nothing(tagged, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(tagged[0].read_bytes())
    tag_file(path, path)
    assert onnx.load(path) == onnx.load(tagged[0])
    restore_file(path, path)
    assert onnx.load(path) == onnx.load(tagged[0])


def test_memory_and_file_give_the_same(tagged):
    path, tags = tagged
    model = onnx_ir.from_proto(onnx.load(DYNAMO))
    again = dict(zip((n for n in model.graph), tags.records.values(), strict=True))
    tags_here = type(tags)(again, tags.namer, tags.exporter, called=tags.called)
    write_tags(model, tags_here)
    assert same_topology(model, path) == []
    assert [dict(n.metadata_props) for n in model.graph] == [
        {p.key: p.value for p in n.metadata_props} for n in onnx.load(path).graph.node
    ]
    assert model.metadata_props[TABLE] == onnx.load(path).metadata_props[0].value
    assert strip_tags(model) == len(again)
    assert not any(k in n.metadata_props for n in model.graph for k in NODE_KEYS)


def test_what_a_node_said_before_stays(tmp_path):
    proto = onnx.load(DYNAMO)
    proto.graph.node[3].doc_string = "said before"
    onnx.save(proto, tmp_path / "a.onnx")
    tag_file(tmp_path / "a.onnx", tmp_path / "b.onnx")
    tag_file(tmp_path / "b.onnx", tmp_path / "b.onnx")
    got = onnx.load(tmp_path / "b.onnx")
    assert json.loads(got.graph.node[3].doc_string)["doc_string"] == "said before"
    strip_tags(got)
    assert got.graph.node[3].doc_string == "said before"


@pytest.mark.parametrize("kept", ["table", "doc_string", "both"])
def test_restored_from_what_is_left(tagged, tmp_path, kept):
    path, tags = tagged
    proto = onnx.load(path)
    for node in proto.graph.node:
        del node.metadata_props[:]
        if kept == "table":
            node.doc_string = ""
    if kept == "doc_string":
        del proto.metadata_props[:]
        found = read_tags(onnx_ir.from_proto(proto))
        assert found.source == "doc_string"
        assert [r.tag for r in found.records.values()] == [r.tag for r in tags.records.values()]
        return
    onnx.save(proto, tmp_path / "m.onnx")
    assert load_tags(tmp_path / "m.onnx")[1].source == "table"
    found = restore_file(tmp_path / "m.onnx", tmp_path / "m.onnx")
    assert [*found.records.values()] == [*tags.records.values()]
    for node, first in zip(
        onnx.load(tmp_path / "m.onnx").graph.node, onnx.load(path).graph.node, strict=True
    ):
        ours = [(p.key, p.value) for p in first.metadata_props if p.key in NODE_KEYS]
        assert [(p.key, p.value) for p in node.metadata_props] == ours
        assert node.doc_string == first.doc_string


def test_a_model_without_tags():
    tags = read_tags(load_structure(DATA / "mnist_cntk.onnx"))
    assert tags.source == "none"
    assert {r.via for r in tags.records.values()} == {"root"}
    with pytest.raises(InputError) as caught:
        tag_file(DATA / "mnist_cntk.onnx", "x.onnx")
    assert caught.value.code == "no-scopes"
    with pytest.raises(InputError) as caught:
        restore_file(DATA / "mnist_cntk.onnx", "x.onnx")
    assert caught.value.code == "no-table"
    assert not Path("x.onnx").exists()


def test_bad_files(tmp_path):
    with pytest.raises(PathError):
        tag_file(tmp_path / "none.onnx", tmp_path / "x.onnx")
    (tmp_path / "page.onnx").write_text("<html>")
    with pytest.raises(NotAModel):
        tag_file(tmp_path / "page.onnx", tmp_path / "x.onnx")
    with pytest.raises(OutputError):
        tag_file(DYNAMO, tmp_path / "no" / "x.onnx")
    (tmp_path / "cut.onnx").write_bytes(DYNAMO.read_bytes()[:100_000])
    with pytest.raises(InputError):
        tag_file(tmp_path / "cut.onnx", tmp_path / "x.onnx")
    double = onnx.load(DATA / "mnist_cntk.onnx")
    double.graph.node.append(double.graph.node[0])
    onnx.save(double, tmp_path / "double.onnx")
    with pytest.raises(
        InputError, match="the graph is invalid: Output 'Convolution28_Output_0' is redeclared"
    ) as caught:
        load_structure(tmp_path / "double.onnx")
    assert caught.value.code == "graph-inconsistent"
    assert sorted(os.listdir(tmp_path)) == ["cut.onnx", "double.onnx", "page.onnx"]


def test_weights_beside_the_model_stay_findable(tmp_path):
    proto = onnx.load(DYNAMO)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    source = tmp_path / "a" / "m.onnx"
    onnx.save(proto, source, save_as_external_data=True, location="w.bin", size_threshold=1024)
    tag_file(source, tmp_path / "a" / "tagged.onnx")
    assert same_topology(DYNAMO, tmp_path / "a" / "tagged.onnx") == []
    with pytest.raises(InputError) as caught:
        tag_file(source, tmp_path / "b" / "tagged.onnx")
    assert caught.value.code == "external-data-elsewhere"


def test_tags_of_another_model(tagged):
    with pytest.raises(AnalysisError):
        write_tags(onnx.load(DATA / "resnet_tiny.onnx"), tagged[1])


def zipped(data, level=9, end=None):
    """Without the time, so that each process that collects these tests names them alike."""
    return "gz:" + base64.b85encode(gzip.compress(data, level, mtime=0)[:end]).decode()


def packed(content):
    return zipped(json.dumps(content).encode())


HOSTILE = [
    "", "gz:", "gz:%%%", "text", packed([]), packed({"v": 2}), packed({"v": 1, "nodes": [[0, "n", []]]}),
    packed({"v": 1, "records": [["a", "/A", "trace"]], "nodes": [[-1, "n", ["o"]]]}),
    packed({"v": 1, "records": [[1, 2, 3]]}),
    zipped(b"[" * 100_000), zipped(b" " * (1 << 22), 1, 2000),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_damaged_table_is_no_table(text, tmp_path):
    assert unpack_table(text) is None
    proto = onnx.load(DATA / "resnet_tiny.onnx")
    proto.metadata_props.add(key=TABLE, value=text)
    onnx.save(proto, tmp_path / "m.onnx")
    assert read_tags(onnx_ir.from_proto(proto)).source == "none"
    with pytest.raises(InputError) as caught:
        restore_file(tmp_path / "m.onnx", tmp_path / "m.onnx")
    assert caught.value.code == "no-table"
    assert build(load(tmp_path / "m.onnx")).nodes


def test_a_table_survives_packing(tagged):
    text = onnx.load(tagged[0]).metadata_props[0].value
    table = unpack_table(text)
    assert pack_table(table) == text
    assert len(text) < 12_000


def test_forged_tags_of_nodes_do_no_harm(tagged):
    proto = onnx.load(tagged[0])
    for value in ("[", "{}", "[1]", "null", "7", '{"a": "b"}', "[" * 50_000):
        node = proto.graph.node[0]
        del node.metadata_props[:]
        for key in NODE_KEYS:
            node.metadata_props.add(key=key, value=value)
        tags = read_tags(onnx_ir.from_proto(proto))
        assert len(tags.records) == len(proto.graph.node)
        assert isinstance(ScopeReader(proto).of(node, "n", "o").names, tuple)
        assert read_doc_string(value) is None


def test_the_viewer_prefers_our_tags(tagged):
    path, tags = tagged
    ours, theirs = build(load(path)), build(load(DYNAMO))
    assert [n.tag for n in ours.nodes] == [r.tag for r in tags.records.values()]
    assert [(n.scope, n.classes, n.origins) for n in ours.nodes] == [
        (n.scope, n.classes, n.origins) for n in theirs.nodes
    ]
    proto = onnx.load(path)
    for node in proto.graph.node:  # the exporter's own are gone: levels and classes come from the table
        kept = [p for p in node.metadata_props if p.key.startswith("autodoc.")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    scopes = ScopeReader(proto)
    for node, known in zip(proto.graph.node, theirs.nodes, strict=True):
        found = scopes.of(node, node.name, node.output[0])
        assert (found.names, found.classes) == (known.scope, known.classes)
    bare = ScopeReader()
    assert bare.of(proto.graph.node[-1], "", "").names
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    node.metadata_props.add(key="autodoc.scope", value="encoder.layer.0.attention")
    assert bare.of(node, "", "").names == ("encoder", "layer.0", "attention")


def test_a_sidecar_without_torch(tagged):
    path, _ = tagged
    model, tags = load_tags(path)
    content = sidecar(model, tags, source=path.name)
    assert json.loads(json.dumps(content)) == content
    assert content["source"] == "bert.onnx"
    assert all(row["status"] in ("traced", "folded", None) for row in content["modules"].values())
    assert content["coverage"]["nodes"] == len(content["nodes"])
    assert content["coverage"]["shares"] == {"traced": 1.0, "inferred": 0.0, "unknown": 0.0}
