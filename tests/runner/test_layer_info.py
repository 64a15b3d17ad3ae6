"""Times of TensorRT's layers, mapped by what ``trtexec --exportLayerInfo`` says of them."""

import json
from dataclasses import replace

import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.runner import layer_info, read_profile
from py_autodoc.runner.layer_info import read_layer_info, source_nodes

NAMES = ("/a/MatMul", "/a/Add", "/b/Relu", "/c/MatMul", "/c/Softmax", "")


def model():
    """Six nodes in a row, the last without a name."""
    ops = ("MatMul", "Add", "Relu", "MatMul", "Softmax", "Exp")
    nodes = []
    for at, (op, name) in enumerate(zip(ops, NAMES, strict=True)):
        inputs = [f"t{at}", "w"] if op in ("MatMul", "Add") else [f"t{at}"]
        nodes.append(helper.make_node(op, inputs, [f"t{at + 1}"], name=name))
    sizes = [8, 8]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("t0", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("t6", TensorProto.FLOAT, sizes)],
        [helper.make_tensor("w", TensorProto.FLOAT, sizes, [0.5] * 64)],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture
def analysis():
    return run_analysis(model(), Options())


def said(*nodes, separator="\x1e"):
    """``Metadata`` as TensorRT's parser of ONNX writes it."""
    return separator.join(f"[ONNX Layer: {one}]" for one in nodes)


def layer(name, metadata, kind="kgen", **more):
    tensor = {"Name": "t", "Location": "Device", "Dimensions": [8, 8], "Format/Datatype": "Float"}
    held = {"Name": name, "LayerType": kind, "Inputs": [tensor], "Outputs": [tensor], "StreamId": 0}
    return held | ({} if metadata is None else {"Metadata": metadata}) | more


def reformat(name, metadata, origin="REFORMAT"):
    return layer(name, metadata, "Reformat", ParameterType="Reformat", Origin=origin, TacticValue="0x0")


@pytest.fixture
def times(analysis, tmp_path):
    """Reads times by layer with the layers of an engine."""

    def read(spent, layers):
        rows = [{"count": 10}]
        rows += [
            {"name": name, "timeMs": 10 * ms, "averageMs": ms, "medianMs": ms, "percentage": 1.0}
            for name, ms in spent.items()
        ]
        (tmp_path / "profile.json").write_text(json.dumps(rows))
        (tmp_path / "layers.json").write_text(json.dumps({"Layers": layers, "Bindings": ["t0", "t6"]}))
        return read_profile(tmp_path / "profile.json", analysis, tmp_path / "layers.json")

    return read


def groups(found):
    return {tuple(one.nodes): (one.ms, one.conversion_ms) for one in found.nodes}


def test_kernels_whose_names_say_nothing(times):
    found = times(
        {"__myl_FcAdd_myl0_0": 0.5, "__myl_Relu_myl0_1": 0.25, "__myl_FcMaxSub_myl0_2": 0.125},
        [
            layer("__myl_FcAdd_myl0_0", said("/a/MatMul", "/a/Add")),
            layer("__myl_Relu_myl0_1", said("/b/Relu")),
            layer("__myl_FcMaxSub_myl0_2", said("/c/Softmax", "/c/MatMul", "node_of_t6", separator="\x1f")),
        ],
    )
    assert groups(found) == {(0, 1): (0.5, 0.0), (2,): (0.25, 0.0), (3, 4, 5): (0.125, 0.0)}
    assert found.share == 1.0
    assert found.heat()["values"] == {"0": 0.5, "2": 0.25, "3": 0.125}


def test_without_the_file_they_belong_to_no_node(analysis, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps([{"name": "__myl_FcAdd_myl0_0", "averageMs": 0.5}]))
    assert read_profile(tmp_path / "p.json", analysis).lost == {"__myl_FcAdd_myl0_0": 0.5}


