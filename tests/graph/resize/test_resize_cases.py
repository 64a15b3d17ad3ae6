"""Other sizes for made models: equal to the model made at that size, or refused with the node."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import resize_cases as cases
from resize_proof import outputs, worst

from py_autodoc.extract.resize import resize
from py_autodoc.graph.resize import ResizeBlocked

EXACT = 1e-6


def shapes(model):
    return {i.name: tuple(d.dim_value for d in i.type.tensor_type.shape.dim) for i in model.graph.input}


@pytest.mark.parametrize("name", cases.GOOD)
def test_equals_the_model_made_at_that_size(name, tmp_path):
    make, size, wanted = cases.GOOD[name]
    onnx.save(make(size), tmp_path / "fixed.onnx")
    for other in wanted:
        model = make(other)
        onnx.save(model, tmp_path / "wanted.onnx")
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", shapes(model), force=True)
        onnx.checker.check_model(str(tmp_path / "resized.onnx"), full_check=True)
        random = np.random.default_rng(3)
        given = {name: random.standard_normal(shape).astype("f") for name, shape in shapes(model).items()}
        got, want = (outputs(tmp_path / f"{which}.onnx", given) for which in ("resized", "wanted"))
        assert worst(got, want) < EXACT
        assert max(np.abs(value).max() for value in want) > 1e-3


def test_a_causal_model_gives_equal_prefixes(tmp_path):
    onnx.save(cases.causal_masks_are_cut(12), tmp_path / "fixed.onnx")
    given = np.random.default_rng(3).standard_normal((1, 12, 8)).astype("f")
    whole = outputs(tmp_path / "fixed.onnx", [given])
    for wanted in (11, 5, 1):
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", {"x": (1, wanted, 8)}, force=True)
        made = outputs(tmp_path / "resized.onnx", [given[:, :wanted]])
        assert worst(made, [value[:, :wanted] for value in whole]) < EXACT


@pytest.mark.parametrize("name", cases.BAD)
def test_what_cannot_be_known_is_refused(name, tmp_path):
    make, size, wanted, says = cases.BAD[name]
    onnx.save(make(size), tmp_path / "fixed.onnx")
    with pytest.raises(ResizeBlocked) as refused:
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", shapes(make(wanted)))
    assert says in refused.value.message
    assert refused.value.refusal.node
    assert not (tmp_path / "resized.onnx").exists()
