"""The one-file page: nothing in it can run or be fetched but the viewer, whatever a model is called."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.errors import RequirementError
from py_autodoc.render import html
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
HOSTILE = "</script><script>alert(1)</script><!--<img src=http://evil.example/x onerror=alert(2)>"
FAKE = {
    "page.js": "let a = '</script>', b = '<!--';",
    "viewer.css": ".oad{color:red}",
    "page.css": "html{margin:0}",
}


class Elements(HTMLParser):
    """Collects elements and the text of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside == "style":
            self.styles.append(data)

    def handle_endtag(self, tag):
        self._inside = ""


@pytest.fixture
def built(monkeypatch):
    monkeypatch.setattr(html, "static", FAKE.__getitem__)


def hostile() -> onnx.ModelProto:
    x = helper.make_tensor_value_info(HOSTILE, TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node("Relu", [HOSTILE], ["y"], name=HOSTILE)], HOSTILE, [x], [y])
    model = helper.make_model(graph)
    model.producer_name = HOSTILE
    return model


def parsed(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    return elements


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "source", [hostile(), DATA / "models" / "resnet_tiny.onnx"], ids=["hostile", "resnet"]
)
def test_only_our_script_is_in_the_page(source):
    page = html.html_page(run_analysis(source, Options()))
    elements = parsed(page)
    assert elements.tags.count("script") == 2
    assert "img" not in elements.tags
    assert not [name for name, _ in elements.attributes if name.startswith("on") or name in ("src", "href")]
    assert elements.scripts[1] == "let a = '<\\/script>', b = '<\\!--';"


@pytest.mark.usefixtures("built")
def test_the_policy_allows_what_is_in_the_page_and_nothing_else():
    elements = parsed(html.html_page(run_analysis(hostile(), Options())))
    policy = dict(elements.attributes)["content"] and next(
        value for name, value in elements.attributes if value and value.startswith("default-src")
    )
    for kind, text in (("script", elements.scripts[1]), ("style", "".join(elements.styles))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"unsafe|https?:|\*", policy)


@pytest.mark.usefixtures("built")
def test_the_model_is_in_the_page():
    analysis = run_analysis(DATA / "models" / "resnet_tiny.onnx", Options())
    bundle = json.loads(gzip.decompress(base64.b64decode(parsed(html.html_page(analysis)).scripts[0])))
    assert bundle["payload"]["nodes"]["macs"] == build_payload(analysis).nodes.macs
    conv = bundle["nodes"]["0"]
    assert bundle["operators"][conv["operator"]]["type"] == "Conv"
    assert {a["name"]: a["value"] for a in conv["attributes"]}["kernel_shape"] == [7, 7]
    assert bundle["descriptions"][conv["operator"]]["kernel_shape"]


@pytest.mark.usefixtures("built")
def test_two_models_are_in_one_page_under_the_same_policy():
    analyses = [
        run_analysis(source, Options()) for source in (hostile(), DATA / "models" / "resnet_tiny.onnx")
    ]
    page = html.html_page(*analyses)
    elements = parsed(page)
    assert elements.tags.count("script") == 3
    names = [
        json.loads(gzip.decompress(base64.b64decode(text)))["payload"]["model"]["name"]
        for text in elements.scripts[:2]
    ]
    assert names == [analysis.model.file.name for analysis in analyses]
    assert 'id="autodoc-model"' in page
    assert 'id="autodoc-other"' in page
    digest = base64.b64encode(hashlib.sha256(elements.scripts[2].encode()).digest()).decode()
    (policy,) = [value for _, value in elements.attributes if value and value.startswith("default-src")]
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r"unsafe|https?:|\*", policy)


@pytest.mark.usefixtures("built")
def test_the_same_model_gives_the_same_page():
    pages = {html.html_page(run_analysis(DATA / "models" / "resnet_tiny.onnx", Options())) for _ in range(2)}
    assert len(pages) == 1


@pytest.mark.usefixtures("built")
def test_bert_base_is_small():
    page = html.html_page(run_analysis(DATA / "stripped" / "bert_base.stripped.onnx", Options()))
    assert len(page) < 200_000  # the viewer itself comes on top


def test_without_a_built_viewer(monkeypatch, tmp_path):
    monkeypatch.setattr(html.resources, "files", lambda _: tmp_path)
    html.static.cache_clear()
    with pytest.raises(RequirementError) as caught:
        html.static("page.js")
    assert caught.value.code == "viewer-not-built"
    html.static.cache_clear()
