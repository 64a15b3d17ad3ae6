"""Small models for shape tests, written as one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.shapes import infer

F, I64, I32, U8, I8, BOOL, F16 = (
    TensorProto.FLOAT,
    TensorProto.INT64,
    TensorProto.INT32,
    TensorProto.UINT8,
    TensorProto.INT8,
    TensorProto.BOOL,
    TensorProto.FLOAT16,
)


@dataclass
class Result:
    model: Model
    types: TypeTable

    def _id(self, name: str) -> int:
        return next(t.id for t in self.model.tensors if t.name == name)

    def shape(self, name: str) -> Any:
        return self.types.shapes[self._id(name)]

    def dtype(self, name: str) -> int:
        return self.types.dtypes[self._id(name)]

    def value(self, name: str) -> Any:
        value = self.types.values.get(self._id(name))
        return None if value is None else value.tolist()

    @property
    def codes(self) -> list[str]:
        return [d.code for d in self.types.diagnostics]


def info(name: str, spec: Any) -> onnx.ValueInfoProto:
    """``[2, "n"]`` is a float tensor, ``(I64, [2])`` another type, None an unknown type."""
    if spec is None:
        return onnx.ValueInfoProto(name=name)
    dtype, shape = spec if isinstance(spec, tuple) else (F, spec)
    return helper.make_tensor_value_info(name, dtype, shape)


def graph(
    nodes: list[Any], inputs: dict[str, Any], outputs: list[str], consts: dict[str, Any], **kw: Any
) -> Any:
    made = [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in consts.items()]
    return helper.make_graph(
        nodes, "g", [info(k, v) for k, v in inputs.items()], [info(o, None) for o in outputs], made, **kw
    )


def proto(g: onnx.GraphProto, opset: int = 21) -> onnx.ModelProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    imports += [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("my.ops", 1)]
    return helper.make_model(g, opset_imports=imports, ir_version=9)


def types_of(model: onnx.ModelProto, bindings: Any = None, input_shapes: Any = None) -> Result:
    loaded = load_bytes(model.SerializeToString(), "test.onnx")
    built = build(loaded)
    return Result(built, infer(loaded, built, bindings or {}, input_shapes or {}))


def run(
    nodes: list[Any],
    inputs: dict[str, Any],
    consts: dict[str, Any] | None = None,
    outputs: tuple[str, ...] = ("y",),
    opset: int = 21,
    **kw: Any,
) -> Result:
    return types_of(proto(graph(nodes, inputs, list(outputs), consts or {}), opset), **kw)


def one(
    op: str,
    inputs: dict[str, Any],
    consts: dict[str, Any] | None = None,
    outputs: tuple[str, ...] = ("y",),
    opset: int = 21,
    domain: str = "",
    order: tuple[str, ...] | None = None,
    **attributes: Any,
) -> Result:
    """One node; inputs in the order given, constants after them unless ``order`` says otherwise."""
    names = order if order is not None else (*inputs, *(consts or {}))
    made = helper.make_node(op, names, outputs, domain=domain, **attributes)
    return run([made], inputs, consts, tuple(o for o in outputs if o), opset)
