"""Post-training quantization in PyTorch: the exported file, its tags, its accuracy, what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from click.testing import CliRunner
from torch import nn

from py_autodoc.cli.app import app
from py_autodoc.errors import InputError, OptionError, RequirementError
from py_autodoc.quantize import quantize
from py_autodoc.runner import compare_precisions
from py_autodoc.tags import load_tags
from py_autodoc.torch import Quantize, export

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DIGITS, DATA = ROOT / "tests/data/quant/digits_cnn.onnx", ROOT / "tests/data/quant/digits.npz"


@pytest.fixture(scope="module")
def digits():
    sys.path.insert(0, str(ROOT))
    try:
        from examples.digits_net import make

        yield make()
    finally:
        sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def exported(digits, tmp_path_factory):
    module, example = digits
    path = tmp_path_factory.mktemp("pt2e") / "digits_pt2e.onnx"
    return export(module, example, path, quantize=Quantize(DATA)), path


def plain(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])


def test_every_layer_is_between_q_and_dq(exported):
    result, path = exported
    graph = onnx.load(path).graph
    maker = {output: node for node in graph.node for output in node.output}
    for node in graph.node:
        if node.op_type in ("Conv", "Gemm"):
            assert [maker[name].op_type for name in node.input[:2]] == ["DequantizeLinear"] * 2
    assert sum(node.op_type in ("Conv", "Gemm") for node in graph.node) == 7
    assert result.warnings == []


def test_every_node_has_the_module_that_it_serves(exported):
    _, path = exported
    _, tags = load_tags(path)
    assert tags.coverage.nodes == len(onnx.load(path).graph.node)
    assert tags.coverage.root == 0
    for node, tag in tags.records.items():
        assert tag.tag.startswith("/Digits")
        assert not tag.call.get("")
        if node.op_type == "DequantizeLinear" and node.inputs[0].producer() is None:
            # The scale of a weight goes where the weight is.
            ((reader, _),) = node.outputs[0].uses()
            assert tag.scope == tags.of(reader).scope != ""
    assert {"stem", "l1.c1", "l1.c2", "down", "l2.c1", "l2.c2", "fc"} <= {
        one.scope for one in tags.records.values()
    }


def test_as_right_as_torch_and_as_what_onnx_runtime_quantizes(exported, tmp_path):
    _, path = exported
    held = np.load(DATA)
    quantize(DIGITS, tmp_path / "ort.onnx", DATA)
    sessions = [plain(DIGITS), plain(tmp_path / "ort.onnx"), plain(path)]
    right = []
    for session in sessions:
        scores = [session.run(None, {session.get_inputs()[0].name: one[None]})[0][0] for one in held["image"]]
        right.append(float((np.argmax(scores, 1) == held["labels"]).mean()))
    assert right[0] > 0.98
    assert min(right[1:]) > right[0] - 0.01


def test_three_precisions_side_by_side(exported, tmp_path):
    _, path = exported
    quantize(DIGITS, tmp_path / "ort.onnx", DATA)
    models = {"fp32": DIGITS, "ORT int8": tmp_path / "ort.onnx", "PyTorch int8": path}
    found = compare_precisions(models, DATA, runs=3, samples=32, memory=False)
    assert [one.name for one in found.variants] == list(models)
    assert all(one.latency.p50_ms > 0 for one in found.variants)


def test_the_recipe_is_in_the_file(exported):
    _, path = exported
    held = {one.key: one.value for one in onnx.load(path).metadata_props}
    noted = json.loads(held["onnx_autodoc.quantization"])
    assert noted["recipe"] == {"method": "pt2e", "narrow": False, "quantizer": "X86InductorQuantizer"}
    assert noted["samples"] == 128
    assert noted["data"] == "digits.npz"
    assert {"torch", "torchao", "onnx-autodoc"} <= noted["versions"].keys()


def test_the_module_stays_as_it_was(digits, tmp_path):
    module, example = digits
    before = {name: one.clone() for name, one in module.state_dict().items()}
    module.train()
    export(module, example, tmp_path / "m.onnx", quantize=Quantize(DATA, samples=4))
    assert module.training
    module.eval()
    assert all(torch.equal(before[name], one) for name, one in module.state_dict().items())


def test_a_free_batch_stays_free(digits, tmp_path):
    module, _ = digits
    example = torch.zeros(2, 1, 8, 8)
    export(module, example, tmp_path / "m.onnx", quantize=Quantize(DATA, 8), dynamic={"image": {0: "batch"}})
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert session.run(None, {"image": np.zeros((5, 1, 8, 8), np.float32)})[0].shape == (5, 10)


def test_seven_bits_of_data(digits, tmp_path):
    module, example = digits
    export(module, example, tmp_path / "m.onnx", quantize=Quantize(DATA, 64, narrow=True))
    model = onnx.load(tmp_path / "m.onnx")
    made = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made)
    image = np.load(DATA)["image"][:1]
    onnx.save(model, tmp_path / "open.onnx")
    codes = plain(tmp_path / "open.onnx").run(made, {"image": image})
    assert all(one.max() <= 127 for one in codes)
    assert max(one.max() for one in codes) > 64


def test_weights_at_the_smallest_scale_are_told(tmp_path):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU())
    with torch.no_grad():
        net[0].weight.mul_(1e-3)
    data = np.random.default_rng(0).uniform(0, 255, (8, 1, 8, 8)).astype(np.float32)
    result = export(net, torch.zeros(1, 1, 8, 8), tmp_path / "m.onnx", quantize=Quantize(data))
    assert ["4 of 4 scales of weights" in line for line in result.warnings] == [True]


@pytest.mark.parametrize(
    ("data", "options", "error", "said"),
    [
        (np.zeros((4, 3, 8, 8), np.float32), {}, InputError, "image"),
        (np.full((4, 1, 8, 8), np.nan, np.float32), {}, InputError, "NaN"),
        ("missing.npz", {}, Exception, "missing.npz"),
        (DATA, {"exporter": "torchscript"}, OptionError, "torchscript"),
    ],
)
def test_what_cannot_be_quantized_leaves_nothing(digits, data, options, error, said, tmp_path):
    module, example = digits
    with pytest.raises(error, match=said):
        export(module, example, tmp_path / "m.onnx", quantize=Quantize(data), **options)
    assert list(tmp_path.iterdir()) == []


def test_without_torchao(digits, tmp_path, monkeypatch):
    for name in [one for one in sys.modules if one.partition(".")[0] == "torchao"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchao", None)
    with pytest.raises(RequirementError, match="torchao"):
        export(*digits, tmp_path / "m.onnx", quantize=Quantize(DATA))


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    out = tmp_path / "digits_pt2e.onnx"
    command = ["export", "examples.digits_net:make", str(out)]
    done = CliRunner().invoke(app, [*command, "--quantize", "int8", "--data", str(DATA), "--samples", "16"])
    assert done.exit_code == 0, done.output
    assert any(node.op_type == "QuantizeLinear" for node in onnx.load(out).graph.node)
    refused = CliRunner().invoke(app, [*command, "--quantize", "int8"])
    assert refused.exit_code == 1
    assert "--data" in refused.output
