"""Nothing is left of killed and cancelled work: no process, and no data in the temporary folder."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
LIMIT_S = 60.0
MODEL = Path(__file__).parents[1] / "data/models/mnist_cntk.onnx"

# What a task does: it leaves data in every place where libraries put them, and then works for ever.
TASK = """
import os, subprocess, sys, tempfile, time
from contextlib import ExitStack
from py_autodoc import children, process_limits
from py_autodoc import temporary
from py_autodoc.tasks import child
WATCHED_ONLY = {watched}
if WATCHED_ONLY:
    process_limits.die_with_parent = lambda parent: None

def work(request, files, report):
    held = ExitStack()
    folder = held.enter_context(temporary.scratch())
    (folder / "model.onnx").write_bytes(bytes(1000))
    held.enter_context(temporary.file(folder.__class__(os.path.dirname(files.out))))
    with open(os.path.join(tempfile.mkdtemp(), "optimized.onnx"), "wb") as file:
        file.write(bytes(1000))
    with open(os.path.join(os.environ["TMPDIR"], "of a library"), "wb") as file:
        file.write(bytes(1000))
    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    report(str(os.getpid()) + " " + str(helper.pid), 0, 0)
    while True:
        time.sleep(1)

child.run_task = work
child.main({server})
"""
SERVER = """
import asyncio, os, sys
from py_autodoc import children
from py_autodoc.jobs.memory_budget import MemoryBudget
from py_autodoc.report.schema import TaskRequest
from py_autodoc.tasks import process
from py_autodoc.tasks.kinds import TaskFiles
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.protocol import Order
from py_autodoc.tasks.uploads import Uploads

def start():
    code = TASK.format(server=os.getpid(), watched=WATCHED)
    return children.popen(children.command(f"exec({code!r})"), stdin=-1, stdout=-1, stderr=2, bufsize=0)

process.start_process = start

async def main():
    uploads = Uploads()
    uploads.add("profile.json", b"private")
    manager = TaskManager(600.0, MemoryBudget(1 << 20))
    files = TaskFiles(model="m.onnx", out=OUT)
    request = TaskRequest(kind="x", path="m")
    number = manager.start(Order(request=request, files=files, memory_bytes=8 << 30)).id
    while not manager.get(number)[0].step:
        await asyncio.sleep(0.02)
    print(manager.get(number)[0].step, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    manager.cancel(number)
    await manager.close()
    uploads.close()
    print("closed", flush=True)

asyncio.run(main())
"""


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie, which nobody has waited for, does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


def all_gone(pids: list[int]) -> bool:
    until = time.monotonic() + LIMIT_S
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


@pytest.fixture
def folders(tmp_path) -> tuple[Path, Path]:
    """The temporary folder, and that of a result."""
    made = tmp_path / "temporary", tmp_path / "results"
    for one in made:
        one.mkdir()
    return made


def served(folders: tuple[Path, Path], watched: bool = False) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a server with a task at work; return it with the processes of the task."""
    temporary, results = folders
    names = {"TASK": TASK, "WATCHED": watched, "OUT": str(results / "q.onnx")}
    server = subprocess.Popen(
        [sys.executable, "-c", "".join(f"{name} = {value!r}\n" for name, value in names.items()) + SERVER],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    pids = [int(word) for word in server.stdout.readline().split()]
    assert len(pids) == 2
    return server, pids


def entries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_cancelled_task_leaves_nothing(folders):
    server, pids = served(folders)
    assert len(entries(folders[0])) > 3
    out, _ = server.communicate("\n", timeout=LIMIT_S)
    assert out.strip() == "closed"
    assert all_gone(pids)
    assert entries(folders[0]) == []
    assert entries(folders[1]) == []


@pytest.mark.parametrize("watched", [False, True], ids=["by the kernel", "by the closed pipe"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_killed_server_ends_its_tasks_and_the_next_start_removes_its_data(folders, number, watched):
    server, pids = served(folders, watched)
    server.send_signal(number)
    server.wait(LIMIT_S)
    # The helper was started by a library, without our care: only the pipe's watcher can end it as well.
    assert all_gone(pids if watched else pids[:1])
    for pid in pids[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    code = "from py_autodoc import temporary; temporary.sweep_scratch()"
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(folders[0])},
        check=True,
        timeout=LIMIT_S,
    )
    assert entries(folders[0]) == []


def test_the_start_of_a_server_removes_what_a_killed_one_left(tmp_path, monkeypatch):
    """Locked folders, of runs that are still at work, stay."""
    import tempfile

    from py_autodoc import temporary

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / temporary.name()
    left.mkdir()
    (left / "upload").write_bytes(b"private")
    with temporary.scratch() as used:
        left.mkdir(exist_ok=True)
        temporary.sweep_scratch()
        assert used.is_dir()
        assert not left.exists()


RUN = f"""
import numpy as np
from py_autodoc.runner import memory
memory._CODE = "import time; time.sleep(600)"
sample = {{"x": np.frombuffer(b"private data" * 1000, np.uint8)}}
print("begins", flush=True)
memory.process_memory({str(MODEL)!r}, sample)
"""


@pytest.mark.skipif(
    not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists(), reason="Linux lists the children"
)
def test_a_killed_measurement_leaves_no_sample(tmp_path):
    """The values of the inputs go to the child by a file without a name."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stdout.readline().strip() == "begins"
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    until = time.monotonic() + LIMIT_S
    while not children.read_text() and time.monotonic() < until:
        assert run.poll() is None
        time.sleep(0.005)
    started = [int(pid) for pid in children.read_text().split()]
    assert started
    run.kill()
    run.wait(LIMIT_S)
    for pid in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert entries(tmp_path) == []


def test_the_child_of_a_measurement_ends_with_it():
    from py_autodoc.runner import memory

    code = memory._CODE.format(path="", threads=0, format="", parent=7)
    assert code.index("die_with_parent(7)") < code.index("onnxruntime")
