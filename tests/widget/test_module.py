"""A module of PyTorch in the widget."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from py_autodoc.errors import AnalysisError, OptionError, RequirementError
from py_autodoc.render import html
from py_autodoc.widget import autodoc, dim, shared_code, torch_module
from py_autodoc.widget.autodoc import Autodoc

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 8)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.fc(x))) + x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(3))
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.fixture(autouse=True)
def no_viewer(monkeypatch, tmp_path):
    for place in (autodoc, dim, html, shared_code):
        monkeypatch.setattr(place, "static", lambda name: f"/* {name} */")
    monkeypatch.setattr(shared_code, "_shared", [])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def left(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith("onnx-autodoc-")]


def test_a_module_with_inputs(tmp_path):
    net = Net()
    net.train()
    widget = Autodoc(net, torch.zeros(4, 8))
    assert widget.report.model.name == "Net.onnx"
    assert widget.report.metrics.total_params == 3 * (64 + 8) + 16 + 2
    assert widget.report.metrics.total_macs == 4 * (3 * 64 + 16)
    assert not widget.find("op=Dropout")
    assert all(part.training for part in net.modules())
    assert left(tmp_path) == []
    scopes = widget._now.payload.scopes
    modules = set(zip(scopes.label, scopes.type, strict=True))
    assert {("blocks.1", "Block"), ("fc", "Linear"), ("head", "Linear")} <= modules
    assert "Block ×3" in scopes.label
    assert {layer.type for layer in widget.find("tag=blocks.1")} >= {"Add", "Relu"}


def test_a_module_carries_its_tags():
    """Those of the exporter of this package: full scopes, calls told apart, found by search."""
    net = Net()
    net.again = net.blocks[1]
    widget = Autodoc(net, torch.zeros(4, 8))
    modules = widget._now.payload.modules
    assert "/Net/Block.1" in modules.tag
    assert {"blocks.1", "blocks.1.fc", "head"} <= {scopes[0] for scopes in modules.scopes}
    assert {layer.type for layer in widget.find("scope=blocks.1*")} == {"Gemm", "Relu", "Add"}
    assert len(widget.find("tag=/Net/Block.2")) == 3
    assert {layer.tag for layer in widget.find("scope=head")} == {"/Net"}
    details = next(iter(widget.find("scope=blocks.2.fc")))
    assert details.tag == "/Net/Block.2"


def test_free_sizes_are_analysed_again(tmp_path):
    batch = torch.export.Dim("batch", min=2)
    widget = Autodoc(Net(), (torch.zeros(4, 8),), dynamic_shapes=({0: batch},), dims={"batch": 2})
    macs = widget.report.metrics.total_macs
    widget.dims = {"batch": 6}
    assert widget.report.metrics.total_macs == 3 * macs
    assert left(tmp_path) == []


def test_inputs_by_name():
    assert Autodoc(Net(), {"x": torch.zeros(1, 8)}).report.metrics.total_macs == 3 * 64 + 16


def test_inputs_that_do_not_fit_are_told(tmp_path):
    net = Net()
    with pytest.raises(AnalysisError) as caught:
        Autodoc(net, torch.zeros(4, 9))
    assert caught.value.code == "export-forward"
    assert "\n" not in caught.value.message
    assert all(part.training for part in net.modules())
    assert left(tmp_path) == []


def test_a_module_without_inputs_is_told():
    with pytest.raises(OptionError, match="by running it once"):
        Autodoc(Net())


def test_what_is_missing_is_told(monkeypatch):
    def fail(*_):
        raise ModuleNotFoundError("No module named 'onnxscript'", name="onnxscript")

    monkeypatch.setattr(torch_module, "_export", fail)
    with pytest.raises(RequirementError, match="onnxscript") as caught:
        Autodoc(Net(), torch.zeros(1, 8))
    assert caught.value.hint == "pip install 'onnx-autodoc[export]'"
