"""The playground's widget: what its controls do to the model, and what they show."""

import numpy as np
import pytest

from py_autodoc.playground.playground import QuantizationHistogram
from py_autodoc.quantize import Recipe
from py_autodoc.render import html
from py_autodoc.sensitivity.scores import Score
from py_autodoc.widget import QuantPlayground, autodoc, shared_code
from py_autodoc.widget.playground_parts import bars_of, histogram_of, pixels_of, score_of

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.slow
DIGITS, DATA = "tests/data/quant/digits_cnn.onnx", "tests/data/quant/digits.npz"


@pytest.fixture
def play(monkeypatch):
    for module in (autodoc, html, shared_code):
        monkeypatch.setattr(module, "static", lambda name: f"/* {name} */")
    monkeypatch.setattr(shared_code, "_shared", [])
    return QuantPlayground(DIGITS, DATA, recipe=Recipe(target="cpu-vnni"), count=4)


def test_it_shows_the_model_as_it_is(play):
    assert "As in the file" in play._score.value
    assert play.tensor == next(iter(play.playground.points.data))
    assert play._scale.value == 1.0
    assert play._exact.value == pytest.approx(play.playground.of(play.tensor)[0], rel=1e-5)
    assert set(play.graph.overlay["values"]) <= {str(at) for at in play._ids.values()}
    assert play._outputs.value.count("<tr>") == 6


def test_a_slider_is_one_step_back(play):
    play.tensor = "relu_1"
    before = play._score.value
    for factor in (1.2, 1.5, 2.0):
        play._scale.value = factor
    assert "1 edit" in play._score.value
    assert play.playground.of("relu_1")[0] == pytest.approx(2 * play.playground.points.data["relu_1"].scale)
    play._undo.click()
    assert play._score.value == before
    assert play._scale.value == 1.0
    play._redo.click()
    assert play._scale.value == pytest.approx(2.0, rel=0.01)


def test_the_page_putting_a_knob_on_its_step_is_no_edit(play):
    play.tensor = "relu_1"
    play.playground.set_scale("relu_1", 0.25)
    play.refresh()
    play._scale.value = play._scale.value * 1.0001
    assert play.playground.of("relu_1")[0] == 0.25


def test_controls_follow_the_tensor(play):
    weight = next(iter(play.playground.points.weights))
    play.tensor = weight
    assert play._zero.disabled
    assert play._exact.description == "Factor"
    assert play._picture.value.count("<img") == 2
    play._precision.value = "float"
    assert play._scale.disabled
    assert play.playground.edits.float_weights == {weight}
    play.tensor = "relu_1"
    assert not play._zero.disabled
    assert (play._zero.min, play._zero.max) == (0, 255)
    play._zero.value = 7
    assert play.playground.of("relu_1")[1] == 7


def test_a_selection_in_the_graph(play):
    name, layer = list(play.playground.points.layers.items())[1]
    play.graph.selection = [name]
    play._selected.children[2].click()
    assert play.playground.edits.float_weights == {layer.weight}
    play._selected.children[1].click()
    assert not play.playground.edits.float_weights
    play.graph.selection = []
    play._selected.children[2].click()
    assert "Nothing quantized is selected" in play._message.value


def test_faults_are_told_in_the_panel(play, tmp_path):
    play._exact.value = -1.0
    assert "A scale must be above 0" in play._message.value
    play._path.value = str(tmp_path / "none/out.onnx")
    play._export.click()
    assert "folder does not exist" in play._message.value
    play._path.value = str(tmp_path / "out.onnx")
    play._export.click()
    assert "Wrote out.onnx" in play._message.value
    assert (tmp_path / "out.onnx").is_file()


def test_samples(play):
    first = play._outputs.value
    play._sample.value = 2
    assert play.playground.shown == 2
    assert play._outputs.value != first


def test_names_are_text():
    bad = "<script>x</script>"
    found = QuantizationHistogram(np.linspace(0, 1, 65), np.ones(64, int), np.zeros(64, int), 0.5)
    for text in (histogram_of(found, bad), bars_of(np.ones((1, 3)), np.ones((1, 3)), {0: bad}, bad)):
        assert "<script" not in text
    assert "50.00% cut off" in histogram_of(found, "x")


def test_pieces_of_odd_values():
    assert "not finite" in score_of(Score(None, float("inf"), None, None), 0)
    assert "equal to float" in score_of(Score(None, 0.0, None, 1.0), 2)
    assert pixels_of(np.zeros((2, 3)), np.full((2, 3), np.nan)).count("<img") == 2
    assert pixels_of(np.ones((300, 5, 3, 3)), np.ones((300, 5, 3, 3))).count("data:image/png") == 2
