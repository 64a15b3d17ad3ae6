"""The same model told differently: other names, another order of the nodes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.shapes import infer
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis

assert infer  # imported for its side: not measured, and once


@dataclass
class Names:
    """What the new names of a variant stand for."""

    nodes: dict[str, str] = field(default_factory=dict)
    tensors: dict[str, str] = field(default_factory=dict)


def labelled(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy whose nodes have names of their own; the modules in them stay."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for number, node in enumerate(_nodes(copy.graph)):
        node.name = _leaf(node.name, f"n{number}")
    return copy


def variant(proto: onnx.ModelProto, seed: int, shuffled: bool = True) -> tuple[onnx.ModelProto, Names]:
    """A copy with other leaf names of nodes, other names of tensors and another topological order."""
    chance = random.Random(seed)
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    names = Names()
    new: dict[str, str] = {}
    nodes = list(_nodes(copy.graph))
    codes = chance.sample(range(10 * len(nodes) + 10), len(nodes))
    for node, code in zip(nodes, codes, strict=True):
        name = _leaf(node.name, f"z{code}")
        names.nodes[name] = node.name
        node.name = name
    known = sorted({name for graph in _graphs(copy.graph) for name in _tensor_names(graph)} - {""})
    fresh = [f"t{code}" for code in chance.sample(range(10 * len(known) + 10), len(known))]
    for old, name in zip(known, fresh, strict=True):
        new[old] = name
        names.tensors[name] = old
    for graph in _graphs(copy.graph):
        _rename(graph, new)
    if shuffled:
        for graph in _graphs(copy.graph):
            _shuffle(graph, chance)
    return copy, names


def analysed(proto: onnx.ModelProto) -> Analysis:
    """The analysis under the suggested sizes."""
    return run_analysis(proto.SerializeToString(), Options(assume=True))


def without_names(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy that says nothing of modules: no metadata, nodes and tensors numbered, in the same order."""
    copy, _ = variant(labelled(proto), 0, shuffled=False)
    for node in _nodes(copy.graph):
        node.name = node.name.rpartition("/")[2]
        del node.metadata_props[:]
        node.doc_string = ""
    return copy


def _leaf(name: str, leaf: str) -> str:
    return name.rpartition("/")[0] + "/" + leaf if "/" in name else leaf


def _graphs(graph: onnx.GraphProto):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _nodes(graph: onnx.GraphProto):
    for inner in _graphs(graph):
        yield from inner.node


def _tensor_names(graph: onnx.GraphProto):
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        yield value.name
    for tensor in graph.sparse_initializer:
        yield tensor.values.name
    for node in graph.node:
        yield from (*node.input, *node.output)


def _rename(graph: onnx.GraphProto, new: dict[str, str]) -> None:
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        value.name = new.get(value.name, value.name)
    for tensor in graph.sparse_initializer:
        tensor.values.name = new.get(tensor.values.name, tensor.values.name)
    for note in graph.quantization_annotation:
        note.tensor_name = new.get(note.tensor_name, note.tensor_name)
        for entry in note.quant_parameter_tensor_names:
            entry.value = new.get(entry.value, entry.value)
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
        node.output[:] = [new.get(name, name) for name in node.output]


def _shuffle(graph: onnx.GraphProto, chance: random.Random) -> None:
    """A random topological order."""
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in graph.node]
    maker = {name: number for number, node in enumerate(nodes) for name in node.output if name}
    needs = [{maker[name] for name in _reads(node) if name in maker} - {at} for at, node in enumerate(nodes)]
    readers: dict[int, list[int]] = {}
    for number, before in enumerate(needs):
        for other in before:
            readers.setdefault(other, []).append(number)
    left = [len(before) for before in needs]
    ready = [number for number, count in enumerate(left) if not count]
    order: list[int] = []
    while ready:
        number = ready.pop(chance.randrange(len(ready)))
        order.append(number)
        for reader in readers.get(number, ()):
            left[reader] -= 1
            if not left[reader]:
                ready.append(reader)
    assert len(order) == len(nodes)
    del graph.node[:]
    graph.node.extend(nodes[number] for number in order)


def _reads(node: onnx.NodeProto):
    """Names a node needs, those that its bodies read included."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            for inner in _graphs(attribute.g):
                for deep in inner.node:
                    yield from deep.input
                yield from (value.name for value in inner.output)
