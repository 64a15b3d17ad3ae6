"""Outputs that no node computes: an input, or a constant.

The tools take an input among the outputs for a ring, and quantize or drop a constant that is one. Both are
therefore off the list of outputs while a tool runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from py_autodoc.tags.tag_storage import nested_nodes


@dataclass(frozen=True, slots=True)
class DetachedOutputs:
    """The outputs of a model as they were, and the constants among them."""

    declared: list[onnx.ValueInfoProto]
    constants: list[onnx.TensorProto]

    def attach(self, proto: onnx.ModelProto) -> None:
        """Give the model made of the detached one its outputs in their order, in place."""
        graph = proto.graph
        for constant in self.constants:
            _restore(graph, constant)
        now = {output.name: _copied(output) for output in graph.output}
        if [output.name for output in self.declared] != list(now):
            del graph.output[:]
            graph.output.extend(now.get(output.name, output) for output in self.declared)


def detach_outputs(proto: onnx.ModelProto) -> DetachedOutputs:
    """Take outputs that no node computes off the model, in place."""
    graph = proto.graph
    declared = [_copied(output) for output in graph.output]
    computed = {output for node in graph.node for output in node.output}
    kept = [output for output in declared if output.name in computed]
    names = {output.name for output in declared} - computed - {value.name for value in graph.input}
    constants = []
    for tensor in graph.initializer:
        if tensor.name in names:
            constants.append(onnx.TensorProto())
            constants[-1].CopyFrom(tensor)
    if len(kept) < len(declared):
        del graph.output[:]
        graph.output.extend(kept)
    return DetachedOutputs(declared, constants)


def _copied(value: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(value)
    return copy


def _restore(graph: onnx.GraphProto, constant: onnx.TensorProto) -> None:
    """Add the constant if the tool dropped it, or beside the one that it converted."""
    name = constant.name
    converted = next((tensor for tensor in graph.initializer if tensor.name == name), None)
    if converted is not None and converted.data_type == constant.data_type:
        return
    if converted is not None:
        converted.name = _free_name(graph, name)
        for top in graph.node:
            for node in nested_nodes(top):
                for index, read in enumerate(node.input):
                    if read == name:
                        node.input[index] = converted.name
    graph.initializer.append(constant)


def _free_name(graph: onnx.GraphProto, name: str) -> str:
    taken = {tensor.name for tensor in graph.initializer} | {value.name for value in graph.input}
    for top in graph.node:
        for node in nested_nodes(top):
            taken.update((*node.input, *node.output))
    tried = (f"{name}_{number}" for number in range(1, len(taken) + 2))
    return next(text for text in tried if text not in taken)
