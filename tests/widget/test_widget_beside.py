"""Two widgets side by side: what the page needs to link them, and what readers without widgets see."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import msgspec
import pytest
from traitlets import TraitError

import py_autodoc
from py_autodoc.errors import InputError, OptionError
from py_autodoc.render import html
from py_autodoc.report.schema import ComparisonColumns
from py_autodoc.widget import Autodoc, autodoc, dim, shared_code, side_by_side_views
from py_autodoc.widget import compare as widget_compare

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
TINY = DATA / "models" / "resnet_tiny.onnx"
FIXED = DATA / "stripped" / "bert_base.stripped.onnx"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    for module in (autodoc, dim, html, shared_code):
        monkeypatch.setattr(module, "static", lambda name: f"/* {name} */")
    monkeypatch.setattr(shared_code, "_shared", [])


def test_both_carry_the_pair_and_their_side():
    pair = py_autodoc.side_by_side(TINY, FIXED, height=450)
    assert list(pair.children) == [pair.left, pair.right]
    names = [widget.get_state()["_pair"] for widget in pair.children]
    assert [name[-2:] for name in names] == [":0", ":1"]
    assert names[0][:-2] == names[1][:-2]
    # What the page accepts as a name.
    assert all(re.fullmatch(r"[\w-]{1,64}:[01]", name) for name in names)
    assert [widget.height for widget in pair.children] == [450, 450]
    assert pair.right.report.metrics.total_macs > pair.left.report.metrics.total_macs


def test_the_first_carries_how_the_two_correspond():
    pair = widget_compare(TINY, DATA / "models" / "resnet_tiny_qdq_int8.onnx")
    packed = pair.left.get_state()["_comparison"]
    columns = msgspec.json.decode(gzip.decompress(packed), type=ComparisonColumns)
    assert (columns.verdict, columns.core_matched) == ("same architecture", 24)
    assert len(columns.left) == len(pair.left.report.layers)
    assert len(columns.right) == len(pair.right.report.layers)
    assert pair.right._comparison == b""


def test_the_report_of_a_widget_is_matched_as_its_model():
    report = Autodoc(TINY).report
    found = py_autodoc.side_by_side(report, TINY).left._comparison
    assert found == py_autodoc.side_by_side(TINY, TINY).left._comparison != b""


def test_two_pairs_are_two_pairs():
    first, second = (py_autodoc.side_by_side(TINY, TINY) for _ in range(2))
    assert first.left._pair[:-2] != second.left._pair[:-2]


def test_widgets_that_are_there_stay_what_they_are():
    left = Autodoc(TINY, overlay="params")
    pair = py_autodoc.side_by_side(left, TINY, overlay="flops")
    assert pair.left is left
    assert (left.overlay, pair.right.overlay) == ("params", "flops")
    with pytest.raises(OptionError, match="compared with itself"):
        py_autodoc.side_by_side(left, left)


def test_what_is_wrong_is_told_as_a_single_widget_tells_it(tmp_path):
    with pytest.raises(InputError):
        py_autodoc.side_by_side(TINY, tmp_path / "missing.onnx")
    with pytest.raises(TraitError):
        py_autodoc.side_by_side(TINY, TINY, height=3)


def test_readers_without_widgets_see_both_pictures(monkeypatch):
    drawn = iter(['<?xml version="1.0"?><svg id="a"/>', '<svg id="b"/>'])
    monkeypatch.setattr(Autodoc, "_image_svg", lambda self: next(drawn))
    found = py_autodoc.side_by_side(TINY, FIXED)._repr_mimebundle_()
    data = found[0] if isinstance(found, tuple) else found
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "resnet_tiny.onnx" in data["text/plain"]
    assert " beside " in data["text/plain"]
    models = data["application/vnd.onnx-autodoc.v1+json"]["models"]
    assert len(models) == 2
    assert models[0]["bundle"] != models[1]["bundle"]
    pictures = re.findall(r"base64,([\w+/=]+)", data["text/html"])
    assert [b"id=" in base64.b64decode(picture) for picture in pictures] == [True, True]


def test_without_a_picture_the_summaries_stand_there(monkeypatch):
    monkeypatch.setattr(Autodoc, "_image_svg", lambda self: None)
    shown = side_by_side_views.side_by_side(TINY, TINY)._repr_mimebundle_()
    data = shown[0] if isinstance(shown, tuple) else shown
    assert data["text/html"].count("<figure>") == 2
    assert "resnet_tiny" in data["text/html"]
