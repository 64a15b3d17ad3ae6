"""What boxes are called: their role before their name, and no two alike."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.blocks.results import RecognisedBlock
from py_autodoc.report.box_tree.grouping import STRUCTURE, build_box_tree
from py_autodoc.report.box_tree.spatial_stages import stages
from py_autodoc.report.builders.block_section import recognised_blocks
from py_autodoc.report.encode.block_titles import Titles
from py_autodoc.report.module_tree.scope_tree import scope_tree
from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).parents[1] / "data"


@cache
def zoo(name: str):
    with zipfile.ZipFile(DATA / "zoo.zip") as files:
        return build_box_tree(run_analysis(files.read(f"{name}.onnx"), Options(assume=True)))


def titles(tree) -> dict[str, str]:
    """Path of a box → its role."""
    return {"/".join(tree.path(scope)): role for scope, role in enumerate(tree.role)}


@pytest.mark.parametrize(
    ("name", "path", "role"),
    [
        ("yolov8.ts", "s1/s1.1", "C2f"),
        ("yolov8.ts", "s1", ""),
        ("yolov8.ts", "s4/s4.2", "SPPF"),
        ("yolov8.ts", "s0", "Conv block (Conv+SiLU)"),
        ("yolov5.ts", "s1/s1.1", "C3"),
        ("crnn.ts", "r", "LSTM"),
        ("crnn.ts", "o", "Linear"),
        ("bart.ts", "m/model/encoder/layers ×2", "Transformer layer"),
        ("bart.ts", "m/model/encoder", "Transformer, 2 layers"),
        ("gpt2.ts", "m/transformer/h ×2/h.0/attn", "Attention"),
        ("unet.ts", "a", "Conv ×2"),
        ("jamba_batched_mm.ts", "m/model", "Transformer + state space"),
    ],
)
def test_a_name_without_a_class_gets_its_role(name, path, role):
    assert titles(zoo(name))[path] == role


def test_a_class_is_no_role():
    tree = build_box_tree(run_analysis(DATA / "models/bert_tiny.onnx", Options(assume=True)))
    assert all(not role for role, kind in zip(tree.role, tree.type, strict=True) if kind)
    assert titles(tree)["m/encoder/BertLayer ×2"] == "", "its parts have a class, which is its name"


def module(*layers: tuple[str, list[str], str, str], path: str = "body") -> onnx.ModelProto:
    """Layers (operator, inputs, output, class) of one Sequential that reads ``x``."""
    nodes = []
    for at, (op, inputs, output, kind) in enumerate(layers):
        node = helper.make_node(op, inputs, [output], f"n{at}")
        names, classes = ["", path, f"{path}.{at}", "op"], ["Net", "Sequential", kind, "op"]
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=str(names))
        node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=str(classes))
        nodes.append(node)
    nodes.append(helper.make_node("Neg", [layers[-1][2]], ["y"], "end"))
    value, convolves = helper.make_tensor_value_info, any(op == "Conv" for op, *_ in layers)
    shape = [1, 4, 8, 8] if convolves else [1, 4]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 4, 1, 1] if convolves else [4, 4], [0.1] * 16)
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, shape)], [value("y", TensorProto.FLOAT, shape)], [weight]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


CONVS = [
    ("Conv", ["x", "w"], "a", "Conv2d"),
    ("Relu", ["a"], "b", "ReLU"),
    ("Conv", ["b", "w"], "c", "Conv2d"),
]
DENSE = [
    ("MatMul", ["x", "w"], "a", "Linear"),
    ("Relu", ["a"], "b", "ReLU"),
    ("MatMul", ["b", "w"], "c", "Linear"),
]


@pytest.mark.parametrize(("layers", "role"), [(CONVS, "Conv stem"), (CONVS[:2], "Conv stem"), (DENSE, "MLP")])
def test_a_container_is_named_by_its_contents(layers, role):
    tree = build_box_tree(run_analysis(module(*layers), Options()))
    assert tree.type[0] == "Sequential"
    assert titles(tree)["body"] == role


def extractor(*kernels: tuple[int, int]) -> onnx.ModelProto:
    """Layers of one class, each a convolution (kernel, stride) over one axis and an activation."""
    nodes, x, weights = [], "x", []
    for at, (kernel, stride) in enumerate(kernels):
        weights.append(helper.make_tensor(f"w{at}", TensorProto.FLOAT, [4, 4, kernel], [0.1] * 16 * kernel))
        conv = helper.make_node("Conv", [x, f"w{at}"], [f"c{at}"], f"c{at}", strides=[stride])
        x = f"r{at}"
        for node in (conv, helper.make_node(("Relu", "Tanh")[at % 2], [f"c{at}"], [x], x)):
            scopes, classes = ["", f"layers.{at}", "op"], ["Net", "ConvLayer", "op"]
            node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=str(scopes))
            node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=str(classes))
            nodes.append(node)
    nodes.append(helper.make_node("Neg", [x], ["y"], "end"))
    value = helper.make_tensor_value_info
    inputs, outputs = (
        [value("x", TensorProto.FLOAT, [1, 4, 400])],
        [value("y", TensorProto.FLOAT, [1, 4, None])],
    )
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_convolutions_of_one_class_say_where_they_differ():
    found = titles(build_box_tree(run_analysis(extractor((10, 5), (3, 2), (2, 1)), Options())))
    assert found == {
        "layers.0": "Conv kernel 10, stride 5",
        "layers.1": "Conv kernel 3, stride 2",
        "layers.2": "Conv kernel 2",
    }


def test_convolutions_that_do_not_differ_keep_their_class():
    assert set(titles(build_box_tree(run_analysis(extractor((3, 2), (3, 2)), Options()))).values()) == {""}


def test_a_row_of_residual_blocks_is_counted():
    found = titles(build_box_tree(run_analysis(DATA / "timed/resnet18.stripped.onnx", Options(assume=True))))
    assert found["layer2"] == "Residual ×2"


def test_a_mixer_of_mamba_shows_its_scan():
    tree = build_box_tree(run_analysis(DATA / "models/mamba_tiny.onnx", Options(assume=True)))
    inside = {
        label for scope, label in enumerate(tree.label) if tree.type[tree.parent[scope]] == "MambaMixer"
    }
    assert "Selective scan 1 · 256×16" in inside
    assert not any(label.startswith(("Stage", "MatMul")) for label in inside)
    found = titles(zoo("mamba.ts"))
    assert found["m/backbone/layers ×2/layers.0/mixer"] == "State-space layer"


def test_maps_of_another_task_are_no_segmentation():
    analysis = run_analysis(DATA / "models/basic_pitch_nmp.onnx", Options(assume=True))
    assert analysis.identified.task.id == "music-transcription"
    assert "Head (segmentation)" not in build_box_tree(analysis).role
    assert {block.variant for block in recognised_blocks(analysis) if block.kind == "head"} == {""}
    analysis = run_analysis(DATA / "stripped/segformer_b0.stripped.onnx", Options(assume=True))
    assert "segmentation" in {block.variant for block in recognised_blocks(analysis) if block.kind == "head"}


def test_the_body_of_a_branch_says_what_it_does():
    tree = build_box_tree(run_analysis(DATA / "models/silero_vad_half.onnx", Options(assume=True)))
    found = [tree.role[scope] for scope in tree.graph if scope >= 0]
    assert found.count("LSTM") >= 2


@pytest.mark.parametrize(
    "path",
    ["models/ppocr_cls_v2", "models/ppocr_v4_det", "models/swift_f0", "stripped/segformer_b0.stripped"],
)
def test_no_two_recognised_boxes_have_one_title(path):
    tree = build_box_tree(run_analysis(DATA / f"{path}.onnx", Options(assume=True)))
    made = [label for label, origin in zip(tree.label, tree.origin, strict=True) if origin == STRUCTURE]
    assert len(made) == len(set(made))


def test_alike_boxes_have_their_place_and_size():
    tree = build_box_tree(run_analysis(DATA / "models/ppocr_v4_det.onnx", Options(assume=True)))
    found = [label for label in tree.label if label.startswith("Separable conv")]
    assert len(found) > 10
    assert sorted(int(label.split()[2]) for label in found) == list(range(1, len(found) + 1))
    assert all("×" in label for label in found)


def maps(*shapes: tuple[int, int]) -> onnx.ModelProto:
    """A chain of operators on maps of the sizes in turn, no two stretches of it alike."""
    nodes, x = [], "x"
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [4, 4, 1, 1], [0.1] * 16)]
    kinds = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Exp")
    for at, (height, width) in enumerate(shapes):
        weights.append(helper.make_tensor(f"s{at}", TensorProto.INT64, [4], [1, 4, height, width]))
        nodes.append(helper.make_node("Resize", [x, "", "", f"s{at}"], [f"r{at}"], f"r{at}"))
        nodes.append(helper.make_node("Conv", [f"r{at}", "w"], [f"c{at}"], f"c{at}"))
        x = f"c{at}"
        for step in range(7):
            kind = kinds[(at * at + step * (at + 1)) % len(kinds)]
            nodes.append(helper.make_node(kind, [x], [f"a{at}_{step}"], f"a{at}_{step}"))
            x = f"a{at}_{step}"
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, [1, 4, *shapes[0]])]
    outputs = [value(x, TensorProto.FLOAT, [1, 4, *shapes[-1]])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_stages_of_one_size_get_what_differs():
    sizes = [(16, 16), (8, 8), (16, 16), (8, 8), (16, 16)]
    tree = build_box_tree(run_analysis(maps(*sizes), Options()))
    found = [label for label in tree.label if label.startswith("Stage ")]
    assert len(found) == len(set(found)) == len(sizes)
    assert "Stage 8×8 · 4 channels (2)" in found


def test_rows_after_a_module_of_convolutions_are_no_map():
    """As the boxes of a detector: the module holds a convolution and gives 1×4×2×128."""
    value, kinds = helper.make_tensor_value_info, ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Exp")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "/m/Conv"),
        helper.make_node("Reshape", ["c", "rows"], ["t0"], "/m/Reshape"),
        *(
            helper.make_node(kinds[at * (at + 3) % 6], [f"t{at}"], [f"t{at + 1}"], f"/op{at}")
            for at in range(18)
        ),
        helper.make_node("Reshape", ["t18", "map"], ["u0"], "/map"),
        helper.make_node("Conv", ["u0", "w"], ["u1"], "/Conv"),
        *(
            helper.make_node(kinds[at * (at + 1) % 6], [f"u{at}"], [f"u{at + 1}"], f"/next{at}")
            for at in range(1, 18)
        ),
    ]
    weights = [
        helper.make_tensor("w", TensorProto.FLOAT, [4, 4, 1, 1], [0.1] * 16),
        helper.make_tensor("rows", TensorProto.INT64, [4], [1, 4, 2, 128]),
        helper.make_tensor("map", TensorProto.INT64, [4], [1, 4, 16, 16]),
    ]
    ends = [value(name, TensorProto.FLOAT, [1, 4, 16, 16]) for name in ("x", "u18")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    analysis = run_analysis(model.SerializeToString(), Options())
    titles = [title for title, _ in stages(analysis.model, analysis.types, scope_tree(analysis.model), -1)]
    assert not any("2×128" in title for title in titles)


def test_windows_joined_before_one_residual_are_one_layer():
    blocks = [
        RecognisedBlock("attention", (1, 2), 1),
        RecognisedBlock("attention", (3, 4), 3),
        RecognisedBlock("residual", (0, 1, 2, 3, 4, 5), 5),
        RecognisedBlock("attention", (7,), 7),
        RecognisedBlock("residual", (6, 7, 8), 8),
        RecognisedBlock("attention", (10,), 10),
    ]
    titles = Titles(blocks)
    assert titles.attention_layers == {1: 5, 3: 5, 7: 8, 10: 10}
    assert titles.instance_title(range(6)) == "Attention layer"
    assert titles.instance_title(range(9)) == "Transformer, 2 layers", "the part of a repeat holds two"


def test_pools_over_positions_give_no_stages():
    """Funnel pools the positions of a text as 1×1×24×8, without any convolution."""
    value, nodes, x = helper.make_tensor_value_info, [], "x"
    for at in range(2):
        nodes.append(helper.make_node("AveragePool", [x], [f"p{at}"], kernel_shape=[2, 1], strides=[2, 1]))
        x = f"p{at}"
        for step in range(14):
            kind = ("Relu", "Tanh", "Neg", "Abs", "Exp")[step * (step + at) % 5]
            nodes.append(helper.make_node(kind, [x], [f"t{at}_{step}"], f"/{kind}_{at}_{step}"))
            x = f"t{at}_{step}"
    inputs, outputs = (value(n, TensorProto.FLOAT, [1, 1, s, 8]) for n, s in (("x", 24), (x, 6)))
    graph = helper.make_graph(nodes, "g", [inputs], [outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    analysis = run_analysis(model.SerializeToString(), Options())
    assert stages(analysis.model, analysis.types, scope_tree(analysis.model), -1) == []


def test_a_quantized_convolution_does_not_stand_for_the_one_beside_it():
    """QuantizeLinear and the first QLinearConv are one recognised block: two of the three nodes."""
    value, tensor = helper.make_tensor_value_info, helper.make_tensor
    weights = [
        tensor("s", TensorProto.FLOAT, [], [0.1]),
        tensor("z", TensorProto.UINT8, [], [0]),
        tensor("w", TensorProto.UINT8, [3, 3, 3, 3], [1] * 81),
    ]
    scales = ["s", "z", "w", "s", "z", "s", "z"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"], name="/down/0/QuantizeLinear"),
        helper.make_node("QLinearConv", ["a", *scales], ["b"], name="/down/0/Conv", pads=[1] * 4),
        helper.make_node("QLinearConv", ["b", *scales], ["c"], name="/down/1/Conv", pads=[1] * 4),
        helper.make_node("DequantizeLinear", ["c", "s", "z"], ["y"], name="/head/DequantizeLinear"),
        helper.make_node("Relu", ["y"], ["r"], name="/head/Relu"),
    ]
    shape = [1, 3, 8, 8]
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, shape)], [value("r", TensorProto.FLOAT, shape)], weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    tree = build_box_tree(run_analysis(model.SerializeToString(), Options()))
    assert titles(tree)["down"] == "Conv ×2"


def test_attention_is_cut_in_the_same_places_in_every_layer_of_a_model_without_feature_maps():
    """Heads × positions are no stage, but equal steps would cut the first layer elsewhere: it is longer."""
    value, nodes, x = helper.make_tensor_value_info, [], "x"
    for at in range(44):
        kind = ("Relu", "Tanh", "Neg", "Abs", "Exp", "Sin", "Cos")[at * (at + 1) % 7]
        nodes.append(helper.make_node(kind, [x], [f"t{at}"], f"/{kind}_{at}"))
        x = f"t{at}"
        if at == 15:
            nodes.append(helper.make_node("Transpose", [x], ["turned"], "/Transpose", perm=[0, 1, 3, 2]))
            x = "turned"
    inputs, outputs = (value(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 4, 8, 3]), (x, [1, 4, 3, 8])))
    graph = helper.make_graph(nodes, "g", [inputs], [outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    analysis = run_analysis(model.SerializeToString(), Options())
    cut = stages(analysis.model, analysis.types, scope_tree(analysis.model), -1)
    assert [(title, len(entities)) for title, entities in cut] == [("Part 1", 16), ("Part 2", 29)]
