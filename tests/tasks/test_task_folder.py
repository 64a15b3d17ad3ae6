"""Tasks are started as analyses are: nothing comes from the launch folder, no secret goes to them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data/quant"
TRAPS = (
    "onnxruntime", "msgspec", "numpy", "json", "onnx", "google", "tempfile", "threading", "sitecustomize",
    "usercustomize", "encodings", "py_autodoc", "click", "importlib_metadata", "resource", "traceback",
)  # fmt: skip
SECRETS = ("JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "ONNX_AUTODOC_LLM_KEY", "AWS_SECRET_ACCESS_KEY")
_SERVER = """
import asyncio, json, os, sys
from py_autodoc.jobs.memory_budget import MemoryBudget
from py_autodoc.report.schema import TaskRequest
from py_autodoc.tasks.kinds import TaskFiles
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.protocol import Order
sys.path.insert(0, os.getcwd())  # as python -m has it

async def main():
    manager = TaskManager(300.0, MemoryBudget(1 << 30))
    for request, files in json.loads(sys.argv[1]):
        order = Order(request=TaskRequest(**request), files=TaskFiles(**files), memory_bytes=8 << 30)
        number = manager.start(order).id
        while True:
            task, result = manager.get(number)
            if task.state not in ("queued", "running"):
                break
            await asyncio.sleep(0.05)
        print(json.dumps([task.kind, task.state, task.problem and task.problem.detail]))

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A model among files and folders that are named as modules; each notes that it was imported."""
    shutil.copy(DATA / "digits_cnn.onnx", tmp_path / "m.onnx")
    shutil.copy(DATA / "digits.npz", tmp_path)
    for index, name in enumerate(TRAPS):
        trap = tmp_path / f"{name}.py"
        if index % 2:
            (tmp_path / name).mkdir()
            trap = tmp_path / name / "__init__.py"
        noted = f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r} + '\\n')"
        trap.write_text(f"{noted}\nraise ImportError('a trap')\n")
    return tmp_path


def every_kind(folder: Path) -> list[tuple[dict[str, object], dict[str, object]]]:
    from py_autodoc.tasks.kinds import KINDS

    model, data = str(folder / "m.onnx"), str(folder / "digits.npz")
    (folder / "t.json").write_text(json.dumps({"conv1": 0.5}))
    tasks = []
    for kind in KINDS:
        files: dict[str, object] = {"model": model, "data": data}
        if kind == "quantize":
            files["out"] = str(folder / "q.onnx")
        if kind == "verify":
            files["against"] = model
        if kind == "profile":
            files |= {"data": None, "profiles": [str(folder / "t.json")]}
        tasks.append(({"kind": kind, "path": "m.onnx", "samples": 2}, files))
    return tasks


@pytest.mark.slow
def test_every_kind_among_files_named_as_modules(folder):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.remove(''); exec({_SERVER!r})",
         json.dumps(every_kind(folder))],
        cwd=folder, env={**os.environ, "PYTHONSAFEPATH": "", "PWD": str(folder)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    states = {kind: (state, detail) for kind, state, detail in map(json.loads, done.stdout.splitlines())}
    # The profile names no node of this model: that it is read is enough.
    assert states.pop("profile", ("", ""))[0] == "failed", done.stderr
    assert {state for state, _ in states.values()} == {"done"}, (states, done.stderr)
    assert not (folder / "imported").exists(), (folder / "imported").read_text()


def test_the_process_sees_no_secret_and_no_folder_of_ours(tmp_path, monkeypatch):
    """Asked of a process that a task starts, with the code that it runs replaced at the end."""
    from py_autodoc import children
    from py_autodoc.tasks import process

    for name in SECRETS:
        monkeypatch.setenv(name, "a secret")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    commands: list[list[str]] = []
    told = "import json, os; print(json.dumps([dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid()]))"
    command = children.command

    def ask(code: str) -> list[str]:
        commands.append(command(code))
        return command(told)

    monkeypatch.setattr(children, "command", ask)
    started = process.start_process()
    out, _ = started.communicate(timeout=60)
    environ, folder, own_session = json.loads(out)
    assert not {*environ} & {*SECRETS}
    assert "a secret" not in environ.values()
    assert folder == os.path.abspath(os.sep)
    assert own_session
    assert commands[0][:2] == [sys.executable, "-c"]
    assert "a secret" not in commands[0][2]


@pytest.mark.slow
def test_plugins_of_the_users_packages_are_found(tmp_path, monkeypatch):
    """A quantizer that an installed package offers is found by the process of a task."""
    from py_autodoc import children
    from py_autodoc.quantize.choices import GROUP

    own = tmp_path / "site"
    info = own / "mine-1.0.dist-info"
    info.mkdir(parents=True)
    (own / "mine_quantizer.py").write_text("def method(*_, **__): raise SystemExit(0)\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = mine_quantizer:method\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    asked = (
        "from importlib.metadata import entry_points; "
        f"print([one.name for one in entry_points(group={GROUP!r})])"
    )
    started = children.popen(children.command(asked), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    out, _ = started.communicate(timeout=60)
    assert "'mine'" in out.decode()
