"""A target is checked on the file that ``quantize`` writes."""

import pytest

from py_autodoc.mixtures import checked_choice, with_checked_choice
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.sensitivity import sensitivity
from py_autodoc.sensitivity.document import Quality
from py_autodoc.sensitivity.lines import sensitivity_lines

pytest.importorskip("onnxruntime")
DIGITS, DATA = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"


def figures(sqnr_db):
    return Quality(sqnr_db=sqnr_db, relative_error=10 ** (-sqnr_db / 20), kl=None, agreement=1.0)


def test_the_figures_are_those_of_the_file(tmp_path):
    found = sensitivity(DIGITS, DATA, samples=8, weights="s7", auto="sqnr>=20")
    checked = with_checked_choice(DIGITS, found, DATA).choice
    assert checked.reached
    recipe = Recipe(weights="s7", exclude=checked.float_layers)
    written = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=8).outputs[0]
    assert checked.written.sqnr_db == pytest.approx((written.error_fused or written.error).sqnr_db, abs=0.01)
    assert checked.written.sqnr_db >= 20


@pytest.mark.parametrize(("least", "reached"), [(3, True), (99, False)])
def test_more_layers_stay_float_until_the_file_reaches_the_target(least, reached, monkeypatch):
    found = sensitivity(DIGITS, DATA, samples=4, auto="sqnr>=20")
    tried = []

    def written(model, one, float_layers, *args):
        tried.append(len(float_layers))
        return figures(25.0 if len(float_layers) >= least else 15.0)

    monkeypatch.setattr(checked_choice, "_written", written)
    result = with_checked_choice(DIGITS, found, DATA)
    checked = result.choice
    assert checked.reached is reached
    assert len(checked.float_layers) == checked.point.float_layers == tried[-1]
    assert checked.written.sqnr_db == (25.0 if reached else 15.0)
    assert tried == sorted(set(tried))
    assert tried[-1] < len(found.layers)
    text = "\n".join(sensitivity_lines(result))
    assert "The file that `quantize` writes with them: SQNR" in text
    assert ("not reached by a file with" in text) is not reached


@pytest.mark.parametrize("fields", [{"auto": "kl<=1"}, {"auto": "sqnr>=5", "weights": "s4"}])
def test_a_target_that_no_file_can_be_checked_for(fields):
    found = sensitivity(DIGITS, DATA, samples=4, **fields)
    result = with_checked_choice(DIGITS, found, DATA)
    assert result.choice.written is None
    assert result.choice.not_checked
    assert "The target was not checked on a file" in "\n".join(sensitivity_lines(result))


def test_without_a_target_nothing_is_written(monkeypatch):
    monkeypatch.setattr(checked_choice, "_written", lambda *args: pytest.fail("a file was written"))
    found = sensitivity(DIGITS, DATA, samples=2)
    assert with_checked_choice(DIGITS, found, DATA) is found


def test_the_server_checks_a_target_too(monkeypatch):
    from py_autodoc.report.schema import TaskRequest
    from py_autodoc.tasks.kinds import TaskFiles, run_task

    least = 2
    monkeypatch.setattr(
        checked_choice,
        "_written",
        lambda model, found, kept, *args: figures(25.0 if len(kept) >= least else 15.0),
    )
    request = TaskRequest(kind="sensitivity", path="m.onnx", samples=4, target="sqnr>=20")
    result = run_task(request, TaskFiles(model=DIGITS, data=DATA), lambda *args: None)
    assert sum(layer.keep for layer in result.layers) >= least
    assert any("reaches sqnr>=20" in line for line in result.lines)
