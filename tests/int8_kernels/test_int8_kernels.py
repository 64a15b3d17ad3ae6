"""Accuracies as a target computes them, on processors whose sums saturate and on those where they do not."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.int8_kernels import judge as judging
from py_autodoc.int8_kernels import model_run
from py_autodoc.int8_kernels.judge import judge
from py_autodoc.int8_kernels.model_run import ModelRun, NotMeasured, as_it_runs
from py_autodoc.int8_kernels.saturating import saturating_nodes
from py_autodoc.int8_kernels.targets import COMPUTATIONS
from py_autodoc.int8_kernels.text import kernel_sentence
from py_autodoc.ort_kernels import saturates
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.lines import quantization_lines
from py_autodoc.verify import verify
from py_autodoc.verify.lines import verification_lines

ort = pytest.importorskip("onnxruntime")
DIGITS, DATA = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"
HERE = "pairs" if saturates() else "exact"
OTHER = "exact" if saturates() else "pairs"
RECIPES = {
    "qdq": Recipe(target="cpu-vnni"),
    "qoperator": Recipe(target="cpu-vnni", format="qoperator"),
    "dynamic": Recipe(target="cpu-vnni", method="dynamic"),
    "signed": Recipe(target="tensorrt"),
}
FIGURES = {"qdq": (36.2, 12.9), "qoperator": (36.2, 12.9), "dynamic": (44.8, 27.8), "signed": (34.3, 4.0)}
"""SQNR with exact sums and with saturating ones, the same on every machine."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("int8")
    for name, recipe in RECIPES.items():
        quantize(DIGITS, folder / f"{name}.onnx", DATA, recipe, samples=128, compare=False)
    return folder


@pytest.fixture(params=["here", "pairs"])
def pretended(request, monkeypatch):
    """This machine as it is, and as one that saturates: its numbers stay, texts and paths do not.

    The reverse would judge numbers of saturating kernels as exact ones.
    """
    kernel = HERE if request.param == "here" else request.param
    pretend(monkeypatch, kernel)
    return kernel


def pretend(monkeypatch, kernel):
    monkeypatch.setattr(model_run, "kernel_here", lambda: kernel)
    monkeypatch.setattr(judging, "kernel_here", lambda: kernel)


@pytest.mark.parametrize("name", RECIPES)
def test_the_reference_path_equals_the_runtime(name, files, monkeypatch):
    """What this machine computes, by the way that is taken for the machines of the other kind."""
    pretend(monkeypatch, OTHER)
    path = files / f"{name}.onnx"
    run = ModelRun(path, as_it_runs(path, keeps_s8=False), HERE, 4)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    images = np.load(DATA)["image"].astype(np.float32)
    for image in images[:4].reshape(4, 1, 1, 8, 8):
        expected = session.run(None, {"image": image})[0]
        assert np.allclose(run.values({"image": image}, ["logits"])[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", RECIPES)
def test_figures_do_not_depend_on_the_machine(name, files):
    path, exact, saturating = files / f"{name}.onnx", *FIGURES[name]
    for target in ("cpu-vnni", "cpu-avx2", "cpu-arm", "tensorrt"):
        found = verify(path, DIGITS, DATA, target=target)
        wanted = saturating if target == "cpu-avx2" else exact
        assert found.outputs[0].error_target.sqnr_db == pytest.approx(wanted, abs=0.15)
        assert found.kernels.differs == (COMPUTATIONS[target].kernel != HERE)
        assert not found.kernels.not_measured
    assert verify(path, DIGITS, DATA).kernels.target == RECIPES[name].target  # of the recipe in the file


@pytest.mark.parametrize("fields", [{}, {"format": "qoperator"}, {"method": "dynamic"}])
def test_a_saturating_target_is_not_judged_by_exact_kernels(fields, tmp_path):
    recipe = Recipe(target="cpu-avx2", weights="s8", allow_saturation=True, **fields)
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe)
    wanted = FIGURES["dynamic" if "method" in fields else "qdq"]
    assert found.outputs[0].error_target.sqnr_db == pytest.approx(wanted[1], abs=0.15)
    assert found.kernels.target_computes == "pairs"
    if HERE == "exact":
        figures = f"{found.outputs[0].error_fused.sqnr_db:.1f} dB here (exact int8 sums), "
        assert any(figures in note and "as cpu-avx2 computes" in note for note in found.findings)
        assert any("saturate, which costs" in note for note in found.findings)


@pytest.mark.parametrize("target", ["tensorrt", "cpu-arm", "cpu-vnni"])
def test_targets_with_exact_sums_get_no_advice_for_others(target, pretended, tmp_path):
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(target=target))
    text = "\n".join(quantization_lines(found))
    assert "cpu-avx2" not in text
    assert "Find the layer" not in text
    assert "clip" not in text
    assert found.outputs[0].error_target.sqnr_db > 30
    if pretended == "pairs":
        assert f"as {target} computes (exact int8 sums)" in text.lower()
        assert "int8 sums that saturate)" in text.split("Compared with")[1].splitlines()[0]
    elif HERE == "exact":
        assert not found.kernels.differs


