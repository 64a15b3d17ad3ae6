"""The search for a recipe: what is tried, what is chosen, and what the result says."""

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.lines import quantization_lines
from py_autodoc.quantize.search import candidates, choose, search_notes, split
from py_autodoc.quantize.search_document import Search, Trial
from py_autodoc.quantize.speed import CpuTime

DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")


def trial(name, sqnr_db=30.0, size=50, speed=1.0, close=True, failed=""):
    return Trial(
        name=name, recipe=Recipe(), sqnr_db=sqnr_db, bytes=None if failed else size, speed=speed, close=close,
        failed=failed,
    )  # fmt: skip


TRIALS = [
    trial("fast", 25, 40, 2.0),
    trial("small", 28, 20, 0.8),
    trial("exact", 60, 90, 1.1),
    trial("far", 5, 5, 9.0, close=False),
    trial("larger", 90, 150, 1.0),
    trial("none", failed="it has no products"),
]


@pytest.mark.parametrize(
    ("goal", "name"), [("size", "small"), ("latency", "fast"), ("accuracy", "exact"), ("balanced", "fast")]
)
def test_a_goal_chooses_among_close_and_smaller_files(goal, name):
    assert choose(TRIALS, goal, 100).name == name


def test_without_a_close_one_the_most_accurate_is_chosen():
    far = [trial("a", 5, close=False), trial("b", 12, close=False)]
    assert choose(far, "size", 100).name == "b"
    assert choose([trial("none", failed="no")], "size", 100) is None
    assert choose([trial("equal", None), trial("b")], "accuracy", 100).name == "equal"
    found = Search(goal="size", held_back=4, trials=far, chosen="b")
    assert "No recipe comes close" in search_notes(found, 100)[0]


@pytest.mark.parametrize(
    ("goal", "size", "speed", "said"),
    [
        ("balanced", 120, 1.0, "smaller or faster"), ("balanced", 80, 0.5, ""), ("balanced", 120, 2.0, ""),
        ("balanced", 120, None, ""), ("size", 120, 2.0, "smaller"), ("size", 80, 0.5, ""),
        ("latency", 80, 0.9, "faster"), ("latency", 120, 1.2, ""),
    ],
)  # fmt: skip
def test_without_a_gain_the_float_model_is_advised(goal, size, speed, said):
    tried = [trial("a", size=size, speed=speed), trial("far", size=1, speed=9.0, close=False)]
    notes = search_notes(Search(goal=goal, held_back=4, trials=tried, chosen="a"), 100)
    assert [f"a file that is {said} than the float model: keep" in note for note in notes] == [True] * bool(
        said
    )


def test_a_search_has_one_time_per_recipe_and_advises_nothing_that_failed(tmp_path, monkeypatch):
    """The chosen file is not measured again, and no method tried in vain is named."""
    clock = iter(range(1, 100))
    monkeypatch.setattr(
        "py_autodoc.quantize.api.cpu_time",
        lambda *args: CpuTime(float_ms=1.0, quantized_ms=2.0 + next(clock) / 10),
    )
    from py_autodoc.quantize.kernels import current_runtime

    recipe = Recipe(method="auto", target=current_runtime())
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=8, goal="size")
    chosen = next(one for one in found.search.trials if one.name == found.search.chosen)
    assert found.cpu_time.speed == chosen.speed
    slower = next(one for one in found.findings if "more CPU time" in one)
    assert "keep the float model" in slower
    assert "Try --method" not in slower


@pytest.mark.parametrize("target", ["cpu-vnni", "cpu-avx2", "cpu-arm", "tensorrt"])
def test_candidates_of_each_target_are_accepted(target):
    """Every kind of method for processors; what TensorRT reads for it."""
    from py_autodoc.quantize.recipe import complete_recipe

    found = candidates(Recipe(method="auto", target=target, exclude=["fc"]))
    complete = [complete_recipe(one) for one in found.values()]
    assert all(one.target == target and one.exclude == ["fc"] for one in complete)
    methods = {one.method for one in complete}
    assert methods >= ({"static", "fp16"} if target == "tensorrt" else {"static", "dynamic", "int4-weights"})
    if target == "cpu-avx2":
        assert {one.weights for one in complete if one.method == "static"} == {"s7", "u8"}


@pytest.mark.parametrize("fields", [{"weights": "s8"}, {"per_channel": False}, {"ops": ["all"]}])
def test_what_is_searched_cannot_be_given(fields):
    with pytest.raises(AutodocError, match="auto chooses"):
        candidates(Recipe(method="auto", **fields))


