"""What holds for every run that writes: inputs stay, and a killed run leaves the old file or the new one."""

from __future__ import annotations

import functools
import os
import signal
import sys
import tempfile
from pathlib import Path

import writers
from click.testing import CliRunner

from py_autodoc import temporary
from py_autodoc.cli.app import app

KILLED = ("analyze", "check", "compare", "export", "extract", "graph", "quantize", "rebatch", "recommend",
          "resize", "run", "sensitivity", "sweep", "to-torch", "verify")  # fmt: skip
"""Commands whose runs are killed: with the inputs of ``writers`` they end well, within a few seconds."""
NEVER_WRITTEN = frozenset({"jit_graph", "fx_graph"})
"""Options that need another source than a file of Keras."""
_EVENTS = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.truncate",
    "os.link",
    "os.symlink",
)
"""Audit events of changes to the file system; ``open`` counts if it is for writing."""


def overwrite(writer: writers.Writer, file: str, way: str, force: bool, extra: tuple[str, ...] = ()) -> str:
    """Run a command with an input as its output. Returns: what is wrong, or an empty text."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writers.fill(folder)
        target = writers.alias(folder, file, way)
        before = writers.content(folder)
        if writer.parameter in writers.FOLDERS:
            target = os.path.dirname(target) or "."
        arguments = writer.arguments(target, *extra, *(["--force"] if force and writer.forced() else []))
        os.chdir(folder)
        try:
            done = CliRunner().invoke(app, arguments)
        finally:
            os.chdir(home)
        after = writers.content(folder)
        changed = sorted(one for one in before if after.get(one) != before[one])
        if changed:
            return f"{arguments}: changed {changed}"
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            return f"{arguments}: {done.exception!r}"
        left = sorted(one for one in after if one.startswith(".autodoc-"))
        if left:
            return f"{arguments}: left {left}"
        if "internal error" in done.stderr:
            return f"{arguments}: {done.stderr[-200:]}"
        if writer.parameter not in writers.FOLDERS and done.exit_code in (0, 5):
            return f"{arguments}: exit {done.exit_code}"
    return ""


def _killed(arguments: list[str], folder: Path, at: int | None, seconds: float | None) -> int:
    """Run a command in a fork, killed at a change of files or after some time; return the status."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            os.chdir(folder)
            os.environ["TMPDIR"] = str(folder / "tmp")
            tempfile.tempdir = None
            temporary._swept.clear()
            tempfile.gettempdir()  # Python tries the folder with a file of its own
            count = 0

            def hook(event: str, args: tuple[object, ...]) -> None:
                nonlocal count
                writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wxa+")
                if event in _EVENTS or (writes and str(args[0]).startswith((str(folder), "/tmp"))):
                    count += 1
                    if count == at:
                        os.kill(os.getpid(), signal.SIGKILL)

            if at is not None:
                sys.addaudithook(hook)
            if seconds is not None:
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                # As in a process of the command, where ONNX Runtime writes into a folder that is removed.
                with temporary.libraries_in_scratch():
                    app.main(args=arguments)
            except SystemExit as end:
                status = int(end.code or 0)
        finally:
            os._exit(status)
    _, ended = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(ended)


@functools.cache
def _warmed(command: str) -> None:
    """Import in this process what the command imports, so that forks need not."""
    for writer in writers.writers():
        if writer.command == command:
            overwrite(writer, "m.onnx", "itself", False)
            with tempfile.TemporaryDirectory() as name:
                writers.fill(Path(name))
                home = os.getcwd()
                os.chdir(name)
                try:
                    CliRunner().invoke(app, writer.arguments(f"out.{_ending(writer)}"))
                finally:
                    os.chdir(home)
            return


def kill(writer: writers.Writer, at: int | None = None, seconds: float | None = None) -> tuple[str, bool]:
    """Kill a run that replaces a file, look at what is there, and run it again.

    Returns: what is wrong, or an empty text; and whether the run ended before it was killed.
    """
    _warmed(writer.command)
    force = ["--force"] if writer.forced() else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        writers.fill(folder)
        (folder / "tmp").mkdir()
        out = folder / f"out.{_ending(writer)}"
        arguments = writer.arguments(out.name, *force)
        out.write_bytes(b"old")
        inputs = {one: data for one, data in writers.content(folder).items() if one != out.name}
        ended = _killed(arguments, folder, at, seconds)
        if ended not in (0, 5, -signal.SIGKILL):
            return f"{arguments}: exit {ended}", True
        now = out.read_bytes() if out.exists() else None
        again = _killed(arguments, folder, None, None)
        if again not in (0, 5):
            return f"{arguments}: exit {again} after a kill", True
        new = out.read_bytes()
        if now not in (b"old", None) and not _whole(now, new):
            return f"{arguments}: half a file of {len(now or b'')} bytes", False
        if now is None:
            return f"{arguments}: the file is gone", False
        after = writers.content(folder)
        changed = sorted(one for one, data in inputs.items() if after.get(one) != data)
        left = sorted(str(one.relative_to(folder)) for one in folder.rglob(".autodoc-*"))
        left += sorted(one.name for one in (folder / "tmp").iterdir())
        if changed or left:
            return f"{arguments}: changed {changed}, left {left}", False
    return "", ended != -signal.SIGKILL


def _whole(now: bytes | None, new: bytes) -> bool:
    """True if the file is as long as another run's, within what times and names of folders make of it."""
    return now is not None and abs(len(now) - len(new)) <= max(64, len(new) // 50)


def _ending(writer: writers.Writer) -> str:
    endings = {"extract": "onnx", "quantize": "onnx", "rebatch": "onnx", "resize": "onnx", "tags": "onnx"}
    if not writer.flag or writer.command == "tags":
        return {"to-torch": "py", "export": "onnx"}.get(writer.command, endings.get(writer.command, "onnx"))
    return {"out_csv": "csv", "out_md": "md", "out_html": "html", "junit": "xml"}.get(
        writer.parameter, "json"
    )
