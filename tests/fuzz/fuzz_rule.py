"""What must hold for every input: a documented exit code, one line, no foreign exception, bounded work.

``check`` runs a command in this process; ``survey`` runs many in a child with limits, which it watches.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import fuzz_fork
import fuzz_inputs

from py_autodoc.cli.app import app

CPU_S = 5.0
SLOW_CPU_S = 20.0
"""Where others' work takes its time: torch needs 4 to 9 s for twelve layers of BERT, a PNG eight times as
wide 11; ``run`` runs a model 110 times, of 70 ms and more."""
RSS_BYTES = 1 << 30
MEMORY = "/dev/shm"
"""Where files need no disk: half of the time of an input was making and removing its folder."""
HUNG_S = 90.0
"""Without a sign of life a child is ended: of wall time, on a machine that others use."""
EXITS = {0, 1, 2, 3, 4, 5}
OURS = ("because of a fault in", "because of an internal error", "ran out of memory", "Traceback")
INTERNAL = ("analysis-failed", "rule-failed", "cost-rule-failed", "structure-gave-up")
"""Diagnostics that tell of a fault of ours."""


class _Late(BaseException):
    """It computes for too long."""


def _late(*_: object) -> None:
    raise _Late


@contextlib.contextmanager
def _captured() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr
    sys.stdout = io.TextIOWrapper(out, "utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", write_through=True)
    try:
        yield out, err
    finally:
        # Detached, so that they do not close what is read from afterwards.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()
        sys.stdout, sys.stderr = before


def check(made: fuzz_inputs.Input, cpu_s: float = CPU_S) -> str | None:
    """What is wrong with how a command ends, or None."""
    home = os.getcwd()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    status: object = None
    before = time.process_time()
    signal.signal(signal.SIGVTALRM, _late)
    # The command before may have asked for more, or less.
    logging.getLogger("py_autodoc").setLevel(logging.WARNING)
    try:
        fuzz_inputs.write(made, folder)
        os.chdir(folder)
        with _captured() as (out, err):
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 4 * cpu_s)
                app.main(args=list(made.arguments))
            except SystemExit as end:
                status = end.code
            except _Late:
                status = "late"
            except BaseException as fault:  # noqa: BLE001 - whatever leaves the application is a fault
                status = f"{type(fault).__name__} left the application"
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - before
        left = [one.name for one in folder.iterdir() if one.name.startswith(".") or one.name.endswith(".tmp")]
        return _judge(made, status, out.getvalue(), err.getvalue(), took, left, cpu_s)
    finally:
        os.chdir(home)
        shutil.rmtree(folder, ignore_errors=True)


def _judge(
    made: fuzz_inputs.Input,
    status: object,
    out: bytes,
    err: bytes,
    took: float,
    left: list[str],
    cpu_s: float,
) -> str | None:
    said = err.decode("utf-8", "replace").rstrip("\n")
    if status not in EXITS:
        return f"exit {status}: {said[-300:]}"
    for text in OURS:
        if text in said and not (text == "Traceback" and "debug" in made.arguments):
            return f"exit {status}: {said[-300:]}"
    errors = [line for line in said.split("\n") if line.startswith("error: ")]
    # A verdict is data, and needs no line.
    verdict = made.command in ("compare", "validate") and not errors
    verdict = verdict or (made.command == "to-torch" and "--list" in made.arguments)
    # What is wrong with a model is in the list of the models.
    verdict = verdict or (made.command == "check" and not errors and out.startswith(b"ERROR  "))
    # Of the models each may have its own, before what ends the comparison.
    told = {1, 2, 3, 4} if made.command == "compare" and status == 2 else {1}
    # What cannot run is said before what fails: a service that is not known, a file that cannot be written.
    if status in (3, 4) and any(" cannot run: " in one for one in errors[:-1]):
        told = {len(errors)} if len(errors) <= 2 else told
    if status in (1, 2, 3, 4) and len(errors) not in told and not verdict:
        return f"exit {status} with {len(errors)} lines of error: {said[:300]!r}"
    if status == 0 and errors:
        return f"exit 0 with an error: {said[:300]!r}"
    if any((ord(one) < 32 and one != "\n") or one in "\x7f\x9b\u202e" for one in said):
        return f"control characters on stderr: {said[:300]!r}"
    if took > cpu_s:
        return f"{took:.1f} s of CPU"
    if left:
        return f"left behind: {left}"
    return _data(out, _is_json(made))


def _is_json(made: fuzz_inputs.Input) -> bool:
    """True when stdout can only be JSON, if it is an object: a listing may begin with a name like that."""
    return made.command != "to-torch" or "--list" not in made.arguments or "--json" in made.arguments


def _data(out: bytes, is_json: bool = True) -> str | None:
    """Faults that the report tells of; JSON that is none."""
    for code in INTERNAL:
        at = out.find(b'"' + code.encode() + b'"')
        if at >= 0:
            return f"diagnostic {code}: {out[at : at + 300].decode('utf-8', 'replace')}"
    if is_json and out[:1] == b"{":
        try:
            json.loads(out, parse_constant=_no_constant)
        except ValueError as fault:
            return f"not JSON: {fault}"
    return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _prepare(command: str) -> None:
    """Imports what a first run would import, so that no input pays for it."""
    if command == "export" and find_spec("torch") is not None:
        # A name that is no file may be one of the hub, which nobody is asked for.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch
        import transformers  # noqa: F401

        # Threads would not be there after a fork.
        torch.set_num_threads(1)
    for number in range(3):
        made = fuzz_inputs.make(command, number)
        # The typesetter starts a pool of threads. Forks would have the pool without threads, and wait.
        if not _typesets(made):
            check(made, 1000.0)


def _typesets(made: fuzz_inputs.Input) -> bool:
    return any(word.startswith(("--out-pdf", "--pdf")) for word in made.arguments)


def _slow(made: fuzz_inputs.Input) -> bool:
    return made.command in ("export", "run") or "--scale" in made.arguments or _typesets(made)


def _child(command: str, numbers: range, sink: int, cpu_s: float) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    # A fork starts with what its parent holds: torch and the models of other tests, where pytest is.
    inherited = _peak()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 2)
    os.dup2(null, 0)
    for number in numbers:
        made = fuzz_inputs.make(command, number)
        fault = check(made, max(cpu_s, SLOW_CPU_S) if _slow(made) else cpu_s)
        grown = _peak() - inherited
        if fault is None and grown > RSS_BYTES:
            fault = f"{grown / 2**20:.0f} MiB of memory"
        line = json.dumps([number, fault]).encode() + b"\n"
        os.write(sink, line)
        if fault is not None and grown > RSS_BYTES // 2:
            # What it grew to is not the next one's.
            break


def survey(command: str, first: int, last: int, cpu_s: float = CPU_S) -> Iterator[tuple[int, str | None]]:
    """(number, fault or None) of each input from ``first`` up to ``last``, each run in a child."""
    with fuzz_fork.forking():
        yield from _survey(command, first, last, cpu_s)


def _survey(command: str, first: int, last: int, cpu_s: float) -> Iterator[tuple[int, str | None]]:
    _prepare(command)
    at = first
    while at < last:
        source, sink = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(source)
                _child(command, range(at, last), sink, cpu_s)
                status = 0
            finally:
                os._exit(status)
        os.close(sink)
        for number, fault in _heard(source, pid):
            at = number + 1
            yield number, fault
        _, ended = os.waitpid(pid, 0)
        if ended and at < last:
            code = os.waitstatus_to_exitcode(ended)
            yield at, f"the process ended with {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
            at += 1


def _heard(source: int, pid: int) -> Iterator[tuple[int, str | None]]:
    import select

    held = b""
    while True:
        ready, _, _ = select.select([source], [], [], HUNG_S)
        data = os.read(source, 1 << 16) if ready else b""
        if not ready:
            os.kill(pid, signal.SIGKILL)
        if not data:
            os.close(source)
            return
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            number, fault = json.loads(line)
            yield number, fault
