"""Runs a model in ONNX Runtime at chosen sizes, weights that are not there made up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.symbolic_dims import dim_arithmetic, dim_names

SAMPLING_RATE = 16_000
_RATES = ("sr", "sample_rate", "sampling_rate")
_FULL_MASK = ("mask",)


def with_weights(path: Path) -> bytes:
    """The file with zeros in place of weights that are stored in files which are not there."""
    model = onnx.load(path, load_external_data=False)
    for tensor in _tensors(model.graph):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        where = {e.key: e.value for e in tensor.external_data}
        if (path.parent / where["location"]).exists():
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
        else:
            tensor.raw_data = bytes(_stored(tensor))
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.DEFAULT
    return model.SerializeToString()


def _stored(tensor: TensorProto) -> int:
    item = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type)).itemsize
    return math.prod(tensor.dims) * item


def _tensors(graph: onnx.GraphProto) -> list[TensorProto]:
    found = list(graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                found.append(attribute.t)
            if attribute.HasField("g"):
                found += _tensors(attribute.g)
    return found


def feeds(path: Path, sizes: Mapping[str, int]) -> dict[str, Any]:
    """An array of each input's shape under ``sizes``: ones for masks and ids, a ramp for positions."""
    model = build(load(path))
    shapes, names = dim_names.symbolic_inputs(model)
    values = {names.safe_name(name): size for name, size in sizes.items()}
    out: dict[str, Any] = {}
    for tensor in dim_names.graph_inputs(model):
        shape = tuple(dim_arithmetic.substitute(d, values) for d in shapes[tensor.id] or ())
        assert all(isinstance(d, int) for d in shape), f"{tensor.name} is still {shape}"
        kind = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.dtype))
        out[tensor.name] = _values(tensor.name.lower(), shape, kind)
    return out


def _values(name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> Any:
    if kind.kind == "O":
        return np.full(shape, "a", dtype=object)
    if kind.kind in "iu":
        if name.endswith(_RATES):
            return np.full(shape, SAMPLING_RATE, kind)
        if "position" in name and shape:
            return np.broadcast_to(np.arange(shape[-1], dtype=kind), shape).copy()
        if "len" in name and len(shape) < 2:
            return np.full(shape, 0, kind)
        return np.ones(shape, kind)
    if kind.kind == "b":
        return np.ones(shape, kind)
    return np.random.default_rng(0).random(shape).astype(kind)


def fault(path: Path, sizes: Mapping[str, int]) -> str:
    """What ONNX Runtime says when it runs the model at these sizes; empty when it runs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    # Without optimizations nothing that could fail is optimized away, and sessions begin sooner.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(with_weights(path), options, ["CPUExecutionProvider"])
        session.run(None, feeds(path, sizes))
    except Exception as found:  # noqa: BLE001  (what ONNX Runtime raises has no common class)
        return f"{type(found).__name__}: {found}"
    return ""
