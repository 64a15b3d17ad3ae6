"""A notebook that is run and saved: what it keeps of a widget, and what readers without widgets see."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import onnx
import pytest
from nbconvert import HTMLExporter, MarkdownExporter
from nbconvert.preprocessors import ExecutePreprocessor
from onnx import TensorProto, helper

from py_autodoc.widget.picture import MAX_BYTES

DATA = Path(__file__).parents[1] / "data"
BUILT = resources.files("py_autodoc").joinpath("static/loader.js").is_file()
pytestmark = pytest.mark.skipif(
    not BUILT or not shutil.which("node"), reason="needs the built viewer and Node"
)
SAVED = "application/vnd.onnx-autodoc.v1+json"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
CELLS = (
    "from py_autodoc import Autodoc\nw = Autodoc('bert.onnx', theme='dark')\nw",
    "Autodoc('hostile.onnx')",
    "Autodoc('resnet.onnx')",
)
HOSTILE = "</text><script>alert(1)</script><image href='https://example.com/x'/> onload=\"alert(2)\""


def hostile() -> onnx.ModelProto:
    """Names that would be markup."""
    x, y = (helper.make_tensor_value_info(f"{HOSTILE}{side}", TensorProto.FLOAT, [1]) for side in "xy")
    node = helper.make_node("Relu", [x.name], [y.name], name=HOSTILE)
    return helper.make_model(helper.make_graph([node], HOSTILE, [x], [y]))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The notebook as it is after a run."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copyfile(DATA / "stripped" / "bert_base_dyn.stripped.onnx", folder / "bert.onnx")
    shutil.copyfile(DATA / "models" / "resnet_tiny.onnx", folder / "resnet.onnx")
    onnx.save(hostile(), folder / "hostile.onnx")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        runner = ExecutePreprocessor(timeout=300)
        notebook, _ = runner.preprocess(notebook, {"metadata": {"path": str(folder)}})
    return notebook


@pytest.fixture(scope="module")
def without_state(saved):
    """The same as JupyterLab saves it by default."""
    copy = nbformat.from_dict(json.loads(json.dumps(saved)))
    del copy.metadata["widgets"]
    return copy


def outputs(notebook):
    return [cell.outputs[0].data for cell in notebook.cells]


@pytest.mark.slow
def test_each_output_has_a_picture_of_bounded_size(saved):
    for data in outputs(saved):
        assert VIEW in data
        assert "text/html" not in data
        assert len(data["image/svg+xml"].encode()) <= MAX_BYTES + 100
    assert outputs(saved)[0]["text/plain"] == "Autodoc(bert.onnx: 109 M parameters, 11.2 G MACs)"
    alt = saved.cells[0].outputs[0].metadata["image/svg+xml"]["alt"]
    assert alt == "bert.onnx: 109 M parameters, 11.2 G MACs"


VSCODE = ("text/html", "application/javascript", "image/gif", "text/latex", "text/markdown", "image/png")
"""What VS Code takes before a picture in SVG when it cannot show the widget."""


@pytest.mark.slow
def test_readers_that_cannot_show_the_widget_come_to_the_picture(without_state):
    for data in outputs(without_state):
        assert not set(VSCODE) & set(data)
        # It tries these first, in the order of the file: the widget, then one that it does not know.
        own = [kind for kind in sorted(data) if kind.startswith("application/vnd.")]
        assert own == [VIEW, SAVED]
        assert sorted(set(data) - set(own)) == ["image/svg+xml", "text/plain"]


def test_each_output_carries_its_model(without_state):
    for data, name in zip(outputs(without_state), ("bert.onnx", "hostile.onnx", "resnet.onnx"), strict=True):
        (model,) = data[SAVED]["models"]
        bundle = json.loads(gzip.decompress(base64.b64decode(model["bundle"])))
        assert bundle["payload"]["model"]["name"] == name
        # Readers that take the first one they know go on taking the widget.
        types = list(data)
        assert types.index(VIEW) < types.index(SAVED)
        assert len(json.dumps(data[SAVED])) < 90_000


def test_pictures_hold_no_script_and_nothing_from_elsewhere(saved):
    for data in outputs(saved):
        root = ElementTree.fromstring(data["image/svg+xml"])
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "g", "rect", "path", "text", "title", "clipPath"}
        names = {name for element in root.iter() for name in element.attrib}
        assert not {name for name in names if name.startswith("on") or "href" in name}
    texts = "".join(ElementTree.fromstring(outputs(saved)[1]["image/svg+xml"]).itertext())
    assert "<script>" in texts  # as text


def test_the_state_carries_the_viewer_once_and_each_model_packed(saved):
    state = saved.metadata["widgets"][STATE]["state"].values()
    sizes = [len(json.dumps(model)) for model in state]
    assert sum(sizes) < 600_000
    packed = [
        base64.b64decode(buffer["data"])
        for model in state
        for buffer in model.get("buffers", [])
        if buffer["path"] == ["_bundle"]
    ]
    names = {json.loads(gzip.decompress(data))["payload"]["model"]["name"] for data in packed}
    assert names == {"bert.onnx", "hostile.onnx", "resnet.onnx"}
    assert len([size for size in sizes if size > 200_000]) == 1


@pytest.mark.slow
def test_nbconvert_shows_the_picture(without_state):
    html, _ = HTMLExporter().from_notebook_node(without_state)
    assert html.count('src="data:image/svg+xml;base64,') == 3
    assert "<script>alert(1)</script>" not in html
    _, found = MarkdownExporter().from_notebook_node(without_state)
    assert len([name for name in found["outputs"] if name.endswith(".svg")]) == 3


@pytest.mark.slow
def test_a_page_of_nbconvert_carries_the_widgets(saved):
    html, _ = HTMLExporter().from_notebook_node(saved)
    assert html.count(f'<script type="{VIEW}">') == 3
    assert f'<script type="{STATE}">' in html
