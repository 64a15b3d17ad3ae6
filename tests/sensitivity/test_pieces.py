"""Models cut into pieces: the same results as in one, layers that are not reached, tensors that pass by."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.sensitivity import sensitivity
from py_autodoc.sensitivity.layers import Scheme, layers_of
from py_autodoc.sensitivity.measure import LayerBench
from py_autodoc.sensitivity.pieces import cut

pytest.importorskip("onnxruntime")
BERT, RESNET8 = Path("tests/data/models/bert_tiny.onnx"), Path("tests/data/quant/resnet8_fp32_bn.onnx")


def errors(found):
    return {one.output: one.quality.relative_error for one in found.layers}


@pytest.mark.parametrize("model", [BERT, RESNET8])
def test_pieces_measure_what_one_session_does(model, monkeypatch):
    """Mask and skip connections pass between pieces."""
    several = sensitivity(model, samples=2)
    monkeypatch.setattr("py_autodoc.sensitivity.measure._MAX_PIECES", 1)
    one = sensitivity(model, samples=2)
    assert errors(several) == pytest.approx(errors(one), rel=0.05, abs=1e-6)
    pairs = zip(several.curve, one.curve, strict=True)
    assert all(
        a.quality.relative_error == pytest.approx(b.quality.relative_error, rel=0.2, abs=1e-5)
        for a, b in pairs
    )


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10])
def test_every_layer_is_in_one_piece(count):
    model = onnx.load(BERT)
    layers = layers_of(model, "bert")
    pieces = cut(model, layers, model.graph.output[0].name, count)
    numbers = [number for piece in pieces for number in piece.layers]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len(numbers)
    inside = [node.name for piece in pieces for node in piece.nodes]
    assert inside == [node.name for node in model.graph.node if node.name in set(inside)]
    made = {one.name for one in model.graph.input}
    for piece in pieces:
        assert set(piece.reads) <= made
        made.update(piece.gives)
    if count > 1:
        assert max(len(piece.layers) for piece in pieces) < len(layers)


def chain(shared=False, branch=False, other=False):
    """Six products; an If that reads a tensor and a weight from outside, a second output."""
    random = np.random.default_rng(0)
    names = ["w0" if shared else f"w{at}" for at in range(6)]
    stored = [
        numpy_helper.from_array(random.standard_normal((8, 8)).astype(np.float32), name)
        for name in dict.fromkeys(names)
    ]
    nodes, tensor = [], "x"
    for at, name in enumerate(names):
        nodes.append(helper.make_node("MatMul", [tensor, name], [f"m{at}"], name=f"mm{at}"))
        nodes.append(helper.make_node("Tanh", [f"m{at}"], [f"t{at}"], name=f"t{at}"))
        tensor = f"t{at}"
    if branch:
        bodies = [
            helper.make_graph(
                [helper.make_node(op, ["t0", "m5"], [f"b{op}"])], op, [],
                [helper.make_tensor_value_info(f"b{op}", TensorProto.FLOAT, None)],
            )
            for op in ("Add", "Sub")
        ]  # fmt: skip
        nodes.append(helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0))
        stored.append(numpy_helper.from_array(np.float32(0), "zero"))
        nodes.append(helper.make_node("Greater", ["s", "zero"], ["c"]))
        nodes.append(helper.make_node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1]))
        tensor = "y"
    outputs = [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, 8])]
    if other:
        outputs.insert(0, helper.make_tensor_value_info("t2", TensorProto.FLOAT, [1, 8]))
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])], outputs, stored
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"branch": True}])
def test_odd_wiring(options, tmp_path, monkeypatch):
    onnx.save(chain(**options), tmp_path / "m.onnx")
    found = sensitivity(tmp_path / "m.onnx", samples=3)
    assert found.measured == 6
    assert all(one.quality.relative_error > 0 for one in found.layers)
    monkeypatch.setattr("py_autodoc.sensitivity.measure._MAX_PIECES", 1)
    assert errors(found) == pytest.approx(errors(sensitivity(tmp_path / "m.onnx", samples=3)), rel=0.05)


def test_layers_that_the_result_does_not_depend_on(tmp_path):
    onnx.save(chain(other=True), tmp_path / "m.onnx")
    found = sensitivity(tmp_path / "m.onnx", samples=2)
    assert found.output == "t2"
    assert found.measured == 6
    assert sorted(one.output for one in found.layers if not one.quality.relative_error) == ["m3", "m4", "m5"]


def test_tensors_that_cannot_pass_between_pieces(tmp_path):
    """A sequence is alive all along: the model stays whole."""
    model = chain()
    model.graph.node.insert(2, helper.make_node("SequenceConstruct", ["t0"], ["q"]))
    model.graph.node.append(helper.make_node("ConcatFromSequence", ["q"], ["back"], axis=0))
    model.graph.node.append(helper.make_node("Add", ["t5", "back"], ["y"]))
    model.graph.output[0].name = "y"
    onnx.save(model, tmp_path / "m.onnx")
    samples = [{"x": np.ones((1, 8), np.float32)}]
    bench = LayerBench(tmp_path / "m.onnx", model, layers_of(model, "m"), samples, Scheme(), "y", False)
    assert len(bench._pieces) == 1
    assert sensitivity(tmp_path / "m.onnx", samples=2).measured == 6


def test_the_budget_measures_what_is_there(tmp_path):
    onnx.save(chain(), tmp_path / "m.onnx")
    found = sensitivity(tmp_path / "m.onnx", samples=2, budget=0.0)
    assert found.measured == 0
    assert found.float_error < 1e-5
    assert found.all_quantized is None


def test_models_over_the_limit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("py_autodoc.sensitivity.measure.LARGEST", 1000)
    onnx.save(chain(), tmp_path / "m.onnx")
    with pytest.raises(AutodocError, match="more than 2 GB of weights"):
        sensitivity(tmp_path / "m.onnx", samples=2)
