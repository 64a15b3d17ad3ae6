"""Modules of what a quantizer made: a quantized twin keeps the modules of its original."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes

DATA = Path(__file__).parent.parent / "data"


def original(name: str) -> onnx.ModelProto:
    ending = ".stripped.onnx" if name.startswith("stripped") else ".onnx"
    return onnx.load(DATA / f"{name}{ending}", load_external_data=False)


def placed(proto: onnx.ModelProto) -> dict[str, tuple[str, ...]]:
    return {node.name: node.scope for node in build(load_bytes(proto.SerializeToString())).nodes}


def weighted(proto: onnx.ModelProto) -> list[onnx.NodeProto]:
    """MatMuls with a stored matrix: what quantizers replace."""
    stored = {tensor.name for tensor in proto.graph.initializer}
    return [node for node in proto.graph.node if node.op_type == "MatMul" and node.input[1] in stored]


def constant(proto: onnx.ModelProto, name: str, kind: int, shape: list[int]) -> str:
    size = 1
    for dim in shape:
        size *= dim
    proto.graph.initializer.append(helper.make_tensor(name, kind, shape, [1] * size))
    return name


def in_four_bits(proto: onnx.ModelProto, names: dict[str, str]) -> onnx.ModelProto:
    """As ONNX Runtime's MatMulNBits quantizer writes it; ``names`` of weights by node."""
    for node in weighted(proto):
        old = node.name
        weight = names.get(old, f"val_{old}")
        packed = constant(proto, f"{weight}_Q4", TensorProto.UINT8, [4, 1, 16])
        scales = constant(proto, f"{weight}_scales", TensorProto.FLOAT, [4])
        new = helper.make_node(
            "MatMulNBits", [node.input[0], packed, scales], list(node.output), f"{old}_Q4",
            domain="com.microsoft", K=32, N=4, bits=4, block_size=32,
        )  # fmt: skip
        node.CopyFrom(new)
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return proto


