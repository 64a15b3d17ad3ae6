"""Repeats: what is found, and that what is found is one thing several times."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from onnx import TensorProto, helper, numpy_helper
from test_invariance import MODELS, Maker, layered
from variants import analysed, labelled, without_names

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraphs
from py_autodoc.blocks.repetition.repeats import find_repeats
from py_autodoc.blocks.repetition.template_match import find_isomorphic_part
from py_autodoc.graph.ir.model import Model, TensorKind, TypeTable

DATA = Path(__file__).parent.parent / "data"
OFFERING = ("SkipLayerNormalization", "LayerNormalization", "Dropout")
"""What they compute does not depend on how many of their results are asked for."""
CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)


def load(name: str) -> onnx.ModelProto:
    return onnx.load(DATA / name, load_external_data=False)


def repeats(proto: onnx.ModelProto):
    found = analysed(proto)
    assert not found.structure.gave_up
    check_sound(found.model, found.types, found.structure.repeats)
    return found.structure.repeats


def check_sound(model: Model, types: TypeTable, found) -> None:
    """Every claim, checked by other means than it was made by."""
    for repeat in found:
        assert repeat.count > 1
        assert len({len(part) for part in repeat.members}) == 1
        every = [node for part in repeat.members for node in part]
        assert len(every) == len(set(every)), "parts overlap"
        assert not repeat.scopes or len(repeat.scopes) == repeat.count
        first = _facts(model, types, repeat.members[0])
        for part in repeat.members[1:]:
            assert _facts(model, types, part) == first
    sets = [[set(part) for part in repeat.members] for repeat in found]
    for number, outer in enumerate(sets):
        for inner in sets[number + 1 :]:
            assert not _cross(outer, inner), "repeats cross"


def _cross(a: list[set[int]], b: list[set[int]]) -> bool:
    all_a, all_b = set().union(*a), set().union(*b)
    if not all_a & all_b:
        return False
    return not (any(all_a <= part for part in b) or any(all_b <= part for part in a))


def _facts(model: Model, types: TypeTable, part) -> list:
    """Operators, attributes, weights and inner wires of a part, by place."""
    place = {
        tensor: (at, output)
        for at, node in enumerate(part)
        for output, tensor in enumerate(model.nodes[node].outputs)
    }

    def original(tensor: int) -> int:
        """The constant that a tensor is a copy of, else itself."""
        maker = model.tensors[tensor].producer if tensor >= 0 else -1
        copies = maker >= 0 and model.nodes[maker].op_type == "Identity"
        source = original(model.nodes[maker].inputs[0]) if copies else tensor
        return source if copies and model.tensors[source].kind in CONSTANT else tensor

    found = []
    for number in part:
        node = model.nodes[number]
        # Nodes in bodies are in the part after their node; constants they take are seen there.
        rows = [
            ("omitted",)
            if tensor < 0
            else ("weight", *_constant(model, types, tensor))
            if model.tensors[tensor].kind in CONSTANT
            else place.get(tensor, "outside")
            for tensor in map(original, node.inputs)
        ]
        bodies = {name for name, _ in node.subgraphs}
        attributes = {k: repr(v) for k, v in node.attributes.items() if k not in bodies}
        found.append(
            (
                node.domain,
                node.op_type,
                attributes,
                rows,
                1 if node.op_type in OFFERING else len(node.outputs),
            )
        )
    return found


def _constant(model: Model, types: TypeTable, tensor: int) -> tuple:
    about, value = model.tensors[tensor], model.constants.get(tensor)
    told = (types.dtypes[tensor], types.shapes[tensor])
    integers = value is not None and value.dtype.kind in "iub" and not about.quantized_scale
    small_weight = any(model.nodes[n].op_type in ("DequantizeLinear", "QLinearConv") for n in about.consumers)
    return (*told, value.tolist() if integers and not small_weight else None)


@pytest.mark.slow
@pytest.mark.parametrize("names", [True, False], ids=["names", "bare"])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name.partition(".onnx")[0])
def test_claims_hold(path, names):
    proto = onnx.load(path, load_external_data=False)
    repeats(labelled(proto) if names else without_names(proto))


@pytest.mark.slow
@given(layered())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_claims_hold_on_generated_graphs(proto):
    repeats(proto)


NAMED = {
    "bert_base": {("BertLayer", 12)},
    "bert_base_dyn": {("BertLayer", 12)},
    "gpt2": {("GPT2Block", 12)},
    "llama32_narrow": {("LlamaDecoderLayer", 32)},
    "clip_b32": {("CLIPEncoderLayer", 12)},
    "vit_b16": {("ViTLayer", 12)},
    "t5_small_encoder": {("T5Block", 5)},  # the first one also holds the table of relative positions
    "detr_r50": {("DetrEncoderLayer", 6), ("DetrDecoderLayer", 5), ("ResNetBottleNeckLayer", 5)},
    "swin_t": {("SwinLayer", 3)},  # every other one shifts its windows
    "resnet50": {("ResNetBottleNeckLayer", 2), ("ResNetBottleNeckLayer", 3), ("ResNetBottleNeckLayer", 5)},
    "convnext_tiny": {("ConvNextLayer", 3), ("ConvNextLayer", 9)},
    "mobilenet_v2": {("MobileNetV2InvertedResidual", 2), ("MobileNetV2InvertedResidual", 3)},
    "resnet_tiny": set(),
}


@pytest.mark.parametrize("name", NAMED)
def test_modules(name):
    found = repeats(load(f"stripped/{name}.stripped.onnx"))
    assert NAMED[name] <= {(repeat.type, repeat.count) for repeat in found}
    if not NAMED[name]:
        assert not found


BARE = {
    "stripped/bert_base.stripped.onnx": {(12, 30): 1},
    "stripped/bert_base_dyn.stripped.onnx": {(12, 30): 1},
    "stripped/llama32_narrow.stripped.onnx": {(32, 60): 1},
    "stripped/gpt2.stripped.onnx": {(12, 37): 1},
    "stripped/clip_b32.stripped.onnx": {(12, 32): 1, (12, 31): 1},
    "stripped/swin_t.stripped.onnx": {(3, 111): 1},  # two blocks, one of which shifts its windows
    # Stages of 3, 4, 6, 3 blocks, of which the first differs.
    "stripped/resnet50.stripped.onnx": {(2, 7): 2, (3, 7): 1, (5, 7): 1},
    "models/light_resnet50.onnx": {(2, 25): 1, (2, 17): 1, (3, 25): 1, (5, 25): 1},
    "models/ppocr_v4_det.onnx": {(3, 17): 1},
    "models/mnist_cntk.onnx": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BARE)
def test_without_names(name):
    found = Counter((r.count, len(r.members[0])) for r in repeats(without_names(load(name))))
    assert {key: found[key] for key in BARE[name]} == BARE[name]
    if not BARE[name]:
        assert not found


AGREE = [
    "bert_base",
    "bert_base_dyn",
    "gpt2",
    "llama32_narrow",
    "llama_gqa_small",
    "clip_b32",
    "vit_b16",
    "distilbert",
    "convnext_tiny",
    "whisper_tiny_encoder",
    "resnet50",
    "mobilenet_v2",
    "mamba_tiny",
    "segformer_b0",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREE)
def test_structure_finds_what_the_names_say(name):
    """Node for node, where a layer begins and ends included."""
    proto = labelled(load(f"stripped/{name}.stripped.onnx"))
    named, bare = (analysed(p).structure.repeats for p in (proto, without_names(proto)))
    assert named
    assert all(repeat.scopes for repeat in named)
    assert not any(repeat.scopes for repeat in bare)
    assert {_parts(repeat) for repeat in named} == {_parts(repeat) for repeat in bare}


def _parts(repeat) -> tuple:
    return tuple(frozenset(part) for part in repeat.members)


# Made here: what must and what must not be one.


def stack(layers, shapes=lambda _: 4, **attributes) -> onnx.ModelProto:
    """MatMul, LayerNormalization, Relu, Add; a layer of ``shapes(i)`` columns in between."""
    maker = Maker()
    value = "x"
    for number in range(layers):
        inner = shapes(number)
        wide = maker.op("MatMul", [value, maker.weight(4, inner)])
        wide = maker.op("Relu", [wide])
        back = maker.op("MatMul", [wide, maker.weight(inner, 4)])
        extra = {name: attribute(number) for name, attribute in attributes.items()}
        back = maker.op("LayerNormalization", [back, maker.weight(4), maker.weight(4)], **extra)
        value = maker.op("Add", [value, back])
    return maker.proto(value)


def shape_of(found) -> list[tuple[int, int]]:
    return [(repeat.count, len(repeat.members[0])) for repeat in found]


def test_a_plain_stack():
    assert shape_of(repeats(stack(7))) == [(7, 5)]


def test_weights_of_another_shape_are_another_layer():
    assert shape_of(repeats(stack(6, lambda i: 4 if i < 3 else 8))) == [(3, 5), (3, 5)]
    assert shape_of(repeats(stack(5, lambda i: 8 if i == 2 else 4))) == [(2, 5), (2, 5)]
    assert repeats(stack(4, lambda i: 4 + i)) == ()


def test_another_attribute_is_another_layer():
    found = repeats(stack(6, epsilon=lambda i: 1e-5 if i < 4 else 1e-6))
    assert shape_of(found) == [(4, 5), (2, 5)]
    assert repeats(stack(2, epsilon=lambda i: 1e-5 * (i + 1))) == ()


def test_alternating_layers_repeat_in_pairs():
    assert shape_of(repeats(stack(8, lambda i: 4 + 4 * (i % 2)))) == [(4, 10)]


def test_values_of_small_constants_are_like_attributes():
    def reshapes(sizes) -> onnx.ModelProto:
        maker = Maker()
        value = "x"
        for number, size in enumerate(sizes):
            shape = f"shape{number}"
            maker.weights.append(helper.make_tensor(shape, TensorProto.INT64, [len(size)], size))
            value = maker.op("Reshape", [maker.op("Relu", [value]), shape])
            value = maker.op("MatMul", [value, maker.weight(4, 4)])
        return maker.proto(value)

    assert shape_of(repeats(reshapes([[2, 4, 4]] * 3))) == [(3, 3)]
    assert repeats(reshapes([[2, 4, 4], [1, 8, 4]])) == ()


def test_elementwise_chains_are_no_layers():
    maker = Maker()
    value = "x"
    for _ in range(500):
        value = maker.op("Relu", [value])
    assert repeats(maker.proto(value)) == ()


def named(proto: onnx.ModelProto, name) -> onnx.ModelProto:
    for number, node in enumerate(proto.graph.node):
        node.name = f"{name(number)}/{node.op_type}"
    return proto


def test_scopes_in_order_and_their_paths():
    found = repeats(named(stack(3), lambda node: f"/net/layers.{node // 5}"))
    (only,) = found
    assert only.scopes == tuple(("net", f"layers.{i}") for i in range(3))
    assert only.type == ""


def test_a_scope_that_prepares_something_for_all():
    """A mask that the first layer makes and every layer reads does not make it another layer."""
    maker = Maker()
    value, mask, first = "x", "", 0
    for number in range(4):
        if not number:
            mask = maker.op("Sigmoid", [maker.op("Neg", ["x"])])
            first = len(maker.nodes)
        value = maker.op("MatMul", [value, maker.weight(4, 4)])
        value = maker.op("Add", [value, maker.weight(4)])
        value = maker.op("Mul", [value, mask])
    proto = maker.proto(value)
    found = repeats(named(proto, lambda node: f"/net/layers.{max(0, node - first) // 3}"))
    assert shape_of(found) == [(4, 3)]
    assert len(found[0].scopes) == 4


def test_siblings_that_only_look_alike_are_no_run():
    """Query and key, the norm before and the norm after."""
    maker = Maker()
    q, k = ([maker.op("MatMul", ["x", maker.weight(4, 4)])] for _ in range(2))
    for side in (q, k):
        side.append(maker.op("Add", [side[-1], maker.weight(4)]))
        side.append(maker.op("Tanh", [side[-1]]))
    proto = maker.proto(maker.op("Mul", [q[-1], k[-1]]))
    names = ["query", "key", "query", "query", "key", "key", ""]
    assert repeats(named(proto, lambda node: f"/attention/{names[node]}")) == ()


def test_experts_side_by_side():
    maker = Maker()
    made = []
    for _ in range(4):
        value = maker.op("Relu", [maker.op("MatMul", ["x", maker.weight(4, 8)])])
        made.append(maker.op("MatMul", [value, maker.weight(8, 4)]))
    total = made[0]
    for other in made[1:]:
        total = maker.op("Add", [total, other])
    proto = maker.proto(total)
    (only,) = repeats(named(proto, lambda node: f"/moe/experts.{node // 3}" if node < 12 else "/moe"))
    assert shape_of([only]) == [(4, 3)]
    assert [path[-1] for path in only.scopes] == [f"experts.{i}" for i in range(4)]


def test_bodies_are_searched_and_belong_to_their_node():
    def branch(scale: int) -> onnx.GraphProto:
        return helper.make_graph(
            [helper.make_node("Transpose", ["h"], ["r"], perm=[0, 2, 1][:: 1 if scale else -1])]
            if scale
            else [helper.make_node("Neg", ["h"], ["r"])],
            "b",
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
        )

    def model(same: bool) -> onnx.ModelProto:
        maker = Maker()
        value = "x"
        for number in range(2):
            h = maker.op("MatMul", [value, maker.weight(4, 4)])
            then = branch(0)
            for node in then.node:
                node.input[0] = h
            other = branch(0 if same else number)
            for node in other.node:
                node.input[0] = h
            value = maker.op("If", ["flag"], then_branch=then, else_branch=other)
            value = maker.op("Relu", [value])
        proto = maker.proto(value)
        proto.graph.input.append(helper.make_tensor_value_info("flag", TensorProto.BOOL, []))
        return proto

    (only,) = repeats(model(True))
    assert shape_of([only]) == [(2, 5)]
    assert repeats(model(False)) == ()


def test_weights_shared_by_all_layers():
    """One layer's weights used twelve times are still a layer twelve times."""
    maker = Maker()
    matrix, bias, value = maker.weight(4, 4), maker.weight(4), "x"
    for _ in range(12):
        value = maker.op("Tanh", [maker.op("Add", [maker.op("MatMul", [value, matrix]), bias])])
    assert shape_of(repeats(maker.proto(value))) == [(12, 3)]


