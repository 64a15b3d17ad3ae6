"""Files of what a widget shows, and heatmaps of the user's own."""

import json
import os
from functools import partial
from xml.etree import ElementTree

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import helper, numpy_helper
from traitlets import TraitError

from py_autodoc import Autodoc
from py_autodoc.errors import OptionError, OutputError, RequirementError
from py_autodoc.render.nodejs import find_nodejs
from py_autodoc.widget.trait_values import TraitFault
from tests.widget.test_widget import RESNET

pytestmark = pytest.mark.slow


def has_node():
    try:
        find_nodejs()
    except RequirementError:
        return False
    return True


needs_node = pytest.mark.skipif(not has_node(), reason="needs Node")


@pytest.fixture
def widget():
    made = Autodoc(RESNET)
    yield made
    made.close()


def test_dot_netron_and_model_explorer(widget, tmp_path):
    assert widget.to_dot(tmp_path / "a.dot").read_text().startswith("digraph")
    attachment = json.loads(widget.to_netron(tmp_path / "a.json").read_text())
    assert attachment["signature"] == "netron:attachment"
    written = widget.to_model_explorer(tmp_path / "b.json", metric="params")
    values = [entry["value"] for entry in json.loads(written.read_text())["results"].values()]
    assert sum(values) > 0
    with pytest.raises(OptionError, match="Choose one of macs, flops"):
        widget.to_model_explorer(tmp_path / "c.json", metric="speed")


def extracted(widget, path, **more):
    return widget.extract(path, 0, **more)


def test_no_file_is_written_over_but_our_own(tmp_path):
    """Not the model, not its weights by any name; files of others only by force."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], "g",
        [helper.make_tensor_value_info("x", 1, [1, 4])], [helper.make_tensor_value_info("y", 1, [1, 4])],
        [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    os.link(tmp_path / "w.bin", tmp_path / "hard")
    (tmp_path / "mine").write_text("mine")
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    made = Autodoc(path)
    try:
        writers = (made.to_dot, made.to_netron, made.to_model_explorer, partial(extracted, made))
        for write in writers:
            for name in ("m.onnx", "w.bin", "hard"):
                with pytest.raises(OutputError, match="stay as they are"):
                    write(tmp_path / name, force=True)
            with pytest.raises(OutputError, match="mine exists"):
                write(tmp_path / "mine")
        assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
        made.to_dot(tmp_path / "mine", force=True)
        made.to_dot(tmp_path / "mine", depth=0)
        assert made.extract(tmp_path / "part.onnx", 0).paths == made.extract(tmp_path / "part.onnx", 0).paths
    finally:
        made.close()


@needs_node
def test_own_pictures_are_replaced(widget, tmp_path):
    for write, name in ((widget.to_svg, "a.svg"), (widget.to_png, "a.png"), (widget.to_html, "a.html")):
        write(tmp_path / name)
        write(tmp_path / name)
        (tmp_path / f"mine{name}").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
        with pytest.raises(OutputError):
            write(tmp_path / f"mine{name}")


@needs_node
def test_a_picture_in_dark_and_under_own_numbers(widget, tmp_path):
    light = widget.to_svg(tmp_path / "light.svg").read_text()
    dark = widget.to_svg(tmp_path / "dark.svg", theme="dark").read_text()
    assert light != dark
    widget.overlay = np.arange(float(len(widget.report.layers)))
    own = widget.to_svg(tmp_path / "own.svg").read_text()
    assert ">values</text>" in own
    assert ">values</text>" not in light
    with pytest.raises(OptionError, match="Choose one of light, dark"):
        widget.to_svg(tmp_path / "x.svg", theme="purple")


@needs_node
def test_a_picture_of_latencies_names_the_device_of_the_view(widget, tmp_path):
    widget.overlay = "latency"
    without = widget.to_svg(tmp_path / "none.svg").read_text()
    assert "NVIDIA" not in without
    widget.view = {"version": 1, "device": {"device": "t4", "precision": "fp16"}}
    timed = widget.to_svg(tmp_path / "t4.svg").read_text()
    assert ">NVIDIA T4, FP16</text>" in timed  # the legend
    assert "Latency on NVIDIA T4, FP16:" in timed  # the caption


def test_an_array_is_a_number_a_layer(widget):
    count = len(widget.report.layers)
    numbers = [None, float("nan"), *range(2, count)]
    widget.overlay = numbers
    values = widget.overlay["values"]
    first, last = widget.report.layers[2].id, widget.report.layers[-1].id
    assert len(values) == count - 2
    assert (values[str(first)], values[str(last)]) == (2.0, count - 1.0)
    with pytest.raises(TraitFault, match="3 numbers"):
        widget.overlay = np.zeros(3)
    with pytest.raises(TraitFault, match="Unknown overlay"):
        widget.overlay = np.zeros((count, 2))
    widget.overlay = pd.Series([1.0, pd.NA, *range(2, count)], dtype="Float64")
    assert len(widget.overlay["values"]) == count - 1
    with pytest.raises(TraitFault, match="'x'"):
        widget.overlay = ["x"] * count
    with pytest.raises(TraitFault, match="1000"):
        widget.overlay = [10**400] * count


@needs_node
def test_pictures_are_set_as_the_widget_is(widget, tmp_path):
    def shape(path):
        root = ElementTree.fromstring(path.read_bytes())
        return float(root.get("width")) / float(root.get("height"))

    wide = shape(widget.to_svg(tmp_path / "a.svg", depth=9, direction="right"))
    rows = shape(widget.to_svg(tmp_path / "b.svg", depth=9))
    widget.direction = "down"
    down = shape(widget.to_svg(tmp_path / "c.svg", depth=9))
    assert down < 1 < rows < wide
    assert 'data-direction="down"' in widget.to_html(tmp_path / "d.html").read_text()
    with pytest.raises(TraitError, match="direction"):
        widget.direction = "sideways"
    with pytest.raises(OptionError, match="auto, right, down, wrapped"):
        widget.to_svg(tmp_path / "e.svg", direction="sideways")
    with pytest.raises(OptionError, match="not an aspect ratio"):
        widget.to_svg(tmp_path / "e.svg", aspect=0)
