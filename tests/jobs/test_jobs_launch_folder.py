"""A folder that a server is started in may hold an ``onnx.py``: children import nothing from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from py_autodoc import children

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests" / "data" / "models" / "mnist_cntk.onnx"
TRAPS = ("onnx", "numpy", "msgspec", "json", "google", "onnx_ir", "sitecustomize")
_SERVER = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])  # tests/jobs
import jobs_help
del sys.path[0]
from py_autodoc.jobs import launch
from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
sys.path.insert(0, os.getcwd())  # as python -m has it

async def main():
    kind = {"fork": launch.ForkLauncher, "spawn": launch.SpawnLauncher}[sys.argv[2]]
    queue = JobQueue(kind(), QueueSettings(limits=jobs_help.LIMITS, max_running=1))
    from py_autodoc.jobs.ipc_frames import AnalysisSpec
    from py_autodoc.jobs.file_stamps import Stamp
    path = os.path.abspath("m.onnx")
    job = await queue.submit(AnalysisSpec(path=path, stamp=Stamp.of(os.stat(path)), limits=jobs_help.LIMITS))
    last = await jobs_help.last_state(queue, job.id)
    print(last.state, last.problem)
    await queue.close()

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A model among files that are named as modules; each notes that it was imported."""
    shutil.copy(MODEL, tmp_path / "m.onnx")
    for name in TRAPS:
        noted = f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r} + '\\n')"
        (tmp_path / f"{name}.py").write_text(f"{noted}\nraise ImportError('a trap')\n")
    return tmp_path


def served(folder: Path, kind: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.remove(''); exec({_SERVER!r})",
         str(Path(__file__).parent), kind],
        cwd=folder, env={**os.environ, "PYTHONSAFEPATH": "", "PWD": str(folder), **environ},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_nothing_of_the_launch_folder_is_imported(folder, kind):
    if kind == "fork" and not hasattr(os, "fork"):
        pytest.skip("no fork")
    assert served(folder, kind).splitlines()[-1] == "done None"
    assert not (folder / "imported").exists(), (folder / "imported").read_text()


def test_the_users_own_additions_stay_and_the_folder_does_not(folder, tmp_path, monkeypatch):
    """Of PYTHONPATH what is another folder is kept, behind which the empty entry means the working folder."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(own), ".", str(folder), f"{folder}/."]))
    assert children.python_path() == [str(own)]
    (own / "helps.py").write_text("here = True\n")
    (own / "onnx_tools_of_mine.py").write_text("")
    process = children.popen(
        children.command("import helps, numpy, onnx, py_autodoc; print(helps.here, *sys.path, sep='\\n')"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    out, _ = process.communicate(timeout=60)
    lines = out.decode().splitlines()
    assert (process.returncode, lines[0]) == (0, "True")
    assert str(folder) not in lines
    assert "" not in lines
    assert not (folder / "imported").exists()


def test_what_only_the_server_knows_comes_last(tmp_path, monkeypatch):
    """A path that a start script added is still there, but stands before nothing."""
    (tmp_path / "onnx.py").write_text("raise ImportError('a trap')")
    (tmp_path / "only_here.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    process = children.popen(
        children.command("import onnx, only_here; print(onnx.__file__)"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert str(tmp_path) not in out.decode()
