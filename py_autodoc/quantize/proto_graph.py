"""The main graph of a model as a protobuf message, with indices of its tensors."""

from __future__ import annotations

import onnx
from onnx import TensorProto


class ProtoGraph:
    """Constants, producers and readers of the main graph's tensors by name."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self.constants: dict[str, TensorProto] = {tensor.name: tensor for tensor in graph.initializer}
        self.constants.update(
            (node.output[0], attribute.t)
            for node in graph.node
            if node.op_type == "Constant"
            for attribute in node.attribute
            if attribute.name == "value"
        )
        self.producers = {name: node for node in graph.node for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.outputs = {value.name for value in graph.output}
