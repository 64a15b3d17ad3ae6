"""What a killed run leaves is removed by the next one; what a live run needs is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from py_autodoc import temporary
from py_autodoc.outputs import check_output

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks")
_CHILD = """
import sys, time
from pathlib import Path
from py_autodoc import temporary
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


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob(".autodoc-*.tmp"))


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    child = started(tmp_path)
    try:
        assert len(left(tmp_path)) == 2
        # It is alive: nothing of it is touched.
        check_output(tmp_path / "a", "report").write(b"{}")
        assert len(left(tmp_path)) == 2
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert len(left(tmp_path)) == 2
    temporary._swept.clear()
    check_output(tmp_path / "b", "report").write(b"{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_where_there_are_no_locks_age_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "fcntl", None)
    with temporary.file(tmp_path) as (_, young), temporary.folder(tmp_path) as folder:
        temporary._swept.clear()
        temporary.sweep(tmp_path)
        assert left(tmp_path) == sorted([young, folder])
        then = time.time() - 2 * 24 * 3600
        for path in (young, folder):
            os.utime(path, (then, then))
        temporary._swept.clear()
        temporary.sweep(tmp_path)
        assert left(tmp_path) == []


def test_a_run_that_sweeps_meanwhile_takes_nothing_away(tmp_path, monkeypatch):
    """Between making a file and locking it another run may remove it: then there is another one."""
    real, names = temporary._lock, []

    def late(fd: int) -> bool | None:
        if not names:
            names.extend(left(tmp_path))
            for path in names:
                path.unlink()
        return real(fd)

    monkeypatch.setattr(temporary, "_lock", late)
    with temporary.file(tmp_path) as (file, path):
        file.write(b"whole")
        file.flush()
        assert path.read_bytes() == b"whole"
        assert path not in names
    assert len(names) == 1
    assert left(tmp_path) == []


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
