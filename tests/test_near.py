"""Names near a mistyped one."""

from __future__ import annotations

import builtins
import importlib
import sys

import pytest

from py_autodoc import analyze
from py_autodoc.errors import OptionError, RequirementError
from py_autodoc.hardware.profile import find_profile, profiles
from py_autodoc.similar_names import similar_names
from py_autodoc.widget.trait_values import TraitFault, resolve_nodes

KNOWN = [
    "/Net/Block.a",
    "encoder.layer.0",
    "encoder.layer.0.attention",
    "encoder.layer.1",
    "decoder",
    "decoder",
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("encoder/layer.0", ["encoder.layer.0", "encoder.layer.0.attention", "encoder.layer.1"]),
        ("Encoder.Layer.1", ["encoder.layer.1", "encoder.layer.0", "encoder.layer.0.attention"]),
        ("attention", ["encoder.layer.0.attention"]),
        ("/Net/Blok.a", ["/Net/Block.a"]),
        ("decodre", ["decoder"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_near(name, found):
    assert similar_names(name, KNOWN) == found


def test_a_selection_that_is_not_there_names_modules_as_well():
    layers = analyze("tests/data/models/bert_tiny.onnx").layers
    with pytest.raises(TraitFault) as caught:
        resolve_nodes(layers, ["encoder.layer.0.attention"])
    assert "encoder/layer.0/attention" in caught.value.hint
    with pytest.raises(TraitFault) as caught:
        resolve_nodes(layers, ["encoder/layer.0/atention"])
    assert "Did you mean m/encoder/layer.0/attention" in caught.value.hint


def test_a_part_of_a_name_lists_all_devices_that_match():
    wanted = [one.id for one in profiles() if "jetson" in one.id]
    assert len(wanted) > 5
    with pytest.raises(OptionError) as caught:
        find_profile("jetson")
    assert all(one in f"{caught.value.hint} ".replace(".", " ").replace(",", " ").split() for one in wanted)
    with pytest.raises(OptionError) as caught:
        find_profile("jetsno-orin")
    assert "Did you mean jetson" in caught.value.hint


def test_export_without_torch_names_the_pip_line(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "torch" or name.startswith("torch."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    for name in [one for one in sys.modules if one.startswith("py_autodoc.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    package = importlib.import_module("py_autodoc.torch")
    with pytest.raises(
        RequirementError, match=r'needs torch\. pip install "onnx-autodoc\[export\]"'
    ) as caught:
        _ = package.export
    assert isinstance(caught.value, ImportError)
    with pytest.raises(AttributeError):
        _ = package.nothing


def test_a_report_is_one_line():
    line = repr(analyze("tests/data/models/mnist_cntk.onnx"))
    words = "Probably image classification · probably CNN"
    told = f"{words}, 8 nodes, 5.99 K parameters, 787 K MACs, 24.0 kB of weights, coverage 100 %"
    assert line == f"<Report 'mnist_cntk.onnx': {told}>"