def test_small_or_unsigned_weights_do_not_differ(pretended, tmp_path):
    for weights in ("u8", "s7"):
        found = quantize(
            DIGITS, tmp_path / f"{weights}.onnx", DATA, Recipe(target="cpu-avx2", weights=weights)
        )
        assert (found.kernels.differs, found.kernels.saturating_operators) == (False, 0)
        assert found.outputs[0].error_target == found.outputs[0].error_fused


@pytest.mark.parametrize("name", ["qoperator", "dynamic"])
def test_verify_names_saturation_as_the_cause(name, files, monkeypatch):
    """In formats whose operators are integer ones, every run of the file saturates."""
    pretend(monkeypatch, "pairs")
    found = verify(files / f"{name}.onnx", DIGITS, DATA, tolerance=0.03 if saturates() else 1e-4)
    text = "\n".join(verification_lines(found))
    assert "can saturate on this processor" in text
    assert "as cpu-vnni computes (exact int8 sums)" in text.lower()
    assert found.first_exact is not None
    if saturates():
        assert found.saturation_is_the_cause
        assert "Cause: this processor's int8 kernels saturate in this layer" in text
    else:
        assert not found.saturation_is_the_cause  # the layer differs by more than 1e-4 with exact sums, too
        assert "Cause:" not in text


def test_another_fault_is_not_blamed_on_saturation(files, tmp_path, monkeypatch):
    pretend(monkeypatch, "pairs")
    model = onnx.load(files / "qoperator.onnx")
    conv = next(node for node in model.graph.node if node.op_type == "QLinearConv")
    scale = next(one for one in model.graph.initializer if one.name == conv.input[4])
    scale.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(1.5), scale.name))
    onnx.save(model, tmp_path / "wrong.onnx")
    found = verify(tmp_path / "wrong.onnx", DIGITS, DATA)
    assert found.first is not None
    assert not found.saturation_is_the_cause


def test_a_float_model_has_no_integer_kernels():
    found = verify(DIGITS, DIGITS, DATA)
    assert found.kernels is None
    assert kernel_sentence(found.kernels) == ""


def one_product(op, weight, x=TensorProto.UINT8, constant=True, branch=False):
    """MatMulInteger or ConvInteger, possibly in a branch of If."""
    rank = weight.ndim
    shape = [1, weight.shape[0]] if rank == 2 else [1, weight.shape[1], *weight.shape[2:]]
    weights = [numpy_helper.from_array(weight, "w")] if constant else []
    inputs = [helper.make_tensor_value_info("x", x, shape)]
    if not constant:
        inputs.append(helper.make_tensor_value_info("w", TensorProto.INT8, weight.shape))
    node = helper.make_node(op, ["x", "w"], ["z" if branch else "y"])
    result = helper.make_tensor_value_info("z" if branch else "y", TensorProto.INT32, None)
    nodes = [node]
    if branch:
        inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        graphs = [helper.make_graph([node], f"b{at}", [], [result]) for at in range(2)]
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=graphs[0], else_branch=graphs[1])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


