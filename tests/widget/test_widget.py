"""The notebook widget: its traits, what Python reads and does. The viewer itself is not needed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import onnx
import pytest

from py_autodoc.errors import InputError, OptionError, OutputError
from py_autodoc.render import html
from py_autodoc.widget import autodoc
from py_autodoc.widget.autodoc import OVERLAYS, Autodoc

DATA = Path(__file__).parents[1] / "data"
RESNET = DATA / "models" / "resnet_tiny.onnx"
DYNAMIC = DATA / "stripped" / "bert_base_dyn.stripped.onnx"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    fake = {"widget.js": "export default {}", "viewer.css": "", "page.css": "", "page.js": ""}
    monkeypatch.setattr(autodoc, "static", fake.__getitem__)
    monkeypatch.setattr(html, "static", fake.__getitem__)


@pytest.fixture
def resnet(built):
    return Autodoc(RESNET)


def bundle_of(widget):
    return json.loads(gzip.decompress(widget._bundle))


@pytest.mark.parametrize(
    "source",
    [RESNET, str(RESNET), RESNET.read_bytes(), onnx.load(RESNET)],
    ids=["path", "text", "bytes", "proto"],
)
def test_takes_a_model_in_any_form(source):
    widget = Autodoc(source)
    assert widget.report.metrics.total_macs == 3_729_664
    assert bundle_of(widget)["payload"]["metrics"]["total_macs"] == 3_729_664


def test_what_is_no_model_is_told():
    with pytest.raises(InputError):
        Autodoc(Path(__file__))


def test_selection_by_id_name_and_tag():
    widget = Autodoc(DATA / "stripped" / "bert_base.stripped.onnx")
    tagged = next(layer for layer in widget.report.layers if layer.tag.count("/") > 3)
    widget.selection = [tagged.id]
    assert widget.selected_layers == [tagged]
    widget.selection = tagged.name
    assert widget.selection == [tagged.id]
    above = tagged.tag.rpartition("/")[0]
    widget.show(above)
    under = [
        layer for layer in widget.report.layers if layer.tag.startswith(above + "/") or layer.tag == above
    ]
    assert widget.selected_layers == under
    assert len(under) > 1


def test_an_unknown_name_is_told_with_its_neighbours(resnet):
    with pytest.raises(OptionError) as caught:
        resnet.show("node_relux")
    assert "node_relu" in caught.value.hint
    assert resnet.selection == []


@pytest.mark.parametrize("bad", [[True], [3.5], [10**6], [None]])
def test_what_is_no_node_is_told(resnet, bad):
    with pytest.raises(OptionError):
        resnet.selection = bad


def test_find(resnet):
    layers = resnet.report.layers
    text = [f"{a.name} {a.type} {a.domain} {a.group} {a.tag}".lower() for a in layers]
    assert resnet.find("conv") == [a for a, words in zip(layers, text, strict=True) if "conv" in words]
    assert 0 < len(resnet.find("relu")) < len(layers)
    heavy = resnet.find("type-that-is-not-there")
    assert heavy == []
    assert resnet.find("macs>100k") == [layer for layer in layers if (layer.macs or 0) > 100_000]
    assert resnet.find("relu macs>=1e5 params<10k") == [
        layer for layer in resnet.find("relu") if layer.macs >= 1e5 and layer.params < 10_000
    ]


@pytest.mark.parametrize("name", [*OVERLAYS, None])
def test_overlays_by_name(resnet, name):
    resnet.overlay = name
    assert resnet.overlay == name


def test_overlay_of_own_numbers(resnet):
    first = resnet.report.layers[0]
    resnet.overlay = {first.name: 2.5, 1: 3}
    assert resnet.overlay["values"] == {str(first.id): 2.5, "1": 3.0}


def test_an_unknown_overlay_is_told(resnet):
    with pytest.raises(OptionError, match="no overlay 'heat'"):
        resnet.overlay = "heat"


def test_dims_analyse_again():
    widget = Autodoc(DYNAMIC, dims={"batch": 1, "seq": 128})
    before, macs = widget._bundle, widget.report.metrics.total_macs
    names = [dim.name for dim in widget.report.dims]
    widget.dims = dict.fromkeys(names, 2)
    assert widget._bundle != before
    assert widget.report.metrics.total_macs < macs
    assert bundle_of(widget)["payload"]["metrics"]["total_macs"] == widget.report.metrics.total_macs


def test_linked_to_another_widget():
    ipywidgets = pytest.importorskip("ipywidgets")
    widget, slider = Autodoc(RESNET), ipywidgets.IntSlider(min=200, max=900)
    ipywidgets.link((slider, "value"), (widget, "height"))
    slider.value = 480
    assert widget.height == 480


def test_readers_without_widgets_get_a_summary(resnet):
    bundle = resnet._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "3.73 M" in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_to_html(resnet, tmp_path):
    path = resnet.to_html(tmp_path / "model.html")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(OutputError):
        resnet.to_html(tmp_path / "none" / "model.html")


def test_to_svg_draws_what_is_shown(resnet, tmp_path, monkeypatch):
    asked = {}

    def drawn(analysis, **options):
        asked.update(options, name=analysis.model.file.name)
        return "<svg/>"

    monkeypatch.setattr("py_autodoc.render.svg.svg_picture", drawn)
    resnet.overlay, resnet.theme = "params", "dark"
    assert resnet.to_svg(tmp_path / "m.svg", depth=2).read_text() == "<svg/>"
    assert asked == {"name": "resnet_tiny.onnx", "theme": "dark", "overlay": "params", "depth": 2}
    resnet.overlay = {"node_relu": 1.0}
    resnet.to_svg(tmp_path / "m.svg")
    assert asked["overlay"] == "none"


def test_the_model_itself_is_never_overwritten(tmp_path):
    copy = tmp_path / "m.onnx"
    copy.write_bytes(RESNET.read_bytes())
    with pytest.raises(OutputError):
        Autodoc(copy).to_html(copy)
