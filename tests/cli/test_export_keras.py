"""``export`` of files of Keras from outside: read directly, or run by Keras on torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app

pytestmark = pytest.mark.slow

DATA = Path("tests/data/keras").resolve()


def run(*args):
    done = CliRunner().invoke(app, ["export", *map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_a_file_is_read_directly(tmp_path):
    out = tmp_path / "m.onnx"
    code, text, err = run(
        DATA / "vww_96.h5", out, "--report-json", "-", "--report-md", tmp_path / "m.md", "--opset", "21"
    )
    assert code == 0, err
    report = json.loads(text)
    assert report["exporter"] == "keras"
    assert report["source"] == {
        "kind": "keras", "name": "vww_96.h5", "format": "h5", "keras": "2.4.0", "class": "Functional",
        "parameters": 221794, "weight_types": ["float32"],
    }  # fmt: skip
    (model,) = report["models"]
    assert model["opset"] == {"ai.onnx": 21}
    assert model["coverage"]["shares"] == {"traced": 1.0, "inferred": 0.0, "unknown": 0.0}
    assert [one["name"] for one in model["files"]] == ["m.onnx", "m.onnx.json"]
    assert set(report["seconds"]) == {"load", "export", "tag", "save", "sidecar"}
    assert "| traced | 86 | 100 % |" in (tmp_path / "m.md").read_text()
    assert "Functional · 222 K parameters" in err
    assert str(tmp_path) not in text
    checked = CliRunner().invoke(app, ["validate", str(out)])
    assert checked.exit_code == 0, checked.output


def test_neither_keras_nor_torch_is_loaded(tmp_path):
    script = f"""
import sys
sys.argv = ["onnx-autodoc", "export", {str(DATA / "ad01.h5")!r}, {str(tmp_path / "m.onnx")!r}]
from py_autodoc.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
loaded = {{name.partition(".")[0] for name in sys.modules}}
print(sorted(loaded & {{"torch", "keras", "tensorflow", "transformers"}}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_sizes_and_weights(tmp_path):
    out = tmp_path / "m.onnx"
    code, _, err = run(DATA / "ad01.h5", out, "--input-shape", "3x640", "--no-sidecar", "--external-data")
    assert code == 0, err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["m.onnx", "m.onnx.data"]
    proto = onnx.load(out, load_external_data=False)
    assert [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim] == [3, 640]


@pytest.mark.parametrize(
    "option",
    [
        ("--dynamic", "batch"),
        ("--inputs", "x.npz"),
        ("--keep", "Dense"),
        ("--jit-graph", "g.txt"),
        ("--batch-size", "2"),
    ],
)
def test_options_of_traced_models(option, tmp_path):
    code, _, err = run(DATA / "ad01.h5", tmp_path / "m.onnx", *option)
    assert code == 1
    assert err.startswith(f"error: {option[0]} does not apply to Keras files")
    assert not list(tmp_path.iterdir())


def test_faults_are_one_line(tmp_path):
    (tmp_path / "bad.keras").write_bytes(b"PK\x03\x04" + bytes(100))
    for source in ("none.h5", tmp_path / "bad.keras"):
        code, out, err = run(source, tmp_path / "m.onnx")
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert err.startswith("error: ")
    assert [one.name for one in tmp_path.iterdir()] == ["bad.keras"]


_EXPORT_TWICE = """
import sys
from py_autodoc.cli import main

source, folder, *exporters = sys.argv[1:]
for exporter in exporters:
    sys.argv = ["onnx-autodoc", "export", source, f"{folder}/{exporter}.onnx", "--exporter", exporter]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    print("END OF", exporter, file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def on_torch(tmp_path_factory):
    """Folder of the files and stderr by exporter, of one process for both: it picks Keras' backend."""
    folder = tmp_path_factory.mktemp("on_torch")
    exporters = ("dynamo", "torchscript")
    command = [sys.executable, "-c", _EXPORT_TWICE, str(DATA / "ad01.h5"), str(folder), *exporters]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, left = {}, done.stderr
    for exporter in exporters:
        said[exporter], left = left.split(f"END OF {exporter}", 1)
    return folder, said


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_keras_on_torch_computes_the_same(exporter, on_torch):
    """The way for layers that are not read directly."""
    folder, said = on_torch
    assert "Keras does not call its layers as torch does" in " ".join(said[exporter].split())
    x = np.load(DATA / "ad01.npz")
    session = onnxruntime.InferenceSession(str(folder / f"{exporter}.onnx"))
    (given,) = session.get_inputs()
    (got,) = session.run(None, {given.name: x["x"][:1]})
    np.testing.assert_allclose(got, x["y"][:1], rtol=1e-4, atol=1e-4)
