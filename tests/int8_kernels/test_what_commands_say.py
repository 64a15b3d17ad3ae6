"""Every command that prints an accuracy says on which integer kernels it was measured."""

import msgspec
import numpy as np
import pytest

from py_autodoc.int8_kernels import judge as judging
from py_autodoc.int8_kernels import model_run
from py_autodoc.mixtures import with_written, written
from py_autodoc.ort_kernels import saturates
from py_autodoc.playground import Playground
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.report.schema import TaskRequest
from py_autodoc.runner import compare, compare_precisions
from py_autodoc.runner.lines import run_lines
from py_autodoc.sensitivity import api as sensitivity_api
from py_autodoc.sensitivity import sensitivity
from py_autodoc.sensitivity.document import WrittenFigures
from py_autodoc.sensitivity.lines import sensitivity_lines
from py_autodoc.tasks.kinds import TaskFiles, run_task
from py_autodoc.widget.playground_parts import score_of

pytest.importorskip("onnxruntime")
DIGITS, DATA = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"
EXACT_DB = 36.3


@pytest.fixture(params=["here", "pairs"])
def kernel(request, monkeypatch):
    """This machine as it is, and as one that saturates."""
    kernel = "pairs" if request.param == "pairs" or saturates() else "exact"
    for module in (model_run, judging, compare, sensitivity_api):
        monkeypatch.setattr(module, "kernel_here", lambda: kernel)
    return kernel


@pytest.fixture(scope="module")
def quantized(tmp_path_factory):
    out = tmp_path_factory.mktemp("said") / "q.onnx"
    quantize(DIGITS, out, DATA, Recipe(target="cpu-vnni"), compare=False)
    return out


def test_run(kernel, quantized):
    found = compare_precisions(
        {"float": DIGITS, "int8": quantized}, DATA, runs=1, warmup=0, samples=16, memory=False
    )
    text = "\n".join(run_lines(found))
    assert found.kernels == kernel
    assert found.variants[0].saturating_operators in (0, None)
    variant = found.variants[1]
    if kernel == "exact":
        assert not variant.exact_metrics
        assert "saturate" not in text
        assert "exact int8 sums" in text.splitlines()[0]
    else:
        assert variant.saturating_operators == 7
        assert variant.exact_metrics["sqnr_db"] == pytest.approx(EXACT_DB, abs=0.15)
        (line,) = [line for line in text.splitlines() if "kernels saturate" in line]
        assert "sums of up to 7 operators; with exact sums: agreement 1, sqnr_db 36." in line


def test_sensitivity(kernel):
    found = sensitivity(DIGITS, DATA, samples=16)
    text = "\n".join(sensitivity_lines(found))
    assert (found.products, found.kernels_here) == ("float", kernel)
    assert "Products are computed in float" in text
    assert ("this processor's int8 kernels saturate" in text) == (kernel == "pairs")
    found = with_written(DIGITS, found, DATA)
    if kernel == "exact":
        assert found.written is None
    else:
        text = "\n".join(sensitivity_lines(found))
        assert found.written.exact_db == pytest.approx(EXACT_DB, abs=1)
        assert f"{found.written.here_db:.1f} dB here, {found.written.exact_db:.1f} dB with exact" in text


def test_sensitivity_without_a_figure_says_why(monkeypatch):
    monkeypatch.setattr(sensitivity_api, "kernel_here", lambda: "pairs")
    found = sensitivity(DIGITS, DATA, samples=2)
    assert with_written(DIGITS, msgspec.structs.replace(found, weights="s4"), DATA).written is None
    failed = with_written("missing.onnx", found, DATA)
    assert failed.written.here_db is None
    assert failed.written.not_measured
    assert "not measured (" in "\n".join(sensitivity_lines(failed))
    assert written.WrittenFigures is WrittenFigures


def test_playground(quantized):
    play = Playground(quantized, DATA, reference=DIGITS, count=4)
    kernels = play.kernel_score()
    assert kernels.sqnr_db is not None
    if not saturates():
        assert kernels.sqnr_db == pytest.approx(play.score().sqnr_db, abs=3)
    name = next(iter(play.points.weights))
    play.set_scale(name, 3.0)
    assert play.kernel_score().sqnr_db != kernels.sqnr_db
    text = score_of(play.score(), 1, kernels)
    assert "Products are computed in float. On this machine (this processor&#x27;s int8" in text
    assert f"{kernels.sqnr_db:.1f} dB." in text
    assert "On this machine" not in score_of(play.score(), 1)


def test_results_of_tasks(kernel, quantized, tmp_path):
    quantizing = TaskRequest(kind="quantize", path="m.onnx", samples=16, overwrite=True)
    files = TaskFiles(model=DIGITS, data=DATA, out=str(tmp_path / "q.onnx"))
    steps = []
    result = run_task(quantizing, files, lambda *step: steps.append(step))
    (accuracy,) = result.accuracies
    assert accuracy.output == "logits"
    assert accuracy.here_db is not None
    assert result.kernels.here == kernel
    files = TaskFiles(model=str(quantized), data=DATA, against=DIGITS)
    result = run_task(TaskRequest(kind="verify", path="m.onnx", samples=4), files, lambda *step: None)
    assert (result.kernels.target, result.kernels.target_computes) == ("cpu-vnni", "exact")
    assert result.kernels.differs == (kernel == "pairs")
    assert result.accuracies[0].target_db > 30
    assert any("on this processor" in line for line in result.lines)
    if kernel == "pairs":
        assert any("as cpu-vnni computes (exact int8 sums)" in line.lower() for line in result.lines)
    ranking = TaskRequest(kind="sensitivity", path="m.onnx", samples=4)
    result = run_task(ranking, TaskFiles(model=DIGITS, data=DATA), lambda *step: None)
    assert any("Products are computed in float" in line for line in result.lines)
    assert np.isfinite(list(result.values.values())).all()
