"""Widgets in boxes: what a notebook keeps of them for readers that cannot show the box itself."""

from __future__ import annotations

import re
from pathlib import Path

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell

import py_autodoc
from py_autodoc.render import html
from py_autodoc.widget import Autodoc, autodoc, container_outputs, dim, shared_code

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
TINY = DATA / "models" / "resnet_tiny.onnx"
FIXED = DATA / "stripped" / "bert_base.stripped.onnx"
MIME = "application/vnd.onnx-autodoc.v1+json"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    for module in (autodoc, dim, html, shared_code):
        monkeypatch.setattr(module, "static", lambda name: f"/* {name} */")
    monkeypatch.setattr(shared_code, "_shared", [])
    monkeypatch.setattr(Autodoc, "_image_svg", lambda self: f'<svg id="{self._sent.name}"/>')


@pytest.fixture
def shown(monkeypatch):
    """The kinds of an output as the shell of a notebook writes them."""
    shell = InteractiveShell()
    monkeypatch.setattr(container_outputs, "get_ipython", lambda: shell)
    return lambda value: shell.display_formatter.format(value)[0]


def test_a_box_keeps_the_models_and_pictures_of_its_widgets(shown):
    first, second = Autodoc(TINY, height=300), Autodoc(FIXED, overlay="params")
    inner = ipywidgets.HBox([second, ipywidgets.Label("words"), first])
    data = shown(ipywidgets.VBox([ipywidgets.IntSlider(), first, inner]))
    assert container_outputs.VIEW_MIME in data
    assert data[MIME]["apart"] is True
    assert [model["overlay"] for model in data[MIME]["models"]] == ["macs", "params"]
    assert data[MIME]["models"][0] == first._repr_mimebundle_()[0][MIME]["models"][0]
    assert len(re.findall(r"<img [^>]*src=\"data:image/svg\+xml;base64,", data["text/html"])) == 2
    assert "resnet_tiny.onnx" in data["text/html"]
    # ipywidgets' own line stays.
    assert data["text/plain"].startswith("VBox(")


@pytest.mark.parametrize("kind", [ipywidgets.Tab, ipywidgets.Accordion, ipywidgets.GridBox])
def test_all_kinds_of_boxes(shown, kind):
    assert len(shown(kind([Autodoc(TINY)]))[MIME]["models"]) == 1


def test_a_pair_stays_a_pair(shown):
    data = shown(py_autodoc.side_by_side(TINY, FIXED))
    assert "apart" not in data[MIME]
    assert " beside " in data["text/plain"]
    boxed = shown(ipywidgets.VBox([py_autodoc.side_by_side(TINY, FIXED)]))
    assert (boxed[MIME]["apart"], len(boxed[MIME]["models"])) == (True, 2)


def test_other_boxes_are_left_alone(shown):
    Autodoc(TINY)
    box = ipywidgets.VBox([ipywidgets.IntSlider()])
    assert set(shown(box)) == {"text/plain", container_outputs.VIEW_MIME}
    box = ipywidgets.VBox([Autodoc(TINY)])
    box.children[0].close()
    assert MIME not in shown(box)


def test_somebody_elses_output_of_boxes_stays(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(container_outputs, "get_ipython", lambda: shell)
    shell.display_formatter.mimebundle_formatter.for_type(
        ipywidgets.Box, lambda box: {"text/plain": "theirs"}
    )
    box = ipywidgets.VBox([Autodoc(TINY)])
    assert shell.display_formatter.format(box)[0] == {"text/plain": "theirs"}


def test_many_pictures_end_somewhere(shown, monkeypatch):
    monkeypatch.setattr(container_outputs, "MAX_CHARACTERS", 150)
    data = shown(ipywidgets.VBox([Autodoc(TINY), Autodoc(TINY)]))
    assert data["text/html"].count("<img") == 1
    assert data["text/html"].count("<figcaption>") == 2


def test_a_closed_box_is_a_line_of_text(shown):
    box = ipywidgets.VBox([Autodoc(TINY)])
    box.close()
    assert set(shown(box)) == {"text/plain"}