def dynamic(proto: onnx.ModelProto) -> onnx.ModelProto:
    """As ONNX Runtime's dynamic quantizer writes it: five nodes a layer, one quantizer a tensor."""
    quantized: set[str] = set()
    nodes: list[onnx.NodeProto] = []
    layers = {node.name for node in weighted(proto)}
    for node in proto.graph.node:
        if node.name not in layers:
            nodes.append(node)
            continue
        data, name = node.input[0], node.name
        if data not in quantized:
            quantized.add(data)
            made = [f"{data}_{part}" for part in ("quantized", "scale", "zero_point")]
            nodes.append(helper.make_node("DynamicQuantizeLinear", [data], made, f"{data}_QuantizeLinear"))
        weight = constant(proto, f"{name}_w", TensorProto.INT8, [4, 4])
        zero = constant(proto, f"{name}_z", TensorProto.INT8, [1])
        scale = constant(proto, f"{name}_s", TensorProto.FLOAT, [1])
        nodes += [
            helper.make_node("Mul", [f"{data}_scale", scale], [f"{name}_sc"], f"{name}_scales"),
            helper.make_node(
                "MatMulInteger", [f"{data}_quantized", weight, f"{data}_zero_point", zero], [f"{name}_i"],
                f"{name}_quant",
            ),
            helper.make_node("Cast", [f"{name}_i"], [f"{name}_f"], f"{name}_cast", to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_f", f"{name}_sc"], list(node.output), f"{name}_scaled"),
        ]  # fmt: skip
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del proto.graph.node[:]
    proto.graph.node.extend(kept)
    return proto


BIASED = ["models/bert_tiny", "stripped/vit_b16", "stripped/segformer_b0"]
BARE = ["stripped/llama_gqa_small", "stripped/t5_small_encoder", "stripped/mamba_tiny"]


@pytest.mark.parametrize("name", BIASED)
def test_layers_with_a_bias_keep_their_module(name):
    proto = original(name)
    layers, before = [node.name for node in weighted(proto)], placed(proto)
    four, eight = placed(in_four_bits(original(name), {})), placed(dynamic(original(name)))
    assert len(layers) > 5
    for layer in layers:
        assert four[f"{layer}_Q4"] == before[layer]
        for part in ("quant", "cast", "scaled", "scales"):
            assert eight[f"{layer}_{part}"] == before[layer], part


@pytest.mark.parametrize("name", BARE)
def test_layers_without_one_stay_in_the_module_around(name):
    """Nothing else is left of ``q_proj``: its layer is in ``self_attn``. The head has nothing around it."""
    proto = original(name)
    before = placed(proto)
    layers = [node.name for node in weighted(proto) if before[node.name][-1] != "lm_head"]
    four, eight = placed(in_four_bits(original(name), {})), placed(dynamic(original(name)))
    assert len(layers) > 5
    for layer in layers:
        assert four[f"{layer}_Q4"] == before[layer][:-1]
        assert {eight[f"{layer}_{part}"] for part in ("quant", "cast", "scaled", "scales")} == {
            before[layer][:-1]
        }


def test_a_head_is_not_in_the_norm_before_it():
    found = placed(in_four_bits(original("stripped/llama_gqa_small"), {}))
    heads = [names for name, names in found.items() if name.endswith("_Q4")]
    assert heads[-1][-1] != "norm"


def test_the_name_of_a_weight_tells_its_module():
    proto = original("stripped/llama_gqa_small")
    before = placed(proto)
    paths = {node.name: ".".join(before[node.name]) + ".weight" for node in weighted(proto)}
    found = placed(in_four_bits(proto, paths))
    assert {name: found[f"{name}_Q4"] for name in paths} == {name: before[name] for name in paths}
    assert any(names[-1] == "lm_head" for names in found.values())


def test_a_quantizer_is_with_what_reads_it_whatever_its_name():
    """Tools name it after the tensor: ``/enc/norm/…`` for what the layer behind the norm reads."""
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g"], ["n"], "/enc/norm/LayerNormalization"),
        helper.make_node("QuantizeLinear", ["n", "s"], ["q"], "/enc/norm/LayerNormalization_QuantizeLinear"),
        helper.make_node("DequantizeLinear", ["q", "s"], ["d"], "/enc/norm/LayerNormalization_Dequantize"),
        helper.make_node("MatMul", ["d", "w"], ["a"], "/enc/dense/MatMul"),
        helper.make_node("Relu", ["a"], ["y"], "/enc/act/Relu"),
    ]
    weights = [
        helper.make_tensor("g", TensorProto.FLOAT, [4], [1.0] * 4),
        helper.make_tensor("s", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [1.0] * 16),
    ]
    ends = [value("x", TensorProto.FLOAT, [1, 4]), value("y", TensorProto.FLOAT, [1, 4])]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", ends[:1], ends[1:], weights),
        opset_imports=[helper.make_opsetid("", 19)],
    )
    found = build(load_bytes(proto.SerializeToString())).nodes
    assert [node.scope for node in found[1:3]] == [("enc", "dense")] * 2


def test_nothing_changes_without_quantizers():
    proto = original("models/bert_tiny")
    for node in proto.graph.node:
        if node.op_type == "MatMul":
            node.name = f"/other/{node.name}"
    names = {node.name for node in proto.graph.node if node.op_type == "MatMul"}
    assert names
    assert placed(proto)  # recorded scopes stand, whatever a name says
    assert {placed(proto)[name] for name in names} == {
        placed(original("models/bert_tiny"))[name.removeprefix("/other/")] for name in names
    }


def test_what_a_tool_put_between_is_looked_through():
    """ONNX Runtime reshapes around a Gemm, without a name: the quantizer before it is still for the layer."""
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g"], ["n"], "/enc/norm/LayerNormalization"),
        helper.make_node("QuantizeLinear", ["n", "s"], ["q"], "/enc/norm/LayerNormalization_QuantizeLinear"),
        helper.make_node("DequantizeLinear", ["q", "s"], ["d"], "/enc/norm/LayerNormalization_Dequantize"),
        helper.make_node("Reshape", ["d", "p"], ["r"], "gemm_input_reshape"),
        helper.make_node("MatMul", ["r", "w"], ["a"], "/enc/dense/MatMul"),
        helper.make_node("Add", ["a", "d"], ["y"], "/enc/Add"),
    ]
    weights = [
        helper.make_tensor("g", TensorProto.FLOAT, [4], [1.0] * 4),
        helper.make_tensor("s", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("p", TensorProto.INT64, [2], [1, 4]),
        helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [1.0] * 16),
    ]
    ends = [value("x", TensorProto.FLOAT, [1, 4]), value("y", TensorProto.FLOAT, [1, 4])]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    found = build(load_bytes(proto.SerializeToString())).nodes
    assert [node.scope for node in found[1:3]] == [("enc", "norm")] * 2, "the join reads it as well"
