"""Shapes of ONNX's backend node tests against the outputs the tests expect.

Every one of them is inferred three times: nothing known but the input types, small integer inputs
known, all small inputs known. Never a wrong type or shape, never an exception.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from node_models import NodeModel, node_models

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.model import Shape
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.shapes import infer

pytestmark = pytest.mark.slow

# Operators whose output sizes depend on data that is not there; test names begin so.
DATA_DEPENDENT = {
    "none": None,
    "integers": (
        "test_compress",
        "test_image_decoder",
        "test_loop11",
        "test_nonmaxsuppression",
        "test_nonzero",
        "test_onehot",
        "test_range_",
        "test_resize",
        "test_string_split",
        "test_strnormalizer",
        "test_unique",
        "test_upsample",
    ),
    "all": (
        "test_image_decoder",
        "test_nonmaxsuppression",
        "test_range_bfloat16",
        "test_string_split",
        "test_strnormalizer",
        "test_unique_bfloat16",
    ),
}
ENOUGH = {"none": 1500, "integers": 1760, "all": 1800}


def verdict(dtype: int, shape: Shape | None, wanted: tuple[int, tuple[int, ...]]) -> str:
    """right, open (consistent but not complete) or wrong."""
    if dtype not in (0, wanted[0]):
        return "wrong"
    if shape is None:
        return "open"
    if len(shape) != len(wanted[1]) or any(
        isinstance(a, int) and a != b for a, b in zip(shape, wanted[1], strict=True)
    ):
        return "wrong"
    return "right" if dtype and shape == wanted[1] else "open"


def judged(case: NodeModel) -> str:
    loaded = load_bytes(case.proto.SerializeToString(), case.name)
    model = build(loaded)
    types = infer(loaded, model, {}, {})
    ids = {model.tensors[t].name: t for t in model.graphs[0].outputs}
    found = {verdict(types.dtypes[ids[o]], types.shapes[ids[o]], w) for o, w in case.expected.items()}
    return "no tensor" if not found else next(v for v in ("wrong", "open", "right") if v in found)


@cache
def results(constants: str) -> dict[str, str]:
    return {case.name: judged(case) for case in node_models(constants)}


@pytest.mark.parametrize("constants", DATA_DEPENDENT)
def test_no_shape_is_wrong(constants):
    assert [name for name, r in results(constants).items() if r == "wrong"] == []


@pytest.mark.parametrize("constants", DATA_DEPENDENT)
def test_most_shapes_are_found(constants):
    count = Counter(results(constants).values())
    assert count["right"] >= ENOUGH[constants], count


@pytest.mark.parametrize("constants", ["integers", "all"])
def test_only_data_dependent_sizes_stay_open(constants):
    left = [name for name, r in results(constants).items() if r == "open"]
    assert [name for name in left if not name.startswith(DATA_DEPENDENT[constants])] == []
