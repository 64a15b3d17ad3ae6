"""Other sizes for products and fused operators: equal to the model made at that size, or refused."""

from __future__ import annotations

import fused_cases as cases
import numpy as np
import onnx
import pytest
from onnx import TensorProto
from resize_proof import outputs, worst

from py_autodoc.extract.resize import resize
from py_autodoc.graph.resize import ResizeBlocked

EXACT = 1e-6


def shapes(model):
    return {i.name: tuple(d.dim_value for d in i.type.tensor_type.shape.dim) for i in model.graph.input}


def random_inputs(model):
    """Small numbers; masks of whole numbers are 0 behind the first half."""
    random, given = np.random.default_rng(3), {}
    for info in model.graph.input:
        shape = shapes(model)[info.name]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            given[info.name] = random.standard_normal(shape).astype(dtype)
        elif info.name == "mask":
            given[info.name] = np.broadcast_to(np.arange(shape[-1]) <= shape[-1] // 2, shape).astype(dtype)
        else:
            given[info.name] = random.integers(0, 20, shape).astype(dtype)
    return given


@pytest.mark.parametrize("name", cases.GOOD)
def test_equals_the_model_made_at_that_size(name, tmp_path):
    fn, opset, size, wanted = cases.GOOD[name]
    onnx.save(cases.made(fn, opset, size), tmp_path / "fixed.onnx")
    for other in wanted:
        model = cases.made(fn, opset, other)
        onnx.save(model, tmp_path / "wanted.onnx")
        done = resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", shapes(model), force=True)
        given = random_inputs(model)
        got, want = (outputs(tmp_path / f"{which}.onnx", given) for which in ("resized", "wanted"))
        assert worst(got, want) < EXACT
        assert max(np.abs(value.astype(float)).max() for value in want) > 1e-3
        shape_of = {info.name: value.shape for info, value in zip(model.graph.output, want, strict=True)}
        assert {output: shape_of[output] for output in done.outputs} == done.outputs


@pytest.mark.parametrize("name", cases.BAD)
def test_what_cannot_be_known_is_refused(name, tmp_path):
    fn, opset, size, wanted, says = cases.BAD[name]
    onnx.save(cases.made(fn, opset, size), tmp_path / "fixed.onnx")
    with pytest.raises(ResizeBlocked) as refused:
        resize(tmp_path / "fixed.onnx", tmp_path / "resized.onnx", shapes(cases.made(fn, opset, wanted)))
    assert says in refused.value.message
    assert not (tmp_path / "resized.onnx").exists()
