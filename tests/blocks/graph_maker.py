"""Small graphs by hand, and the recognisers over them and over the test models."""

from __future__ import annotations

from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load, load_bytes
from py_autodoc.graph.shapes import infer

DATA = Path(__file__).parent.parent / "data"
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


class G:
    """A graph under construction: methods add nodes and give names of tensors back."""

    def __init__(self, opset: int = 20, **inputs) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs = [self._input(name, shape) for name, shape in inputs.items()]
        self.count = 0

    @staticmethod
    def _input(name, shape):
        kind = INT if name.startswith("ids") else FLOAT
        return helper.make_tensor_value_info(name, kind, list(shape))

    def _name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def op(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes):
        """A node; the name of its output, or a list of them."""
        made = [self._name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), made, domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def weight(self, *shape: int) -> str:
        """A float initializer."""
        name = self._name()
        values = (np.arange(prod(shape)) % 7 * 0.1 + 0.1).astype(np.float32).reshape(shape)
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def value(self, value, dtype=np.float32) -> str:
        """A constant with this value."""
        name = self._name()
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def ints(self, *values: int) -> str:
        """A list of int64."""
        return self.value(list(values), np.int64)

    def conv(self, x: str, into: int, out: int, kernel: int = 3, group: int = 1, bias: bool = True, **more):
        """A 2-D convolution that keeps the size unless strides say otherwise."""
        pads = [kernel // 2] * 4
        weights = [self.weight(out, into // group, kernel, kernel)] + ([self.weight(out)] if bias else [])
        more.setdefault("pads", pads)
        return self.op("Conv", x, *weights, kernel_shape=[kernel, kernel], group=group, **more)

    def norm(self, x: str, channels: int) -> str:
        """BatchNormalization."""
        return self.op("BatchNormalization", x, *(self.weight(channels) for _ in range(4)))

    def dense(self, x: str, into: int, out: int, bias: bool = True) -> str:
        """MatMul and Add."""
        made = self.op("MatMul", x, self.weight(into, out))
        return self.op("Add", made, self.weight(out)) if bias else made

    def layer_norm(self, x: str, size: int) -> str:
        """LayerNormalization."""
        return self.op("LayerNormalization", x, self.weight(size), self.weight(size), axis=-1)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model with these outputs."""
        graph = helper.make_graph(
            self.nodes,
            "main",
            self.inputs,
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            initializer=self.constants,
        )
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def flow(self, *outputs: str) -> DataflowGraph:
        """The main graph as recognisers see it."""
        return flows(self.model(*outputs))[0]


def flows(proto: onnx.ModelProto) -> list[DataflowGraph]:
    """All graphs of a model."""
    return flows_in(load_bytes(proto.SerializeToString()))


def flows_in(loaded) -> list[DataflowGraph]:
    """All graphs of a loaded model."""
    model = build(loaded)
    types = infer(loaded, model, {}, {})
    return [DataflowGraph(model, types, graph.id) for graph in model.graphs]


@cache
def flows_of(name: str) -> tuple[DataflowGraph, ...]:
    """All graphs of a test model, by its name without endings; the stripped one of two."""
    for path in (
        DATA / "stripped" / f"{name}.stripped.onnx",
        DATA / "models" / f"{name}.onnx",
        DATA / "models" / f"{name}.stripped.onnx",
    ):
        if path.exists():
            return tuple(flows_in(load(path)))
    raise FileNotFoundError(name)


def types_in(flow: DataflowGraph, block) -> list[str]:
    """Operators of a block."""
    return [flow.node(number).op_type for number in block.nodes]
