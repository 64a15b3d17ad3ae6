"""Two models on the same values, layer by layer, in ONNX Runtime."""

import html
import json
import re
import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.verify import verify
from py_autodoc.verify.capture import groups
from py_autodoc.verify.lines import verification_lines

pytest.importorskip("onnxruntime")
DIM, LAYERS = 16, 5


def weights(seed=0):
    random = np.random.default_rng(seed)
    return [random.standard_normal((DIM, DIM)).astype(np.float32) / 4 for _ in range(LAYERS)]


def chain(held, dtype=np.float32, batch="batch", fused=False, names="w"):
    """Products with an activation behind each; ``fused``: as Gemm with other names."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes, constants, last = [], [], "x"
    for at, weight in enumerate(held):
        constants.append(numpy_helper.from_array(weight.astype(dtype), f"{names}{at}"))
        op = "Gemm" if fused else "MatMul"
        nodes.append(helper.make_node(op, [last, f"{names}{at}"], [f"{names}p{at}"], name=f"product{at}"))
        nodes.append(helper.make_node("Relu", [f"{names}p{at}"], [f"{names}r{at}"], name=f"relu{at}"))
        last = f"{names}r{at}"
    shape = [batch, DIM]
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(last, kind, shape)], constants,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture
def saved(tmp_path):
    def save(name, model):
        onnx.save(model, tmp_path / name)
        return tmp_path / name

    return save


def test_a_model_agrees_with_itself_under_other_names(saved):
    found = verify(
        saved("a.onnx", chain(weights())), saved("b.onnx", chain(weights(), fused=True, names="v"))
    )
    assert (found.verdict, found.first, found.compared, found.pairs) == ("agrees", None, LAYERS, LAYERS)
    assert found.outputs[0].error.exact or found.outputs[0].error.relative_error < 1e-6
    assert found.outputs[0].agreement == 1.0
    assert [one.reference_tensor for one in found.layers] == [f"vr{at}" for at in range(LAYERS)]


@pytest.mark.parametrize("changed", range(LAYERS))
def test_the_layer_with_another_weight_is_the_first_that_diverges(saved, changed):
    other = weights()
    other[changed] = other[changed] + np.float32(0.1)
    found = verify(saved("a.onnx", chain(other)), saved("b.onnx", chain(weights())))
    assert found.verdict == "diverges"
    assert found.layers[found.first].name == f"product{changed}"
    assert all(one.error.exact for one in found.layers[:changed])
    assert all(one.diverges for one in found.layers[changed:])
    assert [one.error_before > 0 for one in found.layers] == [at > changed for at in range(LAYERS)]


def test_half_precision_has_a_tolerance_of_its_own(saved):
    halved = chain(weights(), np.float16)
    found = verify(saved("a.onnx", halved), saved("b.onnx", chain(weights())))
    assert (found.verdict, found.tolerance, found.tolerance_reason) == ("agrees", 0.02, "float16")
    assert 0 < found.outputs[0].error.relative_error < 0.01
    strict = verify(saved("a.onnx", halved), saved("b.onnx", chain(weights())), tolerance=1e-6)
    assert (strict.verdict, strict.first, strict.tolerance_reason) == ("diverges", 0, "given")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_a_quantized_twin_layer_by_layer(tmp_path, saved, form):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    random = np.random.default_rng(1)
    rows = random.standard_normal((40, 1, DIM)).astype(np.float32)

    class Rows(CalibrationDataReader):
        def __init__(self):
            self.left = iter(rows)

        def get_next(self):
            return next(({"x": one} for one in self.left), None)

    source = saved("a.onnx", chain(weights(), batch=1))
    quantize_static(
        source, tmp_path / "q.onnx", Rows(), quant_format=getattr(QuantFormat, form),
        activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8,
    )  # fmt: skip
    found = verify(tmp_path / "q.onnx", source, rows)
    assert (found.verdict, found.tolerance, found.samples) == ("agrees", 0.1, 16)
    assert found.compared == found.pairs == LAYERS
    # Each result is compared behind its quantization: its Relu is in the range of that.
    assert all(one.error.sqnr_db > 25 for one in found.layers)
    assert found.layers[-1].tensor != found.layers[-1].reference_tensor


def test_expected_values_of_outputs_and_tensors(tmp_path, saved):
    held = weights()
    path = saved("a.onnx", chain(held))
    x = np.random.default_rng(2).standard_normal((4, DIM)).astype(np.float32)
    steps = [x]
    for weight in held:
        steps.append(np.maximum(steps[-1] @ weight, 0))
    rows = {
        "x": x[:, None],
        "wr1": steps[2][:, None],
        "wr3": steps[4][:, None] * 1.5,
        "wr4": steps[5][:, None],
    }
    np.savez(tmp_path / "expected.npz", **rows, extra=x)
    found = verify(path, tmp_path / "expected.npz")
    assert (found.verdict, found.samples, found.data) == ("agrees", 4, "expected.npz")
    assert [(one.tensor, one.diverges) for one in found.layers] == [("wr1", False), ("wr3", True)]
    assert found.layers[1].error.relative_error == pytest.approx(1 / 3, rel=1e-4)
    assert found.first == 1
    assert found.not_compared == {"the model does not compute extra": 1}
    same = verify(path, {name: rows[name] for name in ("wr4",)}, {"x": x[:, None]})
    assert (same.verdict, same.compared, same.reference) == ("agrees", 0, "the expected values")
    with pytest.raises(AutodocError, match="wr4 has expected values for 2 of 4 samples"):
        verify(path, {"wr4": rows["wr4"][:2]}, {"x": x[:, None]})
    with pytest.raises(AutodocError, match="has the name of a tensor that"):
        verify(path, {"y": x}, {"x": x[:, None]})


@pytest.mark.slow
def test_a_module_by_the_modules_that_nodes_come_from(tmp_path):
    torch = pytest.importorskip("torch")
    from py_autodoc.torch import export

    torch.manual_seed(0)

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(8, 8)

        def forward(self, x):
            return x + torch.relu(self.inner(x))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = torch.nn.ModuleList([Step() for _ in range(3)])
            self.head = torch.nn.Linear(8, 5)

        def forward(self, x):
            for step in self.steps:
                x = step(x)
            return self.head(x)

    net = Net().train()
    export(net, (torch.zeros(1, 8),), tmp_path / "n.onnx")
    found = verify(tmp_path / "n.onnx", net)
    assert (found.verdict, found.reference) == ("agrees", "Net")
    assert {one.reference_tensor for one in found.layers} >= {"steps.0", "steps.1.inner", "steps.2", "head"}
    assert net.training
    assert not any(module._forward_hooks for module in net.modules())
    with torch.no_grad():
        net.steps[1].inner.weight.mul_(1.5)
    changed = verify(tmp_path / "n.onnx", net)
    assert changed.verdict == "diverges"
    assert changed.layers[changed.first].reference_tensor == "steps.1.inner"


def test_sizes_come_from_the_data(saved):
    nodes = [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch"])],
    )  # fmt: skip
    path = saved(
        "m.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    )
    found = verify(path, path, {"x": np.ones((3, 23), np.float32)})
    assert (found.samples, found.verdict) == (3, "agrees")


def test_weights_beside_the_model(tmp_path, request):
    folder = request.config.rootpath / "tests/data/models"
    for name in ("resnet_tiny_ext.onnx", "resnet_tiny_ext.bin", "resnet_tiny.onnx"):
        shutil.copy(folder / name, tmp_path)
    found = verify(tmp_path / "resnet_tiny_ext.onnx", tmp_path / "resnet_tiny.onnx", samples=1)
    assert (found.verdict, found.compared) == ("agrees", found.pairs)
    assert all(one.error.exact for one in found.layers)
    (tmp_path / "resnet_tiny_ext.bin").unlink()
    with pytest.raises(AutodocError, match="resnet_tiny_ext"):
        verify(tmp_path / "resnet_tiny_ext.onnx", tmp_path / "resnet_tiny.onnx")


def test_models_that_cannot_be_compared(saved):
    path = saved("a.onnx", chain(weights()))
    other = chain(weights())
    other.graph.input[0].type.tensor_type.shape.dim[1].dim_value = DIM * 2
    with pytest.raises(AutodocError):
        verify(path, saved("b.onnx", other))
    with pytest.raises(AutodocError, match="cannot be used as a reference"):
        verify(path, 3)
    with pytest.raises(AutodocError, match="NaN or infinity"):
        verify(path, path, {"x": np.full((1, DIM), np.nan, np.float32)})
    with pytest.raises(AutodocError, match="finite number that is not negative"):
        verify(path, path, tolerance=-1)


def test_text_and_json(saved):
    other = weights()
    other[2] = other[2] * np.float32(2)
    found = verify(saved("a.onnx", chain(other)), saved("b.onnx", chain(weights())))
    text = list(verification_lines(found))
    assert text[0] == "a.onnx diverges from b.onnx."
    assert any(line.startswith("First diverging layer: product2 (MatMul): relative error") for line in text)
    listed = list(verification_lines(found, every_layer=True))
    assert sum("product" in line for line in listed) == LAYERS + 1
    heat = found.heat()["values"]
    assert (heat["0"], heat["2"]) == (0.0, 0.0)
    assert heat["4"] == pytest.approx(1.0, rel=1e-5)
    read = json.loads(found.to_json())
    assert read["schema"] == "autodoc.verification/1"
    assert read["layers"][2]["nodes"] == list(found.layers[2].nodes)


def test_groups_stay_in_their_budget():
    assert [list(one) for one in groups([4, 4, 4, 9, 1], 8)] == [[0, 1], [2], [3], [4]]
    assert list(groups([])) == []


def test_the_command(saved, tmp_path):
    from click.testing import CliRunner

    from py_autodoc.cli.app import app

    def run(*args):
        return CliRunner().invoke(app, ["verify", *map(str, args)])

    other = weights()
    other[0] = other[0] * np.float32(3)
    a, b = saved("a.onnx", chain(other)), saved("b.onnx", chain(weights()))
    same = run(b, "--against", b)
    assert same.exit_code == 0
    assert "synthetic" in same.stderr
    differs = run(a, "--against", b, "--out-json", tmp_path / "v.json")
    assert differs.exit_code == 5
    assert "a.onnx diverges from b.onnx." in differs.stdout
    assert json.loads((tmp_path / "v.json").read_text())["verdict"] == "diverges"
    drawn = run(a, "--against", b, "--out-html", tmp_path / "v.html", "--out-svg", tmp_path / "v.svg")
    assert drawn.exit_code == 5
    numbers = re.search(r'data-numbers="([^"]*)"', (tmp_path / "v.html").read_text())[1]
    held = json.loads(html.unescape(numbers))
    assert (held["label"], held["largest"]) == ("Relative error", True)
    assert dict(held["values"])[0] == pytest.approx(2.0, rel=1e-5)
    assert "Relative error" in (tmp_path / "v.svg").read_text()
    missing = run(a, "--against", tmp_path / "none.onnx")
    assert missing.exit_code == 1
    assert "none.onnx" in missing.stderr
    assert run(a, "--against", b, "--out-json", a).exit_code == 3