@pytest.mark.parametrize(
    ("s7", "u8", "weights"),
    [(30.0, 32.0, "s7"), (18.9, 22.9, "u8"), (85.0, 102.0, "s7"), (None, 90.0, "s7"), (20.0, 5.0, "s7")],
)
def test_weights_without_vnni(s7, u8, weights, monkeypatch):
    """s7 where it wins: it is faster, so u8 must be clearly more accurate."""
    from py_autodoc.quantize import search as module

    figures = {"s7": s7, "u8": u8}
    made = type("Made", (), {"bytes_before": 100})
    monkeypatch.setattr(module, "_trial", lambda name, made: trial(name, figures[name[-2:]]))
    recipe, found = module.weights_by_trial(
        lambda *args: made, Recipe(target="cpu-avx2"), [], lambda *args: None
    )
    assert recipe.weights == weights
    assert found.chosen.endswith(weights)
    assert len(found.trials) == 2


def test_the_default_for_a_processor_without_vnni(tmp_path):
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(target="cpu-avx2"), samples=4)
    assert found.recipe.weights in ("s7", "u8")
    assert found.search.chosen.endswith(found.recipe.weights)
    assert found.form.weights_per_tensor == 0
    assert found.samples == 4
    given = quantize(DIGITS, tmp_path / "q.onnx", DATA, Recipe(target="cpu-avx2", weights="u8"), samples=4)
    assert given.search is None


def test_samples_are_held_back():
    samples = [{"x": number} for number in range(100)]
    ranges, held = split(samples)
    assert (len(ranges), len(held)) == (84, 16)
    assert not [one for one in held if one in ranges]
    assert [len(part) for part in split(samples[:2])] == [1, 1]
    assert [len(part) for part in split(samples[:1])] == [1, 1]


def test_a_search(tmp_path):
    out = tmp_path / "q.onnx"
    found = quantize(DIGITS, out, DATA, Recipe(method="auto", target="cpu-vnni"), samples=16, goal="size")
    tried = {one.name: one for one in found.search.trials}
    best = tried[found.search.chosen]
    assert best.recipe == found.recipe
    assert found.search.held_back == 4
    assert best.bytes == found.bytes_after == out.stat().st_size
    assert best.bytes == min(one.bytes for one in tried.values() if one.bytes and one.close)
    assert "no operators that int4-weights quantizes" in tried["int4 weights"].failed
    lines = list(quantization_lines(found))
    assert any(line.startswith(f"* {best.name}") for line in lines)
    assert json.loads(found.to_json())["search"]["goal"] == "size"
    assert list(tmp_path.iterdir()) == [out]


def test_the_command_and_what_it_refuses(tmp_path):
    def run(*args):
        return CliRunner().invoke(app, ["quantize", str(DIGITS), str(tmp_path / "q.onnx"), *args])

    assert "A search needs samples" in run("--method", "auto").stderr
    assert "belongs to the method auto" in run("--method", "static", "--for", "size").stderr
    assert run("--for", "speed").exit_code == 1
    assert not list(tmp_path.iterdir())


def test_without_tags_the_file_is_smaller(tmp_path):
    recipe = Recipe(target="cpu-vnni")
    sizes = {}
    for tags in (True, False):
        found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=4, tags=tags)
        sizes[tags] = found.bytes_after
        nodes = onnx.load(tmp_path / "q.onnx").graph.node
        assert any(node.metadata_props for node in nodes) is tags
        assert (found.tagged is None) is not tags
    assert sizes[False] < 0.9 * sizes[True]


@pytest.mark.parametrize(("quantized_ms", "said"), [(2.0, True), (1.0, False), (0.5, False)])
def test_a_slower_file_is_said(quantized_ms, said, tmp_path, monkeypatch):
    from py_autodoc.quantize.kernels import current_runtime

    times = CpuTime(float_ms=1.0, quantized_ms=quantized_ms)
    monkeypatch.setattr("py_autodoc.quantize.api.cpu_time", lambda *args: times)
    recipe = Recipe(target=current_runtime(), weights="s7")
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=4)
    assert any("more CPU time than the float model" in one for one in found.findings) is said
    text = "\n".join(quantization_lines(found))
    assert {2.0: "2.00 times slower", 1.0: "as fast as float", 0.5: "2.00 times faster"}[quantized_ms] in text


def test_a_larger_file_is_said(tmp_path):
    """Dynamic quantization of a network of convolutions adds metadata and nodes only."""
    recipe = Recipe(method="dynamic", target="cpu-vnni")
    found = quantize(DIGITS, tmp_path / "q.onnx", DATA, recipe, samples=4)
    larger = found.bytes_after > found.bytes_before
    assert larger
    assert any("larger than the float model" in one and "--no-tags" in one for one in found.findings)
