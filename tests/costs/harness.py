"""One operator as a model, through the real loader and shape inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from py_autodoc.costs.engine import CostTable, cost_table
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.shapes import infer

DTYPES = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE, "i64": TensorProto.INT64,
    "i32": TensorProto.INT32, "i8": TensorProto.INT8, "u8": TensorProto.UINT8, "i4": TensorProto.INT4,
    "bool": TensorProto.BOOL, "str": TensorProto.STRING, "bf16": TensorProto.BFLOAT16,
}  # fmt: skip
MS = "com.microsoft"
ML = "ai.onnx.ml"

Spec = Any
"""A shape (float32), a ("dtype", shape) pair, a numpy array (an initializer), None (omitted)."""


@dataclass(frozen=True)
class Case:
    op: str
    ins: Sequence[Spec]
    macs: int | None
    flops: int | None
    read: int | None
    write: int | None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    outs: Sequence[Spec] = ()
    """Declared outputs; by default one whose shape is inferred."""
    n_outs: int = 1
    domain: str = ""
    opset: int = 24
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.op}-{self.name}" if self.name else self.op


def split(spec: Spec) -> tuple[int, tuple[Any, ...]]:
    if len(spec) == 2 and isinstance(spec[0], str) and spec[0] in DTYPES:
        return DTYPES[spec[0]], tuple(spec[1])
    return TensorProto.FLOAT, tuple(spec)


def model_of(case: Case) -> onnx.ModelProto:
    inputs, initializers, names = [], [], []
    for i, spec in enumerate(case.ins):
        if spec is None:
            names.append("")
            continue
        name = f"x{i}"
        names.append(name)
        if isinstance(spec, np.ndarray):
            initializers.append(onnx.numpy_helper.from_array(spec, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, *split(spec)))
    outputs, out_names = [], []
    for i in range(max(case.n_outs, len(case.outs))):
        spec = case.outs[i] if i < len(case.outs) else ()
        if spec is None:
            out_names.append("")
            continue
        out_names.append(f"y{i}")
        if i < len(case.outs):
            outputs.append(helper.make_tensor_value_info(f"y{i}", *split(spec)))
        else:
            outputs.append(onnx.ValueInfoProto(name=f"y{i}"))
    node = helper.make_node(case.op, names, out_names, name="it", domain=case.domain, **case.attrs)
    graph = helper.make_graph([node], "g", inputs, outputs, initializers)
    return model_with(graph, case.opset)


def model_with(graph: onnx.GraphProto, opset: int = 24) -> onnx.ModelProto:
    imports = [
        helper.make_opsetid("", opset),
        helper.make_opsetid(MS, 1),
        helper.make_opsetid(ML, 3),
        helper.make_opsetid("ai.onnx.preview.training", 1),
        helper.make_opsetid("ai.onnx.preview", 1),
        helper.make_opsetid("com.microsoft.nchwc", 1),
    ]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


@dataclass(frozen=True)
class Analysed:
    model: Model
    types: TypeTable
    costs: CostTable

    def node(self, name: str) -> int:
        return next(n.id for n in self.model.nodes if n.name == name)


def analyse(proto: onnx.ModelProto, bindings: Mapping[str, int] | None = None) -> Analysed:
    loaded = load_bytes(proto.SerializeToString(), "test.onnx")
    model = build(loaded)
    types = infer(loaded, model, bindings or {}, {})
    return Analysed(model, types, cost_table(model, types))
