"""Prepare a float model: fold normalizations, name nodes, add a tag table that survives the tools."""

from __future__ import annotations

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper

from py_autodoc.errors import InputError
from py_autodoc.float_models import PER_CHANNEL, lift_weights, opset_of, raise_opset
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import read_model
from py_autodoc.outputs.marks import unmark
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.tags import read_tags, write_tags
from py_autodoc.tags.model_files import to_ir

_QUANTIZED = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulNBits"})
_MIN_OPSET = {"static": 11, "dynamic": 11, "int8-weights": 13, "int4-weights": 13, "fp16": 9}


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to a model before it was quantized."""

    lifted_weights: int
    """Weights and biases that nodes gave to products, and initializers now."""
    opset_before: int
    opset: int


def load_float_model(path: PathLike) -> onnx.ModelProto:
    """Load the model with its weights.

    Raises: InputError: it cannot be read completely or is already quantized.
    """
    name = base_name(path)
    proto = read_model(path, weights=True)
    ops = {str(node.op_type) for node in proto.graph.node}
    if ops & _QUANTIZED or any(operator.startswith(("QLinear", "QGemm")) for operator in ops):
        hint = "Pass the original float model."
        raise InputError("already-quantized", f"{name} is already quantized.", hint)
    unmark(proto)
    return proto


def modernize(proto: onnx.ModelProto, name: str, method: str) -> Changes:
    """Make weights initializers and raise the opset in place, so that every method and scale applies.

    Raises: InputError: the operators are too old and cannot be converted.
    """
    opset = opset_of(proto)
    lifted = lift_weights(proto, name) if method != "fp16" else 0
    needed = max(PER_CHANNEL, _MIN_OPSET.get(method, 0)) if method != "fp16" else _MIN_OPSET[method]
    raised = opset < needed and raise_opset(proto, needed)
    if opset_of(proto) < _MIN_OPSET.get(method, 0):
        raise InputError(
            "opset-too-old",
            f"{name} has opset {opset}, which cannot be converted; {method} needs {_MIN_OPSET[method]}.",
            "Export it again with opset 17 or newer.",
        )
    return Changes(lifted_weights=lifted, opset_before=opset, opset=opset_of(proto) if raised else opset)


def fit_recipe(recipe: Recipe, requested: Recipe, proto: onnx.ModelProto, name: str) -> Recipe:
    """Adapt the recipe to a model: DequantizeLinear supports scales per channel from opset 13 on.

    Raises: InputError: such scales were requested for an older model.
    """
    opset = opset_of(proto)
    standard = recipe.method == "static" and recipe.format == "qdq" and recipe.activations != "u16"
    if not (standard and recipe.per_channel) or opset >= PER_CHANNEL:
        return recipe
    if requested.per_channel:
        raise InputError(
            "opset-too-old",
            f"{name} has opset {opset}, which cannot be converted; scales per channel need {PER_CHANNEL}.",
            "Use --per-tensor, or export it again with opset 17 or newer.",
        )
    return msgspec.structs.replace(recipe, per_channel=False)


def prepare_model(proto: onnx.ModelProto, name: str, fold: bool = True) -> int:
    """Prepare the model in place and return the number of folded normalizations."""
    model = to_ir(proto, name)
    tags = read_tags(model)
    if tags.source != "none":
        # Tools keep the table in the metadata; nodes that they replace get their tags from it.
        write_tags(proto, tags)
    folded = _fold_normalizations(proto) if fold else 0
    used_names = {node.name for node in proto.graph.node}
    for index, node in enumerate(proto.graph.node):
        if not node.name:
            node_name = (
                node.output[0] if node.output and node.output[0] not in used_names else f"node_{index}"
            )
            node.name = node_name
            used_names.add(node_name)
    del proto.graph.value_info[:]
    return folded


def _fold_normalizations(proto: onnx.ModelProto) -> int:
    """Fold every BatchNormalization after a convolution that nothing else reads into its weight and bias."""
    graph = proto.graph
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    readers: dict[str, int] = {}
    for node in graph.node:
        for tensor in node.input:
            readers[tensor] = readers.get(tensor, 0) + 1
    results = {value.name for value in graph.output}
    producers = {out: node for node in graph.node for out in node.output}
    folded: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type != "BatchNormalization" or node.domain not in ("", "ai.onnx") or len(node.output) > 1:
            continue
        conv = producers.get(node.input[0])
        if conv is None or conv.op_type != "Conv" or readers.get(node.input[0]) != 1:
            continue
        if node.input[0] in results or any(
            tensor not in initializers for tensor in (*node.input[1:5], *conv.input[1:])
        ):
            continue
        _merge_normalization(graph, conv, node, initializers, len(folded))
        folded.append(node)
    for node in folded:
        graph.node.remove(node)
    read = {tensor for node in graph.node for tensor in node.input} | results
    for tensor in [
        tensor
        for tensor in graph.initializer
        if tensor.name not in read and _unused_in_subgraphs(tensor.name, graph)
    ]:
        graph.initializer.remove(tensor)
    return len(folded)


def _unused_in_subgraphs(name: str, graph: onnx.GraphProto) -> bool:
    """True if no subgraph can read the tensor."""
    inner = any(attribute.HasField("g") for node in graph.node for attribute in node.attribute)
    return not inner and name not in {value.name for value in graph.input}


def _merge_normalization(
    graph: onnx.GraphProto,
    conv: onnx.NodeProto,
    norm: onnx.NodeProto,
    initializers: dict[str, onnx.TensorProto],
    number: int,
) -> None:
    scale, bias, mean, variance = (
        numpy_helper.to_array(initializers[name]).astype(np.float64) for name in norm.input[1:5]
    )
    epsilon = next((attribute.f for attribute in norm.attribute if attribute.name == "epsilon"), 1e-5)
    factor = scale / np.sqrt(variance + epsilon)
    weight = numpy_helper.to_array(initializers[conv.input[1]])
    old_bias = (
        numpy_helper.to_array(initializers[conv.input[2]]) if len(conv.input) > 2 else np.zeros(len(factor))
    )
    shape = (-1, *([1] * (weight.ndim - 1)))
    names = f"{conv.input[1]}_folded_{number}", f"{norm.input[2]}_folded_{number}"
    values = weight * factor.reshape(shape), (old_bias - mean) * factor + bias
    for name, value in zip(names, values, strict=True):
        graph.initializer.append(numpy_helper.from_array(value.astype(weight.dtype), name))
    del conv.input[1:]
    conv.input.extend(names)
    conv.output[0] = norm.output[0]
