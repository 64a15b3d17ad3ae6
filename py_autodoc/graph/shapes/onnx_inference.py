"""ONNX's own inference for a single node.

Used for operators without a rule, and to complete results of a rule. ONNX never receives the whole model,
so local functions cannot blow up, weights are not needed, and an error stays with its node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx.checker import ValidationError
from onnx.defs import OpSchema, SchemaError
from onnx.shape_inference import InferenceError

from py_autodoc.graph.ir.model import ConstTensor, Shape
from py_autodoc.graph.shapes.shape_context import Element, InvalidNode, ShapeContext

_LATEST = onnx.defs.onnx_opset_version()
MAX_INPUTS = 256
FAULTS = (InferenceError, ValidationError, RuntimeError, ValueError, TypeError, LookupError)
"""Exceptions from ONNX, and from protobuf for numbers out of range."""
_schemas: dict[tuple[str, str, int], OpSchema | None] = {}


def schema_of(op: ShapeContext) -> OpSchema | None:
    """Return the operator's schema at the model's opset; None if ONNX does not define it."""
    node = op.node
    key = (node.domain, node.op_type, node.opset)
    if key not in _schemas:
        if len(_schemas) > 4096:
            _schemas.clear()
        try:
            version = node.opset if 0 < node.opset < 1 << 30 else _LATEST
            _schemas[key] = onnx.defs.get_schema(node.op_type, version, node.domain)
        except SchemaError:
            _schemas[key] = None
    return _schemas[key]


def type_proto(dtype: int, shape: Shape | None) -> onnx.TypeProto:
    """Return a tensor type; unknown dimensions stay empty."""
    proto = onnx.TypeProto()
    tensor = proto.tensor_type
    tensor.elem_type = dtype
    if shape is not None:
        tensor.shape.SetInParent()
        for d in shape:
            dim = tensor.shape.dim.add()
            if isinstance(d, int):
                dim.dim_value = d
            elif d is not None:
                dim.dim_param = d
    return proto


def _element_proto(e: Element) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    holder = proto.sequence_type if e.container == "sequence" else proto.optional_type
    holder.elem_type.CopyFrom(type_proto(e.dtype, e.shape))
    return proto


def _attribute(name: str, value: Any) -> onnx.AttributeProto | None:
    if isinstance(value, ConstTensor):
        if value.values is None:
            return None
        tensor = onnx.numpy_helper.from_array(np.ascontiguousarray(value.values))
        return onnx.helper.make_attribute(name, tensor)
    if isinstance(value, (list, tuple)) and not value:
        return onnx.helper.make_attribute(name, [], attr_type=onnx.AttributeProto.INTS)
    try:
        return onnx.helper.make_attribute(name, value)
    except (TypeError, ValueError):
        return None


def _node_proto(op: ShapeContext) -> onnx.NodeProto | None:
    node = op.node
    if node.subgraphs or (node.op_type == "Optional" and "type" in node.attributes):
        return None  # subgraphs are handled here; a type attribute is kept as text only
    proto = onnx.NodeProto()
    proto.op_type, proto.domain = node.op_type, node.domain
    proto.input.extend(f"t{t}" if t >= 0 else "" for t in node.inputs)
    proto.output.extend(f"o{i}" if t >= 0 else "" for i, t in enumerate(node.outputs))
    for name, value in node.attributes.items():
        attribute = _attribute(name, value)
        if attribute is None:
            return None
        proto.attribute.append(attribute)
    return proto


def infer_node(op: ShapeContext) -> None:
    """Complete the outputs of a node. Raises: InvalidNode with ONNX's message if the node is invalid."""
    schema = schema_of(op)
    if schema is None or len(op.inputs) > MAX_INPUTS:
        return
    opset = [onnx.helper.make_opsetid(op.node.domain, min(op.node.opset or _LATEST, _LATEST))]
    try:
        proto, input_types = _node_proto(op), _inputs(op)
        if proto is None or input_types is None:
            return
        output_types = onnx.shape_inference.infer_node_outputs(
            schema, proto, *input_types, opset_imports=opset
        )
    except FAULTS as e:
        raise InvalidNode("shape-inference-failed", _short(str(e))) from e
    for i, t in enumerate(op.outputs):
        if t >= 0 and f"o{i}" in output_types:
            _fill_output(op, i, output_types[f"o{i}"])


def _inputs(op: ShapeContext) -> tuple[dict[str, onnx.TypeProto], dict[str, onnx.TensorProto]] | None:
    """Return types and known values of the inputs; None if a type is missing."""
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    state = op.state
    for t in op.inputs:
        if t < 0 or f"t{t}" in types:
            continue
        element, dtype = state.elements.get(t), state.dtypes[t]
        if element is None and not dtype:
            return None
        types[f"t{t}"] = type_proto(dtype, state.shapes[t]) if element is None else _element_proto(element)
        value = state.values.get(t)
        if value is not None and value.dtype.kind in "fiub":
            data[f"t{t}"] = onnx.numpy_helper.from_array(np.ascontiguousarray(value))
    return types, data


def _fill_output(op: ShapeContext, i: int, proto: onnx.TypeProto) -> None:
    """Fill the unknown parts of output ``i``."""
    state, t = op.state, op.outputs[i]
    which = proto.WhichOneof("value")
    if which in ("sequence_type", "optional_type"):
        inner = getattr(proto, which).elem_type
        if t not in state.elements and inner.WhichOneof("value") == "tensor_type":
            dtype, shape = _tensor(inner.tensor_type)
            state.elements[t] = Element(which.removesuffix("_type"), dtype, shape)
            state.dtypes[t] = dtype
        return
    if which != "tensor_type":
        return
    dtype, shape = _tensor(proto.tensor_type)
    known_shape = state.shapes[t]
    if not state.dtypes[t]:
        state.dtypes[t] = dtype
    if known_shape is None:
        state.shapes[t] = shape
    elif shape is not None and len(shape) == len(known_shape) and None in known_shape:
        state.shapes[t] = tuple(n if h is None else h for h, n in zip(known_shape, shape, strict=True))


def _tensor(tensor: Any) -> tuple[int, Shape | None]:
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims = tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or None
        for d in tensor.shape.dim
    )
    return tensor.elem_type, dims


def _short(text: str) -> str:
    """Return one line of at most 160 characters, without ONNX's source location."""
    line = " ".join(text.split())
    if "]" in line[:60] and line.startswith("["):
        line = line.split("]", 1)[1].strip()
    return line[:160]
