"""An engine for tests: the file says what the child shall do. Reachable only by naming it to a launcher."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import time
from collections.abc import Callable

from py_autodoc.errors import NotAModel
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.errors import UnknownNode
from py_autodoc.jobs.file_stamps import Companion, companion_stamp
from py_autodoc.jobs.ipc_frames import AnalysisSpec
from py_autodoc.jobs.worker import ProgressCall

NAME = "fakes:open_session"


class FakeSession:
    def __init__(self, text: str, companions: list[Companion]) -> None:
        self.identity = f"identity of {text}"
        self.companions = companions
        self.has_all_companions = True
        self._text = text

    def graph(self) -> bytes:
        if self._text.startswith("large"):
            return b'"' + b"x" * int(self._text.split()[1]) + b'"'
        if self._text == "die drawing":
            os.kill(os.getpid(), signal.SIGKILL)
        return b'{"graph":"%s"}' % self._text.encode()

    def sections(self) -> bytes:
        return b'{"sections":[]}'

    def serving(self, request: ipc_frames.BodyRequest) -> bytes:
        return b'{"device":"%s"}' % request.device.encode()

    def report(self) -> bytes:
        return b'{"report":"%s","pid":%d}' % (self._text.encode(), os.getpid())

    def batch(self) -> bytes:
        return b'{"batch":"%s"}' % self._text.encode()

    def node(self, node: int) -> bytes:
        if node == 666:
            os.kill(os.getpid(), signal.SIGSEGV)
        if node > 9:
            raise UnknownNode(str(node))
        return b'{"id":%d,"pid":%d}' % (node, os.getpid())

    def file(self, request: ipc_frames.BodyRequest) -> bytes:
        return b'{"format":"%s"}' % request.format.encode()

    def weights(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        if request.name == "deaf":
            time.sleep(3600)
        if request.name.startswith("until "):
            # Until that file appears, with the pauses of a reading in pieces.
            while not os.path.exists(request.name.removeprefix("until ")):
                check()
                time.sleep(0.01)
        if request.name == "slow":
            while True:
                check()
                time.sleep(0.01)
        if request.tensor > 9:
            raise UnknownNode(str(request.tensor))
        return b'{"tensor":%d,"pid":%d,"name":"%s"}' % (request.tensor, os.getpid(), request.name.encode())

    def comparison(self, request: ipc_frames.BodyRequest) -> bytes:
        return b"{}"

    def extract(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        """A line that tells of a sub-model, and something in its place."""
        line = b'{"path":"","nodes":%d,"inputs":[],"input_count":0,"outputs":[],"output_count":0,'
        line += b'"widened":0,"convex":true,"bytes":0}'
        return line % len(request.ranges) + b"\n" + b"\n" * 600_000


def open_session(spec: AnalysisSpec, progress: ProgressCall) -> FakeSession:
    with open(spec.path, encoding="utf-8") as file:
        text = file.read()
    for step in range(3):
        progress(f"step {step}", step, 3)
    act(text, spec)
    folder = os.path.dirname(spec.path)
    companions = (
        [Companion("weights.bin", companion_stamp(folder, "weights.bin"))] if "external" in text else []
    )
    return FakeSession(text, companions)


def act(text: str, spec: AnalysisSpec) -> None:
    if text.startswith("wait"):
        # Until the file named after it appears: tests decide how long a job runs.
        while not os.path.exists(os.path.join(os.path.dirname(spec.path), text.split()[1])):
            time.sleep(0.01)
    elif text == "sleep":
        time.sleep(3600)
    elif text == "spin":
        while True:
            pass
    elif text == "fork and sleep":
        if os.fork() == 0:
            time.sleep(3600)
        time.sleep(3600)
    elif text == "segv":
        ctypes.string_at(0)
    elif text == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif text == "memory":
        blocks = []
        while True:
            blocks.append(bytearray(1 << 24))
    elif text == "bad":
        raise NotAModel(
            "text", f"{spec.path} is text, not a model.", f"Look into {os.path.dirname(spec.path)}."
        )
    elif text == "bug":
        raise ValueError(f"secret \x1b[31m in {spec.path}")
    elif text == "deep":
        act(text, spec)
    elif text == "garbage":
        os.write(find_socket(), b"\xff" * 64)
        time.sleep(3600)
    elif text == "flood":
        while True:
            os.write(find_socket(), ipc_frames.pack(ipc_frames.LOG, b"x" * 100))
    elif text == "write":
        with open(os.path.join(os.path.dirname(spec.path), "written"), "w") as file:
            file.write("a child must not write files")
    elif text == "environment":
        raise NotAModel("env", " ".join(sorted(os.environ)))


def find_socket() -> int:
    """The descriptor that leads to the server."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            channel = os.readlink(f"/proc/self/fd/{name}").startswith(("socket:", "pipe:"))
            if channel and fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                return int(name)
    raise AssertionError("no channel")
