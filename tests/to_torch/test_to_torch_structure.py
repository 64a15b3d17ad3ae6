"""How written files read: classes, lists, loops, layers, names of weights."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from onnx import parser
from torch_files import imported, run, same, save, session

from py_autodoc.to_torch import write

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'


def parsed(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    """A model from ONNX's text form with more initializers."""
    proto = parser.parse_model(HEAD + text)
    for name, array in weights.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name.replace("__", ".")))
    return proto


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.slow
def test_modules_of_a_transformer(tmp_path):
    done = write("tests/data/models/bert_tiny.onnx", tmp_path / "bert.py")
    source = (tmp_path / "bert.py").read_text("ascii")
    assert "class BertLayer(nn.Module):" in source
    assert "self.layer = nn.ModuleList(BertLayer() for _ in range(2))" in source
    assert "for layer in self.layer:\n            x = layer(x, y)" in source
    assert "self.query = nn.Linear(128, 128)" in source
    assert "self.LayerNorm = nn.LayerNorm(128, eps=1e-12)" in source
    assert "nn.Embedding(" in source
    assert done.classes[-1] == "Model"
    assert done.modules > len(done.classes)
    # The weights have the names that they have in the model that was exported.
    names = {name for name, _ in imported(tmp_path / "bert.py").load().named_parameters()}
    proto = onnx.load("tests/data/models/bert_tiny.onnx")
    exported = {one.name for one in proto.graph.initializer if one.name.startswith("m.")}
    floating = {one.name for one in proto.graph.initializer if one.data_type == 1}
    assert exported & floating <= names


def test_equal_modules_of_other_sizes_share_a_class(tmp_path):
    write("tests/data/models/resnet_tiny.onnx", tmp_path / "resnet.py")
    source = (tmp_path / "resnet.py").read_text("ascii")
    assert "ResNetStage2(in_channels=32, out_channels=16, layer_2_out_channels=64)" in source
    assert "ResNetStage2(in_channels=64, out_channels=24, layer_2_out_channels=96)" in source
    assert source.count("class ResNetStage") == 2


def test_a_module_called_twice_is_one(tmp_path):
    text = """agraph (float[n, 4] x) => (float[n, 4] y) {
        a = MatMul(x, blk__w)
        b = Add(a, blk__b)
        c = Relu(b)
        d = MatMul(c, blk__w)
        y = Add(d, blk__b)
    }"""
    proto = parsed(text, blk__w=floats(4, 4), blk__b=floats(4))
    for node in proto.graph.node:
        node.input[:] = [name.replace("__", ".") for name in node.input]
        if node.op_type != "Relu":
            levels = repr(["", "blk0" if node.output[0] in "ab" else "blk1", "op"])
            node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=levels)
            node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value="['T', 'Linear', 'aten.x']")
    source = same(tmp_path, proto, {"x": floats(3, 4)}, {"x": floats(5, 4)})
    assert source.count("nn.Linear(") == 1
    assert source.count("self.blk0(") == 2


@pytest.mark.slow
def test_tied_weights_are_stored_once_and_stay_tied(tmp_path):
    text = """agraph (int64[n] ids) => (float[n, 7] y) {
        x = Gather(table, ids)
        t = Transpose(table)
        y = MatMul(x, t)
    }"""
    proto = parsed(text, table=floats(7, 4))
    for place, path in ((0, "embed"), (1, "head"), (2, "head")):
        levels = repr(["", path, "op"])
        proto.graph.node[place].metadata_props.add(key="pkg.torch.onnx.name_scopes", value=levels)
        kinds = repr(["T", "Embedding" if not place else "Head", "aten.x"])
        proto.graph.node[place].metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=kinds)
    same(tmp_path, proto, {"ids": np.array([0, 3, 6])})
    module = imported(tmp_path / "model.py")
    assert module.TIED
    model = module.load()
    assert len(list(model.parameters())) == 1
    with torch.no_grad():
        next(model.parameters()).zero_()
    assert not run(module, {"ids": np.array([1])}, model)[0].any()


def test_a_group_that_cannot_run_as_a_whole_is_dissolved(tmp_path):
    text = """agraph (float[n, 4] x) => (float[n, 4] y) {
        a = Exp(x)
        b = Neg(a)
        c = Abs(b)
        d = Sqrt(a)
        y = Add(c, d)
    }"""
    proto = parsed(text)
    for node, path in zip(proto.graph.node, "pqppq", strict=True):
        levels = repr(["", path, "op"])
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=levels)
    same(tmp_path, proto, {"x": floats(3, 4)})


def test_sizes_stay_free(tmp_path):
    text = """agraph (float[batch, seq, 8] x) => (float[batch, heads, seq, w] y) {
        s = Shape(x)
        zero = Constant<value_int = 0>()
        one = Constant<value_int = 1>()
        axes = Constant<value_ints = [0]>()
        b = Gather(s, zero)
        n = Gather(s, one)
        b1 = Unsqueeze(b, axes)
        n1 = Unsqueeze(n, axes)
        rest = Constant<value_ints = [2, 4]>()
        shape = Concat<axis = 0>(b1, n1, rest)
        r = Reshape(x, shape)
        y = Transpose<perm = [0, 2, 1, 3]>(r)
    }"""
    source = same(tmp_path, parsed(text), {"x": floats(2, 3, 8)}, {"x": floats(1, 7, 8)})
    assert "x.reshape(x.shape[0], x.shape[1], 2, 4)" in source


def test_a_wrong_declared_size_is_not_believed(tmp_path):
    text = """agraph (float[n, 4] x) => (float[k, 2] y) <float[3, 4] a> {
        a = Exp(x)
        s = Shape(a)
        zero = Constant<value_int = 0>()
        axes = Constant<value_ints = [0]>()
        n = Gather(s, zero)
        n1 = Unsqueeze(n, axes)
        rest = Constant<value_ints = [2, 2]>()
        shape = Concat<axis = 0>(n1, rest)
        r = Reshape(a, shape)
        one = Constant<value_ints = [1]>()
        y = ReduceSum<keepdims = 0>(r, one)
    }"""
    proto = parsed(text)
    write(save(tmp_path, proto), tmp_path / "model.py")
    module = imported(tmp_path / "model.py")
    del proto.graph.value_info[:]
    x = floats(5, 4)
    (expected,) = session(proto.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(run(module, {"x": x})[0].numpy(), expected, rtol=1e-5)
