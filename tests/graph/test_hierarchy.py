"""Scopes of nodes."""

from collections import Counter
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.building.scope_inference import common
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.loading.module_scopes import ScopeReader, module_scope, string_list

DATA = Path(__file__).parent.parent / "data"


def scope(name="", output="", **metadata):
    node = helper.make_node("Relu", ["x"], ["y"], name=name)
    for key, value in metadata.items():
        node.metadata_props.add(key=key.replace("__", "."), value=value)
    return ScopeReader().of(node, name, output)


SCOPES, CLASSES = "pkg__torch__onnx__name_scopes", "pkg__torch__onnx__class_hierarchy"


def test_dynamo_metadata():
    found = scope(
        "node_linear_4",
        **{
            SCOPES: "['', 'm', 'm.encoder', 'm.encoder.layer.0', 'm.encoder.layer.0.dense', 'linear_4']",
            CLASSES: "['__main__.Pick', 'transformers.BertModel', 'transformers.BertEncoder',"
            " 'transformers.BertLayer', 'torch.nn.modules.linear.Linear', 'aten.linear.default']",
        },
    )
    assert found.names == ("m", "encoder", "layer.0", "dense")
    assert found.classes == ("BertModel", "BertEncoder", "BertLayer", "Linear")
    assert found.origins == ("scope",) * 4
    assert found.tag == "/Pick/BertModel/BertEncoder/BertLayer.0"


def test_a_node_that_torch_inserted_has_no_module():
    found = scope(
        "node_sym_size_int_4",
        **{
            SCOPES: "['', '_empty_nn_module_stack_from_metadata_hook', 'sym_size_int_4']",
            CLASSES: "['__main__.Pick', '_empty_nn_module_stack_from_metadata_hook', 'aten.sym_size.int']",
        },
    )
    assert found.names == ()
    assert found.tag == ""


def test_the_name_of_a_result_tells_what_that_of_a_fused_operator_does_not():
    """Optimizers name their operators anew, and keep the names of tensors."""
    assert scope("Attention_0", output="/m/enc/self/Reshape_3_output_0").names == ("m", "enc", "self")
    assert scope("/a/MatMul", output="/m/enc/self/Reshape_3_output_0").names == ("a",)
    assert scope("/MatMul", output="/m/enc/self/Reshape_3_output_0").names == ()


def test_namespace_metadata():
    found = scope(namespace="a.Net/blk: a.Block/blk.0: torch.nn.modules.linear.Linear/linear: aten.linear")
    assert found.names == ("blk", "0")
    assert found.classes == ("Block", "Linear")
    assert found.tag == "/Net/Block"


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("/encoder/layer.0/attention/MatMul_1", ("encoder", "layer.0", "attention")),
        ("/MatMul", ()),
        ("Conv_12", ()),
        ("model/conv1/Conv2D", ("model", "conv1")),
        ("model/conv1/Conv2D;model/bn/FusedBatchNorm", ("model", "conv1")),
        ("//a//b//c", ("a", "b")),
        ("/../../etc/passwd", ("..", "..", "etc")),
        ("", ()),
    ],
)
def test_names(name, names):
    found = scope(name)
    assert found.names == names
    assert found.origins == ("name",) * len(names)


def test_an_output_stands_in_for_a_missing_name():
    assert scope("", "/head/proj/MatMul_output_0").names == ("head", "proj")


def test_a_shared_module_keeps_its_full_path():
    assert module_scope(["", "a", "b.c", "b.c.d"], ["", "", "", ""]).names == ("a", "b.c", "d")


@pytest.mark.parametrize(
    ("literal", "items"),
    [
        ("['a', 'b']", ["a", "b"]),
        ("['']", [""]),
        ("[\"it's\", 'b']", ["it's", "b"]),
        ("['a\\'b', 'c']", ["a'b", "c"]),
        ("[]", []),
        ("['a'", []),
        ("__import__('os')", []),
        ("['a', __import__('os')]", []),
        ("['" + "(" * 5000 + "]", []),
        ("[" * 9000 + "'a'" + "]" * 9000, []),
        ("['x']" + "a" * 100_000, []),
    ],
)
def test_lists_are_read_and_never_run(literal, items):
    assert string_list(literal) == items


def test_forged_call_metadata_does_no_harm():
    for value in ("[", "{}", "[1]", "[[1,2,3,4]]", "[" * 100_000, '[["a","b","c"]]', "null", "7"):
        assert isinstance(scope("n", autodoc__expanded__call=value).names, tuple)


def test_depth_is_cut():
    found = scope("/a" * 50_000)
    assert len(found.names) == 64
    assert found.cut


def chain(*names):
    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"], name=name) for i, name in enumerate(names)]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in ("t0", f"t{len(names)}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return [node.scope for node in build(load_bytes(proto.SerializeToString())).nodes]


def test_context():
    assert chain("/a/b/x", "lost", "/a/b/y")[1] == ("a", "b")
    assert chain("/a/b/x", "lost", "/a/c/y")[1] == ("a",)
    assert chain("/a/b/x", "lost")[1] == ("a", "b")
    assert chain("lost", "/a/b/x")[0] == ("a", "b")
    assert chain("/a/b/x", "/inroot", "/a/b/y")[1] == ()
    assert chain("a", "b", "c", "d", "e", "f", "/m/x")[0] == ()


def test_common():
    assert common([("a", "b", "c"), ("a", "b"), ("a", "b", "d")]) == ("a", "b")
    assert common([("a",), ()]) == ()


def test_real_models():
    bert = build(load(DATA / "models" / "bert_tiny.onnx"))
    layers = Counter(node.scope[:3] for node in bert.nodes if len(node.scope) > 2)
    assert ("m", "encoder", "layer.0") in layers
    assert ("m", "encoder", "layer.1") in layers
    assert all(len(n.scope) == len(n.origins) == len(n.classes) for n in bert.nodes)
    quantized = build(load(DATA / "models" / "resnet_tiny_qdq_int8.onnx"))
    assert sum(bool(node.scope) for node in quantized.nodes) > 0.9 * len(quantized.nodes)
    silero = build(load(DATA / "models" / "silero_vad_half.onnx"))
    assert any(node.scope[:1] == ("stft",) for node in silero.nodes)


def test_scope_does_not_depend_on_metadata_order():
    path = DATA / "models" / "bert_tiny.onnx"
    proto = onnx.load(path)
    for node in proto.graph.node:
        entries = sorted(node.metadata_props, key=lambda e: e.value)
        del node.metadata_props[:]
        node.metadata_props.extend(entries)
    shuffled = build(load_bytes(proto.SerializeToString()))
    assert [n.scope for n in shuffled.nodes] == [n.scope for n in build(load(path)).nodes]
