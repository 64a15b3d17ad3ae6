"""Other sizes for files of the corpus: proved by running them, or refused with the node that forbids it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from resize_proof import outputs, worst

from py_autodoc.extract.resize import resize
from py_autodoc.graph.resize import ResizeBlocked

sys.path.append(str(Path(__file__).parents[1] / "rebatch"))
from rebatch_proof import complete

pytestmark = pytest.mark.slow

DATA = Path("tests/data")
EXACT = 1e-4
PICTURES = {
    "models/resnet_tiny": (96, 160),
    "models/light_squeezenet": (160, 320),
    "stripped/segformer_b0.stripped": (128,),
    "models/ddddocr_det.stripped": (160,),
}
"""File → heights; the width is another."""
REFUSED = {
    "models/mnist_cntk": ((1, 1, 56, 56), "Gemm"),  # a classifier behind a flattened picture
    "models/light_vgg19": ((1, 3, 288, 288), "Gemm"),
    "models/mamba_tiny": ((1, 32), "Gather"),  # every step is a node of its own
    "stripped/swin_t.stripped": ((1, 3, 448, 448), "Add"),  # masks by window
    "stripped/vit_b16.stripped": ((1, 3, 384, 384), "Add"),  # a table of patches
}


def saved(name, folder):
    model = complete(onnx.load(DATA / f"{name}.onnx", load_external_data=False), (DATA / name).parent)
    onnx.save(model, folder / "fixed.onnx")
    return model


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_any_size_run(name, tmp_path):
    """At several sizes, with the shapes that were foretold."""
    model = saved(name, tmp_path)
    stored = {tensor.name for tensor in model.graph.initializer}
    entry = next(i.name for i in model.graph.input if i.name not in stored)
    for height in PICTURES[name]:
        shape = (1, 3, height, height + 64)
        done = resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", {entry: shape}, force=True)
        given = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        made = outputs(tmp_path / "resized.onnx", [given])
        names = [output.name for output in model.graph.output]
        for output, value in zip(names, made, strict=True):
            assert np.isfinite(value).all()
            if output in done.outputs:
                assert value.shape == done.outputs[output]


def test_an_encoder_at_another_length_is_as_if_the_rest_were_masked(tmp_path):
    """Padding that the mask hides changes nothing for the tokens in front of it."""
    saved("models/bert_tiny", tmp_path)
    ids = np.random.default_rng(0).integers(1, 1000, (1, 64))
    for wanted in (40, 7):
        mask = (np.arange(64) < wanted).astype(np.int64)[None]
        (whole,) = outputs(tmp_path / "fixed.onnx", [ids, mask])
        shapes = {"xs_0": (1, wanted), "xs_1": (1, wanted)}
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", shapes, force=True)
        made = outputs(tmp_path / "resized.onnx", [ids[:, :wanted], mask[:, :wanted]])
        assert worst(made, [whole[:, :wanted]]) < EXACT


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_node(name, tmp_path):
    shape, says = REFUSED[name]
    model = onnx.load(DATA / f"{name}.onnx", load_external_data=False)
    stored = {tensor.name for tensor in model.graph.initializer}
    entry = next(i.name for i in model.graph.input if i.name not in stored)
    with pytest.raises(ResizeBlocked) as refused:
        resize(DATA / f"{name}.onnx", tmp_path / "out.onnx", {entry: shape})
    assert refused.value.refusal.node.startswith(says)
