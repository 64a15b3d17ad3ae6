"""ONNX's backend node tests as models whose outputs have no declared type.

Small integer inputs are made initializers, since shapes may depend on them. The expected outputs
of each test are the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx_node_tests import node_cases

MAX_CONSTANT = 1024


@dataclass(frozen=True)
class NodeModel:
    name: str
    proto: onnx.ModelProto
    expected: dict[str, tuple[int, tuple[int, ...]]]
    """Output name → element type and shape; outputs that are no tensors are left out."""


def _fact(value: Any) -> tuple[int, tuple[int, ...]] | None:
    if isinstance(value, onnx.TensorProto):
        return value.data_type, tuple(value.dims)
    if isinstance(value, (np.ndarray, np.generic)):
        return onnx.helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), np.asarray(value).shape
    return None


def _constant(value: Any, constants: str) -> onnx.TensorProto | None:
    """The input as an initializer when it is a small array (of int32 or int64 for ``integers``)."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = onnx.numpy_helper.from_array(np.asarray(value))
    if not isinstance(value, onnx.TensorProto) or np.prod(value.dims, dtype=np.int64) > MAX_CONSTANT:
        return None
    integer = value.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
    return value if integer or constants == "all" else None


def node_model(case: Any, constants: str) -> NodeModel:
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    inputs, outputs = case.data_sets[0]
    graph = model.graph
    keep = []
    for info, value in zip(graph.input, inputs, strict=False):
        tensor = (
            _constant(value, constants) if constants != "none" and info.type.HasField("tensor_type") else None
        )
        if tensor is None:
            keep.append(onnx.ValueInfoProto.FromString(info.SerializeToString()))
            continue
        initializer = onnx.TensorProto.FromString(tensor.SerializeToString())
        initializer.name = info.name
        graph.initializer.append(initializer)
    del graph.input[:]
    graph.input.extend(keep)
    expected = {}
    for info, value in zip(graph.output, outputs, strict=False):
        fact = _fact(value) if info.type.HasField("tensor_type") else None
        if fact is not None:
            expected[info.name] = fact
        info.ClearField("type")
    del graph.value_info[:]
    return NodeModel(case.name, model, expected)


def node_models(constants: str) -> Iterator[NodeModel]:
    for case in node_cases():
        yield node_model(case, constants)