def test_a_node_of_several_layers_counts_to_the_slowest(times):
    found = times(
        {"k0": 0.5, "k1": 0.25, "k2": 0.0625},
        [
            layer("k0", said("/a/MatMul", "/a/Add", "/b/Relu")),
            layer("k1", said("/b/Relu", "/c/MatMul", "/c/Softmax", "node_of_t6")),
            layer("k2", said("/c/Softmax", "/b/Relu", "/c/MatMul")),
        ],
    )
    assert groups(found) == {(0, 1, 2): (0.5, 0.0), (3, 4, 5): (0.3125, 0.0)}
    assert found.attributed_ms == pytest.approx(0.8125)


def test_reformats_count_to_the_layer_that_needs_them(times):
    plain = "/a/MatMul + /a/Add"
    found = times(
        {f"Reformatting CopyNode for Input Tensor 0 to {plain}": 4.0, plain: 0.5, "t3 copy": 2.0, "k": 0.25},
        [
            reformat(f"Reformatting CopyNode for Input Tensor 0 to {plain}", ""),
            layer(plain, said("/a/MatMul", "/a/Add")),
            reformat("t3 copy", said("/c/MatMul")),
            layer("k", said("/b/Relu", "/c/MatMul", "/c/Softmax")),
        ],
    )
    # The last node is named by no layer: its result leads to none.
    assert groups(found) == {(0, 1): (4.5, 4.0), (2, 3, 4): (2.25, 2.0)}


def test_a_reformat_may_be_a_node(times):
    found = times({"q": 0.5}, [reformat("q", said("/b/Relu"), "QDQ")])
    assert groups(found) == {(0, 1, 2): (0.5, 0.0)}


def test_layers_that_do_not_say_go_by_their_names(times):
    found = times(
        {"/a/MatMul": 0.5, "/c/Softmax": 0.25, "[trainStation1]": 1.0, "other": 2.0, "k": 0.125},
        [
            layer("/a/MatMul", ""),
            layer("/c/Softmax", None),
            layer("[trainStation1]", ""),
            layer("other", said("/of/another/model")),
            layer("k", said("node_of_t6")),
            "/d/only/a/name",
            {"Name": 3, "Metadata": []},
            None,
        ],
    )
    assert groups(found) == {(0,): (0.5, 0.0), (1, 2, 3, 4): (0.25, 0.0), (5,): (0.125, 0.0)}
    assert found.lost == {"other": 2.0, "[trainStation1]": 1.0}


def test_separators_as_they_are(analysis, tmp_path):
    """TensorRT and trtexec write names and metadata without escaping the separators in them."""
    name = "{ForeignNode[/a/MatMul\x1f.../b/Relu]}"
    metadata = said("/a/MatMul", "/a/Add | Local Function: block", "/b/Relu", separator="\x1f")
    (tmp_path / "p.json").write_text(f'[ {{ "count" : 3 }}\n, {{ "name" : "{name}", "averageMs" : 0.5 }}\n]')
    (tmp_path / "l.json").write_text(
        f'\ufeff{{"Layers": [{{\n  "Name": "{name}",\n  "LayerType": "Myelin",\n'
        f'  "Metadata": "{metadata}"\n}}],\n"Bindings": []\n}}'
    )
    found = read_profile(tmp_path / "p.json", analysis, tmp_path / "l.json")
    assert groups(found) == {(0, 1, 2): (0.5, 0.0)}


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        ("", ()),
        ("a comment", ()),
        ("[ONNX Layer: /l[0]/Conv]\x1e[ONNX Layer: /l[1]/Conv]", ("/l[0]/Conv", "/l[1]/Conv")),
        ("[ONNX Layer: a][ONNX Layer: b]", ("a", "b")),
        ("[ONNX Layer: a | Local Function: f | more]\x1f[ONNX Layer: a]", ("a",)),
        ("[ONNX Layer: ]", ()),
        ("[ONNX Layer: cut ... short", ("cut ... short",)),
    ],
)
def test_what_metadata_names(metadata, names):
    assert source_nodes(metadata) == names


