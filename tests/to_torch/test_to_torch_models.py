"""Whole models: what the written file computes, at two sizes, and how it reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from torch_files import imported, run, session

from py_autodoc.to_torch import uncovered, write

pytestmark = pytest.mark.slow

MODELS = Path("tests/data/models")
STRIPPED = sorted(Path("tests/data/stripped").glob("*.onnx"))
SIZES: dict[str, tuple[dict[str, list[int]], dict[str, list[int]]]] = {
    "dnsmos_sig_bak_ovr": ({"input_1": [1, 144160]}, {"input_1": [2, 144160]}),
    "ppocr_cls_v2": ({"x": [1, 3, 48, 192]}, {"x": [2, 3, 48, 160]}),
    "ppocr_v4_det": ({"x": [1, 3, 64, 64]}, {"x": [2, 3, 96, 128]}),
    "silero_vad_half": (
        {"input": [1, 576], "state": [2, 1, 128]},
        {"input": [3, 320], "state": [2, 3, 128]},
    ),
    "swift_f0": ({"audio": [1, 4096]}, {"audio": [1, 9000]}),
}
TOLERANCE = {"basic_pitch_nmp": 3e-4}
"""Relative to the largest result; 1e-5 elsewhere. This one takes the logarithm of what is nearly zero."""
NAMES = sorted(path.stem for path in MODELS.glob("*.onnx") if ".stripped" not in path.name)


def feeds(name: str, oracle, number: int) -> dict[str, np.ndarray]:
    """Random inputs; free sizes are others the second time."""
    rng = np.random.default_rng(number)
    made = {}
    for one in oracle.get_inputs():
        given = SIZES.get(name, ({}, {}))[number].get(one.name)
        shape = given or [n if isinstance(n, int) and n > 0 else (2, 3)[number] for n in one.shape]
        kind = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}[one.type]
        if name == "trt_loop":
            made[one.name] = np.array([1 + 3 * number], kind)
        elif name == "silero_vad_half" and one.name == "sr":
            made[one.name] = np.array([16000, 8000][number])
        elif one.name in ("fmin", "fmax"):
            made[one.name] = np.array({"fmin": 50, "fmax": 1500}[one.name], kind)
        elif kind == np.float32:
            made[one.name] = rng.standard_normal(shape).astype(kind)
        else:
            made[one.name] = rng.integers(0, 2 if one.name == "xs_1" else 200, shape).astype(kind)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_onnx_runtime(name, tmp_path):
    path = MODELS / f"{name}.onnx"
    write(path, tmp_path / "model.py")
    oracle, module = session(str(path)), imported(tmp_path / "model.py")
    model = module.load()
    for number in range(2):
        given = feeds(name, oracle, number)
        results = run(module, given, model)
        expected = oracle.run(None, given)
        assert len(results) == len(expected) == len(module.OUTPUTS)
        for result, wanted in zip(results, expected, strict=True):
            assert (result.numpy().dtype, tuple(result.shape)) == (wanted.dtype, wanted.shape)
            limit = TOLERANCE.get(name, 1e-5) * max(np.abs(wanted).max(), 0.1)
            assert np.abs(result.numpy() - wanted).max() <= limit


def test_written_files_are_clean(tmp_path):
    for name in NAMES:
        write(MODELS / f"{name}.onnx", tmp_path / f"{name}.py")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "110", str(tmp_path)]
    rules = ["--select", "E,F,W,I,B,UP,C4,RUF"]
    for command in (["check", *rules, *options], ["format", "--check", *options]):
        done = subprocess.run([*ruff, *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*STRIPPED, *MODELS.glob("*.stripped.onnx")], ids=lambda p: p.stem)
def test_every_operator_of_the_large_models_is_covered(path):
    assert uncovered(path) == ()


def test_a_written_file_runs_by_itself(tmp_path):
    write(MODELS / "mnist_cntk.onnx", tmp_path / "model.py")
    done = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "model.py")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "Plus214_Output_0 torch.float32 [1, 10]\n"


def test_writing_needs_no_torch():
    code = (
        "import sys, tempfile, pathlib, py_autodoc\n"
        "out = pathlib.Path(tempfile.mkdtemp()) / 'model.py'\n"
        "py_autodoc.to_torch.write('tests/data/models/bert_tiny.onnx', out, weights='safetensors')\n"
        "print(out.exists(), {'torch', 'onnxruntime', 'safetensors', 'transformers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True set()\n"
