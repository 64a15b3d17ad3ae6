"""Make weights that nodes give to products initializers, the only form that the tools quantize.

Paddle stores every weight in a Constant node. Other exporters put an Identity, a Cast or a Transpose between
a stored tensor and the product that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.ort import stored_array

PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
"""Operators with a weight, and maybe a bias, in inputs 1 and 2; integer kernels compute them faster."""
Array = np.ndarray[Any, Any]
_PASSING = frozenset({"Identity", "Cast", "Transpose"})
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
_INITIALIZERS_ARE_NO_INPUTS = 4
"""First IR version in which an initializer need not be an input of the graph."""


def lift_weights(model: onnx.ModelProto, name: str) -> int:
    """Replace Constant nodes of the main graph, and what passes a stored weight to a product, in place.

    Tensors keep their names. ``name`` is the file's, for messages.

    Returns: the number of weights and biases of products that are initializers now and were not.

    Raises: InputError: the data of a tensor is damaged.
    """
    graph = model.graph
    _without_inputs(model)
    producers = {output: node for node in graph.node for output in node.output if output}
    overridable = {value.name for value in graph.input}
    results = {value.name for value in graph.output}
    stored = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in overridable}
    wanted = _read_by_products(graph) - stored.keys()
    made: dict[str, onnx.TensorProto] = {}
    for node in graph.node:
        tensor = _constant(node) if len(node.output) == 1 else None
        if tensor is not None and node.output[0] not in results:
            made[node.output[0]] = tensor
    stored |= made
    for output in sorted(wanted - made.keys() - results):
        tensor = _passed_on(output, producers, stored, name)
        if tensor is not None:
            made[output] = tensor
    if not made:
        return 0
    kept = [node for node in graph.node if node.op_type not in {"Constant", *_PASSING}
            or not made.keys() & set(node.output)]  # fmt: skip
    del graph.node[:]
    graph.node.extend(kept)
    for output, tensor in made.items():
        tensor.name = output
        graph.initializer.append(tensor)
    return sum(output in wanted and tensor.data_type in _FLOATS for output, tensor in made.items())


def _without_inputs(model: onnx.ModelProto) -> None:
    """Remove initializers from the inputs of an old file, which had to list them: constants, then."""
    if model.ir_version >= _INITIALIZERS_ARE_NO_INPUTS:
        return
    stored = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in stored]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = _INITIALIZERS_ARE_NO_INPUTS


def _read_by_products(graph: onnx.GraphProto) -> set[str]:
    nodes = (node for node in graph.node if node.op_type in PRODUCTS and node.domain in ("", "ai.onnx"))
    return {name for node in nodes for name in node.input if name}


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return a copy of the tensor of a Constant node; None for other nodes, sparse tensors and strings."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    tensor = onnx.TensorProto()
    if attribute.name == "value" and attribute.HasField("t"):
        tensor.CopyFrom(attribute.t)
        return tensor
    kinds: dict[str, Any] = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    if attribute.name not in kinds:
        return None
    try:
        values = np.asarray(helper.get_attribute_value(attribute), kinds[attribute.name])
    except (ValueError, TypeError):  # the attribute has another type
        return None
    return numpy_helper.from_array(values)


def _passed_on(
    output: str,
    producers: Mapping[str, onnx.NodeProto],
    stored: Mapping[str, onnx.TensorProto],
    name: str,
) -> onnx.TensorProto | None:
    """Return the stored tensor that arrives at a product through nodes without a computation."""
    chain: list[onnx.NodeProto] = []
    while output not in stored:
        node = producers.get(output)
        if node is None or node.op_type not in _PASSING or node.domain not in ("", "ai.onnx"):
            return None
        if len(node.input) != 1 or node in chain:
            return None  # damaged: the runtime says so
        chain.append(node)
        output = node.input[0]
    source = stored[output]
    if source.data_type not in _FLOATS:
        return None
    values = stored_array(source, name)
    try:
        for node in reversed(chain):
            values = _applied(node, values)
    except (KeyError, ValueError, TypeError):  # damaged attributes
        return None
    return numpy_helper.from_array(np.ascontiguousarray(values))


def _applied(node: onnx.NodeProto, values: Array) -> Array:
    """Return what a node without a computation gives. Raises: ValueError: an attribute does not fit."""
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if node.op_type == "Transpose":
        return np.transpose(values, attributes.get("perm"))
    if node.op_type == "Cast":
        if attributes["to"] not in _FLOATS:
            raise ValueError("not a float type")
        return values.astype(helper.tensor_dtype_to_np_dtype(attributes["to"]))
    return values