LARGE = np.full((4, 2), 127, np.int8)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (one_product("MatMulInteger", LARGE), 1),
        (one_product("MatMulInteger", LARGE, constant=False), 1),
        (one_product("MatMulInteger", np.full((4, 2), 64, np.int8)), 0),
        (one_product("MatMulInteger", np.tile(np.array([[127, 127], [-127, -127]], np.int8), (2, 1))), 0),
        (one_product("MatMulInteger", LARGE.astype(np.uint8)), 0),
        (one_product("MatMulInteger", LARGE, x=TensorProto.INT8), 0),
        (one_product("ConvInteger", np.full((2, 2, 3, 3), 127, np.int8)), 0),
        (one_product("ConvInteger", np.full((2, 2, 3, 3), 255, np.uint8), x=TensorProto.INT8), 1),
    ],
)
def test_operators_that_can_saturate(model, count):
    assert len(saturating_nodes(model)[0]) == count


def test_computed_weights_are_measured_by_the_reference(tmp_path, monkeypatch):
    onnx.save(one_product("MatMulInteger", LARGE, constant=False), tmp_path / "m.onnx")
    sample = {"x": np.full((1, 4), 255, np.uint8), "w": LARGE}
    for kernel, value in (("exact", 4 * 255 * 127), ("pairs", 2 * 32767)):
        pretend(monkeypatch, "pairs" if kernel == "exact" else "exact")
        run = ModelRun(tmp_path / "m.onnx", onnx.load(tmp_path / "m.onnx"), kernel, 1)
        assert run.values(sample, ["y"])[0].tolist() == [[value, value]]


def test_what_cannot_be_measured_says_why(tmp_path, monkeypatch):
    pretend(monkeypatch, "exact")
    path = tmp_path / "m.onnx"
    onnx.save(one_product("MatMulInteger", LARGE, branch=True), path)
    found = judge(path, onnx.load(path), 1, "cpu-avx2")
    assert found.run is None
    assert found.kernels.differs
    assert found.kernels.not_measured == "its subgraphs have integer operators"
    onnx.save(one_product("MatMulInteger", LARGE), path)
    monkeypatch.setattr(model_run, "MAX_PRODUCTS", 7)
    found = judge(path, onnx.load(path), 1, "cpu-avx2")
    with pytest.raises(NotMeasured, match="limited to 7 products"):
        found.run.values({"x": np.zeros((1, 4), np.uint8)}, ["y"])
    monkeypatch.setattr(model_run, "MAX_BYTES", 1)
    found = judge(path, onnx.load(path), 1, "cpu-avx2")
    assert found.kernels.not_measured.startswith("its weights exceed")
    assert found.kernels.saturating_operators is None


def test_a_figure_that_is_not_measured_is_null_with_its_reason(tmp_path, monkeypatch):
    pretend(monkeypatch, "exact")
    monkeypatch.setattr(model_run, "MAX_PRODUCTS", 7)
    recipe = Recipe(target="cpu-avx2", weights="s8", allow_saturation=True)
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe)
    assert found.outputs[0].error_target is None
    assert "limited to 7 products" in found.kernels.not_measured
    text = "\n".join(quantization_lines(found))
    assert "As cpu-avx2 computes (int8 sums that saturate): not measured (the reference" in text


def test_a_recipe_in_the_metadata_is_only_read(tmp_path):
    model = one_product("MatMulInteger", LARGE)
    for text in ("", "{", "[" * 5000, '{"recipe": 3}', '{"recipe": {"target": "gpu"}}'):
        del model.metadata_props[:]
        model.metadata_props.add(key=judging.RECIPE, value=text)
        assert judging.recipe_target(model.metadata_props) == ""
