"""What the operation reference says about sums that saturate, on every processor."""

from pathlib import Path

import numpy as np
import pytest

from py_autodoc.opdocs import api, opdocs
from py_autodoc.opdocs.tables import summary, tables
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.kernels import current_runtime

pytest.importorskip("onnxruntime")
DIGITS, DATA = Path("tests/data/quant/digits_cnn.onnx"), Path("tests/data/quant/digits.npz")
FORMS = {
    "qdq": {"weights": "s8", "activations": "u8"},
    "qoperator": {"weights": "s8", "activations": "u8", "format": "qoperator"},
    "dynamic": {"weights": "s8", "method": "dynamic"},
    "signed": {"weights": "s8", "activations": "s8"},
    "signed-qoperator": {"weights": "s8", "activations": "s8", "format": "qoperator"},
    "unsigned": {"weights": "u8", "activations": "u8"},
}
SATURATING = ("qdq", "qoperator", "dynamic")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quantized")
    for name, settings in FORMS.items():
        recipe = Recipe(target="cpu-vnni", **settings)
        quantize(DIGITS, folder / f"{name}.onnx", DATA, recipe, samples=16, compare=False)
    return folder


def made(files, name, target, tmp_path, monkeypatch):
    """The reference as on a processor of a kind."""
    monkeypatch.setattr(api, "current_runtime", lambda: target)
    return opdocs(files / f"{name}.onnx", tmp_path / target, DATA, samples=2)


@pytest.mark.parametrize("name", FORMS)
def test_saturation_is_counted_where_sums_saturate(name, files, tmp_path, monkeypatch):
    result = made(files, name, "cpu-avx2", tmp_path, monkeypatch)
    products = {one.name: one for one in result.operations if one.saturated is not None}
    said = [line for line in summary(result) if "saturate" in line]
    rows = [row for one in result.operations for _, table in tables(one) for row in table]
    rows = [row for row in rows if "saturation" in row[0]]
    assert len(rows) == len(products)
    if name in ("unsigned", "signed-qoperator"):
        assert not products
        assert not said
        return
    depthwise = [
        one
        for one in result.operations
        if one.attributes.get("group", 1) > 1 and one.operands[1].shape[0] == one.attributes["group"]
    ]
    assert not any(one.name in products for one in depthwise)
    assert sum(one.saturated.differing for one in products.values()) > 0
    assert all(one.rewritten == (name == "signed") for one in products.values())
    assert len(said) == 1
    assert ("optimized session" in said[0]) == (name == "signed")
    for one in products.values():
        assert (one.operands[0].type, one.operands[1].type) in (("uint8", "int8"), ("int8", "int8"))


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_said_where_sums_are_exact(name, files, tmp_path, monkeypatch):
    result = made(files, name, "cpu-vnni", tmp_path, monkeypatch)
    assert all(one.saturated is None for one in result.operations)
    assert not any("saturate" in line for line in summary(result))


@pytest.mark.parametrize("name", FORMS)
def test_the_comparison_is_with_the_kernels_of_this_machine(name, files, tmp_path, monkeypatch):
    here = current_runtime()
    if here == "cpu-arm":
        pytest.skip("kernels of ARM requantize by fixed point")
    mine = made(files, name, here, tmp_path, monkeypatch)
    assert sum(one.against_runtime.differing for one in mine.operations) == 0
    other = "cpu-vnni" if here == "cpu-avx2" else "cpu-avx2"
    wrong = made(files, name, other, tmp_path, monkeypatch)
    on_avx2 = mine if here == "cpu-avx2" else wrong
    for one, counted in zip(wrong.operations, on_avx2.operations, strict=True):
        expected = counted.saturated if name in SATURATING else None
        assert one.against_runtime.differing == (0 if expected is None else expected.differing)


def test_vectors_and_c_are_exact_on_every_processor(files, tmp_path, monkeypatch):
    results = [made(files, "qdq", target, tmp_path, monkeypatch) for target in ("cpu-avx2", "cpu-vnni")]
    for first, second in zip(*(result.operations for result in results), strict=True):
        assert first.vectors == second.vectors
        vectors = [dict(np.load(tmp_path / target / first.vectors)) for target in ("cpu-avx2", "cpu-vnni")]
        assert set(vectors[0]) == set(vectors[1])
        assert all(np.array_equal(value, vectors[1][key]) for key, value in vectors[0].items())
        texts = [(tmp_path / target / first.c).read_text() for target in ("cpu-avx2", "cpu-vnni")]
        assert texts[0] == texts[1]
        assert first.formulas == second.formulas
