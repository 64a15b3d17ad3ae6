"""Another batch for models of many kinds, exported small: proved by running them, or refused for a reason."""

from __future__ import annotations

import contextlib
import io
import logging
from pathlib import Path

import onnx
import pytest
from rebatch_proof import prove

from py_autodoc.extract.rebatch import rebatch
from py_autodoc.graph.rebatch import RebatchBlocked

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
zoo = pytest.importorskip("rebatch_zoo")

EXACT = 1e-5
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NETS = ("densenet121", "inception_v1", "inception_v2", "shufflenet")
"""Of the onnx package, without weights; the others of it are in the corpus, or take long."""


def exported(made, path):
    model, given = made
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(model.eval(), given, str(path), dynamo=False)


@pytest.mark.parametrize("name", zoo.MODELS)
@pytest.mark.filterwarnings("ignore")
def test_items_are_computed_as_alone(name, tmp_path):
    torch.manual_seed(0)
    exported(zoo.MODELS[name](), tmp_path / "fixed.onnx")
    (tmp_path / "proof").mkdir()
    proof = prove(tmp_path / "fixed.onnx", tmp_path / "proof")
    assert proof.worst < EXACT
    assert proof.apart > 1e-2


@pytest.mark.parametrize("name", NETS)
def test_nets_of_the_onnx_package(name, tmp_path):
    proof = prove(LIGHT / f"light_{name}.onnx", tmp_path)
    assert proof.worst < EXACT
    assert proof.apart > max(10 * proof.worst, 1e-7)


@pytest.mark.parametrize("name", zoo.REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_a_refusal_names_the_node(name, tmp_path):
    make, says = zoo.REFUSED[name]
    exported(make(), tmp_path / "fixed.onnx")
    with pytest.raises(RebatchBlocked) as refused:
        rebatch(tmp_path / "fixed.onnx", tmp_path / "out.onnx", "items")
    assert refused.value.refusal.node.startswith(says)


def test_nine_of_ten_are_proved():
    proved = len(zoo.MODELS) + len(NETS)
    assert proved / (proved + len(zoo.REFUSED)) >= 0.9
