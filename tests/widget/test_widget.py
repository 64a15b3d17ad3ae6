"""The notebook widget: its traits, what Python reads and does. The viewer itself is not needed."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import ipywidgets
import numpy as np
import onnx
import onnx_ir
import pytest
from traitlets import TraitError

import py_autodoc
from py_autodoc.errors import AutodocError, InputError, OptionError, OutputError
from py_autodoc.render import html
from py_autodoc.report.document.report import Report
from py_autodoc.report.node_query.query_parser import QueryError
from py_autodoc.widget import autodoc, dim, picture, saved_output, shared_code
from py_autodoc.widget.autodoc import OVERLAYS, Autodoc

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
RESNET = DATA / "models" / "resnet_tiny.onnx"
DYNAMIC = DATA / "stripped" / "bert_base_dyn.stripped.onnx"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    names = ("widget.js", "loader.js", "dim.js", "viewer.css", "page.css", "page.js")
    fake = {name: f"/* {name} */" for name in names}
    for module in (autodoc, dim, html, shared_code):
        monkeypatch.setattr(module, "static", fake.__getitem__)
    monkeypatch.setattr(shared_code, "_shared", [])


@pytest.fixture
def resnet(built):
    return Autodoc(RESNET)


@pytest.fixture
def dynamic(built):
    return Autodoc(DYNAMIC)


def bundle_of(widget):
    return json.loads(gzip.decompress(widget._bundle))


@pytest.mark.parametrize(
    "source",
    [
        lambda: RESNET,
        lambda: str(RESNET),
        RESNET.read_bytes,
        lambda: onnx.load(RESNET),
        lambda: onnx_ir.load(RESNET),
        lambda: py_autodoc.analyze(RESNET),
        lambda: Report.from_json(py_autodoc.analyze(RESNET).to_json(), model=RESNET),
        lambda: Autodoc(RESNET).report,
    ],
    ids=["path", "text", "bytes", "proto", "ir", "report", "report from JSON", "report of a widget"],
)
def test_takes_a_model_in_any_form(source):
    widget = Autodoc(source())
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


def test_tensors_that_the_page_selected(resnet):
    assert resnet.selected_tensors == []
    names = ["past.0.key", "past.1.key", "past.2.key"]
    resnet.set_state({"selection": [], "_tensors": names})
    assert resnet.selected_tensors == names
    resnet.selection = [resnet.report.layers[0].id]
    assert resnet.selected_tensors == []


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
    assert resnet.find("op=Conv") == [layer for layer in layers if layer.type == "Conv"]
    assert resnet.find("macs>100k") == [layer for layer in layers if (layer.macs or 0) > 100_000]
    assert resnet.find("op=Relu | op=Add & macs=0") == [x for x in layers if x.type in ("Relu", "Add")]
    assert resnet.find("type-that-is-not-there") == resnet.find("") == []
    with pytest.raises(QueryError, match="at character 11"):
        resnet.find("op=Conv & colour>3")


@pytest.mark.parametrize("name", [*OVERLAYS, None])
def test_overlays_by_name(resnet, name):
    resnet.overlay = name
    assert resnet.overlay == name


def test_overlay_of_own_numbers(resnet):
    first = resnet.report.layers[0]
    resnet.overlay = {first.name: 2.5, 1: 3}
    assert resnet.overlay["values"] == {str(first.id): 2.5, "1": 3.0}


def test_an_unknown_overlay_is_told(resnet):
    with pytest.raises(OptionError, match="Unknown overlay 'heat'"):
        resnet.overlay = "heat"


def test_what_an_overlay_does_not_take_is_told(resnet):
    for bad in ({"node_relu": "much"}, {"node_relu": float("nan")}, {"node_relu": None}):
        with pytest.raises(TraitError, match="node_relu"):
            resnet.overlay = bad
    with pytest.raises(TraitError, match="node_relux"):
        resnet.overlay = {"node_relux": 1}
    assert resnet.overlay == "macs"


def test_faults_of_traits_are_trait_errors_that_can_be_read(resnet):
    faults = {
        "selection": ["node_relux", "node_relu"],
        "overlay": ["heat", "macs"],
        "dims": [{"batch": 3}, "no symbolic dimension 'batch'"],
        "theme": ["blue", "light"],
        "height": [1, "120"],
    }
    for trait, (value, word) in faults.items():
        before = getattr(resnet, trait)
        with pytest.raises(TraitError, match=word):
            setattr(resnet, trait, value)
        assert getattr(resnet, trait) == before
    with pytest.raises(TraitError, match="Pass a list"):
        resnet.selection = {"a": 1}


def test_dims_analyse_again():
    widget = Autodoc(DYNAMIC, dims={"batch": 1, "seq": 128})
    macs = widget.report.metrics.total_macs
    widget.dims = {"batch": 2, "seq": 128}
    assert widget.report.metrics.total_macs == 2 * macs
    assert widget.dims == {"batch": 2, "seq": 128}


@pytest.mark.parametrize(
    ("dims", "word"),
    [
        ({"batch": 0}, "1 or more"),
        ({"batch": "a"}, "'a'"),
        ({"batch": True}, "True"),
        ({"x": 1}, "batch, seq"),
    ],
)
def test_bad_sizes_are_told(dims, word):
    widget = Autodoc(DYNAMIC)
    with pytest.raises(TraitError, match=word):
        widget.dims = dims
    assert widget.dims == {}


def test_the_page_gets_what_it_cannot_work_out_itself():
    widget = Autodoc(DYNAMIC)
    before = widget._bundle
    widget.dims = {"batch": 2, "seq": 128}
    assert widget._bundle == before  # it has the expressions
    widget.dims = {}
    assert widget._bundle == before
    widget.dims = {"seq": 9}
    assert widget._bundle != before  # whether 128 was assumed it cannot know
    assert bundle_of(widget)["payload"]["metrics"]["total_macs"] == widget.report.metrics.total_macs
    widget.dims = {"batch": 2, "seq": 128}
    widget._repr_mimebundle_()
    assert bundle_of(widget)["payload"]["metrics"]["total_macs"] == widget.report.metrics.total_macs


def answers(widget, message):
    """What the kernel answers a message of the page."""
    sent = []
    widget.send = lambda content, buffers=None: sent.append(content)
    widget._handle_custom_msg(message, [])
    return sent


def test_messages_of_the_page():
    widget = Autodoc(DYNAMIC)
    assert answers(widget, {"type": "autodoc:hello"}) == [{"type": "autodoc:hello"}]
    (code,) = answers(widget, {"type": "autodoc:code"})
    assert code["code"] == "/* widget.js */"
    assert code["version"] == widget._code.version
    dims = {"batch": 3, "seq": 16}
    (done,) = answers(widget, {"type": "autodoc:analyse", "id": "7", "dims": dims})
    assert done == {"type": "autodoc:analyse", "id": "7"}
    assert widget.dims == dims
    assert [d["value"] for d in bundle_of(widget)["payload"]["dims"]] == [3, 16]
    (refused,) = answers(widget, {"type": "autodoc:analyse", "id": "8", "dims": {"batch": 0}})
    assert "1 or more" in refused["problem"]["hint"]
    assert answers(widget, "nonsense") == answers(widget, {"type": "other"}) == []


def test_a_dimension_as_a_widget():
    widget = Autodoc(DYNAMIC)
    batch = widget.dim("batch")
    assert (batch.value, widget.dim("batch") is batch) == (1, True)
    batch.value = 4
    assert widget.dims == {"batch": 4, "seq": 128} or widget.dims == {"batch": 4}
    assert widget.report.dims[0].value == 4
    widget.dims = {"batch": 6, "seq": 128}
    assert batch.value == 6
    widget.dims = {}
    assert batch.value == 1
    with pytest.raises(TraitError, match="batch, seq"):
        widget.dim("height")
    with pytest.raises(TraitError):
        batch.value = 0


def test_what_the_page_tells_twice_is_not_told_back():
    """The page sets the dimension and the sizes itself; an echo would pull a moving slider back."""
    widget = Autodoc(DYNAMIC)
    batch = widget.dim("batch")
    batch.set_state({"value": 5})
    assert widget.dims == {}
    widget.set_state({"dims": {"batch": 5}})
    assert (batch.value, widget.dims) == (5, {"batch": 5})
    widget.set_state({"dims": {"batch": 8}})
    assert batch.value == 5
    assert widget.report.dims[0].value == 8


def test_jslink_takes_a_dimension():
    ipywidgets = pytest.importorskip("ipywidgets")
    slider, batch = ipywidgets.IntSlider(), Autodoc(DYNAMIC).dim("batch")
    link = ipywidgets.jslink((slider, "value"), (batch, "value"))
    assert link.get_state()["target"][0] == f"IPY_MODEL_{batch.model_id}"


def test_a_report_without_its_model():
    report = Report.from_json(py_autodoc.analyze(DYNAMIC, assume=True).to_json())
    with pytest.raises(InputError, match="without its model") as caught:
        Autodoc(report)
    assert "from_json(text, model=" in caught.value.hint


def test_a_report_from_json_with_its_model():
    text = py_autodoc.analyze(DYNAMIC, assume=True).to_json()
    widget = Autodoc(Report.from_json(text, model=DYNAMIC))
    assert widget.report.to_json() == text
    assert bundle_of(widget) == bundle_of(Autodoc(py_autodoc.analyze(DYNAMIC, assume=True)))
    widget.dims = {"batch": 2}
    assert [d.value for d in widget.report.dims] == [2, 128]


def test_a_report_of_a_model_in_memory_has_its_sizes():
    widget = Autodoc(py_autodoc.analyze(DYNAMIC.read_bytes(), assume=True))
    with pytest.raises(TraitError, match="batch=1, seq=128"):
        widget.dims = {"batch": 2}
    with pytest.raises(TraitError, match="fixed"):
        widget.dim("batch")


def test_a_report_with_its_model(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(DYNAMIC.read_bytes())
    report = py_autodoc.analyze(path, bindings={"batch": 1, "seq": 16})
    widget = Autodoc(report)
    assert widget.report is report
    widget.dims = {"batch": 2}
    assert [d.value for d in widget.report.dims] == [2, 16]
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        Autodoc(report)


@pytest.mark.parametrize("model", [None, 3, [RESNET]])
def test_what_cannot_be_a_model_is_told(model):
    with pytest.raises(InputError):
        Autodoc(model)


def test_inputs_belong_to_modules():
    with pytest.raises(OptionError, match="belong to a module"):
        Autodoc(RESNET, (1,))


def test_many_widgets_carry_the_viewer_once(resnet):
    other = Autodoc(RESNET)
    assert other._code is resnet._code
    own = {name: value for name, value in other.get_state().items() if name != "_bundle"}
    assert len(json.dumps(own, default=str)) < 4000
    resnet._code.close()
    assert Autodoc(RESNET)._code is not resnet._code


def test_linked_to_another_widget():
    ipywidgets = pytest.importorskip("ipywidgets")
    widget, slider = Autodoc(RESNET), ipywidgets.IntSlider(min=200, max=900)
    ipywidgets.link((slider, "value"), (widget, "height"))
    slider.value = 480
    assert widget.height == 480


def shown(widget):
    bundle = widget._repr_mimebundle_()
    return bundle[0] if isinstance(bundle, tuple) else bundle


def test_readers_without_widgets_get_a_picture(resnet, monkeypatch):
    asked = []

    def drawn(payload, **options):
        asked.append(options)
        return '<?xml version="1.0" encoding="UTF-8"?>\n<svg width="9"></svg>'

    monkeypatch.setattr(picture, "svg_picture", drawn)
    data = shown(resnet)
    assert data["image/svg+xml"] == '<svg style="max-width:100%;height:auto" width="9"></svg>'
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "3.73 M MACs" in data["text/plain"]
    assert "text/html" not in data
    shown(resnet)
    assert len(asked) == 1
    resnet.theme = "dark"
    shown(resnet)
    assert [options["theme"] for options in asked] == ["light", "dark"]


def test_an_output_keeps_what_is_chosen(resnet):
    resnet.overlay, resnet.height = "params", 444
    resnet.show(0, 2)
    kept = shown(resnet)[saved_output.MIME]
    assert kept["height"] == 444
    (model,) = kept["models"]
    assert base64.b64decode(model["bundle"]) == resnet._bundle
    assert (model["overlay"], model["selection"], model["view"]) == ("params", [0, 2], {})


def test_sizes_of_a_widget_go_before_the_batch_size_of_its_report():
    report = py_autodoc.analyze(DYNAMIC, batch_size=4, bindings={"seq": 16})
    widget = Autodoc(report, dims={"batch": 2, "seq": 16})
    assert widget.dims == {"batch": 2, "seq": 16}
    same = Autodoc(report, dims={"seq": 8})
    assert same._now.sizes == {"batch": 4, "seq": 8}


def test_two_sizes_of_one_dimension_are_refused():
    with pytest.raises(OptionError, match="'batch' is given two sizes: 1 and"):
        Autodoc(DYNAMIC, dims={"batch": 1, "seq": 16}, input_shapes={"xs_0": (2, 16)})


def test_an_output_keeps_the_model_under_the_present_sizes():
    widget = Autodoc(DYNAMIC, dims={"batch": 1, "seq": 16})
    before = shown(widget)[saved_output.MIME]["models"][0]["bundle"]
    widget.dims = {"batch": 3, "seq": 16}
    after = shown(widget)[saved_output.MIME]["models"][0]["bundle"]
    dims = [
        {
            dim["name"]: dim["value"]
            for dim in json.loads(gzip.decompress(base64.b64decode(one)))["payload"]["dims"]
        }
        for one in (before, after)
    ]
    assert dims == [{"batch": 1, "seq": 16}, {"batch": 3, "seq": 16}]


def test_a_large_model_is_left_out_of_the_output(resnet, monkeypatch):
    monkeypatch.setattr(saved_output, "MAX_CHARACTERS", 100)
    data = shown(resnet)
    assert data[saved_output.MIME]["models"] == []
    assert "image/svg+xml" in data or "text/html" in data


def test_a_picture_is_never_large(resnet, monkeypatch):
    def drawn(payload, budget, **options):
        return "<svg >" + "x" * (20_000 * budget) + "</svg>"

    monkeypatch.setattr(picture, "svg_picture", drawn)
    assert 100_000 < len(shown(resnet)["image/svg+xml"]) < 210_000


def test_without_an_engine_readers_get_a_summary(resnet, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("py_autodoc.render.nodejs.find_spec", lambda name: None)
    monkeypatch.setattr("py_autodoc.render.engine.quickjs", lambda: None)
    data = shown(resnet)
    assert "3.73 M" in data["text/html"]
    assert "image/svg+xml" not in data
    assert "application/vnd.jupyter.widget-view+json" in data


def test_to_html(resnet, tmp_path):
    path = resnet.to_html(tmp_path / "model.html")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(OutputError):
        resnet.to_html(tmp_path / "none" / "model.html")


def test_to_svg_draws_what_is_shown(resnet, tmp_path, monkeypatch):
    asked = {}

    def drawn(payload, **options):
        asked.update(options, name=payload.model.name)
        return "<svg/>"

    monkeypatch.setattr(picture, "svg_picture", drawn)
    resnet.overlay, resnet.theme = "params", "dark"
    assert resnet.to_svg(tmp_path / "m.svg", depth=2).read_text() == "<svg/>"
    wanted = {"name": "resnet_tiny.onnx", "theme": "dark", "overlay": "params", "depth": 2}
    assert asked == wanted | {"direction": "auto", "aspect": 1.6, "numbers": None, "device": None}
    resnet.overlay = {"node_relu": 1.0}
    resnet.to_svg(tmp_path / "other.svg")
    assert asked["overlay"] == "user"
    assert list(asked["numbers"]["values"].values()) == [1.0]


def test_the_model_itself_is_never_overwritten(tmp_path):
    copy = tmp_path / "m.onnx"
    copy.write_bytes(RESNET.read_bytes())
    with pytest.raises(OutputError):
        Autodoc(copy).to_html(copy)


def test_a_mistyped_option_is_told_with_the_right_one():
    for given, meant in (("heigth", "height"), ("input_shape", "input_shapes"), ("overlays", "overlay")):
        with pytest.raises(TraitError, match=f"no option '{given}'. Did you mean {meant}"):
            Autodoc(RESNET, **{given: None})
    with pytest.raises(TraitError, match="no option '_bundle'"):
        Autodoc(RESNET, _bundle=b"")


def test_in_a_box_it_is_told_by_the_name_of_its_model():
    box = ipywidgets.VBox([Autodoc(RESNET), ipywidgets.IntSlider()])
    assert repr(box).startswith(f"VBox(children=(Autodoc({RESNET.name}), IntSlider(")


def test_what_is_shown_again_is_brought_into_view_again(resnet, monkeypatch):
    w = resnet
    sent = []
    monkeypatch.setattr(w, "send", sent.append)
    w.show(3, 4)
    assert sent == []
    w.show(3, 4)
    assert (sent, w.selection) == ([{"type": "autodoc:show"}], [3, 4])


def test_a_selection_takes_what_numpy_and_find_give(resnet):
    resnet.selection = np.array([2, 1])
    assert (resnet.selection, type(resnet.selection[0])) == ([2, 1], int)
    resnet.selection = [np.int64(3)]
    assert resnet.selection == [3]
    found = resnet.find("op=Conv")
    resnet.selection = found
    assert resnet.selected_layers == found
    resnet.show(found[0])
    assert resnet.selection == [found[0].id]
    resnet.show(found)
    assert len(resnet.selection) == len(found)
    resnet.selection = None
    assert (resnet.selection, resnet.selected_layers) == ([], [])


@pytest.mark.parametrize("dims", [{"batch": 2**31}, {"batch": 10**30}, {"batch": "4"}, {"batch": 1.0}])
def test_sizes_that_are_none_change_nothing(dynamic, dims):
    with pytest.raises(TraitError, match="The size of 'batch' is"):
        dynamic.dims = dims
    assert dynamic.dims == {}
    dynamic.dims = {"batch": np.int64(8)}
    assert (dynamic.dims, type(dynamic.dims["batch"])) == ({"batch": 8}, int)


def test_sizes_that_the_model_does_not_take_are_taken_back(dynamic, monkeypatch):
    def refuse(*_):
        raise InputError("bad-sizes", "They do not fit.", "Give others.")

    monkeypatch.setattr(dynamic._source, "subject", refuse)
    with pytest.raises(TraitError, match="They do not fit"):
        dynamic.dims = {"batch": 3}
    assert dynamic.dims == {}


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda w: w.find(3), "3 is not a query"),
        (lambda w: Autodoc(RESNET, dims=3), "The sizes are 3"),
        (lambda w: w.to_svg("x.svg", depth="deep"), "'deep' is not a depth"),
        (lambda w: w.to_dot("x.dot", depth=-1), "-1 is not a depth"),
        (lambda w: w.to_png("x.png", scale=0), "0 is not a scale"),
        (lambda w: w.to_png("x.png", scale="2"), "'2' is not a scale"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(resnet, tmp_path, monkeypatch, act, told):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AutodocError, match=told):
        act(resnet)
    assert list(tmp_path.iterdir()) == []