def test_nodes_without_use_are_in_no_repeat():
    maker = Maker()
    value, dead = "x", set()
    for _ in range(3):
        value = maker.op("Relu", [maker.op("MatMul", [value, maker.weight(4, 4)])])
        maker.op("Tanh", [value])
        dead.add(len(maker.nodes) - 1)
    (only,) = repeats(maker.proto(value))
    assert only.count == 3
    assert not dead & {node for part in only.members for node in part}


def test_a_part_is_found_again_or_not_at_all():
    found = analysed(stack(3, lambda i: 8 if i == 2 else 4))
    (wiring,) = CanonicalGraphs(found.model, found.types).graphs
    parts = [list(range(5 * i, 5 * i + 5)) for i in range(3)]
    assert find_isomorphic_part(wiring, parts[0], parts[1]) == parts[1]
    assert find_isomorphic_part(wiring, parts[0], parts[2]) is None


def test_odd_graphs():
    empty = helper.make_model(helper.make_graph([], "g", [], []))
    assert repeats(empty) == ()
    circle = helper.make_graph(
        [
            helper.make_node("Add", ["x", "b"], ["a"]),
            helper.make_node("MatMul", ["a", "w"], ["b"]),
            helper.make_node("Add", ["x", "d"], ["c"]),
            helper.make_node("MatMul", ["c", "w"], ["d"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in "bd"],
        [onnx.numpy_helper.from_array(np.zeros((4, 4), np.float32), "w")],
    )
    found = analysed(helper.make_model(circle))
    assert not found.structure.gave_up
    assert find_repeats(found.model, found.types) is not None


def test_a_copied_weight_makes_no_other_layer():
    """The TorchScript exporter copies a weight that equals another one: in the second layer only."""
    made = []
    for number, bias in enumerate(("b", "c")):
        made += [
            helper.make_node("MatMul", [f"x{number}", "w"], [f"m{number}"], f"/l.{number}/MatMul"),
            helper.make_node("Add", [f"m{number}", bias], [f"a{number}"], f"/l.{number}/Add"),
            helper.make_node("Relu", [f"a{number}"], [f"x{number + 1}"], f"/l.{number}/Relu"),
        ]
    copy = helper.make_node("Identity", ["b"], ["c"], "Identity_0")
    graph = helper.make_graph(
        [copy, *made],
        "g",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("x2", TensorProto.FLOAT, [4, 4])],
        [
            onnx.numpy_helper.from_array(np.zeros((4, 4), np.float32), "w"),
            onnx.numpy_helper.from_array(np.zeros(4, np.float32), "b"),
        ],
    )
    [found] = repeats(helper.make_model(graph))
    assert found.scopes == (("l.0",), ("l.1",))
    assert len(found.members[0]) == 3


def test_filled_weights_of_other_shapes_are_another_layer():
    """Files that are published without their numbers fill a shape with one value."""

    def filled(widths) -> onnx.ModelProto:
        nodes, constants, tensor = [], [], "x"
        for number, (come, leave) in enumerate(pairwise(widths)):
            shape = numpy_helper.from_array(np.array([leave, come, 3, 3], np.int64), f"s{number}")
            constants.append(shape)
            nodes.append(helper.make_node("ConstantOfShape", [f"s{number}"], [f"w{number}"]))
            nodes.append(helper.make_node("Conv", [tensor, f"w{number}"], [f"c{number}"], pads=[1] * 4))
            nodes.append(helper.make_node("Relu", [f"c{number}"], [f"r{number}"]))
            nodes.append(helper.make_node("Sqrt", [f"r{number}"], [f"y{number}"]))
            tensor = f"y{number}"
        fed = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, widths[0], 8, 8])]
        given = [helper.make_empty_tensor_value_info(tensor)]
        graph = helper.make_graph(nodes, "g", fed, given, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    assert shape_of(repeats(filled([4, 4, 4, 4]))) == [(3, 4)]
    assert shape_of(repeats(filled([4, 8, 16, 32]))) == []


def test_a_sum_that_nobody_asks_for_makes_no_other_layer():
    """ORT-fused layers: the norm behind the last one hands no sum on."""

    def fused(layers) -> onnx.ModelProto:
        nodes, constants, stream, tensor = [], [], "x", "x"
        weights = {"a": (8, 16), "b": (16, 8), "gamma": (8,), "beta": (8,)}
        for number in range(layers):
            held = {name: f"{name}{number}" for name in weights}
            constants += [
                numpy_helper.from_array(np.ones(s, np.float32), held[n]) for n, s in weights.items()
            ]
            nodes.append(helper.make_node("MatMul", [tensor, held["a"]], [f"p{number}"]))
            nodes.append(helper.make_node("Relu", [f"p{number}"], [f"q{number}"]))
            nodes.append(helper.make_node("MatMul", [f"q{number}", held["b"]], [f"o{number}"]))
            results = [f"y{number}", "", "", f"z{number}"] if number < layers - 1 else [f"y{number}"]
            norm = [f"o{number}", stream, held["gamma"], held["beta"]]
            nodes.append(helper.make_node("SkipLayerNormalization", norm, results, domain="com.microsoft"))
            stream, tensor = f"z{number}", f"y{number}"
        fed = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8])]
        given = [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, 4, 8])]
        graph = helper.make_graph(nodes, "g", fed, given, constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    # The first layer reads the stream that is its input; the others are wired alike.
    assert shape_of(repeats(fused(3))) == [(2, 4)]