def test_layers_of_one_name_are_one(tmp_path):
    held = {"Layers": [layer("k", said("a")), reformat("k", said("b", "a"))]}
    (tmp_path / "l.json").write_text(json.dumps(held))
    found = read_layer_info(tmp_path / "l.json")
    assert found["k"].nodes == ("a", "b")
    assert not found["k"].conversion


@pytest.mark.parametrize(
    ("text", "code", "way"),
    [
        ('{"Layers": ["a + b"\n,"c"\n],\n"Bindings": ["t0"]}', "layer-info-names-only", "Verbosity=detailed"),
        (json.dumps({"Layers": [layer("a", None)]}), "layer-info-without-nodes", "8.6 and later"),
        (json.dumps({"Layers": [layer("a", "none")]}), "layer-info-without-nodes", "8.6 and later"),
        ("", "bad-layer-info", "exportLayerInfo"),
        ("[]", "bad-layer-info", "exportLayerInfo"),
        ('{"Layers": []}', "bad-layer-info", "exportLayerInfo"),
        ('{"Layers": {"a": 1}}', "bad-layer-info", "exportLayerInfo"),
        ('[{"name": "a", "averageMs": 1}]', "bad-layer-info", "exportLayerInfo"),
        ("[" * 100_000, "layer-info-too-large", ""),
    ],
)
def test_what_is_no_layer_information(tmp_path, text, code, way):
    (tmp_path / "l.json").write_text(text)
    with pytest.raises(AutodocError) as found:
        read_layer_info(tmp_path / "l.json")
    assert found.value.code == code
    assert "l.json" in found.value.message
    assert way in found.value.hint
    assert "\n" not in str(found.value)


def test_files_that_are_too_large(tmp_path, monkeypatch):
    (tmp_path / "l.json").write_text(json.dumps({"Layers": [layer("a", said("b"))]}))
    monkeypatch.setattr(layer_info, "LAYERS", layer_info.Bounds(values=5))
    with pytest.raises(AutodocError, match="has more than 5 values"):
        read_layer_info(tmp_path / "l.json")
    monkeypatch.setattr(layer_info, "LAYER_INFO_FILE", replace(layer_info.LAYER_INFO_FILE, bytes=20))
    with pytest.raises(AutodocError, match="too large for layer information"):
        read_layer_info(tmp_path / "l.json")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(AutodocError, match=r"none\.json: no such file"):
        read_layer_info(tmp_path / "none.json")
    (tmp_path / "l.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AutodocError, match=r"l\.json is not UTF-8 text"):
        read_layer_info(tmp_path / "l.json")


def test_files_of_two_engines(times):
    with pytest.raises(AutodocError, match="no layer in common") as found:
        times({"a": 1.0}, [layer("b", said("/a/Add"))])
    assert "in one run" in found.value.hint


def test_a_profile_of_another_runtime(analysis, tmp_path):
    event = {"cat": "Node", "name": "a_kernel_time", "ts": 0, "dur": 1, "args": {}}
    (tmp_path / "p.json").write_text(json.dumps([event]))
    with pytest.raises(AutodocError, match="profile of ONNX Runtime"):
        read_profile(tmp_path / "p.json", analysis, tmp_path / "l.json")


def test_the_options(tmp_path):
    onnx.save(model(), tmp_path / "m.onnx")
    (tmp_path / "p.json").write_text(json.dumps([{"name": "k", "averageMs": 0.5}]))
    (tmp_path / "l.json").write_text(json.dumps({"Layers": [layer("k", said("/a/Add", "/b/Relu"))]}))

    def ask(*args):
        return CliRunner().invoke(app, ["run", str(tmp_path / "m.onnx"), *map(str, args)])

    told = ask("--profile", tmp_path / "p.json", "--layer-info", tmp_path / "l.json")
    assert told.exit_code == 0
    assert "100.0% of it attributed to nodes" in told.stdout
    assert "3 nodes fused" in told.stdout
    alone = ask("--layer-info", tmp_path / "l.json")
    assert alone.exit_code == 1
    assert "--profile" in alone.stderr
