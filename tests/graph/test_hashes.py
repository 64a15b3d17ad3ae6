"""SHA-256 of files: what they are of, how they are remembered, when not."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc import analyze
from py_autodoc.errors import InputError
from py_autodoc.graph.loading import file_hashes as module
from py_autodoc.graph.loading.file_hashes import hashes

OLD = 1_600_000_000


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    return tmp_path / "cache" / "onnx-autodoc" / "sha256.json"


def sha(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def aged(path):
    """A file that nobody writes to any more."""
    os.utime(path, (OLD, OLD))
    return path


def saved(path, seed: int, external: bool = False):
    """x · w with weights of their own."""
    values = np.random.default_rng(seed).random((64, 64), np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])],
        [numpy_helper.from_array(values, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, path, save_as_external_data=external, location="w.bin", size_threshold=0)
    return path


def test_the_hash_tells_retrained_files_apart_that_the_identity_does_not(tmp_path):
    first, second = (saved(tmp_path / f"{seed}.onnx", seed) for seed in (1, 2))
    a, b = analyze(first, hash=True).model, analyze(second, hash=True).model
    assert a.identity == b.identity
    assert (a.sha256, b.sha256) == (sha(first), sha(second))
    assert a.sha256 != b.sha256
    assert a.external_sha256 == {}
    assert analyze(first).model.sha256 is None


def test_external_files_have_their_own(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first = saved(tmp_path / "a" / "m.onnx", 1, external=True)
    second = saved(tmp_path / "b" / "m.onnx", 2, external=True)
    a, b = (analyze(path, hash=True).model for path in (first, second))
    assert a.sha256 == b.sha256
    assert a.external_sha256 == {"w.bin": sha(first.with_name("w.bin"))}
    assert a.external_sha256 != b.external_sha256
    first.with_name("w.bin").unlink()
    assert analyze(first, hash=True).model.external_sha256 == {"w.bin": None}


def test_bytes_have_one_and_models_in_memory_none(tmp_path):
    path = saved(tmp_path / "m.onnx", 1)
    assert analyze(path.read_bytes(), hash=True).model.sha256 == sha(path)
    assert analyze(onnx.load(path), hash=True).model.sha256 is None


def test_progress_counts_bytes_over_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1000)
    path = saved(tmp_path / "m.onnx", 1, external=True)
    told = []
    hashes(str(path), ["w.bin"], lambda done, total: told.append((done, total)))
    whole = path.stat().st_size + 64 * 64 * 4
    assert told[0] == (0, whole)
    assert told[-1] == (whole, whole)
    assert len(told) > 16
    assert told == sorted(told)


def test_a_hash_is_remembered_until_the_file_is_another(tmp_path, monkeypatch, own_cache):
    path = aged(saved(tmp_path / "m.onnx", 1))
    monkeypatch.setattr(module, "SETTLED_NS", -(1 << 62))
    first = hashes(str(path)).model
    assert own_cache.exists()
    read = []
    monkeypatch.setattr(module.hashlib, "sha256", lambda *a: read.append(1) or hashlib.new("sha256", *a))
    assert hashes(str(path)).model == first
    before = len(read)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, (OLD, OLD))  # size and modification time are those of before
    assert hashes(str(path)).model == sha(path) != first
    assert len(read) > before


def test_what_a_killed_run_left_of_the_cache_goes(tmp_path, monkeypatch, own_cache):
    monkeypatch.setattr(module, "SETTLED_NS", -(1 << 62))
    own_cache.parent.mkdir(parents=True)
    left = own_cache.parent / ".autodoc-1-0123456789abcdef.tmp"
    left.write_bytes(b"half a cache")
    os.utime(left, (OLD, OLD))
    hashes(str(saved(tmp_path / "m.onnx", 1)))
    assert [file.name for file in own_cache.parent.iterdir()] == [own_cache.name]


def test_a_file_that_was_just_written_is_not_remembered(tmp_path, own_cache):
    hashes(str(saved(tmp_path / "m.onnx", 1)))
    assert not own_cache.exists()


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"a": 1}', b"\xff"])
def test_a_broken_cache_is_no_cache(tmp_path, own_cache, content):
    own_cache.parent.mkdir(parents=True)
    own_cache.write_bytes(content)
    path = saved(tmp_path / "m.onnx", 1)
    assert hashes(str(path)).model == sha(path)


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(module, "SETTLED_NS", -(1 << 62))
    path = saved(tmp_path / "m.onnx", 1)
    assert hashes(str(path)).model == sha(path)


def test_a_file_that_changes_meanwhile_has_no_hash(tmp_path):
    path = saved(tmp_path / "m.onnx", 1)

    def change(done, total):
        if done:
            with open(path, "ab") as file:
                file.write(b"more")

    with pytest.raises(InputError, match="changed while it was read"):
        hashes(str(path), (), change)
