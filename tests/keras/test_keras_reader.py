"""The process that reads HDF5: its end is one line, whatever ended it; it imports nothing of the folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from py_autodoc import children
from py_autodoc.errors import AnalysisError, AutodocError, InputError, LimitError, RequirementError
from py_autodoc.keras import convert, hdf_child, hdf_reader

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="reads in a thread")
OLD = Path("tests/data/keras/tf2_nested.h5")


def with_child(monkeypatch, first):
    """Has the process run ``first`` before what it is for."""
    plain = children.command
    monkeypatch.setattr(
        children, "command", lambda code, search=(): plain(f"exec({first!r}); {code}", search)
    )


ATTRIBUTE = """
import os, signal, sys
from py_autodoc.keras import safe_hdf5
def attribute(self, name):
    {0}
safe_hdf5.WeightGroup.attribute = attribute
"""


def fault(path, out):
    with pytest.raises(AutodocError) as caught:
        convert(path, out)
    assert not Path(out).exists()
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", InputError, "the HDF5 library failed.*SIGSEGV"),
        ("os.abort()", InputError, "the HDF5 library failed.*SIGABRT"),
        ("os._exit(3)", InputError, "the HDF5 library failed while it read the file\\.$"),
        ("os.kill(os.getpid(), signal.SIGKILL)", LimitError, "takes more memory"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", LimitError, "takes more time"),
        ("raise MemoryError", LimitError, "takes more memory"),
        ("bytes(8 << 30)", LimitError, "takes more memory"),
        ("raise KeyError('a\\nb')", AnalysisError, "an internal error \\(KeyError\\)"),
    ],
)
def test_however_it_ends(tmp_path, monkeypatch, what, kind, said):
    with_child(monkeypatch, ATTRIBUTE.format(what))
    found = fault(OLD, tmp_path / "m.onnx")
    assert isinstance(found, kind)
    assert found.exit_status == (2 if kind is AnalysisError else 1)
    assert re.search(said, found.message), found.message


@pytest.mark.slow
def test_time_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(hdf_reader, "limits", lambda size: (2 << 30, 1.0))
    with_child(monkeypatch, ATTRIBUTE.format("\n    while True: pass"))
    assert fault(OLD, tmp_path / "m.onnx").code == "limit-seconds"


def test_a_process_that_does_not_start_is_not_the_files_fault(tmp_path, monkeypatch):
    with_child(monkeypatch, "raise SystemExit(1)")
    found = fault(OLD, tmp_path / "m.onnx")
    assert isinstance(found, AnalysisError)
    assert found.exit_status == 2


def test_h5py_that_cannot_be_imported(tmp_path, monkeypatch):
    with_child(monkeypatch, "import sys; sys.modules['h5py'] = None")
    assert isinstance(fault(OLD, tmp_path / "m.onnx"), RequirementError)


@pytest.mark.slow
def test_nothing_of_the_launch_folder_is_imported(tmp_path, monkeypatch):
    for name in ("h5py", "numpy", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, os; sys.path.remove(''); import numpy, onnx; "
            f"from py_autodoc.keras import convert; sys.path.insert(0, os.getcwd()); "
            f"convert({str(OLD.absolute())!r}, 'm.onnx')",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("start", [hdf_reader.in_process, hdf_reader.in_thread])
@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f2", "<i8", "|b1"])
def test_values_cross_in_pieces(tmp_path, monkeypatch, start, kind):
    """Also those that are cut otherwise in the file, of other byte orders, and none at all."""
    monkeypatch.setattr(hdf_child, "PIECE_BYTES", 1 << 10)
    values = np.random.default_rng(0).integers(0, 2, (70, 33)).astype(kind)
    path = tmp_path / "w.h5"
    with h5py.File(path, "w") as file:
        file["a"] = values
        file.create_dataset("b", data=values, chunks=(9, 20), compression="gzip")
        file["c"] = values[0, 0]
        file["d"] = values[:0]
        file["kind"] = values.dtype
    with open(path, "rb") as file:
        reader = start(file, "w.h5", path.stat().st_size)
        top = hdf_reader.RawGroup(reader)
        for name, expected in (("a", values), ("b", values), ("c", values[0, 0]), ("d", values[:0])):
            stored = top.dataset(name)
            assert stored.shape == expected.shape
            np.testing.assert_array_equal(stored.read(), expected)
        assert top.dataset("e") is None
        assert top.dataset("kind") is None
        assert top.group("kind") is None
        assert top.names() == ["a", "b", "c", "d", "kind"]
        assert reader.end(0.0) in (None, 0, -9)


def test_no_process_is_left(tmp_path, monkeypatch):
    started = []
    plain = children.popen

    def popen(*arguments, **options):
        started.append(plain(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(children, "popen", popen)
    convert(OLD, tmp_path / "m.onnx")
    with pytest.raises(InputError), open(OLD, "rb") as file, hdf_reader.opened(file, "m.h5", 0):
        raise InputError("x", "y")
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    for process in started:
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
