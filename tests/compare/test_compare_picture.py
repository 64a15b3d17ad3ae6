"""Two models as one picture: what was removed, added and changed is in it, by sign as well as by colour."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import onnx
import pytest
from click.testing import CliRunner
from onnx import helper

from py_autodoc.cli.app import app
from py_autodoc.compare.align import align
from py_autodoc.compare.pdf import pdf
from py_autodoc.compare.picture import picture
from py_autodoc.report.pipeline.analysis import Options, run_analysis

pytestmark = pytest.mark.slow

MODELS = Path(__file__).resolve().parents[1] / "data" / "models"
FLOAT, INT8 = MODELS / "resnet_tiny.onnx", MODELS / "resnet_tiny_qdq_int8.onnx"
HOSTILE = "</text><script>alert(1)</script>"


def saved(path, ops, prefix="n"):
    info = helper.make_tensor_value_info
    names = ["x", *(f"{prefix}{at}" for at in range(len(ops) - 1)), "y"]
    nodes = [
        helper.make_node(op, [names[at]], [names[at + 1]], f"{prefix}{op}{at}") for at, op in enumerate(ops)
    ]
    graph = helper.make_graph(nodes, HOSTILE, [info("x", 1, [2, 3])], [info("y", 1, [2, 3])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def texts(svg):
    return [one.text or "" for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")]


def drawn(left, right):
    analyses = [run_analysis(str(path), Options(assume=True)) for path in (left, right)]
    return picture(align(*analyses))


def boxes(svg, sign):
    """How many cards have this sign; one more is in the legend."""
    return texts(svg).count(sign) - 1


REMOVED, ADDED = 'stroke-dasharray="5 4"', 'stroke-dasharray="9 3 1.5 3"'
CHAIN = ["Relu", "Sigmoid", "Tanh", "Exp", "Softmax", "Abs", "Neg"]


def test_what_was_removed_and_added_is_in_one_graph(tmp_path):
    a = saved(tmp_path / "a.onnx", CHAIN)
    b = saved(tmp_path / "b.onnx", [*CHAIN[:3], "Sin", *CHAIN[3:]], "other")
    more, less = drawn(a, b), drawn(b, a)
    for svg in (more, less):
        for op in (*CHAIN, "Sin"):
            assert texts(svg).count(op) == 1, op
    assert (boxes(more, "+"), boxes(more, "−")) == (1, 0)
    assert (boxes(less, "+"), boxes(less, "−")) == (0, 1)
    # A ghost is an outline of dashes, and wires of one model alone have dashes of their own.
    assert (less.count('"4 3"'), more.count('"4 3"')) == (1, 0)
    for svg, one, two in ((more, REMOVED, ADDED), (less, ADDED, REMOVED)):
        # The two wires of the operator, and the one past it; the legend has one of each.
        assert (svg.count(one) - 1, svg.count(two) - 1) == (1, 2)


def test_a_twin_has_nothing_removed():
    svg = drawn(FLOAT, INT8)
    assert boxes(svg, "⊕") > 0
    assert boxes(svg, "+") == boxes(svg, "−") == 0
    assert svg.count(REMOVED) == svg.count(ADDED) == 1  # of the legend
    assert "resnet_tiny.onnx → resnet_tiny_qdq_int8.onnx" in texts(svg)


def test_it_has_no_totals():
    assert not any(re.search("MACs|Parameters", one) for one in texts(drawn(FLOAT, INT8)))


def test_names_are_text(tmp_path):
    a = saved(tmp_path / "a.onnx", CHAIN, HOSTILE)
    svg = drawn(a, saved(tmp_path / "b.onnx", CHAIN[1:], HOSTILE))
    assert "<script" not in svg


def test_the_command_writes_pictures_again(tmp_path):
    outs = [tmp_path / "c.svg", tmp_path / "c.png"]
    command = ["compare", str(FLOAT), str(INT8), "--out-svg", str(outs[0]), "--out-png", str(outs[1])]
    for _ in range(2):
        done = CliRunner().invoke(app, [*command, "--direction", "down"])
        assert done.exit_code == 1, done.output
    assert outs[1].read_bytes().startswith(b"\x89PNG")
    outs[0].write_text("mine")
    assert CliRunner().invoke(app, command).exit_code == 3
    assert outs[0].read_text() == "mine"
    three = CliRunner().invoke(app, [*command[:3], str(FLOAT), "--out-svg", str(tmp_path / "d.svg")])
    assert three.exit_code == 2
    assert "two models" in three.stderr


def test_the_pdf_has_it_on_a_page_of_its_own(tmp_path):
    pypdfium2 = pytest.importorskip("pypdfium2")
    pytest.importorskip("typst")
    a = saved(tmp_path / "a.onnx", CHAIN)
    analyses = [run_analysis(str(path)) for path in (a, saved(tmp_path / "b.onnx", CHAIN[:-1]))]
    found = [align(*analyses)]
    with_it, without = (pypdfium2.PdfDocument(pdf(analyses, found, draw_graph=one)) for one in (True, False))
    assert len(with_it) == len(without) + 1
    text = with_it[len(with_it) - 1].get_textpage().get_text_range()
    assert "Both models as one graph" in text
    assert "Neg" in text
    with_it.close()
    without.close()
