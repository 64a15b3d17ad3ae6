"""Every model of the corpus as PyTorch source: written, loaded, run, equal to ONNX Runtime.

Weights that a file was stripped of are random; the small models are also converted after each of ONNX
Runtime's ways to quantize them.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime import quantization
from test_to_torch_models import MODELS, feeds
from torch_files import imported, run, session

from py_autodoc.to_torch import write

pytestmark = pytest.mark.slow

STRIPPED = sorted([*Path("tests/data/stripped").glob("*.onnx"), *MODELS.glob("*.stripped.onnx")])
QUANTIZED = ("bert_tiny", "mamba_tiny", "ppocr_cls_v2", "magika_standard_v3_3")


def same(path: Path, name: str, limit: float, measure=np.max) -> str:
    """Write, load and run a model twice; the source. The error is relative to the largest result."""
    target = path.with_name("written.py")
    write(path, target)
    oracle, module = session(str(path)), imported(target)
    model = module.load()
    for number in range(2):
        given = feeds(name, oracle, number)
        expected = oracle.run(None, given)
        results = run(module, given, model)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            assert (result.numpy().dtype, tuple(result.shape)) == (wanted.dtype, wanted.shape)
            if wanted.dtype.kind == "f":
                scale = max(float(np.abs(wanted).max(initial=0)), 1e-3)
                assert measure(np.abs(result.numpy() - wanted)) <= limit * scale
            else:
                assert (result.numpy() == wanted).mean() > 0.99
    return target.read_text("ascii")


def given_weights(path: Path, folder: Path) -> Path:
    """The model in ``folder``, with the weights that its file was stripped of."""
    proto = onnx.load(path, load_external_data=False)
    block = (np.random.default_rng(1).random(1 << 18, np.float32) - 0.5) * 0.08
    places: dict[str, list[tuple[int, int, bool]]] = {}
    for one in proto.graph.initializer:
        if one.data_location == onnx.TensorProto.EXTERNAL:
            told = {entry.key: entry.value for entry in one.external_data}
            # A variance must not be negative; what is no float are indices.
            odd = one.data_type != onnx.TensorProto.FLOAT or "var" in one.name
            place = int(told.get("offset", 0)), int(told["length"]), odd
            places.setdefault(told["location"], []).append(place)
    for name, held in places.items():
        with open(folder / name, "wb") as out:
            out.truncate(max(offset + length for offset, length, _ in held))
            for offset, length, odd in held:
                if not odd:
                    out.seek(offset)
                    while length > 0:
                        out.write(block.tobytes()[:length])
                        length -= block.nbytes
    onnx.save(proto, folder / "model.onnx")
    return folder / "model.onnx"


@pytest.mark.parametrize("path", STRIPPED, ids=lambda p: p.stem)
def test_a_large_model_computes_what_its_file_does(path, tmp_path):
    try:
        same(given_weights(path, tmp_path), path.stem, 2e-4)
    finally:
        for held in tmp_path.iterdir():
            held.unlink()


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("kind", ["uint8", "int8-channels"])
def test_a_dynamically_quantized_model(name, kind, tmp_path):
    path = tmp_path / "model.onnx"
    quantization.quantize_dynamic(
        MODELS / f"{name}.onnx",
        path,
        weight_type=quantization.QuantType.QUInt8 if kind == "uint8" else quantization.QuantType.QInt8,
        per_channel=kind == "int8-channels",
    )
    # Sums in another order may round to the next step of 8 bits, which later layers enlarge.
    source = same(path, name, 0.02, np.median)
    assert "quant" in source


class Samples(quantization.CalibrationDataReader):
    def __init__(self, name: str, oracle) -> None:
        self.feeds = iter([feeds(name, oracle, 0)] * 2)

    def get_next(self):
        return next(self.feeds, None)


@pytest.mark.parametrize("name", ["bert_tiny", "ppocr_cls_v2", "magika_standard_v3_3"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_a_statically_quantized_model(name, form, tmp_path):
    original, path = MODELS / f"{name}.onnx", tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantization.quantize_static(
            original,
            path,
            Samples(name, session(str(original))),
            quant_format=quantization.QuantFormat[form],
            per_channel=form == "QDQ",
        )
    same(path, name, 0.05, np.median)
