"""Plots: numbers, bytes, names that are no formulas, what is missing."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from functools import cache
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from document_cases import DATA, MODELS, analysed, hostile

from py_autodoc.cli.app import app
from py_autodoc.errors import RequirementError
from py_autodoc.render.document import context
from py_autodoc.render.plots import FILES, NAMES, plots, series
from py_autodoc.report.builders.node_numbers import layer_in_inference
from py_autodoc.report.builders.roofline import roofline
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_model import Figure

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.slow
RESNET = DATA / "stripped/resnet50.stripped.onnx"


def command(*args):
    """(exit code, stdout, stderr) of the command in this process."""
    done = CliRunner().invoke(app, ["analyze", *map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@cache
def files_of(name):
    analysis, made = analysed(name)
    return plots(made.report, analysis)


@pytest.mark.parametrize("name", ["resnet50-l4", "loop"])
def test_files(name):
    files = files_of(name)
    named = [file for file, _ in files.values()]
    assert set(named) <= set(FILES)
    assert len(set(named)) == len(named) == 4 * len({figure.split("-")[0].split(".")[0] for figure in files})
    for file, data in files.values():
        if file.endswith(".svg"):
            root = ElementTree.fromstring(data)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert data.startswith(b"\x89PNG\r\n\x1a\n")
            width, _ = struct.unpack(">II", data[16:24])
            assert width == 880


def test_every_plot_has_a_place_in_the_sections_and_the_other_way_round():
    _, made = analysed("resnet50-l4")
    figures = [block.name for one in sections(made) for block in one.blocks if isinstance(block, Figure)]
    assert sorted(figures) == sorted([*NAMES, "graph"])


def test_all_six_with_a_device_and_five_without():
    assert {name for name in files_of("resnet50-l4") if name.isalpha()} == set(NAMES)
    assert {name for name in plots_of("resnet50") if "-" not in name} == set(NAMES) - {"roofline"}


@cache
def plots_of(name):
    analysis, made = analysed(name)
    return plots(made.report, analysis, png=False)


def test_the_same_bytes_again():
    assert files_of("loop") == files_of.__wrapped__("loop")


def test_light_and_dark_differ_in_their_ground():
    files = plots_of("resnet50")
    assert b"fill: #ffffff" in files["depth"][1]
    assert b"fill: #151a21" in files["depth-dark"][1]


@pytest.mark.parametrize("name", MODELS)
def test_series_are_the_numbers_of_the_report(name):
    _, made = analysed(name)
    report = made.report
    bars = series.operators(report)
    assert sum(bars.values) + bars.omitted_sum == report.graph.num_nodes
    weights = series.parameters(report)
    if weights is not None and report.metrics.total_params is not None:
        assert sum(weights.values) + weights.omitted_sum == report.metrics.total_params
    depth = series.depth(report)
    if depth is not None:
        for values in depth.lines.values():
            assert values[-1] == 1
            assert list(values) == sorted(values)
    memory = series.memory(report)
    if memory is not None:
        assert max(memory.lines["with reuse"]) == report.metrics.peak_activation_bytes
        assert max(memory.lines["without reuse"]) == report.metrics.peak_activation_bytes_simple


def test_the_depth_of_macs_is_that_of_the_layers():
    report = analysed("resnet50")[1].report
    half = len(report.layers) // 2
    expected = sum(layer_in_inference(layer, "macs") or 0 for layer in report.layers[:half])
    assert series.depth(report).lines["MACs"][half - 1] == expected / report.metrics.total_macs


def test_shapes_of_a_convolutional_network_fall_and_rise():
    lines = series.shapes(analysed("resnet50")[1].report).lines
    assert (lines["axis 2 (height)"][0], lines["axis 2 (height)"][-1]) == (112, 1)
    assert max(lines["axis 1 (channels)"]) == 2048


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("llama", ["axis 1", "axis 2", "axis 3"]),
        ("gpt2", ["axis 1 (positions)", "axis 2 (features)"]),
        ("mamba", ["axis 1 (positions)", "axis 2 (features)"]),
        ("qdq", ["axis 1 (channels)", "axis 2 (height)", "axis 3 (width)"]),
    ],
)
def test_axes_have_names_where_these_are_known(name, axes):
    """Four axes of attention are no image."""
    lines = series.shapes(analysed(name)[1].report)
    assert list(lines.lines) == axes


def test_the_roof():
    analysis, made = analysed("resnet50-l4")
    roof = roofline(analysis)
    assert (roof.peak, roof.bandwidth) == (30_300_000_000_000, 300_000_000_000)
    times = {layer.name: layer.latency_ms for layer in made.report.hardware_estimates.layers}
    for point in roof.points:
        assert point.seconds * 1e3 == pytest.approx(times[point.name])
    # A convolution reads its input and its weights and writes its output, four bytes each.
    first = next(point for point in roof.points if point.name == "node_Conv_753")
    assert first.bytes == 4 * (3 * 224 * 224 + 64 * 3 * 49 + 64 + 64 * 112 * 112)
    assert first.flops == 2 * 64 * 112 * 112 * 3 * 49
    assert roofline(analysed("resnet50")[0]) is None


def test_names_are_no_formulas_and_no_markup(tmp_path):
    analysis = run_analysis(str(hostile(tmp_path / "a.onnx")))
    for file, data in plots(context(analysis).report, analysis, png=False).values():
        root = ElementTree.fromstring(data)
        assert not [one for one in root.iter() if one.tag.endswith("script")], file
        assert not re.search(rb'href="(?!#|data:image/png)', data), file


def test_no_pyplot():
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "from document_cases import analysed\n"
        "from py_autodoc.render.plots import plots\n"
        "analysis, made = analysed('loop')\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plots(made.report, analysis)\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(DATA.parent / "render")], check=True, timeout=120)


def test_without_matplotlib_all_else_is_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    analysis, made = analysed("resnet50")
    with pytest.raises(RequirementError):
        plots(made.report, analysis)
    args = ("--with-plots", "--assets-dir", tmp_path / "a", "--out-md", tmp_path / "card.md")
    code, _, err = command(RESNET, *args)
    assert code == 0
    assert "warning: No plots" in err
    assert "pip install 'onnx-autodoc[plots]'" in err
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["graph-dark.svg", "graph.svg"]
    assert "graph.svg" in (tmp_path / "card.md").read_text("utf-8")


def test_command(tmp_path):
    args = (
        "--with-plots",
        "--assets-dir",
        tmp_path / "a",
        "--out-md",
        tmp_path / "card.md",
        "--hardware",
        "l4",
    )
    (tmp_path / "a").mkdir()
    earlier = dict(files_of("resnet50-l4").values())
    for name, data in earlier.items():  # they are replaced
        (tmp_path / "a" / name).write_bytes(data)
    assert command(DATA / "models/resnet_tiny.onnx", *args)[0] == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert written.keys() == {*FILES, "graph.svg", "graph-dark.svg"}
    assert earlier.keys() == set(FILES)
    assert not written.items() & earlier.items()
    text = (tmp_path / "card.md").read_text("utf-8")
    for name in NAMES:
        assert f'src="a/{name}.svg"' in text
        assert f'srcset="a/{name}-dark.svg"' in text


def test_a_place_is_needed(tmp_path):
    code, _, err = command(RESNET, "--with-plots", "--out-md", tmp_path / "card.md")
    assert code == 1
    assert "--assets-dir" in err
    assert list(tmp_path.iterdir()) == []
