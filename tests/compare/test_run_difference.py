"""Both models run on the same input: how far their outputs are apart, and clean errors where one fails."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.cli.supervisor import wanted
from py_autodoc.compare.contract import comparison_schema

pytest.importorskip("onnxruntime")


def saved(
    path: Path, factor: float, names: tuple[str, str] = ("x", "y"), kind: int = 1, size: int = 3
) -> Path:
    source, result = names
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    weight = numpy_helper.from_array(np.full((size, 2), factor, dtype), "w")
    nodes = [
        helper.make_node("MatMul", [source, "w"], [result]),
        helper.make_node("Sqrt", [result], ["root"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info(source, kind, ["n", size])],
        [info(result, kind, None), info("root", kind, None)],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def compare(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "samples.npz"
    np.savez(path, x=np.array([[1, 2, 1], [-1, 0, 0]], np.float32))
    return path


def test_the_largest_difference_is_absolute_and_relative(tmp_path, data):
    a, b = saved(tmp_path / "a.onnx", 1.0), saved(tmp_path / "b.onnx", 1.5)
    code, text, _ = compare(a, b, "--run", "--data", data, "--input-shape", "x=2x3", "--json")
    assert code == 1
    document = json.loads(text)
    jsonschema.Draft202012Validator(comparison_schema()).validate(document)
    run = document["alignment"]["run"]
    assert run["data"] == "samples.npz"
    by_name = {output["left"]: output for output in run["outputs"]}
    # The sums are 4 and -1, half as much again in the other model; NaN is equal to NaN.
    assert (by_name["y"]["largest"], by_name["y"]["relative"]) == (2.0, 0.5)
    assert by_name["root"]["largest"] == pytest.approx(6**0.5 - 2, rel=1e-6)
    code, text, _ = compare(a, b, "--run", "--data", data, "--input-shape", "x=2x3")
    assert (
        "  run        the outputs differ by at most 2, 0.5 of the largest value, in y, on samples.npz" in text
    )
    assert text.startswith("Same graph, other results")
    markdown = tmp_path / "c.md"
    compare(a, b, "--run", "--data", data, "--input-shape", "x=2x3", "--out-md", markdown)
    assert "differ by at most 2" in markdown.read_text(encoding="utf-8")


def test_equal_models_and_other_names_and_types_are_equal(tmp_path, data):
    a = saved(tmp_path / "a.onnx", 1.0)
    code, text, _ = compare(a, a, "--run")
    assert code == 0
    assert "the outputs are equal bit for bit, on synthetic input (seed 0)" in text
    renamed = saved(tmp_path / "b.onnx", 1.0, ("pixels", "scores"))
    half = saved(tmp_path / "c.onnx", 1.0, kind=10)
    for other in (renamed, half):
        code, text, _ = compare(a, other, "--run", "--data", data, "--input-shape", "x=2x3", "--json")
        run = json.loads(text)["alignment"]["run"]
        assert [output["largest"] for output in run["outputs"]] == [0.0, pytest.approx(0, abs=1e-3)]
        assert (run["only_left"], run["only_right"]) == ([], [])


def test_the_seed_decides_the_synthetic_input(tmp_path):
    a, b = saved(tmp_path / "a.onnx", 1.0), saved(tmp_path / "b.onnx", 1.5)
    found = [
        json.loads(compare(a, b, "--run", "--seed", seed, "--json")[1])["alignment"]["run"]["outputs"]
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1] != found[2]


def test_models_that_do_not_run_together_are_an_error_in_one_line(tmp_path):
    a = saved(tmp_path / "a.onnx", 1.0)
    for other, said in (
        (saved(tmp_path / "wide.onnx", 1.0, size=4), "wide.onnx takes x n×4; the input of a.onnx is 1×3."),
        (saved(tmp_path / "broken.onnx", 1.0, kind=3), ""),
    ):
        code, out, err = compare(a, other, "--run")
        assert (code, out) == (2, "")
        assert len(err.strip().splitlines()) == 1
        assert said in err
    code, _, err = compare(a, a, "--data", "x.npz")
    assert (code, "Pass --run too" in err) == (2, True)
    code, _, err = compare(a, a, "--run", "--structure")
    assert (code, "--run cannot be combined" in err) == (2, True)


def test_only_a_comparison_that_runs_models_is_supervised():
    assert wanted(["compare", "a.onnx", "b.onnx", "--run"])
    assert not wanted(["compare", "a.onnx", "b.onnx"])
    assert not wanted(["analyze", "--run"])


@pytest.mark.parametrize(
    ("outputs", "read", "said", "unsaid"),
    [
        (0.32, False, "weights were not compared, and outputs differ by more than rounding", "is the first"),
        (0.0005, False, "fp16 instead of fp32; weights were not compared.", "is the first"),
        (0.0005, True, "The second model is the first in fp16 instead of fp32.", "not compared"),
        (0.32, True, "outputs differ by more than rounding", "is the first"),
    ],
)
def test_a_conversion_claims_only_what_was_compared(outputs, read, said, unsaid, monkeypatch):
    from types import SimpleNamespace

    from py_autodoc.compare import summary
    from py_autodoc.compare.align import AlignmentVerdict
    from py_autodoc.compare.run_difference import OutputDifference, RunDifference

    sides = [SimpleNamespace(analysis=SimpleNamespace(stored=None, kind=kind)) for kind in ("fp32", "fp16")]
    monkeypatch.setattr(summary, "precision", lambda analysis: (analysis.kind, "none"))
    output = OutputDifference(left="y", right="y", largest=outputs, relative=outputs)
    run = RunDifference(data="x", outputs=[output], only_left=[], only_right=[])
    same = AlignmentVerdict.SAME
    alignment = SimpleNamespace(verdict=same, same=False, sides=sides, pairs=(), weights_read=read, run=run)
    text = summary.relation(alignment)
    assert said in text
    assert unsaid not in text
