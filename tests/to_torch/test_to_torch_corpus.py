"""Every model of the corpus as PyTorch source: written, loaded, run, equal to ONNX Runtime.

Weights that a file was stripped of are random; the small models are also converted after each of ONNX
Runtime's ways to quantize them.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from narrowed_models import NARROWED, narrow
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
    """The model in ``folder``, narrowed, with the weights that its file was stripped of."""
    proto = onnx.load(path, load_external_data=False)
    if sizes := NARROWED.get(f"{path.parent.name}/{path.stem}"):
        narrow(proto, sizes)
    block = ((np.random.default_rng(1).random(1 << 18, np.float32) - 0.5) * 0.08).tobytes()
    with open(folder / "weights.bin", "wb") as out:
        for one in proto.graph.initializer:
            if one.data_location != onnx.TensorProto.EXTERNAL:
                continue
            size = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(one.data_type)).itemsize
            length = math.prod(one.dims) * size
            del one.external_data[:]
            for key, value in (("location", "weights.bin"), ("offset", out.tell()), ("length", length)):
                one.external_data.add(key=key, value=str(value))
            # A variance must not be negative; what is no float are indices.
            odd = one.data_type != onnx.TensorProto.FLOAT or "var" in one.name
            for start in range(0, length, len(block)):
                left = min(len(block), length - start)
                out.write(bytes(left) if odd else block[:left])
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
