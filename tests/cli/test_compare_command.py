"""``compare``: 0 the same, 1 different, 2 trouble; sizes of the page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import helper, numpy_helper

from py_autodoc.cli import compare as compare_command
from py_autodoc.cli.app import app
from py_autodoc.render import html

TINY = Path("tests/data/models/resnet_tiny.onnx").resolve()
MNIST = Path("tests/data/models/mnist_cntk.onnx").resolve()


def compare(*args: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def saved(path: Path, batch: str = "batch", weight: float = 1.0, external: bool = True) -> Path:
    info = helper.make_tensor_value_info
    big = numpy_helper.from_array(np.full((4, 512), weight, np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "mm")]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [batch, 4])], [info("y", 1, [batch, 512])], [big])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    more = {"save_as_external_data": True, "location": f"{path.stem}.bin", "size_threshold": 0}
    onnx.save(made, path, **(more if external else {}))
    return path


def test_the_same_and_different():
    assert compare(TINY, TINY)[0] == 0
    assert compare(TINY, MNIST)[0] == 1
    assert compare(TINY, MNIST, "--json")[0] == 1
    assert compare(TINY, TINY, "--tags", "--topology")[0] == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([TINY, "no.onnx"], "no such file"),
        ([TINY, "pyproject.toml"], "pyproject.toml"),
        ([TINY], "Missing argument"),
        ([TINY, TINY, "--nonsense"], "No such option"),
        ([TINY, TINY, "--topology", "--structure"], "not both"),
        ([TINY, TINY, "--bind", "n=2", "--topology"], "--beside"),
        ([TINY, TINY, "--bind", "n=2"], "Neither model has 'n'"),
        ([TINY, TINY, "--beside", "-"], "cannot write to stdout"),
    ],
)
def test_trouble_is_two(args, said):
    code, out, err = compare(*args)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_page_that_cannot_be_written_is_three(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: "")
    assert compare(TINY, TINY, "--beside", tmp_path / "no" / "x.html")[0] == 3
    assert compare(TINY, TINY, "--beside", tmp_path)[0] == 3


def test_a_file_without_its_weights_is_compared_by_structure(tmp_path):
    whole, bare = saved(tmp_path / "a.onnx"), saved(tmp_path / "b.onnx")
    assert compare(whole, bare, "--topology")[0] == 0
    (tmp_path / "b.bin").unlink()
    code, out, err = compare(whole, bare, "--topology")
    assert (code, out) == (
        2,
        "The graphs are the same: nodes, edges, attributes. Weights were not compared.\n",
    )
    assert "b.onnx" in err
    assert "--structure" in err
    assert compare(whole, bare, "--structure")[::2] == (0, "")
    assert json.loads(compare(whole, bare, "--json", "--topology")[1]) == {"topology": [], "weights": False}
    shutil.copy(bare, tmp_path / "c.onnx")
    assert compare(MNIST, tmp_path / "c.onnx", "--topology")[0] == 1


def test_a_renamed_dimension_is_one_line(tmp_path):
    code, out, _ = compare(saved(tmp_path / "a.onnx"), saved(tmp_path / "b.onnx", batch="N"), "--topology")
    assert code == 1
    assert out.splitlines() == [
        "The graphs differ (1 difference listed):",
        "  dimension batch: name: batch → N",
    ]


def test_the_page_takes_sizes(tmp_path, monkeypatch):
    """A name that one model alone has is given to that one; one that neither has is refused."""
    seen = []
    monkeypatch.setattr(html, "static", lambda name: "")
    real = compare_command._analyses
    monkeypatch.setattr(compare_command, "_analyses", lambda *args: seen.append(real(*args)) or seen[-1])
    a, b, page = saved(tmp_path / "a.onnx"), saved(tmp_path / "b.onnx", batch="N"), tmp_path / "p.html"

    def macs() -> list[int | None]:
        return [one.totals.macs for one in seen[-1]]

    assert compare(a, b, "--beside", page, "--bind", "batch=3", "--bind", "N=5")[0] == 0
    assert macs() == [3 * 4 * 512, 5 * 4 * 512]
    assert compare(a, b, "--beside", page, "--batch-size", "7")[0] == 0
    assert macs() == [7 * 4 * 512, 7 * 4 * 512]
    assert compare(a, b, "--beside", page, "--input-shape", "x=2x4")[0] == 0
    assert macs() == [2 * 4 * 512, 2 * 4 * 512]
    code, _, err = compare(a, b, "--beside", page, "--bind", "nobody=3")
    assert code == 2
    assert "nobody" in err
