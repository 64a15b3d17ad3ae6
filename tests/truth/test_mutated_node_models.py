"""Node models with something broken: inference never raises and never reports a negative size."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest
from node_models import node_models
from onnx import helper

from py_autodoc.errors import InputError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.shapes import infer

pytestmark = pytest.mark.slow

ODD = (-(2**63), -(2**31), -9, -1, 0, 1, 2, 7, 2**31 - 1, 2**40, 2**62)
ROUNDS = 600


def cut_inputs(r: random.Random, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.input:
        at = r.randrange(len(node.input))
        if r.random() < 0.5:
            del node.input[at:]
        else:
            node.input[at] = ""


def odd_attribute(r: random.Random, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if not node.attribute:
        return
    a = r.choice(node.attribute)
    if a.type == onnx.AttributeProto.INT:
        a.i = r.choice(ODD)
    elif a.type == onnx.AttributeProto.INTS and a.ints:
        a.ints[r.randrange(len(a.ints))] = r.choice(ODD)
    elif a.type == onnx.AttributeProto.STRING:
        a.s = b"nonsense"


def wrong_attribute(r: random.Random, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.attribute:
        a = r.choice(node.attribute)
        a.CopyFrom(helper.make_attribute(a.name, r.choice([1, 2.5, "x", [1, 2], [1.5], ["a"]])))


def odd_shape(r: random.Random, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    typed = [i for i in graph.input if i.type.HasField("tensor_type")]
    if not typed:
        return
    tensor = r.choice(typed).type.tensor_type
    if r.random() < 0.3:
        tensor.ClearField("shape")
    elif tensor.shape.dim and r.random() < 0.7:
        dim = r.choice(tensor.shape.dim)
        dim.Clear()
        if r.random() < 0.5:
            dim.dim_param = r.choice(["n", "m + 1", "?"])
        else:
            dim.dim_value = r.choice(ODD)
    else:
        tensor.shape.dim.add().dim_param = "k"


def odd_constant(r: random.Random, graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    whole = [t for t in graph.initializer if t.data_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)]
    if whole:
        tensor = r.choice(whole)
        array = onnx.numpy_helper.to_array(tensor).copy()
        if array.size:
            array.reshape(-1)[r.randrange(array.size)] = r.choice([v for v in ODD if abs(v) < 2**31])
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.atleast_1d(array), tensor.name))


MUTATIONS = (cut_inputs, odd_attribute, wrong_attribute, odd_shape, odd_constant)


@pytest.mark.parametrize("constants", ["integers", "all"])
def test_broken_nodes_become_diagnostics(constants):
    r = random.Random(constants)
    cases = [c for c in node_models(constants) if c.proto.graph.node]
    noted = 0
    for _ in range(ROUNDS):
        case = r.choice(cases)
        model = onnx.ModelProto.FromString(case.proto.SerializeToString())
        for _ in range(r.randint(1, 3)):
            r.choice(MUTATIONS)(r, model.graph, r.choice(model.graph.node))
        try:
            loaded = load_bytes(model.SerializeToString(), case.name)
        except InputError:
            continue
        built = build(loaded)
        types = infer(loaded, built, {"*": r.choice([0, 1, 3])} if r.random() < 0.5 else {}, {})
        noted += bool(types.diagnostics)
        for shape in types.shapes:
            assert shape is None or all(type(d) in (int, str) for d in shape), case.name
            assert shape is None or all(isinstance(d, str) or d >= 0 for d in shape), case.name
    assert noted > ROUNDS // 10
