"""What a killed run leaves is removed by the next one; what a live run needs is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from py_autodoc.outputs import place, temporary

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks")
_CHILD = """
import sys, time
from pathlib import Path
from py_autodoc.outputs import temporary
with temporary.file(Path(sys.argv[1])) as (file, path), temporary.folder(Path(sys.argv[1])) as folder:
    file.write(b"half")
    file.flush()
    (folder / "inside").write_bytes(b"half")
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(temporary, "_swept", {})


def started(folder: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def older(folder: Path, seconds: float) -> list[Path]:
    found = sorted(folder.glob(".autodoc-*.tmp"))
    for path in found:
        then = time.time() - seconds
        os.utime(path, (then, then))
    return found


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    child = started(tmp_path)
    try:
        assert len(older(tmp_path, 3600)) == 2
        # It is alive: nothing of it is touched.
        place(tmp_path / "a", "report").write(b"{}")
        assert len(older(tmp_path, 3600)) == 2
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert len(older(tmp_path, 3600)) == 2
    temporary._swept.clear()
    place(tmp_path / "b", "report").write(b"{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_what_was_just_made_is_left(tmp_path):
    young = tmp_path / temporary.name()
    young.write_bytes(b"")
    temporary.sweep(tmp_path)
    assert young.exists()
    older(tmp_path, 3600)
    temporary._swept.clear()
    temporary.sweep(tmp_path)
    assert not young.exists()


def test_other_names_and_what_links_lead_to_are_left(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("mine")
    others = [tmp_path / ".autodoc-1-0123.tmp", tmp_path / "autodoc-1-0123456789abcdef.tmp"]
    for path in others:
        path.write_text("mine")
    link = tmp_path / temporary.name()
    link.symlink_to(kept)
    then = time.time() - 2 * 24 * 3600
    os.utime(link, (then, then), follow_symlinks=False)
    temporary.sweep(tmp_path)
    assert kept.read_text() == "mine"
    assert all(path.exists() for path in others)
    assert not link.is_symlink()
