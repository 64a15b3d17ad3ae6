"""Whole models: every shape that costs depend on is a number once the inputs have sizes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import pytest

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.graph.loading.load import LoadedModel, load
from py_autodoc.graph.shapes import infer
from py_autodoc.graph.symbolic_dims import dim_arithmetic, dim_names

DATA = Path(__file__).parents[1] / "data"
TRUTH: dict[str, dict[str, Any]] = json.loads((DATA / "truth.json").read_text())
FILES = sorted([*DATA.glob("models/*.onnx"), *DATA.glob("stripped/*.onnx")])
SYMBOLIC = [
    p
    for p in FILES
    if p.stem.startswith(("basic_pitch", "dnsmos", "magika", "ppocr", "silero", "swift", "trt_res"))
    or "_dyn." in p.name
]
MAC_OPS = {
    "Conv",
    "ConvTranspose",
    "MatMul",
    "Gemm",
    "LSTM",
    "GRU",
    "RNN",
    "Einsum",
    "ConvInteger",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
}


@cache
def opened(path: Path) -> tuple[LoadedModel, Model]:
    loaded = load(path)
    return loaded, build(loaded)


def bound(path: Path) -> TypeTable:
    """Types under the sizes the truth was measured with, or assumed ones."""
    loaded, model = opened(path)
    truth = TRUTH.get(path.name.split(".")[0], {})
    shapes = {}
    if truth.get("inputs"):
        names = [t.name for t in dim_names.graph_inputs(model)]
        shapes = dict(zip(names, truth["inputs"], strict=True))
    return infer(
        loaded, model, truth.get("dims") or ({} if shapes else dim_names.typical_sizes(model)), shapes
    )


def known(types: TypeTable, tensor: int) -> bool:
    shape = types.shapes[tensor]
    return shape is not None and all(isinstance(d, int) for d in shape)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_cost_carrying_node_has_sizes(path):
    _, model = opened(path)
    types = bound(path)
    left = [
        node.name
        for node in model.nodes
        if node.op_type in MAC_OPS
        and not all(known(types, t) for t in (*node.inputs, *node.outputs) if t >= 0)
    ]
    assert left == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_all_tensors_of_the_main_graph_are_sized(path):
    _, model = opened(path)
    types = bound(path)
    open_ = [
        t.name for t in model.tensors if t.graph == 0 and t.container == "tensor" and not known(types, t.id)
    ]
    assert open_ == []
    assert all(types.dtypes[t.id] for t in model.tensors if t.graph == 0)
    assert not [d for d in types.diagnostics if d.severity != "info"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_nothing_contradicts_onnx(path):
    """ONNX's own inference over the whole model knows less, and nothing else."""
    loaded, model = opened(path)
    types = bound(path)
    proto = onnx.ModelProto.FromString(loaded.proto.SerializeToString())
    del proto.graph.value_info[:]
    for i in proto.graph.input:
        t = next(t for t in model.tensors if t.name == i.name and t.graph == 0)
        i.CopyFrom(onnx.helper.make_tensor_value_info(i.name, t.dtype, types.shapes[t.id]))
    for o in proto.graph.output:
        o.type.tensor_type.ClearField("shape")
    done = onnx.shape_inference.infer_shapes(proto, data_prop=True).graph
    native = {v.name: v.type.tensor_type for v in (*done.value_info, *done.output)}
    compared = 0
    for t in model.tensors:
        theirs = native.get(t.name)
        if t.graph or theirs is None or not theirs.HasField("shape"):
            continue
        ours = types.shapes[t.id]
        assert ours is not None
        assert len(ours) == len(theirs.shape.dim)
        assert types.dtypes[t.id] == theirs.elem_type
        for a, b in zip(ours, theirs.shape.dim, strict=True):
            assert not b.HasField("dim_value") or a == b.dim_value, t.name
        compared += 1
    assert compared


@pytest.mark.parametrize("path", SYMBOLIC, ids=lambda p: p.stem)
def test_symbols_and_numbers_agree(path):
    """Shapes found with symbols, then given values, equal shapes found with the values."""
    loaded, model = opened(path)
    symbolic = infer(loaded, model, {}, {})
    assert symbolic.symbols
    values = dict(zip(symbolic.symbols, (2, 224, 256, 3), strict=False))
    numbers = infer(loaded, model, values, {})
    checked = 0
    for a, b in zip(symbolic.shapes, numbers.shapes, strict=True):
        if a is None or b is None or len(a) != len(b):
            continue
        for x, y in zip(a, b, strict=True):
            value = dim_arithmetic.substitute(x, values)
            if isinstance(value, int) and isinstance(y, int):
                assert value == y
                checked += 1
    assert checked > 100 or len(model.nodes) < 100
