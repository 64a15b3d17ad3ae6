"""Small files that would unpack to much: refused in one line and little memory. Each in its own process."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import make_models as m
import pytest

from py_autodoc.bounded import TooMuch, check_json, check_toml, parse_json
from py_autodoc.graph.ir import exporter_records
from py_autodoc.limits import SETTINGS, Bounds

pytestmark = pytest.mark.slow

MOST = 400 << 20
"""Bytes; Python with onnx takes 60 MB, a whole reading of Keras' h5py 80."""
_CHILD = """
import sys
from py_autodoc.cli.app import app
try:
    app.main(sys.argv[1:])
finally:
    # What the process that started this one had counts in getrusage, not here.
    with open("/proc/self/status") as status, open("peak", "w") as file:
        file.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def lists(count: int) -> bytes:
    """As many empty lists in a few bytes of gzip."""
    return b'{"a":[' + b"[]," * count + b"[]]}"


def keras_description(folder: Path) -> list[str]:
    with zipfile.ZipFile(folder / "m.keras", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("config.json", lists(80 << 20))
        archive.writestr("metadata.json", "{}")
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n" + bytes(100))
    return ["export", "m.keras", "out.onnx"]


def keras_description_of_less(folder: Path) -> list[str]:
    """Below the bound on its bytes."""
    with zipfile.ZipFile(folder / "m.keras", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("config.json", lists(20 << 20))
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n" + bytes(100))
    return ["export", "m.keras", "out.onnx"]


def _model(folder: Path, **entries: str) -> None:
    model = m.good()
    for key, value in entries.items():
        model.metadata_props.add(key=key, value=value)
    m.save(model, folder, "m.onnx")


def _packed(data: bytes) -> str:
    return "gz:" + base64.urlsafe_b64encode(gzip.compress(data, 9)).decode()


def wide_metadata(folder: Path) -> list[str]:
    wide = _packed(lists(5 << 20))
    _model(folder, hf_schema_version="1.0", hf_config=wide, hf_processor_config=wide)
    return ["metadata", "m.onnx", "--json"]


def deep_metadata(folder: Path) -> list[str]:
    _model(folder, hf_schema_version="1.0", hf_config=_packed(b'{"a":' * 900 + b"1" + b"}" * 900))
    return ["metadata", "m.onnx", "--json"]


def table(folder: Path) -> list[str]:
    rows = b'["","","",[],{},[]],' * (3 << 20) + b'["","","",[],{},[]]'
    start = b'{"v":1,"exporter":"","keep":[],"modules":[],"aliases":{},"records":['
    data = gzip.compress(start + rows + b'],"nodes":[]}', 9)
    _model(folder, **{exporter_records.TABLE: exporter_records._PREFIX + base64.b85encode(data).decode()})
    return ["tags", "m.onnx"]


def dotted_key(folder: Path) -> list[str]:
    m.save(m.good(), folder, "m.onnx")
    (folder / "t.toml").write_text("a." * 30_000 + "a = 1\n")
    return ["analyze", "m.onnx", "--thresholds", "t.toml"]


def dotted_table(folder: Path) -> list[str]:
    m.save(m.good(), folder, "m.onnx")
    (folder / "t.toml").write_text("[" + '"a" . ' * 30_000 + "a]\n")
    return ["analyze", "m.onnx", "--thresholds", "t.toml"]


def deep_toml(folder: Path) -> list[str]:
    m.save(m.good(), folder, "m.onnx")
    (folder / "t.toml").write_text("a = " + "[" * 100_000)
    return ["analyze", "m.onnx", "--thresholds", "t.toml"]


def deep_json(folder: Path) -> list[str]:
    m.save(m.good(), folder, "m.onnx")
    (folder / "t.json").write_text('{"a":' * 50_000)
    return ["analyze", "m.onnx", "--thresholds", "t.json"]


def deep_profile(folder: Path) -> list[str]:
    m.save(m.good(), folder, "m.onnx")
    (folder / "d.json").write_text('{"a":' * 50_000)
    return ["analyze", "m.onnx", "--hardware", "./d.json"]


REFUSED = [
    keras_description, keras_description_of_less, dotted_key, dotted_table,
    deep_toml, deep_json, deep_profile,
]  # fmt: skip
LEFT_OUT = [wide_metadata, deep_metadata, table]
"""What the model says about itself is not needed to say what the model is."""


@pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does")
@pytest.mark.parametrize("make", [*REFUSED, *LEFT_OUT], ids=lambda make: make.__name__)
def test_bomb(make, tmp_path):
    if "keras" in make.__name__:
        pytest.importorskip("h5py")
    arguments = make(tmp_path)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert size < 300_000
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert int((tmp_path / "peak").read_text()) * 1024 < MOST
    assert done.returncode == (0 if make in LEFT_OUT else 1), done.stderr
    assert "fault in" not in done.stderr
    assert len(done.stdout) < 1 << 20
    assert not (tmp_path / "out.onnx").exists()
    if make in REFUSED:
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("error: ")
        assert len(done.stderr) < 400


def test_bounds_count_what_is_there():
    assert parse_json('{"a": [1, 2, {"b": "[[[[,,,,"}]}', Bounds(values=20, depth=3))["a"][0] == 1
    with pytest.raises(TooMuch, match="deeper than 2 levels"):
        check_json('{"a": [1, 2, {"b": 1}]}', Bounds(values=20, depth=2))
    with pytest.raises(TooMuch, match="more than 4 values"):
        check_json(b'{"a": [1, 2, {"b": 1}]}', Bounds(values=4))
    # Depth is that of the nesting, not how many there are, nor what stands in texts.
    check_json("[" + "[]," * 100 + json.dumps("[" * 500 + '"\\') + "]", SETTINGS)
    check_json(b'["\\"[[[", {"a": "\\\\"}, "]"]', Bounds(values=9, depth=2))
    for text in ("{", '"', "[1,", "nan?"):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text, SETTINGS)


def test_what_threshold_files_hold_is_within_bounds():
    usual = "# e.g. this. And that.\nfloor = 'low'\n[deep-chain]\nmin_layers = 40\nx = [1.0, 2.0]\n" * 40
    check_toml(usual, SETTINGS)
    check_toml('[a."b.c".d]\nx = 1.5\n' * 100, SETTINGS)
    with pytest.raises(TooMuch, match="key of more than 16 parts"):
        check_toml("x = 1\n" + " . ".join(["a", "'b'", '"c"'] * 6) + " = 1\n", SETTINGS)
